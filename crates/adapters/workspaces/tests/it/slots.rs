//! Slots are reused with their caches, and rebuilt if they are damaged.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use fixpoint_ports::{Cancel, CommitId, SlotLeftovers, SlotPurpose, SlotRequest, WorkspaceError, Workspaces};
use fixpoint_workspaces::{GitWorkspaces, WorkspaceOptions};

use crate::fixture::{AcquireSlot, Fixture, ask, shell};

/// Acquires a slot, checks that its files are exactly those of the commit, and runs a script in it.
fn run_in_slot(fixture: &Fixture, workspaces: &GitWorkspaces, at: &CommitId, script: &str) -> PathBuf {
    let mut slot = workspaces.slot(SlotPurpose::Agent, at).unwrap();
    let tree = ask(&fixture.user, &["rev-parse", &format!("{at}^{{tree}}")]);
    assert_eq!(slot.commit("unchanged", "m").unwrap().tree.0, tree, "before {script}");
    shell(
        slot.directory(),
        "test -z \"$(git status --porcelain)\"; git rev-parse --verify -q HEAD > /dev/null",
    );
    assert_eq!(ask(slot.directory(), &["rev-parse", "HEAD"]), at.0);
    shell(slot.directory(), script);
    slot.directory().to_path_buf()
}

#[test]
fn a_reused_slot_has_its_caches_and_nothing_else() {
    let fixture = Fixture::new();
    let workspaces = fixture.open();
    let first = fixture.base(&workspaces);
    fixture.write("README", "second\n");
    fixture.write("new/file", "x\n");
    let second = fixture.commit("second");
    let changes = "mkdir -p target; echo cache > target/cache; echo x > stray; mkdir -p dir; echo x > dir/stray; \
        git config filter.a.clean false; git branch mine; echo x > README; rm run; git init -q repo; \
        echo x > repo/f; mkdir -p readonly/dir; echo x > readonly/dir/f; chmod 500 readonly/dir readonly";
    let directory = run_in_slot(&fixture, &workspaces, &first, changes);
    let tests = "test -f target/cache; test ! -e stray; test ! -e dir; test ! -e repo; test ! -e readonly; \
        test -z \"$(git branch --list mine)\"; test -z \"$(git config filter.a.clean)\"; test \"$(cat README)\" = second";
    assert_eq!(run_in_slot(&fixture, &workspaces, &second, tests), directory);
    assert_eq!(run_in_slot(&fixture, &workspaces, &first, "test ! -e new; test -f target/cache"), directory);
}

#[test]
fn files_that_one_commit_ignores_and_another_tracks() {
    let fixture = Fixture::new();
    let workspaces = fixture.open();
    let ignoring = fixture.base(&workspaces);
    fixture.write(".gitignore", "other/\n");
    fixture.write("a.log", "tracked\n");
    fixture.write("target/file", "tracked\n");
    shell(&fixture.user, "rm run; mkdir run; echo x > run/file");
    let tracking = fixture.commit("tracking");
    let changes = "echo junk > a.log; mkdir -p target/file; echo junk > target/file/deep; echo junk > target/junk; echo junk > b.log";
    run_in_slot(&fixture, &workspaces, &ignoring, changes);
    let tests = "test \"$(cat a.log)\" = tracked; test ! -e b.log; test ! -e target/junk";
    run_in_slot(&fixture, &workspaces, &tracking, tests);
    run_in_slot(&fixture, &workspaces, &ignoring, "test ! -e a.log; test ! -e target/file");
}

#[test]
fn a_damaged_slot_is_rebuilt() {
    let fixture = Fixture::new();
    let workspaces = fixture.open();
    let base = fixture.base(&workspaces);
    run_in_slot(&fixture, &workspaces, &base, "mkdir target; echo x > target/cache");
    let with_caches = [
        ("no repository for the agent", "rm -rf agent-0/tree/.git"),
        ("locks of dead processes", "touch agent-0/git/index.lock agent-0/git/HEAD.lock"),
        ("damaged index", "echo garbage > agent-0/git/index"),
        ("cut index", "head -c 40 agent-0/git/index > i; mv i agent-0/git/index"),
        ("damaged config and HEAD", "echo garbage > agent-0/git/config; echo garbage > agent-0/git/HEAD"),
        ("no git directory", "rm -rf agent-0/git"),
        ("a file as git directory", "rm -rf agent-0/git; echo file > agent-0/git"),
        ("parts missing", "rm -rf agent-0/git/objects agent-0/git/refs store/refs store/HEAD"),
    ];
    for (row, damage) in with_caches {
        eprintln!("damage: {row}");
        shell(workspaces.pool(), damage);
        run_in_slot(&fixture, &fixture.open(), &base, "test -f target/cache");
    }
    let without_caches = [
        ("no files", "rm -rf agent-0/tree"),
        ("a file as slot", "rm -rf agent-0; echo file > agent-0"),
        ("nothing", "rm -rf agent-0"),
    ];
    for (row, damage) in without_caches {
        eprintln!("damage: {row}");
        shell(workspaces.pool(), damage);
        run_in_slot(&fixture, &fixture.open(), &base, "mkdir target; echo x > target/cache");
    }
}

