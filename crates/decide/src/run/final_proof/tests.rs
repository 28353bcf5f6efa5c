//! Runs in which one task changes the tests that another one should have passed.

use fixpoint_vocabulary::documents::Subtask;
use fixpoint_vocabulary::settings::OnStop;
use fixpoint_vocabulary::work::{
    AgentEnd, AttemptResult, CheckReport, Command, CommandEnd, CommandResult, ProtectedChange, ProtectedEdit,
    ProtectedRole, RestoredPath,
};

use super::super::run_fixture::{DONE, RunFixture, base, report, subtask};
use super::super::{Owner, PlanOptions, RunStatus, TaskKind};
use crate::prelude::*;
use crate::task_run::TestEdits;

/// The word in the name of a tree that has a weakened test.
const WEAK: &str = "weak";
/// The word in the name of a tree whose code is broken.
const BROKEN: &str = "broken";

fn has(tree: &str, word: &str) -> bool {
    tree.split(' ').any(|part| part == word)
}

fn without(tree: &str, word: &str) -> String {
    tree.split(' ').filter(|part| *part != word).collect::<Vec<_>>().join(" ")
}

fn weak_test(role: ProtectedRole) -> ProtectedChange {
    let (path, edit) = (RestoredPath::File("tests/t".into()), ProtectedEdit::Edited);
    ProtectedChange { path, role, edit, what: String::new(), is_permitted: false }
}

fn restored(tree: &str) -> CommandResult {
    let made = base(&without(tree, WEAK));
    CommandResult::Restored { commit: made.commit, tree: made.tree }
}

/// The first task weakens a test that its own code passes; the second one breaks that code.
struct Collusion {
    plan: Vec<Subtask>,
    role: ProtectedRole,
    goals: BTreeSet<u32>,
    test_edits: TestEdits,
    /// Whether the second task breaks the code.
    breaks: bool,
    /// Whether an agent that is told mends it.
    mends: bool,
    /// Whether the check that the plan gives the second task needs the test that the first one changed.
    needs_change: bool,
}

impl Collusion {
    fn new(plan: Vec<Subtask>) -> Self {
        let (role, goals, test_edits) = (ProtectedRole::Test, BTreeSet::new(), TestEdits::Checked);
        Self { plan, role, goals, test_edits, breaks: true, mends: false, needs_change: false }
    }

    /// Whether a check passes in a tree: the given ones see broken code unless the test is weakened.
    fn report(&self, check: u32, command: &str, tree: &str) -> CheckReport {
        let is_hidden = has(tree, WEAK) || !has(tree, BROKEN);
        report(
            check,
            match command {
                "guard" => is_hidden,
                "check everything" => has(tree, "a") && is_hidden,
                "check b" if self.needs_change => has(tree, "b") && has(tree, WEAK),
                planned => has(tree, planned.trim_start_matches("check ")),
            },
        )
    }

    fn play(&self) -> (RunFixture, RunStatus) {
        let mut world = RunFixture::new(self.plan.clone(), |settings, options: &mut PlanOptions| {
            settings.convergence.on_stop = OnStop::Block;
            options.goals.clone_from(&self.goals);
            options.test_edits = self.test_edits;
        });
        let commands = ["guard", "check everything", "check a", "check b"];
        let status = world.go(&mut |owner, command| {
            Some(CommandEnd::Completed(match (owner, command) {
                (Owner::Task(task), Command::RunAttempt(attempt)) => {
                    let before = &attempt.base.0;
                    let tree = match task.as_str() {
                        "a" => format!("{before} a {WEAK}"),
                        "b" if self.breaks => format!("{before} b {BROKEN}"),
                        "b" => format!("{before} b"),
                        _ if self.mends => format!("{} mended", without(before, BROKEN)),
                        _ => format!("{before} again"),
                    };
                    let after = base(&tree);
                    let is_new = has(&tree, WEAK) && !has(&attempt.origin.0, WEAK);
                    let protected = is_new.then(|| weak_test(self.role)).into_iter().collect();
                    CommandResult::Attempt(AttemptResult {
                        protected,
                        ..AttemptResult::new(AgentEnd::Exited, after.commit, after.tree)
                    })
                }
                (_, Command::RestorePaths(restore)) => restored(&restore.onto.0),
                (_, Command::FindProtected(range)) => {
                    let changes = has(&range.to.0, WEAK).then(|| weak_test(self.role));
                    CommandResult::Protected { changes: changes.into_iter().collect() }
                }
                (_, Command::RunChecks(run)) => {
                    let reports = run
                        .calls
                        .iter()
                        .map(|call| self.report(call.check, commands[call.check as usize], &run.commit.0));
                    CommandResult::Checks { reports: reports.collect() }
                }
                (_, _) => return None,
            }))
        });
        (world, status)
    }
}

fn in_order() -> Vec<Subtask> {
    vec![subtask("a", &[]), subtask("b", &["a"])]
}

fn in_parallel() -> Vec<Subtask> {
    vec![subtask("a", &[]), subtask("b", &[])]
}

fn runs() -> Vec<(&'static str, Collusion)> {
    let goals = BTreeSet::from([1]);
    vec![
        ("a guard", Collusion::new(in_order())),
        ("a goal of the run", Collusion { goals, ..Collusion::new(in_order()) }),
        ("a check definition", Collusion { role: ProtectedRole::Definition, ..Collusion::new(in_order()) }),
    ]
}

/// Catches a run that is done because one task weakened the test that another one breaks.
#[test]
fn a_test_that_one_task_weakens_hides_nothing_of_another() {
    for (row, run) in runs() {
        let (world, status) = run.play();
        assert_ne!(status, DONE, "{row}");
        let last = world.run.tasks().find(|node| node.kind == TaskKind::FinalProof);
        let failures = last.and_then(|node| node.run.as_ref()).map(|run| run.lasting_failures());
        let failures = format!("{failures:?}");
        assert!(failures.contains("Weakened") && failures.contains("tests/t"), "{row}: {failures}");
    }
}

/// Catches a run that stays unfinished though what was broken is mended.
#[test]
fn what_one_task_hid_and_another_broke_is_repaired() {
    for (row, run) in runs() {
        let (world, status) = Collusion { mends: true, ..run }.play();
        assert_eq!(status, DONE, "{row}");
        let result = &world.run.result().unwrap().commit.0;
        assert!(!has(result, BROKEN), "{row}: {result}");
        assert_eq!(world.run.unproven_goals(), BTreeSet::new(), "{row}");
    }
}

/// Catches honest changes of tests that cost a run its success, or an agent.
#[test]
fn changed_tests_that_hide_nothing_need_no_agent() {
    let others = [
        ("in parallel", Collusion::new(in_parallel())),
        ("tests first", Collusion { needs_change: true, ..Collusion::new(in_order()) }),
    ];
    for (row, run) in runs().into_iter().chain(others) {
        let (world, status) = Collusion { breaks: false, ..run }.play();
        assert_eq!(status, DONE, "{row}");
        let last = world.run.tasks().find(|node| node.kind == TaskKind::FinalProof).unwrap();
        assert_eq!(last.last_attempt, None, "{row}");
        assert_eq!(world.run.unproven_goals(), BTreeSet::new(), "{row}");
    }
}

/// Catches a change that somebody permitted and that counts all the same.
#[test]
fn permitted_changes_of_tests_are_not_undone() {
    let run = Collusion { test_edits: TestEdits::Allowed, ..Collusion::new(in_order()) };
    let (world, status) = run.play();
    assert_eq!(status, DONE);
    assert!(world.run.tasks().all(|node| node.kind != TaskKind::FinalProof));
}
