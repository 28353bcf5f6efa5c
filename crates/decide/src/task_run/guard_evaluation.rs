//! The guards of an attempt: nothing may fail that did not fail before, and no test may vanish.

use fixpoint_vocabulary::work::{
    BlobId, CheckCall, CheckEnd, CheckReport, CommitId, FailureId, Fingerprint, GoalProblem, Leftovers,
    ReportedFailure, TestName,
};

use super::evaluation::{Evaluation, FailingByCheck, found};
use super::next_attempt::CheckFindings;
use super::proof_tree::TreeKind;
use super::{BaselineComparison, CheckBaseline, Decision, TaskActivity, TaskRun, TestEdits};
use crate::baseline;
use crate::convergence::AttemptOutcome;
use crate::prelude::*;

impl TaskRun {
    /// Runs the guards: in the attempt's own tree where that is not the proof tree, then in the proof tree.
    pub(super) fn run_guards(&self, evaluation: &Evaluation) -> Decision {
        if self.has_proof_tree(evaluation) && evaluation.own_guards.reports.is_none() {
            return self.call_guards(evaluation, TreeKind::Own, &evaluation.commit);
        }
        match self.guard_tree(evaluation) {
            Ok(commit) => self.call_guards(evaluation, TreeKind::Proof, &commit),
            Err(restore) => Self::build_proof_tree(restore),
        }
    }

    fn call_guards(&self, evaluation: &Evaluation, tree: TreeKind, commit: &CommitId) -> Decision {
        let (goals, activity) = (
            self.goals(),
            match tree {
                TreeKind::Own => TaskActivity::Guards,
                TreeKind::Proof => TaskActivity::ProofGuards,
            },
        );
        let call =
            |guard: &u32| CheckCall { passed_before: self.passed_before(*guard), ..CheckCall::whole(*guard) };
        // A check that never ran at the base may need tests that are not there.
        let needs_own_tests = |guard: &&u32| {
            let is_other = tree == TreeKind::Proof && self.has_proof_tree(evaluation);
            is_other && !self.baseline.checks.contains_key(*guard)
        };
        let guards = self.options.guards.difference(&goals).filter(|guard| !needs_own_tests(guard));
        let calls: Vec<CheckCall> = guards.map(call).collect();
        if calls.is_empty() {
            return self.after_guards(activity, evaluation, tree);
        }
        Decision::execute(activity, self.run_checks(commit, calls, tree.leftovers()))
    }

    /// The tests of a guard that passed at the base.
    pub(super) fn passed_before(&self, guard: u32) -> Option<BlobId> {
        let check = self.baseline.checks.get(&guard).filter(|_| self.options.guards.contains(&guard));
        check.and_then(|check| check.passed_set.clone())
    }

