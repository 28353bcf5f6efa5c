//! What is read without taking a tree: files and differences of commits, files no commit has, notes; and waiting.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::Duration;

use fixpoint_ports::{
    Cancel, CommitId, DiffStyle, IgnoredFile, Purpose, Slot, SlotRequest, Stamp, WorkspaceError, Workspaces,
};
use fixpoint_workspaces::Options;

use crate::fixture::{Ask, Fixture, git, shell, users};

#[test]
fn a_file_of_a_commit_is_read_and_nothing_else_is_a_file() {
    let fixture = Fixture::new();
    for name in ["*.rs", ":(glob)x", "-r", "a\nb", "src/plain", "empty"] {
        fixture.write(name, if name == "empty" { "" } else { name });
    }
    let at = fixture.commit("odd names");
    fixture.write("README", "not committed\n");
    let before = users(&fixture);
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
    // Many at once are what each is alone, whatever stands between them.
    let names = ["README", "link", "*.rs", "none", "empty", "../x", "a\nb", "", "src/plain", "src", "README"];
    let paths: Vec<&[u8]> = names.iter().map(|name| name.as_bytes()).collect();
    let alone: Vec<Option<Vec<u8>>> = names.iter().map(|name| read(name)).collect();
    assert_eq!(workspaces.read_files(&at, &paths, 100).unwrap(), alone);
    let small = workspaces.read_files(&at, &[b"README", b"*.rs"], 5).unwrap();
    assert_eq!(small, [None, Some(b"*.rs".to_vec())], "what is too large is left out");
    assert_eq!(workspaces.read_files(&at, &[b"none", b""], 100).unwrap(), [None, None]);
    let large = workspaces.read_file(&at, b"README", 5);
    assert!(matches!(large, Err(WorkspaceError::TooLarge { bytes: 6, limit: 5, .. })), "{large:?}");
    assert_eq!(workspaces.read_file(&at, b"README", 6).unwrap(), Some(b"hello\n".to_vec()));
    for path in [&b"README"[..], b""] {
        let unknown = workspaces.read_file(&CommitId("12".repeat(20)), path, 100);
        assert!(matches!(unknown, Err(WorkspaceError::NoSuchCommit(_))), "{unknown:?}");
    }
    assert_eq!(users(&fixture), before);
}

#[test]
fn differences_are_those_git_writes_without_colours_renames_and_programs() {
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
    let written = |style| String::from_utf8(workspaces.diff(&from, &to, style).unwrap()).unwrap();
    assert_eq!(written(DiffStyle::Names), ".gitattributes\nREADME\nbinary\nmoved\nrenamed\n");
    let plain =
        ["-c", "diff.noprefix=false", "diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames"];
    let theirs = |style: &str| {
        let arguments: Vec<&str> = plain.into_iter().chain([style, &from.0, &to.0]).collect();
        String::from_utf8(git(&fixture.user, &arguments)).unwrap()
    };
    assert_eq!(written(DiffStyle::Patch), theirs("--patch"));
    assert_eq!(written(DiffStyle::Stat), theirs("--stat=80"));
    assert!(written(DiffStyle::Patch).contains("Binary files /dev/null and b/binary differ\n"));
    assert!(!marker.exists());
    assert_eq!(workspaces.diff(&to, &to, DiffStyle::Patch).unwrap(), b"");
    let unknown = workspaces.diff(&from, &CommitId("12".repeat(20)), DiffStyle::Stat);
    assert!(matches!(unknown, Err(WorkspaceError::NoSuchCommit(_))), "{unknown:?}");
}

fn seen(slot: &dyn Slot) -> Vec<IgnoredFile> {
    let is_wanted = |path: &[u8]| !path.starts_with(b"target/");
    slot.ignored(&is_wanted).unwrap()
}

fn file(path: &str, content: &str) -> IgnoredFile {
    let content = *blake3::hash(content.as_bytes()).as_bytes();
    IgnoredFile { path: path.as_bytes().to_vec(), stamp: Stamp::File { content, executable: false } }
}

