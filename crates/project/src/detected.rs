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
    /// For people: what was left out and why, what could not be read.
    pub notes: Vec<Text>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DetectedCheck {
    pub check: Check,
    /// The files that led to it, such as `Cargo.toml`.
    pub because: String,
}
