//! The question `fixpoint decide failures` asks, and its answer.
//!
//! Adds nothing to [`Parser`] and [`CommandLine`] but the shape of the question.

use fixpoint_vocabulary::{Lang, Localize};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::command::CommandLine;
use crate::normalise::Values;
use crate::parser::{Options, Parser};
use crate::report::{Report, Runner};

/// The output of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    /// Everything the command printed.
    pub output: String,
    /// The command line, as a check has it. It tells the runner, and whether the exit code is that of a pipe, whose success
    /// says nothing. Package scripts are not known here.
    #[serde(default)]
    pub command: Option<String>,
    /// The runner that printed it; if absent, that of the command, or else detected.
    #[serde(default)]
    pub runner: Option<Runner>,
    /// The directory in which the command ran; paths are made relative to it.
    #[serde(default)]
    pub workdir: Option<String>,
    /// The exit code. A code other than 0 without a readable failure is one failure.
    #[serde(default)]
    pub exit_code: Option<i32>,
    /// Whether observed numbers distinguish failures.
    #[serde(default)]
    pub values: Values,
}

pub type Answer = Report;

impl Localize for Report {
    fn localize(&mut self, _: Lang) {}
}

pub fn decide(question: &Question) -> Answer {
    let line = CommandLine::read(question.command.as_deref().unwrap_or_default(), question.runner, &|_| None);
    let options = Options {
        runner: line.runner(),
        workdir: question.workdir.clone(),
        values: question.values,
        ..Options::default()
    };
    let mut parser = Parser::new(&options);
    parser.push(question.output.as_bytes());
    parser.finish(line.telling_exit_code(question.exit_code))
}
