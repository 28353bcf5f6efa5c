//! Whatever an agent does to its repository, its files are what is taken, and the user's repository stays as it was.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use fixpoint_ports::{CommitId, Purpose, TakenTree, Workspaces};

use crate::fixture::{Ask, Fixture, bytes_path, git, shell, users};

/// Lets an agent loose in a slot, takes its tree, and compares the user's repository with what it was.
fn agent(fixture: &Fixture, act: impl FnOnce(&Path)) -> (CommitId, TakenTree) {
    let before = users(fixture);
    let workspaces = fixture.open();
    let base = fixture.base(&workspaces);
    let mut slot = workspaces.slot(Purpose::Agent, &base).unwrap();
    act(slot.directory());
    let taken = slot.take("taken", "what the agent left\n").unwrap();
    assert_eq!(users(fixture), before);
    // Taking again finds the same, and the slot is usable afterwards.
    assert_eq!(slot.take("again", "m").unwrap().tree, taken.tree);
    drop(slot);
    let mut next = workspaces.slot(Purpose::Agent, &base).unwrap();
    assert_eq!(fixture.files(&next.take("clean", "m").unwrap().commit), fixture.files(&base));
    assert_eq!(users(fixture), before);
    (base, taken)
}

fn changed(fixture: &Fixture, base: &CommitId, taken: &TakenTree) -> Vec<String> {
    let changes = fixture.open().changes(base, &taken.commit).unwrap();
    changes.into_iter().map(|change| String::from_utf8_lossy(&change.path).into_owned()).collect()
}

#[test]
fn commits_amends_rebases_branches_and_stashes_make_no_difference() {
    let scripts = [
        "git add -A; git commit -qm one; echo y > c; git add c; git commit -q --amend -m two",
        "git add -A; git commit -qm one; git checkout -q --orphan o; git commit -qm two; echo y > c",
        "echo y > c; git add -A; git commit -qm one; git rebase -q --root --onto HEAD~0 || git rebase --abort",
        "git checkout -qb other; git add -A; git commit -qm x; git checkout -q -; git merge -q other; echo y > c",
        "echo y > c; git add -A; git stash -q; git stash apply -q; git branch -D fixpoint 2>/dev/null || true",
        "echo y > c; rm -rf .git",
        "echo y > c; rm -rf .git; git init -q; git add -A; git -c user.name=n -c user.email=e commit -qm mine",
        "echo y > c; rm -rf .git; echo 'gitdir: /nonexistent' > .git",
        "echo y > c; echo '*' > .git/info/exclude; echo garbage > .git/index; touch .git/index.lock",
        "echo y > c; git update-index --assume-unchanged README; git update-index --skip-worktree README",
    ];
    for script in scripts {
        let fixture = Fixture::new();
        let identity = "git config user.name n; git config user.email e";
        let (base, taken) = agent(&fixture, |slot| {
            shell(slot, &format!("{identity}; echo x > README; echo z > b; {script}"))
        });
        assert_eq!(changed(&fixture, &base, &taken), ["README", "b", "c"], "{script}");
    }
}

