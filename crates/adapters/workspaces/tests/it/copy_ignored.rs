//! Ignored files copied from the user's tree into a slot.

use std::fs;
use std::os::unix::fs::symlink;

use fixpoint_ports::{CopyRefusal, SlotPurpose, Workspaces};

use crate::fixture::{AcquireSlot, Fixture, users_files};

#[test]
fn ignored_files_are_copied_but_nothing_outside_the_tree() {
    let fixture = Fixture::new();
    fixture.write(".env", "SECRET=1\n");
    fixture.write("src/.env", "SECRET=2\n");
    fixture.write("target/a/b", "x\n");
    fixture.write("plain", "x\n");
    symlink("../outside", fixture.user.join("outside.log")).unwrap();
    fixture.write("there/x.log", "x\n");
    let workspaces = fixture.open();
    let base = fixture.base(&workspaces);
    let mut slot = workspaces.slot(SlotPurpose::Check, &base).unwrap();
    symlink("/tmp", slot.directory().join("there")).unwrap();
    symlink("/etc/hostname", slot.directory().join(".env")).unwrap();
    let patterns =
        ["**/.env", "target", "*.log", "there/x.log", "plain", "README", "../x", "/etc/passwd", "a/../../b"];
    let patterns: Vec<String> = patterns.iter().map(|pattern| pattern.to_string()).collect();
    let before = users_files(&fixture);
    let mut report = workspaces.copy_ignored(&*slot, &patterns).unwrap();
    report.copied.sort();
    report.refused.sort();
    let names: Vec<_> = report.copied.iter().map(|path| String::from_utf8_lossy(path).into_owned()).collect();
    assert_eq!(names, [".env", "src/.env", "target/a/b"]);
    let refused = [
        ("../x", CopyRefusal::OutsideTree),
        ("/etc/passwd", CopyRefusal::OutsideTree),
        ("a/../../b", CopyRefusal::OutsideTree),
        ("outside.log", CopyRefusal::NotAFile),
        ("there/x.log", CopyRefusal::BehindSymlink),
    ];
    let refused: Vec<_> =
        refused.iter().map(|(path, refusal)| (path.as_bytes().to_vec(), *refusal)).collect();
    assert_eq!(report.refused, refused);
    assert_eq!(fs::read_to_string(slot.directory().join(".env")).unwrap(), "SECRET=1\n");
    fs::remove_file(slot.directory().join("there")).unwrap();
    assert_eq!(workspaces.changes(&base, &slot.commit("t", "m").unwrap().commit).unwrap(), []);
    assert_eq!(users_files(&fixture), before);
}

#[test]
fn a_file_that_the_slots_commit_does_not_ignore_is_not_copied() {
    let fixture = Fixture::new();
    let old = fixture.commit("old");
    fixture.write(".gitignore", "target/\n*.log\n.env\nlater\n");
    fixture.write("later", "x\n");
    let workspaces = fixture.open();
    let slot = workspaces.slot(SlotPurpose::Check, &old).unwrap();
    let report = workspaces.copy_ignored(&*slot, &["later".to_string()]).unwrap();
    assert_eq!(report.refused, [(b"later".to_vec(), CopyRefusal::NotIgnored)]);
}

#[test]
fn links_stay_links_and_lead_into_the_slot() {
    let fixture = Fixture::new();
    fixture.write("target/lib/a", "x\n");
    for (target, link) in [("lib", "target/lib64"), ("/bin/sh", "target/sh"), ("../README", "target/readme")]
    {
        symlink(target, fixture.user.join(link)).unwrap();
    }
    symlink(fixture.user.join("target/lib"), fixture.user.join("target/absolute")).unwrap();
    let workspaces = fixture.open();
    let base = fixture.base(&workspaces);
    let mut slot = workspaces.slot(SlotPurpose::Check, &base).unwrap();
    let report = workspaces.copy_ignored(&*slot, &["target".to_string()]).unwrap();
    assert_eq!(report.refused, []);
    let target = |link: &str| fs::read_link(slot.directory().join("target").join(link)).unwrap();
    assert_eq!(target("lib64").to_str(), Some("lib"));
    assert_eq!(target("sh").to_str(), Some("/bin/sh"));
    assert_eq!(target("readme").to_str(), Some("../README"));
    assert_eq!(target("absolute"), slot.directory().join("target/lib"));
    assert_eq!(workspaces.changes(&base, &slot.commit("t", "m").unwrap().commit).unwrap(), []);
}
