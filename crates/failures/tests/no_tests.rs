//! Tests that print are seen passing, and what is no test is never reported as one: it could not be seen passing.
//!
//! The outputs are those of the real tools (unittest of Python 3.6, 3.10, 3.11 and 3.13, pytest 9, Vitest 4), shortened.

use fixpoint_failures::{Kind, Question, Report, Values, decide};

fn read(output: &str) -> Report {
    decide(&Question {
        output: output.to_string(),
        command: None,
        runner: None,
        workdir: Some("/p".to_string()),
        exit_code: Some(1),
        values: Values::Drop,
    })
}

fn names(report: &Report) -> (Vec<String>, Vec<String>) {
    let names = |tests: &[fixpoint_failures::TestId]| tests.iter().map(ToString::to_string).collect();
    (names(&report.passed), names(&report.skipped))
}

/// A unittest run, with its rules.
fn unittest(progress: &str, blocks: &[(&str, &str)], ran: u32, end: &str) -> String {
    let (double, single) = ("=".repeat(70), "-".repeat(70));
    let blocks: String =
        blocks.iter().map(|(title, text)| format!("{double}\n{title}\n{single}\n{text}\n\n")).collect();
    format!("{progress}\n{blocks}{single}\nRan {ran} tests in 0.003s\n\n{end}\n")
}

const RAISED: &str = "Traceback (most recent call last):\n  File \"/p/t.py\", line 9, in x\n    \
                      self.fail(\"x\")\nAssertionError: x";

#[test]
fn tests_that_print_are_seen() {
    let progress = "test_doc (t.A.test_doc)\nThe docstring ... INFO:root:hello\nok\n\
        test_doc2 (t.A.test_doc2)\nThe docstring ... ok ... out\nok\n\
        test_doc3 (t.A.test_doc3)\nThe docstring ... ok\n\
        test_err (t.A.test_err) ... a line\ncall (some.thing)\nERROR: not a header\nok\n\
        test_fail (t.A.test_fail) ... ok\nFAIL\n\
        test_fail2 (t.A.test_fail2) ... look\nFAIL\nbook\n\
        test_inline (t.A.test_inline) ... no line endok\n\
        test_skip (t.A.test_skip) ... INFO:root:hello\nskipped 'why not'\n\
        test_sub (t.A.test_sub) ... in sub 0\n\n  test_sub (t.A.test_sub) (i=1) ... FAIL\nok\n\
        test_xf (t.A.test_xf) ... INFO:root:hello\nexpected failure\n\
        test_xs (t.A.test_xs) ... INFO:root:hello\nunexpected success\n\
        test_加算 (t.A.test_加算) ... \n\nok\n\
        test_last (t.A.test_last) ... lastok\n";
    let blocks = [
        ("FAIL: test_fail (t.A.test_fail)", RAISED),
        ("FAIL: test_fail2 (t.A.test_fail2)", RAISED),
        ("FAIL: test_sub (t.A.test_sub) (i=1)", RAISED),
        ("FAIL: test_sub (t.A.test_sub) (i=2)", RAISED),
    ];
    let report = read(&unittest(progress, &blocks, 13, "FAILED (failures=4, skipped=1)"));
    let (passed, skipped) = names(&report);
    let expected = ["doc", "doc2", "doc3", "err", "inline", "last", "xf", "加算"];
    assert_eq!(passed, expected.map(|name| format!("t.A.test_{name}")));
    assert_eq!(skipped, ["t.A.test_skip"]);
    let failing: Vec<&str> = report.failures.iter().filter_map(|failure| failure.test.as_deref()).collect();
    assert_eq!(failing, ["t.A.test_fail", "t.A.test_fail2", "t.A.test_sub", "t.A.test_sub"]);
    assert!(!report.masked);
}

/// Classes are prepared without a name, and a test of which a part failed has no outcome.
#[test]
fn tests_of_older_versions_that_print_are_seen() {
    let progress = "test_doc (t.A)\nThe docstring ... hello\nok\nERROR\ntest_1 (t.E) ... ERROR\nskipped 'not today'\n\
        test_sub (t.A) ... test_z (t.A) ... ok\ntest_sub2 (t.A) ... book\ntest_zz (t.A) ... text\nok\n";
    let blocks = [
        ("ERROR: tearDownClass (t.A)", RAISED),
        ("ERROR: test_1 (t.E)", RAISED),
        ("FAIL: test_sub (t.A) (i=1)", RAISED),
        ("FAIL: test_sub2 (t.A) [why] (i=1)", RAISED),
    ];
    let report = read(&unittest(progress, &blocks, 6, "FAILED (failures=2, errors=2)"));
    let expected = (["t.A.test_doc", "t.A.test_z", "t.A.test_zz"].map(str::to_string).to_vec(), vec![]);
    assert_eq!(names(&report), expected);
    // All tests of the class ran.
    assert!(!report.masked);
}

