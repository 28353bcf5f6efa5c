//! Many requests at once, from threads and from processes.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Barrier;

use fixpoint_ports::{CommitId, SlotPurpose, Workspaces};
use fixpoint_workspaces::{GitWorkspaces, WorkspaceOptions};

use crate::fixture::{AcquireSlot, Fixture, git, shell};

fn attempts(workspaces: &GitWorkspaces, base: &CommitId, who: &str, times: usize) {
    for time in 0..times {
        let mut slot = workspaces.slot(SlotPurpose::Agent, base).unwrap();
        // Another attempt in the same slot at the same time would see this file.
        shell(slot.directory(), &format!("test ! -e in-use; echo {who} > in-use; echo {time} > time"));
        let committed = slot.commit(&format!("{who}/{time}"), "m").unwrap();
        let changes = workspaces.changes(base, &committed.commit).unwrap();
        assert_eq!(changes.len(), 2, "{changes:?}");
    }
}

#[test]
fn fifty_requests_at_once() {
    for slots in [4, 50] {
        let fixture = Fixture::new();
        let options = WorkspaceOptions { agent_slots: slots, spare_bytes: 0, ..WorkspaceOptions::default() };
        let workspaces = fixture.open_with(options);
        let base = fixture.base(&workspaces);
        let start = Barrier::new(50);
        std::thread::scope(|scope| {
            for number in 0..50 {
                let (workspaces, base, start) = (&workspaces, &base, &start);
                scope.spawn(move || {
                    start.wait();
                    attempts(workspaces, base, &format!("thread-{number}"), 1);
                });
            }
        });
        let entries = std::fs::read_dir(workspaces.pool()).unwrap().flatten();
        let created = entries.filter(|entry| entry.path().join("tree").is_dir()).count();
        assert!(created <= slots as usize, "{created} slots, at most {slots}");
        assert_eq!(workspaces.stored_refs().unwrap().len(), 51, "at most {slots}");
    }
}

const DIRECTORY: &str = "FIXPOINT_TEST_DIRECTORY";

/// The other processes of the tests below: this same program, started for this one function.
#[test]
#[ignore = "started as a process of its own by other tests"]
fn another_process() {
    let root = PathBuf::from(std::env::var_os(DIRECTORY).expect("set by the test that starts this"));
    let options = WorkspaceOptions { agent_slots: 2, ..WorkspaceOptions::default() };
    let workspaces = GitWorkspaces::open(&root.join("user"), &root.join("slots"), options).unwrap();
    let who = format!("process-{}", std::process::id());
    let base = workspaces.resolve("HEAD", &format!("bases/{who}")).unwrap().commit;
    if std::env::var_os("FIXPOINT_TEST_HOLD").is_some() {
        let slots: Vec<_> = (0..2).map(|_| workspaces.slot(SlotPurpose::Agent, &base).unwrap()).collect();
        std::fs::write(root.join("held"), "").unwrap();
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).unwrap();
        drop(slots);
    }
    attempts(&workspaces, &base, &who, 5);
}

fn other_process(fixture: &Fixture) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "concurrency::another_process", "--ignored", "--nocapture"]);
    command.env(DIRECTORY, fixture.root.path()).stdin(Stdio::piped()).stdout(Stdio::null());
    command
}

#[test]
fn processes_share_the_slots() {
    let fixture = Fixture::new();
    let children: Vec<_> = (0..4).map(|_| other_process(&fixture).spawn().unwrap()).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(fixture.open().stored_refs().unwrap().len(), 4 * 5 + 4);
    git(&fixture.user, &["fsck", "--full"]);
}

#[test]
fn the_slots_of_a_killed_process_are_free() {
    let fixture = Fixture::new();
    let mut child = other_process(&fixture).env("FIXPOINT_TEST_HOLD", "1").spawn().unwrap();
    let held = fixture.root.path().join("held");
    while !held.exists() {
        assert!(child.try_wait().unwrap().is_none());
        std::thread::yield_now();
    }
    let options =
        WorkspaceOptions { agent_slots: 2, wait: std::time::Duration::ZERO, ..WorkspaceOptions::default() };
    let workspaces = fixture.open_with(options);
    let base = fixture.base(&workspaces);
    assert!(workspaces.slot(SlotPurpose::Agent, &base).is_err());
    child.kill().unwrap();
    child.wait().unwrap();
    workspaces.slot(SlotPurpose::Agent, &base).unwrap();
}
