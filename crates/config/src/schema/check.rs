//! Checks a tree against a rule: gives the canonical tree and every problem.
//!
//! Fills in no defaults: absent keys stay absent, so that layers can be merged.
//!
//! Invariant: checking the canonical tree again gives the same tree; positions are preserved.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Number, Value};

use super::excerpt::{excerpt, with_type};
use super::limits::counted;
use super::names::{nearest, normalised};
use super::path::Path;
use super::problem::{Problem, ProblemKind};
use super::rule::{
    Age, Choice, Field, Length, Nullability, Presence, Range, Record, Rule, Unavailable, UnknownKeys,
    ValueType,
};
use crate::tree::{Content, Entry, Node, Position};
use crate::yaml_scalar;

/// Whether required keys may be absent because another layer may have them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completeness {
    Whole,
    /// One layer of several. The items of lists must be complete even so, since lists are not merged.
    Partial,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Typing {
    /// For files, where text can be quoted: a number is a number.
    Strict,
    /// For variables and flags, which are not quoted: text may look like a number, and booleans have more spellings.
    Lenient,
}

pub(super) struct Checker<'schema> {
    pub(super) root: &'schema Rule,
    pub(super) completeness: Completeness,
    pub(super) typing: Typing,
    pub(super) problems: Vec<Problem>,
}

