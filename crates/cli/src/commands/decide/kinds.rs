//! The decisions of `fixpoint decide`: name, example, schemas, and the function that computes the answer.

use core::convert::Infallible;
use core::fmt::Display;

use clap::ValueEnum;
use fixpoint_config::{Node, Schema, TypedReader};
use fixpoint_decide::{
    baseline, bounds, convergence, direction, judging, policy, refinement, reflection, replanning, sampling,
    scheduling, scope, structure, verdict,
};
use fixpoint_vocabulary::{Lang, Localize};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// Whether a score went up or down by more than noise
    Direction,
    /// Whether a reviewed plan is accepted, improved or rejected
    Refinement,
    /// Whether an improved plan is still valid
    Structure,
    /// What follows from the judge's answer about a task and the evidence
    Judge,
    /// Which tasks start now
    Schedule,
    /// Whether the attempts at a task make progress
    Convergence,
    /// Whether a check passed, by its output and exit code
    Verdict,
    /// The failures in the output of a test runner or compiler
    Failures,
    /// Which failures are new compared with the baseline
    Baseline,
    /// Whether the changed files are within the scope
    Scope,
    /// Whether a tool may be used
    Policy,
    /// The task graph after one task is replaced by smaller ones
    Replan,
    /// Which plan to score again, and whether the scores are conclusive
    Sampling,
    /// Whether a reflection is due
    Reflection,
    /// The limits that a run can never exceed
    Bounds,
}

/// Answers a question, or says in one line what is wrong with it.
type Answering = Box<dyn Fn(&Node, Lang) -> Result<Value, String>>;

pub(crate) struct Decider {
    answering: Answering,
    pub(crate) question_schema: Value,
    pub(crate) answer_schema: Value,
}

impl Decider {
    /// Answers a question, or says in one line what is wrong with it.
    pub(super) fn answer(&self, question: &Node, lang: Lang) -> Result<Value, String> {
        (self.answering)(question, lang)
    }
}

impl Kind {
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_string()).unwrap_or_default()
    }

    pub(crate) fn example(self) -> &'static str {
        macro_rules! example {
            ($name:literal) => {
                include_str!(concat!("../../../examples/decide/", $name, ".json"))
            };
        }
        match self {
            Self::Direction => example!("direction"),
            Self::Refinement => example!("refinement"),
            Self::Structure => example!("structure"),
            Self::Judge => example!("judge"),
            Self::Schedule => example!("schedule"),
            Self::Convergence => example!("convergence"),
            Self::Verdict => example!("verdict"),
            Self::Failures => example!("failures"),
            Self::Baseline => example!("baseline"),
            Self::Scope => example!("scope"),
            Self::Policy => example!("policy"),
            Self::Replan => example!("replan"),
            Self::Sampling => example!("sampling"),
            Self::Reflection => example!("reflection"),
            Self::Bounds => example!("bounds"),
        }
    }

    pub(crate) fn decider(self) -> Decider {
        match self {
            Self::Direction => always(direction::decide),
            Self::Refinement => always(refinement::decide),
            Self::Structure => always(structure::decide),
            Self::Judge => always(judging::decide),
            Self::Schedule => asked(scheduling::decide),
            Self::Convergence => asked(convergence::decide),
            Self::Verdict => always(verdict::decide),
            Self::Failures => always(fixpoint_failures::decide),
            Self::Baseline => always(baseline::decide::<String>),
            Self::Scope => always(scope::decide),
            Self::Policy => always(policy::decide),
            Self::Replan => asked(replanning::decide),
            Self::Sampling => always(sampling::decide),
            Self::Reflection => always(reflection::decide),
            Self::Bounds => always(bounds::decide),
        }
    }
}

/// A decision that has an answer to every question that can be read.
fn always<Question, Answer>(decide: fn(&Question) -> Answer) -> Decider
where
    Question: JsonSchema + DeserializeOwned + 'static,
    Answer: JsonSchema + Serialize + Localize + 'static,
{
    asked(move |question| Ok::<_, Infallible>(decide(question)))
}

/// A decision that may find its question unsound; its error names the field.
fn asked<Question, Answer, InvalidReplan>(
    decide: impl Fn(&Question) -> Result<Answer, InvalidReplan> + 'static,
) -> Decider
where
    Question: JsonSchema + DeserializeOwned + 'static,
    Answer: JsonSchema + Serialize + Localize + 'static,
    InvalidReplan: Display,
{
    let reader = TypedReader::<Question>::new();
    let question_schema = reader.schema().as_json().clone();
    let answering = move |node: &Node, lang: Lang| {
        let question = reader.read(node).map_err(|problem| problem.to_string())?;
        let mut answer = decide(&question).map_err(|unsound| unsound.to_string())?;
        answer.localize(lang);
        serde_json::to_value(answer).map_err(|error| error.to_string())
    };
    let answer_schema = Schema::of::<Answer>().as_json().clone();
    Decider { answering: Box::new(answering), question_schema, answer_schema }
}
