//! Work that nobody committed is recovered, whatever happened to the process and to the slot.

use std::fs;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use fixpoint_ports::{CommitId, RecoveredWork, Recovery, SlotPurpose, WorkspaceError, Workspaces};
use fixpoint_workspaces::{GitWorkspaces, WorkspaceOptions};

use crate::fixture::{AcquireSlot, Fixture, ask, git, shell, users_files};

fn one_slot(fixture: &Fixture) -> GitWorkspaces {
    fixture.open_with(WorkspaceOptions {
        agent_slots: 1,
        wait: Duration::ZERO,
        ..WorkspaceOptions::default()
    })
}

/// An agent works in the only slot, and nobody commits it.
fn leave_unfinished(workspaces: &GitWorkspaces, base: &CommitId, reference: &str, script: &str) {
    let slot = workspaces.recoverable_slot(base, reference).unwrap();
    shell(slot.directory(), script);
}

fn references(workspaces: &GitWorkspaces) -> Vec<String> {
    workspaces.stored_refs().unwrap().into_iter().map(|stored| stored.reference).collect()
}

fn stored_at(fixture: &Fixture, reference: &str) -> CommitId {
    CommitId(ask(&fixture.user, &["rev-parse", &format!("refs/fixpoint/{reference}")]))
}

fn changed_paths(workspaces: &GitWorkspaces, base: &CommitId, commit: &CommitId) -> Vec<String> {
    let changes = workspaces.changes(base, commit).unwrap();
    changes.into_iter().map(|change| String::from_utf8_lossy(&change.path).into_owned()).collect()
}

/// The next user of a slot finds the files of its commit.
#[track_caller]
fn assert_clean(fixture: &Fixture, workspaces: &GitWorkspaces, at: &CommitId) {
    let mut slot = workspaces.slot(SlotPurpose::Agent, at).unwrap();
    shell(slot.directory(), "test -z \"$(git status --porcelain)\"");
    let tree = ask(&fixture.user, &["rev-parse", &format!("{at}^{{tree}}")]);
    assert_eq!(slot.commit("clean", "m").unwrap().tree.0, tree);
}

#[test]
fn the_next_user_of_a_slot_stores_what_the_last_one_left() {
    let rows = [
        ("nothing else", "true"),
        ("a commit, then another branch", "git add -A; git commit -qm mine; git checkout -q --orphan o"),
        ("no repository", "rm -rf .git"),
        ("locks of dead processes", "touch .git/index.lock ../git/index.lock ../git/HEAD.lock"),
        ("a damaged index", "echo garbage > ../git/index"),
        ("our git directory deleted", "rm -rf ../git"),
        ("an unreadable file", "chmod 000 b"),
    ];
    for (row, script) in rows {
        let fixture = Fixture::new();
        shell(&fixture.user, "git config user.name n; git config user.email e");
        let workspaces = one_slot(&fixture);
        let base = fixture.base(&workspaces);
        fixture.write("README", "second\n");
        let next = fixture.commit("second");
        let before = users_files(&fixture);
        leave_unfinished(
            &workspaces,
            &base,
            "run-1/left",
            &format!("echo x > README; echo z > b; rm run; {script}"),
        );
        assert_eq!(references(&workspaces), ["base"], "{row}");
        let again = one_slot(&fixture);
        assert_clean(&fixture, &again, &next);
        let stored = stored_at(&fixture, "run-1/left");
        assert_eq!(changed_paths(&again, &base, &stored), ["README", "b", "run"], "{row}");
        assert_eq!(ask(&fixture.user, &["rev-parse", &format!("{stored}^")]), base.0, "{row}");
        // Only once: what the next user did without a reference is not stored.
        shell(&again.pool().join("agent-0/tree"), "echo more > more");
        assert_eq!(again.recover().unwrap(), Recovery::default(), "{row}");
        assert_eq!(references(&again), ["base", "clean", "run-1/left"], "{row}");
        assert_eq!(users_files(&fixture), before, "{row}");
    }
}

