//! One typed value out of a tree: checked by the type's own shape, then made.
//!
//! Owns the way from a tree to a type. Refuses to fill in what is absent: defaults are the type's.
//!
//! Invariant: a value is only made from a tree its shape accepts.

use core::fmt;
use core::marker::PhantomData;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::shape::{Completeness, Problem, ProblemKind, Shape};
use crate::tree::Node;

/// A reader of one type, to be kept where many values of it are read: making the shape costs far more than
/// using it.
pub struct Section<T> {
    shape: Shape,
    read: PhantomData<fn() -> T>,
}

impl<T> fmt::Debug for Section<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Section").field("shape", &self.shape).finish_non_exhaustive()
    }
}

impl<T: JsonSchema + DeserializeOwned> Section<T> {
    /// The reader of `T`.
    pub fn new() -> Self {
        Self { shape: Shape::of::<T>(), read: PhantomData }
    }

    /// The shape values are checked by.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Reads one value, which must be complete but for what has a default.
    pub fn read(&self, node: &Node) -> Result<T, Problem> {
        let value = self.shape.conform(node, Completeness::Whole)?;
        serde_json::from_value(value).map_err(|error| Problem {
            path: String::new(),
            mark: node.mark,
            kind: ProblemKind::Refused { message: error.to_string() },
        })
    }
}

impl<T: JsonSchema + DeserializeOwned> Default for Section<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// Reads one value of a type that is read only once; see [`Section`] for many.
pub fn read_section<T: JsonSchema + DeserializeOwned>(node: &Node) -> Result<T, Problem> {
    Section::new().read(node)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixpoint_vocabulary::settings::{RefinementSettings, ReplanningSettings};
    use serde::Deserialize;
    use serde_json::json;

    /// A type whose own rule is stricter than anything its schema can say.
    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(try_from = "u32")]
    struct Even(u32);

    impl TryFrom<u32> for Even {
        type Error = String;

        fn try_from(value: u32) -> Result<Self, String> {
            if value.is_multiple_of(2) { Ok(Self(value)) } else { Err(format!("{value} is odd")) }
        }
    }

    #[test]
    fn a_partial_section_in_either_spelling_is_completed_by_its_defaults() {
        let node = Node::from(json!({"maxRefinementAttempts": 4, "noise_threshold": 2.0}));
        let expected = RefinementSettings {
            max_refinement_attempts: 4,
            noise_threshold: 2.0,
            ..RefinementSettings::default()
        };
        assert_eq!(read_section::<RefinementSettings>(&node), Ok(expected));
        let old = Node::from(json!({"maxQualityRetries": 7}));
        assert_eq!(read_section::<RefinementSettings>(&old).map(|s| s.max_refinement_attempts), Ok(7));
        let replanning = Node::from(json!({"maxIterations": 1, "timeoutSeconds": 9}));
        let expected =
            ReplanningSettings { max_iterations: 1, timeout_seconds: 9, ..ReplanningSettings::default() };
        assert_eq!(read_section::<ReplanningSettings>(&replanning), Ok(expected));
    }

    #[test]
    fn what_the_type_itself_refuses_is_a_problem_too() {
        let section = Section::<Even>::new();
        assert_eq!(section.read(&Node::from(json!(4))).map(|even| even.0), Ok(4));
        assert_eq!(section.read(&Node::from(json!(5))).unwrap_err().to_string(), "5 is odd");
    }
}
