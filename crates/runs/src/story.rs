//! A run told in order, out of its journal: base, baseline, attempts with their checks, and how it stands.

use std::collections::BTreeSet;

use fixpoint_decide::convergence::Outcome;
use fixpoint_decide::goals::Proof;
use fixpoint_decide::run::{Move, Owner, Run, Standing, TaskSource, Turn};
use fixpoint_decide::task_run::{Decision, Judged, Step, TaskRun, Work};
use fixpoint_engine::{Record, Recorded};
use fixpoint_vocabulary::ask::Reading;
use fixpoint_vocabulary::documents::Document;
use fixpoint_vocabulary::work::{
    AgentEnd, AttemptResult, Base, CheckReport, CommandEnd, CommandId, CommandResult, CommitId, Event,
    FailureId,
};
use fixpoint_vocabulary::{Cause, TaskId, TaskState};

use crate::phase_time::PhaseTimes;

/// An agent's work, as it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptMade {
    /// The command, which names its output.
    pub command: CommandId,
    /// What it left.
    pub result: AttemptResult,
    /// Milliseconds it took.
    pub took_ms: u64,
}

/// Checks that ran, as they ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckMade {
    /// The command, which names its output.
    pub command: CommandId,
    /// For what.
    pub work: Work,
    /// What they showed.
    pub reports: Vec<CheckReport>,
    /// Milliseconds it took.
    pub took_ms: u64,
}

/// One judged attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Iteration {
    /// Its number, from 1.
    pub number: u32,
    /// When it was judged, in milliseconds since 1970.
    pub at: u64,
    /// The agent's work.
    pub attempt: Option<AttemptMade>,
    /// The checks that were run on it.
    pub checks: Vec<CheckMade>,
    /// What was judged.
    pub judged: Judged,
}

/// A task of a run, told in order.
#[derive(Debug, Clone)]
pub struct TaskStory {
    /// Its name.
    pub id: TaskId,
    /// What all attempts are compared with.
    pub base: Option<Base>,
    /// The checks at the base.
    pub baseline: Vec<CheckMade>,
    /// The attempts that were judged.
    pub iterations: Vec<Iteration>,
    /// What a command that failed said last.
    pub obstacle: Option<String>,
    /// Why no smaller tasks took its place, in the words of the planner or of whoever did not reach it.
    pub not_replanned: Option<String>,
    /// Where it stands.
    pub task: TaskRun,
    /// Work on the attempt that is not judged yet.
    open: Open,
}

#[derive(Debug, Clone, Default)]
struct Open {
    attempt: Option<AttemptMade>,
    checks: Vec<CheckMade>,
}

/// A run, told in order.
#[derive(Debug, Clone)]
pub struct Story {
    /// When it began, in milliseconds since 1970.
    pub began: u64,
    /// When the last thing was recorded.
    pub latest: u64,
    /// Its tasks, in the order in which they began.
    pub tasks: Vec<TaskStory>,
    /// Commands that were cut short by a crash or called off.
    pub interruptions: u32,
    /// What a command of the run itself said last when it failed, or why nobody answered a question.
    pub obstacle: Option<String>,
    /// What was wrong with the last answer of the run's models, where it could not be used.
    pub unusable: Option<String>,
    /// What the planner wants to know, where the goal is not clear to it.
    pub questions: Vec<String>,
    /// How long it was in each of its phases.
    pub times: PhaseTimes,
    /// How many whole checks ran.
    pub check_runs: u64,
    /// Where it stands.
    pub run: Run,
    /// The number of the next record.
    next: u64,
}

impl Story {
    /// The story of what is on record.
    pub fn of(recorded: &Recorded) -> Self {
        let run = Run::new(recorded.opening.order.clone(), recorded.opening.brief.clone());
        let given = run.tasks().filter_map(|node| node.run.as_deref().cloned());
        let mut story = Self {
            began: recorded.opening.at,
            latest: recorded.opening.at,
            tasks: given.map(TaskStory::new).collect(),
            interruptions: 0,
            obstacle: None,
            unusable: None,
            questions: Vec::new(),
            times: PhaseTimes::default(),
            check_runs: 0,
            run,
            next: 1,
        };
        recorded.records.iter().for_each(|record| story.add(record));
        story
    }

