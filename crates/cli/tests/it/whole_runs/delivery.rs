//! What a run leaves: a branch, a branch brought forward, a patch, or nothing where nothing had to be done.

use serde_json::{Value, json};

use fixpoint_testkit::{Reply, Script};

use super::stage::Stage;
use super::words::{agreeing, holds, named, plan, says, task, with_yeses, writes};
use crate::scenarios::lab::Outcome;
use crate::scenarios::unchanged::{Allowed, Picture};

#[test]
fn a_branch_by_default_and_the_working_tree_as_it_was() {
    let stage = Stage::new(&agreeing(&[writes("a"), writes("b")]));
    let outcome = stage.run(&[]);
    assert_eq!(outcome.end(), (0, "done", "done"), "{}", outcome.json);
    assert_eq!(outcome.json["branch"], json!(format!("fixpoint/{}", outcome.run())));
    assert_eq!(stage.lab.git(&["status", "--porcelain"]), " M src/a\n");
    let diff = stage.told(&["diff"]);
    assert!(diff.contains("+++ b/src/a") && diff.contains("+++ b/src/b"), "{diff}");
    assert!(stage.told(&["replay", "--json"]).contains("\"identical\":true"));
}

/// A run of one task that is not planned, with a check and an agent that does it.
fn without_a_plan(stage: &Stage) -> Outcome {
    let (agent, until) = (stage.lab.agent("echo two > src/a"), holds("a", "two"));
    let whole = ["run", "--json", "--no-plan", "a says two", "--until", &until, "--", &agent];
    stage.watched(&mut stage.command(&whole))
}

#[test]
fn without_a_plan_the_goal_is_one_task() {
    let stage = Stage::new(&with_yeses(Script::new()));
    let outcome = without_a_plan(&stage);
    assert_eq!(outcome.end(), (0, "done", "done"), "{}", outcome.json);
    assert_eq!(stage.delivered(&outcome, "src/a"), "two\n");
    let log = stage.server.log().expect("a log");
    assert_eq!((log.len(), stage.asked("task_judgement").len()), (1, 1), "nobody was asked for a plan");
}

#[test]
fn without_a_plan_and_without_a_model_the_checks_decide() {
    let stage = Stage::new(&Script::new());
    // Nothing is found: no key, no server at the usual ports, no agent in an empty path of programs.
    stage.user_configuration("models: { planner: gone/m, judge: gone/m, reflector: gone/m }\n");
    let outcome = without_a_plan(&stage);
    assert_eq!(outcome.end(), (0, "done", "done"), "{}", outcome.json);
}

#[test]
fn a_goal_that_is_met_already_changes_nothing() {
    std::thread::scope(|scope| {
        // Every goal of every task passes at the base.
        scope.spawn(|| {
            let met =
                ["a", "b"].map(|name| task(name, "exit 3").within(&["src/*"]).until(&holds(name, "one")));
            let stage = Stage::new(&agreeing(&met));
            let outcome = stage.run(&[]);
            assert_eq!(outcome.end(), (0, "done", "already_satisfied"), "{}", outcome.json);
            assert_eq!(
                (&outcome.json["branch"], &outcome.json["cost"]["attempts"]),
                (&Value::Null, &json!(0))
            );
        });
        // Without any check the agent changes nothing, and the judge says that nothing had to be.
        scope.spawn(|| {
            let judge = json!({"success": true, "should_continue": false, "should_replan": false,
                "already_satisfied": true, "reason": "it was there", "missing_requirements": []});
            let script = Script::new()
                .rule(says("plan", plan(&[task("a", ":")])))
                .rule(named("there", "task_judgement").reply(Reply::json(judge)));
            let stage = Stage::new(&with_yeses(script));
            let outcome = stage.run(&[]);
            assert_eq!(outcome.end(), (0, "done", "already_satisfied"), "{}", outcome.json);
            assert_eq!(outcome.json["branch"], Value::Null);
        });
    });
}

#[test]
fn a_branch_is_brought_forward_where_that_is_asked_for() {
    let stage = Stage::new(&agreeing(&[writes("b")]));
    stage.lab.git(&["checkout", "-q", "--", "src/a"]);
    stage.lab.git(&["branch", "topic"]);
    let before = Picture::of(&stage.lab.root());
    let whole = stage.running(&["--into", "topic"]);
    let mut command = stage.command(&whole.iter().map(String::as_str).collect::<Vec<_>>());
    let ended = crate::process::run(&mut command, b"");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let printed: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    assert_eq!(stage.lab.git(&["show", "topic:src/b"]), "two\n");
    assert_eq!(stage.lab.git(&["rev-parse", "topic"]).trim(), printed["result"].as_str().expect("a result"));
    let changed = before.differences(
        &Picture::of(&stage.lab.root()),
        Allowed::Branch(printed["run"].as_str().expect("a run")),
    );
    let moved = ["new or other: .git/logs/refs/heads/topic", "new or other: .git/refs/heads/topic"];
    assert_eq!(changed, moved);
}

#[test]
fn a_patch_is_written_where_that_is_asked_for() {
    let stage = Stage::new(&agreeing(&[writes("b")]));
    let path = stage.lab.beside("result.patch");
    let outcome = stage.run(&["--patch", &path.to_string_lossy()]);
    assert_eq!(outcome.end(), (0, "done", "done"), "{}", outcome.json);
    assert_eq!(outcome.json["branch"], Value::Null, "a patch instead of a branch");
    let patch = std::fs::read_to_string(&path).expect("a patch");
    assert!(patch.contains("+++ b/src/b") && !patch.contains("not committed"), "{patch}");
    // As any new file of the user's.
    let ordinary = stage.lab.beside("ordinary");
    std::fs::write(&ordinary, "").expect("written");
    let mode = |path: &std::path::Path| path.metadata().expect("there").permissions();
    assert_eq!(mode(&path), mode(&ordinary));
}