    /// What the guards showed in a tree. One that is a goal too has run there already.
    fn guard_reports<'a>(
        &self,
        evaluation: &'a Evaluation,
        tree: TreeKind,
    ) -> impl Iterator<Item = &'a CheckReport> {
        let guards = self.options.guards.clone();
        let goal_runs = match tree {
            TreeKind::Own => &evaluation.goal_runs,
            TreeKind::Proof => &evaluation.proof_goal_runs,
        };
        let as_goals = goal_runs.first().into_iter().flatten();
        let own = evaluation.round(tree).reports.iter().flatten();
        as_goals.filter(move |report| guards.contains(&report.check)).chain(own)
    }

    /// What fails now and did not fail every time at the base, by guard.
    fn suspects(&self, evaluation: &Evaluation, tree: TreeKind) -> FailingByCheck {
        let at_base = &evaluation.round(tree).at_base;
        let of = |report: &CheckReport| {
            let always = |id: &&FailureId| {
                let known = at_base.get(&report.check).is_some_and(|failing| failing.contains(*id));
                let check = self.baseline.checks.get(&report.check);
                known || check.is_some_and(|check| check.failing.iter().all(|run| run.contains(*id)))
            };
            let suspects: BTreeSet<FailureId> = ids(report).filter(|id| !always(id)).cloned().collect();
            (!suspects.is_empty()).then_some((report.check, suspects))
        };
        self.guard_reports(evaluation, tree).filter_map(of).collect()
    }

    /// The guards ran. What they show now may have been hidden at the base, where it failed too.
    pub(super) fn after_guards(
        &self,
        activity: TaskActivity,
        evaluation: &Evaluation,
        tree: TreeKind,
    ) -> Decision {
        let is_masked = |check: &u32| self.baseline.checks.get(check).is_some_and(|check| check.masked);
        let mut unseen = self.suspects(evaluation, tree);
        unseen.retain(|check, _| is_masked(check));
        match &self.baseline.base {
            Some(base) if !unseen.is_empty() => {
                let command = self.run_checks(&base.commit, only(unseen), Leftovers::Pristine);
                Decision::execute(TaskActivity::SuspectsAtBase, command)
            }
            Some(_) | None => self.conclude_guards(activity, evaluation, tree),
        }
    }

    /// Judges what the guards showed in a tree, once what looks new or flaky has run again.
    pub(super) fn conclude_guards(
        &self,
        activity: TaskActivity,
        evaluation: &Evaluation,
        tree: TreeKind,
    ) -> Decision {
        let (suspects, round) = (self.suspects(evaluation, tree), evaluation.round(tree));
        let confirmed = round.confirmations.len();
        if !suspects.is_empty() && confirmed < self.options.baseline.confirm_runs as usize {
            let commit = match tree {
                TreeKind::Own => &evaluation.commit,
                TreeKind::Proof => evaluation.proof_trees.guards.as_ref().unwrap_or(&evaluation.commit),
            };
            let command = self.run_checks(commit, only(suspects), tree.leftovers());
            return Decision::execute(TaskActivity::Confirming, command);
        }
        let sometimes = self.newly_flaky(evaluation, tree);
        match &self.baseline.base {
            Some(base) if !sometimes.is_empty() && round.base_confirmations.len() < confirmed => {
                let command = self.run_checks(&base.commit, only(sometimes), Leftovers::Pristine);
                return Decision::execute(TaskActivity::FlakyAtBase, command);
            }
            Some(_) | None => {}
        }
        let reports = self.guard_reports(evaluation, tree);
        let compared: Vec<ComparedGuard<'_>> =
            reports.map(|report| self.compare(evaluation, tree, report)).collect();
        self.after_comparison(activity, evaluation, tree, &compared)
    }

    fn after_comparison(
        &self,
        activity: TaskActivity,
        evaluation: &Evaluation,
        tree: TreeKind,
        compared: &[ComparedGuard<'_>],
    ) -> Decision {
        let comparison = all_together(compared);
        let hidden = if tree == TreeKind::Proof { self.hidden_failures(evaluation) } else { Vec::new() };
        let mut others = self.fewer_tests(evaluation, tree);
        if tree == TreeKind::Proof {
            others.extend(self.interferences(evaluation));
        }
        let is_clean = compared.iter().all(ComparedGuard::is_clean) && hidden.is_empty() && others.is_empty();
        match tree {
            TreeKind::Own if is_clean => return self.prove_guards(evaluation),
            TreeKind::Proof if is_clean => {
                let complete = CheckFindings::without_failures(AttemptOutcome::Complete);
                return self.accept(activity, evaluation, CheckFindings { comparison, ..complete });
            }
            TreeKind::Own | TreeKind::Proof => {}
        }
        let mut failures: Vec<ReportedFailure> = compared.iter().flat_map(ComparedGuard::blocking).collect();
        if tree == TreeKind::Proof && self.has_proof_tree(evaluation) {
            // The own tree passes: what the attempt changed of the tests and definitions hides these.
            failures =
                failures.into_iter().map(|failure| self.weakened(evaluation, failure.id().clone())).collect();
            failures.extend(hidden.into_iter().map(|id| self.weakened(evaluation, id)));
        }
        failures.extend(others);
        let flaky = compared.iter().flat_map(ComparedGuard::flaky).cloned().collect();
        let masked = compared.iter().any(|guard| guard.report.masked);
        let incomplete = CheckFindings::incomplete(failures);
        self.conclude(activity, evaluation, CheckFindings { masked, flaky, comparison, ..incomplete })
    }

    /// What fails in the proof tree and not in the attempt's own, of the guards that are goals of the run: what the
    /// attempt changed of the tests and definitions must not reach them.
    fn hidden_failures(&self, evaluation: &Evaluation) -> Vec<FailureId> {
        if !self.has_proof_tree(evaluation) {
            return Vec::new();
        }
        let own: BTreeSet<(u32, &FailureId)> = self
            .guard_reports(evaluation, TreeKind::Own)
            .flat_map(|report| ids(report).map(|id| (report.check, id)))
            .collect();
        let promised = |report: &&CheckReport| self.options.promised.contains(&report.check);
        let proof = self.guard_reports(evaluation, TreeKind::Proof).filter(promised);
        let failing = proof.flat_map(|report| ids(report).map(|id| (report.check, id)));
        failing.filter(|failure| !own.contains(failure)).map(|(_, id)| id.clone()).collect()
    }

    /// The guards are clean in the attempt's own tree, and are to be run in the proof tree.
    fn prove_guards(&self, evaluation: &Evaluation) -> Decision {
        match self.guard_tree(evaluation) {
            Ok(commit) => self.call_guards(evaluation, TreeKind::Proof, &commit),
            Err(restore) => Self::build_proof_tree(restore),
        }
    }

    /// The guards that run fewer tests in the attempt's own tree than with the base's tests, where nobody knows which
    /// tests passed at the base: it could not run them all, or its output names none.
    fn fewer_tests(&self, evaluation: &Evaluation, tree: TreeKind) -> Vec<ReportedFailure> {
        let is_compared = tree == TreeKind::Proof
            && self.has_proof_tree(evaluation)
            && self.options.test_edits == TestEdits::Checked;
        if !is_compared {
            return Vec::new();
        }
        let own: Vec<&CheckReport> = self.guard_reports(evaluation, TreeKind::Own).collect();
        let runs_fewer = |proof: &&CheckReport| {
            let of_guard = own.iter().find(|report| report.check == proof.check);
            of_guard.is_some_and(|own| !own.masked && !proof.masked && tests_run(own) < tests_run(proof))
        };
        let in_proof_tree = self.guard_reports(evaluation, TreeKind::Proof);
        let is_unnamed = |report: &&CheckReport| {
            let check = self.baseline.checks.get(&report.check);
            check.is_none_or(|check| check.masked || check.passed_set.is_none())
        };
        let unnamed = in_proof_tree.filter(is_unnamed);
        let failure = |report: &CheckReport| {
            let problem = GoalProblem::FewerTests;
            found(
                FailureId::Goal { goal: report.check, problem },
                "runs fewer tests than with the base's tests",
            )
        };
        unnamed.filter(runs_fewer).map(failure).collect()
    }

    /// What fails only sometimes now and was never seen failing at the base, by guard.
    fn newly_flaky(&self, evaluation: &Evaluation, tree: TreeKind) -> FailingByCheck {
        let of = |report: &CheckReport| {
            let newly_flaky = self.compare(evaluation, tree, report).groups.newly_flaky.into_iter();
            // Only tests: a check that is cut short may hide anything, so being cut short sometimes excuses nothing.
            let tests: BTreeSet<FailureId> = newly_flaky.filter(|id| id.test().is_some()).cloned().collect();
            (!tests.is_empty()).then_some((report.check, tests))
        };
        self.guard_reports(evaluation, tree).filter_map(of).collect()
    }

    fn compare<'a>(
        &'a self,
        evaluation: &'a Evaluation,
        tree: TreeKind,
        report: &'a CheckReport,
    ) -> ComparedGuard<'a> {
        let round = evaluation.round(tree);
        let check = self.baseline.checks.get(&report.check);
        // What the base had hidden fails there too, in every run that could have shown it.
        let hidden = round.at_base.get(&report.check);
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
        let later = round.base_confirmations.iter().filter_map(|run| run.get(&report.check));
        baseline_runs.extend(later.map(|failing| failing.iter().chain(always.iter().copied()).collect()));
        let of_check = |run: &'a FailingByCheck| {
            run.get(&report.check).into_iter().flatten().collect::<BTreeSet<&FailureId>>()
        };
        let groups = baseline::decide(&baseline::Question {
            baseline_runs,
            current: ids(report).collect(),
            confirm_runs: round.confirmations.iter().map(of_check).collect(),
            // Which tests are gone is in the report.
            passing_before: BTreeSet::new(),
            present_now: None,
            newly_flaky: self.options.baseline.newly_flaky,
        });
        let vanished = match self.options.test_edits {
            TestEdits::Checked => report.gone.iter().collect(),
            // Whoever may change tests may also remove them.
            TestEdits::Allowed => Vec::new(),
        };
        let ran_before = check.is_some_and(|check| check.counted > 0);
        let passes = report.end == CheckEnd::Passed && report.failures.is_empty();
        let is_checked = self.options.test_edits == TestEdits::Checked;
        // Output that names no tests may still have counted them.
        let is_silent = ran_before && passes && is_checked && report.counted == 0;
        // What it found before may be hidden now, with whatever is new.
        let is_unlisted = check.is_some_and(CheckBaseline::lists_findings)
            && report.end != CheckEnd::Passed
            && !report.itemised
            && report.counted == 0;
        ComparedGuard { report, groups, vanished, is_silent, is_unlisted }
    }
}

