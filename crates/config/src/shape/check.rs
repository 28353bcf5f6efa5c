//! A tree against a rule: the canonical tree, and everything that is wrong.
//!
//! Owns the judgement of values. Refuses to fill in defaults: what was not said stays unsaid, so that layers
//! can be merged.
//!
//! Invariant: a tree without problems reads back as itself; all marks survive.

use std::collections::BTreeMap;

use serde_json::{Number, Value};

use super::found::{excerpt, typed};
use super::limits::counted;
use super::names::{folded, nearest};
use super::path::Path;
use super::problem::{Problem, ProblemKind};
use super::rule::{Age, Choice, Field, Kind, Length, Nullability, Others, Presence, Range, Record, Rule};
use crate::tree::{Content, Entry, Mark, Node};

/// Whether required fields may be absent because something else will supply them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completeness {
    /// Every required field must be there.
    Whole,
    /// One layer of several. Items of lists must be whole even so, since lists are never merged.
    Partial,
}

/// How sure the types of the values are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// A text that could have quoted: a number is a number.
    Exact,
    /// A variable or a flag, where nobody quotes: what should be text is, and booleans have more spellings.
    Loose,
}

/// A walk along a tree and its rule.
pub(super) struct Checker {
    pub(super) completeness: Completeness,
    pub(super) reading: Reading,
    pub(super) problems: Vec<Problem>,
}

impl Checker {
    /// The canonical form of a value, unless it has none.
    pub(super) fn node(&mut self, rule: &Rule, node: &Node, at: &Path<'_>) -> Option<Node> {
        if node.content == Content::Null && rule.nullability == Nullability::Nullable {
            return Some(node.clone());
        }
        match (&rule.kind, &node.content) {
            (Kind::Anything, _) => Some(node.clone()),
            (Kind::Either(rules), _) => self.either(rule, rules, node, at),
            (Kind::Exactly(value), _) if Value::from(node) == *value => Some(node.clone()),
            (Kind::Bool, Content::Bool(_)) => Some(node.clone()),
            (Kind::Integer(range), Content::Number(number)) => self.integer(rule, range, number, node, at),
            (Kind::Number(range), Content::Number(number)) => {
                self.within(range, "a number", number, node, at)
            }
            (Kind::Text(length), Content::Text(text)) => {
                self.counted(*length, text.chars().count(), "characters", node, at)?;
                Some(node.clone())
            }
            (Kind::Choice(choices), Content::Text(text)) => self.choice(choices, text, node, at),
            (Kind::List(items, length), Content::List(nodes)) => self.list(items, *length, nodes, node, at),
            (Kind::Record(record), Content::Map(entries)) => self.record(record, entries, node, at),
            (Kind::Map(values), Content::Map(entries)) => Some(self.map(values, entries, node, at)),
            (
                Kind::Exactly(_)
                | Kind::Bool
                | Kind::Integer(_)
                | Kind::Number(_)
                | Kind::Text(_)
                | Kind::Choice(_)
                | Kind::List(..)
                | Kind::Record(_)
                | Kind::Map(_),
                _,
            ) => match self.loosely(rule, node) {
                Some(retyped) => self.node(rule, &retyped, at),
                None => self.wrong_type(rule, node, at),
            },
        }
    }

    fn problem(&mut self, at: &Path<'_>, mark: Option<Mark>, kind: ProblemKind) -> Option<Node> {
        self.problems.push(Problem { path: at.to_string(), mark, kind });
        None
    }

    fn wrong_type(&mut self, rule: &Rule, node: &Node, at: &Path<'_>) -> Option<Node> {
        self.problem(at, node.mark, ProblemKind::WrongType { expected: rule.type_name(), found: typed(node) })
    }

    /// A value without quotes taken for what is wanted, if it can be. The result has the wanted type, so this
    /// is asked at most once for a value.
    fn loosely(&self, rule: &Rule, node: &Node) -> Option<Node> {
        if self.reading == Reading::Exact {
            return None;
        }
        let content = match (&rule.kind, &node.content) {
            (Kind::Bool, Content::Text(text)) => Content::Bool(boolean(text)?),
            (Kind::Bool, Content::Number(number)) => Content::Bool(boolean(&number.to_string())?),
            (Kind::Text(_) | Kind::Choice(_), Content::Null | Content::Bool(_) | Content::Number(_)) => {
                Content::Text(node.spelling.clone()?)
            }
            _ => return None,
        };
        Some(Node { content, mark: node.mark, spelling: None })
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
        // Whole, within the bounds, but too large for its floating-point spelling to be exact.
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
        self.problem(at, node.mark, kind)
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
        self.problem(at, node.mark, ProblemKind::OutOfRange { found, expected: length.describe(unit) });
        None
    }

    fn choice(&mut self, choices: &[Choice], text: &str, node: &Node, at: &Path<'_>) -> Option<Node> {
        let wanted = folded(text);
        let exact = choices.iter().find(|choice| choice.spelling == text);
        if let Some(choice) =
            exact.or_else(|| choices.iter().find(|choice| folded(&choice.spelling) == wanted))
        {
            let content = Content::Text(choice.spelling.clone());
            return Some(Node { content, mark: node.mark, spelling: None });
        }
        let spellings = || choices.iter().map(|choice| choice.spelling.as_str());
        let kind = ProblemKind::NotAChoice {
            found: excerpt(text),
            nearest: nearest(text, spellings()).map(str::to_owned),
            choices: spellings().map(str::to_owned).collect(),
        };
        self.problem(at, node.mark, kind)
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
        Some(Node { content: Content::List(items), mark: node.mark, spelling: None })
    }

