//! What a kind of agent is: its name, its command line for one turn, the reader of its output, the variables its sign-in
//! needs.
//!
//! Owns the list of kinds. Refuses shells: a command line is a program and its arguments.

use core::fmt::Debug;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use fixpoint_ports::{Program, Stdin};
use fixpoint_vocabulary::usage::MicroUsd;

use crate::progress::Session;
use crate::stream::Reader;
use crate::{Claude, Codex, GenericAgent};

#[derive(Debug, Clone, Copy)]
pub struct Turn<'a> {
    /// The program, by its name or its path.
    pub program: &'a str,
    /// The arguments a person gave. They override ours.
    pub arguments: &'a [String],
    pub prompt: &'a str,
    /// A file that contains the prompt too.
    pub prompt_file: &'a Path,
    /// The session to resume; without it the agent starts a new one.
    pub session: Option<&'a Session>,
    pub model: Option<&'a str>,
    /// The most this turn may cost, for agents with such an option.
    pub max_cost: Option<MicroUsd>,
    /// Command lines it may run without permission: the checks that decide whether the task is done.
    pub allowed_commands: &'a [String],
}

/// What an agent gets on its standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StdinUse {
    /// The prompt, then end of file.
    Prompt,
    /// End of file at once: the prompt is in the arguments.
    Closed,
}

/// Whether a command line resumes the requested session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionUse {
    Resumed,
    /// None was requested, or these arguments do not allow it. The prompt must then say everything.
    New,
}

/// A command line for one turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine {
    pub program: OsString,
    pub arguments: Vec<OsString>,
    pub stdin: StdinUse,
    pub session_use: SessionUse,
}

impl CommandLine {
    pub fn program(&self) -> Program {
        Program::Direct { program: self.program.clone(), arguments: self.arguments.clone() }
    }

    pub fn stdin(&self, prompt: &str) -> Stdin {
        match self.stdin {
            StdinUse::Prompt => Stdin::Bytes(prompt.as_bytes().to_vec()),
            StdinUse::Closed => Stdin::Closed,
        }
    }
}

/// The environment variables an agent's sign-in and configuration need. A name that ends in `*` stands for every name
/// with that prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EnvironmentNames {
    pub always: &'static [&'static str],
    /// Names that are needed only where the first variable is turned on.
    pub when_enabled: &'static [(&'static str, &'static [&'static str])],
}

pub trait Agent: Debug + Send + Sync {
    /// Also the name of its program.
    fn name(&self) -> &'static str;

    fn recognises(&self, program: &str) -> bool {
        Path::new(program).file_name() == Some(OsStr::new(self.name()))
    }

    /// The prompt reaches the agent whatever the person's arguments are.
    fn command(&self, turn: &Turn<'_>) -> CommandLine;

    /// The reader of the output of that command line.
    fn reader(&self, turn: &Turn<'_>) -> Box<dyn Reader>;

    fn environment(&self) -> EnvironmentNames;
}

/// In the order in which they are tried; [`GenericAgent`] recognises every program.
const KINDS: [&dyn Agent; 3] = [&Claude, &Codex, &GenericAgent];

pub fn agent_named(name: &str) -> Option<&'static dyn Agent> {
    KINDS.into_iter().find(|agent| agent.name() == name)
}

pub fn agent_for_program(program: &str) -> &'static dyn Agent {
    KINDS.into_iter().find(|agent| agent.recognises(program)).unwrap_or(&GenericAgent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_recognised_by_its_name_in_any_directory() {
        for (program, expected) in [
            ("claude", "claude"),
            ("/opt/bin/claude", "claude"),
            ("codex", "codex"),
            ("codex-wrapper", "command"),
            ("./agent.sh", "command"),
            ("codex/", "codex"),
            ("", "command"),
        ] {
            assert_eq!(agent_for_program(program).name(), expected, "{program}");
        }
    }

    #[test]
    fn every_kind_is_found_by_its_name() {
        for agent in KINDS {
            assert_eq!(agent_named(agent.name()).map(Agent::name), Some(agent.name()));
        }
        assert!(agent_named("none").is_none());
    }
}