#[test]
fn a_deleted_repository_does_not_uncover_one_further_up() {
    let fixture = Fixture::new();
    // The user keeps a directory above the slots under version control.
    git(fixture.root.path(), &["init", "-q"]);
    let (_, _) = agent(&fixture, |slot| {
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
    let (base, taken) = agent(&fixture, |slot| {
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
    assert_eq!(changed(&fixture, &base, &taken), [".gitattributes", "README"]);
}

#[test]
fn attributes_cannot_make_lines_uncountable_or_files_unreadable() {
    let fixture = Fixture::new();
    let (base, taken) = agent(&fixture, |slot| {
        shell(
            slot,
            "printf '* -diff working-tree-encoding=no-such-encoding\\n*.txt text\\n' > .gitattributes; \
             echo x > README; printf 'x\\r\\n' > lines.txt",
        );
    });
    let changes = fixture.open().changes(&base, &taken.commit).unwrap();
    let lines: Vec<_> = changes.iter().map(|change| change.lines).collect();
    assert_eq!(lines, [Some(2), Some(2), Some(1)]);
    assert_eq!(fixture.content(&taken.commit, "lines.txt"), "x\n", "the other attributes are in force");
}

#[test]
fn nested_repositories_hide_nothing() {
    let fixture = Fixture::new();
    let (base, taken) = agent(&fixture, |slot| {
        let script = "git init -q nested; echo x > nested/file; echo '*.tmp' > nested/.gitignore; echo y > nested/a.tmp; \
            git init -q nested/deeper; echo x > nested/deeper/file; \
            (cd nested/deeper; git add -A; git -c user.name=n -c user.email=e commit -qm x); \
            git init -q src; echo x > src/new; git init -q --bare bare.git; \
            mkdir -p target/kept; git init -q target/kept";
        shell(slot, script);
    });
    let changed = changed(&fixture, &base, &taken);
    for expected in ["nested/file", "nested/.gitignore", "nested/deeper/file", "src/new", "bare.git/HEAD"] {
        assert!(changed.iter().any(|path| path == expected), "{expected} in {changed:?}");
    }
    assert!(
        !changed
            .iter()
            .any(|path| path.contains("/.git/") || path.contains("target") || path.contains(".tmp"))
    );
    assert!(fixture.files(&taken.commit).iter().all(|file| !file.starts_with("160000")));
}

#[test]
fn links_modes_types_and_special_files() {
    let fixture = Fixture::new();
    let (base, taken) = agent(&fixture, |slot| {
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
    assert_eq!(fixture.files(&taken.commit), expected);
    let gone = ["README", "run", "src/deep/data", "src/main.rs"];
    let changed = changed(&fixture, &base, &taken);
    assert!(gone.iter().all(|path| changed.iter().any(|change| change == path)), "{changed:?}");
}

#[test]
fn odd_and_long_names() {
    let fixture = Fixture::new();
    let names: [&[u8]; 7] =
        [b"a b", b"new\nline", b"bytes \xff\x80", b"-rf", b":(glob)x", b"\"quoted\\", b"\x01\x7f tab\t"];
    let (base, taken) = agent(&fixture, |slot| {
        for name in names {
            fs::write(slot.join(bytes_path(name)), "x").unwrap();
        }
        fs::write(slot.join("n".repeat(255)), "x").unwrap();
        let deep = slot.join(vec!["d".repeat(200); 15].join("/"));
        fs::create_dir_all(&deep).unwrap();
        fs::write(deep.join("file"), "x").unwrap();
    });
    let changes = fixture.open().changes(&base, &taken.commit).unwrap();
    let paths: Vec<&[u8]> = changes.iter().map(|change| change.path.as_slice()).collect();
    assert!(names.iter().all(|name| paths.contains(name)), "{paths:?}");
    assert_eq!(paths.len(), names.len() + 2);
}

#[test]
fn everything_deleted_even_the_directory() {
    for script in
        ["rm -rf ./* .git*", "d=$PWD; cd /; rm -rf \"$d\"", "d=$PWD; cd /; rm -rf \"$d\"; ln -s /tmp \"$d\""]
    {
        let fixture = Fixture::new();
        let (base, taken) = agent(&fixture, |slot| shell(slot, script));
        assert_eq!(fixture.files(&taken.commit), Vec::<String>::new(), "{script}");
        assert_eq!(changed(&fixture, &base, &taken), fixture_paths(&fixture, &base));
    }
}

fn fixture_paths(fixture: &Fixture, base: &CommitId) -> Vec<String> {
    fixture.files(base).iter().map(|file| file.split_once(' ').unwrap().1.to_string()).collect()
}

#[test]
fn ignored_files_are_not_taken_and_tracked_ones_are_even_when_ignored() {
    let fixture = Fixture::new();
    fixture.write("kept.log", "tracked\n");
    git(&fixture.user, &["add", "-f", "kept.log"]);
    fixture.commit("tracked though ignored");
    let (base, taken) = agent(&fixture, |slot| {
        shell(slot, "echo README >> .gitignore; echo x > README; echo x > kept.log; echo x > new.log");
    });
    assert_eq!(changed(&fixture, &base, &taken), [".gitignore", "README", "kept.log"]);
}

#[test]
fn a_change_within_the_second_that_keeps_size_and_time_is_seen() {
    let fixture = Fixture::new();
    let (base, taken) = agent(&fixture, |slot| {
        shell(
            slot,
            "touch -r README ../stamp; printf 'HELLO\\n' > README; touch -r ../stamp README; rm ../stamp",
        );
    });
    assert_eq!(changed(&fixture, &base, &taken), ["README"]);
}
