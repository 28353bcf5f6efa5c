//! Files and diffs of commits, untracked files of slots, and notes.

use std::fs;
use std::os::unix::fs::symlink;

use fixpoint_ports::{
    CommitId, DiffStyle, FileState, Slot, SlotPurpose, UntrackedFile, WorkspaceError, Workspaces,
};

use crate::fixture::{AcquireSlot, Fixture, git, shell, users_files};

#[test]
fn only_regular_files_of_a_commit_are_read() {
    let fixture = Fixture::new();
    for name in ["*.rs", ":(glob)x", "-r", "a\nb", "src/plain", "empty"] {
        fixture.write(name, if name == "empty" { "" } else { name });
    }
    let at = fixture.commit("unusual names");
    fixture.write("README", "not committed\n");
    let before = users_files(&fixture);
    let workspaces = fixture.open();
    let read = |path: &str| workspaces.read_file(&at, path.as_bytes(), 100).unwrap();
    assert_eq!(read("README"), Some(b"hello\n".to_vec()));
    assert_eq!(read("run"), Some(b"#!/bin/sh\n".to_vec()));
    for name in ["*.rs", ":(glob)x", "-r", "a\nb", "src/plain"] {
        assert_eq!(read(name), Some(name.as_bytes().to_vec()), "{name}");
    }
    assert_eq!(read("empty"), Some(Vec::new()));
    let none = [
        "link",
        "src",
        "src/",
        "",
        "none",
        "/etc/passwd",
        "../x",
        "src/../README",
        "./README",
        "README/",
        "a\0b",
    ];
    for name in none {
        assert_eq!(read(name), None, "{name}");
    }
    // Reading many at once gives the same as reading each alone.
    let names = ["README", "link", "*.rs", "none", "empty", "../x", "a\nb", "", "src/plain", "src", "README"];
    let paths: Vec<&[u8]> = names.iter().map(|name| name.as_bytes()).collect();
    let alone: Vec<Option<Vec<u8>>> = names.iter().map(|name| read(name)).collect();
    assert_eq!(workspaces.read_files(&at, &paths, 100).unwrap(), alone);
    let small = workspaces.read_files(&at, &[b"README", b"*.rs"], 5).unwrap();
    assert_eq!(small, [None, Some(b"*.rs".to_vec())], "a file that is too large is left out");
    assert_eq!(workspaces.read_files(&at, &[b"none", b""], 100).unwrap(), [None, None]);
    let large = workspaces.read_file(&at, b"README", 5);
    assert!(matches!(large, Err(WorkspaceError::TooLarge { bytes: 6, limit: 5, .. })), "{large:?}");
    assert_eq!(workspaces.read_file(&at, b"README", 6).unwrap(), Some(b"hello\n".to_vec()));
    for path in [&b"README"[..], b""] {
        let unknown = workspaces.read_file(&CommitId("12".repeat(20)), path, 100);
        assert!(matches!(unknown, Err(WorkspaceError::NoSuchCommit(_))), "{unknown:?}");
    }
    assert_eq!(users_files(&fixture), before);
}

#[test]
fn diffs_are_those_of_git_without_colours_renames_and_external_programs() {
    let fixture = Fixture::new();
    fixture.write("moved", "a\nb\nc\n");
    let from = fixture.commit("from");
    shell(
        &fixture.user,
        "git mv moved renamed; echo more >> README; echo '* diff=x' > .gitattributes; printf '\\0' > binary",
    );
    let to = fixture.commit("to");
    let marker = fixture.root.path().join("marker");
    let program = format!("touch {}", marker.display());
    for key in ["diff.external", "diff.x.command", "diff.x.textconv"] {
        git(&fixture.user, &["config", key, &program]);
    }
    git(&fixture.user, &["config", "color.ui", "always"]);
    git(&fixture.user, &["config", "diff.noprefix", "true"]);
    let workspaces = fixture.open();
    let ours = |style| String::from_utf8(workspaces.diff(&from, &to, style).unwrap()).unwrap();
    assert_eq!(ours(DiffStyle::Names), ".gitattributes\nREADME\nbinary\nmoved\nrenamed\n");
    let plain =
        ["-c", "diff.noprefix=false", "diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames"];
    let gits = |style: &str| {
        let arguments: Vec<&str> = plain.into_iter().chain([style, &from.0, &to.0]).collect();
        String::from_utf8(git(&fixture.user, &arguments)).unwrap()
    };
    assert_eq!(ours(DiffStyle::Patch), gits("--patch"));
    assert!(ours(DiffStyle::CompletePatch).contains("GIT binary patch\n"));
    assert_eq!(ours(DiffStyle::Stat), gits("--stat=80"));
    assert!(ours(DiffStyle::Patch).contains("Binary files /dev/null and b/binary differ\n"));
    assert!(!marker.exists());
    assert_eq!(workspaces.diff(&to, &to, DiffStyle::Patch).unwrap(), b"");
    let unknown = workspaces.diff(&from, &CommitId("12".repeat(20)), DiffStyle::Stat);
    assert!(matches!(unknown, Err(WorkspaceError::NoSuchCommit(_))), "{unknown:?}");
}

