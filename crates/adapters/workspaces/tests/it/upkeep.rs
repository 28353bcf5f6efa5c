//! Ignored files brought into a slot, results let go, results delivered.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::Duration;

use fixpoint_ports::{BranchUpdate, CommitId, NotCopied, Purpose, Workspaces};
use fixpoint_workspaces::Applied;

use crate::fixture::{Ask, Fixture, ask, git, listing, shell, users};

#[test]
fn ignored_files_are_copied_and_nothing_that_leads_elsewhere() {
    let fixture = Fixture::new();
    fixture.write(".env", "SECRET=1\n");
    fixture.write("src/.env", "SECRET=2\n");
    fixture.write("target/a/b", "x\n");
    fixture.write("plain", "x\n");
    symlink("/etc/passwd", fixture.user.join("passwd.log")).unwrap();
    fixture.write("there/x.log", "x\n");
    let workspaces = fixture.open();
    let base = fixture.base(&workspaces);
    let mut slot = workspaces.slot(Purpose::Check, &base).unwrap();
    symlink("/tmp", slot.directory().join("there")).unwrap();
    symlink("/etc/hostname", slot.directory().join(".env")).unwrap();
    let patterns =
        ["**/.env", "target", "*.log", "there/x.log", "plain", "README", "../x", "/etc/passwd", "a/../../b"];
    let patterns: Vec<String> = patterns.iter().map(|pattern| pattern.to_string()).collect();
    let before = users(&fixture);
    let mut outcome = workspaces.copy_ignored(&*slot, &patterns).unwrap();
    outcome.copied.sort();
    outcome.refused.sort();
    let names: Vec<_> =
        outcome.copied.iter().map(|path| String::from_utf8_lossy(path).into_owned()).collect();
    assert_eq!(names, [".env", "src/.env", "target/a/b"]);
    let refused = [
        ("../x", NotCopied::LeavesTheTree),
        ("/etc/passwd", NotCopied::LeavesTheTree),
        ("a/../../b", NotCopied::LeavesTheTree),
        ("passwd.log", NotCopied::NoFile),
        ("there/x.log", NotCopied::ThroughLink),
    ];
    let refused: Vec<_> = refused.iter().map(|(path, why)| (path.as_bytes().to_vec(), *why)).collect();
    assert_eq!(outcome.refused, refused);
    assert_eq!(fs::read_to_string(slot.directory().join(".env")).unwrap(), "SECRET=1\n");
    fs::remove_file(slot.directory().join("there")).unwrap();
    assert_eq!(workspaces.changes(&base, &slot.take("t", "m").unwrap().commit).unwrap(), []);
    assert_eq!(users(&fixture), before);
}

#[test]
fn a_file_the_slots_commit_does_not_ignore_is_not_copied() {
    let fixture = Fixture::new();
    let old = fixture.commit("old");
    fixture.write(".gitignore", "target/\n*.log\n.env\nlater\n");
    fixture.write("later", "x\n");
    let workspaces = fixture.open();
    let slot = workspaces.slot(Purpose::Check, &old).unwrap();
    let outcome = workspaces.copy_ignored(&*slot, &["later".to_string()]).unwrap();
    assert_eq!(outcome.refused, [(b"later".to_vec(), NotCopied::NotIgnoredThere)]);
}

#[test]
fn results_are_listed_and_let_go() {
    let fixture = Fixture::new();
    let workspaces = fixture.open();
    let base = workspaces.resolve("HEAD", "run-1/base").unwrap().commit;
    workspaces.resolve("HEAD", "run-2/base").unwrap();
    let kept = workspaces.kept().unwrap();
    let names: Vec<_> = kept.iter().map(|kept| kept.reference.as_str()).collect();
    assert_eq!(names, ["run-1/base", "run-2/base"]);
    assert!(kept.iter().all(|kept| kept.commit == base && kept.age < Duration::from_secs(600)));
    workspaces.forget(&kept[..1]).unwrap();
    assert_eq!(workspaces.kept().unwrap()[0].reference, "run-2/base");
    // One that was moved meanwhile is not forgotten.
    fixture.write("x", "x");
    fixture.commit("next");
    workspaces.resolve("HEAD", "run-2/base").unwrap();
    assert!(workspaces.forget(&kept[1..]).is_err());
    assert_eq!(workspaces.kept().unwrap().len(), 1);
}

