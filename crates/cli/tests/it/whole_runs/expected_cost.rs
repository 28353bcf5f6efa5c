//! What a run is expected to cost and what limits it: before it begins, and when its plan is known.

use serde_json::Value;

use super::stage::{GOAL, Stage};
use super::words::{agreeing, writes};
use crate::scenarios::japanese::assert_japanese;

fn line<'a>(text: &'a str, start: &str) -> &'a str {
    text.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("no {start}:\n{text}"))
}

/// Catches an estimate that ignores earlier runs, and a limit that nobody is told.
#[test]
fn the_first_line_learns_from_earlier_runs() {
    let stage = Stage::new(&agreeing(&[writes("a"), writes("b")]));
    let first = stage.run(&[]);
    assert_eq!(first.end(), (0, "done", "done"), "{}", first.json);
    let told = line(&first.stderr, "expected: ");
    assert!(
        told.contains("estimated, no earlier runs here") && told.contains("limit: $20.00, then"),
        "{told}"
    );
    assert!(!first.stderr.contains("worst case"), "{}", first.stderr);
    let planned = line(&first.stderr, "expected with 2 tasks, plan included: ");
    // 2 calls for the plan so far; 3 attempts with a judgement each, and the final review.
    assert!(planned.contains("6 model calls") && planned.contains("3 agent attempts"), "{planned}");
    let second = stage.run(&["--budget", "usd=3,calls=50"]);
    let told = line(&second.stderr, "expected: ");
    // The plan is cached the second time; how many calls the first run took is what counts.
    assert!(told.contains("2 agent attempts; from 1 earlier run)"), "{told}");
    assert!(told.contains("limit: $3.00, 50 model calls, then the run pauses"), "{told}");
}

#[test]
fn bounds_show_what_is_expected_and_the_worst_case_only_on_request() {
    let stage = Stage::new(&agreeing(&[writes("a")]));
    let bounds = |arguments: &[&str]| {
        let ended =
            stage.lab.run(&mut stage.command(&[&["plan", "--bounds", GOAL], arguments].concat()), b"");
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        ended.stdout
    };
    let usual = bounds(&[]);
    assert!(usual.starts_with("expected: ") && usual.contains("limit: $20.00"), "{usual}");
    assert_eq!(usual.lines().count(), 1, "{usual}");
    let verbose = bounds(&["-v"]);
    assert!(verbose.contains("\nworst case, ") && verbose.contains("\n  final_judgement "), "{verbose}");
    let json: Value = serde_json::from_str(&bounds(&["--json"])).expect("JSON");
    assert_eq!((&json["expected"]["source"], &json["limit"]["usd"]), (&"model".into(), &20.0.into()));
    let calls = |of: &Value| of["model_calls"].as_u64().expect("a number");
    assert!(calls(&json["expected"]) * 100 < calls(&json), "{json}");
    let unlimited: Value =
        serde_json::from_str(&bounds(&["--json", "--set", "budget.usd=null"])).expect("JSON");
    assert_eq!(unlimited["limit"]["usd"], Value::Null);
    assert!(stage.told(&["config", "show", "budget.usd"]).contains("20"));
}

#[test]
fn a_run_speaks_japanese() {
    let stage = Stage::new(&agreeing(&[writes("a"), writes("b").after(&["a"])]));
    let mut whole = stage.running(&["--lang", "ja", "-v", "--until", "grep -qx two src/a"]);
    whole.retain(|word| word != "--json");
    let whole: Vec<&str> = whole.iter().map(String::as_str).collect();
    let ended = crate::process::run(&mut stage.command(&whole), b"");
    assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
    assert_japanese(&ended.stderr, &["a", "b"]);
}
