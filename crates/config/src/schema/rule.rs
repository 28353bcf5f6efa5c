//! What a schema asks of a value, as types instead of keywords.
//!
//! Owns the rules and how keys are resolved to fields. Reads no schemas and checks no values.
//!
//! Invariant: a record resolves every accepted spelling of a key to exactly one field.

use std::collections::BTreeMap;

use serde_json::{Number, Value};

use super::names::{camel_case, nearest, normalised};
use super::problem::{ProblemKind, listed};
use crate::tree::{Content, Node};

/// A key that exists in more sections than this is not suggested.
const MAX_HINTS: usize = 3;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rule {
    pub(crate) description: String,
    pub(crate) default: Option<Value>,
    pub(crate) nullability: Nullability,
    pub(crate) kind: ValueType,
    /// Keys below this value that are planned and not implemented, each with what to do instead.
    pub(crate) unavailable_keys: BTreeMap<String, String>,
    /// Choices that are planned and not implemented, each with what to do instead.
    pub(crate) unavailable_values: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nullability {
    Nullable,
    /// Null counts as absent, or has the wrong type where a value is required.
    NotNull,
}

/// The type of a value that is not null.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ValueType {
    Anything,
    Bool,
    Integer(Range),
    Number(Range),
    /// Text, with the number of its characters.
    Text(Length),
    Choice(Vec<Choice>),
    Exactly(Value),
    List(Box<Rule>, Length),
    Record(Record),
    Map(Box<Rule>),
    Either(Vec<Rule>),
}

/// Inclusive limits of a number.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Range {
    pub(crate) minimum: Option<Number>,
    pub(crate) maximum: Option<Number>,
}

/// Inclusive limits of a length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Length {
    pub(crate) minimum: Option<u64>,
    pub(crate) maximum: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) spelling: String,
    pub(crate) description: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unavailable<'rule> {
    pub(crate) name: &'rule str,
    /// What to do instead, as the end of a sentence.
    pub(crate) instead: &'rule str,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Record {
    pub(crate) fields: BTreeMap<String, Field>,
    pub(crate) unknown_keys: UnknownKeys,
    names: BTreeMap<String, (String, Age)>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Field {
    pub(crate) rule: Rule,
    pub(crate) presence: Presence,
    pub(crate) old_name: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    Required,
    Optional,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnknownKeys {
    Refused,
    Kept,
}

/// Whether a key is the current name of a field or an old one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Age {
    Current,
    Old,
}

impl Record {
    /// The camelCase spellings and the old names of fields are accepted too, unless another field has that name.
    pub(super) fn new(fields: BTreeMap<String, Field>, unknown_keys: UnknownKeys) -> Self {
        let mut names = BTreeMap::new();
        for (name, field) in &fields {
            if let Some(old_name) = &field.old_name {
                names.insert(camel_case(old_name), (name.clone(), Age::Old));
                names.insert(old_name.clone(), (name.clone(), Age::Old));
            }
        }
        for name in fields.keys() {
            names.insert(camel_case(name), (name.clone(), Age::Current));
        }
        for name in fields.keys() {
            names.insert(name.clone(), (name.clone(), Age::Current));
        }
        Self { fields, unknown_keys, names }
    }

    pub(crate) fn resolve(&self, key: &str) -> Option<(&str, &Field, Age)> {
        let (name, age) = self.names.get(key)?;
        let field = self.fields.get(name)?;
        Some((name, field, *age))
    }
}

impl Rule {
    pub(super) fn anything() -> Self {
        Self {
            description: String::new(),
            default: None,
            nullability: Nullability::Nullable,
            kind: ValueType::Anything,
            unavailable_keys: BTreeMap::new(),
            unavailable_values: BTreeMap::new(),
        }
    }

