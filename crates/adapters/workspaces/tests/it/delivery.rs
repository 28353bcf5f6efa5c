//! Results delivered as a branch or into the working files.

use std::fs;

use fixpoint_ports::{BranchUpdate, CommitId, SlotPurpose, WorkspaceError, Workspaces};
use fixpoint_workspaces::ApplyOutcome;

use crate::fixture::{AcquireSlot, Fixture, ask, git, shell, users_files};

#[test]
fn a_branch_is_created_once() {
    let fixture = Fixture::new();
    let workspaces = fixture.open();
    let base = fixture.base(&workspaces);
    let deliver = |branch: &str, commit| workspaces.deliver_branch(branch, commit);
    assert_eq!(deliver("fixpoint/run-1", &base).unwrap(), BranchUpdate::Updated);
    assert_eq!(ask(&fixture.user, &["rev-parse", "fixpoint/run-1"]), base.0);
    fixture.write("x", "x");
    let next = fixture.commit("next");
    assert_eq!(deliver("fixpoint/run-1", &base).unwrap(), BranchUpdate::Updated, "again");
    assert_eq!(deliver("fixpoint/run-1", &next).unwrap(), BranchUpdate::Updated, "forward");
    assert_eq!(ask(&fixture.user, &["rev-parse", "fixpoint/run-1"]), next.0);
    assert_eq!(deliver("fixpoint/run-1", &base).unwrap(), BranchUpdate::Diverged, "never back");
    assert!(deliver("fixpoint/../main", &next).is_err());
    assert!(deliver("x", &CommitId("12".repeat(20))).is_err());
}

#[test]
fn only_an_older_branch_that_nobody_has_checked_out_is_fast_forwarded() {
    let fixture = Fixture::new();
    git(&fixture.user, &["branch", "older"]);
    shell(&fixture.user, "git config user.name n; git config user.email e; git checkout -q -b diverged");
    fixture.commit("on the other branch");
    git(&fixture.user, &["checkout", "-q", "main"]);
    let result = fixture.commit("result");
    git(&fixture.user, &["branch", "equal"]);
    git(&fixture.user, &["checkout", "-q", "-b", "current", "older"]);
    let workspaces = fixture.open();
    let rows = [
        ("older", BranchUpdate::Updated),
        ("equal", BranchUpdate::Updated),
        ("diverged", BranchUpdate::Diverged),
        ("current", BranchUpdate::CheckedOut),
        ("missing", BranchUpdate::Missing),
    ];
    for (branch, expected) in rows {
        let before = users_files(&fixture);
        assert_eq!(workspaces.fast_forward(branch, &result).unwrap(), expected, "{branch}");
        match branch {
            "older" => assert_eq!(ask(&fixture.user, &["rev-parse", "older"]), result.0),
            _ => assert_eq!(users_files(&fixture), before, "{branch}"),
        }
    }
    let invalid = workspaces.fast_forward("a..b", &result);
    assert!(matches!(invalid, Err(WorkspaceError::InvalidName(_))), "{invalid:?}");
}

/// A result that edits the beginning of a file, adds two and deletes one.
fn base_and_result(fixture: &Fixture) -> (CommitId, CommitId) {
    let workspaces = fixture.open();
    let base = fixture.base(&workspaces);
    let mut slot = workspaces.slot(SlotPurpose::Agent, &base).unwrap();
    shell(slot.directory(), "sed -i s/one/ONE/ src/deep/data; echo n > added; rm run; echo l > forced");
    let commit = slot.commit("result", "m").unwrap().commit;
    (base, commit)
}

#[test]
fn a_result_is_merged_into_the_working_files_but_not_into_the_index() {
    let fixture = Fixture::new();
    let (base, result) = base_and_result(&fixture);
    fixture.write("src/deep/data", "one\ntwo\nthree\nfour\n");
    fixture.write("mine", "untracked\n");
    fixture.write("staged", "x\n");
    git(&fixture.user, &["add", "staged"]);
    fixture.write("src/deep/data", "one\ntwo\nthree\nfour\nfive\n");
    let index = fs::read(fixture.user.join(".git/index")).unwrap();
    let workspaces = fixture.open();
    let ApplyOutcome::Written(paths) = workspaces.apply(&base, &result).unwrap() else { panic!() };
    assert_eq!(paths.len(), 4);
    let now = fs::read_to_string(fixture.user.join("src/deep/data")).unwrap();
    assert_eq!(now, "ONE\ntwo\nthree\nfour\nfive\n");
    assert!(fixture.user.join("added").exists() && !fixture.user.join("run").exists());
    assert!(fixture.user.join("mine").exists());
    assert_eq!(fs::read(fixture.user.join(".git/index")).unwrap(), index);
    assert_eq!(workspaces.apply(&base, &result).unwrap(), ApplyOutcome::Written(vec![]));
}

#[test]
fn conflicting_changes_of_the_user_are_not_overwritten() {
    let rows = [
        ("both edited", "echo mine > src/deep/data", "src/deep/data"),
        ("both added", "echo mine > added", "added"),
        ("edited and deleted", "echo mine > run", "run"),
        ("ignored and added", "echo forced >> .gitignore; echo mine > forced", "forced"),
        (
            "assumed unchanged",
            "git update-index --assume-unchanged src/deep/data; echo four >> src/deep/data",
            "src/deep/data",
        ),
        (
            "skipped",
            "git update-index --skip-worktree src/deep/data; echo 4 >> src/deep/data",
            "src/deep/data",
        ),
    ];
    for (row, script, path) in rows {
        let fixture = Fixture::new();
        let (base, result) = base_and_result(&fixture);
        shell(&fixture.user, script);
        let before = users_files(&fixture);
        let outcome = fixture.open().apply(&base, &result).unwrap();
        assert_eq!(outcome, ApplyOutcome::Conflict(vec![path.as_bytes().to_vec()]), "{row}");
        assert_eq!(users_files(&fixture), before, "{row}");
    }
}
