//! Bad input ends with exit code 2, one clear line on standard error and nothing on standard output.

use crate::process::{Ended, run_anywhere};

#[track_caller]
fn assert_refused(ended: &Ended, named: &[&str]) {
    assert_eq!(ended.code, 2, "{ended:?}");
    assert_eq!(ended.stdout, "");
    assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
    for word in named {
        assert!(ended.stderr.contains(word), "{word:?} is not in {}", ended.stderr);
    }
}

fn decide(kind: &str, input: &str) -> Ended {
    run_anywhere(&["decide", kind], input.as_bytes())
}

#[test]
fn questions_that_cannot_be_read() {
    let table: &[(&str, &str, &[&str])] = &[
        ("refinement", "{\"is_acceptable\": true,", &["JSON", "line 1"]),
        ("refinement", "", &["no input", "--example"]),
        ("refinement", "{\"is_acceptable\": \"yes\"}", &["is_acceptable", "yes"]),
        ("refinement", "{\"score\": NaN}", &["JSON"]),
        ("refinement", "{\"score\": 1e999}", &["JSON"]),
        ("direction", "{\"current_score\": 100.5}", &["current_score", "100.5", "0", "100"]),
        ("direction", "{\"current_score\": -1}", &["current_score", "-1"]),
        ("direction", "{\"current_score\": 1, \"currentScore\": 2}", &["current_score"]),
        ("direction", "{\"current_score\": 1, \"current_score\": 2}", &["current_score"]),
        ("schedule", "{\"tasks\": []}", &["max_workers"]),
        ("judge", "[{}, 5]", &["[0]: missing field"]),
        ("direction", "[{\"current_score\": \"x\"}]", &["[0].current_score: "]),
        (
            "scope",
            "{\"changed\": [{\"path\": \"a\", \"line\": 9}], \"allowed_paths\": []}",
            &["changed[0].line", "lines"],
        ),
        (
            "schedule",
            "{\"tasks\": [{\"id\": \"a\", \"state\": \"READY\"}, {\"id\": \"a\", \"state\": \"READY\"}], \"max_workers\": 1}",
            &["tasks", "`a`"],
        ),
        ("convergence", "{\"iterations\": [], \"config\": {\"stal_threshold\": 1}}", &["stall_threshold"]),
        ("refinement", "\"\\ud800\"", &["JSON"]),
    ];
    for (kind, input, named) in table {
        assert_refused(&decide(kind, input), named);
    }
}

#[test]
fn ten_megabytes_of_nesting() {
    assert_refused(&decide("verdict", &"[".repeat(10 * 1024 * 1024)), &["JSON"]);
    assert_refused(&decide("bounds", &"{\"config\":".repeat(1024 * 1024)), &["JSON"]);
}

#[test]
fn bytes_that_are_no_text() {
    assert_refused(&run_anywhere(&["decide", "verdict"], b"\xff\xfe\x00{"), &["JSON"]);
}

#[test]
fn wrong_arguments_say_what_to_do() {
    let unknown = run_anywhere(&["decide", "convergance"], b"");
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("convergence"), "{}", unknown.stderr);
    let missing = run_anywhere(&["decide", "verdict", "--input", "nowhere.json"], b"");
    assert_refused(&missing, &["nowhere.json"]);
    let flag = run_anywhere(&["demo", "--lsit"], b"");
    assert_eq!(flag.code, 2);
    assert!(flag.stderr.contains("--list"), "{}", flag.stderr);
    assert_refused(&run_anywhere(&["demo", "nothing"], b""), &["nothing", "loop"]);
    assert_eq!(run_anywhere(&[], b"").code, 2);
}

/// Catches a global option that stands between those of a command.
#[test]
fn the_options_of_a_command_come_before_the_global_ones() {
    let global = ["--lang", "--quiet", "--color", "--non-interactive"];
    let commands: [&[&str]; 7] =
        [&["run"], &["loop"], &["check"], &["list"], &["config", "show"], &["simulate", "runs"], &["demo"]];
    for command in commands {
        let help = run_anywhere(&[command, &["--help"]].concat(), b"").stdout;
        let (own, others) = help.split_once("\nGlobal options:\n").expect("a heading");
        assert!(own.contains("  -h, --help") && own.contains("--json"), "{command:?}: {own}");
        for option in global {
            assert!(!own.contains(option) && others.contains(option), "{command:?}, {option}: {help}");
        }
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{command:?}: {help}");
    }
}
