//! `fixpoint schema NAME`: the JSON Schemas that inputs are checked by and outputs follow.

use std::sync::LazyLock;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use fixpoint_config::Shape;
use fixpoint_vocabulary::settings::Settings;
use serde_json::{Value, json};

use super::decide::kinds::Kind;
use crate::failure::Failure;
use crate::output::Output;

/// What has a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SchemaName {
    /// The configuration files.
    Config,
    /// A decision's question and answer.
    Decision(Kind),
}

impl ValueEnum for SchemaName {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<SchemaName>> = LazyLock::new(|| {
            let decisions = Kind::value_variants().iter().map(|kind| SchemaName::Decision(*kind));
            std::iter::once(SchemaName::Config).chain(decisions).collect()
        });
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Config => Some(PossibleValue::new("config").help("The configuration files")),
            Self::Decision(kind) => kind.to_possible_value(),
        }
    }
}

pub(crate) fn run(name: SchemaName, output: &mut Output) -> Result<(), Failure> {
    output.pretty_json(&schema(name))
}

fn schema(name: SchemaName) -> Value {
    match name {
        SchemaName::Config => Shape::of::<Settings>().published().clone(),
        SchemaName::Decision(kind) => {
            let decider = kind.decider();
            json!({ "question": decider.question_schema, "answer": decider.answer_schema })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a decision that was added without its schema.
    #[test]
    fn every_decision_has_its_schema() {
        for kind in Kind::value_variants() {
            let schema = schema(SchemaName::Decision(*kind));
            assert!(schema["question"]["properties"].is_object(), "{kind:?}");
        }
    }
}
