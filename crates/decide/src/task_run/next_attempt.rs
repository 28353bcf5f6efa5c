//! From an evaluated attempt to the next one, or to the end.

use fixpoint_vocabulary::Cause;
use fixpoint_vocabulary::ask::TaskQuestion;
use fixpoint_vocabulary::work::{AttemptCommand, Base, Command, CommitId, Fingerprint, ReportedFailure};

use super::evaluation::Evaluation;
use super::{BaselineComparison, Decision, JudgedAttempt, TaskActivity, TaskRun, TaskStatus};
use crate::convergence::{Action, Attempt, AttemptOutcome};
use crate::prelude::*;

/// What the checks, or the judge, found in an attempt.
pub(super) struct CheckFindings {
    pub(super) outcome: AttemptOutcome,
    pub(super) failures: Vec<ReportedFailure>,
    pub(super) masked: bool,
    pub(super) flaky: BTreeSet<Fingerprint>,
    pub(super) comparison: BaselineComparison,
}

impl CheckFindings {
    pub(super) fn incomplete(failures: Vec<ReportedFailure>) -> Self {
        Self {
            outcome: AttemptOutcome::Incomplete,
            failures,
            masked: false,
            flaky: BTreeSet::new(),
            comparison: BaselineComparison::default(),
        }
    }

    pub(super) fn without_failures(outcome: AttemptOutcome) -> Self {
        Self { outcome, ..Self::incomplete(Vec::new()) }
    }
}

impl TaskRun {
    /// Ends the evaluation of an attempt: the convergence controller says what happens next.
    pub(super) fn conclude(
        &self,
        activity: TaskActivity,
        evaluation: &Evaluation,
        findings: CheckFindings,
    ) -> Decision {
        let result = Base { commit: evaluation.commit.clone(), tree: evaluation.tree.clone() };
        self.conclude_with(activity, evaluation, result, findings)
    }

    /// The same with another result than what the attempt left.
    pub(super) fn conclude_with(
        &self,
        activity: TaskActivity,
        evaluation: &Evaluation,
        result: Base,
        findings: CheckFindings,
    ) -> Decision {
        let attempt = Attempt {
            outcome: findings.outcome,
            fingerprints: Some(findings.failures.iter().map(ReportedFailure::fingerprint).cloned().collect()),
            masked: findings.masked,
            rerun: false,
            flaky: findings.flaky,
            tree: Some(result.tree.0),
            base_tree: evaluation.start_tree.clone(),
            scope_violations: evaluation.violations.iter().cloned().collect(),
        };
        let (verdict, counts) = self.controller().judge(&attempt);
        let outside: Vec<String> =
            evaluation.violations.iter().chain(&evaluation.reverted).cloned().collect();
        let distance = (findings.masked, findings.failures.len() + outside.len());
        let is_checked = !matches!(findings.outcome, AttemptOutcome::Infra | AttemptOutcome::Environment);
        let is_best = is_checked && self.best().is_none_or(|best| distance <= best.distance());
        let next = match verdict.action {
            Action::Complete => Decision::end(Cause::Done),
            Action::Stop => Decision::end(verdict.cause.unwrap_or(Cause::NotConverging)),
            Action::Pause => Decision::pause(activity, verdict.cause.unwrap_or(Cause::Waiting)),
            // The checks could not run: the attempt stands and they are tried again.
            Action::Continue if findings.outcome == AttemptOutcome::Infra => {
                let command = self.last_command.clone();
                Decision { command, ..Decision::at(TaskStatus::Working { activity }) }
            }
            Action::Continue if verdict.stage > evaluation.stage && self.options.judge.is_some() => {
                self.ask_judge(TaskQuestion::WorthGoingOn, &result.commit, 1)
            }
            Action::Continue => {
                // At stage 1 an attempt goes on where the last one ended; above, where the best one did.
                let best = self.best().filter(|_| verdict.stage >= 2 && !is_best);
                let base = best.map_or_else(|| result.commit.clone(), |best| best.commit.clone());
                self.attempt_after(evaluation, counts.iterations + 1, base, verdict.stage)
            }
        };
        Decision {
            judged: Some(JudgedAttempt {
                stage: evaluation.stage,
                attempt,
                verdict,
                counts,
                commit: result.commit,
                failures: findings.failures,
                outside,
                comparison: findings.comparison,
                is_best,
            }),
            ..next
        }
    }

    /// An attempt in a new session of the agent.
    pub(super) fn attempt(&self, number: u32, base: CommitId, stage: u32) -> Decision {
        self.attempt_in(None, number, base, stage)
    }

    /// The next attempt. It continues the session of the last one where it begins with what that one left.
    fn attempt_after(&self, evaluation: &Evaluation, number: u32, base: CommitId, stage: u32) -> Decision {
        // Above stage 1 a new session sees what the old one no longer does.
        let continues = stage == 1 && evaluation.commit == base;
        self.attempt_in(evaluation.session.clone().filter(|_| continues), number, base, stage)
    }

    fn attempt_in(&self, session: Option<String>, number: u32, base: CommitId, stage: u32) -> Decision {
        let origin = self.baseline.base.as_ref().map_or_else(|| base.clone(), |origin| origin.commit.clone());
        let command = AttemptCommand { number, base, origin, stage, session };
        Decision::execute(TaskActivity::Attempting, Command::RunAttempt(command))
    }
}
