//! Work that nobody took is kept, whatever became of the process and of the slot.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use fixpoint_ports::{CommitId, Lost, Purpose, Rescue, Rescued, WorkspaceError, Workspaces};
use fixpoint_workspaces::{LocalWorkspaces, Options};

use crate::fixture::{Ask, Fixture, ask, git, shell, users};

fn one_slot(fixture: &Fixture) -> LocalWorkspaces {
    fixture.open_with(Options { agent_slots: 1, wait: Duration::ZERO, ..Options::default() })
}

/// An agent that works in the only slot and is gone without a word.
fn leave(workspaces: &LocalWorkspaces, base: &CommitId, reference: &str, script: &str) {
    let slot = workspaces.unfinished(base, reference).unwrap();
    shell(slot.directory(), script);
}

fn references(workspaces: &LocalWorkspaces) -> Vec<String> {
    workspaces.kept().unwrap().into_iter().map(|kept| kept.reference).collect()
}

fn kept_at(fixture: &Fixture, reference: &str) -> CommitId {
    CommitId(ask(&fixture.user, &["rev-parse", &format!("refs/fixpoint/{reference}")]))
}

fn changed(workspaces: &LocalWorkspaces, base: &CommitId, commit: &CommitId) -> Vec<String> {
    let changes = workspaces.changes(base, commit).unwrap();
    changes.into_iter().map(|change| String::from_utf8_lossy(&change.path).into_owned()).collect()
}

/// The next user of a slot finds the files of its commit.
#[track_caller]
fn assert_clean(fixture: &Fixture, workspaces: &LocalWorkspaces, at: &CommitId) {
    let mut slot = workspaces.slot(Purpose::Agent, at).unwrap();
    shell(slot.directory(), "test -z \"$(git status --porcelain)\"");
    let tree = ask(&fixture.user, &["rev-parse", &format!("{at}^{{tree}}")]);
    assert_eq!(slot.take("clean", "m").unwrap().tree.0, tree);
}

#[test]
fn the_next_user_of_a_slot_keeps_what_the_last_one_left() {
    let scripts = [
        "true",
        "git add -A; git commit -qm mine; git checkout -q --orphan o",
        "rm -rf .git",
        "touch .git/index.lock ../git/index.lock ../git/HEAD.lock",
        "echo garbage > ../git/index",
        "rm -rf ../git",
        "mkdir closed; mv b closed; chmod 000 closed; cp closed/b b 2>/dev/null || echo z > b; chmod 700 closed; rm -rf closed",
    ];
    for script in scripts {
        let fixture = Fixture::new();
        shell(&fixture.user, "git config user.name n; git config user.email e");
        let workspaces = one_slot(&fixture);
        let base = fixture.base(&workspaces);
        fixture.write("README", "second\n");
        let next = fixture.commit("second");
        let before = users(&fixture);
        leave(&workspaces, &base, "run-1/left", &format!("echo x > README; echo z > b; rm run; {script}"));
        assert_eq!(references(&workspaces), ["base"]);
        let again = one_slot(&fixture);
        assert_clean(&fixture, &again, &next);
        let kept = kept_at(&fixture, "run-1/left");
        assert_eq!(changed(&again, &base, &kept), ["README", "b", "run"], "{script}");
        assert_eq!(ask(&fixture.user, &["rev-parse", &format!("{kept}^")]), base.0);
        // It is done once: what the next user did without a reference is not kept.
        shell(&again.pool().join("agent-0/tree"), "echo more > more");
        assert_eq!(again.rescue().unwrap(), Rescue::default());
        assert_eq!(references(&again), ["base", "clean", "run-1/left"]);
        assert_eq!(users(&fixture), before);
    }
}