#[test]
fn an_agent_that_damages_our_index_does_not_lose_its_work() {
    let fixture = Fixture::new();
    let workspaces = fixture.open();
    let base = fixture.base(&workspaces);
    let mut slot = workspaces.slot(SlotPurpose::Agent, &base).unwrap();
    shell(
        slot.directory(),
        "echo x > README; echo x > new; echo garbage > ../git/index; touch ../git/index.lock",
    );
    let commit = slot.commit("result", "m").unwrap().commit;
    assert_eq!(fixture.content(&commit, "README"), "x\n");
    assert_eq!(workspaces.changes(&base, &commit).unwrap().len(), 2);
}

#[test]
fn agents_and_checks_have_separate_slots_with_separate_limits() {
    let fixture = Fixture::new();
    let options = WorkspaceOptions {
        agent_slots: 1,
        check_slots: 1,
        wait: Duration::ZERO,
        ..WorkspaceOptions::default()
    };
    let workspaces = fixture.open_with(options);
    let base = fixture.base(&workspaces);
    let agent = workspaces.slot(SlotPurpose::Agent, &base).unwrap();
    let check = workspaces.slot(SlotPurpose::Check, &base).unwrap();
    assert_ne!(agent.directory(), check.directory());
    let busy = workspaces.slot(SlotPurpose::Agent, &base).map(drop);
    assert!(matches!(busy, Err(WorkspaceError::AllInUse(1))), "{busy:?}");
    drop(agent);
    workspaces.slot(SlotPurpose::Agent, &base).unwrap();
}

#[test]
fn a_full_disk_and_an_unknown_commit_are_errors_of_their_own() {
    let fixture = Fixture::new();
    let workspaces =
        fixture.open_with(WorkspaceOptions { spare_bytes: u64::MAX, ..WorkspaceOptions::default() });
    let base = fixture.base(&workspaces);
    let full = workspaces.slot(SlotPurpose::Agent, &base).map(drop);
    assert!(matches!(full, Err(WorkspaceError::NoSpace(_))), "{full:?}");
    assert!(fs::read_dir(workspaces.pool()).unwrap().flatten().all(|entry| entry.file_name() != "agent-0"));
    let workspaces = fixture.open();
    for _ in 0..2 {
        let unknown = workspaces.slot(SlotPurpose::Agent, &CommitId("12".repeat(20))).map(drop);
        assert!(matches!(unknown, Err(WorkspaceError::NoSuchCommit(_))), "{unknown:?}");
        workspaces.slot(SlotPurpose::Agent, &base).unwrap();
    }
}

#[test]
fn the_agent_commits_under_the_users_name_and_has_no_remote() {
    let fixture = Fixture::new();
    shell(&fixture.user, "git config user.name 'A \"B\" #C'; git config user.email a@example.org");
    shell(&fixture.user, "git remote add origin https://secret@example.org/x");
    let workspaces = fixture.open();
    let base = fixture.base(&workspaces);
    let script = "echo x > y; git add y; git commit -qm m; test \"$(git log -1 --format=%an)\" = 'A \"B\" #C'; \
        test -z \"$(git remote)\"; test \"$(git rev-list --count HEAD)\" = 2; git gc -q; git fsck --full";
    run_in_slot(&fixture, &workspaces, &base, script);
}

#[test]
fn a_stop_ends_the_waiting_but_a_free_slot_is_given() {
    let fixture = Fixture::new();
    let wait = Duration::from_secs(600);
    let workspaces =
        fixture.open_with(WorkspaceOptions { agent_slots: 1, wait, ..WorkspaceOptions::default() });
    let at = fixture.base(&workspaces);
    let request = SlotRequest {
        purpose: SlotPurpose::Agent,
        at: &at,
        recover_as: None,
        leftovers: SlotLeftovers::Kept,
    };
    let cancel = Cancel::default();
    let held = workspaces.acquire(&request, &cancel).unwrap();
    let stopped = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| workspaces.acquire(&request, &cancel).map(drop));
        cancel.ask();
        waiting.join().unwrap()
    });
    assert!(matches!(stopped, Err(WorkspaceError::Cancelled)), "{stopped:?}");
    drop(held);
    workspaces.acquire(&request, &cancel).unwrap();
}
