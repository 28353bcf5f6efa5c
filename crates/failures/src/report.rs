//! The result of reading an output: failures, passed and skipped tests, and whether it is complete.
//!
//! Invariant: what was left out because of a limit is counted in [`Omitted`].

use std::fmt;

use fixpoint_vocabulary::EnvironmentProblem;
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
    /// JUnit XML of any tool.
    Junit,
    /// The Test Anything Protocol.
    Tap,
    /// PHPUnit.
    PhpUnit,
    /// Ruby's Minitest.
    Minitest,
    /// RSpec.
    Rspec,
    /// Maven with Surefire or Failsafe.
    Maven,
    /// Gradle's test task.
    Gradle,
    /// The console launcher of JUnit.
    JunitConsole,
    /// CTest.
    Ctest,
    /// GoogleTest.
    GoogleTest,
    /// Catch2.
    Catch2,
    /// Elixir's ExUnit.
    ExUnit,
    /// `dotnet test`.
    DotnetTest,
    /// `bun test`.
    Bun,
    /// `deno test`.
    Deno,
    /// Playwright.
    Playwright,
    /// Jasmine.
    Jasmine,
    /// AVA.
    Ava,
    /// Robot Framework.
    Robot,
    /// behave.
    Behave,
    /// Python's doctest.
    Doctest,
    /// rustc, cargo or clippy.
    Rustc,
    /// gcc, clang and their linkers.
    Gcc,
    /// The TypeScript compiler.
    Tsc,
    /// ESLint.
    Eslint,
    /// The Java compiler.
    Javac,
    /// Ruff, with its multi-line report.
    Ruff,
    /// Pyright.
    Pyright,
    /// Biome.
    Biome,
    /// ShellCheck.
    Shellcheck,
    /// Any other tool that prints `file:line: message`.
    Linter,
    /// Anything else.
    Generic,
}

impl Runner {
    pub const ALL: [Self; 41] = [
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
        Self::PhpUnit,
        Self::Minitest,
        Self::Rspec,
        Self::Maven,
        Self::Gradle,
        Self::JunitConsole,
        Self::Ctest,
        Self::GoogleTest,
        Self::Catch2,
        Self::ExUnit,
        Self::DotnetTest,
        Self::Bun,
        Self::Deno,
        Self::Playwright,
        Self::Jasmine,
        Self::Ava,
        Self::Robot,
        Self::Behave,
        Self::Doctest,
        Self::Rustc,
        Self::Gcc,
        Self::Tsc,
        Self::Eslint,
        Self::Javac,
        Self::Ruff,
        Self::Pyright,
        Self::Biome,
        Self::Shellcheck,
        Self::Linter,
        Self::Generic,
    ];

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
            Self::PhpUnit => "phpunit",
            Self::Minitest => "minitest",
            Self::Rspec => "rspec",
            Self::Maven => "maven",
            Self::Gradle => "gradle",
            Self::JunitConsole => "junit_console",
            Self::Ctest => "ctest",
            Self::GoogleTest => "google_test",
            Self::Catch2 => "catch2",
            Self::ExUnit => "ex_unit",
            Self::DotnetTest => "dotnet_test",
            Self::Bun => "bun",
            Self::Deno => "deno",
            Self::Playwright => "playwright",
            Self::Jasmine => "jasmine",
            Self::Ava => "ava",
            Self::Robot => "robot",
            Self::Behave => "behave",
            Self::Doctest => "doctest",
            Self::Rustc => "rustc",
            Self::Gcc => "gcc",
            Self::Tsc => "tsc",
            Self::Eslint => "eslint",
            Self::Javac => "javac",
            Self::Ruff => "ruff",
            Self::Pyright => "pyright",
            Self::Biome => "biome",
            Self::Shellcheck => "shellcheck",
            Self::Linter => "linter",
            Self::Generic => "generic",
        }
    }

    /// As settings spell it, with dashes or underscores.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.replace('-', "_");
        Self::ALL.into_iter().find(|runner| runner.name() == name)
    }

    /// Whether it runs tests, so that a success without any is suspicious.
    pub const fn runs_tests(self) -> bool {
        !self.is_diagnostics()
    }

    /// Whether it only reports on sources. Such lines count only if the command failed: a passing test suite may print
    /// them too.
    pub(crate) const fn is_diagnostics(self) -> bool {
        matches!(
            self,
            Self::Rustc
                | Self::Gcc
                | Self::Tsc
                | Self::Eslint
                | Self::Javac
                | Self::Ruff
                | Self::Pyright
                | Self::Biome
                | Self::Shellcheck
                | Self::Linter
                | Self::Generic
        )
    }
}

/// The kind of a failure. A failure of another kind is another failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// An assertion failed.
    Assertion,
    /// The program panicked (Rust and Go).
    Panic,
    /// An exception of this type was not caught.
    Exception(String),
    /// A source file did not compile or could not be loaded.
    Compile,
    /// It took too long and was stopped.
    Timeout,
    /// A signal ended the process.
    Crash,
    /// A lint rule was violated.
    Lint,
    /// The command ended with this code, and no failure could be read from its output.
    Exit(i32),
    /// Any other failure.
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

/// The name of a test, with its package if the runner reports one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct TestId {
    /// Crate, Go package or class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
    /// The name of the test, as the runner prints it.
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
    /// The runner that reported it.
    pub runner: Runner,
    /// Crate, Go package, or class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
    /// The test that failed; absent if the failure is not that of a test, such as a compile error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// The kind of failure.
    pub kind: Kind,
    /// The message of the tool, cut to a maximum length.
    pub message: String,
    /// The file, relative to the working directory if possible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line in that file; not part of the fingerprint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Identifies the same failure in other runs.
    pub fingerprint: String,
}

impl Failure {
    pub fn test_id(&self) -> Option<TestId> {
        self.test.clone().map(|test| TestId { package: self.package.clone(), test })
    }
}

/// What was left out because a limit was reached; all zero if nothing was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Omitted {
    /// Lines of which only the beginning was read.
    pub long_lines: u64,
    /// Failures beyond the limit.
    pub failures: u64,
    /// Messages that were cut.
    pub messages: u64,
    /// Names of passed or skipped tests beyond the limit.
    pub tests: u64,
}

impl Omitted {
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// Everything that was read from the output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// The runner with the most failures, or else the first one recognised.
    pub runner: Runner,
    /// The failures, each fingerprint once, in the order they were printed.
    pub failures: Vec<Failure>,
    /// The names of tests that passed, sorted.
    pub passed: Vec<TestId>,
    /// How many more tests passed than `passed` names, by the summary.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub passed_unnamed: u64,
    /// The names of skipped tests, sorted.
    pub skipped: Vec<TestId>,
    /// Whether more tests might have failed, had a compile error, a crash or a fail-fast stop not ended the run early.
    pub masked: bool,
    /// Whether no test is known to have run, each failure is a finding of its own, and nothing says that the tool did not
    /// come to the end: what is new later can be told from these.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub itemised: bool,
    /// Whether any test ran.
    pub ran_any: bool,
    /// The problem of the environment that explains all failures, if there is one: they say nothing about the code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<EnvironmentProblem>,
    /// What was left out.
    #[serde(default, skip_serializing_if = "Omitted::is_nothing")]
    pub omitted: Omitted,
}

impl Report {
    /// Tests that passed, by name or by a summary; at least as many as are named.
    pub fn passed_count(&self) -> u64 {
        (self.passed.len() as u64).saturating_add(self.passed_unnamed)
    }
}

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
