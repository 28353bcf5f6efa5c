//! The launcher, as a program of its own for the tests.

use std::process::ExitCode;

fn main() -> ExitCode {
    fixpoint_sandbox::launcher_main(std::env::args_os().skip(1))
}
