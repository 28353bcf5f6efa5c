//! Reads one value of a type from a tree: checked by the type's own schema, then deserialised.
//!
//! Defaults for absent fields are the type's own.

use core::fmt;
use core::marker::PhantomData;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::schema::{Completeness, Problem, ProblemKind, Schema};
use crate::tree::Node;

/// Build it once for many values: building the schema costs far more than using it.
pub struct TypedReader<T> {
    schema: Schema,
    reads: PhantomData<fn() -> T>,
}

impl<T> fmt::Debug for TypedReader<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TypedReader").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl<T: JsonSchema + DeserializeOwned> TypedReader<T> {
    #[expect(clippy::new_without_default, reason = "building a schema is too expensive for a default")]
    pub fn new() -> Self {
        Self { schema: Schema::of::<T>(), reads: PhantomData }
    }

    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Reads one value, in which every field without a default must be present.
    pub fn read(&self, node: &Node) -> Result<T, Problem> {
        let value = self.schema.validate(node, Completeness::Whole)?;
        serde_json::from_value(value).map_err(|error| Problem {
            path: String::new(),
            position: node.position,
            kind: ProblemKind::Refused { message: error.to_string() },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixpoint_vocabulary::settings::{RefinementSettings, ReplanningSettings};
    use serde::Deserialize;
    use serde_json::{Value, json};

    /// A type with a rule that its schema cannot express.
    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(try_from = "u32")]
    struct Even(u32);

    impl TryFrom<u32> for Even {
        type Error = String;

        fn try_from(value: u32) -> Result<Self, String> {
            if value.is_multiple_of(2) { Ok(Self(value)) } else { Err(format!("{value} is odd")) }
        }
    }

    fn read<T: JsonSchema + DeserializeOwned>(value: Value) -> Result<T, Problem> {
        TypedReader::new().read(&Node::from(value))
    }

    #[test]
    fn absent_fields_have_their_defaults_and_both_spellings_are_accepted() {
        let expected = RefinementSettings {
            max_refinement_attempts: 4,
            noise_threshold: 2.0,
            ..RefinementSettings::default()
        };
        assert_eq!(read(json!({"maxRefinementAttempts": 4, "noise_threshold": 2.0})), Ok(expected));
        let old: Result<RefinementSettings, _> = read(json!({"maxQualityRetries": 7}));
        assert_eq!(old.map(|settings| settings.max_refinement_attempts), Ok(7));
        let expected =
            ReplanningSettings { max_iterations: 1, timeout_seconds: 9, ..ReplanningSettings::default() };
        assert_eq!(read(json!({"maxIterations": 1, "timeoutSeconds": 9})), Ok(expected));
    }

    #[test]
    fn what_the_type_itself_refuses_is_a_problem_too() {
        assert_eq!(read::<Even>(json!(4)).map(|even| even.0), Ok(4));
        assert_eq!(read::<Even>(json!(5)).unwrap_err().to_string(), "5 is odd");
    }
}
