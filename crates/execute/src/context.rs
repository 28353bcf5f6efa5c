//! What the commands of a run are executed with, and which file executes which command.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use fixpoint_ports::{Blobs, Cancel, Processes, Slot, Workspaces};
use fixpoint_vocabulary::prepared::{PreparedAction, PreparedCommand};
use fixpoint_vocabulary::run_spec::RunSpec;
use fixpoint_vocabulary::work::{CommandEnd, CommandId, CommandResult, MergeCommand, Merged};
use fixpoint_vocabulary::{Redactor, TaskId};

use crate::check_host::CheckHost;
use crate::error::ExecuteError;
use crate::executor::CommandRunner;
use crate::path_text::path_text;
use crate::progress::ProgressListener;

/// Where files are kept that are not in a commit.
#[derive(Debug, Clone)]
pub struct ExecutionPaths {
    /// Output of agents and checks, of this run.
    pub outputs: PathBuf,
    /// Prompts, of this run.
    pub prompts: PathBuf,
    /// Baselines that outlive a run, of this repository.
    pub baselines: PathBuf,
    /// Locks that checks name, of this user.
    pub locks: PathBuf,
    /// What agents write to their home directory, of this run: their sessions.
    pub homes: PathBuf,
}

#[derive(Clone)]
pub struct ExecutionDeps {
    pub workspaces: Arc<dyn Workspaces>,
    pub processes: Arc<dyn Processes>,
    /// Keeps the names of tests that passed.
    pub blobs: Arc<dyn Blobs>,
    /// Removes credentials from what programs print.
    pub redactor: Redactor,
    pub progress: Arc<dyn ProgressListener>,
}

impl std::fmt::Debug for ExecutionDeps {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ExecutionDeps").field("redactor", &self.redactor).finish_non_exhaustive()
    }
}

/// Everything that is fixed about the commands of one run.
#[derive(Debug, Clone)]
pub struct ExecutionContext {
    /// The name of the run, part of the names of its references.
    pub run: String,
    pub task: TaskId,
    pub spec: RunSpec,
    pub deps: ExecutionDeps,
    pub paths: ExecutionPaths,
    pub agent_environment: Vec<(OsString, OsString)>,
    /// The environment of checks and set-up commands.
    pub check_environment: Vec<(OsString, OsString)>,
    /// The goals of the task, where it is one of several and the others have goals of their own.
    pub goals: Option<BTreeSet<u32>>,
    /// What this run learned about its machine.
    pub host: Arc<CheckHost>,
}

impl CommandRunner for ExecutionContext {
    fn run(&self, id: CommandId, command: &PreparedCommand, cancel: &Cancel) -> CommandEnd {
        let context = self.for_task_of(command);
        let result = match &command.action {
            PreparedAction::TakeBase => context.take_base(),
            PreparedAction::RunChecks(run) => context.run_checks(id, run, cancel),
            PreparedAction::RunAttempt(order) => context.run_attempt(id, order, cancel),
            PreparedAction::RestorePaths(restore) => context.restore_paths(id, restore),
            PreparedAction::FindProtected(range, tests) => context.find_protected(range, tests),
            PreparedAction::Merge(order) => context.merge(order),
            PreparedAction::Deliver(order) => context.deliver(order),
            PreparedAction::Ask(_)
            | PreparedAction::AskPerson(_)
            | PreparedAction::FindCachedPlan
            | PreparedAction::StorePlan(_) => {
                let message = "a question was sent to the executor of programs: a defect of Fixpoint";
                Err(ExecuteError::Failed(message.to_string()))
            }
        };
        match result {
            Ok(result) => CommandEnd::Completed(result),
            Err(ExecuteError::Cancelled) => CommandEnd::Cancelled,
            Err(error) => CommandEnd::Failed { message: self.deps.redactor.redact(&error.to_string()) },
        }
    }
}

impl ExecutionContext {
    /// The context of the task that a command belongs to.
    fn for_task_of(&self, command: &PreparedCommand) -> Self {
        let mut context = self.clone();
        context.spec.checks.clone_from(&command.checks);
        if let Some(task) = &command.task {
            context.task = task.task.clone();
            if let Some(progress) = context.deps.progress.for_task(&task.task) {
                context.deps.progress = progress;
            }
            context.spec.goal = task.goal.clone();
            context.spec.settings.scope = task.scope.clone();
            context.goals = Some(task.goals.clone());
        }
        context
    }

    fn merge(&self, order: &MergeCommand) -> Result<CommandResult, ExecuteError> {
        let reference = self.reference(&order.name);
        let made = self.deps.workspaces.merge(&order.ours, &order.theirs, &reference)?;
        let conflicts = made.conflicts.iter().map(|path| path_text(path)).collect();
        Ok(CommandResult::Merged(Merged { commit: made.commit, tree: made.tree, conflicts }))
    }

    /// The name of a reference of this task, below `refs/fixpoint/`.
    pub(crate) fn reference(&self, what: &str) -> String {
        format!("{}/{}/{what}", self.run, self.task)
    }
}

/// What set-up commands write to their home directory, such as caches of packages. It is deleted with the slot.
pub(crate) fn home_of_set_up(slot: &dyn Slot) -> Option<PathBuf> {
    slot.directory().parent().map(|own| own.join("home"))
}

/// A directory of a slot, created if it is missing. A link on the way there would lead out of the slot.
pub(crate) fn directory_in(slot: &dyn Slot, below: &str) -> Result<PathBuf, ExecuteError> {
    let mut directory = slot.directory().to_path_buf();
    for part in below.split('/').filter(|part| !part.is_empty()) {
        directory.push(part);
        match directory.symlink_metadata() {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Err(ExecuteError::NotADirectory(directory)),
            Err(_) => std::fs::create_dir(&directory).map_err(ExecuteError::file(&directory))?,
        }
    }
    Ok(directory)
}
