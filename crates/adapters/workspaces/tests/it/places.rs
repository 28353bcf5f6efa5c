//! Every kind of place a user may start in.

use std::fs;
use std::path::Path;

use fixpoint_ports::{ChangeKind, CommitId, Purpose, Workspaces};
use fixpoint_workspaces::{LocalWorkspaces, Options, Placement};

use crate::fixture::{Ask, Fixture, ask, files, git, shell, users};

fn open(start: &Path, fixture: &Fixture) -> LocalWorkspaces {
    LocalWorkspaces::open(start, &fixture.slots(), Options::default()).unwrap()
}

/// One attempt that adds a file, from snapshot to result.
fn attempt(workspaces: &LocalWorkspaces) -> CommitId {
    let base = workspaces.snapshot("base").unwrap().commit;
    let mut slot = workspaces.slot(Purpose::Agent, &base).unwrap();
    shell(slot.directory(), "git log --oneline > /dev/null; test -z \"$(git status --porcelain)\"");
    shell(slot.directory(), "echo x > added");
    let taken = slot.take("taken", "m").unwrap();
    let changes = workspaces.changes(&base, &taken.commit).unwrap();
    assert_eq!(changes.len(), 1, "{changes:?}");
    assert_eq!((changes[0].kind, changes[0].path.as_slice()), (ChangeKind::Added, &b"added"[..]));
    taken.commit
}

#[test]
fn a_sub_directory_means_the_whole_repository() {
    let fixture = Fixture::new();
    fixture.write("src/untracked", "x\n");
    fixture.write("elsewhere", "x\n");
    let workspaces = open(&fixture.user.join("src/deep"), &fixture);
    let snapshot = workspaces.snapshot("base").unwrap();
    assert_eq!(workspaces.tree(), fixture.user);
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
    let before = users(&fixture);
    let snapshot = workspaces.snapshot("base").unwrap();
    assert!(fixture.files(&snapshot.commit).contains(&"100644 only here".to_string()));
    let taken = attempt(&workspaces);
    assert_eq!(ask(&fixture.user, &["rev-parse", "refs/fixpoint/taken"]), taken.0);
    assert_eq!(users(&fixture), before);
}

#[test]
fn a_submodule_is_a_commit_outside_and_a_repository_inside() {
    let inner = Fixture::new();
    let outer = Fixture::new();
    git(&outer.user, &["submodule", "--quiet", "add", inner.user.to_str().unwrap(), "sub"]);
    outer.commit("with a submodule");
    let before = users(&outer);
    let workspaces = outer.open();
    let base = outer.base(&workspaces);
    assert!(outer.files(&base).contains(&"160000 sub".to_string()));
    attempt(&workspaces);
    let mut slot = workspaces.slot(Purpose::Agent, &base).unwrap();
    fs::write(slot.directory().join("sub/hidden"), "x\n").unwrap();
    let taken = slot.take("hidden", "m").unwrap();
    let changes = workspaces.changes(&base, &taken.commit).unwrap();
    let seen: Vec<_> = changes.iter().map(|change| (change.path.as_slice(), change.kind)).collect();
    assert_eq!(seen, [(&b"sub"[..], ChangeKind::Deleted), (b"sub/hidden", ChangeKind::Added)]);
    drop(slot);
    let mut slot = workspaces.slot(Purpose::Agent, &base).unwrap();
    assert_eq!(outer.files(&slot.take("clean", "m").unwrap().commit), outer.files(&base));
    shell(
        slot.directory(),
        "git init -q sub; cd sub; echo x > f; git add f; git -c user.name=n -c user.email=e commit -qm x",
    );
    let moved = slot.take("moved", "m").unwrap();
    let changes = workspaces.changes(&base, &moved.commit).unwrap();
    let seen: Vec<_> =
        changes.iter().map(|change| (change.path.as_slice(), change.kind, change.lines)).collect();
    assert_eq!(seen, [(&b"sub"[..], ChangeKind::Modified, None)]);
    assert_eq!(users(&outer), before);
    drop(slot);
    let taken = attempt(&open(&outer.user.join("sub/src"), &outer));
    assert!(files(&outer.user.join("sub"), &taken).contains(&"100644 added".to_string()));
}