impl Checker<'_> {
    /// `None` if the value is invalid.
    pub(super) fn node(&mut self, rule: &Rule, node: &Node, at: &Path<'_>) -> Option<Node> {
        if node.content == Content::Null && rule.nullability == Nullability::Nullable {
            return Some(node.clone());
        }
        match (&rule.kind, &node.content) {
            (ValueType::Anything, _) => Some(node.clone()),
            (ValueType::Either(rules), _) => self.either(rule, rules, node, at),
            (ValueType::Exactly(value), _) if Value::from(node) == *value => Some(node.clone()),
            (ValueType::Bool, Content::Bool(_)) => Some(node.clone()),
            (ValueType::Integer(range), Content::Number(number)) => {
                self.integer(rule, range, number, node, at)
            }
            (ValueType::Number(range), Content::Number(number)) => {
                self.within(range, "a number", number, node, at)
            }
            (ValueType::Text(length), Content::Text(text)) => {
                self.counted(*length, text.chars().count(), "characters", node, at)?;
                Some(node.clone())
            }
            (ValueType::Choice(choices), Content::Text(text)) => self.choice(rule, choices, text, node, at),
            (ValueType::Choice(_), Content::Map(entries))
                if entries.iter().any(|entry| rule.unavailable_key(&entry.key).is_some()) =>
            {
                self.available(rule, entries, at);
                None
            }
            (ValueType::List(items, length), Content::List(nodes)) => {
                self.list(items, *length, nodes, node, at)
            }
            (ValueType::Record(record), Content::Map(entries)) => {
                let available = self.available(rule, entries, at);
                self.record(record, &available, node, at)
            }
            (ValueType::Map(values), Content::Map(entries)) => Some(self.map(values, entries, node, at)),
            (
                ValueType::Exactly(_)
                | ValueType::Bool
                | ValueType::Integer(_)
                | ValueType::Number(_)
                | ValueType::Text(_)
                | ValueType::Choice(_)
                | ValueType::List(..)
                | ValueType::Record(_)
                | ValueType::Map(_),
                _,
            ) => match self.leniently(rule, node) {
                Some(retyped) => self.node(rule, &retyped, at),
                None => self.wrong_type(rule, node, at),
            },
        }
    }

    fn problem(&mut self, at: &Path<'_>, position: Option<Position>, kind: ProblemKind) -> Option<Node> {
        self.problems.push(Problem { path: at.to_string(), position, kind });
        None
    }

    fn wrong_type(&mut self, rule: &Rule, node: &Node, at: &Path<'_>) -> Option<Node> {
        let mut found = with_type(node);
        if is_quoted_by_mistake(rule, node) {
            found.push_str("; remove the quotes");
        } else if is_item_of(rule, node) {
            found.push_str("; put it in brackets: [ ]");
        }
        self.problem(at, node.position, ProblemKind::WrongType { expected: rule.type_name(), found })
    }

    /// An unquoted value converted to the expected type, if it can be. The result has that type, so no value is
    /// converted twice.
    fn leniently(&self, rule: &Rule, node: &Node) -> Option<Node> {
        if self.typing == Typing::Strict {
            return None;
        }
        let content = match (&rule.kind, &node.content) {
            (ValueType::Bool, Content::Text(text)) => Content::Bool(boolean(text)?),
            (ValueType::Bool, Content::Number(number)) => Content::Bool(boolean(&number.to_string())?),
            (
                ValueType::Text(_) | ValueType::Choice(_),
                Content::Null | Content::Bool(_) | Content::Number(_),
            ) => Content::Text(node.spelling.clone()?),
            _ => return None,
        };
        Some(Node { content, position: node.position, spelling: None })
    }

    fn integer(
        &mut self,
        rule: &Rule,
        range: &Range,
        number: &Number,
        node: &Node,
        at: &Path<'_>,
    ) -> Option<Node> {
        let fraction = number.as_f64().filter(|_| number.is_f64());
        if fraction.is_some_and(|value| value.fract() != 0.0) {
            return self.wrong_type(rule, node, at);
        }
        let canonical = self.within(range, "an integer", number, node, at)?;
        // An integer within the limits that is too large to be exact as a floating-point number.
        if fraction.is_some() { self.wrong_type(rule, node, at) } else { Some(canonical) }
    }

    fn within(
        &mut self,
        range: &Range,
        noun: &str,
        number: &Number,
        node: &Node,
        at: &Path<'_>,
    ) -> Option<Node> {
        if range.holds(number) {
            return Some(node.clone());
        }
        let kind = ProblemKind::OutOfRange { found: number.to_string(), expected: range.describe(noun) };
        self.problem(at, node.position, kind)
    }

    fn counted(
        &mut self,
        length: Length,
        count: usize,
        unit: &str,
        node: &Node,
        at: &Path<'_>,
    ) -> Option<()> {
        if length.holds(count) {
            return Some(());
        }
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        let found = format!("a length of {count} {}", counted(count, unit));
        self.problem(at, node.position, ProblemKind::OutOfRange { found, expected: length.describe(unit) });
        None
    }

    fn choice(
        &mut self,
        rule: &Rule,
        choices: &[Choice],
        text: &str,
        node: &Node,
        at: &Path<'_>,
    ) -> Option<Node> {
        let wanted = normalised(text);
        let exact = choices.iter().find(|choice| choice.spelling == text);
        if let Some(choice) =
            exact.or_else(|| choices.iter().find(|choice| normalised(&choice.spelling) == wanted))
        {
            let content = Content::Text(choice.spelling.clone());
            return Some(Node { content, position: node.position, spelling: None });
        }
        if let Some(Unavailable { name, instead }) = rule.unavailable_value(text) {
            let kind = ProblemKind::UnavailableValue { value: name.to_owned(), instead: instead.to_owned() };
            return self.problem(at, node.position, kind);
        }
        let spellings = || choices.iter().map(|choice| choice.spelling.as_str());
        let kind = ProblemKind::NotAChoice {
            found: excerpt(text),
            nearest: nearest(text, spellings()).map(str::to_owned),
            choices: spellings().map(str::to_owned).collect(),
        };
        self.problem(at, node.position, kind)
    }

    fn list(
        &mut self,
        rule: &Rule,
        length: Length,
        nodes: &[Node],
        node: &Node,
        at: &Path<'_>,
    ) -> Option<Node> {
        self.counted(length, nodes.len(), "items", node, at)?;
        let outside = core::mem::replace(&mut self.completeness, Completeness::Whole);
        let items = nodes
            .iter()
            .enumerate()
            .filter_map(|(index, item)| self.node(rule, item, &at.index(index)))
            .collect();
        self.completeness = outside;
        Some(Node { content: Content::List(items), position: node.position, spelling: None })
    }

    fn map(&mut self, rule: &Rule, entries: &[Entry], node: &Node, at: &Path<'_>) -> Node {
        let entries = entries
            .iter()
            .filter_map(|entry| {
                let value = self.node(rule, &entry.node, &at.key(&entry.key))?;
                Some(Entry { key: entry.key.clone(), position: entry.position, node: value })
            })
            .collect();
        Node { content: Content::Map(entries), position: node.position, spelling: None }
    }

    /// The entries that are available. Every other one is a problem.
    fn available<'entries>(
        &mut self,
        rule: &Rule,
        entries: &'entries [Entry],
        at: &Path<'_>,
    ) -> Cow<'entries, [Entry]> {
        if rule.unavailable_keys.is_empty() {
            return Cow::Borrowed(entries);
        }
        let mut available = Vec::new();
        for entry in entries {
            match rule.unavailable_key(&entry.key) {
                Some(Unavailable { name, instead }) => {
                    let kind = ProblemKind::UnavailableKey { instead: instead.to_owned() };
                    self.problem(&at.key(name), entry.position, kind);
                }
                None => available.push(entry.clone()),
            }
        }
        Cow::Owned(available)
    }

    fn record(&mut self, record: &Record, entries: &[Entry], node: &Node, at: &Path<'_>) -> Option<Node> {
        let mut current: BTreeMap<&str, &Entry> = BTreeMap::new();
        let mut old_names: BTreeMap<&str, &Entry> = BTreeMap::new();
        let mut kept = Vec::new();
        for entry in entries {
            let Some((name, field, age)) = record.resolve(&entry.key) else {
                match record.unknown_keys {
                    UnknownKeys::Kept if !is_near_miss(record, entry, entries) => kept.push(entry.clone()),
                    UnknownKeys::Kept | UnknownKeys::Refused => self.unknown_key(record, entry, at),
                }
                continue;
            };
            if counts_as_absent(field, &entry.node) {
                continue;
            }
            let given = match age {
                Age::Current => &mut current,
                Age::Old => &mut old_names,
            };
            if let Some(first) = given.insert(name, entry) {
                let kind = ProblemKind::GivenTwice { first: first.key.clone(), second: entry.key.clone() };
                self.problem(&at.key(name), entry.position, kind);
            }
        }
        let mut canonical = kept;
        let mut absent = Vec::new();
        for (name, field) in &record.fields {
            let old = field.old_name.as_deref();
            let found = match current.get(name.as_str()) {
                Some(entry) => Some((*entry, name.as_str())),
                None => old_names.get(name.as_str()).map(|entry| (*entry, old.unwrap_or(name))),
            };
            let Some((entry, shown)) = found else {
                absent.push((field, name));
                continue;
            };
            if let Some(value) = self.node(&field.rule, &entry.node, &at.key(shown)) {
                canonical.push(Entry { key: name.clone(), position: entry.position, node: value });
            }
        }
        // Wrong values come before missing ones: they explain more.
        for (field, name) in absent {
            self.absent(field, name, node, at);
        }
        Some(Node { content: Content::Map(canonical), position: node.position, spelling: None })
    }

    fn unknown_key(&mut self, record: &Record, entry: &Entry, at: &Path<'_>) {
        let kind = self.root.unknown_key(record.fields.keys().cloned().collect(), &entry.key);
        self.problem(&at.key(&entry.key), entry.position, kind);
    }

    fn absent(&mut self, field: &Field, name: &str, node: &Node, at: &Path<'_>) {
        if field.presence == Presence::Required && self.completeness == Completeness::Whole {
            self.problem(at, node.position, ProblemKind::Missing { field: name.to_owned() });
        }
    }

    /// The value by the first alternative that accepts it, or the problems of the alternative that comes closest.
    fn either(&mut self, rule: &Rule, rules: &[Rule], node: &Node, at: &Path<'_>) -> Option<Node> {
        let mut candidates: Vec<&Rule> =
            rules.iter().filter(|rule| rule.has_type_of(&node.content)).collect();
        if candidates.is_empty() {
            candidates = rules.iter().filter(|rule| self.leniently(rule, node).is_some()).collect();
        }
        let mut closest: Option<((usize, usize), Vec<Problem>)> = None;
        for candidate in candidates {
            let mut trial = Checker {
                root: self.root,
                completeness: self.completeness,
                typing: self.typing,
                problems: Vec::new(),
            };
            let value = trial.node(candidate, node, at);
            if trial.problems.is_empty() {
                return value;
            }
            // An alternative whose tag does not match was not meant, however few its other problems are.
            let is_tag = |problem: &&Problem| matches!(problem.kind, ProblemKind::NotAChoice { .. });
            let distance = (trial.problems.iter().filter(is_tag).count(), trial.problems.len());
            if closest.as_ref().is_none_or(|(least, _)| distance < *least) {
                closest = Some((distance, trial.problems));
            }
        }
        match closest {
            Some((_, problems)) => self.problems.extend(problems),
            None => drop(self.wrong_type(rule, node, at)),
        }
        None
    }
}

