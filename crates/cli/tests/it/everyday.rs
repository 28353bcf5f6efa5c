//! What users do every day: examples, batches, languages, schemas, completions, the demo, a reader that goes away.

use std::process::Stdio;

use serde_json::Value;

use crate::process::{fixpoint, run, run_anywhere};

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("one JSON value")
}

#[test]
fn a_decision_in_both_languages() {
    let question = r#"{"isAcceptable":false,"score":52,"previousScore":50,"issues":["計画が粗い"],
        "suggestions":[],"attemptCount":1,"suggestionReplanCount":0}"#;
    let ask = |lang: &str| run_anywhere(&["decide", "refinement", "--lang", lang], question.as_bytes());
    assert_eq!(json(&ask("ja").stdout)["reason"]["text"], "改善停滞（ノイズ範囲内）");
    assert_eq!(json(&ask("en").stdout)["reason"]["text"], "no improvement (inside the noise)");
    let directory = tempfile::tempdir().expect("a directory");
    let by_locale = run(
        fixpoint(directory.path()).args(["decide", "refinement"]).env("LANG", "ja_JP.UTF-8"),
        question.as_bytes(),
    );
    assert_eq!(json(&by_locale.stdout)["reason"]["text"], "改善停滞（ノイズ範囲内）");
}

#[test]
fn an_answer_from_a_file_over_several_lines() {
    let directory = tempfile::tempdir().expect("a directory");
    let example = run_anywhere(&["decide", "convergence", "--example"], b"").stdout;
    std::fs::write(directory.path().join("q.json"), example).expect("written");
    let ended =
        run(fixpoint(directory.path()).args(["decide", "convergence", "--input", "q.json", "--pretty"]), b"");
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    assert!(ended.stdout.lines().count() > 20);
    let last = json(&ended.stdout)["iterations"].as_array().expect("a list").last().cloned().expect("one");
    assert_eq!((&last["action"], &last["cause"]), (&Value::from("stop"), &Value::from("not_converging")));
}

#[test]
fn the_demo_of_the_decisions_tells_every_scene() {
    let told = run_anywhere(&["demo", "decisions"], b"");
    assert_eq!((told.code, told.stderr.as_str()), (0, ""));
    for word in
        ["oscillating", "not converging", "inside the noise", "own_configuration", "REPLACED_BY_REPLAN"]
    {
        assert!(told.stdout.contains(word), "{word}");
    }
    let listed = run_anywhere(&["demo", "--list"], b"").stdout;
    let scenes = listed.lines().count() - 3;
    let lines = run_anywhere(&["demo", "decisions", "--json"], b"").stdout;
    assert_eq!(lines.lines().map(json).filter(|line| line["answer"].is_object()).count(), scenes);
}

#[test]
fn the_demo_of_the_loop_ends_as_it_says() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = std::env::var_os("PATH").expect("a PATH");
    let demo = |arguments: &[&str]| run(fixpoint(directory.path()).env("PATH", &path).args(arguments), b"");
    let results = demo(&["demo", "loop", "--json", "--quiet"]);
    assert_eq!((results.code, results.stderr.as_str()), (0, ""));
    let results: Vec<Value> = results.stdout.lines().map(json).collect();
    let causes: Vec<&Value> = results.iter().map(|result| &result["cause"]).collect();
    assert_eq!(causes, ["not_converging", "done"]);
    let attempts: Vec<usize> =
        results.iter().map(|result| result["iterations"].as_array().expect("a list").len()).collect();
    assert_eq!(attempts, [4, 3]);
    assert_eq!(results[1]["iterations"][1]["vanished"][0], "total adds prices");
    assert_eq!(results[1]["proof"], "goals");
    assert_eq!(
        std::fs::read_dir(directory.path()).expect("it is there").count(),
        0,
        "nothing is left behind"
    );
}

#[test]
fn schemas_and_completions() {
    let refinement = json(&run_anywhere(&["schema", "refinement"], b"").stdout);
    assert_eq!(refinement["question"]["properties"]["score"]["maximum"], 100);
    let config = json(&run_anywhere(&["config", "schema"], b"").stdout);
    assert_eq!(config, json(&run_anywhere(&["schema", "config"], b"").stdout));
    assert!(config["properties"]["refinement"]["required"].is_null(), "absent keys take their defaults");
    for shell in ["bash", "zsh", "fish"] {
        let script = run_anywhere(&["completions", shell], b"");
        assert!(script.code == 0 && script.stdout.contains("decide"), "{shell}");
    }
}

#[test]
fn the_judging_table_is_reproducible() {
    let table =
        |seed: &str| run_anywhere(&["simulate", "judging", "--runs", "200", "--seed", seed], b"").stdout;
    assert_eq!(table("5"), table("5"));
    assert_ne!(table("5"), table("6"));
    assert_eq!(table("5").lines().filter(|line| line.contains('%')).count(), 9);
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut command = fixpoint(directory.path());
    command.args(["config", "schema"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary starts");
    drop(child.stdout.take());
    let ended = child.wait_with_output().expect("the binary ends");
    assert_eq!((ended.status.code(), ended.stderr.as_slice()), (Some(0), b"".as_slice()));
}
