//! What was detected in a repository, as plain data.

use fixpoint_vocabulary::Text;
use fixpoint_vocabulary::settings::Check;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DetectedProject {
    /// Their names differ.
    pub checks: Vec<DetectedCheck>,
    /// Commands that prepare a new workspace, in order.
    pub setup: Vec<String>,
    /// Files that the project needs and git ignores.
    pub copy: Vec<String>,
    /// What could have become a check or a set-up command and did not.
    pub skipped: Vec<Skipped>,
    /// For people: what could not be read, what to do.
    pub notes: Vec<Text>,
    /// Checks that were tried and cannot be used. They are written as comments.
    pub unusable: Vec<UnusableCheck>,
}

/// Something that was not used, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// A file, a directory, or a script of a file.
    pub what: String,
    pub why: Text,
}

/// A check that was tried and cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnusableCheck {
    pub detected: DetectedCheck,
    pub why: Text,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DetectedCheck {
    pub check: Check,
    /// The files that led to it, such as `Cargo.toml`.
    pub because: String,
}
