//! What happened in a run and is not part of its state: times, attempts with what agents and checks
//! reported, and the last errors.
//!
//! Invariant: nothing is folded here a second time. Every record is added once, together with the [`Run`] as it is after
//! that record; the state of the run is read from that [`Run`], never stored here.

use std::collections::{BTreeMap, BTreeSet};

use fixpoint_decide::convergence::{Action, AttemptOutcome};
use fixpoint_decide::phases::Phase;
use fixpoint_decide::run::{Change, Owner, Run, RunChange, TaskChange};
use fixpoint_decide::task_run::{Decision, JudgedAttempt, TaskActivity, TaskStatus};
use fixpoint_engine::Record;
use fixpoint_vocabulary::TaskId;
use fixpoint_vocabulary::ask::ParsedAnswer;
use fixpoint_vocabulary::documents::Document;
use fixpoint_vocabulary::work::{
    AgentEnd, AttemptResult, CheckReport, CommandEnd, CommandId, CommandResult, Event,
};

use crate::phase_time::PhaseTimes;
use crate::view::task_run;

/// An agent's work that ended. The command names the files with its output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedAttempt {
    pub command: CommandId,
    pub result: AttemptResult,
    pub took_ms: u64,
}

/// Checks that ran. The command names the files with their output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedChecks {
    pub command: CommandId,
    pub reports: Vec<CheckReport>,
    pub took_ms: u64,
}

/// One judged attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Iteration {
    /// From 1.
    pub number: u32,
    /// When it was judged, in milliseconds since 1970.
    pub at: u64,
    pub attempt: Option<FinishedAttempt>,
    pub checks: Vec<FinishedChecks>,
    pub judged: JudgedAttempt,
}

/// What happened in one task.
#[derive(Debug, Clone)]
pub struct TaskHistory {
    pub id: TaskId,
    /// The checks at the base.
    pub baseline: Vec<FinishedChecks>,
    /// The attempts that were judged.
    pub iterations: Vec<Iteration>,
    /// What the last command that failed said.
    pub last_error: Option<String>,
    /// Why it was not split into smaller tasks: what the planner said, or why it could not be asked.
    pub replan_refusal: Option<String>,
    /// Work on the attempt that is not judged yet.
    open: OpenAttempt,
}

#[derive(Debug, Clone, Default)]
struct OpenAttempt {
    attempt: Option<FinishedAttempt>,
    checks: Vec<FinishedChecks>,
}

/// What a running command belongs to. Commands of the run itself are not listed.
#[derive(Debug, Clone)]
enum CommandOwner {
    BaseChecks,
    Task(TaskId, TaskActivity),
    Replan(TaskId),
}

/// What happened in a run.
#[derive(Debug, Clone)]
pub struct RunHistory {
    /// When the run began, in milliseconds since 1970.
    pub began: u64,
    /// When the last record was written, in milliseconds since 1970.
    pub latest: u64,
    /// The tasks that were started, in the order of their starts. One that starts again is listed once, anew.
    pub tasks: Vec<TaskHistory>,
    /// The checks at the base, before anything was planned.
    pub base_checks: Vec<FinishedChecks>,
    /// Commands that a crash or a stop cut short.
    pub interruptions: u32,
    /// What the last failed command of the run said, or why a question was not answered.
    pub last_error: Option<String>,
    /// What was wrong with the last answer of a model, where it could not be used.
    pub unusable_answer: Option<String>,
    /// What the planner wants to know about an unclear goal.
    pub questions: Vec<String>,
    pub times: PhaseTimes,
    /// Checks that ran to their end.
    pub check_runs: u64,
    /// Where in `tasks` each task is.
    positions: BTreeMap<TaskId, usize>,
    commands: BTreeMap<CommandId, CommandOwner>,
    /// The phase the run is in since the last record: the time until the next one belongs to it.
    phase: Phase,
    next_seq: u64,
}

impl RunHistory {
    /// Of a run that has just been created, at this time in milliseconds since 1970.
    pub fn new(run: &Run, at: u64) -> Self {
        let mut history = Self {
            began: at,
            latest: at,
            tasks: Vec::new(),
            base_checks: Vec::new(),
            interruptions: 0,
            last_error: None,
            unusable_answer: None,
            questions: Vec::new(),
            times: PhaseTimes::default(),
            check_runs: 0,
            positions: BTreeMap::new(),
            commands: BTreeMap::new(),
            phase: run.phase(),
            next_seq: 1,
        };
        run.tasks().filter(|node| node.run.is_some()).for_each(|node| history.start(node.id()));
        history
    }