#[test]
fn what_is_unchanged_taken_or_abandoned_is_not_kept() {
    let fixture = Fixture::new();
    let workspaces = one_slot(&fixture);
    let base = fixture.base(&workspaces);
    leave(
        &workspaces,
        &base,
        "unchanged",
        "mkdir target; echo x > target/ignored; git commit -q --allow-empty -m x",
    );
    let mut taken = workspaces.unfinished(&base, "untaken").unwrap();
    shell(taken.directory(), "test -f target/ignored; echo x > file");
    taken.take("taken", "m").unwrap();
    drop(taken);
    let mut abandoned = workspaces.unfinished(&base, "unwanted").unwrap();
    shell(abandoned.directory(), "echo x > file");
    abandoned.abandon();
    drop(abandoned);
    leave(&workspaces, &base, "all-gone", "d=$PWD; cd /; rm -rf \"$d\"");
    assert_eq!(workspaces.rescue().unwrap(), Rescue::default());
    assert_eq!(references(&workspaces), ["base", "taken"]);
    let refused = workspaces.unfinished(&base, "a..b").map(drop);
    assert!(matches!(refused, Err(WorkspaceError::InvalidName(_))), "{refused:?}");
}

#[test]
fn a_failed_take_leaves_the_work_to_be_kept() {
    let fixture = Fixture::new();
    let workspaces = one_slot(&fixture);
    let base = fixture.base(&workspaces);
    let mut slot = workspaces.unfinished(&base, "left").unwrap();
    shell(slot.directory(), "echo x > file");
    assert!(slot.take("not..allowed", "m").is_err());
    drop(slot);
    let rescue = workspaces.rescue().unwrap();
    assert_eq!(rescue.kept.len(), 1);
    assert_eq!(changed(&workspaces, &base, &rescue.kept[0].commit), ["file"]);
}

#[test]
fn a_rescue_keeps_all_that_nobody_holds_and_moves_no_reference() {
    let fixture = Fixture::new();
    let workspaces = fixture.open();
    let base = fixture.base(&workspaces);
    let slots: Vec<_> = (0..3).map(|_| workspaces.unfinished(&base, "left").unwrap()).collect();
    for (slot, content) in slots.iter().zip(["same", "same", "other"]) {
        shell(slot.directory(), &format!("echo {content} > file"));
    }
    let held = workspaces.unfinished(&base, "held").unwrap();
    shell(held.directory(), "echo x > file");
    drop(slots);
    let rescue = workspaces.rescue().unwrap();
    let names: Vec<_> = rescue.kept.iter().map(|kept| kept.reference.as_str()).collect();
    assert_eq!(names, ["left", "left", "left-2"]);
    for Rescued { reference, commit, tree } in &rescue.kept {
        assert_eq!(&kept_at(&fixture, reference), commit);
        assert_eq!(ask(&fixture.user, &["rev-parse", &format!("{commit}^{{tree}}")]), tree.0);
    }
    assert_eq!(fixture.content(&kept_at(&fixture, "left"), "file"), "same\n");
    assert_eq!(fixture.content(&kept_at(&fixture, "left-2"), "file"), "other\n");
    assert_eq!(rescue.lost, []);
    assert_eq!(workspaces.rescue().unwrap(), Rescue::default());
    drop(held);
    assert_eq!(workspaces.rescue().unwrap().kept.len(), 1);
}

#[test]
fn submodules_are_known_though_the_agent_forgot_them() {
    let inner = Fixture::new();
    let outer = Fixture::new();
    git(&outer.user, &["submodule", "--quiet", "add", inner.user.to_str().unwrap(), "sub"]);
    outer.commit("with a submodule");
    let workspaces = one_slot(&outer);
    let base = outer.base(&workspaces);
    leave(&workspaces, &base, "left", "rm .gitmodules; echo x > sub/hidden");
    let rescue = workspaces.rescue().unwrap();
    assert_eq!(changed(&workspaces, &base, &rescue.kept[0].commit), [".gitmodules", "sub", "sub/hidden"]);
}

