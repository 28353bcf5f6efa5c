//! A run's state together with its history, borrowed.
//!
//! Owns the one function that folds a recorded run. While a run goes on, the engine's state is borrowed instead.

use std::collections::BTreeSet;

use fixpoint_decide::convergence::AttemptOutcome;
use fixpoint_decide::goals::Proof;
use fixpoint_decide::run::{Run, RunStatus, TaskSource, Turn};
use fixpoint_decide::task_run::{TaskRun, TaskStatus, described};
use fixpoint_engine::{JournalHeader, Record, RecordedRun};
use fixpoint_vocabulary::work::{Base, CommitId, FailureId};
use fixpoint_vocabulary::{Cause, TaskId, TaskState};

use crate::base_report::known_in;
use crate::history::{Iteration, RunHistory, TaskHistory};

/// A run folded from its journal, with its history.
#[derive(Debug, Clone)]
pub struct FoldedRun {
    pub run: Run,
    pub history: RunHistory,
}

impl FoldedRun {
    /// A run with only its header recorded.
    pub fn new(header: &JournalHeader) -> Self {
        let run = Run::new(header.options.clone(), header.spec.clone());
        Self { history: RunHistory::new(&run, header.at), run }
    }

    /// Folds everything that is recorded.
    pub fn of(recorded: &RecordedRun) -> Self {
        Self::watched(recorded, |_, _| {})
    }

    /// The same; `watch` is called with each record and the run after it.
    pub fn watched(recorded: &RecordedRun, mut watch: impl FnMut(&Record, RunView<'_>)) -> Self {
        let mut folded = Self::new(&recorded.header);
        for (seq, record) in (1u64..).zip(&recorded.records) {
            let turn = Turn { seq, elapsed_ms: record.elapsed_ms };
            folded.run.apply(turn, &record.event, &record.decision);
            folded.history.add(record, &folded.run);
            folded.history.forget_ended(&folded.run);
            watch(record, folded.view());
        }
        folded
    }

    pub const fn view(&self) -> RunView<'_> {
        RunView { run: &self.run, history: &self.history }
    }
}

/// The state of a started task; `None` once it was reset in order to be started again.
pub(crate) fn task_run<'a>(run: &'a Run, id: &TaskId) -> Option<&'a TaskRun> {
    run.task(id).and_then(|node| node.run.as_ref())
}

/// A run's state and its history.
#[derive(Debug, Clone, Copy)]
pub struct RunView<'a> {
    pub run: &'a Run,
    pub history: &'a RunHistory,
}

