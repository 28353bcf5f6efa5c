//! What is reported, by what a check left.

use fixpoint_failures::{Options, Parser};

use super::*;

fn check(kind: CheckKind, verdict: CheckVerdict) -> Check {
    let text = format!(
        r#"{{"name": "t", "command": "x", "kind": "{}"}}"#,
        match kind {
            CheckKind::Goal => "goal",
            CheckKind::Guard => "guard",
        }
    );
    Check { verdict, ..serde_json::from_str(&text).unwrap() }
}

fn ran(output: &str, cause: ExitCause, verdict: CheckVerdict, file: Option<&str>) -> Ran {
    let mut parser = Parser::new(&Options::default());
    parser.push(output.as_bytes());
    let code = if let ExitCause::Exited(code) = cause { Some(code) } else { None };
    Ran {
        cause,
        report: parser.finish(code),
        verdict: verdict::decide(&verdict::Question {
            text: output.to_string(),
            check_id: Some("id".into()),
            file: file.map(ToString::to_string),
            mode: verdict,
        }),
        runner: None,
        took_ms: 0,
    }
}

fn call() -> CheckCall {
    CheckCall { check: 0, only: BTreeSet::new(), watched: BTreeSet::new(), passed_before: None }
}

fn names(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(ToString::to_string).collect()
}

const MIXED: &str = "\nrunning 2 tests\ntest good ... ok\ntest bad ... FAILED\n\nfailures:\n\n---- bad stdout ----\n\
    thread 'bad' panicked at src/lib.rs:3:5:\nboom\n\nfailures:\n    bad\n\n\
    test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";