fn outside_target(slot: &dyn Slot) -> Vec<UntrackedFile> {
    let is_wanted = |path: &[u8]| !path.starts_with(b"target/");
    slot.untracked_files(&is_wanted).unwrap()
}

fn file(path: &str, content: &str) -> UntrackedFile {
    let content = *blake3::hash(content.as_bytes()).as_bytes();
    UntrackedFile { path: path.as_bytes().to_vec(), state: FileState::File { content, executable: false } }
}

#[test]
fn untracked_files_are_listed_whatever_the_agent_does_to_the_ignore_rules() {
    let fixture = Fixture::new();
    fixture.write(".env", "SECRET=1\n");
    fixture.write("conf/.env", "SECRET=2\n");
    let workspaces = fixture.open();
    let base = fixture.base(&workspaces);
    let slot = workspaces.slot(SlotPurpose::Agent, &base).unwrap();
    workspaces.copy_ignored(&*slot, &["**/.env".to_string()]).unwrap();
    shell(slot.directory(), "mkdir -p target; echo x > target/cache");
    let before = [file(".env", "SECRET=1\n"), file("conf/.env", "SECRET=2\n")];
    assert_eq!(outside_target(&*slot), before);
    // Neither rules, nor a nested repository, nor flags in the index hide anything.
    shell(
        slot.directory(),
        "echo '*' > .gitignore; git init -q conf; rm -r conf/.git; git update-index --assume-unchanged README; \
         mkdir secret; echo x > secret/new; git init -q secret; rm -rf secret/.git/*; echo changed > conf/.env; rm .env",
    );
    let after = [file("conf/.env", "changed\n"), file("secret/new", "x\n")];
    assert_eq!(outside_target(&*slot), after);
    shell(slot.directory(), "echo > .gitignore; echo x > README");
    assert_eq!(outside_target(&*slot), after);
}

#[test]
fn untracked_links_special_files_modes_and_unreadable_directories() {
    let fixture = Fixture::new();
    let workspaces = fixture.open();
    let base = fixture.base(&workspaces);
    let slot = workspaces.slot(SlotPurpose::Agent, &base).unwrap();
    symlink("/etc", slot.directory().join("a.log")).unwrap();
    fs::write(slot.directory().join("c.log"), vec![7; 300_000]).unwrap();
    shell(
        slot.directory(),
        "mkfifo b.log; chmod 111 c.log; mkdir d; echo x > d/e.log; chmod 000 d/e.log d; rm README; mkdir README; echo y > README/f",
    );
    let large = *blake3::hash(&vec![7; 300_000]).as_bytes();
    let at = |path: &str, state| UntrackedFile { path: path.as_bytes().to_vec(), state };
    let expected = [
        file("README/f", "y\n"),
        at("a.log", FileState::Link(b"/etc".to_vec())),
        at("b.log", FileState::Special),
        at("c.log", FileState::File { content: large, executable: true }),
        file("d/e.log", "x\n"),
    ];
    assert_eq!(slot.untracked_files(&|_| true).unwrap(), expected);
    assert_eq!(slot.untracked_files(&|path| path.ends_with(b"/f")).unwrap(), expected[..1]);
    assert_eq!(slot.untracked_files(&|_| false).unwrap(), []);
}

#[test]
fn notes_last_as_long_as_the_slot() {
    let fixture = Fixture::new();
    let workspaces = fixture.open();
    let base = fixture.base(&workspaces);
    let noted = || workspaces.slot(SlotPurpose::Check, &base).unwrap().note("set-up");
    let rows = [
        ("no files", "rm -rf check-0/tree"),
        ("nothing", "rm -rf check-0"),
        ("no files, damaged index", "rm -rf check-0/git/* check-0/tree; mkdir check-0/git/index"),
    ];
    for (row, damage) in rows {
        let mut slot = workspaces.slot(SlotPurpose::Check, &base).unwrap();
        assert_eq!(slot.note("set-up"), None, "{row}");
        slot.set_note("set-up", b"key \xff\0").unwrap();
        slot.set_note("set-up", b"key \xff\0 2").unwrap();
        slot.commit("t", "m").unwrap();
        assert!(matches!(slot.set_note("../tree/x", b""), Err(WorkspaceError::InvalidName(_))));
        drop(slot);
        assert_eq!(noted(), Some(b"key \xff\0 2".to_vec()), "{row}");
        shell(workspaces.pool(), damage);
        assert_eq!(noted(), None, "{row}");
    }
}
