//! Commands with everything that is needed to execute them: prompts, scope, checks.
//!
//! Prepared from the run's state when a command is started, and never recorded: what is recorded is the
//! [`Command`](crate::work::Command), and what it is prepared from is on record already.

use crate::ask::{Ask, PersonQuestion, Remark, SavedPlan};
use crate::prelude::*;
use crate::run_spec::PlacedCheck;
use crate::settings::ScopeSettings;
use crate::usage::MicroUsd;
use crate::work::{
    AttemptCommand, BlobId, CheckRun, CommitRange, Conflict, DeliverCommand, MergeCommand, ReportedFailure,
    RestorePaths, TestName, TreeId,
};
use crate::{Redacted, TaskId};

/// One task of a plan, as the executor needs it.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskContext {
    pub task: TaskId,
    /// What is to be done, with everything the agent must know.
    pub goal: Redacted,
    pub scope: ScopeSettings,
    /// The numbers of the checks that must pass.
    pub goals: BTreeSet<u32>,
}

/// An attempt with what the agent is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreparedAttempt {
    pub command: AttemptCommand,
    pub failures: Vec<ReportedFailure>,
    /// Files that were changed outside the scope.
    pub outside: Vec<String>,
    /// What the judge found missing.
    pub remarks: Vec<Redacted>,
    /// The conflict to be resolved, where that is the task.
    pub merge: Option<Conflict>,
    /// The money that is left for it, where money is limited.
    pub money: Option<MicroUsd>,
    /// How many attempts before it, in a row, changed nothing.
    pub idle: u32,
    /// What people said of the run.
    pub said: Vec<Remark>,
    pub tests_at_base: TestsAtBase,
}

/// The tests that checks named at the base. A file that holds one of them is a test, whatever it is called.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TestsAtBase {
    /// The lists of those that passed.
    pub passed: Vec<BlobId>,
    pub failed: Vec<TestName>,
}

impl PreparedAttempt {
    /// An attempt with nothing to tell beside the task.
    pub const fn new(command: AttemptCommand) -> Self {
        Self {
            command,
            failures: Vec::new(),
            outside: Vec::new(),
            remarks: Vec::new(),
            merge: None,
            money: None,
            idle: 0,
            said: Vec::new(),
            tests_at_base: TestsAtBase { passed: Vec::new(), failed: Vec::new() },
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum PreparedAction {
    /// Take the user's tree as the base, or the commit that was named.
    TakeBase,
    RunChecks(CheckRun),
    /// Let the agent work once.
    RunAttempt(PreparedAttempt),
    /// Make a commit out of two, path by path.
    RestorePaths(RestorePaths),
    /// Find the tests and check definitions that differ between two commits.
    FindProtected(CommitRange, TestsAtBase),
    Merge(MergeCommand),
    Ask(Box<Ask>),
    AskPerson(PersonQuestion),
    /// Look for a cached plan of the same goal or a similar one.
    FindCachedPlan,
    /// Store the plan in the plan cache; nothing where there is none.
    StorePlan(Option<Box<SavedPlan>>),
    Deliver(DeliverCommand),
}

/// A command with everything that is needed to execute it.
#[derive(Debug, Clone, PartialEq)]
pub struct PreparedCommand {
    pub action: PreparedAction,
    /// The task it is for; without one it is for the whole run, or for the only task there is.
    pub task: Option<TaskContext>,
    /// The checks by number: those of the run, then those that the plan added.
    pub checks: Arc<Vec<PlacedCheck>>,
    /// The tree of the run's base, once it is known.
    pub tree: Option<TreeId>,
    pub tools: Vec<String>,
}

impl PreparedCommand {
    /// A command for which nothing else must be known.
    pub fn new(action: PreparedAction) -> Self {
        Self { action, task: None, checks: Arc::default(), tree: None, tools: Vec::new() }
    }
}