#[test]
fn the_order_of_trust() {
    use CheckEnd::{Crashed, Failed, NotFound, Passed, TimedOut, Waiting};
    use CheckVerdict::{Auto, Text};
    let complete = Some(r#"{"decision": "complete", "check_id": "id"}"#);
    let stale = Some(r#"{"decision": "complete", "check_id": "another"}"#);
    let waiting = Some(r#"{"decision": "waiting", "check_id": "id"}"#);
    let incomplete = Some(r#"{"decision": "incomplete", "check_id": "id", "fingerprints": ["a", "b"]}"#);
    let exit = ExitCause::Exited;
    for (output, cause, mode, file, expected, failures) in [
        ("all good", exit(0), Auto, None, Passed, 0),
        ("all good", exit(1), Auto, None, Failed, 1),
        ("", exit(1), Auto, None, Failed, 1),
        ("sh: nothing: not found", exit(127), Auto, None, NotFound, 1),
        (MIXED, exit(127), Auto, None, Failed, 1),
        (MIXED, exit(0), Auto, None, Failed, 1),
        (MIXED, exit(1), Auto, complete, Passed, 0),
        (MIXED, exit(1), Auto, stale, Failed, 1),
        ("", exit(0), Auto, waiting, Waiting, 0),
        ("", exit(0), Auto, incomplete, Failed, 2),
        ("", ExitCause::TimedOut, Auto, None, TimedOut, 1),
        (MIXED, ExitCause::TimedOut, Auto, None, TimedOut, 2),
        ("", ExitCause::Signalled(11), Auto, None, Crashed, 1),
        ("COMPLETE", exit(0), Text, None, Passed, 0),
        ("COMPLETE", exit(1), Text, None, Failed, 1),
        ("INCOMPLETE", exit(0), Text, None, Failed, 1),
        ("Complete rewrite needed", exit(0), Text, None, Failed, 1),
        ("INCOMPLETE", exit(0), Auto, None, Passed, 0),
    ] {
        let row = format!("{output:.20} {cause:?} {mode:?} {file:?}");
        let check = check(CheckKind::Guard, mode);
        let (report, _) =
            told(&call(), &check, ran(output, cause, mode, file), &BTreeSet::new(), &Redactor::default());
        assert_eq!((report.end, report.failures.len()), (expected, failures), "{row}: {report:?}");
    }
}

#[test]
fn a_goal_that_runs_no_test_is_no_pass() {
    let nothing =
        "\nrunning 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 9 filtered out\n";
    let end = |kind, runner| {
        let ran = Ran { runner, ..ran(nothing, ExitCause::Exited(0), CheckVerdict::Auto, None) };
        let check = check(kind, CheckVerdict::Auto);
        told(&call(), &check, ran, &BTreeSet::new(), &Redactor::default()).0
    };
    let goal = end(CheckKind::Goal, Some(Runner::CargoTest));
    assert_eq!(goal.end, CheckEnd::Failed);
    assert_eq!(goal.failures[0].identity, "no_tests_ran:t");
    assert_eq!(end(CheckKind::Guard, Some(Runner::CargoTest)).end, CheckEnd::Passed);
    assert_eq!(
        end(CheckKind::Goal, None).end,
        CheckEnd::Passed,
        "a command that is no test runner runs no tests"
    );
}

#[test]
fn tests_are_watched_missed_and_kept_by_name() {
    let check = check(CheckKind::Guard, CheckVerdict::Auto);
    let told = |call: &CheckCall, before: &BTreeSet<String>| {
        let ran = ran(MIXED, ExitCause::Exited(101), CheckVerdict::Auto, None);
        told(call, &check, ran, before, &Redactor::default())
    };
    let watching = CheckCall { watched: names(&["good", "bad", "other"]), ..call() };
    let (report, kept) = told(&watching, &names(&["good", "bad", "removed"]));
    assert_eq!(report.seen_passing, names(&["good"]));
    assert_eq!(report.gone, names(&["removed"]), "one that fails is not gone");
    assert_eq!((report.passed, report.counted), (Some(1), 1));
    assert_eq!(kept, Some(vec!["good".to_string()]));
    let only = CheckCall { only: names(&["other"]), ..call() };
    let (report, kept) = told(&only, &BTreeSet::new());
    assert!(report.failures.is_empty(), "nobody asked about the others");
    assert_eq!(kept, None, "a part is no list of what passes");
}

#[test]
fn what_is_reported_is_bounded_and_without_credentials() {
    let mut output = String::from("running 600 tests\n");
    for n in 0..600 {
        output.push_str(&format!("test t{n:03} ... FAILED\n"));
    }
    let secret = "ghp_0123456789abcdefABCD";
    output.push_str(&format!(
        "failures:\n\n---- t000 stdout ----\nthread 't000' panicked at a.rs:1:1:\n{secret}\n\n"
    ));
    let check = check(CheckKind::Guard, CheckVerdict::Auto);
    let ran = ran(&output, ExitCause::Exited(101), CheckVerdict::Auto, None);
    let (report, _) = told(&call(), &check, ran, &BTreeSet::new(), &Redactor::default());
    assert_eq!((report.failures.len(), report.masked), (MOST_FAILURES, true));
    assert_eq!(
        report.reasons.last().map(ToString::to_string).as_deref(),
        Some("100 more failures are not listed")
    );
    assert!(!serde_json::to_string(&report).unwrap().contains(secret));
}

#[test]
fn a_credential_at_the_cut_is_taken_out_whole() {
    let check = check(CheckKind::Guard, CheckVerdict::Auto);
    let redactor = Redactor::knowing(["correct-horse-battery".to_string()]);
    let filler = "x".repeat(LONGEST_MESSAGE - 30);
    let output = format!(
        "running 1 test\ntest t ... FAILED\nfailures:\n\n---- t stdout ----\n\
         thread 't' panicked at a.rs:1:1:\n{filler} key correct-horse-battery and {filler}\n\n"
    );
    let ran = ran(&output, ExitCause::Exited(101), CheckVerdict::Auto, None);
    let (report, _) = told(&call(), &check, ran, &BTreeSet::new(), &redactor);
    assert!(report.failures.iter().all(|failure| !failure.message.as_str().contains("correct-horse")));
}