/// Whether an unknown key, where any key is allowed, is most likely a misspelt one: it is close to a key that is absent.
fn is_near_miss(record: &Record, entry: &Entry, entries: &[Entry]) -> bool {
    let is_given = |name: &str| {
        entries.iter().any(|other| record.resolve(&other.key).is_some_and(|(resolved, ..)| resolved == name))
    };
    let missing = record.fields.keys().map(String::as_str).filter(|name| !is_given(name));
    nearest(&entry.key, missing).is_some()
}

/// Whether a text would be fine without its quotes.
fn is_quoted_by_mistake(rule: &Rule, node: &Node) -> bool {
    let Content::Text(text) = &node.content else { return false };
    let unquoted = yaml_scalar::resolve(text).ok();
    unquoted.is_some_and(|content| !matches!(content, Content::Null) && rule.has_type_of(&content))
}

/// Whether a value is what the items of the expected list should be.
fn is_item_of(rule: &Rule, node: &Node) -> bool {
    let ValueType::List(items, _) = &rule.kind else { return false };
    !matches!(node.content, Content::Null | Content::Map(_)) && items.has_type_of(&node.content)
}

/// Null counts as absent where it is not a value.
fn counts_as_absent(field: &Field, node: &Node) -> bool {
    node.content == Content::Null
        && field.presence == Presence::Optional
        && field.rule.nullability == Nullability::NotNull
}

fn boolean(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "yes" | "on" | "true" => Some(true),
        "0" | "no" | "off" | "false" => Some(false),
        _ => None,
    }
}
