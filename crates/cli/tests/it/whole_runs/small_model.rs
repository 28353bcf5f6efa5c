//! Answers that a very small model really gave, and what became of them; `scripts/small-model` gets more of them.

use fixpoint_testkit::{Reply, Script};
use serde_json::Value;

use super::stage::Stage;
use super::words::{agreeing, plan, says_in_turn, task, with_yeses, writes};

/// Cut off by the limit of tokens, in the middle of saying the same thing again and again.
const REPEATING: &str = r#"{ "task_decomposition": { "subtasks": [ { "acceptance": [ "error", "not all tasks complete", "not implemented", "not implemented", "not implem"#;
/// The half of a plan.
const WITHOUT_TASKS: &str = r#"{ "goal_understanding": { "context": "github.com/greet/greet", "main_objective": "goaL-2.3.2", "success_criteria": [ "1.0.0-p2", "2023-02-05 19:25:23", "1.1.4", "1.1.4", "" ] } }"#;
/// The other half, whose tasks make no sense.
const WITHOUT_UNDERSTANDING: &str = r#"{ "task_decomposition": { "subtasks": [ { "acceptance": [  ], "context": "github.com/greet/greet" ,"dependencies":[  ], "description": "goaL-2.3.2", "goals":[ "1.0.0-p2", "2023-02-05 19:25:23" ], "id": "1.1.4", "scope_paths": [ "github.com/greet/greet", "1.1.4" ]} ]} }"#;
/// As short as the schema allows.
const WITHOUT_ANYTHING: &str = r#"{ "task_decomposition": { "subtasks": [ ]} }"#;
/// What was asked for, retold.
const PROSE: &str = "The user's goal, \"Add a function that says goodbye to a name\", is a good example of a data-driven \
                     problem that requires careful planning.";

fn saying(answers: &[&str]) -> Script {
    with_yeses(Script::new().rule(says_in_turn("plan", answers.iter().map(|text| Reply::text(*text)))))
}

#[test]
fn what_a_small_model_says_ends_with_a_cause_and_a_reason() {
    // What it says, and what is told to it in the last question and to people in the end.
    let table: [([&str; 3], &str, &str); 3] = [
        ([PROSE, WITHOUT_TASKS, REPEATING], "task_decomposition: expected an object", "was cut off"),
        (
            [REPEATING, WITHOUT_UNDERSTANDING, WITHOUT_ANYTHING],
            "goal_understanding: expected an object",
            "goal_understanding: expected an object",
        ),
        ([WITHOUT_ANYTHING, PROSE, PROSE], "contains no JSON object", "contains no JSON object"),
    ];
    std::thread::scope(|scope| {
        for (answers, asked, told) in table {
            scope.spawn(move || {
                let stage = Stage::new(&saying(&answers));
                let outcome = stage.run(&[]);
                assert_eq!(outcome.end(), (7, "failed", "model_unavailable"), "{}", outcome.json);
                assert_eq!(outcome.json["cost"]["attempts"], 0);
                let questions = stage.asked("plan");
                assert_eq!(questions.len(), 3);
                assert!(questions[2].contains(asked), "{asked}: {}", questions[2]);
                let explained = stage.told(&["explain", "--json"]);
                assert!(explained.contains(told), "{told}: {explained}");
                // It has ended: to go on with it would change nothing.
                assert!(explained.contains("models.max_output_tokens"), "{explained}");
                assert!(!explained.contains("fixpoint resume"), "{explained}");
            });
        }
    });
}

#[test]
fn goals_that_pass_whatever_was_done_are_sent_back() {
    for goal in ["", "true", "echo all tests pass"] {
        let idle = task("a", "exit 3").until(goal);
        let stage = Stage::new(&with_yeses(
            Script::new().rule(says_in_turn("plan", [plan(&[idle]), plan(&[writes("a")])].map(Reply::json))),
        ));
        let outcome = stage.run(&[]);
        assert_eq!(outcome.end(), (0, "done", "done"), "{goal:?} {}", outcome.json);
        assert_eq!(stage.asked("plan").len(), 2, "{goal:?}");
        assert_eq!(stage.delivered(&outcome, "src/a"), "two\n");
    }
}

#[test]
fn a_goal_may_run_what_the_task_is_to_write() {
    let script = "printf 'grep -qx two src/a' > look.sh; chmod +x look.sh; echo two > src/a";
    let stage = Stage::new(&agreeing(&[task("a", script).within(&["look.sh", "src/a"]).until("./look.sh")]));
    let outcome = stage.run(&[]);
    assert_eq!(outcome.end(), (0, "done", "done"), "{}", outcome.json);
    assert_eq!(stage.delivered(&outcome, "src/a"), "two\n");

    // A command that makes no sense is never there, and the judge's yes does not make up for it.
    let stage = Stage::new(&agreeing(&[writes("a").until("goaL-2.3.2")]));
    let outcome = stage.run(&["--set", "replanning.enabled=false"]);
    assert_eq!(outcome.json["branch"], Value::Null, "{}", outcome.json);
    assert_eq!(outcome.json["cause"], "not_converging", "{}", outcome.json);
}
