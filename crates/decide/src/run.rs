//! The life of a whole run: planning, judging and refining the plan, the task graph, replanning, merging results, the
//! final review, delivery, and an end with its cause.
//!
//! [`Run::step`] decides what follows from an event and changes the run in place, change by change. [`Run::apply`] folds
//! recorded changes and decides nothing. Each file below owns one part: its state, its changes, what an answer means
//! there (`with_…`), and what that part needs next (`next_…`). Invariants: every command has exactly one end; nothing is
//! begun that the budget cannot pay for; every sequence of events ends the run or leaves it waiting for somebody.

mod apply;
mod base_checks;
mod change;
mod clarification;
mod delivery;
mod execution;
mod final_proof;
mod final_review;
mod finish;
mod kept_goals;
mod ledger;
mod merging;
mod options;
mod plan_approval;
mod plan_cache;
mod plan_review;
mod planning;
mod prepare;
mod reflection;
mod replan;
mod state_rules;
mod task_changes;
mod task_graph;
mod task_node;
mod transition;

use fixpoint_vocabulary::documents::ActionPlan;
use fixpoint_vocabulary::run_spec::{PlacedCheck, RunSpec};
use fixpoint_vocabulary::settings::Settings;
use fixpoint_vocabulary::work::{Command, CommandId, CommitId, Event};
use fixpoint_vocabulary::{Cause, TaskId};

pub use self::base_checks::{BaseChecks, BaseChecksChange};
pub use self::change::{Change, Decision, Owner, RejectedAnswer, RunChange, TaskSignal};
pub use self::delivery::DeliveryChange;
use self::final_proof::FinalProof;
pub use self::final_proof::FinalProofChange;
use self::final_review::FinalReview;
pub use self::final_review::FinalReviewChange;
pub use self::ledger::Ledger;
pub use self::merging::MergeChange;
pub use self::options::{Judging, PlanOptions, PlanningCalls, RunExtent, RunOptions, TaskSource};
pub use self::plan_review::{PlanRepair, PlanReview, PlanReviewChange, ReviewedPlan};
pub use self::planning::{CachedPlan, PartialPlan, Planning, PlanningChange};
pub use self::reflection::ReflectionChange;
pub use self::state_rules::UnexpectedEvent;
pub use self::task_changes::{NewTask, TaskChange};
use self::task_graph::TaskGraph;
pub use self::task_node::{TaskKind, TaskNode};
use self::transition::Transition;
use crate::prelude::*;
use crate::revision::Revisions;
use crate::task_run::TaskRun;

/// Whether a run is at work, waits for somebody, or is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunStatus {
    New,
    Working,
    /// Somebody is awaited; resuming goes on where it stopped.
    Paused {
        cause: Cause,
    },
    Ended {
        cause: Cause,
    },
}

/// When something is decided: the number its record will have, and how long nothing was recorded before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    pub seq: u64,
    /// Milliseconds since the record before, by a clock that does not jump.
    pub elapsed_ms: u64,
}

/// A command that has no end yet.
#[derive(Debug, Clone, PartialEq)]
struct InFlight {
    owner: Owner,
    command: Command,
}

/// A command that could not be executed; resuming executes it.
#[derive(Debug, Clone, PartialEq)]
struct Deferred {
    owner: Owner,
    command: Command,
    cause: Cause,
}

/// A run, between two events.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    options: RunOptions,
    spec: Option<RunSpec>,
    status: RunStatus,
    in_flight: BTreeMap<CommandId, InFlight>,
    deferred: Vec<Deferred>,
    /// Whose commands were cut short by crashes, each time, since one of theirs came to an end.
    lost: Vec<Owner>,
    /// Answers that could not be used, since the last that could.
    rejected: Vec<(Owner, RejectedAnswer)>,
    ledger: Ledger,
    planning: Planning,
    base_checks: BaseChecks,
    review: PlanReview,
    graph: TaskGraph,
    /// The checks by number: the spec's, then those that tasks brought. Shared with the commands in flight.
    checks: Arc<Vec<PlacedCheck>>,
    left_out: BTreeSet<TaskId>,
    /// The commit that was last delivered.
    last_delivered: Option<CommitId>,
    final_proof: FinalProof,
    final_review: FinalReview,
    revisions: Revisions,
    /// A revision that waits for approval, and the error that it answers.
    proposed: Option<(ActionPlan, String)>,
    reflections: u32,
    /// How far delivery has come.
    delivery: Option<DeliveryChange>,
}

