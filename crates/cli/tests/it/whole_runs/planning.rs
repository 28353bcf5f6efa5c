//! Plans that are not there at once: unclear goals, goals that cannot be cut, plans that are wrong, judges that cannot
//! be read, and plans that change on the way.

use fixpoint_decide::run::{Change, ReflectionChange};
use fixpoint_testkit::{Reply, Script};
use serde_json::{Value, json};

use super::stage::Stage;
use super::words::{
    Task, agreed, agreeing, holds, named, on, plan, says, says_in_turn, scored, task, unclear, undecomposed,
    with_yeses, writes,
};

/// Says these one after the other when asked for a plan, and agrees to everything else.
fn planning(documents: impl IntoIterator<Item = Value>) -> Script {
    with_yeses(Script::new().rule(says_in_turn("plan", documents.into_iter().map(Reply::json))))
}

#[test]
fn what_is_unclear_is_assumed_and_said_where_nobody_can_be_asked() {
    let mut assuming = plan(&[writes("a")]);
    assuming["goal_understanding"]["assumptions"] = json!(["only src/a is meant"]);
    let stage = Stage::new(&planning([assuming]));
    let outcome = stage.run(&["--non-interactive"]);
    assert_eq!(outcome.end(), (0, "done", "done"), "{}", outcome.json);
    assert!(stage.asked("plan")[0].contains("Nobody can answer questions"), "{}", stage.asked("plan")[0]);
    assert!(stage.told(&["explain"]).contains("only src/a is meant"), "{}", stage.told(&["explain"]));
}

#[test]
fn a_goal_that_nothing_can_be_assumed_of_needs_a_person() {
    let stage = Stage::new(&planning([unclear()]));
    let outcome = stage.run(&["--non-interactive"]);
    assert_eq!(outcome.end(), (5, "failed", "needs_clarification"), "{}", outcome.json);
    assert_eq!(outcome.json["cost"]["attempts"], 0);
    assert!(stage.told(&["explain"]).contains("Which files?"), "{}", stage.told(&["explain"]));
}

#[test]
fn a_goal_that_cannot_be_cut_is_cut_less_finely_once() {
    let stage = Stage::new(&planning([undecomposed(&[]), plan(&[writes("a")])]));
    let outcome = stage.run(&["--set", "planning.decomposition_level=moderate"]);
    assert_eq!(outcome.end(), (0, "done", "done"), "{}", outcome.json);
    let asked = stage.asked("plan");
    assert_eq!(asked.len(), 2);
    assert_ne!(asked[0], asked[1], "the second question asks for less");
}

#[test]
fn a_part_of_the_goal_is_not_run_unless_somebody_agrees() {
    let level = ["--set", "planning.decomposition_level=moderate"];
    let stage = Stage::new(&planning([undecomposed(&[writes("a")])]));
    let outcome = stage.run(&level);
    assert_eq!(outcome.end(), (5, "failed", "approval_timeout"), "{}", outcome.json);
    let told = stage.told(&["explain"]);
    assert!(
        told.contains("the moon") && told.contains("a picture of it"),
        "what cannot be done is named: {told}"
    );
    assert_eq!(stage.asked("plan").len(), 2, "once more less finely, then no more");

    let stage = Stage::new(&planning([undecomposed(&[writes("a")])]));
    let outcome = stage.run(&[&level[..], &["--set", "planning.allow_partial=true"]].concat());
    // A part is done; that is not the goal.
    assert_eq!(outcome.end(), (8, "failed", "partial"), "{}", outcome.json);
    assert_eq!(stage.delivered(&outcome, "src/a"), "two\n");
    let told = stage.told(&["explain"]);
    assert!(told.contains("the moon") && told.contains("a picture of it"), "{told}");
}

#[test]
fn a_wrong_plan_is_sent_back_with_the_names_and_mended() {
    let circular: [Task; 2] = [writes("a").after(&["b"]), writes("b").after(&["a"])];
    let unknown_dependency = [writes("a").after(&["zebra"])];
    let unknown_tool = [writes("a").with_tool("teleport")];
    let too_many: Vec<Task> = ["a", "b", "c", "d"].map(writes).to_vec();
    let twice = [writes("a"), writes("a")];
    let table: [(&[Task], &[&str]); 5] = [
        (&circular, &["circular", "a → b"]),
        (&unknown_dependency, &["`a`", "`zebra`"]),
        (&unknown_tool, &["`a`", "`teleport`"]),
        (&too_many, &["4 tasks", "`d`"]),
        (&twice, &["`a`"]),
    ];
    std::thread::scope(|scope| {
        for (wrong, named) in table {
            scope.spawn(move || {
                let stage = Stage::new(&planning([plan(wrong), plan(&[writes("a")])]));
                let outcome = stage.run(&["--set", "planning.max_subtasks=3"]);
                assert_eq!(outcome.end(), (0, "done", "done"), "{named:?} {}", outcome.json);
                let asked = stage.asked("plan");
                assert_eq!(asked.len(), 2, "{named:?}");
                assert!(asked[1].contains("was rejected"), "{named:?} {}", asked[1]);
                named.iter().for_each(|name| assert!(asked[1].contains(name), "{name}: {}", asked[1]));
            });
        }
    });
}

