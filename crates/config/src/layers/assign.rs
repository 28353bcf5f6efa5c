//! One key and one value as typed, made into a tree: `planning.reflection.trigger_interval=5`.
//!
//! Owns how a value without quotes is read. Refuses to check it: that is the shape's, like for any other
//! tree.
//!
//! Invariant: where text is wanted, what was typed is the text, whatever it looks like.

use super::error::ConfigError;
use super::legacy::OldNames;
use super::origin::Origin;
use crate::shape::names::nearest;
use crate::shape::rule::{Nullability, Rule};
use crate::shape::{Problem, ProblemKind, excerpt, path};
use crate::text::{Format, TextError, read_text};
use crate::tree::{Content, Entry, Node};

/// The tree of one `KEY=VALUE` from the command line, with its origin.
pub(super) fn set(text: &str, root: &Rule, old: &OldNames) -> Result<(Origin, Node), ConfigError> {
    let wrong_form = || ConfigError::SetForm { text: excerpt(text) };
    let (key, raw) = text.split_once('=').ok_or_else(wrong_form)?;
    let typed = path::split(key).ok_or_else(wrong_form)?;
    let origin = Origin::CommandLine { key: path::join(typed.iter().map(String::as_str)) };
    let keys = old.redirect(typed);
    let found = match descend(root, &keys) {
        Ok(found) => found,
        Err(problem) => return Err(ConfigError::Value { origin, problem: Box::new(problem) }),
    };
    // Nothing is a text, and no value of any other kind.
    if raw.trim().is_empty() && !found.rule.wants_text() {
        return Err(wrong_form());
    }
    match found.tree(raw) {
        Ok(node) => Ok((origin, node)),
        Err(error) => Err(ConfigError::Text { origin, error }),
    }
}

/// A key that exists.
#[derive(Debug)]
pub(super) struct Target<'rule> {
    /// The names on the way to it, in their canonical spelling.
    keys: Vec<&'rule str>,
    rule: &'rule Rule,
}

/// Follows keys down a rule, or says which is unknown.
pub(super) fn descend<'rule>(root: &'rule Rule, keys: &'rule [String]) -> Result<Target<'rule>, Problem> {
    let mut target = Target { keys: Vec::new(), rule: root };
    for key in keys {
        let Some((name, rule)) = target.rule.child(key) else {
            let known = target.rule.field_names();
            target.keys.push(key);
            let nearest = nearest(key, known.iter().map(String::as_str)).map(str::to_owned);
            let path = path::join(target.keys);
            return Err(Problem { path, mark: None, kind: ProblemKind::UnknownKey { nearest, known } });
        };
        target.keys.push(name);
        target.rule = rule;
    }
    Ok(target)
}

impl Target<'_> {
    /// The tree that holds nothing but this key with a value as typed.
    pub(super) fn tree(&self, raw: &str) -> Result<Node, TextError> {
        let value = value(self.rule, raw)?;
        Ok(self.keys.iter().rev().fold(value, |node, key| Node::nested(*key, node)))
    }
}

fn value(rule: &Rule, raw: &str) -> Result<Node, TextError> {
    let raw = raw.trim();
    let read = || read_text(raw.as_bytes(), Format::Yaml).map(without_marks);
    if !rule.wants_text() {
        return read();
    }
    let is_null = matches!(raw, "null" | "~") && rule.nullability == Nullability::Nullable;
    if is_null || raw.starts_with(['"', '\'']) {
        // Quotes that do not close belong to the text: `'tis` is as good a value as any.
        if let Ok(node) = read()
            && matches!(node.content, Content::Text(_) | Content::Null)
        {
            return Ok(node);
        }
    }
    Ok(Node::new(Content::Text(raw.to_owned())))
}

/// A line within a flag or a variable says nothing to anyone.
fn without_marks(mut node: Node) -> Node {
    node.mark = None;
    node.content = match node.content {
        Content::List(items) => Content::List(items.into_iter().map(without_marks).collect()),
        Content::Map(entries) => {
            let unmarked = |entry: Entry| Entry { mark: None, node: without_marks(entry.node), ..entry };
            Content::Map(entries.into_iter().map(unmarked).collect())
        }
        scalar @ (Content::Null | Content::Bool(_) | Content::Number(_) | Content::Text(_)) => scalar,
    };
    node
}
