//! The base is checked before a model is asked: checks that cannot work, tests that all fail, and how often checks run.

use std::path::Path;

use serde_json::json;

use super::stage::Stage;
use super::words::{Task, agreeing, holds, task, writes};

/// Tells in TAP which of two files say `two`.
const TESTS: &str = "\
n=0; status=0
for name in a b; do
  n=$((n + 1))
  if [ \"$(head -n 1 src/$name)\" = two ]; then echo \"ok $n - $name\"
  else echo \"not ok $n - $name\"; status=1; fi
done
echo 1..2
exit $status
";
const GUARD: [&str; 2] = ["--check", "sh tests.sh"];
const LIMITS: [&str; 4] = ["--set", "convergence.max_iterations=2", "--set", "convergence.on_stop=block"];

fn stage(tasks: &[Task]) -> Stage {
    let stage = Stage::new(&agreeing(tasks));
    stage.lab.put("tests.sh", TESTS);
    stage
}

#[test]
fn a_check_that_cannot_work_ends_the_run_before_a_model_is_asked() {
    std::thread::scope(|scope| {
        for (row, said, arguments) in [
            ("no such program", "command not found", &["--check", "no-such-program"][..]),
            ("no such goal", "command not found", &["--check", "true", "--until", "no-such-program"]),
            ("nothing passes", "reports no passing test", &["--check", "exit 3"]),
            ("too slow", "does not end", &["--check", "sleep 60", "--check-timeout", "1"]),
        ] {
            scope.spawn(move || {
                let stage = stage(&[writes("a")]);
                for outcome in [stage.run(arguments), stage.plan(arguments)] {
                    assert_eq!(outcome.end(), (7, "failed", "baseline_unusable"), "{row}: {}", outcome.json);
                    assert_eq!(stage.server.calls().expect("counts").calls, 0, "{row}");
                    let diagnosis = &outcome.json["diagnosis"];
                    assert!(diagnosis["evidence"].to_string().contains(said), "{row}: {diagnosis}");
                    assert!(diagnosis["next"].to_string().contains("--until"), "{row}: {diagnosis}");
                    let told = stage.told(&["explain"]);
                    assert!(told.contains(said) && told.contains("No model was asked"), "{row}: {told}");
                    assert!(stage.told(&["replay", "--json"]).contains("\"identical\":true"), "{row}");
                }
            });
        }
    });
}

/// Whether a run says that its tests are its goal: while it goes on, at its end, and to programs.
fn assert_announced(row: &str, stage: &Stage, outcome: &crate::scenarios::lab::Outcome) {
    let words = "every test of `sh tests.sh` fails at the base (2 tests): they are the goal";
    assert_eq!(outcome.stderr.matches(words).count(), 1, "{row}: {}", outcome.stderr);
    assert_eq!(outcome.json["implied_goals"], json!(["sh tests.sh"]), "{row}: {}", outcome.json);
    // The lines are wrapped.
    let told = stage.told(&["explain"]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains(words), "{row}: {told}");
    assert!(stage.told(&["replay", "--json"]).contains("\"identical\":true"), "{row}");
}

#[test]
fn tests_that_all_fail_are_the_goal() {
    let both = task("both", "echo two > src/a; echo two > src/b");
    let half = task("half", "echo two > src/a");
    let wrong = task("b", "echo three > src/b").within(&["src/b"]).until(&holds("b", "three"));
    let rewritten = task("b", "echo 'echo ok 1 - a; echo ok 2 - b; echo 1..2' > tests.sh");
    let done = (0, "done", "done");
    std::thread::scope(|scope| {
        for (row, tasks, end) in [
            ("one task", vec![both], done),
            ("two tasks", vec![writes("a"), writes("b")], done),
            ("half of it", vec![half], (3, "failed", "max_iterations")),
            ("one of two", vec![writes("a"), wrong], (8, "failed", "partial")),
            ("rewritten", vec![writes("a"), rewritten.after(&["a"])], (8, "failed", "partial")),
        ] {
            scope.spawn(move || {
                let stage = stage(&tasks);
                let outcome = stage.run(&[&GUARD[..], &LIMITS].concat());
                assert_eq!(outcome.end(), end, "{row}: {}", outcome.json);
                assert_announced(row, &stage, &outcome);
            });
        }
    });
}

#[test]
fn a_goal_that_was_given_stays_the_goal() {
    let stage = stage(&[writes("a")]);
    stage.lab.put("tests.sh", &TESTS.replace("a b", "a b c"));
    stage.lab.put("src/c", "two\n");
    let until = holds("a", "two");
    let outcome = stage.run(&[&GUARD[..], &["--until", &until]].concat());
    assert_eq!(outcome.end(), (0, "done", "done"), "{}", outcome.json);
    assert_eq!(outcome.json["implied_goals"], json!(null));
    assert!(outcome.stderr.contains("baseline: 3 failing, 0 flaky, 1 passing"), "{}", outcome.stderr);
}

fn lines(path: &Path) -> usize {
    std::fs::read_to_string(path).map_or(0, |text| text.lines().count())
}

/// Catches a check that is run at the base for the run, and once more for its tasks.
#[test]
fn checks_run_no_more_often_because_they_run_before_the_plan() {
    let directory = tempfile::tempdir().expect("a directory");
    let counter = |name: &str| directory.path().join(name);
    let counting =
        |name: &str, command: &str| format!("echo x >> {}; {command}", counter(name).to_string_lossy());
    // Once at the base, once for each task, and once for what is merged of them.
    let guard = counting("guard", "echo 'ok 1 - x'; echo 1..1");
    let outcome = stage(&[writes("a"), writes("b")]).run(&["--check", &guard]);
    assert_eq!((outcome.end(), lines(&counter("guard"))), ((0, "done", "done"), 4), "{}", outcome.json);
    // Once at the base, and twice for what the agent left.
    let goal = counting("goal", &holds("a", "two"));
    let outcome = stage(&[task("a", "echo two > src/a")]).run(&["--until", &goal]);
    assert_eq!((outcome.end(), lines(&counter("goal"))), ((0, "done", "done"), 3), "{}", outcome.json);
    // A goal that is reached already is not run again before the plan says what else there is to do.
    let reached = counting("reached", &holds("c", "one"));
    let outcome = stage(&[task("a", ":")]).run(&["--until", &reached]);
    let end = (0, "done", "already_satisfied");
    assert_eq!((outcome.end(), lines(&counter("reached"))), (end, 1), "{}", outcome.json);
}