#[test]
fn what_cannot_be_taken_is_put_aside_and_the_slot_is_free() {
    let fixture = Fixture::new();
    let workspaces = one_slot(&fixture);
    let base = fixture.base(&workspaces);
    let gone = "12".repeat(20);
    for (number, (spoil, reference)) in [
        (format!("printf 'unfinished 1\\n{gone}\\nleft\\n' > ../unfinished"), Some("left".to_string())),
        ("echo garbage > ../unfinished".to_string(), None),
    ]
    .into_iter()
    .enumerate()
    {
        leave(&workspaces, &base, "left", &format!("echo precious > file; {spoil}"));
        assert_clean(&fixture, &workspaces, &base);
        let directory = workspaces.pool().join(format!("lost-{number}"));
        assert_eq!(fs::read_to_string(directory.join("tree/file")).unwrap(), "precious\n");
        let rescue = workspaces.rescue().unwrap();
        let Some(Lost { directory: at, reference: wanted, why }) = rescue.lost.last() else { panic!() };
        assert_eq!((at, wanted, why.is_empty()), (&directory, &reference, false));
    }
    assert_eq!(references(&workspaces), ["base", "clean"]);
    assert_eq!(workspaces.prune_slots(Duration::from_secs(3600)).unwrap(), Vec::<String>::new());
    assert_eq!(workspaces.rescue().unwrap().lost.len(), 2);
    assert_eq!(workspaces.prune_slots(Duration::ZERO).unwrap(), ["agent-0", "lost-0", "lost-1"]);
    assert_eq!(workspaces.rescue().unwrap(), Rescue::default());
}

#[test]
fn a_slot_is_not_pruned_before_its_work_is_kept() {
    let fixture = Fixture::new();
    let workspaces = one_slot(&fixture);
    let base = fixture.base(&workspaces);
    leave(&workspaces, &base, "left", "echo x > file");
    assert_eq!(workspaces.prune_slots(Duration::ZERO).unwrap(), ["agent-0"]);
    assert_eq!(changed(&workspaces, &base, &kept_at(&fixture, "left")), ["file"]);
    leave(&workspaces, &base, "left", "echo x > file; echo garbage > ../unfinished");
    assert_eq!(workspaces.prune_slots(Duration::ZERO).unwrap(), ["agent-0"]);
    assert_eq!(workspaces.rescue().unwrap().lost.len(), 1);
}

const PLACE: &str = "FIXPOINT_TEST_PLACE";

/// The process that is killed: this same program, started for this one function.
#[test]
#[ignore = "started by the test of a killed process, with a place to work in"]
fn a_process_that_works_until_it_is_killed() {
    let place = std::env::var_os(PLACE).expect("the place");
    let place = Path::new(&place);
    let workspaces =
        LocalWorkspaces::open(&place.join("user"), &place.join("slots"), Options::default()).unwrap();
    let base = workspaces.resolve("HEAD", "base").unwrap().commit;
    let slot = workspaces.unfinished(&base, "run/left").unwrap();
    shell(slot.directory(), "git config user.name n; git config user.email e; echo x > README; echo n > new");
    shell(slot.directory(), "git add -A; git commit -qm mine; rm -rf .git; echo late > late");
    fs::write(place.join("ready"), "").unwrap();
    // It ends when it is killed, or when the process that started it is gone.
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

fn killed(fixture: &Fixture) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "unfinished::a_process_that_works_until_it_is_killed", "--ignored"]);
    command.env(PLACE, fixture.root.path()).stdin(Stdio::piped()).stdout(Stdio::null());
    let mut child = command.spawn().unwrap();
    while !fixture.root.path().join("ready").exists() {
        assert!(child.try_wait().unwrap().is_none());
        std::thread::yield_now();
    }
    child
}

#[test]
fn a_killed_process_has_lost_nothing_and_only_one_of_many_keeps_it() {
    let fixture = Fixture::new();
    let mut child = killed(&fixture);
    let workspaces = fixture.open();
    let base = fixture.base(&workspaces);
    assert_eq!(workspaces.rescue().unwrap(), Rescue::default());
    child.kill().unwrap();
    child.wait().unwrap();
    let kept: Vec<Rescued> = std::thread::scope(|scope| {
        let rescuers: Vec<_> =
            (0..4).map(|_| scope.spawn(|| fixture.open().rescue().unwrap().kept)).collect();
        rescuers.into_iter().flat_map(|rescuer| rescuer.join().unwrap()).collect()
    });
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert_eq!(kept[0].reference, "run/left");
    assert_eq!(changed(&workspaces, &base, &kept[0].commit), ["README", "late", "new"]);
    assert_clean(&fixture, &workspaces, &base);
}