#[test]
fn a_repository_inside_another_is_its_own() {
    let fixture = Fixture::new();
    let inner = fixture.user.join("vendor/inner");
    fs::create_dir_all(&inner).unwrap();
    git(&inner, &["init", "-q"]);
    fs::write(inner.join("file"), "x\n").unwrap();
    let workspaces = open(&inner, &fixture);
    assert_eq!(files(&inner, &workspaces.snapshot("base").unwrap().commit), ["100644 file"]);
    // From outside it is somebody else's work.
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
    let options: [&[&str]; 4] = [
        &[],
        &["--depth=1"],
        &["--filter=blob:none", "--no-checkout"],
        &["--filter=tree:0", "--no-checkout"],
    ];
    for arguments in options {
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
            let before = users(&clone);
            let slot = workspaces.slot(Purpose::Check, &base).unwrap();
            assert_eq!(
                fs::read_to_string(slot.directory().join("README")).unwrap(),
                "second\n",
                "{arguments:?}"
            );
            assert_eq!(users(&clone), before);
        } else {
            git(&clone.user, &["checkout", "-q", "--detach"]);
            attempt(&clone.open());
        }
    }
}

#[test]
fn objects_that_cannot_be_written_are_left_alone() {
    let fixture = Fixture::new();
    fixture.write("untracked", "x\n");
    let before = crate::fixture::listing(&fixture.user, &[]);
    let options = || Options { placement: Placement::Apart, ..Options::default() };
    let workspaces = fixture.open_with(options());
    let taken = attempt(&workspaces);
    let base = workspaces.resolve("refs/fixpoint/base", "same").unwrap().commit;
    let grafted = workspaces.graft(&base, &taken, &[b"added".to_vec()], "grafted").unwrap();
    assert_eq!(workspaces.changes(&taken, &grafted.commit).unwrap(), []);
    assert_eq!(workspaces.kept().unwrap().len(), 4);
    // Another process finds what was kept.
    assert_eq!(fixture.open_with(options()).resolve("refs/fixpoint/taken", "t").unwrap().commit, taken);
    assert_eq!(crate::fixture::listing(&fixture.user, &[]), before);
}

#[test]
fn a_read_only_object_directory_is_worked_around() {
    // Root may write all the same; then the results simply lie in the repository.
    let fixture = Fixture::new();
    shell(&fixture.user, "chmod -R a-w .git/objects");
    let before = users(&fixture);
    attempt(&fixture.open());
    assert_eq!(users(&fixture), before);
    shell(&fixture.user, "chmod -R u+w .git/objects");
}

#[test]
fn odd_places_and_slots_inside_the_tree() {
    let mut fixture = Fixture::new();
    let odd = fixture.root.path().canonicalize().unwrap().join("odd \"name\"\nwith: lines");
    fs::rename(&fixture.user, &odd).unwrap();
    fixture.user = odd;
    attempt(&fixture.open());
    let inside = fixture.user.join("some [slots]");
    let workspaces = LocalWorkspaces::open(&fixture.user, &inside, Options::default()).unwrap();
    attempt(&workspaces);
    let snapshot = workspaces.snapshot("later").unwrap();
    assert_eq!(snapshot.origin, fixpoint_ports::SnapshotOrigin::Commit);
}

#[test]
fn another_object_format() {
    let mut fixture = Fixture::without_commit();
    fixture.user = fixture.root.path().canonicalize().unwrap().join("sha256");
    git(fixture.root.path(), &["init", "-q", "--object-format=sha256", "sha256"]);
    fixture.write("file", "x\n");
    assert_eq!(attempt(&fixture.open()).0.len(), 64);
}