#[test]
fn what_is_unchanged_committed_or_abandoned_is_not_stored() {
    let fixture = Fixture::new();
    let workspaces = one_slot(&fixture);
    let base = fixture.base(&workspaces);
    leave_unfinished(
        &workspaces,
        &base,
        "unchanged",
        "mkdir target; echo x > target/ignored; git commit -q --allow-empty -m x",
    );
    let mut committed = workspaces.recoverable_slot(&base, "not-needed").unwrap();
    shell(committed.directory(), "test -f target/ignored; echo x > file");
    committed.commit("committed", "m").unwrap();
    drop(committed);
    let mut abandoned = workspaces.recoverable_slot(&base, "abandoned").unwrap();
    shell(abandoned.directory(), "echo x > file");
    abandoned.abandon();
    drop(abandoned);
    leave_unfinished(&workspaces, &base, "all-deleted", "d=$PWD; cd /; rm -rf \"$d\"");
    assert_eq!(workspaces.recover().unwrap(), Recovery::default());
    assert_eq!(references(&workspaces), ["base", "committed"]);
    let refused = workspaces.recoverable_slot(&base, "a..b").map(drop);
    assert!(matches!(refused, Err(WorkspaceError::InvalidName(_))), "{refused:?}");
}

#[test]
fn a_commit_that_fails_leaves_the_work_recoverable() {
    let fixture = Fixture::new();
    let workspaces = one_slot(&fixture);
    let base = fixture.base(&workspaces);
    let mut slot = workspaces.recoverable_slot(&base, "left").unwrap();
    shell(slot.directory(), "echo x > file");
    assert!(slot.commit("not..allowed", "m").is_err());
    drop(slot);
    let recovered = workspaces.recover().unwrap().recovered;
    assert_eq!(recovered.len(), 1);
    assert_eq!(changed_paths(&workspaces, &base, &recovered[0].commit), ["file"]);
}

#[test]
fn work_in_all_free_slots_is_recovered_and_no_reference_is_moved() {
    let fixture = Fixture::new();
    let workspaces = fixture.open();
    let base = fixture.base(&workspaces);
    let slots: Vec<_> = (0..3).map(|_| workspaces.recoverable_slot(&base, "left").unwrap()).collect();
    for (slot, content) in slots.iter().zip(["same", "same", "other"]) {
        shell(slot.directory(), &format!("echo {content} > file"));
    }
    let held = workspaces.recoverable_slot(&base, "held").unwrap();
    shell(held.directory(), "echo x > file");
    drop(slots);
    let Recovery { recovered, unrecovered } = workspaces.recover().unwrap();
    let names: Vec<_> = recovered.iter().map(|work| work.reference.as_str()).collect();
    assert_eq!(names, ["left", "left", "left-2"]);
    for RecoveredWork { reference, commit, tree } in &recovered {
        assert_eq!(&stored_at(&fixture, reference), commit);
        assert_eq!(ask(&fixture.user, &["rev-parse", &format!("{commit}^{{tree}}")]), tree.0);
    }
    assert_eq!(fixture.content(&stored_at(&fixture, "left"), "file"), "same\n");
    assert_eq!(fixture.content(&stored_at(&fixture, "left-2"), "file"), "other\n");
    assert_eq!(unrecovered, []);
    assert_eq!(workspaces.recover().unwrap(), Recovery::default());
    drop(held);
    assert_eq!(workspaces.recover().unwrap().recovered.len(), 1);
}

#[test]
fn files_in_a_submodule_are_recovered_although_the_agent_deleted_gitmodules() {
    let inner = Fixture::new();
    let outer = Fixture::new();
    git(&outer.user, &["submodule", "--quiet", "add", inner.user.to_str().unwrap(), "sub"]);
    outer.commit("with a submodule");
    let workspaces = one_slot(&outer);
    let base = outer.base(&workspaces);
    leave_unfinished(&workspaces, &base, "left", "rm .gitmodules; echo x > sub/hidden");
    let recovered = workspaces.recover().unwrap().recovered;
    let expected = [".gitmodules", "sub", "sub/hidden"];
    assert_eq!(changed_paths(&workspaces, &base, &recovered[0].commit), expected);
}