    /// A task that was started.
    pub fn task(&self, id: &TaskId) -> Option<&TaskHistory> {
        self.positions.get(id).and_then(|position| self.tasks.get(*position))
    }

    fn task_mut(&mut self, id: &TaskId) -> Option<&mut TaskHistory> {
        self.positions.get(id).and_then(|position| self.tasks.get_mut(*position))
    }

    /// The number of the last record that was added, from 1.
    pub const fn seq(&self) -> u64 {
        self.next_seq.saturating_sub(1)
    }

    /// Adds the next record; `run` is the run after it, or after the batch of records that it was written with. Answers
    /// the tasks whose artifacts it changes: an attempt was judged, the task stopped or ended, or it will not be
    /// replanned.
    pub fn add(&mut self, record: &Record, run: &Run) -> BTreeSet<TaskId> {
        self.latest = record.at;
        self.times.add(self.phase, record.elapsed_ms);
        self.phase = run.phase();
        let mut changed = BTreeSet::new();
        if let Event::Ended { command, end, took_ms } = &record.event {
            changed.extend(self.add_end(*command, end, *took_ms));
        }
        record.decision.changes.iter().for_each(|change| self.add_change(change));
        for (id, decision) in record.decision.task_decisions() {
            if let Some(task) = self.task_mut(id) {
                task.add_judged(record.at, decision);
            }
            if changes_artifacts(decision) {
                changed.insert(id.clone());
            }
        }
        self.note_commands(record, run);
        self.next_seq += 1;
        changed
    }

    /// Forgets the commands that are not in flight any more; after the last record of a batch.
    pub fn forget_ended(&mut self, run: &Run) {
        self.commands.retain(|id, _| run.is_in_flight(*id));
    }

    fn start(&mut self, id: &TaskId) {
        if self.positions.contains_key(id) {
            self.tasks.retain(|task| task.id != *id);
            self.positions =
                (0..).zip(&self.tasks).map(|(position, task)| (task.id.clone(), position)).collect();
        }
        self.positions.insert(id.clone(), self.tasks.len());
        self.tasks.push(TaskHistory::new(id.clone()));
    }

    fn add_change(&mut self, change: &Change) {
        match change {
            Change::Task(TaskChange::Started { options }) => self.start(&options.task),
            Change::Run(RunChange::RejectAnswer { answer, .. }) => {
                self.unusable_answer = Some(answer.problem.to_string());
            }
            Change::Task(_)
            | Change::Run(_)
            | Change::BaseChecks(_)
            | Change::Planning(_)
            | Change::PlanReview(_)
            | Change::Merge(_)
            | Change::FinalProof(_)
            | Change::FinalReview(_)
            | Change::Reflection(_)
            | Change::Delivery(_) => {}
        }
    }

    /// Notes what the started commands belong to, since their end names only the command.
    fn note_commands(&mut self, record: &Record, run: &Run) {
        for (command, owner, _) in record.decision.commands(self.next_seq) {
            let owner = match owner {
                Owner::Task(id) => task_run(run, &id).and_then(|task| match task.status() {
                    TaskStatus::Working { activity } => Some(CommandOwner::Task(id, activity)),
                    TaskStatus::New | TaskStatus::Paused { .. } | TaskStatus::Ended { .. } => None,
                }),
                Owner::BaseChecks => Some(CommandOwner::BaseChecks),
                Owner::Replan(id) => Some(CommandOwner::Replan(id)),
                Owner::Planning
                | Owner::PlanReview
                | Owner::Merge(_)
                | Owner::FinalProof
                | Owner::FinalReview
                | Owner::Reflection(_)
                | Owner::Delivery => None,
            };
            self.commands.extend(owner.map(|owner| (command, owner)));
        }
    }

    fn add_end(&mut self, command: CommandId, end: &CommandEnd, took_ms: u64) -> Option<TaskId> {
        self.note_end(end);
        match self.commands.remove(&command)? {
            CommandOwner::BaseChecks => {
                if let CommandEnd::Completed(CommandResult::Checks { reports }) = end {
                    self.base_checks.push(FinishedChecks { command, reports: reports.clone(), took_ms });
                }
                None
            }
            CommandOwner::Task(id, activity) => {
                self.task_mut(&id)?.add_end(activity, command, end, took_ms);
                None
            }
            CommandOwner::Replan(id) => {
                self.task_mut(&id)?.replan_refusal = replan_refusal(end);
                Some(id)
            }
        }
    }

