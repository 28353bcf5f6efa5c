//! JSON manifests: members of objects with their places in the text, and two versions mixed member by member.
//!
//! Owns a scanner for JSON with comments and trailing commas. Refuses to know what a member means. Invariant: text that is
//! not replaced stays as it is, byte by byte.

use std::ops::Range;

use serde_json::Value;

use super::json_policy::{Kind, Treatment, treatment};
use crate::Mix;

#[derive(Debug, Clone)]
struct Member {
    key: String,
    /// From behind the comma or brace before it, to the end of its value.
    chunk: Range<usize>,
    value: Range<usize>,
}

/// An object's members and where its closing brace is.
struct Object {
    members: Vec<Member>,
    close: usize,
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl Scanner<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Steps over blanks and comments.
    fn blanks(&mut self) {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']).len();
            let comment = match rest.get(blank..) {
                Some(after) if after.starts_with("//") => after.find('\n').unwrap_or(after.len()),
                Some(after) if after.starts_with("/*") => after.find("*/").map_or(after.len(), |end| end + 2),
                Some(_) | None => 0,
            };
            self.at += blank + comment;
            if comment == 0 {
                return;
            }
        }
    }

    fn string(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek()? {
                b'"' => {
                    self.at += 1;
                    return Some(start..self.at);
                }
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
    }

    fn value(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        let mut depth = 0_usize;
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.string()?;
                }
                Some(b'{' | b'[') => {
                    depth += 1;
                    self.at += 1;
                }
                Some(b'}' | b']') if depth > 0 => {
                    depth -= 1;
                    self.at += 1;
                }
                Some(b'/') => {
                    let before = self.at;
                    self.blanks();
                    if self.at == before {
                        return None;
                    }
                }
                Some(b',' | b'}' | b']') | None if depth == 0 => break,
                Some(_) => self.at += 1,
                None => return None,
            }
        }
        let raw = self.text.get(start..self.at)?;
        let end = start + raw.trim_end().len();
        (end > start).then_some(start..end)
    }

    fn object(&mut self) -> Option<Object> {
        self.blanks();
        (self.peek()? == b'{').then_some(())?;
        self.at += 1;
        let mut members = Vec::new();
        loop {
            let start = self.at;
            self.blanks();
            if self.peek()? == b'}' {
                return Some(Object { members, close: self.at });
            }
            let key_range = if self.peek()? == b'"' { self.string()? } else { return None };
            let key: String = serde_json::from_str(self.text.get(key_range)?).ok()?;
            self.blanks();
            (self.peek()? == b':').then_some(())?;
            self.at += 1;
            self.blanks();
            let value = self.value()?;
            members.push(Member { key, chunk: start..value.end, value });
            self.blanks();
            match self.peek()? {
                b',' => self.at += 1,
                b'}' => {}
                _ => return None,
            }
        }
    }
}

fn object(text: &str) -> Option<Object> {
    Scanner { text, at: 0 }.object()
}

/// Whether two values mean the same.
fn is_same(left: Option<&str>, right: Option<&str>) -> bool {
    let parsed = |text: &str| serde_json::from_str::<Value>(text).map_err(|_| text.trim().to_string());
    left.map(parsed) == right.map(parsed)
}

/// The attempt's manifest with the base's definitions; nothing if one of them cannot be read.
pub(super) fn mixed(kind: Kind, base: &str, now: &str) -> Option<Mix> {
    let whole = Scanner { text: now, at: 0 };
    let mut end = Scanner { text: now, at: 0 };
    end.blanks();
    let start = end.at;
    let close = end.object()?.close + 1;
    let mut after = Scanner { at: close, ..whole };
    after.blanks();
    if after.at < now.len() {
        return None;
    }
    let mut changed = Vec::new();
    let body = mixed_object(kind, &mut Vec::new(), base, now.get(start..close)?, &mut changed)?;
    if changed.is_empty() {
        return Some(Mix::Product);
    }
    changed.sort();
    changed.dedup();
    let text = format!("{}{body}{}", now.get(..start)?, now.get(close..)?);
    Some(Mix::Parts { text: text.into_bytes(), changed })
}

fn mixed_object(
    kind: Kind,
    path: &mut Vec<String>,
    base: &str,
    now: &str,
    changed: &mut Vec<String>,
) -> Option<String> {
    let (before, after) = (object(base)?, object(now)?);
    let value_at_base = |key: &str| {
        let member = before.members.iter().rev().find(|member| member.key == key)?;
        base.get(member.value.clone())
    };
    let mut chunks: Vec<String> = Vec::new();
    for member in &after.members {
        let (value, old) = (now.get(member.value.clone())?, value_at_base(&member.key));
        path.push(member.key.clone());
        let chunk = now.get(member.chunk.clone())?;
        let head = now.get(member.chunk.start..member.value.start)?;
        match treatment(kind, path, old, Some(value)) {
            Treatment::Product => chunks.push(chunk.to_string()),
            Treatment::Descend if object(value).is_some() => {
                let old = old.filter(|old| object(old).is_some()).unwrap_or("{}");
                chunks.push(format!("{head}{}", mixed_object(kind, path, old, value, changed)?));
            }
            Treatment::Definition | Treatment::Descend if is_same(old, Some(value)) => {
                chunks.push(chunk.to_string());
            }
            Treatment::Definition | Treatment::Descend => {
                changed.push(path.join("."));
                chunks.extend(old.map(|old| format!("{head}{old}")));
            }
        }
        path.pop();
    }
    for member in &before.members {
        if after.members.iter().any(|other| other.key == member.key) {
            continue;
        }
        let value = base.get(member.value.clone())?;
        path.push(member.key.clone());
        let lost = match treatment(kind, path, Some(value), None) {
            Treatment::Product => None,
            Treatment::Definition => Some(base.get(member.chunk.clone())?.to_string()),
            Treatment::Descend => lost_members(kind, path, base, member, changed)?,
        };
        if let Some(chunk) = lost {
            changed.push(path.join("."));
            chunks.push(chunk);
        }
        path.pop();
    }
    let last = after.members.last().map_or(1, |member| member.chunk.end);
    let tail = now.get(last..after.close)?.replacen(',', "", 1);
    Some(format!("{{{}{tail}}}", chunks.join(",")))
}

/// What is left of an object that is gone: its definitions.
fn lost_members(
    kind: Kind,
    path: &mut Vec<String>,
    base: &str,
    member: &Member,
    changed: &mut Vec<String>,
) -> Option<Option<String>> {
    let value = base.get(member.value.clone())?;
    if object(value).is_none() {
        return Some(Some(base.get(member.chunk.clone())?.to_string()));
    }
    let known = changed.len();
    let rest = mixed_object(kind, path, value, "{}", changed)?;
    let head = base.get(member.chunk.start..member.value.start)?;
    let is_any = changed.len() > known;
    changed.truncate(known);
    if is_same(Some(value), Some(&rest)) {
        return Some(is_any.then(|| base.get(member.chunk.clone()).unwrap_or_default().to_string()));
    }
    Some(is_any.then(|| format!("{head}{rest}")))
}
