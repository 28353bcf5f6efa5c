//! Exit codes, signals, and programs that cannot be started.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use fixpoint_ports::{CapturedOutput, ExitCause, ProcessExit, Program};

use crate::fixture::Fixture;

#[test]
fn exit_codes_and_signals_are_reported() {
    let rows = [
        ("exit 0", ExitCause::Exited(0)),
        ("exit 1", ExitCause::Exited(1)),
        ("exit 255", ExitCause::Exited(255)),
        ("no-such-command-at-all", ExitCause::Exited(127)),
        ("kill -9 $$", ExitCause::Signalled(9)),
        ("kill -TERM $$", ExitCause::Signalled(15)),
        ("kill -11 $$", ExitCause::Signalled(11)),
        // The first real-time signal stands for all.
        ("kill -40 $$", ExitCause::Signalled(34)),
    ];
    let fixture = Fixture::new();
    for (line, expected) in rows {
        let exit = fixture.run(&fixture.shell(line));
        assert_eq!((exit.cause, exit.stragglers), (expected, 0), "{line}");
    }
}

#[test]
fn the_whole_result() {
    let fixture = Fixture::new();
    let exit = fixture.run(&fixture.shell("printf hello"));
    let output = CapturedOutput { path: fixture.file("output"), written: 5, omitted: 0 };
    let expected = ProcessExit {
        cause: ExitCause::Exited(0),
        duration: exit.duration,
        output,
        stragglers: 0,
        refused: Vec::new(),
    };
    assert_eq!(exit, expected);
    assert_eq!(fixture.output(), "hello");
}

#[test]
fn the_reason_why_a_program_cannot_be_started_is_reported() {
    let fixture = Fixture::new();
    fs::write(fixture.file("plain"), "not a program").unwrap();
    fs::set_permissions(fixture.file("plain"), fs::Permissions::from_mode(0o644)).unwrap();
    let mut missing_directory = fixture.shell("true");
    missing_directory.directory = fixture.file("missing");
    let mut file_as_directory = fixture.shell("true");
    file_as_directory.directory = fixture.file("plain");
    let mut no_path = fixture.direct("no-such-program", &[]);
    no_path.environment.retain(|(name, _)| name != "PATH");
    let too_long = Program::Shell("x".repeat(4 << 20));
    let far_too_long = Program::Shell("x".repeat(40 << 20));
    let rows = [
        (fixture.direct("no-such-program", &[]), "`no-such-program` was not found"),
        (no_path, "`no-such-program` was not found"),
        (fixture.direct("./plain", &[]), "`./plain` cannot be executed"),
        (fixture.direct("/", &[]), "`/` cannot be executed"),
        (fixture.direct("nul\0inside", &[]), "`nul\0inside` cannot be started"),
        (missing_directory, "cannot enter "),
        (file_as_directory, "plain is not a directory"),
        (fixture.invocation(too_long), "`sh` cannot be started"),
        (fixture.invocation(far_too_long), "the arguments and the environment are too long"),
    ];
    for (invocation, expected) in rows {
        let exit = fixture.run(&invocation);
        let ExitCause::NotStarted(reason) = exit.cause else { panic!("{expected}: {:?}", exit.cause) };
        assert!(reason.contains(expected), "{reason}, not {expected}");
        assert_eq!((exit.output.written, exit.stragglers), (0, 0), "{expected}");
    }
}
