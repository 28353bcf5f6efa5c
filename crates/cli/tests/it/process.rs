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

/// The binary with nothing of this machine's configuration in reach.
pub(crate) fn fixpoint(directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fixpoint"));
    command.env_clear().env("HOME", directory).env("XDG_CONFIG_HOME", directory.join("xdg"));
    command.current_dir(directory);
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
