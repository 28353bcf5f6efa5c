//! Runs the binary away from whatever the machine has configured.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// What a run of the binary left.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Trusts every repository: what a test writes is its own. Tests about trust take it away.
pub(crate) const TRUST: (&str, &str) = ("FIXPOINT_TRUST", "1");

/// The binary with nothing of this machine's configuration in reach.
pub(crate) fn fixpoint(directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fixpoint"));
    command.env_clear().env("HOME", directory).env("XDG_CONFIG_HOME", directory.join("xdg"));
    command.env(TRUST.0, TRUST.1).current_dir(directory);
    command
}

/// Runs a prepared command with this input.
pub(crate) fn run(command: &mut Command, input: &[u8]) -> Ended {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary starts");
    // A command that does not read its input closes it early, which is no failure of the test.
    let _ = child.stdin.take().expect("piped").write_all(input);
    let Output { status, stdout, stderr } = child.wait_with_output().expect("the binary ends");
    Ended {
        code: status.code().expect("it was not killed"),
        stdout: String::from_utf8(stdout).expect("text"),
        stderr: String::from_utf8(stderr).expect("text"),
    }
}

/// Runs the binary in an empty directory.
pub(crate) fn run_anywhere(arguments: &[&str], input: &[u8]) -> Ended {
    let directory = tempfile::tempdir().expect("a directory");
    run(fixpoint(directory.path()).args(arguments), input)
}

/// Whether a program is here that a test needs beyond Rust and git. Where it is not, the test says that it is skipped,
/// unless nothing may be skipped.
pub(crate) fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    let is_here = found.is_ok_and(|status| status.success());
    assert!(is_here || std::env::var_os("NO_SKIPPED_TESTS").is_none(), "{program} is needed and not here");
    if !is_here {
        skipped(&format!("this test needs {program}, which is not installed"));
    }
    is_here
}

/// Says that a test is skipped, past the harness, which keeps what passing tests print to itself.
pub(crate) fn skipped(why: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}
