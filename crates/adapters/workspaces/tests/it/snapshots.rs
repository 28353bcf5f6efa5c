//! A snapshot has the user's working tree as it is, and changes nothing in it.

use std::fs;
use std::os::unix::fs::symlink;

use fixpoint_ports::{CommitId, SnapshotOrigin, WorkspaceError, Workspaces};
use fixpoint_workspaces::{GitWorkspaces, WorkspaceOptions};

use crate::fixture::{AcquireSlot, Fixture, ask, bytes_path, git, shell, users_files};

#[test]
fn a_clean_tree_is_its_commit() {
    let fixture = Fixture::new();
    let head = CommitId(ask(&fixture.user, &["rev-parse", "HEAD"]));
    let before = users_files(&fixture);
    let snapshot = fixture.open().snapshot("run/base").unwrap();
    assert_eq!((snapshot.commit.clone(), snapshot.origin), (head.clone(), SnapshotOrigin::Commit));
    assert_eq!(ask(&fixture.user, &["rev-parse", "refs/fixpoint/run/base"]), head.0);
    assert_eq!(users_files(&fixture), before);
}

#[test]
fn staged_unstaged_untracked_deleted_and_unusual_files_are_in_it_and_nothing_is_touched() {
    let fixture = Fixture::new();
    let user = &fixture.user;
    fixture.write("staged", "staged\n");
    git(user, &["add", "staged"]);
    fixture.write("staged", "staged, then edited\n");
    fixture.write("src/main.rs", "fn main() { edited() }\n");
    fixture.write("new/file", "untracked\n");
    fixture.write("target/ignored", "no\n");
    fixture.write("forced.log", "ignored but added\n");
    git(user, &["add", "-f", "forced.log"]);
    fs::remove_file(user.join("src/deep/data")).unwrap();
    fs::write(user.join(bytes_path(b"bytes \xff\xfe")), "x").unwrap();
    fs::write(user.join("new\nline"), "x").unwrap();
    symlink("loop", user.join("loop")).unwrap();
    shell(user, "chmod +x README; git stash list; echo secret > .git/info/exclude; echo x > secret");
    let before = users_files(&fixture);
    let snapshot = fixture.open().snapshot("base").unwrap();
    assert_eq!(users_files(&fixture), before);
    assert_eq!(snapshot.origin, SnapshotOrigin::WorkingTree);
    let expected = [
        "100644 .gitignore",
        "100755 README",
        "100644 bytes \u{fffd}\u{fffd}",
        "100644 forced.log",
        "120000 link",
        "120000 loop",
        "100644 new\nline",
        "100644 new/file",
        "100755 run",
        "100644 src/main.rs",
        "100644 staged",
    ];
    assert_eq!(fixture.files(&snapshot.commit), expected);
    assert_eq!(fixture.content(&snapshot.commit, "staged"), "staged, then edited\n");
    let parent = ask(user, &["rev-parse", &format!("{}^", snapshot.commit)]);
    assert_eq!(parent, ask(user, &["rev-parse", "HEAD"]));
    assert_eq!(fixture.open().snapshot("again").unwrap().tree, snapshot.tree);
}

#[test]
fn an_unfinished_merge_is_in_it_with_its_conflict_markers() {
    let fixture = Fixture::new();
    git(&fixture.user, &["checkout", "-q", "-b", "other"]);
    fixture.write("README", "other\n");
    fixture.commit("other");
    git(&fixture.user, &["checkout", "-q", "main"]);
    fixture.write("README", "main\n");
    fixture.commit("main");
    shell(&fixture.user, "git -c user.name=n -c user.email=e merge other || true; test -f .git/MERGE_HEAD");
    let before = users_files(&fixture);
    let snapshot = fixture.open().snapshot("base").unwrap();
    assert!(fixture.content(&snapshot.commit, "README").contains("<<<<<<<"));
    assert_eq!(users_files(&fixture), before);
}