#[test]
fn unused_slots_are_pruned_and_used_ones_are_not() {
    let fixture = Fixture::new();
    let workspaces = fixture.open();
    let base = fixture.base(&workspaces);
    let held = workspaces.slot(Purpose::Agent, &base).unwrap();
    drop(workspaces.slot(Purpose::Check, &base).unwrap());
    assert_eq!(workspaces.prune_slots(Duration::from_secs(3600)).unwrap(), Vec::<String>::new());
    assert_eq!(workspaces.prune_slots(Duration::ZERO).unwrap(), ["check-0"]);
    assert!(held.directory().is_dir());
    drop(held);
    assert_eq!(workspaces.prune_slots(Duration::ZERO).unwrap(), ["agent-0"]);
    workspaces.slot(Purpose::Agent, &base).unwrap();
}

#[test]
fn a_branch_is_made_once() {
    let fixture = Fixture::new();
    let workspaces = fixture.open();
    let base = fixture.base(&workspaces);
    let deliver = |branch: &str, commit| workspaces.deliver_branch(branch, commit);
    assert_eq!(deliver("fixpoint/run-1", &base).unwrap(), BranchUpdate::Updated);
    assert_eq!(ask(&fixture.user, &["rev-parse", "fixpoint/run-1"]), base.0);
    fixture.write("x", "x");
    let next = fixture.commit("next");
    assert_eq!(deliver("fixpoint/run-1", &base).unwrap(), BranchUpdate::Updated, "again");
    assert_eq!(deliver("fixpoint/run-1", &next).unwrap(), BranchUpdate::Updated, "forward");
    assert_eq!(ask(&fixture.user, &["rev-parse", "fixpoint/run-1"]), next.0);
    assert_eq!(deliver("fixpoint/run-1", &base).unwrap(), BranchUpdate::Diverged, "never back");
    assert!(deliver("fixpoint/../main", &next).is_err());
    assert!(deliver("x", &CommitId("12".repeat(20))).is_err());
}

/// A result that edits the beginning of a file, adds one, removes one.
fn result(fixture: &Fixture) -> (CommitId, CommitId) {
    let workspaces = fixture.open();
    let base = fixture.base(&workspaces);
    let mut slot = workspaces.slot(Purpose::Agent, &base).unwrap();
    shell(slot.directory(), "sed -i s/one/ONE/ src/deep/data; echo n > added; rm run; echo l > forced");
    let taken = slot.take("taken", "m").unwrap();
    (base, taken.commit)
}

#[test]
fn a_result_is_merged_into_the_working_files_and_the_index_stays() {
    let fixture = Fixture::new();
    let (base, taken) = result(&fixture);
    fixture.write("src/deep/data", "one\ntwo\nthree\nfour\n");
    fixture.write("mine", "untracked\n");
    fixture.write("staged", "x\n");
    git(&fixture.user, &["add", "staged"]);
    fixture.write("src/deep/data", "one\ntwo\nthree\nfour\nfive\n");
    let index = fs::read(fixture.user.join(".git/index")).unwrap();
    let workspaces = fixture.open();
    let Applied::Written(paths) = workspaces.apply(&base, &taken).unwrap() else { panic!() };
    assert_eq!(paths.len(), 4);
    let now = fs::read_to_string(fixture.user.join("src/deep/data")).unwrap();
    assert_eq!(now, "ONE\ntwo\nthree\nfour\nfive\n");
    assert!(fixture.user.join("added").exists() && !fixture.user.join("run").exists());
    assert!(fixture.user.join("mine").exists());
    assert_eq!(fs::read(fixture.user.join(".git/index")).unwrap(), index);
    assert_eq!(workspaces.apply(&base, &taken).unwrap(), Applied::Written(vec![]));
}

#[test]
fn nothing_of_the_users_is_overwritten() {
    let spoils = [
        ("echo mine > src/deep/data", "src/deep/data"),
        ("echo mine > added", "added"),
        ("echo mine > run", "run"),
        ("echo forced >> .gitignore; echo mine > forced", "forced"),
    ];
    for (script, path) in spoils {
        let fixture = Fixture::new();
        let (base, taken) = result(&fixture);
        shell(&fixture.user, script);
        let before = listing(&fixture.user, &[".git/objects", ".git/refs/fixpoint"]);
        let outcome = fixture.open().apply(&base, &taken).unwrap();
        assert_eq!(outcome, Applied::Conflict(vec![path.as_bytes().to_vec()]), "{script}");
        assert_eq!(listing(&fixture.user, &[".git/objects", ".git/refs/fixpoint"]), before);
    }
}
