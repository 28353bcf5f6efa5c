//! Whatever an agent does to its repository, its files are committed, and the user's repository stays as it was.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use fixpoint_ports::{CommitId, CommittedTree, SlotPurpose, Workspaces};

use crate::fixture::{AcquireSlot, Fixture, bytes_path, git, shell, users_files};

/// Runs an agent in a slot, commits its files, and compares the user's repository with what it was.
fn run_agent(fixture: &Fixture, act: impl FnOnce(&Path)) -> (CommitId, CommittedTree) {
    let before = users_files(fixture);
    let workspaces = fixture.open();
    let base = fixture.base(&workspaces);
    let mut slot = workspaces.slot(SlotPurpose::Agent, &base).unwrap();
    act(slot.directory());
    let committed = slot.commit("result", "what the agent left\n").unwrap();
    assert_eq!(users_files(fixture), before);
    // A second commit is the same, and the slot can be used again.
    assert_eq!(slot.commit("again", "m").unwrap().tree, committed.tree);
    drop(slot);
    let mut next = workspaces.slot(SlotPurpose::Agent, &base).unwrap();
    assert_eq!(fixture.files(&next.commit("clean", "m").unwrap().commit), fixture.files(&base));
    assert_eq!(users_files(fixture), before);
    (base, committed)
}

fn changed_paths(fixture: &Fixture, base: &CommitId, committed: &CommittedTree) -> Vec<String> {
    let changes = fixture.open().changes(base, &committed.commit).unwrap();
    changes.into_iter().map(|change| String::from_utf8_lossy(&change.path).into_owned()).collect()
}

#[test]
fn commits_amends_rebases_branches_and_stashes_make_no_difference() {
    let rows = [
        ("amend", "git add -A; git commit -qm one; echo y > c; git add c; git commit -q --amend -m two"),
        (
            "orphan",
            "git add -A; git commit -qm one; git checkout -q --orphan o; git commit -qm two; echo y > c",
        ),
        (
            "rebase",
            "echo y > c; git add -A; git commit -qm one; git rebase -q --root --onto HEAD~0 || git rebase --abort",
        ),
        (
            "merge",
            "git checkout -qb other; git add -A; git commit -qm x; git checkout -q -; git merge -q other; echo y > c",
        ),
        (
            "stash",
            "echo y > c; git add -A; git stash -q; git stash apply -q; git branch -D fixpoint 2>/dev/null || true",
        ),
        ("no repository", "echo y > c; rm -rf .git"),
        (
            "another repository",
            "echo y > c; rm -rf .git; git init -q; git add -A; git -c user.name=n -c user.email=e commit -qm mine",
        ),
        ("a link to nowhere", "echo y > c; rm -rf .git; echo 'gitdir: /nonexistent' > .git"),
        (
            "damage",
            "echo y > c; echo '*' > .git/info/exclude; echo garbage > .git/index; touch .git/index.lock",
        ),
        (
            "flags in the index",
            "echo y > c; git update-index --assume-unchanged README; git update-index --skip-worktree README",
        ),
    ];
    for (row, script) in rows {
        let fixture = Fixture::new();
        let identity = "git config user.name n; git config user.email e";
        let (base, committed) = run_agent(&fixture, |slot| {
            shell(slot, &format!("{identity}; echo x > README; echo z > b; {script}"))
        });
        assert_eq!(changed_paths(&fixture, &base, &committed), ["README", "b", "c"], "{row}");
    }
}

#[test]
fn without_its_repository_the_agent_does_not_find_one_further_up() {
    let fixture = Fixture::new();
    // The user keeps a directory above the slots under version control.
    git(fixture.root.path(), &["init", "-q"]);
    run_agent(&fixture, |slot| {
        shell(
            slot,
            "rm -rf .git; if git rev-parse --git-dir; then exit 1; fi; if git reset --hard; then exit 1; fi",
        );
    });
}

#[test]
fn settings_and_attributes_that_name_programs_run_none_of_them() {
    let fixture = Fixture::new();
    let marker = fixture.root.path().join("marker");
    let (base, committed) = run_agent(&fixture, |slot| {
        let script = format!(
            "m='touch {}'; git config filter.x.clean \"$m; cat\"; git config filter.x.smudge \"$m; cat\"; \
             git config filter.x.process \"$m\"; git config core.fsmonitor \"$m\"; \
             git config diff.x.textconv \"$m; cat\"; git config diff.external \"$m\"; \
             mkdir -p .git/hooks; printf '#!/bin/sh\\n%s\\n' \"$m\" > .git/hooks/post-index-change; \
             cp .git/hooks/post-index-change .git/hooks/reference-transaction; chmod +x .git/hooks/*; \
             echo '* filter=x diff=x merge=x' > .gitattributes; echo changed > README",
            marker.display()
        );
        shell(slot, &script);
        drop(fs::remove_file(&marker));
    });
    assert!(!marker.exists());
    assert_eq!(changed_paths(&fixture, &base, &committed), [".gitattributes", "README"]);
}

#[test]
fn attributes_turn_off_no_line_counts_and_make_no_file_unreadable() {
    let fixture = Fixture::new();
    let (base, committed) = run_agent(&fixture, |slot| {
        shell(
            slot,
            "printf '* -diff working-tree-encoding=no-such-encoding\\n*.txt text\\n' > .gitattributes; \
             echo x > README; printf 'x\\r\\n' > lines.txt",
        );
    });
    let changes = fixture.open().changes(&base, &committed.commit).unwrap();
    let lines: Vec<_> = changes.iter().map(|change| change.lines).collect();
    assert_eq!(lines, [Some(2), Some(2), Some(1)]);
    assert_eq!(fixture.content(&committed.commit, "lines.txt"), "x\n", "other attributes are in force");
}

