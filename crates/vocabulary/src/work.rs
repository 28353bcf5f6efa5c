//! What is asked of an executor and what it reports: everything that crosses the border by commit, never by path.
//!
//! Commands are data that someone else performs. Each has an id and exactly one end. Reports hold what decisions
//! need and stay small: a large set of tests is named by the blob that holds it.

use core::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ask::{ModelAnswer, ModelQuestion, PersonAnswer, PersonQuestion, Remark, SavedPlan};
pub use crate::check_report::{CheckEnd, CheckReport};
pub use crate::failure::{CheckProblem, FailureId, GoalProblem, LostPart, ReportedFailure, Side};
pub use crate::ids::{BlobId, CommitId, Fingerprint, TestName, TreeId};
use crate::prelude::*;
use crate::run_spec::Delivery;
pub use crate::usage::Allowance;
use crate::usage::Usage;
use crate::{Redacted, TaskId};

/// A command's name: the number of the record it was decided in, and its place there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CommandId {
    pub seq: u64,
    pub index: u32,
}

impl fmt::Display for CommandId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.seq, self.index)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// Take the user's tree as the base, or the commit that was named.
    TakeBase,
    RunChecks(CheckRun),
    /// Let the agent work once.
    RunAttempt(AttemptCommand),
    /// Make a commit out of two, path by path.
    RestorePaths(RestorePaths),
    /// Find the tests and check definitions that differ between two commits.
    FindProtected(CommitRange),
    /// Merge two commits.
    Merge(MergeCommand),
    Ask(ModelQuestion),
    AskPerson(PersonQuestion),
    /// Look for a cached plan of the same goal or a similar one.
    FindCachedPlan,
    /// Store the plan in the plan cache.
    StorePlan,
    Deliver(DeliverCommand),
}

/// Checks to be run on a commit, in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckRun {
    pub commit: CommitId,
    pub calls: Vec<CheckCall>,
    /// Whether an earlier result may be used instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reuse: Option<Reuse>,
    #[serde(default, skip_serializing_if = "Leftovers::is_kept")]
    pub leftovers: Leftovers,
}

/// What a check finds in its workspace beside the files of the commit, such as build output and caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Leftovers {
    /// What earlier checks left. Fast, but an earlier attempt may have prepared it, so such a run never decides.
    #[default]
    Kept,
    /// What set-up and the baseline left, before any agent's code ran there.
    Pristine,
    /// The same, and what this run leaves becomes part of it: the run is on the user's own code.
    Baseline,
}

impl Leftovers {
    const fn is_kept(&self) -> bool {
        matches!(self, Self::Kept)
    }
}

/// Which of the runs at a base this is. Another task with the same base may reuse its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reuse {
    /// The tree of the base: a commit of the same tree is as good.
    pub tree: TreeId,
    /// Which run, from 1: the second must not be taken for the first.
    pub run: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckCall {
    /// The number of the check, from 0.
    pub check: u32,
    /// Only what failed like this, where the runner can be asked for it; empty for everything.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub only: BTreeSet<FailureId>,
    /// Tests to report as passing or not.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub watched: BTreeSet<TestName>,
    /// The tests that passed at the base, to find missing ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed_before: Option<BlobId>,
    /// Whether the check wrote a decision file at the base, so that one counts now. Code under test could write one too.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub decided_by_file: bool,
    /// The tests, and the files that decide what it does, that the check rewrote at the base as it ran.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub rewrites: BTreeSet<String>,
}

impl CheckCall {
    /// A call of a whole check.
    pub const fn whole(check: u32) -> Self {
        Self {
            check,
            only: BTreeSet::new(),
            watched: BTreeSet::new(),
            passed_before: None,
            decided_by_file: false,
            rewrites: BTreeSet::new(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptCommand {
    /// Its number, from 1.
    pub number: u32,
    /// The commit it begins with.
    pub base: CommitId,
    /// The commit the task began with, which the scope is measured from.
    pub origin: CommitId,
    /// The convergence stage, from 1.
    pub stage: u32,
    /// The agent's session that goes on; without one it begins afresh.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

/// How an agent's process ended; whatever it claims is not evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentEnd {
    Exited,
    /// It was ended by a limit.
    TimedOut,
    CouldNotStart,
    /// Its provider refused it, for now or until somebody sees to the account, and it changed nothing.
    Unavailable,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptResult {
    pub end: AgentEnd,
    /// The commit that holds what it left.
    pub commit: CommitId,
    pub tree: TreeId,
    /// What the scope guard found, against the base of the task.
    pub violations: Vec<String>,
    /// Paths of those that can be reverted.
    pub revertible: Vec<String>,
    /// The changes of tests, and of what decides what the checks do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub protected: Vec<ProtectedChange>,
    /// The commit that has these files as they were, where that is not the base of the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protected_from: Option<CommitId>,
    /// `None` if the process was killed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Files that differ from the base of the task.
    #[serde(default)]
    pub changed_files: u64,
    #[serde(default)]
    pub changed_lines: u64,
    /// Unresolved places of a merge, where resolving it was the task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unresolved: Vec<ReportedFailure>,
    /// The agent's session, by which it can go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The agent's last words, which are no evidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_words: Option<Redacted>,
}

impl AttemptResult {
    /// An attempt with this commit as its result, and nothing else known.
    pub fn new(end: AgentEnd, commit: CommitId, tree: TreeId) -> Self {
        Self {
            end,
            commit,
            tree,
            violations: Vec::new(),
            revertible: Vec::new(),
            protected: Vec::new(),
            protected_from: None,
            exit_code: None,
            changed_files: 0,
            changed_lines: 0,
            unresolved: Vec::new(),
            session: None,
            usage: None,
            last_words: None,
        }
    }
}

/// Two commits to be compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitRange {
    pub from: CommitId,
    pub to: CommitId,
}

/// A commit to be made out of two: `onto`, with these paths as they are in `from`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestorePaths {
    /// What everything else is taken from.
    pub onto: CommitId,
    /// What the paths are taken from.
    pub from: CommitId,
    /// What is taken from there.
    pub paths: Vec<RestoredPath>,
}

/// A file as the executor names it, or a part of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RestoredPath {
    File(String),
    /// Only its tests, or only the sections that decide what the checks do.
    Part(String),
}

impl RestoredPath {
    pub fn path(&self) -> &str {
        match self {
            Self::File(path) | Self::Part(path) => path,
        }
    }
}

/// What a changed file has to do with the checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProtectedRole {
    /// A test, or what tests read.
    Test,
    /// Something that decides what a check does: its script, its configuration, a plugin.
    Definition,
    /// Code of the product that changes or silences a check. Putting it back takes the product back with it, so nothing
    /// that the checks show then is about the attempt.
    Interference,
    /// A file that git ignores and that the attempt's changes name. It is no part of the result; it is only named.
    LeftOut,
}

/// How a protected file was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProtectedEdit {
    Added,
    Edited,
    Deleted,
}

