//! Edits that leave a file its size and its times, which git can tell only by reading the file. No index of ours may
//! keep git from that.
//!
//! The second in which a user commits and edits again is made longer here: the file and the index are given a time in
//! the past, so that no test has to wait until that second is over. Only the change time cannot be set.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use fixpoint_ports::{CommitId, SlotPurpose, SnapshotOrigin, Workspaces};
use fixpoint_workspaces::ApplyOutcome;

use crate::fixture::{AcquireSlot, Fixture, git, shell};

const FILE: &str = "src/numbers";
const COMMITTED: &str = "x = 1\na\nb\nc\nd\ny = 1\n";
const EDITED: &str = "x = 9\na\nb\nc\nd\ny = 1\n";

fn set_past(path: &Path) {
    let past = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    File::open(path).unwrap().set_modified(past).unwrap();
}

/// The second in which the file was last changed in any way.
fn change_second(path: &Path) -> i64 {
    path.metadata().unwrap().ctime()
}

/// Runs `commit` on the file as committed, then edits it within the same second.
fn edit_in_the_same_second(fixture: &Fixture, commit: impl Fn()) {
    let path = fixture.user.join(FILE);
    loop {
        fixture.write(FILE, COMMITTED);
        set_past(&path);
        let before = change_second(&path);
        commit();
        fs::write(&path, EDITED).unwrap();
        set_past(&path);
        set_past(&fixture.user.join(".git/index"));
        if change_second(&path) == before {
            return;
        }
    }
}

/// A repository in which the edit was made after a commit.
fn edited() -> Fixture {
    let fixture = Fixture::new();
    edit_in_the_same_second(&fixture, || drop(fixture.commit("numbers")));
    fixture
}

/// What an agent makes of a base: the other number is changed.
fn agents_result(fixture: &Fixture, base: &CommitId) -> CommitId {
    let mut slot = fixture.open().slot(SlotPurpose::Agent, base).unwrap();
    shell(slot.directory(), &format!("sed -i 's/y = 1/y = 2/' {FILE}"));
    slot.commit("result", "m").unwrap().commit
}

#[test]
fn a_snapshot_has_the_edit() {
    let commit = "git commit -q --allow-empty -m numbers";
    let rows = [
        ("committed", commit.to_string()),
        ("staged", String::new()),
        ("committed, split index", format!("{commit}; git update-index --split-index")),
        ("staged, split index", "git update-index --split-index".to_string()),
        ("committed, compressed index", format!("{commit}; git update-index --index-version 4")),
    ];
    for (row, script) in rows {
        let fixture = Fixture::new();
        shell(&fixture.user, "git config user.name n; git config user.email e");
        edit_in_the_same_second(&fixture, || shell(&fixture.user, &format!("git add -A; {script}")));
        let snapshot = fixture.open().snapshot("base").unwrap();
        assert_eq!(snapshot.origin, SnapshotOrigin::WorkingTree, "{row}");
        assert_eq!(fixture.content(&snapshot.commit, FILE), EDITED, "{row}");
    }
}

#[test]
fn a_file_that_is_new_in_a_directory_git_has_cached_is_in_a_snapshot() {
    let fixture = Fixture::new();
    git(&fixture.user, &["config", "core.untrackedCache", "true"]);
    git(&fixture.user, &["config", "status.showUntrackedFiles", "all"]);
    let directory = fixture.user.join("src");
    loop {
        fixture.write("src/first", "x\n");
        set_past(&directory);
        let before = change_second(&directory);
        git(&fixture.user, &["status"]);
        fixture.write("src/second", "x\n");
        set_past(&directory);
        set_past(&fixture.user.join(".git/index"));
        if change_second(&directory) == before {
            break;
        }
        fs::remove_file(directory.join("second")).unwrap();
    }
    let files = fixture.files(&fixture.open().snapshot("base").unwrap().commit);
    assert!(files.contains(&"100644 src/second".to_string()), "{files:?}");
}

#[test]
fn an_edit_before_the_run_is_still_there_after_its_result_is_applied() {
    let fixture = edited();
    let workspaces = fixture.open();
    let base = fixture.base(&workspaces);
    let result = agents_result(&fixture, &base);
    assert_eq!(workspaces.apply(&base, &result).unwrap(), ApplyOutcome::Written(vec![FILE.into()]));
    let now = fs::read_to_string(fixture.user.join(FILE)).unwrap();
    assert_eq!(now, "x = 9\na\nb\nc\nd\ny = 2\n");
}

#[test]
fn an_edit_during_the_run_is_still_there_after_its_result_is_applied() {
    let fixture = edited();
    let workspaces = fixture.open();
    // The run began with what is committed.
    let base = workspaces.resolve("HEAD", "base").unwrap().commit;
    let result = agents_result(&fixture, &base);
    assert_eq!(workspaces.apply(&base, &result).unwrap(), ApplyOutcome::Written(vec![FILE.into()]));
    let now = fs::read_to_string(fixture.user.join(FILE)).unwrap();
    assert_eq!(now, "x = 9\na\nb\nc\nd\ny = 2\n");
}

#[test]
fn an_agents_edit_right_after_the_checkout_is_committed_and_its_own_git_sees_it() {
    let fixture = Fixture::new();
    fixture.write(FILE, COMMITTED);
    let base = fixture.commit("numbers");
    let workspaces = fixture.open();
    for _ in 0..10 {
        let mut slot = workspaces.slot(SlotPurpose::Agent, &base).unwrap();
        let [ours, theirs] = ["git/index", "tree/.git/index"].map(|index| {
            let metadata = slot.directory().parent().unwrap().join(index).metadata().unwrap();
            (metadata.mtime(), metadata.mtime_nsec())
        });
        assert_eq!(theirs, ours, "the index of the agent is not newer than the one it was copied from");
        fs::write(slot.directory().join(FILE), EDITED).unwrap();
        assert_eq!(git(slot.directory(), &["diff", "--name-only"]), format!("{FILE}\n").as_bytes());
        let commit = slot.commit("result", "m").unwrap().commit;
        assert_eq!(fixture.content(&commit, FILE), EDITED);
    }
}
