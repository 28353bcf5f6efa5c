//! Results delivered as a branch.

use fixpoint_ports::{BranchUpdate, CommitId, WorkspaceError, Workspaces};

use crate::fixture::{Fixture, ask, git, shell, users_files};

#[test]
fn a_branch_is_created_once() {
    let fixture = Fixture::new();
    let workspaces = fixture.open();
    let base = fixture.base(&workspaces);
    let deliver = |branch: &str, commit| workspaces.deliver_branch(branch, commit, None);
    assert_eq!(deliver("fixpoint/run-1", &base).unwrap(), BranchUpdate::Updated);
    assert_eq!(ask(&fixture.user, &["rev-parse", "fixpoint/run-1"]), base.0);
    fixture.write("x", "x");
    let next = fixture.commit("next");
    assert_eq!(deliver("fixpoint/run-1", &base).unwrap(), BranchUpdate::Updated, "again");
    assert_eq!(deliver("fixpoint/run-1", &next).unwrap(), BranchUpdate::Updated, "forward");
    assert_eq!(ask(&fixture.user, &["rev-parse", "fixpoint/run-1"]), next.0);
    assert_eq!(deliver("fixpoint/run-1", &base).unwrap(), BranchUpdate::Diverged, "never back");
    let reworded = workspaces.reword(&next, "Another message\n", "run/delivered").unwrap();
    assert_eq!(deliver("fixpoint/run-1", &reworded).unwrap(), BranchUpdate::Diverged, "not what it replaces");
    let replace = |old| workspaces.deliver_branch("fixpoint/run-1", &reworded, Some(old)).unwrap();
    assert_eq!(replace(&base), BranchUpdate::Diverged, "somebody moved it");
    assert_eq!((replace(&next), replace(&next)), (BranchUpdate::Updated, BranchUpdate::Updated));
    assert!(deliver("fixpoint/../main", &next).is_err());
    assert!(deliver("x", &CommitId("12".repeat(20))).is_err());
}

/// Catches a message that is not the only difference, or a commit that is another one when it is made again.
#[test]
fn a_commit_gets_another_message_and_stays_as_it_is() {
    let fixture = Fixture::new();
    let workspaces = fixture.open();
    fixture.write("x", "x");
    let commit = fixture.commit("first line\n\nand more");
    let message = "Goal\n\nProof: it passes.\n";
    let reworded = workspaces.reword(&commit, message, "run/delivered").unwrap();
    assert_eq!(workspaces.reword(&commit, message, "run/delivered").unwrap(), reworded);
    let shown = |commit: &CommitId, format: &str| ask(&fixture.user, &["show", "-s", format, &commit.0]);
    assert_eq!(shown(&reworded, "--format=%B"), message.trim_end());
    let others = "--format=%T %P %an %ae %ad %cn %ce %cd";
    assert_eq!(shown(&reworded, others), shown(&commit, others));
    assert_eq!(ask(&fixture.user, &["rev-parse", "refs/fixpoint/run/delivered"]), reworded.0);
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
