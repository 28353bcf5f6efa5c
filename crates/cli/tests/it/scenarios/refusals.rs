//! What is typed wrongly: one line that says what is wrong, and nothing done.

use std::fs;

use super::lab::{Lab, Place, both};
use crate::process::{Ended, run};

/// One line, beginning with the name of the program, that holds these words; the exit code of a wrong call.
fn refused(ended: &Ended, words: &[&str]) {
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{}", ended.stderr);
    let said = ended.stderr.trim_end();
    assert!(said.lines().count() == 1 && said.starts_with("fixpoint: "), "{said}");
    for word in words {
        assert!(said.contains(word), "{word}: {said}");
    }
}

/// The parser of arguments names the argument on its first line.
fn misread(ended: &Ended, word: &str) {
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{}", ended.stderr);
    let said = ended.stderr.lines().next().unwrap_or_default();
    assert!(said.starts_with("error: ") && said.contains(word), "{said}");
}

#[test]
fn outside_a_repository() {
    let lab = Lab::new(Place::Root);
    let outside = lab.beside("outside");
    fs::create_dir_all(&outside).expect("made");
    for arguments in [
        &["loop", "--until", "true", "--", "true"][..],
        &["check", "--check", "true"],
        &["list"],
        &["explain"],
        &["resume"],
        &["gc"],
    ] {
        let ended = run(
            lab.binary(arguments).current_dir(&outside).env("GIT_CEILING_DIRECTORIES", lab.beside("")),
            b"",
        );
        refused(&ended, &["repository"]);
    }
    let empty = lab.beside("empty");
    fs::create_dir_all(&empty).expect("made");
    let made = run(std::process::Command::new("git").args(["init", "-q"]).arg(&empty), b"");
    assert_eq!(made.code, 0);
    let ended = run(lab.binary(&["loop", "--until", "true", "--", "true"]).current_dir(&empty), b"");
    refused(&ended, &["no commits and no files"]);
}

#[test]
fn arguments_that_mean_nothing() {
    both(|lab| {
        lab.sources(&[("a", "broken")]);
        let until = ["loop", "--until", "sh ./check.sh"];
        let with = |more: &[&str]| lab.call(&[&until[..], more].concat());
        refused(&with(&["--budget", "apples=3", "--", "true"]), &["apples=3", "attempts=5,time=2h"]);
        refused(&with(&["--budget", "attempts=many", "--", "true"]), &["attempts=many"]);
        refused(&with(&["--budget", "", "--", "true"]), &["--budget"]);
        let long = lab.beside("long.md");
        fs::write(&long, "x".repeat((4 << 20) + 1)).expect("written");
        let long = long.to_string_lossy().into_owned();
        refused(
            &with(&["--prompt-file", &long, "--", "true"]),
            &["the prompt has 4,194,305 bytes, the limit is 262,144"],
        );
        refused(&with(&[]), &["no agent was named", "--"]);
        refused(&with(&["--base", "no-such", "--", "true"]), &["no-such"]);
        refused(&with(&["--prompt-file", "no-such-file", "--", "true"]), &["no-such-file"]);
        refused(
            &with(&["--set", "convergence.max_iterations=0", "--", "true"]),
            &["convergence.max_iterations"],
        );
        for flag in ["--max-iterations", "--check-timeout", "--attempt-timeout", "--silence-timeout"] {
            misread(&with(&[flag, "0", "--", "true"]), flag);
            misread(&with(&[flag, "some", "--", "true"]), flag);
        }
        for flag in ["--allow", "--deny", "--env"] {
            misread(&with(&[flag, "", "--", "true"]), flag);
        }
        misread(&with(&["--env", "A=B", "--", "true"]), "only the name of a variable");
        misread(&with(&["--allow", "[", "--", "true"]), "is not a glob");
        misread(&lab.call(&["list", "-n", "0"]), "expected a number from 1");
        let nul = lab.beside("nul.md");
        fs::write(&nul, "a\0b").expect("written");
        let nul = nul.to_string_lossy().into_owned();
        refused(
            &with(&["--prompt-file", &nul, "--", "true"]),
            &["the prompt contains a NUL character (at byte 1)"],
        );
        refused(&with(&["--budget", "banana", "--", "true"]), &["expected limits such as attempts=N"]);
        let set = "--set scope.allowed_paths[0]: ";
        refused(&with(&["--set", "scope.allowed_paths=[\"[\"]", "--", "true"]), &[set]);
        let storage = run(lab.binary(&until).env("XDG_STATE_HOME", lab.here().join("check.sh")), b"");
        assert_eq!(
            (storage.code, storage.stderr.contains("XDG_STATE_HOME")),
            (7, true),
            "{}",
            storage.stderr
        );
        misread(&with(&["--no-such", "--", "true"]), "--no-such");
        refused(
            &with(&["--", "curl", "-H", "Authorization: ghp_0123456789abcdefABCDEF0123456789abcd"]),
            &["credential"],
        );
        refused(&lab.call(&["loop", "--until", "", "--", "true"]), &["--until"]);
        refused(&lab.call(&["loop", "--check", "  ", "--", "true"]), &["--check"]);
        refused(&lab.call(&["loop", "--", "true"]), &["no checks given", "--until"]);
        assert!(lab.call(&["list"]).stdout.is_empty(), "nothing was begun");
    });
}

#[test]
fn runs_that_do_not_exist() {
    both(|lab| {
        for command in
            ["explain", "show", "status", "diff", "apply", "logs", "history", "replay", "resume", "stop"]
        {
            refused(&lab.call(&[command]), &["no runs"]);
        }
        lab.sources(&[("a", "broken")]);
        lab.looping(&["--until", "sh ./check.sh", "--max-iterations", "1"], "echo x > notes");
        lab.looping(&["--until", "sh ./check.sh", "--max-iterations", "1"], "echo x > notes");
        refused(&lab.call(&["show", "20"]), &["20"]);
        refused(&lab.call(&["show", "20200101-no-such"]), &["20200101-no-such", "fixpoint list"]);
        refused(&lab.call(&["diff", "--attempt", "7"]), &["no attempt 7; it has 1"]);
        refused(&lab.call(&["logs", "--attempt", "7"]), &["no attempt 7; it has 1"]);
        refused(&lab.call(&["resume", "--budget", "attempts=3"]), &["has ended"]);
        refused(&lab.call(&["resume", "--say", "hurry"]), &["has ended"]);
        refused(&lab.call(&["replay", "--set", "scope.allowed_paths=[\"[\"]"]), &["is not a glob"]);
        refused(&lab.call(&["apply"]), &["--attempt 1"]);
        // What is over is only told again.
        let over = lab.resume(&[]);
        assert_eq!((over.end(), over.iterations().len()), ((3, "failed", "max_iterations"), 1));
    });
}
