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

fn finished(output: &str, cause: ExitCause, verdict: CheckVerdict, file: Option<&str>) -> FinishedCheck {
    let mut parser = Parser::new(&Options::default());
    parser.push(output.as_bytes());
    let code = if let ExitCause::Exited(code) = cause { Some(code) } else { None };
    FinishedCheck {
        cause,
        report: parser.finish(code),
        verdict: verdict::decide(&verdict::Question {
            text: output.to_string(),
            check_id: Some("id".into()),
            file: file.map(ToString::to_string),
            mode: verdict,
        }),
        runner: None,
        selection: Selection::All,
        took_ms: 0,
        rewrote: BTreeSet::new(),
        moved: BTreeSet::new(),
        idle: None,
        is_at_base: false,
        environment: None,
    }
}

fn call() -> CheckCall {
    CheckCall::whole(0)
}

fn names(names: &[&str]) -> BTreeSet<TestName> {
    names.iter().map(|name| TestName::from(*name)).collect()
}

/// What is reported of a check with nothing to compare with.
fn report(check: &Check, finished: FinishedCheck) -> CheckReport {
    report_of(&call(), check, finished, &BTreeSet::new(), &Redactor::default()).0
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
    for (row, output, cause, mode, file, expected, failures) in [
        ("exits 0", "all good", exit(0), Auto, None, Passed, 0),
        ("exits 1", "all good", exit(1), Auto, None, Failed, 1),
        ("exits 1 in silence", "", exit(1), Auto, None, Failed, 1),
        ("no such command", "sh: nothing: not found", exit(127), Auto, None, NotFound, 1),
        ("exits 127 after tests", MIXED, exit(127), Auto, None, Failed, 1),
        ("exits 0 with a failing test", MIXED, exit(0), Auto, None, Failed, 1),
        ("its file says complete", MIXED, exit(0), Auto, complete, Passed, 0),
        ("its file says complete and it exits 1", MIXED, exit(1), Auto, complete, Failed, 1),
        ("a file of another check", MIXED, exit(1), Auto, stale, Failed, 1),
        ("its file says waiting", "", exit(0), Auto, waiting, Waiting, 0),
        ("its file names failures", "", exit(0), Auto, incomplete, Failed, 2),
        ("times out in silence", "", ExitCause::TimedOut, Auto, None, TimedOut, 1),
        ("times out with a failing test", MIXED, ExitCause::TimedOut, Auto, None, TimedOut, 2),
        ("crashes", "", ExitCause::Signalled(11), Auto, None, Crashed, 1),
        ("says complete", "COMPLETE", exit(0), Text, None, Passed, 0),
        ("says complete and exits 1", "COMPLETE", exit(1), Text, None, Failed, 1),
        ("says incomplete", "INCOMPLETE", exit(0), Text, None, Failed, 1),
        ("says it in a sentence", "Complete rewrite needed", exit(0), Text, None, Failed, 1),
        ("says incomplete unasked", "INCOMPLETE", exit(0), Auto, None, Passed, 0),
    ] {
        let report = report(&check(CheckKind::Guard, mode), finished(output, cause, mode, file));
        assert_eq!((report.end, report.failures.len()), (expected, failures), "{row}: {report:?}");
    }
}

#[test]
fn a_goal_that_runs_no_test_is_no_pass() {
    let nothing =
        "\nrunning 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 9 filtered out\n";
    let end = |kind, runner| {
        let finished = finished(nothing, ExitCause::Exited(0), CheckVerdict::Auto, None);
        report(&check(kind, CheckVerdict::Auto), FinishedCheck { runner, ..finished })
    };
    let goal = end(CheckKind::Goal, Some(Runner::CargoTest));
    assert_eq!(goal.end, CheckEnd::Failed);
    let id = FailureId::Check { check: "t".into(), problem: CheckProblem::NoTestsRan };
    assert_eq!(goal.failures[0].id(), &id);
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
    let reported = |call: &CheckCall, before: &BTreeSet<TestName>| {
        let finished = finished(MIXED, ExitCause::Exited(101), CheckVerdict::Auto, None);
        report_of(call, &check, finished, before, &Redactor::default())
    };
    let watching = CheckCall { watched: names(&["good", "bad", "other"]), ..call() };
    let (report, kept) = reported(&watching, &names(&["good", "bad", "removed"]));
    assert_eq!(report.seen_passing, names(&["good"]));
    assert_eq!(report.gone, names(&["removed"]), "one that fails is not gone");
    assert_eq!((report.passed, report.counted), (Some(1), 1));
    assert_eq!(kept, Some(names(&["good"])));
    let only = CheckCall { only: BTreeSet::from([FailureId::Test("other".into())]), ..call() };
    let (report, kept) = reported(&only, &BTreeSet::new());
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
    let report = report(&check, finished(&output, ExitCause::Exited(101), CheckVerdict::Auto, None));
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
    let finished = finished(&output, ExitCause::Exited(101), CheckVerdict::Auto, None);
    let (report, _) = report_of(&call(), &check, finished, &BTreeSet::new(), &redactor);
    assert!(report.failures.iter().all(|failure| !failure.message.as_str().contains("correct-horse")));
}

