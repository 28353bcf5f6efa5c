//! A git that is too old or missing, and repositories that git refuses: one line that says so and what to do.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::Value;

use super::lab::{Lab, Place};
use crate::process::{Ended, run};

const LOOP: [&str; 5] = ["loop", "--until", "true", "--", "true"];

/// A `PATH` on which this script is found as `git` before the real one.
fn path_with_git(lab: &Lab, script: &str) -> OsString {
    let directory = lab.beside("bin");
    fs::create_dir_all(&directory).expect("made");
    let real = run(Command::new("sh").args(["-c", "command -v git"]), b"").stdout;
    let script = format!("#!/bin/sh\nreal={}\n{script}\n", real.trim_end());
    fs::write(directory.join("git"), script).expect("written");
    fs::set_permissions(directory.join("git"), fs::Permissions::from_mode(0o755)).expect("executable");
    let rest = std::env::var_os("PATH").expect("a PATH");
    std::env::join_paths(std::iter::once(directory).chain(std::env::split_paths(&rest))).expect("a PATH")
}

fn with_path(lab: &Lab, path: &OsString, arguments: &[&str]) -> Ended {
    run(lab.binary(arguments).env("PATH", path), b"")
}

/// What `doctor` finds out about one thing.
fn finding(ended: &Ended, what: &str) -> Option<Value> {
    let answer: Value = serde_json::from_str(&ended.stdout).expect("one JSON value");
    let findings = answer["findings"].as_array().expect("a list");
    findings.iter().find(|finding| finding["what"] == what).cloned()
}

#[test]
fn a_git_that_is_too_old_is_named_with_the_version_needed() {
    let lab = Lab::new(Place::Root);
    let old =
        "for word; do [ \"$word\" = version ] && { echo git version 2.34.1; exit; }; done; exec $real \"$@\"";
    let path = path_with_git(&lab, old);
    let problem = "git 2.34.1 is too old: Fixpoint needs git 2.39 or newer";
    let remedy = "upgrade git, or put a newer one first on PATH";
    let ended = with_path(&lab, &path, &LOOP);
    assert_eq!((ended.code, ended.stderr), (7, format!("fixpoint: {problem}; {remedy}\n")));
    let ended = with_path(&lab, &path, &["doctor", "--json"]);
    let git = finding(&ended, "git").expect("a finding");
    let found = format!("{problem} ({})", lab.beside("bin/git").display());
    assert_eq!((ended.code, &git["state"]), (7, &"bad".into()), "{git}");
    assert_eq!((&git["found"], &git["remedy"]), (&found.into(), &remedy.into()));
    assert_eq!(finding(&ended, "repository"), None, "nothing more is said about the same problem");
}

#[test]
fn a_missing_git_is_named() {
    let lab = Lab::new(Place::Root);
    let empty = lab.beside("empty").into_os_string();
    let ended = with_path(&lab, &empty, &LOOP);
    let expected = "fixpoint: git was not found on PATH; install git 2.39 or newer\n";
    assert_eq!((ended.code, ended.stderr.as_str()), (7, expected));
    let ended = with_path(&lab, &empty, &["doctor", "--json"]);
    let git = finding(&ended, "git").expect("a finding");
    assert_eq!((ended.code, &git["found"]), (7, &"git was not found on PATH".into()), "{git}");
}

#[test]
fn the_git_in_use_is_shown_with_its_version() {
    let lab = Lab::new(Place::Root);
    let version = lab.git(&["version"]);
    let version = version.split_ascii_whitespace().nth(2).expect("a version");
    let ended = lab.call(&["doctor"]);
    let expected = format!("ok      git            {version} (/");
    assert!(ended.stdout.starts_with(&expected), "{}", ended.stdout);
}

/// Git itself pretends here, as in its own tests: a second user would need root.
#[test]
fn a_repository_of_another_user_is_no_internal_error() {
    let lab = Lab::new(Place::Root);
    let path = path_with_git(&lab, "GIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec $real \"$@\"");
    let root = lab.root().canonicalize().expect("a directory");
    let root = root.display();
    let problem = format!("git refuses to use the repository at '{root}': another user owns it");
    let remedy = format!("if you trust its content, run `git config --global --add safe.directory {root}`");
    let ended = with_path(&lab, &path, &LOOP);
    assert_eq!((ended.code, ended.stderr), (2, format!("fixpoint: {problem}; {remedy}\n")));
    let ended = with_path(&lab, &path, &["doctor", "--json"]);
    let repository = finding(&ended, "repository").expect("a finding");
    assert_eq!((&repository["found"], &repository["remedy"]), (&problem.into(), &remedy.into()));
    lab.git(&["config", "--global", "--add", "safe.directory", &root.to_string()]);
    let ended = with_path(&lab, &path, &["list"]);
    assert_eq!(ended.code, 0, "the command that is shown helps: {}", ended.stderr);
}
