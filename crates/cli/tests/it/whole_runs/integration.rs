//! Results that do not fit together: in text, in meaning, and in no way at all; and a whole that lacks something.

use fixpoint_testkit::{Reply, Script};
use serde_json::{Value, json};

use super::stage::Stage;
use super::words::{Task, agreeing, complete, named, plan, says, task, with_yeses, writes};

/// Two tasks that write the same line.
fn same_line() -> [Task; 2] {
    ["left", "right"].map(|word| {
        let does = format!("echo {word} > src/a");
        task(word, &does).within(&["src/a"]).until(&format!("grep -qx {word} src/a"))
    })
}

#[test]
fn two_that_conflict_in_text_are_brought_together_by_an_agent() {
    let stage = Stage::new(&agreeing(&same_line())).merging("printf 'left\\nright\\n' > src/a");
    let outcome = stage.run(&[]);
    assert_eq!(outcome.end(), (0, "done", "done"), "{}", outcome.json);
    assert_eq!(stage.delivered(&outcome, "src/a"), "left\nright\n");
    let states = stage.states();
    assert_eq!(states.last(), Some(&("merge-1".to_string(), "done".to_string())), "{states:?}");
    assert_eq!(outcome.json["cost"]["attempts"], 3, "one for each task and one for the merge");
}

/// Fails where both are there and nobody made them fit.
const FITS: &str = "if grep -qx two src/a && grep -qx two src/b && ! grep -qx fits src/b; then
  echo 'a and b do not fit'; exit 1; fi\n";

#[test]
fn two_that_conflict_only_in_meaning_are_brought_together_by_an_agent() {
    let stage = Stage::new(&agreeing(&[writes("a"), writes("b")])).merging("echo fits >> src/b");
    stage.lab.put("fits.sh", FITS);
    let outcome = stage.run(&["--check", "sh ./fits.sh"]);
    assert_eq!(outcome.end(), (0, "done", "done"), "{}", outcome.json);
    assert_eq!(stage.delivered(&outcome, "src/a"), "two\n");
    assert_eq!(stage.delivered(&outcome, "src/b"), "two\nfits\n");
    assert_eq!(outcome.json["cost"]["attempts"], 3);
}

#[test]
fn two_that_cannot_be_brought_together_leave_one_out_and_the_run_is_partial() {
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // There is only one first line, so that whatever the agent does is wrong.
            let first = ["left", "right"].map(|word| {
                let goal = format!("test \"$(head -n 1 src/a)\" = {word}");
                task(word, &format!("echo {word} > src/a")).within(&["src/a"]).until(&goal)
            });
            let stage = Stage::new(&agreeing(&first)).merging("printf 'left\\nright\\n' > src/a");
            let outcome = stage.run(&["--set", "convergence.max_iterations=3"]);
            assert_eq!(outcome.end(), (8, "failed", "partial"), "{}", outcome.json);
            assert_eq!(stage.delivered(&outcome, "src/a"), "left\n", "what is delivered is one side, whole");
            let states = stage.states();
            assert!(states.contains(&("right".into(), "done, left out of the result".into())), "{states:?}");
        });
        scope.spawn(|| {
            let stage = Stage::new(&agreeing(&[writes("a"), writes("b")])).merging(":");
            stage.lab.put("fits.sh", FITS);
            let outcome = stage.run(&["--check", "sh ./fits.sh", "--set", "convergence.max_iterations=3"]);
            assert_eq!(outcome.end(), (8, "failed", "partial"), "{}", outcome.json);
            assert_eq!(stage.delivered(&outcome, "src/a"), "two\n");
            assert_eq!(stage.delivered(&outcome, "src/b"), "one\n");
            // What is done can be taken although not all of it is.
            assert_eq!(crate::process::run(&mut stage.command(&["apply"]), b"").code, 0);
            assert_eq!(std::fs::read_to_string(stage.lab.root().join("src/a")).expect("a file"), "two\n");
        });
    });
}

/// Both words are in the file, between the marks of the conflict: the goals of both sides pass.
#[test]
fn marks_of_a_conflict_are_never_delivered() {
    let stage = Stage::new(&agreeing(&same_line())).merging(":");
    let outcome = stage.run(&["--set", "convergence.max_iterations=3"]);
    assert_eq!(outcome.end(), (8, "failed", "partial"), "{}", outcome.json);
    assert_eq!(stage.delivered(&outcome, "src/a"), "left\n");
}

fn incomplete(additional: &[Task]) -> Value {
    let tasks: Vec<Value> = additional.iter().map(Task::json).collect();
    json!({"is_complete": false, "missing_aspects": ["c says one"], "additional_tasks": tasks, "completion_score": 60})
}

#[test]
fn what_the_whole_lacks_is_added() {
    let whole = named("whole", "whole_judgement")
        .reply(Reply::json(incomplete(&[writes("c")])))
        .reply(Reply::json(complete()));
    let script = Script::new().rule(says("plan", plan(&[writes("a"), writes("b")]))).rule(whole);
    let stage = Stage::new(&with_yeses(script));
    let outcome = stage.run(&[]);
    assert_eq!(outcome.end(), (0, "done", "done"), "{}", outcome.json);
    ["a", "b", "c"]
        .iter()
        .for_each(|name| assert_eq!(stage.delivered(&outcome, &format!("src/{name}")), "two\n"));
}

#[test]
fn a_whole_that_stays_incomplete_is_partial() {
    let script = Script::new()
        .rule(says("plan", plan(&[writes("a"), writes("b")])))
        .rule(says("whole_judgement", incomplete(&[])));
    let stage = Stage::new(&with_yeses(script));
    let outcome = stage.run(&[]);
    assert_eq!(outcome.end(), (8, "failed", "partial"), "{}", outcome.json);
    assert_eq!(stage.delivered(&outcome, "src/b"), "two\n");
    assert!(stage.told(&["explain"]).contains("c says one"));
}