impl<'a> RunView<'a> {
    /// A started task.
    pub fn task(self, id: &TaskId) -> Option<TaskView<'a>> {
        self.history.task(id).and_then(|history| self.with_state(history))
    }

    fn with_state(self, history: &'a TaskHistory) -> Option<TaskView<'a>> {
        task_run(self.run, &history.id).map(|task| TaskView { task, history })
    }

    /// The started tasks, in the order of their starts.
    pub fn tasks(self) -> impl Iterator<Item = TaskView<'a>> {
        self.history.tasks.iter().filter_map(move |history| self.with_state(history))
    }

    /// Why the run ended or waits.
    pub const fn cause(self) -> Option<Cause> {
        match self.run.status() {
            RunStatus::Ended { cause } | RunStatus::Paused { cause } => Some(cause),
            RunStatus::New | RunStatus::Working => None,
        }
    }

    /// The first task that was started: the only one of a run without a plan.
    pub fn first(self) -> Option<TaskView<'a>> {
        self.tasks().next()
    }

    /// The task to diagnose: the first that is blocked, a merge only where nothing else is, or the first of all.
    pub fn stopped(self) -> Option<TaskView<'a>> {
        let blocked = || {
            self.tasks().filter_map(move |task| {
                let node = self.run.task(task.id()).filter(|node| node.state == TaskState::Blocked)?;
                Some((task, node))
            })
        };
        let work = blocked().find(|(_, node)| !node.is_merge()).or_else(|| blocked().next());
        work.map(|(task, _)| task).or_else(|| self.first())
    }

    /// The commit that the whole run is compared with.
    pub fn base(self) -> Option<&'a Base> {
        let planned = self.run.planning().base.as_ref();
        planned.or_else(|| self.first().and_then(TaskView::base))
    }

    /// The changes of tests and definitions in the result that somebody permitted.
    pub fn permitted_changes(self) -> Vec<String> {
        self.tasks().flat_map(TaskView::permitted_changes).collect()
    }

    /// What failed at the base in every run, and what failed in some only.
    pub fn known_at_base(self) -> (BTreeSet<FailureId>, BTreeSet<FailureId>) {
        let of_run = || known_in(&self.run.base_checks().baseline);
        self.first().map_or_else(of_run, TaskView::known_at_base)
    }

    /// All judged attempts, task by task.
    pub fn iterations(self) -> impl Iterator<Item = (&'a TaskHistory, &'a Iteration)> {
        let of_task = |task: &'a TaskHistory| task.iterations.iter().map(move |iteration| (task, iteration));
        self.history.tasks.iter().flat_map(of_task)
    }

    /// The commit with the result: of a single task its own, of a plan the one that all results were merged into.
    pub fn result(self) -> Option<CommitId> {
        if let Some(delivered) = self.run.delivered().and_then(|delivered| delivered.commit.clone()) {
            return Some(delivered);
        }
        match &self.run.options().tasks {
            TaskSource::Given(_) => self.first().and_then(TaskView::result).cloned(),
            TaskSource::Planned(_) => self.run.result().map(|result| result.commit.clone()),
        }
    }

    /// What shows that the run is done: of several tasks the weakest proof.
    pub fn proof(self) -> Option<Proof> {
        let is_done = self.cause() == Some(Cause::Done);
        self.tasks().filter_map(TaskView::proof).max().filter(|_| is_done)
    }
}

/// A started task's state and its history.
#[derive(Debug, Clone, Copy)]
pub struct TaskView<'a> {
    pub task: &'a TaskRun,
    pub history: &'a TaskHistory,
}

impl<'a> TaskView<'a> {
    pub const fn id(self) -> &'a TaskId {
        &self.history.id
    }

    /// The commit that its attempts are compared with.
    pub const fn base(self) -> Option<&'a Base> {
        self.task.baseline().base.as_ref()
    }

    /// Why it ended or waits.
    pub const fn cause(self) -> Option<Cause> {
        match self.task.status() {
            TaskStatus::Ended { cause } | TaskStatus::Paused { cause, .. } => Some(cause),
            TaskStatus::New | TaskStatus::Working { .. } => None,
        }
    }

    /// The commit with the result: the last attempt's if the task is done, else the best attempt's.
    pub fn result(self) -> Option<&'a CommitId> {
        let iterations = &self.history.iterations;
        let last = iterations.last()?;
        if self.cause() == Some(Cause::Done) {
            return Some(&last.judged.commit);
        }
        let badness = |iteration: &&Iteration| {
            let judged = &iteration.judged;
            (judged.attempt.masked, judged.failures.len() + judged.outside.len())
        };
        // An attempt whose checks could not run has no failures, but that proves nothing.
        let was_checked = |iteration: &&Iteration| {
            let outcome = iteration.judged.attempt.outcome;
            !matches!(outcome, AttemptOutcome::Infra | AttemptOutcome::Environment)
        };
        // Of equally good attempts, the last one.
        let best = iterations.iter().rev().filter(was_checked).min_by_key(badness);
        Some(&best.unwrap_or(last).judged.commit)
    }

    /// What shows that it is done.
    pub fn proof(self) -> Option<Proof> {
        (self.cause() == Some(Cause::Done)).then(|| self.task.proof())
    }

    /// The changes of tests and definitions in the result that somebody permitted.
    pub fn permitted_changes(self) -> Vec<String> {
        let is_done = self.cause() == Some(Cause::Done);
        let changes = self.task.permitted_changes().iter().filter(|_| is_done);
        changes.map(described).collect()
    }

    /// What failed at the base in every run, and what failed in some only.
    pub fn known_at_base(self) -> (BTreeSet<FailureId>, BTreeSet<FailureId>) {
        known_in(self.task.baseline())
    }
}
