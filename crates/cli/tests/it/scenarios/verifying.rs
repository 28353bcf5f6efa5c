//! `fixpoint init --verify`, and detected checks that do not work.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use serde_json::Value;

use super::lab::{Lab, Place, processes_with, wait_for};
use crate::process::{Ended, run};

const WORKS: &str = "#!/bin/sh\necho 'ok 1 - a'; echo 'not ok 2 - b'; echo 'ok 3 - c'; echo 1..3; exit 1\n";
const MISSING: &str = "#!/bin/sh\nno-such-program-here\n";

/// A project of Gradle and of Maven whose wrappers are these scripts.
fn project(gradlew: &str, mvnw: &str) -> Lab {
    let lab = Lab::new(Place::Root);
    for (name, text) in
        [("build.gradle", ""), ("pom.xml", "<project/>"), ("gradlew", gradlew), ("mvnw", mvnw)]
    {
        let path = lab.root().join(name);
        fs::write(&path, text).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("permitted");
    }
    lab.commit("project");
    lab
}

/// Runs the binary, which may write `.fixpoint`.
fn init(lab: &Lab, arguments: &[&str]) -> Ended {
    run(&mut lab.binary(&[&["init"], arguments].concat()), b"")
}

/// Whatever happened, nothing but the configuration is left.
fn assert_nothing_left(lab: &Lab) {
    let cache = fs::read_dir(lab.beside("home/cache/fixpoint")).expect("a directory");
    let names = cache.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let left: Vec<String> = names.filter(|name| name.starts_with("verify-")).collect();
    assert_eq!(left, Vec::<String>::new());
    assert_eq!(lab.git(&["for-each-ref", "refs/fixpoint"]), "");
}

#[test]
fn init_verify_keeps_what_works_and_comments_out_the_rest() {
    let lab = project(WORKS, MISSING);
    let ended = init(&lab, &["--verify", "--json"]);
    assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
    let json: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    let tried = json["verified"]["checks"].as_array().expect("checks");
    let row = |check: &Value| {
        let value = |key: &str| check[key].to_string();
        [value("name"), value("usable"), value("passed"), value("failed"), value("missing")].join(" ")
    };
    let rows: Vec<String> = tried.iter().map(row).collect();
    let expected = [r#""test-maven" false 0 1 "no-such-program-here""#, r#""test-gradle" true 2 1 null"#];
    assert_eq!(rows, expected, "{json}");
    let config = fs::read_to_string(lab.root().join(".fixpoint/config.yaml")).expect("written");
    assert!(config.contains("\n  - name: test-gradle\n"), "{config}");
    assert!(
        config
            .contains("# Not usable: the program `no-such-program-here` is not installed, or not on PATH\n"),
        "{config}"
    );
    assert!(config.contains("\n#  - name: test-maven\n"), "{config}");
    assert_nothing_left(&lab);

    let again = init(&lab, &["--verify"]);
    assert_eq!(again.code, 2, "{}", again.stderr);
    let shown = init(&lab, &["--verify", "--force", "--lang", "ja"]);
    assert!(shown.stdout.contains("確認: test-gradle: 使用可能、2件成功、1件失敗"), "{}", shown.stdout);
    assert!(shown.stdout.contains("  | "), "the output of what does not work is shown: {}", shown.stdout);
}

#[test]
fn init_verify_says_what_a_failing_setup_printed_and_misses() {
    let lab = Lab::new(Place::Root);
    fs::write(lab.root().join("Gemfile"), "gem 'rspec'\n").expect("written");
    lab.commit("project");
    let bundle = lab.beside("tmp").join("bundle");
    let script = "#!/bin/sh\nfor n in 1 2 3 4 5 6 7 8 9; do echo \"early $n\"; echo \"line $n\"; echo \"late $n\"; done\nno-such-tool\n";
    fs::write(&bundle, script).expect("written");
    fs::set_permissions(&bundle, fs::Permissions::from_mode(0o755)).expect("permitted");
    let path = format!("{}:{}", lab.beside("tmp").display(), std::env::var("PATH").expect("a PATH"));
    let ended = run(lab.binary(&["init", "--verify"]).env("PATH", path), b"");
    assert_eq!(ended.code, 7, "{}{}", ended.stdout, ended.stderr);
    for part in [
        "`bundle install` failed with exit code 127",
        "`no-such-tool` is not installed",
        "  | late 9\n",
        "workspace.setup",
    ] {
        assert!(ended.stdout.contains(part), "{part}: {}", ended.stdout);
    }
    assert!(!ended.stdout.contains("early 1\n"), "only the end is shown: {}", ended.stdout);
    assert_nothing_left(&lab);
}

#[test]
fn init_verify_needs_a_commit() {
    let lab = Lab::new(Place::Root);
    let empty = lab.beside("empty");
    fs::create_dir(&empty).expect("made");
    let outside = run(lab.binary(&["init", "--verify"]).current_dir(&empty), b"");
    assert_eq!(outside.code, 2, "{}", outside.stderr);
    assert!(outside.stderr.contains("is not inside a git repository; "), "{}", outside.stderr);
    run(std::process::Command::new("git").args(["init", "-q"]).current_dir(&empty), b"");
    fs::write(empty.join("go.mod"), "module a\n").expect("written");
    let unborn = run(lab.binary(&["init", "--verify"]).current_dir(&empty), b"");
    assert_eq!(unborn.code, 2, "{}", unborn.stderr);
    assert!(unborn.stderr.contains("no commits; make a first commit"), "{}", unborn.stderr);
    assert!(!empty.join(".fixpoint").exists());
}

#[test]
fn init_verify_that_is_stopped_leaves_nothing_behind() {
    let lab = project("#!/bin/sh\nexec sleep 98765.4321\n", MISSING);
    let mut command = lab.binary(&["init", "--verify"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("started");
    wait_for("the check", || !processes_with("98765.4321").is_empty());
    let id = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().expect("kill").success());
    assert_eq!(child.wait().expect("ended").code(), Some(130));
    wait_for("the end of the check", || processes_with("98765.4321").is_empty());
    assert!(!lab.root().join(".fixpoint").exists());
    assert_nothing_left(&lab);
}

#[test]
fn a_detected_check_that_does_not_work_does_not_stop_the_others() {
    let lab = project(WORKS, MISSING);
    fs::write(lab.root().join("README"), "changed\n").expect("written");
    let ended = lab.call(&["check", "--json"]);
    assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
    assert!(ended.stderr.contains("left out: `./mvnw -B -q test` does not work here"), "{}", ended.stderr);
    let json: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    assert_eq!(
        (&json["ok"], json["known"].as_array().map(Vec::len)),
        (&Value::Bool(true), Some(1)),
        "{json}"
    );
    // One that a person gave must work.
    let given = lab.call(&["check", "--check", "./gradlew test", "--check", "./mvnw -B -q test"]);
    assert_eq!(given.code, 7, "{}", given.stderr);
}
