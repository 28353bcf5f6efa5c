//! Uncommitted work that git does not look at, or does not see, and that is part of a snapshot all the same.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use fixpoint_ports::{LeftOut, SlotPurpose, WorkspaceError, Workspaces};
use fixpoint_workspaces::ApplyOutcome;

use crate::fixture::{AcquireSlot, Fixture, git, shell};

/// An edit of the same size, with the old modification time, in the second of the change time that git recorded.
#[test]
fn an_edit_with_the_size_and_the_second_of_the_index_is_seen_and_not_overwritten() {
    let fixture = Fixture::new();
    let path = fixture.user.join("README");
    let dated = |nanoseconds| {
        let time = SystemTime::UNIX_EPOCH + Duration::new(1_000_000_000, nanoseconds);
        File::options().append(true).open(&path).unwrap().set_modified(time).unwrap();
    };
    for nanoseconds in [0, 5] {
        // The index is written in a later second, as it would be after a slow commit.
        fs::write(&path, "hello\n").unwrap();
        dated(0);
        git(&fixture.user, &["add", "README"]);
        fs::write(&path, "HELLO\n").unwrap();
        dated(nanoseconds);
        let index = File::options().append(true).open(fixture.user.join(".git/index")).unwrap();
        index.set_modified(SystemTime::now() + Duration::from_secs(1)).unwrap();
        let snapshot = fixture.open().snapshot("base").unwrap();
        assert_eq!(fixture.content(&snapshot.commit, "README"), "HELLO\n", "{nanoseconds}");
    }
}

#[test]
fn marked_files_are_part_of_the_snapshot_and_are_merged() {
    let rows = [
        ("--assume-unchanged", "edited"),
        ("--skip-worktree", "edited"),
        ("--assume-unchanged", "deleted"),
        ("--skip-worktree", "deleted"),
    ];
    for (mark, edit) in rows {
        let fixture = Fixture::new();
        git(&fixture.user, &["update-index", mark, "src/deep/data"]);
        let path = fixture.user.join("src/deep/data");
        match edit {
            "edited" => fs::write(&path, "one\ntwo\nthree\nfour\n").unwrap(),
            _ => fs::remove_file(&path).unwrap(),
        }
        let workspaces = fixture.open();
        let base = fixture.base(&workspaces);
        let has_file = fixture.files(&base).contains(&"100644 src/deep/data".to_string());
        assert_eq!(has_file, edit == "edited", "{mark} {edit}");
        if has_file {
            assert_eq!(fixture.content(&base, "src/deep/data"), "one\ntwo\nthree\nfour\n", "{mark}");
            let mut slot = workspaces.slot(SlotPurpose::Agent, &base).unwrap();
            shell(slot.directory(), "sed -i s/one/ONE/ src/deep/data");
            let result = slot.commit("result", "m").unwrap().commit;
            assert!(matches!(workspaces.apply(&base, &result).unwrap(), ApplyOutcome::Written(_)), "{mark}");
            assert_eq!(fs::read_to_string(&path).unwrap(), "ONE\ntwo\nthree\nfour\n", "{mark}");
        }
    }
}

#[test]
fn files_outside_of_a_sparse_checkout_are_not_deleted() {
    let fixture = Fixture::new();
    fixture.write("other/x", "x\n");
    let head = fixture.commit("other");
    git(&fixture.user, &["sparse-checkout", "set", "src"]);
    assert!(!fixture.user.join("other/x").exists());
    let snapshot = fixture.open().snapshot("base").unwrap();
    assert_eq!(snapshot.commit, head);
    shell(&fixture.user, "mkdir other; echo mine > other/x");
    let snapshot = fixture.open().snapshot("base").unwrap();
    assert_eq!(fixture.content(&snapshot.commit, "other/x"), "mine\n");
}

#[test]
fn what_is_left_out_is_named() {
    let fixture = Fixture::new();
    let other = Fixture::new();
    git(&fixture.user, &["submodule", "--quiet", "add", other.user.to_str().unwrap(), "sub"]);
    let head = fixture.commit("with a submodule");
    git(&fixture.user, &["init", "-q", "vendor/nested"]);
    fixture.write("vendor/nested/x", "x\n");
    let workspaces = fixture.open();
    let expected =
        LeftOut { submodules: vec![b"sub".to_vec()], nested_repositories: vec![b"vendor/nested".to_vec()] };
    assert_eq!(workspaces.snapshot("base").unwrap().left_out, expected);
    let expected = LeftOut { nested_repositories: vec![], ..expected };
    assert_eq!(workspaces.resolve(&head.0, "base").unwrap().left_out, expected);
}

#[test]
fn a_submodule_is_never_touched_by_apply() {
    for script in ["rmdir sub", "rmdir sub; echo x > sub", "echo x > sub/x", "git rm -q sub"] {
        let fixture = Fixture::new();
        let other = Fixture::new();
        git(&fixture.user, &["submodule", "--quiet", "add", other.user.to_str().unwrap(), "sub"]);
        fixture.commit("with a submodule");
        let workspaces = fixture.open();
        let base = fixture.base(&workspaces);
        let mut slot = workspaces.slot(SlotPurpose::Agent, &base).unwrap();
        shell(slot.directory(), script);
        let result = slot.commit("result", "m").unwrap().commit;
        fixture.write("sub/mine", "mine\n");
        fixture.write("sub/README", "mine\n");
        let outcome = workspaces.apply(&base, &result).unwrap();
        assert_eq!(outcome, ApplyOutcome::Submodules(vec![b"sub".to_vec()]), "{script}");
        shell(&fixture.user, "test \"$(cat sub/mine sub/README)\" = \"$(printf 'mine\\nmine')\"");
    }
}

#[test]
fn line_endings_of_the_working_tree_stay() {
    let rows = [
        ("true", "one\ntwo\n", "ONE\ntwo\n"),
        ("true", "one\r\ntwo\r\n", "ONE\r\ntwo\r\n"),
        ("input", "one\r\ntwo\r\n", "ONE\r\ntwo\r\n"),
        ("false", "one\ntwo\n", "ONE\ntwo\n"),
    ];
    for (setting, before, after) in rows {
        let fixture = Fixture::new();
        fixture.write("text", "one\ntwo\n");
        fixture.commit("text");
        git(&fixture.user, &["config", "core.autocrlf", setting]);
        fixture.write("text", before);
        let workspaces = fixture.open();
        let base = fixture.base(&workspaces);
        let mut slot = workspaces.slot(SlotPurpose::Agent, &base).unwrap();
        shell(slot.directory(), "sed -i s/one/ONE/ text");
        let result = slot.commit("result", "m").unwrap().commit;
        assert!(matches!(workspaces.apply(&base, &result).unwrap(), ApplyOutcome::Written(_)));
        let now = fs::read_to_string(fixture.user.join("text")).unwrap();
        assert_eq!(now, after, "core.autocrlf={setting}, {before:?}");
    }
}

/// Root can read everything, so this tests something only for other users.
#[test]
fn an_unreadable_directory_is_an_error() {
    let fixture = Fixture::new();
    fixture.write("secret/x", "x\n");
    shell(&fixture.user, "chmod 0 secret");
    let is_root = fs::read_dir(fixture.user.join("secret")).is_ok();
    let taken = fixture.open().snapshot("base");
    shell(&fixture.user, "chmod 755 secret");
    if is_root {
        println!("SKIPPED: root can read every directory");
        return;
    }
    assert!(matches!(&taken, Err(WorkspaceError::PermissionDenied(path)) if path == "secret/"), "{taken:?}");
}
