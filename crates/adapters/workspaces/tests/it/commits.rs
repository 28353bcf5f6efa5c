//! Changes between commits, merge bases, and commits made of parts of others.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use fixpoint_ports::{ChangeKind, FileChange, WorkspaceError, Workspaces};

use crate::fixture::{Fixture, shell, users_files};

fn change(path: &str, kind: ChangeKind, lines: Option<u64>) -> FileChange {
    FileChange { path: path.as_bytes().to_vec(), kind, lines }
}

/// The line that a script prints.
fn output(directory: &Path, script: &str) -> String {
    let output = Command::new("sh").args(["-ec", script]).current_dir(directory).output().unwrap();
    assert!(output.status.success(), "{script}");
    String::from_utf8(output.stdout).unwrap().trim().to_string()
}

#[test]
fn every_kind_of_change_has_its_line_count() {
    let fixture = Fixture::new();
    fixture.write("moved", "a\nb\nc\n");
    fixture.write("same", "a\n");
    let before = fixture.commit("before");
    shell(
        &fixture.user,
        "git mv moved renamed; chmod +x same; printf 'hello\\nworld\\n' > README; rm run; rm src/main.rs",
    );
    fs::write(fixture.user.join("binary"), [0, 1, 2, 255]).unwrap();
    symlink("target", fixture.user.join("src/main.rs")).unwrap();
    let after = fixture.commit("after");
    let expected = [
        change("README", ChangeKind::Modified, Some(1)),
        change("binary", ChangeKind::Added, None),
        change("moved", ChangeKind::Deleted, Some(3)),
        change("renamed", ChangeKind::Added, Some(3)),
        change("run", ChangeKind::Deleted, Some(1)),
        change("same", ChangeKind::TypeChanged, Some(0)),
        change("src/main.rs", ChangeKind::TypeChanged, Some(2)),
    ];
    let workspaces = fixture.open();
    assert_eq!(workspaces.changes(&before, &after).unwrap(), expected);
    assert_eq!(workspaces.changes(&after, &after).unwrap(), []);
    let unknown = fixpoint_ports::CommitId("0123".repeat(10));
    assert!(matches!(workspaces.changes(&before, &unknown), Err(WorkspaceError::NoSuchCommit(_))));
}

#[test]
fn a_graft_changes_exactly_the_named_paths() {
    let fixture = Fixture::new();
    let onto = fixture.commit("onto");
    shell(
        &fixture.user,
        "echo x > README; echo y > src/main.rs; rm run; mkdir d; echo n > d/new; printf n > 'a\nb'",
    );
    shell(&fixture.user, "rm link; mkdir link; echo z > link/file");
    let from = fixture.commit("from");
    let before = users_files(&fixture);
    let workspaces = fixture.open();
    let paths = |names: &[&str]| names.iter().map(|name| name.as_bytes().to_vec()).collect::<Vec<_>>();
    let named = paths(&["README", "run", "d/new", "a\nb", "link/file", "link", "no such path", ".gitignore"]);
    let grafted = workspaces.graft(&onto, &from, &named, "grafted").unwrap();
    let remaining = workspaces.changes(&grafted.commit, &from).unwrap();
    assert_eq!(remaining, [change("src/main.rs", ChangeKind::Modified, Some(2))]);
    let nothing = workspaces.graft(&onto, &from, &[], "nothing").unwrap();
    assert_eq!(workspaces.changes(&onto, &nothing.commit).unwrap(), []);
    let all: Vec<_> =
        workspaces.changes(&onto, &from).unwrap().into_iter().map(|change| change.path).collect();
    let whole = workspaces.graft(&onto, &from, &all, "whole").unwrap();
    assert_eq!(workspaces.changes(&from, &whole.commit).unwrap(), []);
    // The other way round gives the first tree again.
    let back = workspaces.graft(&from, &onto, &all, "back").unwrap();
    assert_eq!(workspaces.changes(&onto, &back.commit).unwrap(), []);
    assert_eq!(users_files(&fixture), before);
}

#[test]
fn only_directories_above_a_grafted_path_differ() {
    let fixture = Fixture::new();
    shell(
        &fixture.user,
        "mkdir -p a/b/c a/b/e a-b top; for f in a/b/c/x a/b/e/y a/z a-b/w top/v a.txt; do echo 1 > $f; done",
    );
    let onto = fixture.commit("onto");
    shell(
        &fixture.user,
        "echo 2 > a/b/c/x; rm -r a/b/e; mkdir -p a/n/m; echo 2 > a/n/m/o; rm a/z; mkdir a/z; echo 2 > a/z/p",
    );
    shell(&fixture.user, "chmod +x a.txt; rm -r top; echo 2 > top");
    let from = fixture.commit("from");
    let rows: [(&str, &[&str]); 7] = [
        ("an edit far down", &["a/b/c/x"]),
        ("the last file of a directory", &["a/b/e/y"]),
        ("new directories", &["a/n/m/o"]),
        ("a directory in place of a file", &["a/z/p"]),
        ("a file in place of a directory", &["top"]),
        ("a mode", &["a.txt"]),
        ("all", &["a/b/c/x", "a/b/e/y", "a/n/m/o", "a/z", "a/z/p", "a.txt", "top", "top/v"]),
    ];
    for (row, paths) in rows {
        let workspaces = fixture.open();
        let named: Vec<Vec<u8>> = paths.iter().map(|path| path.as_bytes().to_vec()).collect();
        let grafted = workspaces.graft(&onto, &from, &named, "grafted").unwrap();
        // What git makes of the same entries.
        let index = format!("export GIT_INDEX_FILE=$PWD/.git/other; git read-tree {onto}");
        let line = |path: &&str| {
            format!(
                "l=$(git ls-tree -r {from} -- {path}); \
                 if [ -n \"$l\" ]; then echo \"$l\"; else printf '0 {}\\t{path}\\n'; fi",
                "0".repeat(40)
            )
        };
        let lines: Vec<String> = paths.iter().map(line).collect();
        let script = format!(
            "{index}; {{ {}; }} | sort | git update-index --index-info; git write-tree",
            lines.join("; ")
        );
        assert_eq!(grafted.tree.0, output(&fixture.user, &script), "{row}");
        let files = workspaces.files(&grafted.commit).unwrap();
        assert_eq!(
            files,
            fixture.open().files(&grafted.commit).unwrap(),
            "{row}: what is remembered is what git lists"
        );
    }
    assert_eq!(
        fixture.open().graft(&onto, &from, &[], "same").unwrap().tree.0,
        output(&fixture.user, &format!("git rev-parse {onto}^{{tree}}"))
    );
}

#[test]
fn the_merge_base_of_related_and_of_unrelated_commits() {
    let fixture = Fixture::new();
    let base = fixture.commit("base");
    fixture.write("README", "ours\n");
    let ours = fixture.commit("ours");
    let workspaces = fixture.open();
    let theirs = workspaces.overlay(&base, &[(b"new".to_vec(), b"x\n".to_vec())], "theirs").unwrap().commit;
    assert_eq!(workspaces.merge_base(&ours, &theirs).unwrap(), Some(base.clone()));
    assert_eq!(workspaces.merge_base(&base, &ours).unwrap(), Some(base));
    shell(&fixture.user, "git checkout -q --orphan unrelated");
    let unrelated = fixture.commit("unrelated");
    assert_eq!(workspaces.merge_base(&ours, &unrelated).unwrap(), None);
}
