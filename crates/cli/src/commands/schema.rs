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
    Document(Document),
}

/// A JSON document that a run writes, prints or asks a model for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Document {
    /// The result of `loop --json` and `show --json`.
    Run,
    /// `baseline_failures.json`.
    BaselineFailures,
    /// `current_failures.json`.
    CurrentFailures,
    /// `failure_fingerprint_history.json`.
    FingerprintHistory,
    /// `completion_reasons.json`.
    CompletionReasons,
    /// `diagnosis.json`.
    Diagnosis,
    Planning,
    Execution,
    Reflection,
    Completion,
    /// The judge's answer about a plan.
    PlanJudgement,
    /// The judge's answer about a task.
    JudgeAnswer,
    /// The judge's answer about the whole result.
    WholeJudgement,
}

impl Document {
    const ALL: [Self; 13] = [
        Self::Run,
        Self::BaselineFailures,
        Self::CurrentFailures,
        Self::FingerprintHistory,
        Self::CompletionReasons,
        Self::Diagnosis,
        Self::Planning,
        Self::Execution,
        Self::Reflection,
        Self::Completion,
        Self::PlanJudgement,
        Self::JudgeAnswer,
        Self::WholeJudgement,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::BaselineFailures => "baseline_failures",
            Self::CurrentFailures => "current_failures",
            Self::FingerprintHistory => "failure_fingerprint_history",
            Self::CompletionReasons => "completion_reasons",
            Self::Diagnosis => "diagnosis",
            Self::Planning => "planning",
            Self::Execution => "execution",
            Self::Reflection => "reflection_document",
            Self::Completion => "completion",
            Self::PlanJudgement => "plan_judgement",
            Self::JudgeAnswer => "task_judgement",
            Self::WholeJudgement => "whole_judgement",
        }
    }

    fn schema(self) -> Value {
        let schema = match self {
            Self::Run => schemars::schema_for!(Summary),
            Self::BaselineFailures => schemars::schema_for!(BaselineFailures),
            Self::CurrentFailures => schemars::schema_for!(CurrentFailures),
            Self::FingerprintHistory => schemars::schema_for!(FingerprintHistory),
            Self::CompletionReasons => schemars::schema_for!(CompletionReasons),
            Self::Diagnosis => schemars::schema_for!(Diagnosis),
            Self::Planning => schemars::schema_for!(PlanningDocument),
            Self::Execution => schemars::schema_for!(ExecutionDocument),
            Self::Reflection => schemars::schema_for!(ReflectionDocument),
            Self::Completion => schemars::schema_for!(CompletionDocument),
            Self::PlanJudgement => schemars::schema_for!(PlanJudgement),
            Self::JudgeAnswer => schemars::schema_for!(JudgeAnswer),
            Self::WholeJudgement => schemars::schema_for!(WholeJudgement),
        };
        schema.to_value()
    }
}

impl ValueEnum for SchemaName {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<SchemaName>> = LazyLock::new(|| {
            let decisions = Kind::value_variants().iter().map(|kind| SchemaName::Decision(*kind));
            let documents = Document::ALL.iter().map(|document| SchemaName::Document(*document));
            std::iter::once(SchemaName::Config).chain(documents).chain(decisions).collect()
        });
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Config => Some(PossibleValue::new("config").help("The configuration files")),
            Self::Decision(kind) => kind.to_possible_value(),
            Self::Document(document) => Some(
                PossibleValue::new(document.name())
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
        SchemaName::Document(document) => document.schema(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a document whose schema is that of another, or none.
    #[test]
    fn every_document_has_a_schema_of_its_own() {
        let schemas: Vec<Value> = Document::ALL.iter().map(|document| document.schema()).collect();
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