    /// Goes on with one more record.
    pub fn add(&mut self, record: &Record) {
        self.latest = record.at;
        self.times.add(self.run.phase(), record.elapsed_ms);
        if let Event::Ended { command, end, took_ms } = &record.event {
            self.add_end(*command, end, *took_ms);
        }
        for step in &record.decision.moves {
            self.add_move(record, step);
        }
        let turn = Turn { seq: self.next, elapsed_ms: record.elapsed_ms };
        self.run.apply(turn, &record.event, &record.decision);
        self.next += 1;
    }

    fn add_end(&mut self, command: CommandId, end: &CommandEnd, took_ms: u64) {
        let owner = self.run.under_way().find(|(id, ..)| *id == command).map(|(_, owner, _)| owner.clone());
        match end {
            CommandEnd::Completed(CommandResult::Checks { reports }) => {
                self.check_runs += reports.len() as u64;
            }
            CommandEnd::Completed(CommandResult::Answer(answer)) => {
                // What is wrong with this one, if anything, is told by the decision.
                self.unusable = None;
                if let Reading::Unanswered { why } = &answer.reading {
                    self.obstacle = Some(why.to_string());
                }
                if let Reading::Document(Document::Planning(document)) = &answer.reading {
                    let error = document.error.as_ref();
                    self.questions =
                        error.map(|error| error.clarification_needed.clone()).unwrap_or_default();
                }
            }
            CommandEnd::Completed(CommandResult::Attempt(left)) if left.end == AgentEnd::Unavailable => {
                self.obstacle = left.last_words.as_ref().map(ToString::to_string);
            }
            CommandEnd::Completed(_) => {}
            CommandEnd::Failed { message } => self.obstacle = Some(message.to_string()),
            CommandEnd::Cancelled | CommandEnd::Lost => self.interruptions += 1,
        }
        let whose = match &owner {
            Some(Owner::Task(id) | Owner::Replan(id)) => Some(id),
            Some(Owner::Planning | Owner::Review | Owner::Merge(_) | Owner::Whole | Owner::Reflection(_))
            | None => None,
        };
        let Some(task) = whose.and_then(|id| self.tasks.iter_mut().find(|task| task.id == *id)) else {
            return;
        };
        if let Some(Owner::Replan(_)) = &owner {
            task.not_replanned = not_replanned(end);
        } else {
            task.add_end(command, end, took_ms);
        }
    }

    fn add_move(&mut self, record: &Record, step: &Move) {
        if let Move::TaskStarted { order } = step {
            // One that was blocked and may try again begins anew.
            self.tasks.retain(|task| task.id != order.task);
            self.tasks.push(TaskStory::new(TaskRun::new((**order).clone())));
        } else if let Move::Unusable { trouble, .. } = step {
            self.unusable = Some(trouble.problem.to_string());
        } else if let Move::Task { task, on, decision } = step
            && let Some(told) = self.tasks.iter_mut().find(|told| told.id == *task)
        {
            told.add(record.at, &on.seen(&record.event), decision);
        }
    }

    /// Why it ended or waits.
    pub const fn cause(&self) -> Option<Cause> {
        match self.run.standing() {
            Standing::Ended { cause } | Standing::Paused { cause } => Some(cause),
            Standing::New | Standing::Working => None,
        }
    }

    /// The task that is all there is, or the first.
    pub fn first(&self) -> Option<&TaskStory> {
        self.tasks.first()
    }

    /// The task that did not get there: the first that is blocked, or the first.
    pub fn stopped(&self) -> Option<&TaskStory> {
        let is_blocked = |told: &&TaskStory| {
            self.run.task(&told.id).is_some_and(|node| node.state == TaskState::Blocked && !node.is_merge())
        };
        self.tasks.iter().find(is_blocked).or_else(|| self.first())
    }

    /// What everything is compared with.
    pub fn base(&self) -> Option<&Base> {
        let planned = self.run.planning().base.as_ref();
        planned.or_else(|| self.first().and_then(|task| task.base.as_ref()))
    }

    /// All judged attempts, task by task.
    pub fn iterations(&self) -> impl Iterator<Item = (&TaskStory, &Iteration)> {
        self.tasks.iter().flat_map(|task| task.iterations.iter().map(move |iteration| (task, iteration)))
    }

    /// The commit that is the result: of one task its own, of a plan what everything was brought together in.
    pub fn result(&self) -> Option<CommitId> {
        match &self.run.order().tasks {
            TaskSource::Given(_) => self.first().and_then(TaskStory::result).cloned(),
            TaskSource::Planned(_) => self.run.result().map(|result| result.commit),
        }
    }