#[test]
fn nested_repositories_hide_nothing() {
    let fixture = Fixture::new();
    let (base, committed) = run_agent(&fixture, |slot| {
        let script = "git init -q nested; echo x > nested/file; echo '*.tmp' > nested/.gitignore; echo y > nested/a.tmp; \
            git init -q nested/deeper; echo x > nested/deeper/file; \
            (cd nested/deeper; git add -A; git -c user.name=n -c user.email=e commit -qm x); \
            git init -q src; echo x > src/new; git init -q --bare bare.git; \
            mkdir -p target/kept; git init -q target/kept";
        shell(slot, script);
    });
    let paths = changed_paths(&fixture, &base, &committed);
    for expected in ["nested/file", "nested/.gitignore", "nested/deeper/file", "src/new", "bare.git/HEAD"] {
        assert!(paths.iter().any(|path| path == expected), "{expected} in {paths:?}");
    }
    let is_ignored = |path: &String| ["/.git/", "target", ".tmp"].iter().any(|part| path.contains(part));
    assert!(!paths.iter().any(is_ignored), "{paths:?}");
    assert!(fixture.files(&committed.commit).iter().all(|file| !file.starts_with("160000")));
}

#[test]
fn links_modes_types_and_special_files() {
    let fixture = Fixture::new();
    let (base, committed) = run_agent(&fixture, |slot| {
        symlink("b", slot.join("a")).unwrap();
        symlink("a", slot.join("b")).unwrap();
        symlink("/etc", slot.join("outside")).unwrap();
        let script = "rm README; mkdir README; echo x > README/inside; rm -r src; ln -s /tmp src; \
            chmod +x link .gitignore; rm run; mkfifo run; mkfifo pipe; echo s > locked; chmod 000 locked; \
            mkdir closed; echo s > closed/file; chmod 000 closed";
        shell(slot, script);
    });
    let expected = [
        "100755 .gitignore",
        "100644 README/inside",
        "120000 a",
        "120000 b",
        "100644 closed/file",
        "120000 link",
        "100644 locked",
        "120000 outside",
        "120000 src",
    ];
    assert_eq!(fixture.files(&committed.commit), expected);
    let deleted = ["README", "run", "src/deep/data", "src/main.rs"];
    let paths = changed_paths(&fixture, &base, &committed);
    assert!(deleted.iter().all(|path| paths.iter().any(|changed| changed == path)), "{paths:?}");
}

#[test]
fn unusual_and_long_names() {
    let fixture = Fixture::new();
    let names: [&[u8]; 7] =
        [b"a b", b"new\nline", b"bytes \xff\x80", b"-rf", b":(glob)x", b"\"quoted\\", b"\x01\x7f tab\t"];
    let (base, committed) = run_agent(&fixture, |slot| {
        for name in names {
            fs::write(slot.join(bytes_path(name)), "x").unwrap();
        }
        fs::write(slot.join("n".repeat(255)), "x").unwrap();
        let deep = slot.join(vec!["d".repeat(200); 15].join("/"));
        fs::create_dir_all(&deep).unwrap();
        fs::write(deep.join("file"), "x").unwrap();
    });
    let changes = fixture.open().changes(&base, &committed.commit).unwrap();
    let paths: Vec<&[u8]> = changes.iter().map(|change| change.path.as_slice()).collect();
    assert!(names.iter().all(|name| paths.contains(name)), "{paths:?}");
    assert_eq!(paths.len(), names.len() + 2);
}

#[test]
fn all_files_are_deleted() {
    let rows = [
        ("all files", "rm -rf ./* .git*"),
        ("the directory itself", "d=$PWD; cd /; rm -rf \"$d\""),
        ("a link in place of the directory", "d=$PWD; cd /; rm -rf \"$d\"; ln -s /tmp \"$d\""),
    ];
    for (row, script) in rows {
        let fixture = Fixture::new();
        let (base, committed) = run_agent(&fixture, |slot| shell(slot, script));
        assert_eq!(fixture.files(&committed.commit), Vec::<String>::new(), "{row}");
        assert_eq!(changed_paths(&fixture, &base, &committed), fixture_paths(&fixture, &base), "{row}");
    }
}

fn fixture_paths(fixture: &Fixture, base: &CommitId) -> Vec<String> {
    fixture.files(base).iter().map(|file| file.split_once(' ').unwrap().1.to_string()).collect()
}

#[test]
fn ignored_files_are_not_committed_unless_they_are_tracked() {
    let fixture = Fixture::new();
    fixture.write("kept.log", "tracked\n");
    git(&fixture.user, &["add", "-f", "kept.log"]);
    fixture.commit("tracked though ignored");
    let (base, committed) = run_agent(&fixture, |slot| {
        shell(slot, "echo README >> .gitignore; echo x > README; echo x > kept.log; echo x > new.log");
    });
    assert_eq!(changed_paths(&fixture, &base, &committed), [".gitignore", "README", "kept.log"]);
}

#[test]
fn a_change_that_keeps_size_and_modification_time_is_committed() {
    let fixture = Fixture::new();
    let (base, committed) = run_agent(&fixture, |slot| {
        shell(
            slot,
            "touch -r README ../time; printf 'HELLO\\n' > README; touch -r ../time README; rm ../time",
        );
    });
    assert_eq!(changed_paths(&fixture, &base, &committed), ["README"]);
}
