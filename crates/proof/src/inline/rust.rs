//! Rust sources: the attempt's product with the base's test items.
//!
//! Owns the mixing: an item that is there for tests is the base's, or absent; modules and implementations are mixed within.
//! Documentation with examples is a test too. Refuses to follow `mod x;` into other files.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::rust_attributes::{is_container, is_test, key};
use super::rust_scan::{Item, is_balanced, items, squeezed};
use crate::Mix;

/// Text that makes product behave differently under test.
const UNDER_TEST: [&str; 4] = ["cfg ( test", "cfg ! ( test", "cfg ( not ( test", "cfg_attr ( test"];

pub(crate) fn mixed(base: &str, now: &str) -> Mix {
    if is_test_file(base) && !base.is_empty() || is_test_file(now) {
        return Mix::Whole("the whole file is there for tests".to_string());
    }
    if !is_balanced(base) || !is_balanced(now) {
        return Mix::Whole("its brackets do not match".to_string());
    }
    let mut mixer = Mixer { base, now, changed: Vec::new() };
    let text = mixer.range(0..base.len(), 0..now.len());
    let count = |text: &str| -> usize {
        let tokens = squeezed(text);
        UNDER_TEST.iter().map(|word| tokens.matches(word).count()).sum()
    };
    // What is left is product: the test items of both are the base's.
    if count(&text) > count(base) {
        return Mix::Whole("behaves differently under test".to_string());
    }
    if mixer.changed.is_empty() {
        return Mix::Product;
    }
    Mix::Parts { text: text.into_bytes(), changed: mixer.changed }
}

/// Whether `#![cfg(test)]` stands in it.
pub(crate) fn is_test_file(text: &str) -> bool {
    let (items, _) = items(text, 0..text.len());
    items.iter().take_while(|item| item.header == "#!").any(is_test)
}

struct Mixer<'a> {
    base: &'a str,
    now: &'a str,
    changed: Vec<String>,
}

/// Items with what tells each from all others of its range.
fn keyed(text: &str, range: Range<usize>) -> (Vec<(String, Item)>, usize) {
    let (found, end) = items(text, range);
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let with_key = |item: Item| {
        let name = format!("{}{}", if is_test(&item) { "test " } else { "" }, key(&item));
        let count = counts.entry(name.clone()).or_default();
        *count += 1;
        (if *count == 1 { name } else { format!("{name}\u{1}{count}") }, item)
    };
    (found.into_iter().map(with_key).collect(), end)
}

