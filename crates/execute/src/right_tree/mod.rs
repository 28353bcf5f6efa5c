//! The check runs the slot's code: nothing on the way from its command to its imports leads into the user's working tree.
//!
//! Owns what is redirected without asking (variables, paths in the command, editable installs of Python), and what is only
//! found and named. Invariant: what could not be redirected is an error, never a check of other code.

mod editable;
mod files;
mod pipes;
mod programs;
mod python;
mod scratch;
mod shell_words;
mod start_up;
mod tree_files;
mod tree_paths;
mod variables;

use std::path::Path;

use fixpoint_ports::{Cancel, Program, Slot};

use crate::ExecutionContext;
use crate::error::ExecuteError;
pub(crate) use programs::{find_program, path_directories, variable};
pub(crate) use python::{Interpreter, candidates, concerns_python};
use scratch::Scratch;
pub(crate) use shell_words::shell_words;
pub(crate) use tree_files::Manifests;
use tree_paths::{CommandInSlot, TreePaths};
pub(crate) use variables::Variables;

const WAY_OUT: &str = "Let the workspace install it: `workspace.setup: [\"python3 -m venv .venv && .venv/bin/pip install -e \
                       .\"]` with `.venv/bin/python` in the check; or install it without -e";

/// Why a check would use the user's working tree instead of its slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TreeProblem {
    /// What is installed on this machine leads there.
    Machine(String),
    /// The files of the commit do, or the command.
    Files(String),
}

impl TreeProblem {
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Machine(text) | Self::Files(text) => text,
        }
    }
}

/// How a check is started in its slot.
#[derive(Debug)]
pub(crate) struct SlotCommand {
    pub(crate) program: Program,
    pub(crate) environment: Variables,
    pub(crate) concerns_python: bool,
    /// Deleted when the check has ended.
    pub(crate) scratch: Scratch,
}

impl ExecutionContext {
    /// A check's command and its environment, so that it uses the slot.
    pub(crate) fn slot_command(
        &self,
        slot: &dyn Slot,
        directory: &Path,
        command: String,
        cancel: &Cancel,
    ) -> Result<SlotCommand, ExecuteError> {
        let paths = TreePaths::new(Path::new(&self.spec.repository), slot.directory());
        let mut environment = self.variables_in_slot(slot);
        let scratch = Scratch::new(variable(&environment, "TMPDIR"))?;
        variables::set(&mut environment, "TMPDIR", scratch.temporary());
        let command = match paths.command_in_slot(&command) {
            CommandInSlot::Unchanged => command,
            CommandInSlot::Moved(moved) => {
                self.notice_once(
                    format!("`{command}` names your working tree; the check uses the workspace instead"),
                    format!(
                        "`{command}` はあなたの作業ツリーを指しています。代わりにワークスペースでチェックを実行します"
                    ),
                );
                moved
            }
            CommandInSlot::CannotBeWritten => {
                let problem = "the command names your working tree by its absolute path: use a relative path";
                return Err(ExecuteError::WrongTree(TreeProblem::Files(problem.to_string())));
            }
        };
        let words = shell_words(&command);
        let manifests = Manifests::of(slot.directory());
        let place = python::CheckPlace {
            paths: &paths,
            directory,
            command: &command,
            words: &words,
            scratch: scratch.path(),
            manifests: &manifests,
        };
        if let Some(problem) = files::leads_out(place, &environment) {
            return Err(ExecuteError::WrongTree(TreeProblem::Files(problem)));
        }
        self.redirect_python(place, &mut environment, cancel)?;
        let program = self.shell_for(command, &words, &environment, cancel)?;
        let concerns_python = concerns_python(&words, &manifests);
        Ok(SlotCommand { program, environment, concerns_python, scratch })
    }

    /// The environment of checks and set-up commands in a slot.
    pub(crate) fn variables_in_slot(&self, slot: &dyn Slot) -> Variables {
        let paths = TreePaths::new(Path::new(&self.spec.repository), slot.directory());
        let named = &self.spec.settings.workspace.env;
        let variables::SlotVariables { variables, moved_output } =
            variables::in_slot(&self.check_environment, &paths, named);
        for name in moved_output {
            self.notice_once(
                format!(
                    "{name} is set: your working tree and the workspaces would share build output; checks use the workspace's own"
                ),
                format!(
                    "{name} が設定されているため、作業ツリーとワークスペースがビルド結果を共有してしまいます。チェックはワークスペース専用の場所を使います"
                ),
            );
        }
        variables
    }
}