    /// What the result rests on, if it is done: of several tasks the weakest ground.
    pub fn proof(&self) -> Option<Proof> {
        let is_done = self.cause() == Some(Cause::Done);
        self.tasks.iter().filter_map(TaskStory::proof).max().filter(|_| is_done)
    }
}

/// What there was instead of smaller tasks.
fn not_replanned(end: &CommandEnd) -> Option<String> {
    let CommandEnd::Completed(CommandResult::Answer(answer)) = end else { return None };
    match &answer.reading {
        Reading::Document(Document::Planning(document)) => {
            document.error.as_ref().map(|error| error.message.clone())
        }
        Reading::Unreadable { problem, .. } => Some(problem.to_string()),
        Reading::Unanswered { why } => Some(why.to_string()),
        Reading::Document(_) => None,
    }
}

impl TaskStory {
    fn new(task: TaskRun) -> Self {
        Self {
            id: task.order().task.clone(),
            base: task.ground().base.clone(),
            baseline: Vec::new(),
            iterations: Vec::new(),
            obstacle: None,
            not_replanned: None,
            task,
            open: Open::default(),
        }
    }

    fn add(&mut self, at: u64, event: &Event, decision: &Decision) {
        if let Some(judged) = &decision.judged {
            // Checks that could not run are run again on the same attempt.
            let open = match judged.attempt.outcome {
                Outcome::Infra => self.open.clone(),
                Outcome::Complete | Outcome::Incomplete | Outcome::Waiting => std::mem::take(&mut self.open),
            };
            self.iterations.push(Iteration {
                number: judged.counts.iterations,
                at,
                attempt: open.attempt,
                checks: open.checks,
                judged: judged.clone(),
            });
        }
        self.task.record(event);
        self.task.apply(decision);
    }

    fn add_end(&mut self, command: CommandId, end: &CommandEnd, took_ms: u64) {
        let Step::Working { work } = self.task.step() else { return };
        match end {
            CommandEnd::Completed(CommandResult::Base(base)) => self.base = Some(base.clone()),
            CommandEnd::Completed(CommandResult::Checks { reports }) => {
                let made = CheckMade { command, work, reports: reports.clone(), took_ms };
                if work == Work::Baseline { &mut self.baseline } else { &mut self.open.checks }.push(made);
            }
            CommandEnd::Completed(CommandResult::Attempt(result)) => {
                self.open.attempt = Some(AttemptMade { command, result: result.clone(), took_ms });
            }
            CommandEnd::Completed(_) => {}
            CommandEnd::Failed { message } => self.obstacle = Some(message.to_string()),
            CommandEnd::Cancelled | CommandEnd::Lost => {}
        }
    }

    /// Why it ended or waits.
    pub const fn cause(&self) -> Option<Cause> {
        match self.task.step() {
            Step::Ended { cause } | Step::Paused { cause, .. } => Some(cause),
            Step::New | Step::Working { .. } => None,
        }
    }

    /// The commit that is the result: the last one if it is done, else the best there is.
    pub fn result(&self) -> Option<&CommitId> {
        let last = self.iterations.last()?;
        if self.cause() == Some(Cause::Done) {
            return Some(&last.judged.commit);
        }
        let badness = |iteration: &&Iteration| {
            let judged = &iteration.judged;
            (judged.attempt.masked, judged.failures.len() + judged.outside.len())
        };
        // One whose checks could not run left no failures because nobody looked.
        let was_checked = |iteration: &&Iteration| iteration.judged.attempt.outcome != Outcome::Infra;
        // Of equally good ones the later counts, because it knows more.
        let best = self.iterations.iter().rev().filter(was_checked).min_by_key(badness);
        Some(&best.unwrap_or(last).judged.commit)
    }

    /// What the result rests on, if it is done.
    pub fn proof(&self) -> Option<Proof> {
        (self.cause() == Some(Cause::Done)).then(|| self.task.proof())
    }

    /// The attempt that has ended and is not judged yet.
    pub const fn open_attempt(&self) -> Option<&AttemptMade> {
        self.open.attempt.as_ref()
    }

    /// What failed at the base in every run, and what failed in some only.
    pub fn known_at_base(&self) -> (BTreeSet<FailureId>, BTreeSet<FailureId>) {
        let (mut always, mut sometimes) = (BTreeSet::new(), BTreeSet::new());
        for check in self.task.ground().checks.values() {
            for failing in check.failing.iter().flatten() {
                let is_constant = check.failing.iter().all(|run| run.contains(failing));
                if is_constant { &mut always } else { &mut sometimes }.insert(failing.clone());
            }
        }
        (always, sometimes)
    }
}
