//! What fails, and how failures are told apart.
//!
//! Owns two keys. [`FailureId`] says what fails: failures are compared by it with the baseline. [`Fingerprint`] also
//! covers what a failing test said: failures are compared by it from attempt to attempt. What Fixpoint finds itself
//! is a variant and never a prefix of a text, so checks and tests may have any name. Invariant: the prefixes in JSON
//! and on screen (`timeout:`, `vanished:`, …) are written by the `Display` of [`FailureId`] and read nowhere.

use core::fmt;

use serde::{Deserialize, Serialize};

use crate::Redacted;
use crate::ids::{Fingerprint, TestName};
use crate::prelude::*;

/// What fails. Failures are compared by it with the baseline.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureId {
    Test(TestName),
    /// Something a tool reported that is not a test, such as a compile error.
    Diagnostic(Fingerprint),
    /// What a failing check printed, where nothing in it could be read as a failure.
    Output {
        /// The name of the check: two checks that print the same fail differently.
        check: String,
        /// What it printed, without what changes from run to run.
        fingerprint: Fingerprint,
    },
    /// A failure that a check named in its decision file.
    Declared(String),
    /// A check as a whole.
    Check {
        check: String,
        /// What is wrong with it.
        problem: CheckProblem,
    },
    /// A goal that was not seen to pass.
    Goal {
        goal: u32,
        problem: GoalProblem,
    },
    /// A test that passed before, or must pass now, and is no longer run.
    Vanished(TestName),
    /// Something that fails with the tests as they were before the attempt.
    Weakened(Box<Self>),
    /// Something the judge finds missing, by the number of the acceptance or by its first words.
    Missing(String),
    /// A file that holds conflict markers.
    Conflict(String),
    /// A change of one side that a merge does not hold.
    LostChange {
        side: Side,
        path: String,
        /// Which change in the file.
        part: LostPart,
    },
    /// A file changed outside the scope, or a limit of the scope that was exceeded.
    OutOfScope(String),
}

impl FailureId {
    /// The test, if a test fails.
    pub const fn test(&self) -> Option<&TestName> {
        if let Self::Test(name) = self { Some(name) } else { None }
    }
}

impl fmt::Display for FailureId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Test(name) => name.fmt(f),
            Self::Diagnostic(fingerprint) => fingerprint.fmt(f),
            Self::Output { check, fingerprint } => write!(f, "{check}:{fingerprint}"),
            Self::Declared(name) => f.write_str(name),
            Self::Check { check, problem } => write!(f, "{}:{check}", problem.word()),
            Self::Goal { goal, problem } => write!(f, "{}:{goal}", problem.word()),
            Self::Vanished(test) => write!(f, "vanished:{test}"),
            Self::Weakened(failure) => write!(f, "weakened:{failure}"),
            Self::Missing(requirement) => write!(f, "judge:{requirement}"),
            Self::Conflict(path) => write!(f, "conflict:{path}"),
            Self::LostChange { side, path, part } => write!(f, "lost:{}:{path}#{part}", side.name()),
            Self::OutOfScope(path) => write!(f, "scope:{path}"),
        }
    }
}

/// Why a check fails as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckProblem {
    Timeout,
    Crash,
    /// It failed and printed nothing that could be read as a failure.
    Exit,
    NotFound,
    /// It succeeded without running a test.
    NoTestsRan,
    /// No line of its output is a verdict, where it is read for one.
    Undecided,
    /// It says that something is left to do, and not what.
    Incomplete,
    /// The directory it runs in is gone.
    Directory,
    SetUp,
    /// Its tests, or what decides what it does, were rewritten while it ran.
    Rewritten,
    /// Its environment lacks something.
    Environment,
}

impl CheckProblem {
    const fn word(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Crash => "crash",
            Self::Exit => "exit",
            Self::NotFound => "not_found",
            Self::NoTestsRan => "no_tests_ran",
            Self::Undecided => "undecided",
            Self::Incomplete => "incomplete",
            Self::Directory => "directory",
            Self::SetUp => "set_up",
            Self::Rewritten => "rewritten",
            Self::Environment => "environment",
        }
    }
}

/// Why a goal was not seen to pass, though no failure of its check says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GoalProblem {
    /// It fails without saying at what, or was not run.
    Unreadable,
    /// It ran no test where it ran some before.
    NoTestsRan,
    /// It runs fewer tests than with the tests as they were.
    FewerTests,
}

impl GoalProblem {
    const fn word(self) -> &'static str {
        match self {
            Self::Unreadable => "goal",
            Self::NoTestsRan => "no_tests_ran",
            Self::FewerTests => "vanished",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The side that is merged into.
    Ours,
    /// The side that is merged in.
    Theirs,
}

impl Side {
    pub const BOTH: [Self; 2] = [Self::Ours, Self::Theirs];

