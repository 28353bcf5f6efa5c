//! Every kind of repository, and of directory in one, that a user may start in.

use std::fs;
use std::path::Path;

use fixpoint_ports::{ChangeKind, CommitId, SlotPurpose, WorkspaceError, Workspaces};
use fixpoint_workspaces::{GitWorkspaces, ResultStorage, WorkspaceOptions};

use crate::fixture::{AcquireSlot, Fixture, ask, files, git, listing, shell, users_files};

fn open(start: &Path, fixture: &Fixture) -> GitWorkspaces {
    GitWorkspaces::open(start, &fixture.slots(), WorkspaceOptions::default()).unwrap()
}

/// One attempt that adds a file, from the snapshot to its commit.
fn attempt(workspaces: &GitWorkspaces) -> CommitId {
    let base = workspaces.snapshot("base").unwrap().commit;
    let mut slot = workspaces.slot(SlotPurpose::Agent, &base).unwrap();
    shell(slot.directory(), "git log --oneline > /dev/null; test -z \"$(git status --porcelain)\"");
    shell(slot.directory(), "echo x > added");
    let committed = slot.commit("result", "m").unwrap();
    let changes = workspaces.changes(&base, &committed.commit).unwrap();
    assert_eq!(changes.len(), 1, "{changes:?}");
    assert_eq!((changes[0].kind, changes[0].path.as_slice()), (ChangeKind::Added, &b"added"[..]));
    committed.commit
}

#[test]
fn a_sub_directory_means_the_whole_repository() {
    let fixture = Fixture::new();
    fixture.write("src/untracked", "x\n");
    fixture.write("elsewhere", "x\n");
    let workspaces = open(&fixture.user.join("src/deep"), &fixture);
    let snapshot = workspaces.snapshot("base").unwrap();
    assert_eq!(workspaces.root(), fixture.user);
    assert_eq!(snapshot.tree, fixture.open().snapshot("base").unwrap().tree);
    attempt(&workspaces);
}

#[test]
fn a_linked_worktree_shares_results_and_has_its_own_head() {
    let fixture = Fixture::new();
    let linked = fixture.root.path().canonicalize().unwrap().join("linked tree");
    git(&fixture.user, &["worktree", "add", "-q", "-b", "side", linked.to_str().unwrap()]);
    fs::write(linked.join("only here"), "x\n").unwrap();
    let workspaces = open(&linked, &fixture);
    let before = users_files(&fixture);
    let snapshot = workspaces.snapshot("base").unwrap();
    assert!(fixture.files(&snapshot.commit).contains(&"100644 only here".to_string()));
    let result = attempt(&workspaces);
    assert_eq!(ask(&fixture.user, &["rev-parse", "refs/fixpoint/result"]), result.0);
    assert_eq!(users_files(&fixture), before);
}

#[test]
fn a_submodule_is_a_commit_outside_and_a_repository_inside() {
    let inner = Fixture::new();
    let outer = Fixture::new();
    git(&outer.user, &["submodule", "--quiet", "add", inner.user.to_str().unwrap(), "sub"]);
    outer.commit("with a submodule");
    let before = users_files(&outer);
    let workspaces = outer.open();
    let base = outer.base(&workspaces);
    assert!(outer.files(&base).contains(&"160000 sub".to_string()));
    attempt(&workspaces);
    let mut slot = workspaces.slot(SlotPurpose::Agent, &base).unwrap();
    fs::write(slot.directory().join("sub/hidden"), "x\n").unwrap();
    let committed = slot.commit("hidden", "m").unwrap();
    let changes = workspaces.changes(&base, &committed.commit).unwrap();
    let changed: Vec<_> = changes.iter().map(|change| (change.path.as_slice(), change.kind)).collect();
    assert_eq!(changed, [(&b"sub"[..], ChangeKind::Submodule), (b"sub/hidden", ChangeKind::Added)]);
    drop(slot);
    let mut slot = workspaces.slot(SlotPurpose::Agent, &base).unwrap();
    assert_eq!(outer.files(&slot.commit("clean", "m").unwrap().commit), outer.files(&base));
    shell(
        slot.directory(),
        "git init -q sub; cd sub; echo x > f; git add f; git -c user.name=n -c user.email=e commit -qm x",
    );
    let moved = slot.commit("moved", "m").unwrap();
    let changes = workspaces.changes(&base, &moved.commit).unwrap();
    let changed: Vec<_> =
        changes.iter().map(|change| (change.path.as_slice(), change.kind, change.lines)).collect();
    assert_eq!(changed, [(&b"sub"[..], ChangeKind::Submodule, None)]);
    assert_eq!(users_files(&outer), before);
    drop(slot);
    let result = attempt(&open(&outer.user.join("sub/src"), &outer));
    assert!(files(&outer.user.join("sub"), &result).contains(&"100644 added".to_string()));
}

