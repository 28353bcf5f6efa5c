//! Systems without a launcher: nothing can be confined, and the probe says so.

use std::ffi::OsString;
use std::process::ExitCode;

/// The exit code of a launcher that could not start its program.
pub(crate) const NOT_STARTED: u8 = 125;

/// Starts nothing.
pub fn launcher_main(_: impl IntoIterator<Item = OsString>) -> ExitCode {
    ExitCode::from(NOT_STARTED)
}
