//! What a check leaves in its slot does not reach a check that asks for a pristine one.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use fixpoint_ports::{Cancel, CommitId, Slot, SlotLeftovers, SlotPurpose, SlotRequest, Workspaces};
use fixpoint_workspaces::GitWorkspaces;

use crate::fixture::{Fixture, ask, shell};

fn pristine(workspaces: &GitWorkspaces, at: &CommitId) -> Box<dyn Slot> {
    acquire(workspaces, at, SlotLeftovers::Pristine)
}

fn acquire(workspaces: &GitWorkspaces, at: &CommitId, leftovers: SlotLeftovers) -> Box<dyn Slot> {
    let request = SlotRequest { purpose: SlotPurpose::Check, at, recover_as: None, leftovers };
    workspaces.acquire(&request, &Cancel::default()).unwrap()
}

fn read(slot: &dyn Slot, path: &str) -> Option<String> {
    fs::read_to_string(slot.directory().join(path)).ok()
}

#[test]
fn nothing_is_pristine_before_it_is_captured() {
    let fixture = Fixture::new();
    let (workspaces, at) = (fixture.open(), CommitId(ask(&fixture.user, &["rev-parse", "HEAD"])));
    let first = acquire(&workspaces, &at, SlotLeftovers::Kept);
    shell(first.directory(), "mkdir -p target/a; echo poison > target/a/b; echo x > .env");
    first.set_note("set-up", b"done").unwrap();
    drop(first);
    let kept = acquire(&workspaces, &at, SlotLeftovers::Kept);
    assert_eq!(read(&*kept, "target/a/b").as_deref(), Some("poison\n"), "others keep their caches");
    drop(kept);
    let slot = pristine(&workspaces, &at);
    assert!(!slot.directory().join("target").exists() && !slot.directory().join(".env").exists());
    assert_eq!(slot.note("set-up"), None, "set-up must run again");
    assert_eq!(read(&*slot, "README").as_deref(), Some("hello\n"));
}

#[test]
fn what_was_captured_comes_back_and_everything_else_goes() {
    let fixture = Fixture::new();
    let (workspaces, at) = (fixture.open(), CommitId(ask(&fixture.user, &["rev-parse", "HEAD"])));
    let mut slot = pristine(&workspaces, &at);
    shell(
        slot.directory(),
        "mkdir -p target/deep target/gone; echo built > target/deep/out; echo kept > target/same; \
         ln -s deep/out target/link; touch -d '2001-01-01' target/old; chmod 444 target/old; echo 1 > target/gone/x",
    );
    slot.set_note("set-up", b"key").unwrap();
    slot.capture_pristine().unwrap();
    let stamp = |slot: &dyn Slot, path: &str| {
        let found = slot.directory().join(path).metadata().unwrap();
        (found.mtime(), found.mtime_nsec(), found.mode())
    };
    let (old, out) = (stamp(&*slot, "target/old"), stamp(&*slot, "target/deep/out"));
    // Same size, and the modification time is set back: only the change time tells.
    shell(
        slot.directory(),
        "touch -r target/deep/out target/deep/.time; echo BUILT > target/deep/out; \
         touch -r target/deep/.time target/deep/out; rm -r target/gone; ln -sfn /etc target/link; \
         rm -f target/old; mkdir -p new/dir; echo x > new/dir/file; echo y > target/extra; \
         printf 'new/\\n' >> .gitignore; mv target/same target/moved && cp -p target/moved target/same && mv -f target/moved target/same",
    );
    slot.set_note("set-up", b"other").unwrap();
    drop(slot);
    let slot = pristine(&workspaces, &at);
    assert_eq!(read(&*slot, "target/deep/out").as_deref(), Some("built\n"));
    assert_eq!(fs::read_link(slot.directory().join("target/link")).unwrap(), Path::new("deep/out"));
    assert_eq!(read(&*slot, "target/gone/x").as_deref(), Some("1\n"));
    for gone in ["new", "target/extra", "target/moved", "target/deep/.time"] {
        assert!(slot.directory().join(gone).symlink_metadata().is_err(), "{gone}");
    }
    assert_eq!((stamp(&*slot, "target/old"), stamp(&*slot, "target/deep/out")), (old, out));
    assert_eq!(slot.note("set-up"), Some(b"key".to_vec()));
    drop(slot);
    let again = pristine(&workspaces, &at);
    assert_eq!(read(&*again, "target/same").as_deref(), Some("kept\n"));
}