impl Mixer<'_> {
    fn range(&mut self, before: Range<usize>, after: Range<usize>) -> String {
        let (old, _) = keyed(self.base, before);
        let (new, end) = keyed(self.now, after.clone());
        let mut text = String::new();
        let by_name: BTreeMap<&String, &Item> = old.iter().map(|(name, item)| (name, item)).collect();
        let names: BTreeSet<&String> = new.iter().map(|(name, _)| name).collect();
        for (name, item) in &new {
            let counterpart = by_name.get(name).copied();
            if is_test(item) {
                text.push_str(&self.test_item(counterpart, item));
            } else {
                text.push_str(&self.product_item(counterpart, item));
            }
        }
        for (name, item) in old.iter().filter(|(_, item)| is_test(item)) {
            if !names.contains(name) {
                self.changed.push(format!("{} was removed", title(item)));
                let piece = self.base.get(item.range.clone()).unwrap_or_default();
                if !text.is_empty() && !text.ends_with('\n') && !piece.starts_with('\n') {
                    text.push('\n');
                }
                text.push_str(piece);
            }
        }
        text.push_str(self.now.get(end..after.end).unwrap_or_default());
        text
    }

    fn test_item(&mut self, old: Option<&Item>, new: &Item) -> String {
        let now = self.now.get(new.range.clone()).unwrap_or_default();
        let Some(old) = old else {
            self.changed.push(format!("{} was added", title(new)));
            return String::new();
        };
        let before = self.base.get(old.range.clone()).unwrap_or_default();
        if squeezed(before) == squeezed(now) {
            return now.to_string();
        }
        let inner = self.differences(old, new);
        if inner.is_empty() {
            self.changed.push(format!("{} was edited", title(new)));
        }
        self.changed.extend(inner);
        before.to_string()
    }

    /// The tests within a module that differ, by name.
    fn differences(&self, old: &Item, new: &Item) -> Vec<String> {
        let (Some(before), Some(after)) = (old.body.clone(), new.body.clone()) else { return Vec::new() };
        if !is_container(old) || !is_container(new) {
            return Vec::new();
        }
        let ((old, _), (new, _)) = (keyed(self.base, before), keyed(self.now, after));
        let text = |text: &str, item: &Item| squeezed(text.get(item.range.clone()).unwrap_or_default());
        let edited =
            old.iter().filter_map(|(name, item)| match new.iter().find(|(other, _)| other == name) {
                None => Some(format!("{} was removed", title(item))),
                Some((_, other)) if text(self.base, item) != text(self.now, other) => {
                    Some(format!("{} was edited", title(item)))
                }
                Some(_) => None,
            });
        let added = new
            .iter()
            .filter(|(name, _)| !old.iter().any(|(other, _)| other == name))
            .map(|(_, item)| format!("{} was added", title(item)));
        edited.chain(added).collect()
    }

    fn product_item(&mut self, old: Option<&Item>, new: &Item) -> String {
        let text = |text: &str, range: Range<usize>| text.get(range).unwrap_or_default().to_string();
        let lead = self.documentation(old, new);
        let Some(body) = new.body.clone().filter(|_| is_container(new)) else {
            return format!("{lead}{}", text(self.now, new.lead.end..new.range.end));
        };
        let before = old.filter(|old| is_container(old)).and_then(|old| old.body.clone()).unwrap_or(0..0);
        let open = text(self.now, new.lead.end..body.start);
        let close = text(self.now, body.end..new.range.end);
        format!("{lead}{open}{}{close}", self.range(before, body))
    }

    /// The lead of an item, with the base's documentation if that holds examples.
    fn documentation(&mut self, old: Option<&Item>, new: &Item) -> String {
        let now = self.now.get(new.lead.clone()).unwrap_or_default();
        let before = old.and_then(|old| self.base.get(old.lead.clone())).unwrap_or_default();
        let is_doc =
            |line: &&str| line.trim_start().starts_with("///") || line.trim_start().starts_with("//!");
        let docs = |text: &str| -> Vec<String> {
            text.lines().filter(is_doc).map(|line| line.trim().to_string()).collect()
        };
        let has_example = |docs: &[String]| docs.iter().any(|line| line.contains("```"));
        let (old_docs, new_docs) = (docs(before), docs(now));
        let examples = |docs: &[String]| -> Vec<String> {
            docs.iter().skip_while(|line| !line.contains("```")).cloned().collect()
        };
        if !has_example(&old_docs) || examples(&old_docs) == examples(&new_docs) {
            return now.to_string();
        }
        self.changed.push(format!("the example of {} was edited", title(new)));
        let (mut text, mut is_written) = (String::new(), false);
        let old_lines: String = before.split_inclusive('\n').filter(is_doc).collect();
        for line in now.split_inclusive('\n') {
            if !is_doc(&line) {
                text.push_str(line);
            } else if !is_written {
                text.push_str(&old_lines);
                is_written = true;
            }
        }
        if !is_written {
            text = format!("{}{}{text}", if text.starts_with('\n') { "\n" } else { "" }, old_lines);
        }
        text
    }
}

/// An item for people.
fn title(item: &Item) -> String {
    let key = key(item);
    match key.split_once(' ') {
        Some(("fn", name)) if is_test(item) => format!("test `{name}`"),
        _ => {
            let short: String = key.chars().take(60).collect();
            format!("`{}`", short.trim())
        }
    }
}
