//! What a schema asks of a value, as types instead of keywords.
//!
//! Owns the rules and how keys are resolved to fields. Refuses to read schemas or to judge values.
//!
//! Invariant: a record resolves every accepted spelling of a key to exactly one field.

use std::collections::BTreeMap;

use serde_json::{Number, Value};

use super::names::camel_case;
use super::problem::listed;
use crate::tree::Content;

/// What is asked of one value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rule {
    /// What the value means, for people.
    pub(crate) description: String,
    /// The value when none is given.
    pub(crate) default: Option<Value>,
    /// Whether null is a value here.
    pub(crate) nullability: Nullability,
    /// What else is asked.
    pub(crate) kind: Kind,
}

/// Whether null is a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nullability {
    /// It is.
    Nullable,
    /// It counts as absent, or is of the wrong type where something must be there.
    NotNull,
}

/// What is asked of a value that is not null.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    /// Nothing.
    Anything,
    /// True or false.
    Bool,
    /// A whole number.
    Integer(Range),
    /// Any number.
    Number(Range),
    /// A text of so many characters.
    Text(Length),
    /// One of these texts.
    Choice(Vec<Choice>),
    /// Exactly this value.
    Exactly(Value),
    /// So many values of one kind.
    List(Box<Rule>, Length),
    /// Known keys.
    Record(Record),
    /// Any keys, with values of one kind.
    Map(Box<Rule>),
    /// Whichever of these fits.
    Either(Vec<Rule>),
}

/// Inclusive bounds of a number.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Range {
    pub(crate) minimum: Option<Number>,
    pub(crate) maximum: Option<Number>,
}

/// Inclusive bounds of a length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Length {
    pub(crate) minimum: Option<u64>,
    pub(crate) maximum: Option<u64>,
}

/// One text that may be chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) spelling: String,
    pub(crate) description: String,
}

/// Fields by name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Record {
    pub(crate) fields: BTreeMap<String, Field>,
    pub(crate) others: Others,
    names: BTreeMap<String, (String, Age)>,
}

/// One field of a record.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Field {
    pub(crate) rule: Rule,
    pub(crate) presence: Presence,
    /// The name this field used to have.
    pub(crate) legacy: Option<String>,
}

/// Whether a field must be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    Required,
    Optional,
}

/// What becomes of keys that are no field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Others {
    Refused,
    Kept,
}

/// Whether a key is the name of today or an old one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Age {
    Current,
    Legacy,
}

impl Record {
    /// A record whose fields also go by their camelCase and old names, unless another field has that name.
    pub(super) fn new(fields: BTreeMap<String, Field>, others: Others) -> Self {
        let mut names = BTreeMap::new();
        for (name, field) in &fields {
            if let Some(legacy) = &field.legacy {
                names.insert(camel_case(legacy), (name.clone(), Age::Legacy));
                names.insert(legacy.clone(), (name.clone(), Age::Legacy));
            }
        }
        for name in fields.keys() {
            names.insert(camel_case(name), (name.clone(), Age::Current));
        }
        for name in fields.keys() {
            names.insert(name.clone(), (name.clone(), Age::Current));
        }
        Self { fields, others, names }
    }

    /// The field a key means.
    pub(crate) fn resolve(&self, key: &str) -> Option<(&str, &Field, Age)> {
        let (name, age) = self.names.get(key)?;
        let field = self.fields.get(name)?;
        Some((name, field, *age))
    }
}

impl Rule {
    /// A rule that accepts everything.
    pub(super) fn anything() -> Self {
        Self {
            description: String::new(),
            default: None,
            nullability: Nullability::Nullable,
            kind: Kind::Anything,
        }
    }

    /// The rule below this one for a key, with the key in its snake_case spelling. An old name stays an old
    /// name, since what it means depends on whether the new one is given too.
    pub(crate) fn child<'rule>(&'rule self, key: &'rule str) -> Option<(&'rule str, &'rule Rule)> {
        if let Kind::Map(values) = &self.kind {
            return Some((key, values));
        }
        let Kind::Record(record) = &self.kind else { return None };
        let (name, field, age) = record.resolve(key)?;
        match (age, &field.legacy) {
            (Age::Legacy, Some(legacy)) => Some((legacy, &field.rule)),
            (Age::Legacy, None) | (Age::Current, _) => Some((name, &field.rule)),
        }
    }

    /// The names of the fields below this rule; none unless it is a record.
    pub(crate) fn field_names(&self) -> Vec<String> {
        let Kind::Record(record) = &self.kind else { return Vec::new() };
        record.fields.keys().cloned().collect()
    }

    /// Whether the value is text and nothing else.
    pub(crate) fn wants_text(&self) -> bool {
        matches!(self.kind, Kind::Text(_) | Kind::Choice(_))
    }

    /// Whether a value has the type this rule is about, whatever else is wrong with it.
    pub(super) fn has_type_of(&self, content: &Content) -> bool {
        match (&self.kind, content) {
            (Kind::Anything, _) => true,
            (_, Content::Null) => self.nullability == Nullability::Nullable,
            (Kind::Either(rules), _) => rules.iter().any(|rule| rule.has_type_of(content)),
            (Kind::Exactly(value), _) => {
                core::mem::discriminant(&crate::tree::Node::from(value.clone()).content)
                    == core::mem::discriminant(content)
            }
            (Kind::Bool, Content::Bool(_))
            | (Kind::Integer(_) | Kind::Number(_), Content::Number(_))
            | (Kind::Text(_) | Kind::Choice(_), Content::Text(_))
            | (Kind::List(..), Content::List(_))
            | (Kind::Record(_) | Kind::Map(_), Content::Map(_)) => true,
            (
                Kind::Bool
                | Kind::Integer(_)
                | Kind::Number(_)
                | Kind::Text(_)
                | Kind::Choice(_)
                | Kind::List(..)
                | Kind::Record(_)
                | Kind::Map(_),
                Content::Bool(_) | Content::Number(_) | Content::Text(_) | Content::List(_) | Content::Map(_),
            ) => false,
        }
    }

    /// The type this rule is about, in words.
    pub(crate) fn type_name(&self) -> String {
        match &self.kind {
            Kind::Anything => "anything".to_owned(),
            Kind::Bool => "true or false".to_owned(),
            Kind::Integer(_) => "an integer".to_owned(),
            Kind::Number(_) => "a number".to_owned(),
            Kind::Text(_) => "text".to_owned(),
            Kind::Choice(choices) => {
                let spellings: Vec<_> = choices.iter().map(|choice| choice.spelling.clone()).collect();
                format!("one of {}", listed(&spellings))
            }
            Kind::Exactly(value) => format!("`{value}`"),
            Kind::List(..) => "a list".to_owned(),
            Kind::Record(_) | Kind::Map(_) => "a map".to_owned(),
            Kind::Either(rules) => rules.iter().map(Rule::type_name).collect::<Vec<_>>().join(" or "),
        }
    }
}
