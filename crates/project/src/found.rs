//! What was found in a repository, as plain data. Refuses to say how it was found.

use fixpoint_vocabulary::Text;
use fixpoint_vocabulary::settings::Check;

/// What a repository is made of.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Found {
    /// Commands whose outcome is evidence, under names that differ.
    pub checks: Vec<FoundCheck>,
    /// Commands that prepare a new workspace, in order.
    pub setup: Vec<String>,
    /// Files git ignores that the project needs.
    pub copy: Vec<String>,
    /// What a person should know: what was left out and why, what could not be read.
    pub notes: Vec<Text>,
}

/// A check, and why it is believed to be one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundCheck {
    /// The check, as it would be configured.
    pub check: Check,
    /// The files it was concluded from, such as `Cargo.toml`.
    pub because: String,
}
