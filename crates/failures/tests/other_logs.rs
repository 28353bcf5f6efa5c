//! Output in shapes that were not recorded: older versions, other libraries.

use fixpoint_failures::{Failure, Kind, Question, Report, Runner, Values, decide};

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

fn only(output: &str) -> Failure {
    let mut report = read(output);
    assert_eq!(report.failures.len(), 1, "{report:#?}");
    report.failures.remove(0)
}

#[test]
fn panics_of_older_compilers_stand_in_quotes() {
    let output = |left: u32, right: u32, line: u32| {
        format!(
            "\nrunning 1 test\ntest a::b ... FAILED\n\nfailures:\n\n---- a::b stdout ----\nthread 'a::b' panicked at \
             'assertion failed: `(left == right)`\n  left: `{left}`,\n right: `{right}`', src/lib.rs:{line}:9\n\n\n\
             failures:\n    a::b\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored\n"
        )
    };
    let failure = only(&output(3, 4, 12));
    assert_eq!(
        (failure.kind.clone(), failure.file.as_deref(), failure.line),
        (Kind::Assertion, Some("src/lib.rs"), Some(12))
    );
    assert_eq!(failure.fingerprint, only(&output(9, 4, 90)).fingerprint);
    assert_ne!(failure.fingerprint, only(&output(3, 5, 12)).fingerprint);
}

#[test]
fn java_fails_where_the_test_is_not_where_the_assertion_is() {
    let output = |line: u32, expected: u32, seen: u32| {
        format!(
            "<?xml version=\"1.0\"?>\n<testsuite name=\"CalcTest\" tests=\"1\">\n  <testcase name=\"adds\" \
             classname=\"com.example.CalcTest\" time=\"0.{line}\">\n    <failure message=\"expected: &lt;{expected}&gt; but \
             was: &lt;{seen}&gt;\" type=\"org.opentest4j.AssertionFailedError\"><![CDATA[org.opentest4j.AssertionFailedError: \
             expected: <{expected}> but was: <{seen}>\n\tat org.junit.jupiter.api.AssertionUtils.fail(AssertionUtils.java:55)\n\
             \tat com.example.CalcTest.adds(CalcTest.java:{line})\n]]></failure>\n  </testcase>\n</testsuite>\n"
        )
    };
    let failure = only(&output(12, 5, 4));
    assert_eq!((failure.runner, failure.kind.clone()), (Runner::Junit, Kind::Assertion));
    assert_eq!((failure.file.as_deref(), failure.line), (Some("CalcTest.java"), Some(12)));
    assert_eq!(failure.fingerprint, only(&output(99, 5, 8)).fingerprint);
    assert_ne!(failure.fingerprint, only(&output(12, 6, 4)).fingerprint);
}

#[test]
fn a_log_that_repeats_itself_has_each_failure_once() {
    let once =
        "--- FAIL: TestX (0.01s)\n    x_test.go:12: got 6, want 7\nFAIL\nFAIL\texample.com/x\t0.012s\n";
    let report = read(&once.repeat(10_000));
    assert_eq!((report.failures.len(), report.omitted.failures), (1, 0));
}

#[test]
fn several_runners_in_one_output_are_all_read() {
    let output = "running 1 test\ntest a ... FAILED\n\nfailures:\n\n---- a stdout ----\nthread 'a' panicked at src/lib.rs:1:1:\n\
                  boom\n\n\nfailures:\n    a\n\ntest result: FAILED. 0 passed; 1 failed;\n\n\
                  --- FAIL: TestX (0.01s)\n    x_test.go:12: got 6, want 7\nFAIL\nFAIL\texample.com/x\t0.012s\n\
                  main.c:3:1: error: unknown type name 'foo'\n";
    let runners: Vec<Runner> = read(output).failures.iter().map(|failure| failure.runner).collect();
    assert_eq!(runners, [Runner::CargoTest, Runner::GoTest, Runner::Gcc]);
}

#[test]
fn lines_that_only_look_like_a_runners_are_passed_over() {
    let rule = "=".repeat(70);
    let output = format!("{rule}\nWelcome\n{rule}\nok 3 files copied\n# notes.md\n1 item\nfatal: no disk\n");
    let failure = only(&output);
    assert_eq!((failure.runner, failure.kind), (Runner::Generic, Kind::Error));
}