    /// The word for it, as git uses it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Theirs => "theirs",
        }
    }

    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Ours => Self::Theirs,
            Self::Theirs => Self::Ours,
        }
    }
}

/// Which change of a file a merge lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LostPart {
    /// This change of the side in this file, from 1; 0 for the file as a whole.
    Hunk(u32),
    /// What kind of file it is, or who may execute it.
    FileType,
}

impl fmt::Display for LostPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hunk(number) => number.fmt(f),
            Self::FileType => f.write_str("type"),
        }
    }
}

/// One failure, as a check reported it or as it was found by comparison.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportedFailure {
    id: FailureId,
    fingerprint: Fingerprint,
    /// What it said, shortened.
    pub message: Redacted,
    /// Where, as `file:line`, if it said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

impl ReportedFailure {
    /// A failing test. Its fingerprint covers what it said.
    pub const fn of_test(name: TestName, fingerprint: Fingerprint, message: Redacted) -> Self {
        Self { id: FailureId::Test(name), fingerprint, message, place: None }
    }

    /// A failure that is the same one whatever it says: its fingerprint is what it is called.
    pub fn new(id: FailureId, message: Redacted) -> Self {
        let fingerprint = Fingerprint(id.to_string());
        Self { id, fingerprint, message, place: None }
    }

    /// The same at a place, as `file:line`.
    #[must_use]
    pub fn at(self, place: Option<String>) -> Self {
        Self { place, ..self }
    }

    pub const fn id(&self) -> &FailureId {
        &self.id
    }

    /// What it is compared by from attempt to attempt.
    pub const fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    /// The test's name, if a test fails.
    pub const fn test(&self) -> Option<&TestName> {
        self.id.test()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words that programs outside know. Catches a word that is spelled otherwise.
    #[test]
    fn published_names() {
        let check = |problem| FailureId::Check { check: "unit".into(), problem };
        let goal = |problem| FailureId::Goal { goal: 0, problem };
        let lost = |part| FailureId::LostChange { side: Side::Theirs, path: "a.rs".into(), part };
        for (published, id) in [
            ("pkg adds", FailureId::Test("pkg adds".into())),
            ("f00d", FailureId::Diagnostic("f00d".into())),
            ("unit:f00d", FailureId::Output { check: "unit".into(), fingerprint: "f00d".into() }),
            ("todo.txt is open", FailureId::Declared("todo.txt is open".into())),
            ("timeout:unit", check(CheckProblem::Timeout)),
            ("crash:unit", check(CheckProblem::Crash)),
            ("exit:unit", check(CheckProblem::Exit)),
            ("not_found:unit", check(CheckProblem::NotFound)),
            ("no_tests_ran:unit", check(CheckProblem::NoTestsRan)),
            ("undecided:unit", check(CheckProblem::Undecided)),
            ("incomplete:unit", check(CheckProblem::Incomplete)),
            ("directory:unit", check(CheckProblem::Directory)),
            ("set_up:unit", check(CheckProblem::SetUp)),
            ("environment:unit", check(CheckProblem::Environment)),
            ("rewritten:unit", check(CheckProblem::Rewritten)),
            ("goal:0", goal(GoalProblem::Unreadable)),
            ("no_tests_ran:0", goal(GoalProblem::NoTestsRan)),
            ("vanished:0", goal(GoalProblem::FewerTests)),
            ("vanished:adds", FailureId::Vanished("adds".into())),
            ("weakened:adds", FailureId::Weakened(Box::new(FailureId::Test("adds".into())))),
            ("judge:A2", FailureId::Missing("A2".into())),
            ("conflict:a.rs", FailureId::Conflict("a.rs".into())),
            ("lost:theirs:a.rs#3", lost(LostPart::Hunk(3))),
            ("lost:theirs:a.rs#type", lost(LostPart::FileType)),
            ("scope:ci.yml", FailureId::OutOfScope("ci.yml".into())),
        ] {
            assert_eq!(id.to_string(), published);
            let failure = ReportedFailure::new(id.clone(), Redacted::default());
            assert_eq!(failure.fingerprint().as_str(), published);
            let stored = serde_json::to_string(&failure).unwrap();
            assert_eq!(serde_json::from_str::<ReportedFailure>(&stored).unwrap(), failure, "{published}");
        }
    }

    /// Catches a name that is taken for one of our words.
    #[test]
    fn names_that_look_like_our_words_stay_names() {
        for name in ["vanished:adds", "timeout:unit", "vanished: x", "judge:A2", "scope:ci.yml"] {
            let test = FailureId::Test(name.into());
            assert_eq!(test.test().map(TestName::as_str), Some(name));
            for other in [FailureId::Vanished("adds".into()), FailureId::Declared(name.into())] {
                assert_ne!(test, other, "{name}");
            }
        }
    }
}
