//! ProcessLimits and stops.

use std::time::{Duration, Instant};

use fixpoint_ports::{Cancel, ExitCause, ProcessError, Processes};

use crate::stage::{LONG, Stage};

const STUBBORN: &str = "trap '' TERM; echo ready; while :; do sleep 0.01; done";

#[test]
fn a_program_that_ignores_the_request_is_made_to_end_after_the_grace() {
    let stage = Stage::new();
    let mut invocation = stage.shell(STUBBORN);
    invocation.limits.wall = Duration::from_millis(300);
    let ended = stage.run(&invocation);
    assert_eq!(ended.cause, ExitCause::TimedOut);
    assert!(ended.duration >= Duration::from_millis(600), "the grace was cut: {:?}", ended.duration);
    assert!(ended.duration < LONG / 2, "{:?}", ended.duration);
}

#[test]
fn a_program_may_use_its_grace_and_is_still_timed_out() {
    let stage = Stage::new();
    let mut invocation =
        stage.shell("trap 'echo tidied; exit 0' TERM; echo ready; while :; do sleep 0.01; done");
    invocation.limits.wall = Duration::from_millis(300);
    invocation.limits.grace = LONG;
    let ended = stage.run(&invocation);
    assert_eq!(ended.cause, ExitCause::TimedOut);
    // The shell may remark on the end of its child in between.
    let output = stage.output();
    assert!(output.starts_with("ready\n") && output.ends_with("tidied\n"), "{output}");
    assert!(ended.duration < LONG / 2, "the whole grace was waited for: {:?}", ended.duration);
}

#[test]
fn silence_ends_a_program_and_output_does_not() {
    let stage = Stage::new();
    let mut invocation = stage.shell("echo once; sleep 1000");
    invocation.limits.silence = Some(Duration::from_millis(300));
    assert_eq!(stage.run(&invocation).cause, ExitCause::Silent);
    invocation = stage.shell("for i in 1 2 3 4 5 6 7 8 9 10; do echo $i; sleep 0.1; done");
    invocation.limits.silence = Some(Duration::from_millis(900));
    assert_eq!(stage.run(&invocation).cause, ExitCause::Exited(0));
}

#[test]
fn a_limit_that_is_no_limit_is_no_trouble() {
    let stage = Stage::new();
    let mut invocation = stage.shell("echo fine");
    invocation.limits.wall = Duration::MAX;
    invocation.limits.silence = Some(Duration::MAX);
    invocation.limits.grace = Duration::MAX;
    assert_eq!(stage.run(&invocation).cause, ExitCause::Exited(0));
    invocation.limits.wall = Duration::ZERO;
    invocation.limits.grace = Duration::ZERO;
    assert_eq!(stage.run(&invocation).cause, ExitCause::TimedOut);
}

#[test]
fn a_stop_gives_the_grace_and_a_second_stop_does_not() {
    let stage = Stage::new();
    let mut invocation = stage.shell(STUBBORN);
    let ended = stage.run_and(&invocation, Cancel::ask).unwrap();
    assert_eq!(ended.cause, ExitCause::Cancelled);
    assert!(ended.duration >= invocation.limits.grace, "{:?}", ended.duration);

    invocation.limits.grace = LONG;
    let began = Instant::now();
    let ended = stage.run_and(&invocation, |cancel| {
        cancel.ask();
        cancel.ask();
    });
    assert_eq!(ended.unwrap().cause, ExitCause::Cancelled);
    assert!(began.elapsed() < LONG / 2, "the grace was waited for");
}

#[test]
fn a_second_stop_is_heard_during_the_grace() {
    let stage = Stage::new();
    let cancel = Cancel::default();
    let mut invocation = stage.shell("trap 'echo asked' TERM; echo ready; while :; do sleep 0.01; done");
    invocation.limits.grace = LONG;
    let mut seen = Vec::new();
    let ended = stage.processes.run(&invocation, &cancel, &mut |piece| {
        seen.extend_from_slice(piece);
        if !cancel.is_asked() || seen.ends_with(b"asked\n") {
            cancel.ask();
        }
    });
    let ended = ended.unwrap();
    assert_eq!(ended.cause, ExitCause::Cancelled);
    assert!(ended.duration < LONG / 2, "{:?}", ended.duration);
    assert!(seen.starts_with(b"ready\n") && seen.ends_with(b"asked\n"), "{}", stage.output());
}

#[test]
fn a_stop_before_the_start_starts_nothing() {
    let stage = Stage::new();
    let cancel = Cancel::default();
    cancel.ask();
    let ended = stage.processes.run(&stage.shell("touch started"), &cancel, &mut |_| {}).unwrap();
    assert_eq!((ended.cause, stage.file("started").exists()), (ExitCause::Cancelled, false));
}

#[test]
fn a_full_disk_ends_the_program_and_names_the_file() {
    let stage = Stage::new();
    let mut invocation = stage.shell("echo too much; sleep 1000");
    invocation.output = "/dev/full".into();
    let began = Instant::now();
    let error = stage.processes.run(&invocation, &Cancel::default(), &mut |_| {}).unwrap_err();
    let ProcessError::Output { path, source } = error else { panic!("{error}") };
    assert_eq!((path, source.kind()), ("/dev/full".into(), std::io::ErrorKind::StorageFull));
    assert!(began.elapsed() < LONG / 2);

    invocation.output = stage.file("nowhere/output");
    let error = stage.processes.run(&invocation, &Cancel::default(), &mut |_| {}).unwrap_err();
    assert!(matches!(error, ProcessError::Output { .. }), "{error}");
}
