//! Checks trees of values against the JSON Schema of a type: key spellings, types, ranges, choices.
//!
//! Knows nothing about where a tree comes from.
//!
//! Invariant: the rules that are enforced are made from the schema that is published.

mod check;
mod compile;
mod excerpt;
mod limits;
pub(crate) mod names;
pub(crate) mod path;
mod problem;
pub(crate) mod rule;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use serde_json::Value;

use crate::tree::{Content, Node};
use check::Checker;
use path::Path;
use rule::Rule;

pub use check::Completeness;
pub(crate) use check::Typing;
pub(crate) use excerpt::excerpt;
pub use problem::{Problem, ProblemKind};

/// A JSON Schema and the rules made from it.
#[derive(Debug, Clone)]
pub struct Schema {
    json: Value,
    rule: Rule,
}

impl Schema {
    /// The schema of everything `T` can be deserialised from.
    pub fn of<T: JsonSchema>() -> Self {
        let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
        let generator = settings.with_transform(RecursiveTransform(refuse_unknown_keys)).into_generator();
        Self::from_json(generator.into_root_schema_for::<T>().to_value())
    }

    pub fn from_json(json: Value) -> Self {
        let rule = compile::rule(&json);
        Self { json, rule }
    }

    pub fn as_json(&self) -> &Value {
        &self.json
    }

    /// Keywords of the schema that are not enforced. Tests insist that there are none.
    pub fn unenforced_keywords(&self) -> BTreeSet<String> {
        compile::unenforced_keywords(&self.json)
    }

    /// The canonical form of a tree, or the first problem in it.
    pub fn validate(&self, node: &Node, completeness: Completeness) -> Result<Value, Problem> {
        let (canonical, problems) = self.check(node, completeness, Typing::Strict);
        problems.into_iter().next().map_or_else(|| Ok(Value::from(&canonical)), Err)
    }

    /// The valid part of a tree in canonical form, and all problems in the order of their positions.
    pub(crate) fn check(
        &self,
        node: &Node,
        completeness: Completeness,
        typing: Typing,
    ) -> (Node, Vec<Problem>) {
        let mut checker = Checker { root: &self.rule, completeness, typing, problems: Vec::new() };
        let canonical = checker.node(&self.rule, node, &Path::Root);
        checker.problems.sort_by_key(|problem| problem.position);
        (canonical.unwrap_or_else(|| Node::new(Content::Null)), checker.problems)
    }

    pub(crate) fn rule(&self) -> &Rule {
        &self.rule
    }
}

/// Forbids keys that a record does not have, so that editors show a misspelt key as an error too. A record that is
/// combined with others cannot forbid them alone: it would refuse the keys of the others.
fn refuse_unknown_keys(schema: &mut schemars::Schema) {
    let Some(keywords) = schema.as_object_mut() else { return };
    let combined =
        ["oneOf", "anyOf", "allOf", "additionalProperties"].iter().any(|key| keywords.contains_key(*key));
    if keywords.contains_key("properties") && !combined {
        keywords.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
}