    fn note_end(&mut self, end: &CommandEnd) {
        match end {
            CommandEnd::Completed(CommandResult::Checks { reports }) => {
                self.check_runs += reports.len() as u64
            }
            CommandEnd::Completed(CommandResult::Answer(answer)) => {
                // What is wrong with this one, if anything, is in the decision.
                self.unusable_answer = None;
                if let ParsedAnswer::Unanswered { why } = &answer.reading {
                    self.last_error = Some(why.to_string());
                }
                if let ParsedAnswer::Document(Document::Planning(document)) = &answer.reading {
                    let error = document.error.as_ref();
                    self.questions =
                        error.map(|error| error.clarification_needed.clone()).unwrap_or_default();
                }
            }
            CommandEnd::Completed(CommandResult::Attempt(result)) if result.end == AgentEnd::Unavailable => {
                self.last_error = result.last_words.as_ref().map(ToString::to_string);
            }
            CommandEnd::Completed(_) => {}
            CommandEnd::Failed { message } => self.last_error = Some(message.to_string()),
            CommandEnd::Cancelled | CommandEnd::Lost => self.interruptions += 1,
        }
    }
}

/// Whether a decision changes a task's artifacts.
const fn changes_artifacts(decision: &Decision) -> bool {
    match decision.status {
        TaskStatus::Paused { .. } | TaskStatus::Ended { .. } => true,
        TaskStatus::New | TaskStatus::Working { .. } => decision.judged.is_some(),
    }
}

/// Why there are no smaller tasks.
fn replan_refusal(end: &CommandEnd) -> Option<String> {
    let CommandEnd::Completed(CommandResult::Answer(answer)) = end else { return None };
    match &answer.reading {
        ParsedAnswer::Document(Document::Planning(document)) => {
            document.error.as_ref().map(|error| error.message.clone())
        }
        ParsedAnswer::Unreadable { problem, .. } => Some(problem.to_string()),
        ParsedAnswer::Unanswered { why } => Some(why.to_string()),
        ParsedAnswer::Document(_) => None,
    }
}

impl TaskHistory {
    const fn new(id: TaskId) -> Self {
        Self {
            id,
            baseline: Vec::new(),
            iterations: Vec::new(),
            last_error: None,
            replan_refusal: None,
            open: OpenAttempt { attempt: None, checks: Vec::new() },
        }
    }

    fn add_judged(&mut self, at: u64, decision: &Decision) {
        let Some(judged) = &decision.judged else { return };
        // Checks that could not run are run again on the same attempt.
        let open = match judged.attempt.outcome {
            AttemptOutcome::Infra => self.open.clone(),
            AttemptOutcome::Environment if judged.verdict.action == Action::Pause => self.open.clone(),
            AttemptOutcome::Environment
            | AttemptOutcome::Complete
            | AttemptOutcome::Incomplete
            | AttemptOutcome::Waiting => std::mem::take(&mut self.open),
        };
        self.iterations.push(Iteration {
            number: judged.counts.iterations,
            at,
            attempt: open.attempt,
            checks: open.checks,
            judged: judged.clone(),
        });
    }

    fn add_end(&mut self, activity: TaskActivity, command: CommandId, end: &CommandEnd, took_ms: u64) {
        match end {
            CommandEnd::Completed(CommandResult::Checks { reports }) => {
                let checks = FinishedChecks { command, reports: reports.clone(), took_ms };
                if activity == TaskActivity::Baseline { &mut self.baseline } else { &mut self.open.checks }
                    .push(checks);
            }
            CommandEnd::Completed(CommandResult::Attempt(result)) => {
                self.open.attempt = Some(FinishedAttempt { command, result: result.clone(), took_ms });
            }
            CommandEnd::Completed(_) => {}
            CommandEnd::Failed { message } => self.last_error = Some(message.to_string()),
            CommandEnd::Cancelled | CommandEnd::Lost => {}
        }
    }

    /// The attempt that has ended and is not judged yet.
    pub const fn open_attempt(&self) -> Option<&FinishedAttempt> {
        self.open.attempt.as_ref()
    }
}