#[test]
fn files_that_no_commit_has_are_seen_whatever_the_agent_makes_of_the_rules() {
    let fixture = Fixture::new();
    fixture.write(".env", "SECRET=1\n");
    fixture.write("conf/.env", "SECRET=2\n");
    let workspaces = fixture.open();
    let base = fixture.base(&workspaces);
    let slot = workspaces.slot(Purpose::Agent, &base).unwrap();
    workspaces.copy_ignored(&*slot, &["**/.env".to_string()]).unwrap();
    shell(slot.directory(), "mkdir -p target; echo x > target/cache");
    let before = [file(".env", "SECRET=1\n"), file("conf/.env", "SECRET=2\n")];
    assert_eq!(seen(&*slot), before);
    // Neither rules, nor a repository of its own, nor an index that ignores changes hide anything.
    shell(
        slot.directory(),
        "echo '*' > .gitignore; git init -q conf; rm -r conf/.git; git update-index --assume-unchanged README; \
         mkdir secret; echo x > secret/new; git init -q secret; rm -rf secret/.git/*; echo changed > conf/.env; rm .env",
    );
    let after = [file("conf/.env", "changed\n"), file("secret/new", "x\n")];
    assert_eq!(seen(&*slot), after);
    shell(slot.directory(), "echo > .gitignore; echo x > README");
    assert_eq!(seen(&*slot), after);
}

#[test]
fn links_special_files_modes_and_closed_directories_are_told_apart() {
    let fixture = Fixture::new();
    let workspaces = fixture.open();
    let base = fixture.base(&workspaces);
    let slot = workspaces.slot(Purpose::Agent, &base).unwrap();
    symlink("/etc", slot.directory().join("a.log")).unwrap();
    fs::write(slot.directory().join("c.log"), vec![7; 300_000]).unwrap();
    shell(
        slot.directory(),
        "mkfifo b.log; chmod 111 c.log; mkdir d; echo x > d/e.log; chmod 000 d/e.log d; rm README; mkdir README; echo y > README/f",
    );
    let large = *blake3::hash(&vec![7; 300_000]).as_bytes();
    let at = |path: &str, stamp| IgnoredFile { path: path.as_bytes().to_vec(), stamp };
    let expected = [
        file("README/f", "y\n"),
        at("a.log", Stamp::Link(b"/etc".to_vec())),
        at("b.log", Stamp::Special),
        at("c.log", Stamp::File { content: large, executable: true }),
        file("d/e.log", "x\n"),
    ];
    assert_eq!(slot.ignored(&|_| true).unwrap(), expected);
    assert_eq!(slot.ignored(&|path| path.ends_with(b"/f")).unwrap(), expected[..1]);
    assert_eq!(slot.ignored(&|_| false).unwrap(), []);
}

#[test]
fn notes_last_as_long_as_the_slot() {
    let fixture = Fixture::new();
    let workspaces = fixture.open();
    let base = fixture.base(&workspaces);
    let noted = || workspaces.slot(Purpose::Check, &base).unwrap().note("set-up");
    for rebuilt in [
        "rm -rf check-0/tree",
        "rm -rf check-0",
        "rm -rf check-0/git/* check-0/tree; mkdir check-0/git/index",
    ] {
        let mut slot = workspaces.slot(Purpose::Check, &base).unwrap();
        assert_eq!(slot.note("set-up"), None);
        slot.set_note("set-up", b"key \xff\0").unwrap();
        slot.set_note("set-up", b"key \xff\0 2").unwrap();
        slot.take("t", "m").unwrap();
        assert!(matches!(slot.set_note("../tree/x", b""), Err(WorkspaceError::InvalidName(_))));
        drop(slot);
        assert_eq!(noted(), Some(b"key \xff\0 2".to_vec()));
        shell(workspaces.pool(), rebuilt);
        assert_eq!(noted(), None, "{rebuilt}");
    }
}

#[test]
fn a_stop_ends_the_waiting_and_not_a_slot_that_is_free() {
    let fixture = Fixture::new();
    let wait = Duration::from_secs(600);
    let workspaces = fixture.open_with(Options { agent_slots: 1, wait, ..Options::default() });
    let at = fixture.base(&workspaces);
    let request = SlotRequest { purpose: Purpose::Agent, at: &at, unfinished: None };
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
