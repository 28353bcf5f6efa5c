//! Results delivered as a branch.

use fixpoint_ports::{BranchUpdate, CommitId, WorkspaceError, Workspaces};

use crate::fixture::{Fixture, ask, git, shell, users_files};

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