/// A change of a test, or of something that decides what a check does. The checks must pass without it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProtectedChange {
    pub path: RestoredPath,
    pub role: ProtectedRole,
    pub edit: ProtectedEdit,
    /// What was changed, for people: `scripts.test`, `section [tool.pytest.ini_options]`. May be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub what: String,
    /// Whether the configuration permits it (`scope.definitions`).
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub is_permitted: bool,
}

/// Two commits to be merged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergeCommand {
    pub ours: CommitId,
    pub theirs: CommitId,
    /// The name of the result, part of its git reference.
    pub name: String,
}

/// Two sides that git cannot merge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conflict {
    pub ours: CommitId,
    pub theirs: CommitId,
    /// The files with conflict markers, as the executor names them.
    pub paths: Vec<String>,
}

/// The result of a merge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Merged {
    /// The merge commit, with conflict markers where the sides conflict.
    pub commit: CommitId,
    pub tree: TreeId,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<String>,
}

/// A cached plan, and how similar its goal is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CachedPlanMatch {
    Nothing,
    /// Of a similar goal in this repository.
    Near(SavedPlan),
    /// Of the same goal and the same state of the repository.
    Exact(SavedPlan),
}

/// The commit all attempts are compared with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Base {
    pub commit: CommitId,
    pub tree: TreeId,
}

/// A result to be delivered. Repeating it after a crash changes nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliverCommand {
    /// The commit that the result is compared with.
    pub base: CommitId,
    /// The commit that is delivered.
    pub result: CommitId,
    pub delivery: Delivery,
    /// What the commit says of itself in the history: what was asked for, and what shows that it is done.
    #[serde(default)]
    pub message: Redacted,
    /// The commit that was delivered before and that this one takes the place of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<CommitId>,
}

/// Whether a branch was moved to the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BranchUpdate {
    Updated,
    /// Not moved: it has other commits.
    Diverged,
    /// Not moved: it is checked out somewhere.
    CheckedOut,
    Missing,
}

/// A branch that was to hold the result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveredBranch {
    pub name: String,
    pub update: BranchUpdate,
}

/// Where a result was delivered.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Delivered {
    /// The commit of the branch: the result with a message of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<DeliveredBranch>,
    /// The user's branch that was to be moved forward.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub into: Option<DeliveredBranch>,
    /// The file that holds the result as a patch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
}

/// The result of a command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandResult {
    Base(Base),
    Checks {
        reports: Vec<CheckReport>,
    },
    Attempt(AttemptResult),
    /// A commit was made out of two.
    Restored {
        commit: CommitId,
        tree: TreeId,
    },
    /// The tests and check definitions that differ between two commits.
    Protected {
        changes: Vec<ProtectedChange>,
    },
    /// Two commits were merged, with or without conflicts.
    Merged(Merged),
    /// A model answered, or not.
    Answer(ModelAnswer),
    /// A person answered, or not.
    Person(PersonAnswer),
    /// The plan cache was searched.
    CachedPlan(CachedPlanMatch),
    PlanStored,
    /// The result was delivered.
    Delivered(Delivered),
}

/// How a command ended. Each command has exactly one of these.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandEnd {
    Completed(CommandResult),
    /// It could not be executed.
    Failed {
        /// Why, for people.
        message: Redacted,
    },
    /// It was cancelled by a stop.
    Cancelled,
    /// The process that executed it died.
    Lost,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum Event {
    Started,
    Ended {
        command: CommandId,
        end: CommandEnd,
        /// Milliseconds it took, by a clock that does not jump.
        #[serde(default)]
        took_ms: u64,
    },
    /// A person asked to stop.
    StopRequested,
    /// A person, or a restart, asked to go on.
    Resumed {
        /// What may be spent beyond what was allowed.
        #[serde(default)]
        more: Allowance,
        /// Blocked tasks that may try again, with their counts at zero.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        unblocked: Vec<TaskId>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        said: Vec<Remark>,
    },
}

impl Event {
    pub fn resumed() -> Self {
        Self::Resumed { more: Allowance::default(), unblocked: Vec::new(), said: Vec::new() }
    }

    pub fn failures(&self) -> Vec<ReportedFailure> {
        match self {
            Self::Ended { end: CommandEnd::Completed(CommandResult::Checks { reports }), .. } => {
                reports.iter().flat_map(|report| report.failures.iter().cloned()).collect()
            }
            Self::Ended { .. } | Self::Started | Self::StopRequested | Self::Resumed { .. } => Vec::new(),
        }
    }
}