impl Run {
    /// A run that has not begun. One that is planned needs a spec.
    pub fn new(options: RunOptions, spec: Option<RunSpec>) -> Self {
        let checks = spec.as_ref().map(|spec| spec.checks.clone()).unwrap_or_default();
        let mut graph = TaskGraph::default();
        match &options.tasks {
            TaskSource::Given(task) => graph.add(TaskNode::given(TaskRun::new((**task).clone()))),
            TaskSource::Planned(_) => {}
        }
        Self {
            ledger: Ledger::new(options.budget),
            planning: Planning::new(&options),
            base_checks: BaseChecks::default(),
            options,
            spec,
            status: RunStatus::New,
            in_flight: BTreeMap::new(),
            deferred: Vec::new(),
            lost: Vec::new(),
            rejected: Vec::new(),
            review: PlanReview::default(),
            graph,
            checks: Arc::new(checks),
            left_out: BTreeSet::new(),
            last_delivered: None,
            final_proof: FinalProof::default(),
            final_review: FinalReview::default(),
            revisions: Revisions::default(),
            proposed: None,
            reflections: 0,
            delivery: None,
        }
    }

    /// Decides what follows from an event and changes the run accordingly. After an error the run is in no defined
    /// state and must be dropped.
    pub fn step(&mut self, turn: Turn, event: &Event) -> Result<Decision, UnexpectedEvent> {
        Transition::new(self, turn, event).decide()
    }

    pub const fn status(&self) -> RunStatus {
        self.status
    }

    pub const fn is_over(&self) -> bool {
        matches!(self.status, RunStatus::Ended { .. })
    }

    pub const fn options(&self) -> &RunOptions {
        &self.options
    }

    pub const fn spec(&self) -> Option<&RunSpec> {
        self.spec.as_ref()
    }

    /// Its tasks, in the order in which they were added.
    pub fn tasks(&self) -> impl Iterator<Item = &TaskNode> {
        self.graph.iter()
    }

    pub fn task(&self, id: &TaskId) -> Option<&TaskNode> {
        self.graph.get(id)
    }

    pub fn checks(&self) -> &[PlacedCheck] {
        &self.checks
    }

    pub fn in_flight(&self) -> impl Iterator<Item = (CommandId, &Owner, &Command)> {
        self.in_flight.iter().map(|(id, in_flight)| (*id, &in_flight.owner, &in_flight.command))
    }

    pub fn is_in_flight(&self, id: CommandId) -> bool {
        self.in_flight.contains_key(&id)
    }

    pub const fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    pub const fn review(&self) -> &PlanReview {
        &self.review
    }

    pub const fn planning(&self) -> &Planning {
        &self.planning
    }

    /// What the final review found missing.
    pub fn missing_aspects(&self) -> &[String] {
        &self.final_review.missing
    }

    fn settings(&self) -> Option<&Settings> {
        self.spec.as_ref().map(|spec| &spec.settings)
    }

    fn plan_options(&self) -> Option<&PlanOptions> {
        match &self.options.tasks {
            TaskSource::Planned(options) => Some(options),
            TaskSource::Given(_) => None,
        }
    }

    /// Whether a model judges results, beside the checks.
    fn is_judged_by_model(&self) -> bool {
        self.plan_options().is_some_and(|options| options.judging == Judging::ByModel)
    }

    /// The parts that have a command in flight or deferred.
    fn busy_owners(&self) -> impl Iterator<Item = &Owner> {
        let in_flight = self.in_flight.values().map(|in_flight| &in_flight.owner);
        in_flight.chain(self.deferred.iter().map(|deferred| &deferred.owner))
    }

    fn is_busy(&self, with: &Owner) -> bool {
        self.busy_owners().any(|owner| owner == with)
    }

    /// How often in a row a crash cut a part's commands short.
    fn times_lost(&self, owner: &Owner) -> u32 {
        u32::try_from(self.lost.iter().filter(|whose| *whose == owner).count()).unwrap_or(u32::MAX)
    }

    /// Answers in a row that a part could not use.
    fn times_rejected(&self, owner: &Owner) -> u32 {
        u32::try_from(self.rejected.iter().filter(|(whose, _)| whose == owner).count()).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod regressions;
#[cfg(test)]
mod run_fixture;
#[cfg(test)]
mod tests;
