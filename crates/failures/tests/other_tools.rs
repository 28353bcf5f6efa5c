//! Output of tools in shapes that were not recorded: Playwright's lists, prove, Bats, PHP, PHPStan, RuboCop.

use fixpoint_failures::{Question, Report, Values, decide};

fn read(output: &str) -> Report {
    decide(&Question {
        output: output.to_string(),
        command: None,
        runner: None,
        workdir: None,
        exit_code: Some(1),
        values: Values::Drop,
    })
}

/// Runner, test, file and line of each failure.
fn told(report: &Report) -> Vec<(String, String, String, u32)> {
    let row = |failure: &fixpoint_failures::Failure| {
        (
            failure.runner.name().to_string(),
            failure.test.clone().unwrap_or_default(),
            failure.file.clone().unwrap_or_default(),
            failure.line.unwrap_or_default(),
        )
    };
    report.failures.iter().map(row).collect()
}

fn row(runner: &str, test: &str, file: &str, line: u32) -> (String, String, String, u32) {
    (runner.to_string(), test.to_string(), file.to_string(), line)
}

#[test]
fn a_flaky_test_of_playwright_passed() {
    let output = "\nRunning 3 tests using 1 worker\n\n  ✘  1 [chromium] › a.spec.ts:3:1 › adds (12ms)\n  ✘  2 [chromium] › a.spec.ts:9:1 › flaky (7ms)\n  ✓  3 [chromium] › a.spec.ts:9:1 › flaky (retry #1) (7ms)\n\n\n  1) [chromium] › a.spec.ts:3:1 › adds ───────\n\n    Error: expect(received).toBe(expected) // Object.is equality\n\n    Expected: 5\n    Received: 4\n\n      2 |\n    > 4 |   expect(add(2, 2)).toBe(5);\n        |                     ^\n        at /w/a.spec.ts:4:21\n\n  2) [chromium] › a.spec.ts:9:1 › flaky ───────\n\n    Error: no\n\n        at /w/a.spec.ts:10:9\n\n  1 failed\n    [chromium] › a.spec.ts:3:1 › adds ───────\n  1 flaky\n    [chromium] › a.spec.ts:9:1 › flaky ───────\n  1 did not run\n";
    let report = read(output);
    assert_eq!(told(&report), [row("playwright", "adds", "/w/a.spec.ts", 4)]);
    assert!(report.masked && report.passed_count() >= 1);
}

#[test]
fn the_end_of_an_output_counts_the_failures() {
    for (output, runner) in [
        (" 1 pass\n 3 fail\nRan 4 tests across 1 file. [8.00ms]\n", "bun"),
        ("FAILED | 1 passed | 3 failed (45ms)\n\nerror: Test failed\n", "deno"),
        ("4 specs, 3 failures\nFinished in 0.1 seconds\n", "jasmine"),
        ("4 tests, 1 passed, 3 failed\n", "robot"),
        ("1 scenario passed, 3 failed, 0 skipped\nTook 0min 0.1s\n", "behave"),
        ("***Test Failed*** 3 failures.\n", "doctest"),
        ("  3 tests failed\n", "ava"),
    ] {
        let report = read(output);
        assert_eq!((report.failures.len(), report.runner.name()), (3, runner), "{output}");
    }
}

#[test]
fn perl_and_bats_say_where_it_failed() {
    let prove = "t/a.t .. 1/3 \n#   Failed test 'adds'\n#   at t/a.t line 3.\n#          got: '3'\n#     expected: '4'\n# Looks like you failed 1 test of 3.\n";
    assert_eq!(told(&read(prove)), [row("tap", "adds", "t/a.t", 3)]);
    let bats =
        "1..2\nok 1 passes\nnot ok 2 adds\n# (in test file t/a.bats, line 5)\n#   `[ 1 -eq 2 ]' failed\n";
    assert_eq!(told(&read(bats)), [row("tap", "adds", "t/a.bats", 5)]);
}

#[test]
fn findings_of_php_and_ruby_are_read_one_by_one() {
    let php = "PHP Parse error:  syntax error, unexpected token \";\" in /w/a.php on line 3\nErrors parsing /w/a.php\n";
    assert_eq!(told(&read(php)), [row("linter", "", "/w/a.php", 3)]);
    let phpstan = " ------ ---------------------\n  Line   src/a.php\n ------ ---------------------\n  3      Undefined variable: $x\n  9      Function f not found.\n ------ ---------------------\n\n [ERROR] Found 2 errors\n";
    assert_eq!(told(&read(phpstan)), [row("linter", "", "src/a.php", 3), row("linter", "", "src/a.php", 9)]);
    let rubocop = "Offenses:\n\na.rb:1:1: C: [Correctable] Style/X: Add it.\nputs 1\n^\na.rb:2:1: W: Lint/Y: Remove it.\nx = 1\n^\n\n1 file inspected, 2 offenses detected\n";
    assert_eq!(told(&read(rubocop)), [row("linter", "", "a.rb", 1), row("linter", "", "a.rb", 2)]);
}
