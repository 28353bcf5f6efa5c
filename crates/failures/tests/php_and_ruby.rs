//! PHPUnit, Minitest and RSpec: failures by name, passing tests by name or by number, runs that end early.

use fixpoint_failures::{Options, Parser, Report};

fn read(output: &str, exit_code: i32) -> Report {
    let mut parser = Parser::new(&Options::default());
    parser.push(output.as_bytes());
    parser.finish(Some(exit_code))
}

/// Names of the runner and of the failing tests, and how many passed.
fn told(report: &Report) -> (String, Vec<String>, u64) {
    let failing = report.failures.iter().map(|failure| failure.test.clone().unwrap_or_default()).collect();
    (report.runner.name().to_string(), failing, report.passed_count())
}

const PHPUNIT: &str = "PHPUnit 9.6.7 by Sebastian Bergmann and contributors.

FF..                                                                4 / 4 (100%)

Time: 00:00.033, Memory: 6.00 MB

There were 2 failures:

1) GoalTest::testAdds
Failed asserting that 0 is identical to 4.

/x/tests/GoalTest.php:7

2) GoalTest::testAddsMore
Failed asserting that 2 is identical to 12.

/x/tests/GoalTest.php:8

FAILURES!
Tests: 4, Assertions: 4, Failures: 2.
";

const TESTDOX: &str = "PHPUnit 9.6.7 by Sebastian Bergmann and contributors.

Goal
 ✘ Adds
   │
   │ Failed asserting that 0 is identical to 4.
   │
   │ /x/tests/GoalTest.php:7
   │

 ✔ Adds more

Time: 00:00.043, Memory: 6.00 MB


FAILURES!
Tests: 2, Assertions: 2, Failures: 1.
";

const MINITEST: &str = "Run options: --seed 40593

# Running:

FF.

Finished in 0.000871s, 2296.5145 runs/s, 2296.5145 assertions/s.

  1) Failure:
GoalTest#test_adds [test/goal_test.rb:5]:
Expected: 4
  Actual: 0

  2) Error:
GoalTest#test_table:
NameError: undefined local variable or method `x'
    test/goal_test.rb:9:in `test_table'

3 runs, 2 assertions, 1 failures, 1 errors, 0 skips
";

const RSPEC: &str = "F.

Failures:

  1) goal adds
     Failure/Error: it('adds') { expect(Calc.add(2, 2)).to eq 4 }

       expected: 4
            got: 0

       (compared using ==)
     # ./spec/goal_spec.rb:4:in `block (2 levels) in <top (required)>'

Finished in 0.01 seconds (files took 0.6 seconds to load)
2 examples, 1 failure

Failed examples:

rspec ./spec/goal_spec.rb:4 # goal adds

";

#[test]
fn failing_tests_have_names_and_passing_ones_are_counted() {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_string()).collect::<Vec<_>>();
    for (output, runner, failing, passed) in [
        (PHPUNIT, "phpunit", &["GoalTest::testAdds", "GoalTest::testAddsMore"][..], 2),
        (TESTDOX, "phpunit", &["Goal > Adds"], 1),
        (MINITEST, "minitest", &["GoalTest#test_adds", "GoalTest#test_table"], 1),
        (RSPEC, "rspec", &["goal adds"], 1),
    ] {
        let report = read(output, 1);
        assert_eq!(told(&report), (runner.to_string(), names(failing), passed));
        assert!(report.ran_any && !report.masked, "{runner}");
    }
}

#[test]
fn a_run_without_its_closing_count_ran_nothing_to_count() {
    for output in [
        "PHPUnit 9.6.7 by Sebastian Bergmann and contributors.\n\n",
        "Run options: --seed 1\n\n# Running:\n\n",
        "",
    ] {
        let report = read(output, 0);
        assert!(!report.ran_any && report.passed_count() == 0, "{output}");
    }
}

#[test]
fn counts_of_passing_runs() {
    for (output, passed) in [
        ("PHPUnit 9.6.7 by Sebastian Bergmann and contributors.\n\nOK (2 tests, 2 assertions)\n", 2),
        (
            "PHPUnit 9.6.7 by Sebastian Bergmann and contributors.\n\nOK, but incomplete, skipped, or risky tests!\nTests: 3, Assertions: 2, Skipped: 1.\n",
            2,
        ),
        ("PHPUnit 9.6.7 by Sebastian Bergmann and contributors.\n\nNo tests executed!\n", 0),
        (
            "Run options: --seed 1\n\n# Running:\n\n..\n\nFinished in 0.1s, 2.0 runs/s, 2.0 assertions/s.\n\n2 runs, 2 assertions, 0 failures, 0 errors, 0 skips\n",
            2,
        ),
        ("..\n\nFinished in 0.1 seconds (files took 0.5 seconds to load)\n2 examples, 0 failures\n", 2),
    ] {
        assert_eq!(read(output, 0).passed_count(), passed, "{output}");
    }
}

#[test]
fn other_tools_that_write_failures_are_left_alone() {
    let report = read("Failures:\nsrc/a.c:3:1: error: no\n", 1);
    assert_ne!(report.runner.name(), "rspec");
}