/// Catches a kind of failure that is told by how a name begins: names are anybody's to choose.
#[test]
fn names_of_checks_and_tests_mean_nothing() {
    let plain = check(CheckKind::Guard, CheckVerdict::Auto);
    for name in ["vanished", "timeout", "scope", "judge", "no_tests_ran", "weakened"] {
        let named = Check { name: name.into(), ..plain.clone() };
        let fails = |check: &Check| {
            let finished = finished("it failed", ExitCause::Exited(1), CheckVerdict::Auto, None);
            report(check, finished).failures.remove(0)
        };
        let FailureId::Output { fingerprint, .. } = fails(&plain).id().clone() else { panic!("{name}") };
        let id = FailureId::Output { check: name.into(), fingerprint };
        assert_eq!(fails(&named).id(), &id);
    }
    let output = "running 1 test\ntest timeout:t ... FAILED\nfailures:\n\n---- timeout:t stdout ----\n\
        thread 'timeout:t' panicked at a.rs:1:1:\nboom\n\n";
    let hangs = report(&plain, finished(output, ExitCause::TimedOut, CheckVerdict::Auto, None));
    let ids: Vec<&FailureId> = hangs.failures.iter().map(ReportedFailure::id).collect();
    let timeout = FailureId::Check { check: "t".into(), problem: CheckProblem::Timeout };
    assert_eq!(ids, [&FailureId::Test("timeout:t".into()), &timeout]);
}

#[test]
fn a_check_may_rewrite_only_what_it_rewrote_at_the_base() {
    let paths = |paths: &[&str]| -> BTreeSet<String> { paths.iter().map(ToString::to_string).collect() };
    for (row, at_base, now, is_at_base, end) in [
        ("nothing", &[][..], &[][..], false, CheckEnd::Passed),
        ("a test", &[], &["tests/a.py"], false, CheckEnd::Failed),
        ("a test, at the base", &[], &["tests/a.py"], true, CheckEnd::Passed),
        ("the same test", &["tests/a.py"], &["tests/a.py"], false, CheckEnd::Passed),
        ("another test", &["tests/a.py"], &["tests/a.py", "tests/b.py"], false, CheckEnd::Failed),
    ] {
        let check = check(CheckKind::Goal, CheckVerdict::Auto);
        let passing = finished("ok\n", ExitCause::Exited(0), CheckVerdict::Auto, None);
        let finished = FinishedCheck { rewrote: paths(now), is_at_base, ..passing };
        let call = CheckCall { rewrites: paths(at_base), ..call() };
        let (report, _) = report_of(&call, &check, finished, &BTreeSet::new(), &Redactor::default());
        assert_eq!(report.end, end, "{row}");
        let last = now.last().filter(|_| end == CheckEnd::Failed);
        let is_named =
            |path: &&str| report.failures.iter().any(|failure| failure.message.as_str().contains(path));
        assert!(last.is_none_or(is_named), "{row}: {:?}", report.failures);
        assert_eq!(report.rewrote, paths(now), "{row}: it is known of the base");
    }
}

#[test]
fn tests_that_were_asked_for_and_did_not_run_are_missed() {
    let ran = |selection| FinishedCheck {
        selection,
        ..finished(MIXED, ExitCause::Exited(101), CheckVerdict::Auto, None)
    };
    let only = |name: &str| BTreeSet::from([FailureId::Test(name.into())]);
    for (row, selection, name, expected) in [
        ("passes", Selection::Named, "good", false),
        ("fails", Selection::Named, "bad", false),
        ("is not there", Selection::Named, "other", true),
        ("everything ran", Selection::All, "other", false),
    ] {
        assert_eq!(ran(selection).missed_all(&only(name)), expected, "{row}");
    }
}

#[test]
fn a_check_that_ran_nothing_proves_nothing() {
    use CheckEnd::{CouldNotRun, Failed, Passed};
    use CheckKind::{Goal, Guard};
    let directory = || Some(Idle::Directory("test".to_string()));
    for (row, kind, idle, is_at_base, expected) in [
        ("a goal at the base", Goal, directory(), true, CouldNotRun),
        ("a guard at the base", Guard, directory(), true, CouldNotRun),
        ("a goal that is made", Goal, Some(Idle::Made), true, CouldNotRun),
        ("a guard that is made", Guard, Some(Idle::Made), true, Passed),
        ("a goal after an attempt", Goal, Some(Idle::Made), false, Failed),
        ("a guard after an attempt", Guard, directory(), false, Failed),
        ("a guard that is made after an attempt", Guard, Some(Idle::Made), false, Passed),
        ("a goal that ran", Goal, None, true, Passed),
    ] {
        let finished =
            finished("make: 'test' is up to date.\n", ExitCause::Exited(0), CheckVerdict::Auto, None);
        let report = report(&check(kind, CheckVerdict::Auto), FinishedCheck { idle, is_at_base, ..finished });
        assert_eq!(report.end, expected, "{row}");
        let is_said = report.reasons.iter().any(|reason| reason.as_str().contains("ran nothing"));
        assert_eq!(is_said, expected == CouldNotRun, "{row}");
    }
}

#[test]
fn a_test_in_a_renamed_file_is_seen() {
    let old = names(&["tests/test_old.py::test_a"]);
    let call = CheckCall { watched: old.clone(), ..call() };
    let finished = finished("1 passed in 0.01s\n", ExitCause::Exited(0), CheckVerdict::Auto, None);
    let finished = FinishedCheck { moved: old.clone(), ..finished };
    let check = check(CheckKind::Goal, CheckVerdict::Auto);
    let report = report_of(&call, &check, finished, &BTreeSet::new(), &Redactor::default()).0;
    assert_eq!(report.seen_passing, old);
}
