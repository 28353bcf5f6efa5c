//! `fixpoint schema NAME`: prints the JSON Schema of an input or output.

use std::sync::LazyLock;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use fixpoint_config::Schema;
use fixpoint_runs::{
    BaselineFailures, CompletionReasons, CurrentFailures, Diagnosis, FingerprintHistory, Summary,
};
use fixpoint_vocabulary::documents::{
    CompletionDocument, ExecutionDocument, JudgeAnswer, PlanJudgement, PlanningDocument, ReflectionDocument,
    WholeJudgement,
};
use fixpoint_vocabulary::settings::Settings;
use schemars::JsonSchema;
use serde_json::{Value, json};

use super::decide::kinds::Kind;
use crate::failure::Failure;
use crate::output::Output;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SchemaName {
    /// The configuration files.
    Config,
    /// The question and the answer of a decision.
    Decision(Kind),
    /// A document, by its name.
    Document(&'static str),
}

type SchemaFn = fn() -> Value;

/// The JSON documents that a run writes, prints or asks a model for.
const DOCUMENTS: [(&str, SchemaFn); 13] = [
    ("run", of::<Summary>),
    ("baseline_failures", of::<BaselineFailures>),
    ("current_failures", of::<CurrentFailures>),
    ("failure_fingerprint_history", of::<FingerprintHistory>),
    ("completion_reasons", of::<CompletionReasons>),
    ("diagnosis", of::<Diagnosis>),
    ("planning", of::<PlanningDocument>),
    ("execution", of::<ExecutionDocument>),
    ("reflection_document", of::<ReflectionDocument>),
    ("completion", of::<CompletionDocument>),
    ("plan_judgement", of::<PlanJudgement>),
    ("task_judgement", of::<JudgeAnswer>),
    ("whole_judgement", of::<WholeJudgement>),
];

fn of<T: JsonSchema>() -> Value {
    schemars::schema_for!(T).to_value()
}

impl ValueEnum for SchemaName {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<SchemaName>> = LazyLock::new(|| {
            let decisions = Kind::value_variants().iter().map(|kind| SchemaName::Decision(*kind));
            let documents = DOCUMENTS.iter().map(|(name, _)| SchemaName::Document(name));
            std::iter::once(SchemaName::Config).chain(documents).chain(decisions).collect()
        });
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Config => Some(PossibleValue::new("config").help("The configuration files")),
            Self::Decision(kind) => kind.to_possible_value(),
            Self::Document(name) => Some(
                PossibleValue::new(*name)
                    .help("A JSON document that a run writes, prints or asks a model for"),
            ),
        }
    }
}

pub(crate) fn run(name: SchemaName, output: &mut Output) -> Result<(), Failure> {
    output.pretty_json(&schema(name))
}

fn schema(name: SchemaName) -> Value {
    match name {
        SchemaName::Config => Schema::of::<Settings>().as_json().clone(),
        SchemaName::Decision(kind) => {
            let decider = kind.decider();
            json!({ "question": decider.question_schema, "answer": decider.answer_schema })
        }
        SchemaName::Document(wanted) => {
            let found = DOCUMENTS.iter().find(|(name, _)| *name == wanted);
            found.map(|(_, schema)| schema()).unwrap_or_default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a document whose schema is that of another, or none.
    #[test]
    fn every_document_has_a_schema_of_its_own() {
        let schemas: Vec<Value> = DOCUMENTS.iter().map(|(_, schema)| schema()).collect();
        for (n, schema) in schemas.iter().enumerate() {
            assert!(schema["properties"].is_object(), "{n}");
            assert_eq!(schemas.iter().position(|other| other == schema), Some(n));
        }
    }

    /// Catches a decision that was added without its schema.
    #[test]
    fn every_decision_has_its_schema() {
        for kind in Kind::value_variants() {
            let schema = schema(SchemaName::Decision(*kind));
            assert!(schema["question"]["properties"].is_object(), "{kind:?}");
        }
    }
}
