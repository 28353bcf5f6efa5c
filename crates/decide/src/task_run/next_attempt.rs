//! From a judged attempt to the next one, or to the end.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use fixpoint_vocabulary::Cause;
use fixpoint_vocabulary::ask::TaskQuestion;
use fixpoint_vocabulary::work::{AttemptCommand, Base, Command, CommitId, Fingerprint, ReportedFailure};

use super::{Decision, Judged, Seen, Step, TaskRun, Trial, Work};
use crate::convergence::{Action, Attempt, Outcome};

/// What the checks came to.
pub(super) struct Told {
    pub(super) outcome: Outcome,
    pub(super) failures: Vec<ReportedFailure>,
    pub(super) masked: bool,
    pub(super) flaky: BTreeSet<Fingerprint>,
    pub(super) seen: Seen,
}

impl Told {
    pub(super) fn incomplete(failures: Vec<ReportedFailure>) -> Self {
        Self {
            outcome: Outcome::Incomplete,
            failures,
            masked: false,
            flaky: BTreeSet::new(),
            seen: Seen::default(),
        }
    }

    pub(super) fn without_failures(outcome: Outcome) -> Self {
        Self { outcome, ..Self::incomplete(Vec::new()) }
    }
}

impl TaskRun {
    /// Has the controller judge an attempt, and does as it says.
    pub(super) fn judge(&self, work: Work, trial: &Trial, told: Told) -> Decision {
        let result = Base { commit: trial.commit.clone(), tree: trial.tree.clone() };
        self.judge_as(work, trial, result, told)
    }

    /// The same with another result than what the attempt left.
    pub(super) fn judge_as(&self, work: Work, trial: &Trial, result: Base, told: Told) -> Decision {
        let attempt = Attempt {
            outcome: told.outcome,
            fingerprints: Some(told.failures.iter().map(|failure| failure.fingerprint().clone()).collect()),
            masked: told.masked,
            flaky: told.flaky,
            tree: Some(result.tree.0),
            base_tree: trial.start_tree.clone(),
            scope_violations: trial.violations.iter().cloned().collect(),
        };
        let (verdict, counts) = self.controller().judge(&attempt);
        let outside: Vec<String> = trial.violations.iter().chain(&trial.reverted).cloned().collect();
        let distance = (told.masked, told.failures.len() + outside.len());
        let is_best =
            told.outcome != Outcome::Infra && self.best().is_none_or(|best| distance <= best.distance());
        let next = match verdict.action {
            Action::Complete => Decision::end(Cause::Done),
            Action::Stop => Decision::end(verdict.cause.unwrap_or(Cause::NotConverging)),
            Action::Pause => Decision::pause(work, verdict.cause.unwrap_or(Cause::Waiting)),
            // The checks could not run: the attempt stands and they are tried again.
            Action::Continue if told.outcome == Outcome::Infra => {
                let command = self.under_way.clone();
                Decision { command, ..Decision::at(Step::Working { work }) }
            }
            Action::Continue if verdict.stage > trial.stage && self.order.judge.is_some() => {
                self.ask_judge(TaskQuestion::WorthGoingOn, &result.commit, 1)
            }
            Action::Continue => {
                // At stage 1 an attempt goes on where the last one ended; above, where the best one did.
                let best = self.best().filter(|_| verdict.stage >= 2 && !is_best);
                let base = best.map_or_else(|| result.commit.clone(), |best| best.commit.clone());
                self.attempt_after(trial, counts.iterations + 1, base, verdict.stage)
            }
        };
        Decision {
            judged: Some(Judged {
                stage: trial.stage,
                attempt,
                verdict,
                counts,
                commit: result.commit,
                failures: told.failures,
                outside,
                seen: told.seen,
                is_best,
            }),
            ..next
        }
    }

    /// An attempt in a session of its own.
    pub(super) fn attempt(&self, number: u32, base: CommitId, stage: u32) -> Decision {
        self.attempt_in(None, number, base, stage)
    }

    /// The next attempt, in the session that made the one on trial where it begins with what that one left.
    fn attempt_after(&self, trial: &Trial, number: u32, base: CommitId, stage: u32) -> Decision {
        // Above stage 1 a fresh session sees what the old one no longer does.
        let goes_on = stage == 1 && trial.commit == base;
        self.attempt_in(trial.session.clone().filter(|_| goes_on), number, base, stage)
    }

    fn attempt_in(&self, session: Option<String>, number: u32, base: CommitId, stage: u32) -> Decision {
        let origin = self.ground.base.as_ref().map_or_else(|| base.clone(), |origin| origin.commit.clone());
        let command = AttemptCommand { number, base, origin, stage, session };
        Decision::perform(Work::Attempting, Command::RunAttempt(command))
    }
}