#[test]
fn a_repository_inside_another_is_not_part_of_it() {
    let fixture = Fixture::new();
    let inner = fixture.user.join("vendor/inner");
    fs::create_dir_all(&inner).unwrap();
    git(&inner, &["init", "-q"]);
    fs::write(inner.join("file"), "x\n").unwrap();
    let workspaces = open(&inner, &fixture);
    assert_eq!(files(&inner, &workspaces.snapshot("base").unwrap().commit), ["100644 file"]);
    // It is not part of a snapshot of the outer one.
    let outer = fixture.open().snapshot("base").unwrap();
    assert!(fixture.files(&outer.commit).iter().all(|file| !file.contains("vendor")));
}

#[test]
fn a_detached_head_a_shallow_clone_and_a_partial_clone() {
    let origin = Fixture::new();
    origin.write("README", "second\n");
    origin.commit("second");
    git(&origin.user, &["config", "uploadpack.allowFilter", "true"]);
    git(&origin.user, &["config", "uploadpack.allowAnySHA1InWant", "true"]);
    let url = format!("file://{}", origin.user.display());
    let rows: [(&str, &[&str]); 4] = [
        ("complete", &[]),
        ("shallow", &["--depth=1"]),
        ("without files", &["--filter=blob:none", "--no-checkout"]),
        ("without directories", &["--filter=tree:0", "--no-checkout"]),
    ];
    for (row, arguments) in rows {
        let mut clone = Fixture::without_commit();
        clone.user = clone.root.path().canonicalize().unwrap().join("clone");
        let mut command = vec!["clone", "-q"];
        command.extend(arguments);
        command.extend([url.as_str(), clone.user.to_str().unwrap()]);
        git(clone.root.path(), &command);
        git(&clone.user, &["config", "protocol.file.allow", "always"]);
        if arguments.contains(&"--no-checkout") {
            let workspaces = clone.open();
            let base = workspaces.resolve("HEAD", "base").unwrap().commit;
            let before = users_files(&clone);
            let slot = workspaces.slot(SlotPurpose::Check, &base).unwrap();
            let content = fs::read_to_string(slot.directory().join("README")).unwrap();
            assert_eq!(content, "second\n", "{row}");
            assert_eq!(users_files(&clone), before, "{row}");
        } else {
            git(&clone.user, &["checkout", "-q", "--detach"]);
            attempt(&clone.open());
        }
    }
}

#[test]
fn results_can_be_stored_outside_the_repository() {
    let fixture = Fixture::new();
    fixture.write("untracked", "x\n");
    let before = listing(&fixture.user, &[]);
    let options = || WorkspaceOptions { storage: ResultStorage::Separate, ..WorkspaceOptions::default() };
    let workspaces = fixture.open_with(options());
    let result = attempt(&workspaces);
    let base = workspaces.resolve("refs/fixpoint/base", "same").unwrap().commit;
    let grafted = workspaces.graft(&base, &result, &[b"added".to_vec()], "grafted").unwrap();
    assert_eq!(workspaces.changes(&result, &grafted.commit).unwrap(), []);
    assert_eq!(workspaces.stored_refs().unwrap().len(), 4);
    let branch = workspaces.deliver_branch("fixpoint/run", &result, None);
    assert!(matches!(branch, Err(WorkspaceError::Io { .. })), "{branch:?}");
    // Another process finds what was stored.
    assert_eq!(fixture.open_with(options()).resolve("refs/fixpoint/result", "r").unwrap().commit, result);
    assert_eq!(listing(&fixture.user, &[]), before);
}

#[test]
fn a_read_only_object_directory_is_no_obstacle() {
    // Root may write all the same; then the results are stored in the repository.
    let fixture = Fixture::new();
    shell(&fixture.user, "chmod -R a-w .git/objects");
    let before = users_files(&fixture);
    attempt(&fixture.open());
    assert_eq!(users_files(&fixture), before);
    shell(&fixture.user, "chmod -R u+w .git/objects");
}

#[test]
fn unusual_names_of_directories_and_slots_inside_the_working_tree() {
    let mut fixture = Fixture::new();
    let unusual = fixture.root.path().canonicalize().unwrap().join("odd \"name\"\nwith: lines");
    fs::rename(&fixture.user, &unusual).unwrap();
    fixture.user = unusual;
    attempt(&fixture.open());
    let inside = fixture.user.join("some [slots]");
    let workspaces = GitWorkspaces::open(&fixture.user, &inside, WorkspaceOptions::default()).unwrap();
    attempt(&workspaces);
    let snapshot = workspaces.snapshot("later").unwrap();
    assert_eq!(snapshot.origin, fixpoint_ports::SnapshotOrigin::Commit);
}

#[test]
fn a_repository_with_sha256_objects() {
    let mut fixture = Fixture::without_commit();
    fixture.user = fixture.root.path().canonicalize().unwrap().join("sha256");
    git(fixture.root.path(), &["init", "-q", "--object-format=sha256", "sha256"]);
    fixture.write("file", "x\n");
    assert_eq!(attempt(&fixture.open()).0.len(), 64);
}