#[test]
fn a_directory_that_was_replaced_by_a_link_is_restored_and_the_outside_is_untouched() {
    let fixture = Fixture::new();
    let (workspaces, at) = (fixture.open(), CommitId(ask(&fixture.user, &["rev-parse", "HEAD"])));
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("out"), "outside\n").unwrap();
    let mut slot = pristine(&workspaces, &at);
    shell(slot.directory(), "mkdir target; echo built > target/out");
    slot.capture_pristine().unwrap();
    shell(slot.directory(), &format!("rm -r target; ln -s {} target", outside.path().display()));
    drop(slot);
    let slot = pristine(&workspaces, &at);
    assert_eq!(read(&*slot, "target/out").as_deref(), Some("built\n"));
    assert_eq!(fs::read_to_string(outside.path().join("out")).unwrap(), "outside\n");
}

#[test]
fn a_file_of_the_commit_wins_over_a_captured_one() {
    let fixture = Fixture::new();
    let (workspaces, at) = (fixture.open(), CommitId(ask(&fixture.user, &["rev-parse", "HEAD"])));
    let mut slot = pristine(&workspaces, &at);
    shell(slot.directory(), "mkdir target; echo built > target/out; echo log > a.log");
    slot.capture_pristine().unwrap();
    drop(slot);
    shell(&fixture.user, "echo tracked > a.log; git add -f a.log; echo file > target; git add -f target");
    shell(&fixture.user, "rm .gitignore src/deep/data");
    let other = fixture.commit("tracked");
    let slot = pristine(&workspaces, &other);
    assert_eq!(read(&*slot, "a.log").as_deref(), Some("tracked\n"));
    assert_eq!(read(&*slot, "target").as_deref(), Some("file\n"));
    drop(slot);
    let back = pristine(&workspaces, &at);
    assert_eq!(read(&*back, "target/out").as_deref(), Some("built\n"));
    assert_eq!(read(&*back, "a.log").as_deref(), Some("log\n"));
}

#[test]
fn a_damaged_list_means_that_nothing_is_pristine() {
    let fixture = Fixture::new();
    let (workspaces, at) = (fixture.open(), CommitId(ask(&fixture.user, &["rev-parse", "HEAD"])));
    let mut slot = pristine(&workspaces, &at);
    shell(slot.directory(), "mkdir target; echo built > target/out");
    slot.capture_pristine().unwrap();
    let list = slot.directory().parent().unwrap().join("pristine/list");
    let mut bytes = fs::read(&list).unwrap();
    let last = bytes.len() - 3;
    bytes[last] ^= 1;
    fs::write(&list, bytes).unwrap();
    drop(slot);
    assert!(!pristine(&workspaces, &at).directory().join("target").exists());
}

#[test]
fn two_checkouts_in_one_second_date_a_file_differently_and_leave_the_others_alone() {
    let fixture = Fixture::new();
    let (workspaces, first) = (fixture.open(), CommitId(ask(&fixture.user, &["rev-parse", "HEAD"])));
    fixture.write("README", "HELLO\n");
    let second = fixture.commit("same size");
    let (mut seen, mut others) = (Vec::new(), HashSet::new());
    for at in [&first, &second, &first, &second] {
        let slot = acquire(&workspaces, at, SlotLeftovers::Kept);
        let found = slot.directory().join("README").metadata().unwrap();
        assert!(!seen.contains(&found.mtime()), "{seen:?} {}", found.mtime());
        seen.push(found.mtime());
        let other = slot.directory().join("src/main.rs").metadata().unwrap();
        others.insert((other.mtime(), other.mtime_nsec(), other.ino()));
    }
    assert_eq!(others.len(), 1, "a file that is the same in both commits keeps its time");
}
