//! What a type's own JSON Schema says about acceptable values, enforced.
//!
//! Owns the check of any tree against any type: names in all their spellings, types, ranges, choices. Refuses
//! to know where a tree came from.
//!
//! Invariant: the schema that is published and the rules that are enforced are made from one another.

mod check;
mod compile;
mod found;
mod limits;
pub(crate) mod names;
pub(crate) mod path;
mod problem;
pub(crate) mod rule;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

use crate::tree::Node;
use check::Checker;
use path::Path;
use rule::Rule;

pub use check::Completeness;
pub(crate) use check::Reading;
pub(crate) use found::excerpt;
pub use problem::{Problem, ProblemKind};

/// The shape of acceptable values.
#[derive(Debug, Clone)]
pub struct Shape {
    published: Value,
    rule: Rule,
}

impl Shape {
    /// The shape of everything `T` can be read from.
    pub fn of<T: JsonSchema>() -> Self {
        let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
        let generator = settings.with_transform(RecursiveTransform(close)).into_generator();
        Self::from_schema(generator.into_root_schema_for::<T>().to_value())
    }

    /// The shape a schema states.
    pub fn from_schema(schema: Value) -> Self {
        let rule = compile::rule(&schema);
        Self { published: schema, rule }
    }

    /// The schema this shape enforces.
    pub fn published(&self) -> &Value {
        &self.published
    }

    /// The keywords of the schema that are not enforced; none for any type a test insists on.
    pub fn unenforced(&self) -> BTreeSet<String> {
        compile::unenforced(&self.published)
    }

    /// The canonical form of a tree, or the first thing that is wrong with it.
    pub fn conform(&self, node: &Node, completeness: Completeness) -> Result<Value, Problem> {
        let (canonical, problems) = self.examine(node, completeness, Reading::Exact);
        problems.into_iter().next().map_or_else(|| Ok(Value::from(&canonical)), Err)
    }

    /// The canonical form of a tree, or everything that is wrong with it.
    pub fn conform_all(&self, node: &Node, completeness: Completeness) -> Result<Value, Vec<Problem>> {
        let (canonical, problems) = self.examine(node, completeness, Reading::Exact);
        if problems.is_empty() { Ok(Value::from(&canonical)) } else { Err(problems) }
    }

    /// What is right of a tree, in canonical form, and everything that is wrong, in the order it was written.
    pub(crate) fn examine(
        &self,
        node: &Node,
        completeness: Completeness,
        reading: Reading,
    ) -> (Node, Vec<Problem>) {
        let mut checker = Checker { completeness, reading, problems: Vec::new() };
        let canonical = checker.node(&self.rule, node, &Path::Root);
        checker.problems.sort_by_key(|problem| problem.mark);
        (canonical.unwrap_or_else(|| Node::new(crate::tree::Content::Null)), checker.problems)
    }

    /// The rule itself, for those who find their way in it by key.
    pub(crate) fn rule(&self) -> &Rule {
        &self.rule
    }
}

/// Closes a record to keys it does not have: a misspelt key must be an error, in an editor as well as here. A
/// record that is combined with others cannot be closed by itself, since it would refuse their keys.
fn close(schema: &mut Schema) {
    let Some(keywords) = schema.as_object_mut() else { return };
    let combined =
        ["oneOf", "anyOf", "allOf", "additionalProperties"].iter().any(|key| keywords.contains_key(*key));
    if keywords.contains_key("properties") && !combined {
        keywords.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
}