#[test]
fn the_end_of_a_printed_line_is_no_outcome_where_the_run_was_cut_short() {
    let report = read("test_a (t.A.test_a) ... ok\ntest_b (t.A.test_b) ... we took a look");
    assert_eq!((names(&report).0, report.masked), (vec!["t.A.test_a".to_string()], true));
    let only_a_name = read("test_a (t.A.test_a)\nis a test ok\n");
    assert_eq!((only_a_name.passed.len(), only_a_name.masked), (0, false));
}

#[test]
fn modules_and_classes_that_unittest_cannot_prepare_are_no_tests() {
    let import = "ImportError: Failed to import test module: tests.test_new\nTraceback (most recent call last):\n  \
                  File \"/usr/lib/python3.11/unittest/loader.py\", line 419, in _find_test_path\n    module = x\n  \
                  File \"/p/tests/test_new.py\", line 1, in <module>\n    import nothere\n\
                  ModuleNotFoundError: No module named 'nothere'\n";
    let error =
        "Traceback (most recent call last):\n  File \"/p/t.py\", line 4, in x\n    x()\nRuntimeError: db";
    let exception = || Kind::Exception("RuntimeError".into());
    let table = [
        (
            "tests.test_new (unittest.loader._FailedTest.tests.test_new)",
            import,
            "tests.test_new",
            Kind::Compile,
            true,
        ),
        ("tests.test_new (unittest.loader._FailedTest)", import, "tests.test_new", Kind::Compile, true),
        (
            "tests.test_l (unittest.loader._FailedTest.tests.test_l)",
            error,
            "tests.test_l",
            Kind::Compile,
            true,
        ),
        ("setUpClass (t.C)", error, "t.C", exception(), true),
        ("setUpModule (t)", error, "t", exception(), true),
        ("tearDownClass (t.C)", error, "t.C", exception(), false),
        ("tearDownModule (t)", error, "t", exception(), false),
    ];
    for (name, text, package, kind, masked) in table {
        let block = format!("ERROR: {name}");
        let report =
            read(&unittest(&format!("{name} ... ERROR\n"), &[(&block, text)], 1, "FAILED (errors=1)"));
        let seen: Vec<_> = report.failures.iter().map(|f| (f.package.as_deref(), &f.test, &f.kind)).collect();
        assert_eq!(seen, [(Some(package), &None, &kind)], "{name}");
        assert_eq!((report.masked, report.ran_any), (masked, kind != Kind::Compile), "{name}");
        assert_eq!(names(&report), (vec![], vec![]));
    }
}

#[test]
fn files_and_groups_that_fail_as_a_whole_are_no_tests() {
    let rule = "=".repeat(20);
    let pytest = format!(
        "{rule} test session starts {rule}\ncollected 0 items / 1 error\n\n{rule} short test summary info {rule}\n\
         ERROR tests/test_x.py\n!!!!!!!!!! Interrupted: 1 error during collection !!!!!!!!!!\n{rule} 1 error in 0.11s {rule}\n"
    );
    let vitest = "\n RUN  v4.1.12 /p\n\n⎯⎯⎯ Failed Suites 3 ⎯⎯⎯\n\n FAIL  a.test.js > s\nError: ba\n ❯ a.test.js:2:38\n\n\
                  ⎯⎯⎯[1/3]⎯\n\n FAIL  b.test.js [ b.test.js ]\n FAIL  c.test.js [ c.test.js ]\nError: top level\n \
                  ❯ x.js:2:7\n\n⎯⎯⎯[3/3]⎯\n\n Test Files  3 failed (3)\n      Tests  2 skipped (2)\n   Duration  1s\n";
    let syntax = "Traceback (most recent call last):\n  File \"/p/t.py\", line 1\n    def f(:\nSyntaxError: invalid syntax\n";
    for (output, kinds) in [
        (pytest.as_str(), vec![Kind::Compile]),
        (vitest, vec![Kind::Exception("Error".into()), Kind::Compile, Kind::Compile]),
        (syntax, vec![Kind::Compile]),
    ] {
        let report = read(output);
        let seen: Vec<_> = report.failures.iter().map(|failure| (&failure.test, &failure.kind)).collect();
        assert_eq!(seen, kinds.iter().map(|kind| (&None, kind)).collect::<Vec<_>>(), "{output}");
        assert!(report.masked, "{output}");
    }
}