/// Calls of the checks for these failures only.
fn only(failing: FailingByCheck) -> Vec<CheckCall> {
    failing.into_iter().map(|(check, only)| CheckCall { only, ..CheckCall::whole(check) }).collect()
}

fn tests_run(report: &CheckReport) -> u64 {
    let failing = report.failures.iter().filter(|failure| failure.test().is_some()).count();
    report.counted.saturating_add(failing as u64)
}

fn ids(report: &CheckReport) -> impl Iterator<Item = &FailureId> {
    report.failures.iter().map(ReportedFailure::id)
}

/// What a guard showed, compared with the baseline.
struct ComparedGuard<'a> {
    report: &'a CheckReport,
    groups: baseline::Answer<&'a FailureId>,
    vanished: Vec<&'a TestName>,
    /// Whether it passes without a test, though it ran some at the base.
    is_silent: bool,
    /// Whether it fails and no longer lists its findings, as it did at the base.
    is_unlisted: bool,
}

impl ComparedGuard<'_> {
    fn is_clean(&self) -> bool {
        self.groups.complete
            && self.vanished.is_empty()
            && !self.is_silent
            && !self.is_unlisted
            && !self.flaky_ids().any(|id| self.may_hide_others(id))
    }

    fn flaky_ids(&self) -> impl Iterator<Item = &FailureId> {
        self.groups.flaky.iter().copied()
    }

    /// Whether a failure cut the check short. That it does so only sometimes excuses nothing.
    fn may_hide_others(&self, id: &FailureId) -> bool {
        self.report.masked && id.test().is_none()
    }

    fn blocking(&self) -> impl Iterator<Item = ReportedFailure> {
        let is_blocking = |failure: &&ReportedFailure| {
            let id = failure.id();
            let is_hiding = self.groups.flaky.contains(id) && self.may_hide_others(id);
            self.groups.new.contains(id) || self.groups.newly_flaky.contains(id) || is_hiding
        };
        let gone = self
            .vanished
            .iter()
            .map(|test| found(FailureId::Vanished((*test).clone()), "passed before and is no longer run"));
        let problem = GoalProblem::NoTestsRan;
        let id = FailureId::Goal { goal: self.report.check, problem };
        let silent = self.is_silent.then(|| found(id, "ran no test, and ran some before"));
        let id = FailureId::Goal { goal: self.report.check, problem: GoalProblem::Unreadable };
        let is_alone = !self.report.failures.iter().any(|failure| is_blocking(&failure));
        let unlisted = (self.is_unlisted && is_alone)
            .then(|| found(id, "fails, and no longer lists its findings as it did before"));
        self.report.failures.iter().filter(is_blocking).cloned().chain(gone).chain(silent).chain(unlisted)
    }

    fn flaky(&self) -> impl Iterator<Item = &Fingerprint> {
        let is_flaky = |failure: &&ReportedFailure| self.groups.flaky.contains(failure.id());
        self.report.failures.iter().filter(is_flaky).map(ReportedFailure::fingerprint)
    }
}

fn all_together(guards: &[ComparedGuard<'_>]) -> BaselineComparison {
    let mut all = BaselineComparison::default();
    let owned = |ids: &BTreeSet<&FailureId>| ids.iter().map(|id| (*id).clone()).collect::<Vec<FailureId>>();
    for guard in guards {
        all.known.extend(owned(&guard.groups.known));
        all.flaky.extend(owned(&guard.groups.flaky));
        all.newly_flaky.extend(owned(&guard.groups.newly_flaky));
        all.vanished.extend(guard.vanished.iter().map(|test| (*test).clone()));
    }
    all
}
