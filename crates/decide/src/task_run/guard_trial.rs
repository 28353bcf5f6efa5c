//! The guards of an attempt on trial: nothing may fail that did not fail before, and nothing may vanish.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use fixpoint_vocabulary::work::{BlobId, CheckCall, CheckReport, ReportedFailure};

use super::beginning::{run_checks, whole};
use super::ground::identities;
use super::next_attempt::Told;
use super::trial::found;
use super::{Decision, Seen, TaskRun, TestEdits, Trial, Work};
use crate::baseline;
use crate::convergence::Outcome;

impl TaskRun {
    pub(super) fn run_guards(&self, trial: &Trial) -> Decision {
        let goals = self.goals();
        let call = |guard: &u32| CheckCall { passed_before: self.passed_before(*guard), ..whole(*guard) };
        let calls: Vec<CheckCall> = self.order.guards.difference(&goals).map(call).collect();
        if calls.is_empty() {
            return self.with_guards(Work::Goals, trial);
        }
        Decision::perform(Work::Guards, run_checks(&trial.commit, calls))
    }

    /// The tests of a guard that passed at the base.
    pub(super) fn passed_before(&self, guard: u32) -> Option<BlobId> {
        let check = self.ground.checks.get(&guard).filter(|_| self.order.guards.contains(&guard));
        check.and_then(|check| check.passed_set.clone())
    }