#[test]
fn a_slot_that_cannot_be_read_is_set_aside_and_does_not_block_others() {
    let fixture = Fixture::new();
    let workspaces = one_slot(&fixture);
    let base = fixture.base(&workspaces);
    let missing = "12".repeat(20);
    let unknown_commit = format!("printf 'unfinished 1\\n{missing}\\nleft\\n' > ../unfinished");
    let rows = [
        (0, unknown_commit.as_str(), Some("left"), format!("`{missing}` is not a commit of this repository")),
        (1, "echo garbage > ../unfinished", None, "unfinished: cannot be parsed".to_string()),
    ];
    for (number, damage, reference, reason) in rows {
        leave_unfinished(&workspaces, &base, "left", &format!("echo precious > file; {damage}"));
        assert_clean(&fixture, &workspaces, &base);
        let directory = workspaces.pool().join(format!("lost-{number}"));
        assert_eq!(fs::read_to_string(directory.join("tree/file")).unwrap(), "precious\n");
        let unrecovered = workspaces.recover().unwrap().unrecovered;
        let last = unrecovered.last().unwrap();
        assert_eq!((&last.directory, last.reference.as_deref()), (&directory, reference), "{damage}");
        assert!(last.reason.ends_with(&reason), "{damage}: {}", last.reason);
    }
    assert_eq!(references(&workspaces), ["base", "clean"]);
    assert_eq!(workspaces.prune_slots(Duration::from_secs(3600)).unwrap(), Vec::<String>::new());
    assert_eq!(workspaces.recover().unwrap().unrecovered.len(), 2);
    assert_eq!(workspaces.prune_slots(Duration::ZERO).unwrap(), ["agent-0", "lost-0", "lost-1"]);
    assert_eq!(workspaces.recover().unwrap(), Recovery::default());
}

#[test]
fn a_slot_is_not_deleted_before_its_work_is_stored() {
    let fixture = Fixture::new();
    let workspaces = one_slot(&fixture);
    let base = fixture.base(&workspaces);
    leave_unfinished(&workspaces, &base, "left", "echo x > file");
    assert_eq!(workspaces.prune_slots(Duration::ZERO).unwrap(), ["agent-0"]);
    assert_eq!(changed_paths(&workspaces, &base, &stored_at(&fixture, "left")), ["file"]);
    leave_unfinished(&workspaces, &base, "left", "echo x > file; echo garbage > ../unfinished");
    assert_eq!(workspaces.prune_slots(Duration::ZERO).unwrap(), ["agent-0"]);
    assert_eq!(workspaces.recover().unwrap().unrecovered.len(), 1);
}

const DIRECTORY: &str = "FIXPOINT_TEST_DIRECTORY";

/// The process that is killed: this same program, started for this one function.
#[test]
#[ignore = "started as a process of its own by another test"]
fn a_process_that_works_until_it_is_killed() {
    let root = PathBuf::from(std::env::var_os(DIRECTORY).expect("set by the test that starts this"));
    let options = WorkspaceOptions::default();
    let workspaces = GitWorkspaces::open(&root.join("user"), &root.join("slots"), options).unwrap();
    let base = workspaces.resolve("HEAD", "base").unwrap().commit;
    let slot = workspaces.recoverable_slot(&base, "run/left").unwrap();
    shell(slot.directory(), "git config user.name n; git config user.email e; echo x > README; echo n > new");
    shell(slot.directory(), "git add -A; git commit -qm mine; rm -rf .git; echo late > late");
    fs::write(root.join("ready"), "").unwrap();
    // It ends when it is killed, or when the process that started it is gone.
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

fn start_process(fixture: &Fixture) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "recovery::a_process_that_works_until_it_is_killed", "--ignored"]);
    command.env(DIRECTORY, fixture.root.path()).stdin(Stdio::piped()).stdout(Stdio::null());
    let mut child = command.spawn().unwrap();
    while !fixture.root.path().join("ready").exists() {
        assert!(child.try_wait().unwrap().is_none());
        std::thread::yield_now();
    }
    child
}

#[test]
fn the_work_of_a_killed_process_is_recovered_once() {
    let fixture = Fixture::new();
    let mut child = start_process(&fixture);
    let workspaces = fixture.open();
    let base = fixture.base(&workspaces);
    assert_eq!(workspaces.recover().unwrap(), Recovery::default());
    child.kill().unwrap();
    child.wait().unwrap();
    let recovered: Vec<RecoveredWork> = std::thread::scope(|scope| {
        let recover = || fixture.open().recover().unwrap().recovered;
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(recover)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(recovered.len(), 1, "{recovered:?}");
    assert_eq!(recovered[0].reference, "run/left");
    assert_eq!(changed_paths(&workspaces, &base, &recovered[0].commit), ["README", "late", "new"]);
    assert_clean(&fixture, &workspaces, &base);
}
