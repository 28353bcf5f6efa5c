//! No program that a repository's configuration names is ever started.
//!
//! Each trap creates a marker. That the traps work is shown by git itself.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use fixpoint_ports::{DiffStyle, SlotPurpose, WorkspaceError, Workspaces};
use fixpoint_workspaces::{GitWorkspaces, WorkspaceOptions};

use crate::fixture::{AcquireSlot, Fixture, git, shell};

/// A program that creates a file and fails.
fn trap(fixture: &Fixture) -> (PathBuf, PathBuf) {
    let root = fixture.root.path().canonicalize().unwrap();
    let (program, marker) = (root.join("trap"), root.join("sprung"));
    fs::write(&program, format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\nexit 1\n", marker.display())).unwrap();
    shell(&root, "chmod +x trap");
    (program, marker)
}

/// Every setting by which a repository can name a program.
fn set_traps(fixture: &Fixture, program: &Path) {
    let text = format!(
        "[core]\n fsmonitor = PROGRAM\n hooksPath = {hooks}\n sshCommand = PROGRAM\n pager = PROGRAM\n \
         editor = PROGRAM\n askPass = PROGRAM\n gitProxy = PROGRAM\n alternateRefsCommand = PROGRAM\n\
         [diff]\n external = PROGRAM\n\
         [diff \"evil\"]\n command = PROGRAM\n textconv = PROGRAM\n\
         [filter \"evil\"]\n clean = PROGRAM\n smudge = PROGRAM\n process = PROGRAM\n required = true\n\
         [merge \"evil\"]\n driver = PROGRAM\n\
         [gpg]\n program = PROGRAM\n[gpg \"ssh\"]\n program = PROGRAM\n\
         [commit]\n gpgSign = true\n[tag]\n gpgSign = true\n[log]\n showSignature = true\n\
         [credential]\n helper = PROGRAM\n\
         [alias]\n rev-parse = !PROGRAM\n status = !PROGRAM\n ls-files = !PROGRAM\n\
         [pager]\n status = PROGRAM\n diff = PROGRAM\n config = PROGRAM\n rev-parse = PROGRAM\n\
         [uploadpack]\n packObjectsHook = PROGRAM\n[sequence]\n editor = PROGRAM\n\
         [gc]\n auto = 1\n recentObjectsHook = PROGRAM\n[maintenance]\n auto = true\n",
        hooks = fixture.user.join(".hooks").display()
    );
    let text = text.replace("PROGRAM", &program.display().to_string());
    fs::write(fixture.user.join(".git/evil"), text).unwrap();
    git(&fixture.user, &["config", "include.path", "evil"]);
    fixture.write(".gitattributes", "* filter=evil diff=evil merge=evil\n");
    fs::create_dir_all(fixture.user.join(".git/info")).unwrap();
    fs::write(fixture.user.join(".git/info/attributes"), "* filter=evil diff=evil merge=evil\n").unwrap();
    for directory in [".hooks", ".git/hooks"] {
        fs::create_dir_all(fixture.user.join(directory)).unwrap();
        for hook in [
            "reference-transaction",
            "post-checkout",
            "post-index-change",
            "pre-commit",
            "post-commit",
            "post-merge",
            "fsmonitor-watchman",
            "update",
            "pre-auto-gc",
            "post-rewrite",
        ] {
            fs::copy(program, fixture.user.join(directory).join(hook)).unwrap();
        }
    }
}

/// Uses everything that workspaces offer.
fn use_everything(fixture: &Fixture) {
    let workspaces = fixture.open();
    let base = workspaces.snapshot("base").unwrap().commit;
    assert!(workspaces.ignores("x.log"));
    let commit = |reference: &str, script: &str| {
        let mut slot = workspaces.slot(SlotPurpose::Agent, &base).unwrap();
        shell(slot.directory(), script);
        slot.commit(reference, "m").unwrap().commit
    };
    let ours = commit("ours", "printf 'ONE\\ntwo\\nthree\\n' > src/deep/data; echo x > added");
    let theirs =
        commit("theirs", "printf 'one\\ntwo\\nTHREE\\n' > src/deep/data; git add -A; git commit -qm work");
    let merged = workspaces.merge(&ours, &theirs, "merged").unwrap();
    assert_eq!(merged.conflicts, Vec::<Vec<u8>>::new());
    workspaces.changes(&base, &merged.commit).unwrap();
    for style in [DiffStyle::Stat, DiffStyle::CompletePatch] {
        workspaces.diff(&base, &merged.commit, style).unwrap();
    }
    workspaces.deliver_branch("fixpoint/run", &merged.commit, None).unwrap();
    workspaces.apply(&base, &merged.commit).unwrap();
    workspaces.recover().unwrap();
    let stored = workspaces.stored_refs().unwrap();
    workspaces.delete_refs(&stored).unwrap();
}

#[test]
fn a_hostile_configuration_starts_nothing() {
    let fixture = Fixture::new();
    let (program, marker) = trap(&fixture);
    set_traps(&fixture, &program);
    fixture.write("README", "changed, so that a filter would be asked\n");
    use_everything(&fixture);
    let sprung = fs::read_to_string(&marker).unwrap_or_default();
    assert_eq!(sprung, "", "these were started");
    // The traps work.
    let mut status = Command::new("git");
    drop(status.args(["status"]).current_dir(&fixture.user).output().unwrap());
    assert!(marker.exists());
}

/// A submodule, or a repository inside the working tree, has a configuration of its own.
#[test]
fn a_hostile_repository_inside_the_working_tree_starts_nothing() {
    let fixture = Fixture::new();
    let (program, marker) = trap(&fixture);
    let inner = fixture.user.join("inner");
    fs::create_dir(&inner).unwrap();
    git(&inner, &["init", "-q"]);
    fs::write(inner.join("file"), "x\n").unwrap();
    git(&inner, &["add", "-A"]);
    git(&inner, &["commit", "-q", "-m", "inner"]);
    git(&fixture.user, &["add", "inner"]);
    git(&fixture.user, &["commit", "-q", "-m", "a submodule"]);
    git(&inner, &["config", "core.fsmonitor", program.to_str().unwrap()]);
    fs::write(inner.join("file"), "changed\n").unwrap();
    use_everything(&fixture);
    assert!(!marker.exists());
    git(&fixture.user, &["status"]);
    assert!(marker.exists());
}

#[test]
fn a_partial_clone_fetches_with_none_of_its_programs() {
    let origin = Fixture::new();
    git(&origin.user, &["config", "uploadpack.allowFilter", "true"]);
    git(&origin.user, &["config", "uploadpack.allowAnySHA1InWant", "true"]);
    let url = format!("file://{}", origin.user.display());
    let mut clone = Fixture::without_commit();
    clone.user = clone.root.path().canonicalize().unwrap().join("clone");
    let arguments =
        ["clone", "-q", "--filter=blob:none", "--no-checkout", &url, clone.user.to_str().unwrap()];
    git(clone.root.path(), &arguments);
    let (program, marker) = trap(&clone);
    let program = program.to_str().unwrap();
    git(&clone.user, &["config", "remote.origin.uploadpack", program]);
    git(&clone.user, &["config", "core.sshCommand", program]);
    git(&clone.user, &["config", "protocol.allow", "always"]);
    let workspaces = clone.open();
    let base = workspaces.resolve("HEAD", "base").unwrap().commit;
    let slot = workspaces.slot(SlotPurpose::Check, &base).unwrap();
    assert_eq!(fs::read_to_string(slot.directory().join("README")).unwrap(), "hello\n");
    assert!(!marker.exists());
    // A remote that is a command is refused.
    let mut other = Fixture::without_commit();
    other.user = other.root.path().canonicalize().unwrap().join("clone");
    let target = other.user.to_str().unwrap();
    git(other.root.path(), &["clone", "-q", "--filter=blob:none", "--no-checkout", &url, target]);
    git(&other.user, &["config", "remote.origin.url", &format!("ext::{program}")]);
    git(&other.user, &["config", "protocol.ext.allow", "always"]);
    let refused = other.open().resolve("HEAD", "base");
    assert!(
        matches!(&refused, Err(WorkspaceError::Git { command, .. }) if command == "fetch"),
        "{refused:?}"
    );
    assert!(!marker.exists());
}

#[test]
fn another_working_tree_is_not_used() {
    let fixture = Fixture::new();
    let root = fixture.root.path().canonicalize().unwrap();
    fs::write(root.join("secret"), "x\n").unwrap();
    git(&fixture.user, &["config", "core.worktree", root.to_str().unwrap()]);
    let refused = GitWorkspaces::open(&fixture.user, &fixture.slots(), WorkspaceOptions::default());
    let expected = format!(
        "the repository around {} names another working tree, {}; remove `core.worktree` from its configuration",
        fixture.user.display(),
        root.display()
    );
    assert_eq!(refused.map(drop).unwrap_err().to_string(), expected);
}
