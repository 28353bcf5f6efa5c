//! In which trees, and beside which leftovers, checks run before an attempt is accepted.

use alloc::string::ToString;
use alloc::vec;

use super::super::fake_project::{TaskSimulator, TreeState, failing};
use super::*;

/// Runs a task to its end and lists where checks ran after the baseline.
fn runs(goal_runs: u32, edits: bool) -> Vec<(String, Leftovers)> {
    let edited_tests = if edits { vec!["tests.rs".into()] } else { vec![] };
    let fixed = TreeState { edited_tests, ..failing("", "") };
    let mut task = TaskSimulator::new(TaskOptions { goal_runs, ..options() }, failing("a", ""), vec![fixed]);
    task.send(&Event::Started);
    assert_eq!(task.go(), TaskStatus::Ended { cause: Cause::Done });
    let runs = task.project.runs.iter().filter(|(commit, _)| commit.0 != "base");
    runs.map(|(commit, leftovers)| (commit.0.clone(), *leftovers)).collect()
}

#[test]
fn the_last_run_of_every_check_is_pristine_and_suites_do_not_grow() {
    use Leftovers::{Kept, Pristine};
    let own = |leftovers| ("c1".to_string(), leftovers);
    let proof = |leftovers| ("c2".to_string(), leftovers);
    for (row, goal_runs, edits, expected) in [
        ("nothing is protected", 2, false, vec![own(Kept), own(Pristine), own(Pristine)]),
        ("one goal run", 1, false, vec![own(Pristine), own(Pristine)]),
        ("three goal runs", 3, false, vec![own(Kept), own(Pristine), own(Pristine), own(Pristine)]),
        // Goal and guard in the attempt's own tree, and both with the tests of the base.
        ("a test was edited", 2, true, vec![own(Kept), proof(Pristine), own(Kept), proof(Pristine)]),
    ] {
        assert_eq!(runs(goal_runs, edits), expected, "{row}");
    }
}

#[test]
fn the_baseline_is_taken_where_no_agent_was() {
    let mut task = TaskSimulator::new(options(), failing("a", ""), vec![failing("", "")]);
    task.send(&Event::Started);
    task.go();
    let at_base = task.project.runs.iter().filter(|(commit, _)| commit.0 == "base");
    assert!(at_base.clone().count() > 0 && at_base.into_iter().all(|(_, kind)| *kind == Leftovers::Baseline));
}

#[test]
fn a_weakened_check_names_the_files_that_were_changed() {
    let weakened = TreeState {
        edited_tests: vec!["tests/a.py".into(), "tests/b.py".into()],
        goal_with_base_tests: names("a"),
        ..failing("", "")
    };
    let mut task = TaskSimulator::new(options(), failing("a", ""), vec![weakened]);
    task.send(&Event::Started);
    task.go();
    let (failure, _) = task.run.lasting_failures().remove(0);
    assert_eq!(failure.id().to_string(), "weakened:a");
    let expected = "passes only with the changes in tests/a.py (edited), tests/b.py (edited)";
    assert_eq!((failure.message.as_str(), failure.place.as_deref()), (expected, Some("tests/a.py")));
}

/// Catches product code that changes a check and is put back for the proof: what it broke would be put back with it.
#[test]
fn product_code_that_changes_a_check_is_never_accepted() {
    let fixed = TreeState { edited_tests: vec!["src/exit.go".into()], ..failing("", "") };
    let mut task = TaskSimulator::new(options(), failing("a", ""), vec![fixed]);
    task.send(&Event::Started);
    task.go();
    let (failure, _) = task.run.lasting_failures().remove(0);
    assert_eq!(failure.id().to_string(), "weakened:src/exit.go");
    assert_eq!(failure.place.as_deref(), Some("src/exit.go"));
}

#[test]
fn what_is_permitted_is_not_put_back() {
    let change = |role, is_permitted| ProtectedChange {
        path: RestoredPath::File("f".into()),
        role,
        edit: ProtectedEdit::Edited,
        what: String::new(),
        is_permitted,
    };
    for (row, test_edits, change, expected) in [
        ("a test", TestEdits::Checked, change(ProtectedRole::Test, false), 1),
        ("a definition", TestEdits::Checked, change(ProtectedRole::Definition, false), 1),
        ("a permitted definition", TestEdits::Checked, change(ProtectedRole::Definition, true), 0),
        ("a test where tests may change", TestEdits::Allowed, change(ProtectedRole::Test, false), 0),
        (
            "a definition where tests may change",
            TestEdits::Allowed,
            change(ProtectedRole::Definition, false),
            1,
        ),
    ] {
        let task = TaskRun::new(TaskOptions { test_edits, ..options() });
        let base = Base { commit: CommitId("c".into()), tree: TreeId("t".into()) };
        let evaluation = Evaluation { protected: vec![change], ..Evaluation::of_existing(&base) };
        assert_eq!(task.unpermitted(&evaluation).count(), expected, "{row}");
    }
}
