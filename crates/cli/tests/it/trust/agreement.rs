//! How a user trusts a repository, what needs it again, and what never needs it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::Value;

use crate::process::{Ended, run};
use crate::scenarios::lab::{Lab, Place};
use crate::whole_runs::terminal::Person;

const ONE_CHECK: &str = "checks:\n  - {name: test, command: sh check.sh}\n";

/// A project with one check that passes.
fn project(configuration: &str) -> Lab {
    let lab = Lab::new(Place::Root);
    lab.sources(&[("a", "ok")]);
    if !configuration.is_empty() {
        lab.configure(configuration);
        lab.commit("configuration");
    }
    lab
}

fn call(lab: &Lab, arguments: &[&str]) -> Ended {
    run(&mut lab.wary(arguments), b"")
}

#[track_caller]
fn succeeds(lab: &Lab, arguments: &[&str]) -> String {
    let ended = call(lab, arguments);
    assert_eq!(ended.code, 0, "{arguments:?}: {ended:?}");
    ended.stdout
}

#[track_caller]
fn refused(lab: &Lab, arguments: &[&str]) -> String {
    let ended = call(lab, arguments);
    assert_eq!((ended.code, ended.stdout.as_str()), (5, ""), "{arguments:?}: {}", ended.stderr);
    ended.stderr
}

fn records(lab: &Lab) -> Vec<PathBuf> {
    let entries = fs::read_dir(lab.beside("home/state/fixpoint/trust"));
    entries.into_iter().flatten().map(|entry| entry.expect("an entry").path()).collect()
}

#[test]
fn a_trusted_repository_is_not_asked_about_again_until_it_changes() {
    let lab = project(ONE_CHECK);
    let told = refused(&lab, &["check"]);
    let root = lab.root().canonicalize().expect("a path");
    let expected = format!(
        "fixpoint: this repository is not trusted, so nothing was run: {}\n\
         fixpoint:   runs a check   sh check.sh  (name: test)  [.fixpoint/config.yaml:2]\n\
         fixpoint: to trust it, run `fixpoint trust`; in CI, add --trust or set FIXPOINT_TRUST=1\n",
        root.display()
    );
    assert_eq!(told, expected);
    assert_eq!(records(&lab), Vec::<PathBuf>::new());
    assert_eq!(call(&lab, &["trust"]).code, 5, "nobody can be asked");
    assert_eq!(records(&lab), Vec::<PathBuf>::new());
    assert!(succeeds(&lab, &["trust", "--yes"]).ends_with(&format!("\ntrusted: {}\n", root.display())));
    succeeds(&lab, &["check"]);
    assert!(succeeds(&lab, &["trust"]).contains("already trusted"));
    let [record] = records(&lab).try_into().expect("one record");
    assert_eq!(record.metadata().expect("there").permissions().mode() & 0o777, 0o600);
    // The same in other words is the same; a branch that brings another command is not.
    lab.configure("# our tests\nchecks: [{command: \"sh check.sh\", name: test}]\n");
    succeeds(&lab, &["check"]);
    lab.configure("checks:\n  - {name: test, command: sh check.sh; date}\nmax_workers: 2\n");
    let told = refused(&lab, &["check"]);
    for line in [
        "the files of this repository have changed since you trusted it",
        "fixpoint: + runs a check   sh check.sh; date  (name: test)  [.fixpoint/config.yaml:2]\n",
        "fixpoint: + setting        max_workers: 2  [.fixpoint/config.yaml:3]\n",
        "fixpoint: - runs a check   sh check.sh  (name: test)\n",
    ] {
        assert!(told.contains(line), "{line} is not in\n{told}");
    }
}

#[test]
fn a_directory_elsewhere_with_the_same_files_is_not_trusted() {
    let (lab, other) = (project(ONE_CHECK), project(ONE_CHECK));
    succeeds(&lab, &["trust", "--yes"]);
    let mut command = lab.wary(&["check"]);
    assert_eq!(run(command.current_dir(other.root()), b"").code, 5);
}

