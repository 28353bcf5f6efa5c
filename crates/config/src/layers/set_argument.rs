//! One key and one value as typed, made into a tree: `planning.reflection.trigger_interval=5`.
//!
//! Owns how an unquoted value is read, for flags and for variables. Checks no values: the schema does.
//!
//! Invariant: where text is expected, what was typed is the text, whatever it looks like.

use super::error::ConfigError;
use super::old_names::OldNames;
use super::origin::Origin;
use crate::parse::{Format, ParseError, parse};
use crate::schema::rule::{Nullability, Rule};
use crate::schema::{Problem, ProblemKind, excerpt, path};
use crate::tree::{Content, Entry, Node};

/// The tree of one `KEY=VALUE` from the command line, with its origin.
pub(super) fn parse_set(text: &str, root: &Rule, old: &OldNames) -> Result<(Origin, Node), ConfigError> {
    let wrong_form = || {
        let message = "expected KEY=VALUE, such as `--set planning.reflection.trigger_interval=5`";
        ConfigError::new(format!("--set {}", excerpt(text)), message)
    };
    let (key, raw) = text.split_once('=').ok_or_else(wrong_form)?;
    let typed = path::split(key).ok_or_else(wrong_form)?;
    let origin = Origin::CommandLine { key: path::join(typed.iter().map(String::as_str)) };
    let keys = old.redirect(typed);
    let resolved = resolve(root, &keys).map_err(|problem| ConfigError::invalid_value(&origin, &problem))?;
    // An empty value can only be text.
    if raw.trim().is_empty() && !resolved.rule.wants_text() {
        return Err(wrong_form());
    }
    match resolved.tree(raw) {
        Ok(node) => Ok((origin, node)),
        Err(error) => Err(ConfigError::parsing(&origin, error)),
    }
}

/// A key that exists.
#[derive(Debug)]
pub(super) struct ResolvedKey<'rule> {
    /// The names on the path to it, in their canonical spelling.
    keys: Vec<&'rule str>,
    rule: &'rule Rule,
}

/// Follows keys down a rule, up to the first that is unknown or not available yet.
pub(super) fn resolve<'rule>(
    root: &'rule Rule,
    keys: &'rule [String],
) -> Result<ResolvedKey<'rule>, Problem> {
    let mut resolved = ResolvedKey { keys: Vec::new(), rule: root };
    for key in keys {
        let Some((name, rule)) = resolved.rule.child(key) else {
            let (name, kind) = match resolved.rule.unavailable_key(key) {
                Some(unavailable) => {
                    let instead = unavailable.instead.to_owned();
                    (unavailable.name, ProblemKind::UnavailableKey { instead })
                }
                None => (key.as_str(), root.unknown_key(resolved.rule.field_names(), key)),
            };
            resolved.keys.push(name);
            return Err(Problem { path: path::join(resolved.keys), position: None, kind });
        };
        resolved.keys.push(name);
        resolved.rule = rule;
    }
    Ok(resolved)
}

impl ResolvedKey<'_> {
    /// The tree that has only this key, with a value as typed.
    pub(super) fn tree(&self, raw: &str) -> Result<Node, ParseError> {
        let value = value(self.rule, raw)?;
        Ok(self.keys.iter().rev().fold(value, |node, key| Node::nested(*key, node)))
    }
}

fn value(rule: &Rule, raw: &str) -> Result<Node, ParseError> {
    let raw = raw.trim();
    let parsed = || parse(raw.as_bytes(), Format::Yaml).map(without_positions);
    if !rule.wants_text() {
        return parsed();
    }
    let is_null = matches!(raw, "null" | "~") && rule.nullability == Nullability::Nullable;
    if is_null || raw.starts_with(['"', '\'']) {
        // A quote that is not closed is part of the text.
        if let Ok(node) = parsed()
            && matches!(node.content, Content::Text(_) | Content::Null)
        {
            return Ok(node);
        }
    }
    Ok(Node::new(Content::Text(raw.to_owned())))
}

/// Line numbers within a flag or a variable would only confuse.
fn without_positions(mut node: Node) -> Node {
    node.position = None;
    node.content = match node.content {
        Content::List(items) => Content::List(items.into_iter().map(without_positions).collect()),
        Content::Map(entries) => {
            let plain = |entry: Entry| Entry { position: None, node: without_positions(entry.node), ..entry };
            Content::Map(entries.into_iter().map(plain).collect())
        }
        scalar @ (Content::Null | Content::Bool(_) | Content::Number(_) | Content::Text(_)) => scalar,
    };
    node
}
