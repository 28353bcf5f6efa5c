//! A reader gives way to another tool whose marks no test prints, and what several tools print in turn is read.

use fixpoint_failures::{Kind, Question, Report, Runner, Values, decide};

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

fn failing(report: &Report) -> Vec<(Runner, Option<&str>)> {
    report.failures.iter().map(|failure| (failure.runner, failure.test.as_deref())).collect()
}

/// What makes readers begin that then take every line.
const BEGINNINGS: [(&str, &str); 4] = [
    ("a mark", "    ✓ connected to the database\n"),
    ("a heading", "Failures:\n\n  1) Calc adds\n     expected 4\n"),
    ("a PHPUnit banner", "PHPUnit 9.6.7 by Sebastian Bergmann and contributors.\n\n"),
    (
        "a GoogleTest program",
        "[==========] Running 1 test from 1 test suite.\n[ RUN      ] A.B\n[       OK ] A.B (0 ms)\n[  PASSED  ] 1 test.\n",
    ),
];

#[test]
fn other_tools_are_read_after_what_only_looked_like_one() {
    let rows = [
        (
            "--- FAIL: TestX (0.01s)\n    x_test.go:12: got 6, want 7\nFAIL\nFAIL\texample.com/x\t0.012s\n",
            (Runner::GoTest, Some("TestX")),
        ),
        (
            "=== RUN   TestX\n    x_test.go:12: got 6, want 7\n--- FAIL: TestX (0.01s)\nFAIL\nFAIL\texample.com/x\t0.012s\n",
            (Runner::GoTest, Some("TestX")),
        ),
        (
            "[==========] Running 1 test from 1 test suite.\n[ RUN      ] Calc.Equal\na.cpp:12: Failure\nFailed\n\
             [  FAILED  ] Calc.Equal (0 ms)\n[  PASSED  ] 0 tests.\n[  FAILED  ] 1 test, listed below:\n[  FAILED  ] Calc.Equal\n",
            (Runner::GoogleTest, Some("Calc.Equal")),
        ),
        (
            "[ERROR] Tests run: 1, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.1 s <<< FAILURE! - in a.CalcTest\n\
             [ERROR] equal  Time elapsed: 0.06 s  <<< FAILURE!\norg.opentest4j.AssertionFailedError: no\n\tat \
             a.CalcTest.equal(CalcTest.java:25)\n\n[ERROR] Tests run: 1, Failures: 1, Errors: 0, Skipped: 0\n",
            (Runner::Maven, Some("equal")),
        ),
        (
            "The following tests FAILED:\n\t  2 - Calc.Equal (Failed)\nErrors while running CTest\n",
            (Runner::Ctest, Some("Calc.Equal")),
        ),
        (
            "> Task :test FAILED\n\nCalcTest > adds() FAILED\n    java.lang.AssertionError at CalcTest.java:18\n\n\
             1 test completed, 1 failed\n",
            (Runner::Gradle, Some("adds()")),
        ),
    ];
    for (what, beginning) in BEGINNINGS {
        for (output, expected) in rows {
            let report = read(&format!("{beginning}{output}"));
            assert!(failing(&report).contains(&expected), "{what} before {output}: {report:#?}");
        }
    }
}

#[test]
fn a_time_limit_after_a_failure_is_another_failure() {
    let output = "--- FAIL: TestEarlier (0.00s)\n    x_test.go:12: got 6, want 7\npanic: test timed out after 1s\n\
                  running tests:\n\tTestHang (1s)\n\ngoroutine 17 [running]:\ntesting.(*M).startAlarm.func1()\n\
                  \t/usr/lib/go/src/testing/testing.go:2036 +0x8e\n\ngoroutine 6 [sleep]:\ntime.Sleep(0x1)\n\
                  \t/usr/lib/go/src/runtime/time.go:195 +0x125\nmyapp.TestHang(0xc000)\n\t/w/x_test.go:20 +0x1d\n\
                  FAIL\tmyapp\t1.005s\nFAIL\n";
    let report = read(output);
    let kinds: Vec<_> = report.failures.iter().map(|it| (it.test.as_deref(), it.kind.clone())).collect();
    assert_eq!(kinds, [(Some("TestEarlier"), Kind::Assertion), (Some("TestHang"), Kind::Timeout)]);
    assert!(report.masked);
}

#[test]
fn packages_that_do_not_build_are_told_by_their_errors_alone() {
    let output = "# myapp/a\n./a/a.go:3:2: undefined: one\n# myapp/b\n./b/b.go:3:2: undefined: two\n\
                  FAIL\tmyapp/a [build failed]\nok  \tmyapp/c\t0.01s\nFAIL\tmyapp/b [build failed]\nFAIL\n";
    let messages: Vec<String> = read(output).failures.into_iter().map(|it| it.message).collect();
    assert_eq!(messages, ["undefined: one", "undefined: two"]);
}

#[test]
fn findings_of_vet_are_told_from_compile_errors() {
    let output = "# myapp/vet\n# [myapp/vet]\nvet/vet.go:21:2: self-assignment of a to a\n";
    let report = read(output);
    assert_eq!(report.failures.iter().map(|it| it.kind.clone()).collect::<Vec<_>>(), [Kind::Lint]);
    assert!(!report.masked);
}

#[test]
fn compilers_in_other_languages() {
    let rows = [
        "main.c:3:5: エラー: ‘x’ が宣言されていません",
        "main.c:3:5: Fehler: »x« nicht deklariert",
        "main.c:3:5: erreur: « x » non déclaré",
        "main.c:3:5: erreur : « x » non déclaré",
        "main.c:3:10: schwerwiegender Fehler: y.h: Datei oder Verzeichnis nicht gefunden",
        "main.c:3:5: 错误：‘x’未声明",
        "main.c:3:5: ошибка: «x» не описан",
    ];
    for row in rows {
        let report = read(&format!("main.c: x\n{row}\n    3 |     return x;\n      |            ^\n"));
        let found: Vec<_> = report
            .failures
            .iter()
            .map(|it| (it.runner, it.kind.clone(), it.file.as_deref(), it.line))
            .collect();
        assert_eq!(found, [(Runner::Gcc, Kind::Compile, Some("main.c"), Some(3))], "{row}");
    }
}

#[test]
fn scripts_are_not_compiled() {
    for file in ["calc.py", "calc.rb", "run.sh", "calc.js"] {
        let report = read(&format!("{file}:3: error: Name \"x\" is not defined  [name-defined]\n"));
        let found: Vec<_> = report.failures.iter().map(|it| (it.runner, it.kind.clone())).collect();
        assert_eq!(found, [(Runner::Linter, Kind::Lint)], "{file}");
    }
}

#[test]
fn newer_elixir_logs_each_compile_error() {
    let output = "    error: undefined variable \"one\"\n    │\n  5 │     one\n    │     ^^^\n    │\n    └─ \
                  test/a_test.exs:5:5: ATest.\"test never\"/1\n\n    error: undefined variable \"two\"\n    │\n  6 │     two\n    \
                  │     ^^^\n    │\n    └─ test/a_test.exs:6:5: ATest.\"test never\"/1\n\n\n== Compilation error in file \
                  test/a_test.exs ==\n** (CompileError) test/a_test.exs: cannot compile module ATest (errors have been logged)\n";
    let report = read(output);
    let found: Vec<_> = report.failures.iter().map(|it| (it.message.as_str(), it.line)).collect();
    assert_eq!(found, [("undefined variable \"one\"", Some(5)), ("undefined variable \"two\"", Some(6))]);
    assert!(report.masked);
}
