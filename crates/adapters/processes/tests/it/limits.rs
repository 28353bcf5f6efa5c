//! Limits and stops.

use std::time::{Duration, Instant};

use fixpoint_ports::{Cancel, ExitCause, ProcessError, Processes};

use crate::fixture::{Fixture, LONG};

const IGNORES_SIGTERM: &str = "trap '' TERM; echo ready; while :; do sleep 0.01; done";

#[test]
fn a_program_that_ignores_sigterm_is_killed_after_the_grace() {
    let fixture = Fixture::new();
    let mut invocation = fixture.shell(IGNORES_SIGTERM);
    invocation.limits.wall = Duration::from_millis(300);
    let exit = fixture.run(&invocation);
    assert_eq!(exit.cause, ExitCause::TimedOut);
    assert!(
        exit.duration >= Duration::from_millis(600),
        "killed before the end of the grace: {:?}",
        exit.duration
    );
    assert!(exit.duration < LONG / 2, "{:?}", exit.duration);
}

#[test]
fn a_program_that_exits_during_the_grace_has_timed_out() {
    let fixture = Fixture::new();
    let mut invocation =
        fixture.shell("trap 'echo cleaned up; exit 0' TERM; echo ready; while :; do sleep 0.01; done");
    invocation.limits.wall = Duration::from_millis(300);
    invocation.limits.grace = LONG;
    let exit = fixture.run(&invocation);
    assert_eq!(exit.cause, ExitCause::TimedOut);
    // The shell may print a message about its child in between.
    let output = fixture.output();
    assert!(output.starts_with("ready\n") && output.ends_with("cleaned up\n"), "{output}");
    assert!(exit.duration < LONG / 2, "the whole grace was waited for: {:?}", exit.duration);
}

#[test]
fn silence_ends_a_program_and_output_does_not() {
    let fixture = Fixture::new();
    let mut invocation = fixture.shell("echo once; sleep 1000");
    invocation.limits.silence = Some(Duration::from_millis(300));
    assert_eq!(fixture.run(&invocation).cause, ExitCause::Silent);
    invocation = fixture.shell("for i in 1 2 3 4 5 6 7 8 9 10; do echo $i; sleep 0.1; done");
    invocation.limits.silence = Some(Duration::from_millis(900));
    assert_eq!(fixture.run(&invocation).cause, ExitCause::Exited(0));
}

#[test]
fn a_limit_that_is_no_limit_is_no_trouble() {
    let fixture = Fixture::new();
    let mut invocation = fixture.shell("echo fine");
    invocation.limits.wall = Duration::MAX;
    invocation.limits.silence = Some(Duration::MAX);
    invocation.limits.grace = Duration::MAX;
    assert_eq!(fixture.run(&invocation).cause, ExitCause::Exited(0));
    invocation.limits.wall = Duration::ZERO;
    invocation.limits.grace = Duration::ZERO;
    assert_eq!(fixture.run(&invocation).cause, ExitCause::TimedOut);
}

#[test]
fn a_stop_gives_the_grace_and_a_second_stop_does_not() {
    let fixture = Fixture::new();
    let mut invocation = fixture.shell(IGNORES_SIGTERM);
    let exit = fixture.run_and(&invocation, Cancel::ask).unwrap();
    assert_eq!(exit.cause, ExitCause::Cancelled);
    assert!(exit.duration >= invocation.limits.grace, "{:?}", exit.duration);

    invocation.limits.grace = LONG;
    let started = Instant::now();
    let exit = fixture.run_and(&invocation, |cancel| {
        cancel.ask();
        cancel.ask();
    });
    assert_eq!(exit.unwrap().cause, ExitCause::Cancelled);
    assert!(started.elapsed() < LONG / 2, "the grace was waited for");
}

#[test]
fn a_second_stop_is_heard_during_the_grace() {
    let fixture = Fixture::new();
    let cancel = Cancel::default();
    let mut invocation = fixture.shell("trap 'echo asked' TERM; echo ready; while :; do sleep 0.01; done");
    invocation.limits.grace = LONG;
    let mut seen = Vec::new();
    let exit = fixture.processes.run(&invocation, &cancel, &mut |piece| {
        seen.extend_from_slice(piece);
        if !cancel.is_asked() || seen.ends_with(b"asked\n") {
            cancel.ask();
        }
    });
    let exit = exit.unwrap();
    assert_eq!(exit.cause, ExitCause::Cancelled);
    assert!(exit.duration < LONG / 2, "{:?}", exit.duration);
    assert!(seen.starts_with(b"ready\n") && seen.ends_with(b"asked\n"), "{}", fixture.output());
}

#[test]
fn a_stop_before_the_start_starts_nothing() {
    let fixture = Fixture::new();
    let cancel = Cancel::default();
    cancel.ask();
    let exit = fixture.processes.run(&fixture.shell("touch started"), &cancel, &mut |_| {}).unwrap();
    assert_eq!((exit.cause, fixture.file("started").exists()), (ExitCause::Cancelled, false));
}

#[test]
fn a_full_disk_ends_the_program_and_names_the_file() {
    let fixture = Fixture::new();
    let mut invocation = fixture.shell("echo too much; sleep 1000");
    invocation.output = "/dev/full".into();
    let started = Instant::now();
    let error = fixture.processes.run(&invocation, &Cancel::default(), &mut |_| {}).unwrap_err();
    let ProcessError::Output { path, source } = error else { panic!("{error}") };
    assert_eq!((path, source.kind()), ("/dev/full".into(), std::io::ErrorKind::StorageFull));
    assert!(started.elapsed() < LONG / 2);

    invocation.output = fixture.file("nowhere/output");
    let error = fixture.processes.run(&invocation, &Cancel::default(), &mut |_| {}).unwrap_err();
    assert!(matches!(error, ProcessError::Output { .. }), "{error}");
}