    fn map(&mut self, rule: &Rule, entries: &[Entry], node: &Node, at: &Path<'_>) -> Node {
        let entries = entries
            .iter()
            .filter_map(|entry| {
                let value = self.node(rule, &entry.node, &at.key(&entry.key))?;
                Some(Entry { key: entry.key.clone(), mark: entry.mark, node: value })
            })
            .collect();
        Node { content: Content::Map(entries), mark: node.mark, spelling: None }
    }

    fn record(&mut self, record: &Record, entries: &[Entry], node: &Node, at: &Path<'_>) -> Option<Node> {
        let mut current: BTreeMap<&str, &Entry> = BTreeMap::new();
        let mut legacy: BTreeMap<&str, &Entry> = BTreeMap::new();
        let mut kept = Vec::new();
        for entry in entries {
            let Some((name, field, age)) = record.resolve(&entry.key) else {
                match record.others {
                    Others::Kept if !is_near_miss(record, entry, entries) => kept.push(entry.clone()),
                    Others::Kept | Others::Refused => self.unknown_key(record, entry, at),
                }
                continue;
            };
            if counts_as_absent(field, &entry.node) {
                continue;
            }
            let given = match age {
                Age::Current => &mut current,
                Age::Legacy => &mut legacy,
            };
            if let Some(first) = given.insert(name, entry) {
                let kind = ProblemKind::GivenTwice { first: first.key.clone(), second: entry.key.clone() };
                self.problem(&at.key(name), entry.mark, kind);
            }
        }
        let mut canonical = kept;
        let mut absent = Vec::new();
        for (name, field) in &record.fields {
            let old = field.legacy.as_deref();
            let found = match current.get(name.as_str()) {
                Some(entry) => Some((*entry, name.as_str())),
                None => legacy.get(name.as_str()).map(|entry| (*entry, old.unwrap_or(name))),
            };
            let Some((entry, shown)) = found else {
                absent.push((field, name));
                continue;
            };
            if let Some(value) = self.node(&field.rule, &entry.node, &at.key(shown)) {
                canonical.push(Entry { key: name.clone(), mark: entry.mark, node: value });
            }
        }
        // What is written comes first: a wrong value explains more than a missing neighbour.
        for (field, name) in absent {
            self.absent(field, name, node, at);
        }
        Some(Node { content: Content::Map(canonical), mark: node.mark, spelling: None })
    }

    fn unknown_key(&mut self, record: &Record, entry: &Entry, at: &Path<'_>) {
        let known: Vec<String> = record.fields.keys().cloned().collect();
        let nearest = nearest(&entry.key, known.iter().map(String::as_str)).map(str::to_owned);
        self.problem(&at.key(&entry.key), entry.mark, ProblemKind::UnknownKey { nearest, known });
    }

    fn absent(&mut self, field: &Field, name: &str, node: &Node, at: &Path<'_>) {
        if field.presence == Presence::Required && self.completeness == Completeness::Whole {
            self.problem(at, node.mark, ProblemKind::Missing { field: name.to_owned() });
        }
    }

    /// The first alternative without problems, or the problems of the one that was most likely meant.
    fn either(&mut self, rule: &Rule, rules: &[Rule], node: &Node, at: &Path<'_>) -> Option<Node> {
        let mut candidates: Vec<&Rule> =
            rules.iter().filter(|rule| rule.has_type_of(&node.content)).collect();
        if candidates.is_empty() {
            candidates = rules.iter().filter(|rule| self.loosely(rule, node).is_some()).collect();
        }
        let mut closest: Option<((usize, usize), Vec<Problem>)> = None;
        for candidate in candidates {
            let mut trial =
                Checker { completeness: self.completeness, reading: self.reading, problems: Vec::new() };
            let value = trial.node(candidate, node, at);
            if trial.problems.is_empty() {
                return value;
            }
            // A tag that does not match says more about what was not meant than any other problem.
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

/// Whether a key that may be anything is almost certainly a misspelt one: it is near a name that is not given.
fn is_near_miss(record: &Record, entry: &Entry, entries: &[Entry]) -> bool {
    let is_given = |name: &str| {
        entries.iter().any(|other| record.resolve(&other.key).is_some_and(|(resolved, ..)| resolved == name))
    };
    let missing = record.fields.keys().map(String::as_str).filter(|name| !is_given(name));
    nearest(&entry.key, missing).is_some()
}

/// A null where null is no value says that there is none.
fn counts_as_absent(field: &Field, node: &Node) -> bool {
    node.content == Content::Null
        && field.presence == Presence::Optional
        && field.rule.nullability == Nullability::NotNull
}

/// The spellings of a boolean that have no quotes around them anywhere.
fn boolean(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "yes" | "on" | "true" => Some(true),
        "0" | "no" | "off" | "false" => Some(false),
        _ => None,
    }
}
