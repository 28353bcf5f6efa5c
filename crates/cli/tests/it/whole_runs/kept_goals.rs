//! A later task that undoes what an earlier one reached: it is repaired, or the run is not done and names the goal.

use super::stage::Stage;
use super::words::{Task, agreeing, holds, task, writes};
use crate::scenarios::lab::Outcome;

const LIMITS: [&str; 4] = ["--set", "convergence.max_iterations=3", "--set", "convergence.on_stop=block"];

/// A task that writes a file of its own, and does something to another.
fn meddles(other: &str, does: &str) -> Task {
    let files = ["src/b".to_string(), format!("src/{other}")];
    task("b", &format!("echo two > src/b; {does}")).within(&files.each_ref().map(String::as_str))
}

/// The check that the second task leaves its own file as it must be.
fn own() -> String {
    holds("b", "two")
}

#[test]
fn a_goal_that_a_later_task_breaks_is_named_and_the_run_is_not_done() {
    let after = meddles("a", "echo one > src/a").after(&["a"]);
    // Nothing has to be done for the first goal, so that nothing is merged with the second result.
    let reached = task("c", ":").within(&["src/c"]).until(&holds("c", "one"));
    let beside = meddles("c", "echo two > src/c");
    let (a, c) = (holds("a", "two"), holds("c", "one"));
    std::thread::scope(|scope| {
        for (row, broken, tasks) in [
            ("in order, with goals", &a, [writes("a"), after.clone().until(&own())]),
            ("in order, without goals", &a, [writes("a"), after]),
            ("in parallel, with goals", &c, [reached.clone(), beside.clone().until(&own())]),
            ("in parallel, without goals", &c, [reached, beside]),
        ] {
            scope.spawn(move || {
                let stage = Stage::new(&agreeing(&tasks));
                let outcome = stage.run(&LIMITS);
                let (code, _, cause) = outcome.end();
                assert_eq!((code, cause), (8, "partial"), "{row}: {}", outcome.json);
                let told = stage.told(&["explain"]);
                assert!(told.contains(broken.as_str()), "{row}: {told}");
                let evidence = outcome.json["diagnosis"]["evidence"].to_string();
                assert!(evidence.contains(broken.as_str()), "{row}: {evidence}");
            });
        }
    });
}

#[test]
fn a_goal_that_a_later_task_breaks_once_is_repaired() {
    let directory = tempfile::tempdir().expect("a directory");
    // The first attempt breaks it, the second mends it.
    let after = |row: &str| {
        let mark = directory.path().join(row);
        let mark = mark.to_string_lossy();
        let does = format!("if [ -e {mark} ]; then echo two > src/a; else : > {mark}; echo one > src/a; fi");
        meddles("a", &does).after(&["a"])
    };
    // Both change the file, and whoever merges them mends it.
    let beside = meddles("a", "echo one > src/a");
    let merging = "echo two > src/a; echo two > src/b";
    std::thread::scope(|scope| {
        for (row, second) in [
            ("in order, with goals", after("one").until(&own())),
            ("in order, without goals", after("two")),
            ("in parallel, with goals", beside.clone().until(&own())),
            ("in parallel, without goals", beside),
        ] {
            scope.spawn(move || {
                let stage = Stage::new(&agreeing(&[writes("a"), second])).merging(merging);
                let outcome = stage.run(&LIMITS);
                assert_eq!(outcome.end(), (0, "done", "done"), "{row}: {}", outcome.json);
                let files = ["src/a", "src/b"].map(|file| stage.delivered(&outcome, file));
                assert_eq!(files, ["two\n", "two\n"], "{row}");
            });
        }
    });
}

/// A check that the first task weakens: it looks at what the second one is free to break.
const SCRIPT: &str = "tests/check.sh";

fn with_script(second: &str, edit: &str, arguments: &[&str]) -> (Stage, Outcome) {
    let first = task("a", &format!("echo two > src/a; {edit}")).within(&["src/a", SCRIPT]);
    let second = task("b", second).within(&["src/a", "src/b"]).after(&["a"]);
    let stage = Stage::new(&agreeing(&[first, second.until(&own())]));
    stage.lab.put(SCRIPT, "grep -q two src/a || { echo src/a does not say two; exit 1; }\n");
    stage.lab.commit("a check");
    let outcome = stage.run(&[&LIMITS[..], arguments].concat());
    (stage, outcome)
}

#[test]
fn a_test_that_one_task_weakens_does_not_hide_what_another_breaks() {
    let breaks = "echo two > src/b; echo one > src/a";
    let until = format!("sh {SCRIPT}");
    let (stage, outcome) = with_script(breaks, &format!("echo true > {SCRIPT}"), &["--until", &until]);
    let (code, _, cause) = outcome.end();
    assert_eq!((code, cause), (8, "partial"), "{}", outcome.json);
    let told = stage.told(&["explain"]);
    assert!(told.contains(SCRIPT), "{told}");
    assert!(outcome.json["diagnosis"]["evidence"].to_string().contains(SCRIPT), "{}", outcome.json);
    assert!(outcome.stderr.contains("final check"), "{}", outcome.stderr);
}

#[test]
fn a_test_that_one_task_changes_and_the_result_passes_anyway_is_accepted() {
    let until = format!("sh {SCRIPT}");
    let edit = format!("echo '# checks src/a' >> {SCRIPT}");
    let (stage, outcome) = with_script("echo two > src/b", &edit, &["--until", &until]);
    assert_eq!(outcome.end(), (0, "done", "done"), "{}", outcome.json);
    assert!(stage.delivered(&outcome, SCRIPT).ends_with("# checks src/a\n"));
}
