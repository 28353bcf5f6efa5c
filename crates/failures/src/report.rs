//! What was read out of an output: failures, what passed, what was skipped, and how far the reading can be trusted.
//!
//! Owns the words; refuses to read anything. Whatever was left out for want of space is counted in [`Omitted`],
//! so that a bounded report never passes for a complete one.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The tool whose output was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Runner {
    /// `cargo test`, or any libtest binary.
    CargoTest,
    /// `cargo nextest`.
    Nextest,
    /// `go test`, as text or as JSON.
    GoTest,
    /// pytest.
    Pytest,
    /// Python's unittest.
    Unittest,
    /// Jest.
    Jest,
    /// Vitest.
    Vitest,
    /// Mocha.
    Mocha,
    /// Node's own test runner.
    NodeTest,
    /// JUnit XML, whatever wrote it.
    Junit,
    /// The Test Anything Protocol.
    Tap,
    /// rustc, cargo or clippy.
    Rustc,
    /// gcc, clang, and the linkers behind them.
    Gcc,
    /// The TypeScript compiler.
    Tsc,
    /// ESLint.
    Eslint,
    /// Anything else.
    Generic,
}

impl Runner {
    /// Every runner there is.
    pub const ALL: [Self; 16] = [
        Self::CargoTest,
        Self::Nextest,
        Self::GoTest,
        Self::Pytest,
        Self::Unittest,
        Self::Jest,
        Self::Vitest,
        Self::Mocha,
        Self::NodeTest,
        Self::Junit,
        Self::Tap,
        Self::Rustc,
        Self::Gcc,
        Self::Tsc,
        Self::Eslint,
        Self::Generic,
    ];

    /// The name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::CargoTest => "cargo_test",
            Self::Nextest => "nextest",
            Self::GoTest => "go_test",
            Self::Pytest => "pytest",
            Self::Unittest => "unittest",
            Self::Jest => "jest",
            Self::Vitest => "vitest",
            Self::Mocha => "mocha",
            Self::NodeTest => "node_test",
            Self::Junit => "junit",
            Self::Tap => "tap",
            Self::Rustc => "rustc",
            Self::Gcc => "gcc",
            Self::Tsc => "tsc",
            Self::Eslint => "eslint",
            Self::Generic => "generic",
        }
    }

    /// The runner of that name, as a setting spells it: a dash stands for an underscore as well.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.replace('-', "_");
        Self::ALL.into_iter().find(|runner| runner.name() == name)
    }

    /// Whether it only reports on sources. Such lines are believed only when the command failed: a passing test
    /// suite may well print them.
    pub(crate) fn is_diagnostics(self) -> bool {
        match self {
            Self::Rustc | Self::Gcc | Self::Tsc | Self::Eslint | Self::Generic => true,
            Self::CargoTest
            | Self::Nextest
            | Self::GoTest
            | Self::Pytest
            | Self::Unittest
            | Self::Jest
            | Self::Vitest
            | Self::Mocha
            | Self::NodeTest
            | Self::Junit
            | Self::Tap => false,
        }
    }
}

/// What kind of failure it is. Another kind is another failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// An assertion did not hold.
    Assertion,
    /// The program gave up on its own (Rust and Go).
    Panic,
    /// An exception of the named type was not caught.
    Exception(String),
    /// A source did not compile, or could not be loaded.
    Compile,
    /// It took too long and was stopped.
    Timeout,
    /// The process died of a signal.
    Crash,
    /// A rule about sources was broken.
    Lint,
    /// The command ended with this code, and nothing it printed could be read as a failure.
    Exit(i32),
    /// A failure that says no more than that.
    Error,
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Assertion => formatter.write_str("assertion"),
            Self::Panic => formatter.write_str("panic"),
            Self::Exception(name) => write!(formatter, "exception {name}"),
            Self::Compile => formatter.write_str("compile"),
            Self::Timeout => formatter.write_str("timeout"),
            Self::Crash => formatter.write_str("crash"),
            Self::Lint => formatter.write_str("lint"),
            Self::Exit(code) => write!(formatter, "exit {code}"),
            Self::Error => formatter.write_str("error"),
        }
    }
}

/// A test's name, with the package it belongs to where the runner says so.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct TestId {
    /// Crate, Go package, or class, whichever the runner has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
    /// The test, as its runner names it.
    pub test: String,
}

impl fmt::Display for TestId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.package {
            Some(package) => write!(formatter, "{package} {}", self.test),
            None => formatter.write_str(&self.test),
        }
    }
}

/// One failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// Who reported it.
    pub runner: Runner,
    /// Crate, Go package, or class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
    /// The test that failed; absent where no test did, as with a compile error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// What kind of failure it is.
    pub kind: Kind,
    /// The tool's words, cut to a bounded length.
    pub message: String,
    /// Where it failed, relative to the working directory where possible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line in that file; not part of the fingerprint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// What makes this failure the same one in another run.
    pub fingerprint: String,
}

impl Failure {
    /// The test that failed, if a test did.
    pub fn test_id(&self) -> Option<TestId> {
        self.test.clone().map(|test| TestId { package: self.package.clone(), test })
    }
}

/// What was left out because a bound was reached. All zero: nothing was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Omitted {
    /// Lines of which only the beginning was read.
    pub long_lines: u64,
    /// Failures beyond the number that is kept.
    pub failures: u64,
    /// Messages that were cut.
    pub messages: u64,
    /// Names of passed or skipped tests beyond the number that is kept.
    pub tests: u64,
}

impl Omitted {
    /// Whether nothing was left out.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// Everything that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// Whose output it mostly is.
    pub runner: Runner,
    /// The failures, each fingerprint once, in the order they were printed.
    pub failures: Vec<Failure>,
    /// Tests seen passing by name, sorted.
    pub passed: Vec<TestId>,
    /// How many more tests passed than are named in `passed`, as a summary counts them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub passed_unnamed: u64,
    /// Tests seen skipped by name, sorted.
    pub skipped: Vec<TestId>,
    /// Whether more might have failed had it not been cut short, by a compile error, a crash or a fail-fast stop.
    pub masked: bool,
    /// Whether any test ran at all.
    pub ran_any: bool,
    /// What was left out.
    #[serde(default, skip_serializing_if = "Omitted::is_nothing")]
    pub omitted: Omitted,
}

impl Report {
    /// How many tests are known to have passed, by name or by a summary; never fewer than are named.
    pub fn passed_count(&self) -> u64 {
        (self.passed.len() as u64).saturating_add(self.passed_unnamed)
    }
}

/// Counts that are zero are not written.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "the shape is given by the serialiser")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_runners_are_read_back() {
        for runner in Runner::ALL {
            assert_eq!(Runner::from_name(runner.name()), Some(runner));
            assert_eq!(Runner::from_name(&runner.name().replace('_', "-")), Some(runner));
        }
        for unknown in ["", "auto", "Jest", "cargo"] {
            assert_eq!(Runner::from_name(unknown), None, "{unknown}");
        }
    }
}
