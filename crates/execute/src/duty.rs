//! What an executor has to do its work with, and which part of it performs which command.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use fixpoint_ports::{BlobError, Blobs, Cancel, ProcessError, Processes, Slot, WorkspaceError, Workspaces};
use fixpoint_vocabulary::brief::Brief;
use fixpoint_vocabulary::prepared::{PreparedAction, PreparedCommand};
use fixpoint_vocabulary::work::{CommandEnd, CommandId, CommandResult, GraftOrder, MergeOrder, Merged};
use fixpoint_vocabulary::{Redactor, TaskId};

use crate::executor::Performs;
use crate::path_text::{inline_tests_path, path_bytes, path_text};
use crate::progress::Watcher;

/// Where an executor keeps what is not a commit.
#[derive(Debug, Clone)]
pub struct Places {
    /// Output of agents and checks, of this run.
    pub outputs: PathBuf,
    /// Prompts, of this run.
    pub prompts: PathBuf,
    /// Baselines that outlive a run, of this repository.
    pub baselines: PathBuf,
    /// Locks that checks name, of this user.
    pub locks: PathBuf,
}

/// What an executor works with.
#[derive(Clone)]
pub struct Tools {
    /// The user's repository and its slots.
    pub workspaces: Arc<dyn Workspaces>,
    pub processes: Arc<dyn Processes>,
    pub blobs: Arc<dyn Blobs>,
    /// Takes credentials out of what others said.
    pub redactor: Redactor,
    /// Who is shown what happens.
    pub watcher: Arc<dyn Watcher>,
}

impl std::fmt::Debug for Tools {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Tools").field("redactor", &self.redactor).finish_non_exhaustive()
    }
}

/// Everything that is fixed about the commands of one run.
#[derive(Debug, Clone)]
pub struct Duty {
    /// The name of the run, part of the names of its references.
    pub run: String,
    pub task: TaskId,
    pub brief: Brief,
    /// What there is to work with.
    pub tools: Tools,
    pub places: Places,
    /// What the agent sees of the environment.
    pub agent_environment: Vec<(OsString, OsString)>,
    /// What checks and set-up commands see of it.
    pub check_environment: Vec<(OsString, OsString)>,
    /// The goals of the task, where it is one of several and the others' are not its own.
    pub goals: Option<BTreeSet<u32>>,
}

/// Why a command could not be carried out.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Obstacle {
    #[error("stopped")]
    Cancelled,
    #[error("{0}")]
    Workspace(WorkspaceError),
    #[error("{0}")]
    Process(#[from] ProcessError),
    #[error("{0}")]
    Blob(#[from] BlobError),
    #[error("{}: {source}", .path.display())]
    File { path: PathBuf, source: std::io::Error },
    #[error("the set-up command `{command}` {why}; its output is in {}", .log.display())]
    SetUp { command: String, why: String, log: PathBuf },
    #[error("{} is no directory of the workspace any more", .0.display())]
    LeadsOut(PathBuf),
    #[error(
        "the names of the tests that passed at the base cannot be kept or read: {0}; begin the run again"
    )]
    TestNames(serde_json::Error),
    #[error("check {0} does not exist")]
    NoSuchCheck(u32),
    #[error("this command is for somebody else: a defect of Fixpoint")]
    NotOurs,
}

impl From<WorkspaceError> for Obstacle {
    fn from(error: WorkspaceError) -> Self {
        if matches!(error, WorkspaceError::Cancelled) { Self::Cancelled } else { Self::Workspace(error) }
    }
}

impl Obstacle {
    /// Names the file an error is about.
    pub(crate) fn at(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::File { path: path.into(), source }
    }
}

impl Performs for Duty {
    fn perform(&self, id: CommandId, command: &PreparedCommand, cancel: &Cancel) -> CommandEnd {
        let duty = self.narrowed(command);
        let result = match &command.action {
            PreparedAction::TakeBase => duty.take_base(),
            PreparedAction::RunChecks(run) => duty.run_checks(id, run, cancel),
            PreparedAction::RunAttempt(order) => duty.attempt(id, order, cancel),
            PreparedAction::Graft(order) => duty.graft(id, order),
            PreparedAction::Merge(order) => duty.merge(order),
            PreparedAction::Deliver(order) => duty.deliver(order),
            PreparedAction::Ask(_)
            | PreparedAction::AskPerson(_)
            | PreparedAction::FindCachedPlan
            | PreparedAction::StorePlan(_) => Err(Obstacle::NotOurs),
        };
        match result {
            Ok(result) => CommandEnd::Completed(result),
            Err(Obstacle::Cancelled) => CommandEnd::Cancelled,
            Err(obstacle) => {
                CommandEnd::Failed { message: self.tools.redactor.redact(&obstacle.to_string()) }
            }
        }
    }
}

impl Duty {
    /// The duty towards one task.
    fn narrowed(&self, command: &PreparedCommand) -> Self {
        let mut duty = self.clone();
        duty.brief.checks.clone_from(&command.checks);
        if let Some(task) = &command.task {
            duty.task = task.task.clone();
            if let Some(own) = duty.tools.watcher.of(&task.task) {
                duty.tools.watcher = own;
            }
            duty.brief.goal = task.goal.clone();
            duty.brief.settings.scope = task.scope.clone();
            duty.goals = Some(task.goals.clone());
        }
        duty
    }

    fn graft(&self, id: CommandId, order: &GraftOrder) -> Result<CommandResult, Obstacle> {
        let whole = order.paths.iter().filter(|path| inline_tests_path(path).is_none());
        let paths: Vec<Vec<u8>> = whole.map(|path| path_bytes(path)).collect();
        let mut files = Vec::new();
        for path in order.paths.iter().filter_map(|path| inline_tests_path(path)) {
            let mixed = self.with_inline_tests_of(&order.from, &order.onto, &path)?;
            files.extend(mixed.map(|content| (path, content.into_bytes())));
        }
        let reference = self.reference(&format!("graft-{id}"));
        let workspaces = &self.tools.workspaces;
        let mut made = workspaces.graft(&order.onto, &order.from, &paths, &reference)?;
        if !files.is_empty() {
            made = workspaces.overlay(&made.commit, &files, &reference)?;
        }
        Ok(CommandResult::Grafted { commit: made.commit, tree: made.tree })
    }

    fn merge(&self, order: &MergeOrder) -> Result<CommandResult, Obstacle> {
        let reference = self.reference(&order.name);
        let made = self.tools.workspaces.merge(&order.ours, &order.theirs, &reference)?;
        let conflicts = made.conflicts.iter().map(|path| path_text(path)).collect();
        Ok(CommandResult::Merged(Merged { commit: made.commit, tree: made.tree, conflicts }))
    }

    /// The name of something this task leaves, below `refs/fixpoint/`.
    pub(crate) fn reference(&self, what: &str) -> String {
        format!("{}/{}/{what}", self.run, self.task)
    }
}

/// A directory of a slot, made if it is missing. A link on the way there would lead out of the slot.
pub(crate) fn directory_in(slot: &dyn Slot, below: &str) -> Result<PathBuf, Obstacle> {
    let mut directory = slot.directory().to_path_buf();
    for part in below.split('/').filter(|part| !part.is_empty()) {
        directory.push(part);
        match directory.symlink_metadata() {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Err(Obstacle::LeadsOut(directory)),
            Err(_) => std::fs::create_dir(&directory).map_err(Obstacle::at(&directory))?,
        }
    }
    Ok(directory)
}
