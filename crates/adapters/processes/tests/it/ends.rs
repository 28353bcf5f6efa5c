//! How programs end by themselves, or do not even begin.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use fixpoint_ports::{CapturedOutput, ExitCause, ProcessExit, Program};

use crate::stage::Stage;

#[test]
fn codes_and_signals_are_told_as_they_are() {
    let cases = [
        ("exit 0", ExitCause::Exited(0)),
        ("exit 1", ExitCause::Exited(1)),
        ("exit 255", ExitCause::Exited(255)),
        ("no-such-command-at-all", ExitCause::Exited(127)),
        ("kill -9 $$", ExitCause::Signalled(9)),
        ("kill -TERM $$", ExitCause::Signalled(15)),
        ("kill -11 $$", ExitCause::Signalled(11)),
        // Real-time signals have no names; the first stands for all.
        ("kill -40 $$", ExitCause::Signalled(34)),
    ];
    let stage = Stage::new();
    for (line, expected) in cases {
        let ended = stage.run(&stage.shell(line));
        assert_eq!((ended.cause, ended.stragglers), (expected, 0), "{line}");
    }
}

#[test]
fn the_whole_answer() {
    let stage = Stage::new();
    let ended = stage.run(&stage.shell("printf hello"));
    let output = CapturedOutput { path: stage.file("output"), written: 5, omitted: 0 };
    let expected =
        ProcessExit { cause: ExitCause::Exited(0), duration: ended.duration, output, stragglers: 0 };
    assert_eq!(ended, expected);
    assert_eq!(stage.output(), "hello");
}

#[test]
fn a_program_that_cannot_be_started_says_why() {
    let stage = Stage::new();
    fs::write(stage.file("plain"), "not a program").unwrap();
    fs::set_permissions(stage.file("plain"), fs::Permissions::from_mode(0o644)).unwrap();
    let mut missing_directory = stage.shell("true");
    missing_directory.directory = stage.file("nowhere");
    let mut file_as_directory = stage.shell("true");
    file_as_directory.directory = stage.file("plain");
    let mut no_path = stage.direct("no-such-program", &[]);
    no_path.environment.retain(|(name, _)| name != "PATH");
    let too_long = Program::Shell("x".repeat(4 << 20));
    let far_too_long = Program::Shell("x".repeat(40 << 20));
    let cases = [
        (stage.direct("no-such-program", &[]), "`no-such-program` was not found"),
        (no_path, "`no-such-program` was not found"),
        (stage.direct("./plain", &[]), "`./plain` may not be run"),
        (stage.direct("/", &[]), "`/` may not be run"),
        (stage.direct("nul\0inside", &[]), "`nul\0inside` cannot be started"),
        (missing_directory, "the directory "),
        (file_as_directory, "plain is not a directory"),
        (stage.invocation(too_long), "`sh` cannot be started"),
        (stage.invocation(far_too_long), "the arguments and the environment are too long"),
    ];
    for (invocation, expected) in cases {
        let ended = stage.run(&invocation);
        let ExitCause::NotStarted(reason) = ended.cause else { panic!("{expected}: {:?}", ended.cause) };
        assert!(reason.contains(expected), "{reason}, not {expected}");
        assert_eq!((ended.output.written, ended.stragglers), (0, 0));
    }
}
