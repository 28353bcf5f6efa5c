//! Many requests at once, from threads and from processes.

use std::process::{Command, Stdio};
use std::sync::Barrier;

use fixpoint_ports::{CommitId, Purpose, Workspaces};
use fixpoint_workspaces::{LocalWorkspaces, Options};

use crate::fixture::{Ask, Fixture, git, shell};

fn attempts(workspaces: &LocalWorkspaces, base: &CommitId, who: &str, times: usize) {
    for time in 0..times {
        let mut slot = workspaces.slot(Purpose::Agent, base).unwrap();
        // A mark that would be seen by anybody who got the same slot at the same time.
        shell(slot.directory(), &format!("test ! -e mark; echo {who} > mark; echo {time} > time"));
        let taken = slot.take(&format!("{who}/{time}"), "m").unwrap();
        let changes = workspaces.changes(base, &taken.commit).unwrap();
        assert_eq!(changes.len(), 2, "{changes:?}");
    }
}

#[test]
fn fifty_requests_at_once() {
    for slots in [4, 50] {
        let fixture = Fixture::new();
        let options = || Options { agent_slots: slots, spare_bytes: 0, ..Options::default() };
        let workspaces = fixture.open_with(options());
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
        let made = std::fs::read_dir(workspaces.pool()).unwrap().flatten();
        let made = made.filter(|entry| entry.path().join("tree").is_dir()).count();
        assert!(made <= slots as usize, "{made}");
        assert_eq!(workspaces.kept().unwrap().len(), 51);
    }
}

const PLACE: &str = "FIXPOINT_TEST_PLACE";

/// The other processes of the tests below: this same program, started for this one function.
#[test]
#[ignore = "started by the tests of several processes, with a place to work in"]
fn another_process() {
    let place = std::env::var_os(PLACE).expect("the place");
    let place = std::path::Path::new(&place);
    let options = Options { agent_slots: 2, ..Options::default() };
    let workspaces = LocalWorkspaces::open(&place.join("user"), &place.join("slots"), options).unwrap();
    let who = format!("process-{}", std::process::id());
    let base = workspaces.resolve("HEAD", &format!("bases/{who}")).unwrap().commit;
    if std::env::var_os("FIXPOINT_TEST_HOLD").is_some() {
        let slots: Vec<_> = (0..2).map(|_| workspaces.slot(Purpose::Agent, &base).unwrap()).collect();
        std::fs::write(place.join("held"), "").unwrap();
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).unwrap();
        drop(slots);
    }
    attempts(&workspaces, &base, &who, 5);
}

fn start(fixture: &Fixture) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "sharing::another_process", "--ignored", "--nocapture"]);
    command.env(PLACE, fixture.root.path()).stdin(Stdio::piped()).stdout(Stdio::null());
    command
}

#[test]
fn processes_share_the_slots() {
    let fixture = Fixture::new();
    let children: Vec<_> = (0..4).map(|_| start(&fixture).spawn().unwrap()).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let kept = fixture.open().kept().unwrap();
    assert_eq!(kept.len(), 4 * 5 + 4);
    git(&fixture.user, &["fsck", "--full"]);
}

#[test]
fn the_slots_of_a_killed_process_are_free() {
    let fixture = Fixture::new();
    let mut child = start(&fixture).env("FIXPOINT_TEST_HOLD", "1").spawn().unwrap();
    let held = fixture.root.path().join("held");
    while !held.exists() {
        assert!(child.try_wait().unwrap().is_none());
        std::thread::yield_now();
    }
    let options = Options { agent_slots: 2, wait: std::time::Duration::ZERO, ..Options::default() };
    let workspaces = fixture.open_with(options);
    let base = fixture.base(&workspaces);
    assert!(workspaces.slot(Purpose::Agent, &base).is_err());
    child.kill().unwrap();
    child.wait().unwrap();
    workspaces.slot(Purpose::Agent, &base).unwrap();
}