#[test]
fn agreements_are_listed_and_revoked() {
    let lab = project(ONE_CHECK);
    assert_eq!(succeeds(&lab, &["trust", "--list"]), "no repository is trusted\n");
    succeeds(&lab, &["trust", "--yes"]);
    let listed = succeeds(&lab, &["trust", "--list"]);
    let root = lab.root().canonicalize().expect("a path").display().to_string();
    assert!(listed.starts_with(&format!("{root}  (")) && listed.contains("sh check.sh"), "{listed}");
    let listed: Value = serde_json::from_str(&succeeds(&lab, &["trust", "--list", "--json"])).expect("JSON");
    assert_eq!((&listed["repository"], &listed["items"][0]["kind"]), (&root.into(), &"check".into()));
    let somewhere = lab.beside("tmp");
    let named = run(lab.wary(&["trust", "--revoke"]).arg(lab.root()).current_dir(&somewhere), b"");
    assert!(named.code == 0 && named.stdout.starts_with("no longer trusted: "), "{named:?}");
    assert!(succeeds(&lab, &["trust", "--revoke"]).starts_with("was not trusted: "));
    refused(&lab, &["check"]);
}

#[test]
fn a_damaged_record_is_no_agreement() {
    let lab = project(ONE_CHECK);
    succeeds(&lab, &["trust", "--yes"]);
    let [record] = records(&lab).try_into().expect("one record");
    let written = fs::read_to_string(&record).expect("read");
    for (content, problem) in [
        (written.replace("sh check.sh", "sh other.sh"), "its content does not match its hash"),
        (written.trim_end().trim_end_matches('}').to_string(), "damaged: "),
        (String::new(), "damaged: "),
    ] {
        fs::write(&record, content).expect("written");
        let told = refused(&lab, &["check"]);
        assert!(
            told.contains("the record that you trusted this repository cannot be used")
                && told.contains(problem),
            "{told}"
        );
        assert!(succeeds(&lab, &["trust", "--list"]).contains(problem));
    }
    succeeds(&lab, &["trust", "--yes"]);
    succeeds(&lab, &["check"]);
}

#[test]
fn what_the_user_says_needs_no_trust() {
    let lab = project("");
    succeeds(&lab, &["check", "--check", "sh check.sh"]);
    let own = lab.beside("home/config/fixpoint");
    fs::create_dir_all(&own).expect("made");
    fs::write(own.join("config.yaml"), ONE_CHECK).expect("written");
    succeeds(&lab, &["check"]);
    assert_eq!(records(&lab), Vec::<PathBuf>::new());
    assert!(succeeds(&lab, &["trust"]).starts_with("nothing to trust"));
}

#[test]
fn a_machine_trusts_by_a_flag_or_a_variable_and_records_nothing() {
    let lab = project(ONE_CHECK);
    succeeds(&lab, &["check", "--trust"]);
    assert_eq!(run(lab.wary(&["check"]).env("FIXPOINT_TRUST", "1"), b"").code, 0);
    assert_eq!(run(lab.wary(&["check"]).env("FIXPOINT_TRUST", "0"), b"").code, 5);
    assert_eq!(records(&lab), Vec::<PathBuf>::new());
}

#[test]
fn init_is_an_agreement_to_what_it_wrote() {
    let lab = project("");
    lab.put("Cargo.toml", "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
    lab.put("src/lib.rs", "");
    lab.commit("a package");
    succeeds(&lab, &["init"]);
    assert!(succeeds(&lab, &["trust"]).contains("already trusted"));
    let doctor = call(&lab, &["doctor"]).stdout;
    assert!(doctor.contains("this repository is trusted"), "{doctor}");
    lab.put(".fixpoint/config.local.yaml", "workspace: {env: [HOME]}\n");
    let told = refused(&lab, &["check"]);
    assert!(told.contains("+ passes on      $HOME  [.fixpoint/config.local.yaml:1]"), "{told}");
    let doctor = call(&lab, &["doctor"]).stdout;
    assert!(doctor.contains("ask for something else than you trusted"), "{doctor}");
}

#[test]
fn a_person_at_the_terminal_is_asked_once() {
    let lab = project(ONE_CHECK);
    let command = lab.wary(&["check"]);
    for (answer, code) in [("\n", 5), ("no\n", 5), ("y\n", 0)] {
        let Some(mut person) = Person::of(&command, "dumb") else { return };
        person.sees("[y/N]");
        person.types(answer);
        let (ended, shown) = person.leaves();
        assert_eq!(ended, code, "{shown}");
        assert!(shown.contains("runs a check   sh check.sh"), "{shown}");
    }
    succeeds(&lab, &["check"]);
}

#[test]
fn the_question_is_in_japanese_too() {
    let lab = project(ONE_CHECK);
    let told = refused(&lab, &["check", "--lang", "ja"]);
    assert!(
        told.contains("このリポジトリは信頼されていないため") && told.contains("チェックを実行"),
        "{told}"
    );
}