    /// What the guards showed. One that is a goal too has run already.
    fn guard_reports<'a>(&self, trial: &'a Trial) -> impl Iterator<Item = &'a CheckReport> {
        let guards = self.order.guards.clone();
        let as_goals = trial.goal_runs.first().into_iter().flatten();
        as_goals.filter(move |report| guards.contains(&report.check)).chain(&trial.guards)
    }

    /// What fails now and did not fail every time at the base, by guard.
    fn suspects(&self, trial: &Trial) -> BTreeMap<u32, BTreeSet<String>> {
        let of = |report: &CheckReport| {
            let always = |id: &String| {
                let known = trial.at_base.get(&report.check).is_some_and(|failing| failing.contains(id));
                let check = self.ground.checks.get(&report.check);
                known || check.is_some_and(|check| check.failing.iter().all(|run| run.contains(id)))
            };
            let suspects: BTreeSet<String> =
                identities(report).into_iter().filter(|id| !always(id)).collect();
            (!suspects.is_empty()).then_some((report.check, suspects))
        };
        self.guard_reports(trial).filter_map(of).collect()
    }

    pub(super) fn with_guards(&self, work: Work, trial: &Trial) -> Decision {
        let is_masked = |check: &u32| self.ground.checks.get(check).is_some_and(|check| check.masked);
        let unseen: Vec<CheckCall> = self
            .suspects(trial)
            .into_iter()
            .filter(|(check, _)| is_masked(check))
            .map(|(check, only)| CheckCall { only, ..whole(check) })
            .collect();
        match &self.ground.base {
            Some(base) if !unseen.is_empty() => {
                Decision::perform(Work::SuspectsAtBase, run_checks(&base.commit, unseen))
            }
            Some(_) | None => self.with_suspects(work, trial),
        }
    }

    pub(super) fn with_suspects(&self, work: Work, trial: &Trial) -> Decision {
        let suspects = self.suspects(trial);
        let confirmed = trial.confirmations.len();
        if !suspects.is_empty() && confirmed < self.order.baseline.confirm_runs as usize {
            let calls = suspects.into_iter().map(|(check, only)| CheckCall { only, ..whole(check) });
            return Decision::perform(Work::Confirming, run_checks(&trial.commit, calls.collect()));
        }
        let sometimes = self.newly_flaky(trial);
        match &self.ground.base {
            Some(base) if !sometimes.is_empty() && trial.base_confirmations.len() < confirmed => {
                let calls = sometimes.into_iter().map(|(check, only)| CheckCall { only, ..whole(check) });
                return Decision::perform(Work::FlakyAtBase, run_checks(&base.commit, calls.collect()));
            }
            Some(_) | None => {}
        }
        let answers: Vec<(&CheckReport, baseline::Answer)> =
            self.guard_reports(trial).map(|report| (report, self.compare(trial, report))).collect();
        let seen = seen(&answers);
        if answers.iter().all(|(_, answer)| answer.complete) {
            return self.accept(work, trial, Told { seen, ..Told::without_failures(Outcome::Complete) });
        }
        let failures = answers.iter().flat_map(|(report, answer)| blocking(report, answer)).collect();
        let flaky = answers.iter().flat_map(|(report, answer)| fingerprints(report, &answer.flaky)).collect();
        let masked = self.guard_reports(trial).any(|report| report.masked);
        self.judge(work, trial, Told { masked, flaky, seen, ..Told::incomplete(failures) })
    }

    /// What fails only sometimes now and was never seen failing at the base, by guard.
    fn newly_flaky(&self, trial: &Trial) -> BTreeMap<u32, BTreeSet<String>> {
        let of = |report: &CheckReport| {
            let mut newly_flaky = self.compare(trial, report).newly_flaky;
            // Only tests: a check that was cut short may hide anything, so that it is so sometimes excuses nothing.
            let tests = report.failures.iter().filter(|failure| failure.test().is_some());
            let tests: BTreeSet<&String> = tests.map(|failure| &failure.identity).collect();
            newly_flaky.retain(|id| tests.contains(id));
            (!newly_flaky.is_empty()).then_some((report.check, newly_flaky))
        };
        self.guard_reports(trial).filter_map(of).collect()
    }

    fn compare(&self, trial: &Trial, report: &CheckReport) -> baseline::Answer {
        let check = self.ground.checks.get(&report.check);
        let mut baseline_runs = check.map(|check| check.failing.clone()).unwrap_or_default();
        if let Some(at_base) = trial.at_base.get(&report.check) {
            // What the base had hidden fails there too, in every run that could have shown it.
            baseline_runs.iter_mut().for_each(|run| run.extend(at_base.iter().cloned()));
        }
        let always: BTreeSet<String> = match baseline_runs.split_first() {
            Some((first, others)) => {
                first.iter().filter(|id| others.iter().all(|run| run.contains(*id))).cloned().collect()
            }
            None => BTreeSet::new(),
        };
        // Only what fails sometimes was asked for there: the rest fails as it always did.
        let later = trial.base_confirmations.iter().filter_map(|run| run.get(&report.check));
        baseline_runs.extend(later.map(|failing| failing.union(&always).cloned().collect()));
        let of_check =
            |run: &BTreeMap<u32, BTreeSet<String>>| run.get(&report.check).cloned().unwrap_or_default();
        let present = identities(report);
        let passing_before = match self.order.test_edits {
            TestEdits::Checked => report.gone.clone(),
            // Whoever may change tests may also remove them.
            TestEdits::Allowed => BTreeSet::new(),
        };
        baseline::decide(&baseline::Question {
            baseline_runs,
            current: present.clone(),
            confirm_runs: trial.confirmations.iter().map(of_check).collect(),
            passing_before,
            present_now: Some(present),
            newly_flaky: self.order.baseline.newly_flaky,
        })
    }
}

fn blocking(report: &CheckReport, answer: &baseline::Answer) -> Vec<ReportedFailure> {
    let is_blocking = |failure: &&ReportedFailure| {
        answer.new.contains(&failure.identity) || answer.newly_flaky.contains(&failure.identity)
    };
    let gone =
        answer.vanished.iter().map(|test| found("vanished", test, "passed before and is no longer run"));
    report.failures.iter().filter(is_blocking).cloned().chain(gone).collect()
}

/// What all guards showed together.
fn seen(answers: &[(&CheckReport, baseline::Answer)]) -> Seen {
    let all = |of: fn(&baseline::Answer) -> &BTreeSet<String>| {
        answers.iter().flat_map(|(_, answer)| of(answer).iter().cloned()).collect()
    };
    Seen {
        known: all(|answer| &answer.known),
        flaky: all(|answer| &answer.flaky),
        newly_flaky: all(|answer| &answer.newly_flaky),
        vanished: all(|answer| &answer.vanished),
    }
}

fn fingerprints(report: &CheckReport, identities: &BTreeSet<String>) -> Vec<String> {
    let matching = report.failures.iter().filter(|failure| identities.contains(&failure.identity));
    matching.map(|failure| failure.fingerprint.clone()).collect()
}
