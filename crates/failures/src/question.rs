//! The question `fixpoint decide failures` asks, and its answer.
//!
//! Adds nothing to [`Parser`] but the shape of the question.

use fixpoint_vocabulary::{Lang, Localize};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::normalise::Values;
use crate::parser::{Options, Parser};
use crate::report::{Report, Runner};

/// What a command printed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    /// Everything it printed.
    pub output: String,
    /// Who printed it; found out where absent.
    #[serde(default)]
    pub runner: Option<Runner>,
    /// Where it ran: paths are made relative to this directory.
    #[serde(default)]
    pub workdir: Option<String>,
    /// How it ended. A code other than 0 with no failure that could be read is itself one failure.
    #[serde(default)]
    pub exit_code: Option<i32>,
    /// Whether numbers that were seen tell failures apart.
    #[serde(default)]
    pub values: Values,
}

/// What failed, what passed, and whether the run was cut short.
pub type Answer = Report;

impl Localize for Report {
    fn localize(&mut self, _: Lang) {}
}

/// Reads the failures out of an output.
pub fn decide(question: &Question) -> Answer {
    let options =
        Options { runner: question.runner, workdir: question.workdir.clone(), values: question.values };
    let mut parser = Parser::new(&options);
    parser.push(question.output.as_bytes());
    parser.finish(question.exit_code)
}
