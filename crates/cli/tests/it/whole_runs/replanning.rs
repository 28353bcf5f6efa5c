//! Tasks that cannot work are replaced by smaller ones, a bounded number of times.

use fixpoint_testkit::{Reply, Script};
use serde_json::Value;

use super::stage::Stage;
use super::words::{
    holds, named, on, plan, replan, says, says_in_turn, task, wants_replan, with_yeses, writes,
};

/// The first task is too large; the second waits for it.
fn too_large() -> Script {
    let large = task("large", "echo half > src/a").within(&["src/*"]);
    let dependent = task("last", "cat src/a src/b src/c > src/all").within(&["src/all"]).after(&["large"]);
    let judge =
        named("too large", "task_judgement").contains("Task large.").reply(Reply::json(wants_replan()));
    Script::new().rule(says("plan", plan(&[large, dependent]))).rule(judge)
}

#[test]
fn a_task_is_replaced_by_three_and_its_dependent_waits_for_all_of_them() {
    let script = too_large().rule(says("replan", replan(&[writes("a"), writes("b"), writes("c")])));
    let stage = Stage::new(&with_yeses(script));
    let outcome = stage.run(&[]);
    assert_eq!(outcome.end(), (0, "done", "done"), "{}", outcome.json);
    // The dependent saw what all three had written.
    assert_eq!(stage.delivered(&outcome, "src/all"), "two\ntwo\ntwo\n");
    let states = stage.states();
    let state_of = |name: &str| states.iter().find(|(id, _)| id == name).map(|(_, state)| state.as_str());
    let replaced = state_of("large").expect("it is told");
    assert!(replaced.starts_with("replaced by ") && replaced.split(", ").count() == 3, "{states:?}");
    assert_eq!(state_of("last"), Some("done"), "{states:?}");
}

#[test]
fn the_cap_is_shared_by_all_descendants_and_the_dependents_are_told() {
    // Whatever takes the place of the task is too large as well.
    let judge = named("always", "task_judgement").contains("Task large").reply(Reply::json(wants_replan()));
    let again = ["one", "two", "three"].map(|word| {
        let small = |n: u32| task(&format!("large-{word}-{n}"), "echo x >> src/a").within(&["src/*"]);
        Reply::json(replan(&[small(1), small(2), small(3)]))
    });
    let large = task("large", "echo half > src/a").within(&["src/*"]);
    let dependent = writes("b").after(&["large"]);
    let script = Script::new()
        .rule(says("plan", plan(&[large, dependent])))
        .rule(judge)
        .rule(says_in_turn("replan", again));
    let stage = Stage::new(&with_yeses(script));
    let outcome = stage.run(&["--set", "planning.reflection.enabled=false"]);
    assert_eq!(outcome.end(), (3, "failed", "max_replans"), "{}", outcome.json);
    assert_eq!(stage.asked("replan").len(), 2, "the third replan of the lineage is not made");
    let states = stage.states();
    assert!(states.contains(&("b".to_string(), "blocked (dependency)".to_string())), "{states:?}");
    let blocked = states.iter().filter(|(_, state)| state == "blocked (max_replans)").count();
    assert!(blocked >= 1, "{states:?}");
    assert!(stage.told(&["show"]).contains("blocked (dependency)"));
    assert_eq!(outcome.json["branch"], Value::Null);
}

#[test]
fn what_is_done_beside_a_blocked_task_is_delivered_as_partly_done() {
    let judge = named("no", "task_judgement").contains("Task stuck.").reply(Reply::json(wants_replan()));
    let stuck = task("stuck", "echo x > src/b").within(&["src/b"]);
    let waits = task("waits", "echo x > src/c").within(&["src/c"]).after(&["stuck"]);
    let script = Script::new().rule(says("plan", plan(&[writes("a"), stuck, waits]))).rule(judge);
    let stage = Stage::new(&with_yeses(script));
    let off = ["--set", "replanning.enabled=false"];
    let outcome = stage.run(&off);
    assert_eq!(outcome.end(), (8, "failed", "partial"), "{}", outcome.json);
    assert_eq!(stage.delivered(&outcome, "src/a"), "two\n");
    assert_eq!(stage.delivered(&outcome, "src/b"), "one\n");
    let states = stage.states();
    assert!(
        states.contains(&("stuck".to_string(), "blocked (replanning_disabled)".to_string())),
        "{states:?}"
    );
    assert!(states.contains(&("waits".to_string(), "blocked (dependency)".to_string())), "{states:?}");
}

#[test]
fn a_task_that_gets_nowhere_is_replaced_too() {
    let stubborn = task("stubborn", "echo $$ > src/a").within(&["src/a"]).until(&holds("a", "two"));
    let script = Script::new()
        .rule(says("plan", plan(&[stubborn])))
        .rule(
            named("worth", "task_judgement").contains("make no progress").reply(Reply::json(wants_replan())),
        )
        .rule(says("replan", replan(&[writes("a")])));
    let stage = Stage::new(&with_yeses(script));
    let outcome = stage.run(&[]);
    assert_eq!(outcome.end(), (0, "done", "done"), "{}", outcome.json);
    assert_eq!(stage.delivered(&outcome, "src/a"), "two\n");
}

#[test]
fn a_blocked_task_that_tries_again_brings_the_branch_forward() {
    let once = named("once", "task_judgement")
        .contains("Task stuck.")
        .reply(Reply::json(wants_replan()))
        .then_fail();
    let stuck = task("stuck", "echo x > src/b").within(&["src/b"]);
    let waits = writes("c").after(&["stuck"]);
    let script = Script::new().rule(says("plan", plan(&[writes("a"), stuck, waits]))).rule(once);
    let stage = Stage::new(&with_yeses(script));
    let partial = stage.run(&["--set", "replanning.enabled=false"]);
    assert_eq!(partial.end(), (8, "failed", "partial"), "{}", partial.json);
    let done = stage.resume(&["--task", "stuck"]);
    assert_eq!((done.end(), done.run()), ((0, "done", "done"), partial.run()), "{}", done.json);
    let files = ["a", "b", "c"].map(|name| stage.delivered(&done, &format!("src/{name}")));
    assert_eq!(files, ["two\n", "x\n", "two\n"], "the branch of the partial result holds the whole now");
}

#[test]
fn a_replan_that_cannot_be_used_is_asked_for_again_and_then_given_up() {
    std::thread::scope(|scope| {
        // Six are more than may take the place of one.
        scope.spawn(|| {
            let six = ["d", "e", "f", "g", "h", "i"].map(|name| task(name, ":").within(&["src/d"]));
            let replans = [replan(&six), replan(&[writes("a"), writes("b"), writes("c")])].map(Reply::json);
            let stage = Stage::new(&with_yeses(too_large().rule(says_in_turn("replan", replans))));
            let outcome = stage.run(&[]);
            assert_eq!(outcome.end(), (0, "done", "done"), "{}", outcome.json);
            let asked = stage.asked("replan");
            assert_eq!(asked.len(), 2);
            assert!(asked[1].contains("more tasks than may take the place of one"), "{}", asked[1]);
        });
        scope.spawn(|| {
            let nonsense = on("replan").reply(Reply::text("Just try harder."));
            let stage = Stage::new(&with_yeses(too_large().rule(nonsense)));
            let outcome = stage.run(&["--set", "planning.reflection.enabled=false"]);
            assert_eq!((outcome.end(), stage.asked("replan").len()), ((3, "failed", "judge_gave_up"), 3));
            let states = stage.states();
            assert_eq!(states[1], ("last".to_string(), "blocked (dependency)".to_string()), "{states:?}");
        });
    });
}