    /// In any of its spellings.
    pub(crate) fn unavailable_key(&self, key: &str) -> Option<Unavailable<'_>> {
        unavailable(&self.unavailable_keys, |name| name == key || camel_case(name) == key)
    }

    /// In any of its spellings.
    pub(super) fn unavailable_value(&self, text: &str) -> Option<Unavailable<'_>> {
        unavailable(&self.unavailable_values, |name| normalised(name) == normalised(text))
    }

    /// The rule for a key, with the key in its snake_case spelling. An old name stays an old name: what it means depends
    /// on whether the new one is set too.
    pub(crate) fn child<'rule>(&'rule self, key: &'rule str) -> Option<(&'rule str, &'rule Rule)> {
        if let ValueType::Map(values) = &self.kind {
            return Some((key, values));
        }
        let ValueType::Record(record) = &self.kind else { return None };
        let (name, field, age) = record.resolve(key)?;
        match (age, &field.old_name) {
            (Age::Old, Some(old_name)) => Some((old_name, &field.rule)),
            (Age::Old, None) | (Age::Current, _) => Some((name, &field.rule)),
        }
    }

    /// The names of the fields; none unless this is a record.
    pub(crate) fn field_names(&self) -> Vec<String> {
        let ValueType::Record(record) = &self.kind else { return Vec::new() };
        record.fields.keys().cloned().collect()
    }

    pub(crate) fn unknown_key(&self, known: Vec<String>, key: &str) -> ProblemKind {
        let suggestions = match nearest(key, known.iter().map(String::as_str)) {
            Some(nearest) => vec![nearest.to_owned()],
            None => self.paths_of(key),
        };
        ProblemKind::UnknownKey { suggestions, known }
    }

    /// The paths of all keys of this name below this rule, outside of lists; none if there are too many to be a hint.
    pub(crate) fn paths_of(&self, key: &str) -> Vec<String> {
        let mut found = Vec::new();
        self.collect_paths(&normalised(key), "", &mut found);
        if found.len() > MAX_HINTS { Vec::new() } else { found }
    }

    fn collect_paths(&self, key: &str, section: &str, found: &mut Vec<String>) {
        let ValueType::Record(record) = &self.kind else { return };
        for (name, field) in &record.fields {
            let path = if section.is_empty() { name.clone() } else { format!("{section}.{name}") };
            field.rule.collect_paths(key, &path, found);
            if normalised(name) == key {
                found.push(path);
            }
        }
    }

    pub(crate) fn wants_text(&self) -> bool {
        matches!(self.kind, ValueType::Text(_) | ValueType::Choice(_))
    }

    /// Whether a value has the type of this rule, even if it is invalid otherwise.
    pub(super) fn has_type_of(&self, content: &Content) -> bool {
        match (&self.kind, content) {
            (ValueType::Anything, _) => true,
            (_, Content::Null) => self.nullability == Nullability::Nullable,
            (ValueType::Either(rules), _) => rules.iter().any(|rule| rule.has_type_of(content)),
            (ValueType::Exactly(value), _) => {
                core::mem::discriminant(&Node::from(value.clone()).content)
                    == core::mem::discriminant(content)
            }
            (ValueType::Bool, Content::Bool(_))
            | (ValueType::Integer(_) | ValueType::Number(_), Content::Number(_))
            | (ValueType::Text(_) | ValueType::Choice(_), Content::Text(_))
            | (ValueType::List(..), Content::List(_))
            | (ValueType::Record(_) | ValueType::Map(_), Content::Map(_)) => true,
            (
                ValueType::Bool
                | ValueType::Integer(_)
                | ValueType::Number(_)
                | ValueType::Text(_)
                | ValueType::Choice(_)
                | ValueType::List(..)
                | ValueType::Record(_)
                | ValueType::Map(_),
                Content::Bool(_) | Content::Number(_) | Content::Text(_) | Content::List(_) | Content::Map(_),
            ) => false,
        }
    }

    /// With its article.
    pub(crate) fn type_name(&self) -> String {
        match &self.kind {
            ValueType::Anything => "anything".to_owned(),
            ValueType::Bool => "true or false".to_owned(),
            ValueType::Integer(_) => "an integer".to_owned(),
            ValueType::Number(_) => "a number".to_owned(),
            ValueType::Text(_) => "text".to_owned(),
            ValueType::Choice(choices) => {
                let spellings: Vec<_> = choices.iter().map(|choice| choice.spelling.clone()).collect();
                format!("one of {}", listed(&spellings))
            }
            ValueType::Exactly(value) => format!("`{value}`"),
            ValueType::List(..) => "a list".to_owned(),
            ValueType::Record(record) => {
                let is_required = |field: &Field| field.presence == Presence::Required;
                let required = record.fields.iter().filter(|(_, field)| is_required(field));
                let names: Vec<String> = required.map(|(name, _)| name.clone()).collect();
                if names.is_empty() { "a map".to_owned() } else { format!("a map with {}", listed(&names)) }
            }
            ValueType::Map(_) => "a map".to_owned(),
            ValueType::Either(rules) => rules.iter().map(Rule::type_name).collect::<Vec<_>>().join(" or "),
        }
    }
}

fn unavailable(names: &BTreeMap<String, String>, is_meant: impl Fn(&str) -> bool) -> Option<Unavailable<'_>> {
    let (name, instead) = names.iter().find(|(name, _)| is_meant(name))?;
    Some(Unavailable { name, instead })
}
