//! What a kind of agent is: its name, how it is run for one turn, how its output is read, what its sign-in needs.
//!
//! Owns the table of kinds. Refuses shells: a command line is a program and its arguments, each as it is.

use core::fmt::Debug;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use fixpoint_ports::{Program, Stdin};
use fixpoint_vocabulary::usage::MicroUsd;

use crate::progress::Session;
use crate::stream::Reader;
use crate::{Claude, Codex, Command};

/// One turn of an agent: what it is told, and what a person said about how it is run.
#[derive(Debug, Clone, Copy)]
pub struct Turn<'a> {
    /// The program, by its name or its path.
    pub program: &'a str,
    /// The arguments a person gave. What they say goes before anything said here.
    pub extra: &'a [String],
    /// The task.
    pub prompt: &'a str,
    /// A file that holds it as well.
    pub prompt_file: &'a Path,
    /// The session to continue; without it the agent begins anew.
    pub session: Option<&'a Session>,
    /// The model it is to use.
    pub model: Option<&'a str>,
    /// How much it may do.
    pub limits: TurnLimits,
    /// What it may do.
    pub permissions: Permissions,
    /// Command lines it may run whatever its permissions: the checks it will be measured by.
    pub may_run: &'a [String],
    /// Who runs it.
    pub user: User,
}

/// How much an agent may do in one turn, where it can be told. How long it may take is its supervisor's affair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TurnLimits {
    /// Exchanges with its model.
    pub turns: Option<u32>,
    /// Money.
    pub cost: Option<MicroUsd>,
}

/// What an agent may do without asking, since there is nobody to ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Permissions {
    /// Work on the files of its workspace, within the confinement it has of its own.
    #[default]
    Workspace,
    /// Anything: something else confines it, or a person said so.
    Anything,
}

/// Who runs an agent. Some refuse to do anything they like as root.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum User {
    /// Anybody else.
    #[default]
    Ordinary,
    /// Root.
    Root,
}

/// What an agent is given on its standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StdinUse {
    /// The prompt, then end of file.
    Prompt,
    /// End of file at once: it is told otherwise.
    Closed,
}

/// Whether a command line continues the session that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Continuation {
    /// It does.
    Continued,
    /// A new session begins, since none was asked for or since it cannot be done with these arguments. The prompt
    /// must then say everything.
    Anew,
}

/// Where an agent finds its sessions again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionReach {
    /// In any directory.
    Anywhere,
    /// Only in the directory it was begun in: elsewhere there is no such session.
    SameDirectory,
    /// It has none.
    Nowhere,
}

/// A command line for one turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine {
    /// The program.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// What it reads.
    pub stdin: StdinUse,
    /// Variables beyond the environment it has anyway.
    pub environment: Vec<(OsString, OsString)>,
    /// Whether it continues a session.
    pub continuation: Continuation,
}

impl CommandLine {
    /// As a supervisor takes it.
    pub fn program(&self) -> Program {
        Program::Direct { program: self.program.clone(), arguments: self.arguments.clone() }
    }

    /// What it reads, as a supervisor takes it.
    pub fn stdin(&self, prompt: &str) -> Stdin {
        match self.stdin {
            StdinUse::Prompt => Stdin::Bytes(prompt.as_bytes().to_vec()),
            StdinUse::Closed => Stdin::Closed,
        }
    }
}

/// The variables an agent's own sign-in and configuration need. A name that ends in `*` stands for every name that
/// begins so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variables {
    /// Always.
    pub always: &'static [&'static str],
    /// Where the variable named first is turned on.
    pub with: &'static [(&'static str, &'static [&'static str])],
}

/// A kind of agent.
pub trait Agent: Debug + Send + Sync {
    /// Its name, which is also that of its program.
    fn name(&self) -> &'static str;

    /// What its makers call it.
    fn title(&self) -> &'static str;

    /// Whether a program, by its name or path, is this agent.
    fn recognises(&self, program: &str) -> bool {
        Path::new(program).file_name() == Some(OsStr::new(self.name()))
    }

    /// The command line for a turn. The prompt reaches the agent whatever the arguments say.
    fn command(&self, turn: &Turn<'_>) -> CommandLine;

    /// What reads the output of that command line.
    fn reader(&self, turn: &Turn<'_>) -> Box<dyn Reader>;

    /// Where its sessions can be continued.
    fn session_reach(&self) -> SessionReach;

    /// The variables its sign-in needs.
    fn environment(&self) -> Variables;
}

/// Every kind. Whatever none before it recognises, [`Command`] does.
const KINDS: [&dyn Agent; 3] = [&Claude, &Codex, &Command];

/// Every kind, in the order in which they are asked.
pub fn agents() -> &'static [&'static dyn Agent] {
    &KINDS
}

/// The kind of this name.
pub fn named(name: &str) -> Option<&'static dyn Agent> {
    KINDS.into_iter().find(|agent| agent.name() == name)
}

/// The kind a program is of, by its name or path.
pub fn of_program(program: &str) -> &'static dyn Agent {
    KINDS.into_iter().find(|agent| agent.recognises(program)).unwrap_or(&Command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_known_by_its_name_wherever_it_lies() {
        for (program, expected) in [
            ("claude", "claude"),
            ("/opt/bin/claude", "claude"),
            ("codex", "codex"),
            ("codex-wrapper", "command"),
            ("./agent.sh", "command"),
            ("codex/", "codex"),
            ("", "command"),
        ] {
            assert_eq!(of_program(program).name(), expected, "{program}");
        }
        for agent in agents() {
            assert_eq!(named(agent.name()).map(Agent::name), Some(agent.name()));
        }
        assert!(named("none").is_none());
    }
}
