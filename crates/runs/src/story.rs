//! A run told in order, out of its journal: base, baseline, attempts with their checks, and how it stands.

use std::collections::BTreeSet;

use fixpoint_decide::convergence::Outcome;
use fixpoint_decide::goals::Proof;
use fixpoint_decide::task_run::{Judged, Step, TaskRun, Work};
use fixpoint_engine::{Record, Recorded};
use fixpoint_vocabulary::Cause;
use fixpoint_vocabulary::work::{
    AttemptResult, Base, CheckReport, CommandEnd, CommandId, CommandResult, CommitId, Event,
};

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

/// A run, told in order.
#[derive(Debug, Clone)]
pub struct Story {
    /// When it began, in milliseconds since 1970.
    pub began: u64,
    /// When the last thing was recorded.
    pub latest: u64,
    /// What all attempts are compared with.
    pub base: Option<Base>,
    /// The checks at the base.
    pub baseline: Vec<CheckMade>,
    /// The attempts that were judged.
    pub iterations: Vec<Iteration>,
    /// Commands that were cut short by a crash or called off.
    pub interruptions: u32,
    /// What a command that failed said last.
    pub obstacle: Option<String>,
    /// How many whole checks ran.
    pub check_runs: u64,
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

impl Story {
    /// The story of what is on record.
    pub fn of(recorded: &Recorded) -> Self {
        let mut story = Self {
            began: recorded.opening.at,
            latest: recorded.opening.at,
            base: None,
            baseline: Vec::new(),
            iterations: Vec::new(),
            interruptions: 0,
            obstacle: None,
            check_runs: 0,
            task: TaskRun::new(recorded.opening.order.clone()),
            open: Open::default(),
        };
        recorded.records.iter().for_each(|record| story.add(record));
        story
    }

    /// Goes on with one more record.
    pub fn add(&mut self, record: &Record) {
        self.latest = record.at;
        if let (Event::Ended { command, end, took_ms }, Step::Working { work }) =
            (&record.event, self.task.step())
        {
            self.add_end(*command, work, end, *took_ms);
        }
        if let Some(judged) = &record.decision.judged {
            // Checks that could not run are run again on the same attempt.
            let open = match judged.attempt.outcome {
                Outcome::Infra => self.open.clone(),
                Outcome::Complete | Outcome::Incomplete | Outcome::Waiting => std::mem::take(&mut self.open),
            };
            self.iterations.push(Iteration {
                number: judged.counts.iterations,
                at: record.at,
                attempt: open.attempt,
                checks: open.checks,
                judged: judged.clone(),
            });
        }
        self.task.apply(&record.event, &record.decision);
    }

    fn add_end(&mut self, command: CommandId, work: Work, end: &CommandEnd, took_ms: u64) {
        match end {
            CommandEnd::Completed(CommandResult::Base(base)) => self.base = Some(base.clone()),
            CommandEnd::Completed(CommandResult::Checks { reports }) => {
                self.check_runs += reports.len() as u64;
                let made = CheckMade { command, work, reports: reports.clone(), took_ms };
                match work {
                    Work::Baseline => self.baseline.push(made),
                    Work::TakingBase
                    | Work::Attempting
                    | Work::Reverting
                    | Work::Goals
                    | Work::RestoringTests
                    | Work::GoalsWithBaseTests
                    | Work::Guards
                    | Work::SuspectsAtBase
                    | Work::FlakyAtBase
                    | Work::Confirming => self.open.checks.push(made),
                }
            }
            CommandEnd::Completed(CommandResult::Attempt(result)) => {
                self.open.attempt = Some(AttemptMade { command, result: result.clone(), took_ms });
            }
            CommandEnd::Completed(CommandResult::Grafted { .. }) => {}
            CommandEnd::Failed { message } => self.obstacle = Some(message.to_string()),
            CommandEnd::Cancelled | CommandEnd::Lost => self.interruptions += 1,
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

    /// Tests and fingerprints that failed at the base in every run, and those that failed in some only.
    pub fn known_at_base(&self) -> (BTreeSet<String>, BTreeSet<String>) {
        let (mut always, mut sometimes) = (BTreeSet::new(), BTreeSet::new());
        for check in self.task.ground().checks.values() {
            for identity in check.failing.iter().flatten() {
                let is_constant = check.failing.iter().all(|run| run.contains(identity));
                if is_constant { &mut always } else { &mut sometimes }.insert(identity.clone());
            }
        }
        (always, sometimes)
    }
}