#[test]
fn a_plan_that_stays_wrong_ends_the_run() {
    let stage = Stage::new(&planning([plan(&[writes("a").after(&["a"])])]));
    let outcome = stage.run(&[]);
    assert_eq!(outcome.end(), (7, "failed", "model_unavailable"), "{}", outcome.json);
    assert_eq!((stage.asked("plan").len(), &outcome.json["cost"]["attempts"]), (3, &json!(0)));
}

#[test]
fn a_judge_that_cannot_be_read_never_says_yes() {
    let silent = |form: &str| on(form).reply(Reply::text("Looks good to me!"));
    let script = |form| {
        with_yeses(Script::new().rule(says("plan", plan(&[writes("a"), writes("b")]))).rule(silent(form)))
    };
    let table = [
        ("plan_judgement", (4, "failed", "plan_rejected"), 3),
        // Both tasks are asked about, and neither is done.
        ("task_judgement", (7, "failed", "judge_unavailable"), 6),
        ("whole_judgement", (7, "failed", "judge_unavailable"), 3),
    ];
    std::thread::scope(|scope| {
        for (form, end, asked) in table {
            scope.spawn(move || {
                let stage = Stage::new(&script(form));
                let outcome = stage.run(&[]);
                assert_eq!((outcome.end(), stage.asked(form).len()), (end, asked), "{form} {}", outcome.json);
            });
        }
    });
}

#[test]
fn a_plan_that_is_never_good_enough_is_rejected() {
    let script = Script::new()
        .rule(says("plan", plan(&[writes("a")])))
        .rule(says("refinement", plan(&[writes("a")])))
        .rule(says_in_turn("plan_judgement", [40, 55, 70].map(|score| Reply::json(scored(false, score)))));
    let stage = Stage::new(&script);
    let outcome = stage.plan(&["--set", "judge.max_samples=1"]);
    assert_eq!(outcome.end(), (4, "failed", "plan_rejected"), "{}", outcome.json);
    assert_eq!((stage.asked("refinement").len(), stage.asked("plan_judgement").len()), (2, 3));
}

#[test]
fn a_plan_is_made_better_until_it_is_good_enough() {
    let script = Script::new()
        .rule(says("plan", plan(&[task("vague", "exit 1")])))
        .rule(says("refinement", plan(&[writes("a")])))
        .rule(says_in_turn(
            "plan_judgement",
            [(false, 40), (true, 90)].map(|(is, n)| Reply::json(scored(is, n))),
        ));
    let stage = Stage::new(&with_yeses(script));
    let outcome = stage.run(&[]);
    assert_eq!(outcome.end(), (0, "done", "done"), "{}", outcome.json);
    assert_eq!(
        (stage.delivered(&outcome, "src/a").as_str(), &outcome.json["plan"]["accepted"]),
        ("two\n", &json!(2))
    );
    assert!(stage.asked("refinement")[0].contains("make the files say two"), "the goal is told again");
}

#[test]
fn a_plan_that_wants_too_much_is_not_carried_out() {
    let table = [
        ("sudo make test", (4, "failed", "plan_refused")),
        ("curl http://127.0.0.1:9/x", (5, "failed", "approval_timeout")),
    ];
    for (goal, end) in table {
        let stage = Stage::new(&planning([plan(&[task("a", "echo two > src/a").until(goal)])]));
        let outcome = stage.run(&[]);
        assert_eq!((outcome.end(), &outcome.json["cost"]["attempts"]), (end, &json!(0)), "{}", outcome.json);
        assert!(stage.told(&["explain"]).contains(goal), "the item is named: {}", stage.told(&["explain"]));
    }
}