#[test]
fn filters_hooks_and_monitors_of_the_repository_do_not_run() {
    let fixture = Fixture::new();
    let marker = fixture.root.path().join("marker");
    let touch = format!("touch {}; cat", marker.display());
    git(&fixture.user, &["config", "filter.big.clean", &touch]);
    git(&fixture.user, &["config", "filter.big.required", "true"]);
    git(&fixture.user, &["config", "core.fsmonitor", &format!("touch {} #", marker.display())]);
    shell(
        &fixture.user,
        &format!(
            "echo '*.big filter=big' > .gitattributes; echo pointer > a.big; \
             printf '#!/bin/sh\\ntouch {}\\n' > .git/hooks/reference-transaction; chmod +x .git/hooks/*",
            marker.display()
        ),
    );
    let snapshot = fixture.open().snapshot("base").unwrap();
    assert!(!marker.exists());
    assert_eq!(fixture.content(&snapshot.commit, "a.big"), "pointer\n");
}

#[test]
fn a_repository_without_commits_needs_a_file() {
    let fixture = Fixture::without_commit();
    let workspaces = fixture.open();
    let error = workspaces.snapshot("base").unwrap_err().to_string();
    assert_eq!(error, "the repository has no commits and no files; add a file first");
    let error = workspaces.require_base(Some("HEAD")).unwrap_err().to_string();
    assert_eq!(error, "the repository has no commits; make a first commit");
    fixture.write("only", "x\n");
    let before = users_files(&fixture);
    let snapshot = workspaces.snapshot("base").unwrap();
    assert_eq!(fixture.files(&snapshot.commit), ["100644 only"]);
    assert_eq!(users_files(&fixture), before);
    let mut slot = workspaces.slot(fixpoint_ports::SlotPurpose::Agent, &snapshot.commit).unwrap();
    assert_eq!(slot.commit("taken", "m").unwrap().tree, snapshot.tree);
}

#[test]
fn directories_without_a_usable_working_tree_are_refused_with_what_to_do() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().canonicalize().unwrap();
    for repository in ["repository", "damaged"] {
        git(&root, &["init", "-q", repository]);
    }
    git(&root, &["init", "-q", "--bare", "bare.git"]);
    fs::write(root.join("damaged/.git/config"), "[core\n").unwrap();
    fs::create_dir(root.join("plain")).unwrap();
    let rows = [
        ("plain", "{} is not inside a git repository; change to one, or create one with `git init`"),
        (
            "bare.git",
            "{} is in a bare repository, not in a working tree; \
             make a working tree with `git worktree add` or `git clone`, and change to it",
        ),
        (
            "repository/.git",
            "{} is inside a git directory, not in a working tree; change to the working tree",
        ),
        (
            "damaged",
            "git cannot use the repository around {}: bad config line 1 in file .git/config; `git status` says more",
        ),
    ];
    for (directory, expected) in rows {
        let start = root.join(directory);
        let refused = GitWorkspaces::open(&start, &root.join("slots"), WorkspaceOptions::default());
        let Err(error @ WorkspaceError::UnusableRepository { .. }) = refused else { panic!("{refused:?}") };
        assert_eq!(error.to_string(), expected.replace("{}", start.to_str().unwrap()));
    }
}

#[test]
fn a_revision_is_resolved_and_stored_unless_the_reference_is_invalid() {
    let fixture = Fixture::new();
    let workspaces = fixture.open();
    let resolved = workspaces.resolve("main", "named").unwrap();
    assert_eq!(resolved.origin, SnapshotOrigin::Commit);
    assert_eq!(ask(&fixture.user, &["rev-parse", "refs/fixpoint/named"]), resolved.commit.0);
    assert!(matches!(workspaces.resolve("nothing", "x"), Err(WorkspaceError::NoSuchCommit(_))));
    assert!(matches!(workspaces.resolve("--all", "x"), Err(WorkspaceError::NoSuchCommit(_))));
    let before = users_files(&fixture);
    for bad in ["../heads/main", "a..b", "", "a b", "x.lock", "a\nb"] {
        assert!(workspaces.resolve("main", bad).is_err(), "{bad:?}");
    }
    assert_eq!(users_files(&fixture), before);
}

#[test]
fn a_split_index_is_read() {
    let fixture = Fixture::new();
    git(&fixture.user, &["update-index", "--split-index"]);
    fixture.write("new", "x\n");
    fixture.write("forced.log", "x\n");
    git(&fixture.user, &["add", "-f", "forced.log"]);
    let before = users_files(&fixture);
    let snapshot = fixture.open().snapshot("base").unwrap();
    let files = fixture.files(&snapshot.commit);
    assert!(
        ["100644 new", "100644 forced.log"].iter().all(|file| files.contains(&file.to_string())),
        "{files:?}"
    );
    assert_eq!(users_files(&fixture), before);
}
