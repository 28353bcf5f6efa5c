//! The guards of an attempt on trial: nothing may fail that did not fail before, and nothing may vanish.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use fixpoint_vocabulary::work::{
    BlobId, CheckCall, CheckReport, FailureId, Fingerprint, ReportedFailure, TestName,
};

use super::beginning::{run_checks, whole};
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
    fn suspects(&self, trial: &Trial) -> BTreeMap<u32, BTreeSet<FailureId>> {
        let of = |report: &CheckReport| {
            let always = |id: &&FailureId| {
                let known = trial.at_base.get(&report.check).is_some_and(|failing| failing.contains(*id));
                let check = self.ground.checks.get(&report.check);
                known || check.is_some_and(|check| check.failing.iter().all(|run| run.contains(*id)))
            };
            let suspects: BTreeSet<FailureId> = ids(report).filter(|id| !always(id)).cloned().collect();
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
        let compared: Vec<ComparedGuard<'_>> =
            self.guard_reports(trial).map(|report| self.compare(trial, report)).collect();
        let seen = seen(&compared);
        if compared.iter().all(ComparedGuard::is_clean) {
            return self.accept(work, trial, Told { seen, ..Told::without_failures(Outcome::Complete) });
        }
        let failures = compared.iter().flat_map(ComparedGuard::blocking).collect();
        let flaky = compared.iter().flat_map(ComparedGuard::flaky).cloned().collect();
        let masked = compared.iter().any(|guard| guard.report.masked);
        self.judge(work, trial, Told { masked, flaky, seen, ..Told::incomplete(failures) })
    }

    /// What fails only sometimes now and was never seen failing at the base, by guard.
    fn newly_flaky(&self, trial: &Trial) -> BTreeMap<u32, BTreeSet<FailureId>> {
        let of = |report: &CheckReport| {
            let newly_flaky = self.compare(trial, report).groups.newly_flaky.into_iter();
            // Only tests: a check that was cut short may hide anything, so that it is so sometimes excuses nothing.
            let tests: BTreeSet<FailureId> = newly_flaky.filter(|id| id.test().is_some()).cloned().collect();
            (!tests.is_empty()).then_some((report.check, tests))
        };
        self.guard_reports(trial).filter_map(of).collect()
    }

    fn compare<'a>(&'a self, trial: &'a Trial, report: &'a CheckReport) -> ComparedGuard<'a> {
        let check = self.ground.checks.get(&report.check);
        // What the base had hidden fails there too, in every run that could have shown it.
        let hidden = trial.at_base.get(&report.check);
        let with_hidden =
            |run: &'a BTreeSet<FailureId>| run.iter().chain(hidden.into_iter().flatten()).collect();
        let mut baseline_runs: Vec<BTreeSet<&FailureId>> =
            check.into_iter().flat_map(|check| &check.failing).map(with_hidden).collect();
        let always: BTreeSet<&FailureId> = match baseline_runs.split_first() {
            Some((first, others)) => {
                first.iter().copied().filter(|id| others.iter().all(|run| run.contains(id))).collect()
            }
            None => BTreeSet::new(),
        };
        // Only what fails sometimes was asked for there: the rest fails as it always did.
        let later = trial.base_confirmations.iter().filter_map(|run| run.get(&report.check));
        baseline_runs.extend(later.map(|failing| failing.iter().chain(always.iter().copied()).collect()));
        let of_check = |run: &'a BTreeMap<u32, BTreeSet<FailureId>>| {
            run.get(&report.check).into_iter().flatten().collect::<BTreeSet<&FailureId>>()
        };
        let groups = baseline::decide(&baseline::Question {
            baseline_runs,
            current: ids(report).collect(),
            confirm_runs: trial.confirmations.iter().map(of_check).collect(),
            // Which tests are gone is in the report.
            passing_before: BTreeSet::new(),
            present_now: None,
            newly_flaky: self.order.baseline.newly_flaky,
        });
        let vanished = match self.order.test_edits {
            TestEdits::Checked => report.gone.iter().collect(),
            // Whoever may change tests may also remove them.
            TestEdits::Allowed => Vec::new(),
        };
        ComparedGuard { report, groups, vanished }
    }
}

fn ids(report: &CheckReport) -> impl Iterator<Item = &FailureId> {
    report.failures.iter().map(ReportedFailure::id)
}

/// What a guard showed, compared with the baseline.
struct ComparedGuard<'a> {
    report: &'a CheckReport,
    groups: baseline::Answer<&'a FailureId>,
    vanished: Vec<&'a TestName>,
}

impl ComparedGuard<'_> {
    fn is_clean(&self) -> bool {
        self.groups.complete && self.vanished.is_empty()
    }

    fn blocking(&self) -> impl Iterator<Item = ReportedFailure> {
        let is_blocking = |failure: &&ReportedFailure| {
            let id = failure.id();
            self.groups.new.contains(id) || self.groups.newly_flaky.contains(id)
        };
        let gone = self
            .vanished
            .iter()
            .map(|test| found(FailureId::Vanished((*test).clone()), "passed before and is no longer run"));
        self.report.failures.iter().filter(is_blocking).cloned().chain(gone)
    }

    fn flaky(&self) -> impl Iterator<Item = &Fingerprint> {
        let is_flaky = |failure: &&ReportedFailure| self.groups.flaky.contains(failure.id());
        self.report.failures.iter().filter(is_flaky).map(ReportedFailure::fingerprint)
    }
}

/// What all guards showed together.
fn seen(guards: &[ComparedGuard<'_>]) -> Seen {
    let mut seen = Seen::default();
    let owned = |ids: &BTreeSet<&FailureId>| ids.iter().map(|id| (*id).clone()).collect::<Vec<FailureId>>();
    for guard in guards {
        seen.known.extend(owned(&guard.groups.known));
        seen.flaky.extend(owned(&guard.groups.flaky));
        seen.newly_flaky.extend(owned(&guard.groups.newly_flaky));
        seen.vanished.extend(guard.vanished.iter().map(|test| (*test).clone()));
    }
    seen
}
