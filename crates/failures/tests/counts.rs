//! How many tests passed is known from names, from summaries, or from both, for every runner that says so.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    reason = "tests read recorded files"
)]

mod fixtures;

use fixpoint_failures::{Failure, Options, Parser, Report, TestId};

fn read(output: &str) -> Report {
    let mut parser = Parser::new(&Options::default());
    parser.push(output.as_bytes());
    parser.finish(Some(0))
}

/// The counts are those that the tools print in these files, read by a person: names, and all that passed.
#[test]
fn recorded_runs_say_how_many_passed() {
    let table = [
        ("cargo_test", "several", 4, 4),
        ("cargo_test", "quiet", 0, 4),
        ("cargo_test", "nothing_ran", 0, 0),
        ("nextest", "several", 4, 4),
        ("nextest", "json", 4, 4),
        ("nextest", "timeout", 1, 1),
        ("pytest", "all_pass", 0, 1),
        ("pytest", "quiet", 0, 7),
        ("pytest", "very_quiet", 0, 7),
        ("pytest", "nothing_ran", 0, 0),
        // One test failed in two of its parts, which unittest counts as two failures: the count is a lower bound.
        ("unittest", "several", 0, 2),
        ("unittest", "verbose", 3, 3),
        ("unittest", "all_pass", 1, 1),
        ("unittest", "assertion", 0, 0),
        ("go_test", "verbose", 4, 4),
        ("go_json", "all_pass", 1, 1),
        ("jest", "several", 0, 3),
        ("jest", "verbose", 3, 3),
        ("vitest", "several", 0, 3),
        ("vitest", "all_pass", 0, 1),
        ("mocha", "several", 2, 2),
        ("node_test", "spec", 3, 3),
        ("node_test", "tap", 3, 3),
        ("tap", "mocha", 2, 2),
        ("junit", "pytest", 6, 6),
        ("junit", "vitest", 3, 3),
    ];
    let cases = fixtures::cases();
    let mut wrong = Vec::new();
    for (runner, name, named, passed) in table {
        let case = cases.iter().find(|case| case.runner == runner && case.name == name).expect("a case");
        for (output, place) in [(&case.output, fixtures::HERE), (&case.shifted, fixtures::SHIFTED)] {
            let report = case.read(output, place);
            if (report.passed.len(), report.passed_count()) != (named, passed) {
                let seen = (report.passed.len(), report.passed_count());
                wrong.push(format!("{runner}/{name}: {seen:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What quiet tools print when all is well has no sign but its last line.
#[test]
fn quiet_runs_that_pass_are_counted() {
    let table = [
        ("....                                         [100%]\n4 passed in 0.01s\n", "pytest", 4),
        ("..s.x       [100%]\n3 passed, 1 skipped, 1 xfailed in 0.01s\n", "pytest", 3),
        (
            "....\n----------------------------------------------------------------------\nRan 4 tests in 0.000s\n\nOK\n",
            "unittest",
            4,
        ),
        (
            "s.\n----------------------------------------------------------------------\nRan 2 tests in 0.000s\n\nOK (skipped=1)\n",
            "unittest",
            1,
        ),
        (
            "ok  \texample.com/a\t0.003s\nok  \texample.com/b\t(cached)\nok  \texample.com/c\t0.002s [no tests to run]\n?   \texample.com/d\t[no test files]\n",
            "go_test",
            2,
        ),
        ("\n  ․․․\n\n  3 passing (5ms)\n\n", "mocha", 3),
        (
            "PASS src/a.test.js\nPASS src/b.test.js\n\nTest Suites: 2 passed, 2 total\nTests:       5 passed, 5 total\n",
            "jest",
            5,
        ),
    ];
    for (output, runner, passed) in table {
        let report = read(output);
        assert_eq!(
            (report.runner.name(), report.passed_count(), report.ran_any, report.masked),
            (runner, passed, true, false),
            "{output}"
        );
    }
}

#[test]
fn ids_with_dashes_end_before_the_reason() {
    let rule = "=".repeat(20);
    let output = format!(
        "{rule} short test summary info {rule}\nFAILED a.py::test_x[a - b] - assert 4 == 5\n\
         FAILED a.py::test_y - assert x[1 - 2] == [3 - 4]\nFAILED a.py::test_z[a - b]\n{rule} 3 failed in 0.01s {rule}\n"
    );
    let mut parser = Parser::new(&Options::default());
    parser.push(output.as_bytes());
    let failures = parser.finish(Some(1)).failures;
    let names: Vec<String> =
        failures.iter().filter_map(Failure::test_id).map(|test| test.to_string()).collect();
    assert_eq!(names, ["a.py::test_x[a - b]", "a.py::test_y", "a.py::test_z[a - b]"]);
}

#[test]
fn ids_with_blanks_are_named() {
    let rule = "=".repeat(20);
    let output = format!(
        "{rule} test session starts {rule}\ntest_a.py::test_x[a b] PASSED      [ 50%]\ntest_a.py::test_y PASSED [100%]\n\
         std::string is what was PASSED on\n{rule} 2 passed in 0.01s {rule}\n"
    );
    let names: Vec<String> = read(&output).passed.iter().map(ToString::to_string).collect();
    assert_eq!(names, ["test_a.py::test_x[a b]", "test_a.py::test_y"]);
}

/// A test that is expected to fail shows nothing by failing.
#[test]
fn expected_failures_are_skipped() {
    let rule = "=".repeat(20);
    let output = format!(
        "{rule} test session starts {rule}\na.py::test_x XFAIL (known)  [ 50%]\na.py::test_y PASSED [100%]\n\
         {rule} 1 passed, 1 xfailed in 0.01s {rule}\n"
    );
    let report = read(&output);
    let names = |tests: &[TestId]| tests.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(names(&report.passed), ["a.py::test_y"]);
    assert_eq!((names(&report.skipped), report.passed_count()), (vec!["a.py::test_x".to_string()], 1));
}

#[test]
fn an_example_in_documentation_has_one_name() {
    let rule = "=".repeat(20);
    let output = format!(
        "{rule} FAILURES {rule}\n______ [doctest] calc.add ______\n003 Add.\n005     >>> add(1, 2)\nExpected:\n    3\nGot:\n    -1\n\n\
         /tree/calc.py:5: DocTestFailure\n{rule} short test summary info {rule}\nFAILED calc.py::calc.add\n\
         {rule} 1 failed in 0.01s {rule}\n"
    );
    let mut parser = Parser::new(&Options::default());
    parser.push(output.as_bytes());
    let failures = parser.finish(Some(1)).failures;
    let names: Vec<String> =
        failures.iter().filter_map(Failure::test_id).map(|test| test.to_string()).collect();
    assert_eq!(names, ["calc.py::calc.add"]);
}

/// The rule around a count gets short where the count is long.
#[test]
fn a_long_count_ends_the_session() {
    let rule = "=".repeat(20);
    let output = format!(
        "{rule} test session starts {rule}\ntest_a.py .                 [100%]\n\n\
         = 15 failed, 6 passed, 1 skipped, 1 deselected, 1 xfailed, 2 errors in 0.29s =\n"
    );
    let report = read(&output);
    assert_eq!((report.passed_count(), report.masked), (6, false));
}

/// A document that is printed below the summary of the same run must not count its tests again.
#[test]
fn a_document_and_a_summary_of_the_same_run_count_once() {
    let document = "<testsuite name=\"x\" tests=\"2\">\n<testcase classname=\"a\" name=\"p\"/>\n\
                    <testcase classname=\"a\" name=\"p\"/>\n</testsuite>\n";
    assert_eq!(read(document).passed_count(), 2);
    assert_eq!(read(&format!("2 passed in 0.01s\n{document}")).passed_count(), 2);
}

/// Catches a failing run whose output is only the end, as `| tail -1` leaves it, that is read as clean; and failures that
/// become fewer without anybody seeing it.
#[test]
fn a_summary_that_counts_failures_is_enough() {
    let rows = [
        ("pytest", "3 failed, 4 passed in 0.02s\n", "1 failed, 6 passed in 0.02s\n"),
        ("pytest, none passed", "3 failed in 0.02s\n", "1 failed in 0.02s\n"),
        (
            "pytest with a rule",
            "==== 3 failed, 4 passed in 0.02s ====\n",
            "==== 1 failed, 6 passed in 0.02s ====\n",
        ),
        (
            "jest",
            "Tests:       3 failed, 4 passed, 7 total\nRan all test suites.\n",
            "Tests:       1 failed, 6 passed, 7 total\nRan all test suites.\n",
        ),
        ("rspec", "7 examples, 3 failures\n", "7 examples, 1 failure\n"),
    ];
    let tap =
        |fail: u32| format!("1..7\n# tests 7\n# suites 0\n# pass {}\n# fail {fail}\n# skipped 0\n", 7 - fail);
    let (tap_before, tap_after) = (tap(3), tap(1));
    let rows = rows.into_iter().chain([("tap", tap_before.as_str(), tap_after.as_str())]);
    let prints = |report: Report| -> std::collections::BTreeSet<String> {
        report.failures.into_iter().map(|failure| failure.fingerprint).collect()
    };
    for (row, before, after) in rows {
        let read = |output: &str| {
            let mut parser = Parser::new(&Options::default());
            parser.push(output.as_bytes());
            prints(parser.finish(Some(0)))
        };
        let (before, after) = (read(before), read(after));
        assert_eq!((before.len(), after.len()), (3, 1), "{row}");
        assert!(before.is_superset(&after), "{row}");
    }
}