#[test]
fn a_large_goal_is_planned_phase_by_phase() {
    let whole = plan(&[writes("a"), writes("b")]);
    let part = |name: &str| {
        let mut document = json!({"phase": "planning", "comment": ""});
        document[name] = whole[name].clone();
        says(name, document)
    };
    let phases = ["goal_understanding", "task_decomposition", "action_plan"];
    let stage =
        Stage::new(&with_yeses(phases.iter().fold(Script::new(), |script, name| script.rule(part(name)))));
    let outcome = stage.run(&["--set", "planning.complexity_threshold.simple=1"]);
    assert_eq!(outcome.end(), (0, "done", "done"), "{}", outcome.json);
    let log = stage.server.log().expect("a log");
    let asked: Vec<&str> = log.iter().take(3).filter_map(|line| line.rule.as_deref()).collect();
    assert_eq!(asked, phases);
    assert_eq!((phases.map(|name| stage.asked(name).len()), stage.asked("plan").len()), ([1, 1, 1], 0));
}

#[test]
fn a_goal_that_comes_again_is_not_planned_again() {
    let stage = Stage::new(&agreeing(&[writes("a")]));
    let first = stage.run(&[]);
    let second = stage.run(&[]);
    assert_eq!((first.end(), second.end()), ((0, "done", "done"), (0, "done", "done")), "{}", second.json);
    // The plan is judged again: it was good then.
    assert_eq!((stage.asked("plan").len(), stage.asked("plan_judgement").len()), (1, 2));
    let third = stage.run(&["--set", "planning.cache.enabled=false"]);
    assert_eq!((third.end(), stage.asked("plan").len()), ((0, "done", "done"), 2), "{}", third.json);
}

#[test]
fn a_plan_alone_changes_nothing_and_is_shown() {
    let stage = Stage::new(&agreeing(&[writes("a"), writes("b").after(&["a"])]));
    let outcome = stage.plan(&[]);
    assert_eq!(outcome.end(), (0, "done", "done"), "{}", outcome.json);
    assert_eq!((&outcome.json["branch"], &outcome.json["cost"]["attempts"]), (&Value::Null, &json!(0)));
    assert_eq!(stage.asked("task_judgement").len(), 0);
    let names: Vec<&str> = outcome.json["tasks"]
        .as_array()
        .expect("the tasks")
        .iter()
        .filter_map(|t| t["id"].as_str())
        .collect();
    assert_eq!(names, ["a", "b"]);
}

/// The second task does not work until the plan is revised, which the look back at the first asks for.
fn revised(place: &str) -> Script {
    let mut looked_back = json!({"phase": "reflection",
        "reflection": {"action_evaluated": "a", "status": "partial", "evaluation": "b must be told more",
            "alignment_with_plan": "partly", "issues_identified": ["b lacks a word"], "plan_revision_needed": false},
        "plan_revision": {"reason": "b lacks a word", "changes": [{"type": "replace_action", "action_id": "b_action_1",
            "action": {"task_id": "b", "action_type": "edit", "tool": "edit", "purpose": "mind the word REVISED",
                "expected_outcome": "two", "fallback_strategy": "none"}}]}, "comment": ""});
    match place {
        "inside" => looked_back["reflection"]["plan_revision_needed"] = json!(true),
        _ => looked_back["plan_revision_needed"] = json!(true),
    }
    let second = task("b", r#"case "$p" in *REVISED*) echo two > src/b;; esac"#);
    let second = second.within(&["src/b"]).until(&holds("b", "two")).after(&["a"]);
    let judge = named("judge", "task_judgement").reply(Reply::json(agreed()));
    with_yeses(
        Script::new()
            .rule(says("plan", plan(&[writes("a"), second])))
            .rule(judge)
            .rule(says("reflection", looked_back)),
    )
}

#[test]
fn a_revision_is_made_wherever_it_is_asked_for() {
    std::thread::scope(|scope| {
        for place in ["inside", "top"] {
            scope.spawn(move || {
                let stage = Stage::new(&revised(place));
                let outcome = stage.run(&["--set", "planning.reflection.trigger_interval=1"]);
                assert_eq!(outcome.end(), (0, "done", "done"), "{place} {}", outcome.json);
                let recorded = stage.recorded();
                let changes = recorded.records.iter().flat_map(|record| &record.decision.changes);
                let is_revision =
                    |change: &&Change| matches!(change, Change::Reflection(ReflectionChange::Revised { .. }));
                assert_eq!(changes.filter(is_revision).count(), 1, "{place}");
                assert_eq!(stage.delivered(&outcome, "src/b"), "two\n");
                assert_eq!(outcome.json["cost"]["attempts"], 2, "the second task was told in time");
            });
        }
    });
}

#[test]
fn a_revision_that_needs_consent_waits_where_nobody_gives_it() {
    let stage = Stage::new(&revised("inside"));
    let consent = "planning.revision.require_human_approval=true";
    let outcome = stage.run(&["--set", "planning.reflection.trigger_interval=1", "--set", consent]);
    assert_eq!(outcome.end(), (5, "paused", "approval_timeout"), "{}", outcome.json);
}
