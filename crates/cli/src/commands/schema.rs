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

/// The JSON documents that a run writes, prints or asks a model for: name, schema, description.
const DOCUMENTS: [(&str, SchemaFn, &str); 13] = [
    ("run", of::<Summary>, "A run, as `--json` prints it"),
    (
        "baseline_failures",
        of::<BaselineFailures>,
        "baseline_failures.json: what failed before the first attempt",
    ),
    ("current_failures", of::<CurrentFailures>, "current_failures.json: what fails after the last attempt"),
    (
        "failure_fingerprint_history",
        of::<FingerprintHistory>,
        "failure_fingerprint_history.json: the failures of each attempt",
    ),
    ("completion_reasons", of::<CompletionReasons>, "completion_reasons.json: why a task is complete or not"),
    ("diagnosis", of::<Diagnosis>, "diagnosis.json: why a task failed"),
    ("planning", of::<PlanningDocument>, "The planner's answer: tasks and their order"),
    ("execution", of::<ExecutionDocument>, "An agent's report about its actions"),
    ("reflection_document", of::<ReflectionDocument>, "The reflector's answer: whether the plan still works"),
    ("completion", of::<CompletionDocument>, "The end of a run, in its planning history"),
    ("plan_judgement", of::<PlanJudgement>, "The judge's answer about a plan"),
    ("task_judgement", of::<JudgeAnswer>, "The judge's answer about the result of a task"),
    ("whole_judgement", of::<WholeJudgement>, "The judge's answer about the whole result"),
];

fn of<T: JsonSchema>() -> Value {
    schemars::schema_for!(T).to_value()
}

impl ValueEnum for SchemaName {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<SchemaName>> = LazyLock::new(|| {
            let decisions = Kind::value_variants().iter().map(|kind| SchemaName::Decision(*kind));
            let documents = DOCUMENTS.iter().map(|(name, ..)| SchemaName::Document(name));
            std::iter::once(SchemaName::Config).chain(documents).chain(decisions).collect()
        });
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Config => Some(PossibleValue::new("config").help("The configuration files")),
            Self::Decision(kind) => kind.to_possible_value(),
            Self::Document(wanted) => {
                let (name, _, description) = DOCUMENTS.iter().find(|(name, ..)| name == wanted)?;
                Some(PossibleValue::new(*name).help(*description))
            }
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
            let found = DOCUMENTS.iter().find(|(name, ..)| *name == wanted);
            found.map(|(_, schema, _)| schema()).unwrap_or_default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a document whose schema is that of another, or none.
    #[test]
    fn every_document_has_a_schema_of_its_own() {
        let schemas: Vec<Value> = DOCUMENTS.iter().map(|(_, schema, _)| schema()).collect();
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
