//! The decisions of `fixpoint decide`: name, example, schemas, and the function that computes the answer.

use core::convert::Infallible;
use core::fmt::Display;

use clap::ValueEnum;
use fixpoint_config::{Content, Node, Schema, TypedReader};
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
    pub(super) answer: Answering,
    pub(crate) question_schema: Value,
    pub(crate) answer_schema: Value,
}

impl Kind {
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_string()).unwrap_or_default()
    }

    pub(crate) fn example(self) -> &'static str {
        self.example_and_decider().0
    }

    pub(crate) fn decider(self) -> Decider {
        self.example_and_decider().1()
    }

    fn example_and_decider(self) -> (&'static str, fn() -> Decider) {
        macro_rules! entry {
            ($name:literal, $decider:expr) => {
                (include_str!(concat!("../../../examples/decide/", $name, ".json")), || $decider)
            };
        }
        match self {
            Self::Direction => entry!("direction", always(direction::decide)),
            Self::Refinement => entry!("refinement", always(refinement::decide)),
            Self::Structure => entry!("structure", always(structure::decide)),
            Self::Judge => entry!("judge", always(judging::decide)),
            Self::Schedule => entry!("schedule", asked(scheduling::decide)),
            Self::Convergence => entry!("convergence", asked(convergence::decide)),
            Self::Verdict => entry!("verdict", always(verdict::decide)),
            Self::Failures => entry!("failures", always(fixpoint_failures::decide)),
            Self::Baseline => entry!("baseline", always(baseline::decide::<String>)),
            Self::Scope => entry!("scope", always(scope::decide)),
            Self::Policy => entry!("policy", always(policy::decide)),
            Self::Replan => entry!("replan", asked(replanning::decide)),
            Self::Sampling => entry!("sampling", always(sampling::decide)),
            Self::Reflection => entry!("reflection", always(reflection::decide)),
            Self::Bounds => entry!(
                "bounds",
                read_as(without_default_budget, |question| Ok::<_, Infallible>(bounds::decide(question)))
            ),
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

/// A decision that may reject its question; its error names the field.
fn asked<Question, Answer, Invalid>(
    decide: impl Fn(&Question) -> Result<Answer, Invalid> + 'static,
) -> Decider
where
    Question: JsonSchema + DeserializeOwned + 'static,
    Answer: JsonSchema + Serialize + Localize + 'static,
    Invalid: Display,
{
    read_as(|_, _| {}, decide)
}

/// The same, with a question that is completed from what was written before it is decided.
fn read_as<Question, Answer, Invalid>(
    complete: fn(&Node, &mut Question),
    decide: impl Fn(&Question) -> Result<Answer, Invalid> + 'static,
) -> Decider
where
    Question: JsonSchema + DeserializeOwned + 'static,
    Answer: JsonSchema + Serialize + Localize + 'static,
    Invalid: Display,
{
    let reader = TypedReader::<Question>::new();
    let question_schema = reader.schema().as_json().clone();
    let answer = move |node: &Node, lang: Lang| {
        let mut question = reader.read(node).map_err(|problem| problem.to_string())?;
        complete(node, &mut question);
        let mut answer = decide(&question).map_err(|invalid| invalid.to_string())?;
        answer.localize(lang);
        serde_json::to_value(answer).map_err(|error| error.to_string())
    };
    let answer_schema = Schema::of::<Answer>().as_json().clone();
    Decider { answer: Box::new(answer), question_schema, answer_schema }
}

/// The default limit in money belongs to `fixpoint run`: a question that names none asks for the worst case without it.
fn without_default_budget(node: &Node, question: &mut bounds::Question) {
    let budget = below(node, "config").and_then(|config| below(config, "budget"));
    if budget.and_then(|budget| below(budget, "usd")).is_none() {
        question.config.budget.usd = None;
    }
}

fn below<'a>(node: &'a Node, key: &str) -> Option<&'a Node> {
    match &node.content {
        Content::Map(entries) => entries.iter().find(|entry| entry.key == key).map(|entry| &entry.node),
        Content::Null | Content::Bool(_) | Content::Number(_) | Content::Text(_) | Content::List(_) => None,
    }
}
