//! `fixpoint decide failures --log`: the raw output of a command instead of a question.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::process::{Ended, fixpoint, run, run_anywhere};

const OUTPUT: &str = "\
============================= test session starts ==============================
collected 3 items

tests/test_a.py F..                                                      [100%]

=================================== FAILURES ===================================
____________________________________ test_b ____________________________________

    def test_b():
>       assert 1 == 2
E       assert 1 == 2

/w/tests/test_a.py:2: AssertionError
=========================== short test summary info ============================
FAILED tests/test_a.py::test_b - assert 1 == 2
========================= 1 failed, 2 passed in 0.01s ==========================
";

fn ask(directory: &Path, arguments: &[&str], input: &str) -> Ended {
    run(fixpoint(directory).args(["decide", "failures"]).args(arguments), input.as_bytes())
}

fn answer(ended: &Ended) -> Value {
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ended:?}");
    serde_json::from_str(&ended.stdout).expect("JSON")
}

#[test]
fn a_log_is_answered_like_a_question() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("build.log"), OUTPUT).unwrap();
    let question =
        json!({"output": OUTPUT, "command": "pytest", "exit_code": 1, "workdir": "/w"}).to_string();
    let expected = ask(directory.path(), &[], &question);
    let facts = ["--command", "pytest", "--exit-code", "1", "--workdir", "/w"];
    let of_file = ask(directory.path(), &[&["--log", "build.log"], &facts[..]].concat(), "");
    let of_stdin = ask(directory.path(), &[&["--log", "-"], &facts[..]].concat(), OUTPUT);
    assert_eq!((&of_file.stdout, &of_stdin.stdout), (&expected.stdout, &expected.stdout));
    let found = answer(&of_file);
    let failure = &found["failures"][0];
    assert_eq!((&failure["file"], &found["runner"]), (&json!("tests/test_a.py"), &json!("pytest")));
    let indented = ask(directory.path(), &[&["--log", "build.log", "--pretty"], &facts[..]].concat(), "");
    assert!(indented.stdout.starts_with("{\n  \"failures\": [\n"), "{}", indented.stdout);
    assert_eq!(answer(&indented), found);
}

/// Catches a command line that is not used: what tests print is not what a compiler says, and the success of a pipe is
/// that of its last command.
#[test]
fn the_command_tells_who_wrote_the_log_and_what_its_exit_code_means() {
    let compiled = "src/a.c:3:5: error: no such thing\n";
    let table = [
        ("", "1", compiled, 1, "gcc"),
        ("make", "1", compiled, 1, "gcc"),
        ("make", "0", compiled, 0, "gcc"),
        ("make 2>&1 | tail -5", "0", compiled, 1, "gcc"),
        ("set -o pipefail; make | tail -5", "0", compiled, 0, "gcc"),
        ("pytest -q | tail -5", "0", "1 failed, 2 passed in 0.01s\n", 1, "pytest"),
        ("pytest -q", "0", "2 passed in 0.01s\n", 0, "pytest"),
        ("pytest -q", "2", "broken\n", 1, "pytest"),
        ("jest", "1", "--- FAIL: TestA (0.00s)\nFAIL\tcalc\t0.1s\n", 2, "jest"),
    ];
    for (command, code, output, failures, runner) in table {
        let ended = run_anywhere(
            &["decide", "failures", "--log", "-", "--command", command, "--exit-code", code],
            output.as_bytes(),
        );
        let found = answer(&ended);
        let count = found["failures"].as_array().map(Vec::len);
        assert_eq!((count, &found["runner"]), (Some(failures), &json!(runner)), "{command} {code}: {found}");
        let question =
            json!({"output": output, "command": command, "exit_code": code.parse::<i32>().unwrap()});
        let asked = run_anywhere(&["decide", "failures"], question.to_string().as_bytes());
        assert_eq!(asked.stdout, ended.stdout, "{command} {code}");
    }
}

#[test]
fn package_scripts_are_those_of_the_directory() {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("web")).unwrap();
    fs::write(directory.path().join("web/package.json"), r#"{"scripts": {"test": "jest"}}"#).unwrap();
    let log = "panic: something\n";
    let arguments = ["--log", "-", "--command", "npm test", "--exit-code", "1"];
    assert_eq!(answer(&ask(directory.path(), &arguments, log))["runner"], "generic");
    let there = [&arguments[..], &["--workdir", "web"]].concat();
    assert_eq!(answer(&ask(directory.path(), &there, log))["runner"], "jest");
}

#[test]
fn wrong_uses_of_a_log_say_what_to_do() {
    let table: [(&[&str], &[&str]); 6] = [
        (&["failures", "--log", "nowhere.log"], &["nowhere.log"]),
        (&["failures", "--log", "."], &["cannot read ."]),
        (&["verdict", "--log", "-"], &["--log", "decide failures", "decide verdict"]),
        (&["failures", "--log", "-", "--input", "q.json"], &["--log", "--input"]),
        (&["failures", "--command", "pytest"], &["--log"]),
        (&["failures", "--log", "-", "--exit-code", "one"], &["--exit-code", "one"]),
    ];
    for (arguments, named) in table {
        let ended = run_anywhere(&[&["decide"], arguments].concat(), b"");
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{arguments:?}");
        for word in named {
            assert!(ended.stderr.contains(word), "{word:?} is not in {}", ended.stderr);
        }
    }
}
