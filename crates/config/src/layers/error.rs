//! Why there is no configuration.
//!
//! Owns the errors of loading, told apart by what one does about them. Refuses to stop at the first: whoever
//! repairs a configuration wants to see everything at once.
//!
//! Invariant: an error names the file, variable or flag it is about, and shows no credential.

use core::fmt;
use std::io;
use std::path::PathBuf;

use thiserror::Error;

use super::origin::Origin;
use crate::shape::Problem;
use crate::text::TextError;

/// One reason why there is no configuration.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// A file that is there cannot be read: change its permissions, or what it is.
    #[error("{}: cannot be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// One layer has two files: remove one.
    #[error("{} and {} both exist; keep one of them", first.display(), second.display())]
    TwoFiles {
        /// One file.
        first: PathBuf,
        /// The other.
        second: PathBuf,
    },
    /// A text is not the language it should be: correct it there.
    #[error("{}: {}", origin.place(error.mark), error.kind)]
    Text {
        /// The file, variable or flag.
        origin: Origin,
        /// What is wrong, and where.
        error: TextError,
    },
    /// A value is not acceptable: correct it there.
    #[error("{}: {problem}", origin.place(problem.mark))]
    Value {
        /// The file, variable or flag.
        origin: Origin,
        /// What is wrong, and where.
        problem: Box<Problem>,
    },
    /// A variable that looks like a setting is none: rename or unset it.
    #[error("${variable}: no such setting{}", suggestion(nearest.as_deref()))]
    UnknownVariable {
        /// The variable.
        variable: String,
        /// The variable that was probably meant.
        nearest: Option<String>,
    },
    /// A flag that is not of the form `KEY=VALUE`: type it again.
    #[error("--set {text}: expected KEY=VALUE, such as `--set planning.reflection.trigger_interval=5`")]
    SetForm {
        /// What was typed, cut and in quotes.
        text: String,
    },
    /// The layers are acceptable one by one and not together.
    #[error("the settings do not fit together: {message}")]
    Together {
        /// Why not.
        message: String,
    },
}

fn suggestion(nearest: Option<&str>) -> String {
    nearest.map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default()
}

/// Everything that is wrong; at least one error.
#[derive(Debug)]
pub struct ConfigErrors {
    first: Box<ConfigError>,
    rest: Vec<ConfigError>,
}

impl ConfigErrors {
    /// The errors, unless there are none.
    pub(super) fn from_all(errors: Vec<ConfigError>) -> Option<Self> {
        let mut errors = errors.into_iter();
        let first = Box::new(errors.next()?);
        Some(Self { first, rest: errors.collect() })
    }

    /// The first of them.
    pub fn first(&self) -> &ConfigError {
        &self.first
    }

    /// All of them, weakest layer first.
    pub fn iter(&self) -> impl Iterator<Item = &ConfigError> {
        core::iter::once(self.first()).chain(&self.rest)
    }
}

impl From<ConfigError> for ConfigErrors {
    fn from(first: ConfigError) -> Self {
        Self { first: Box::new(first), rest: Vec::new() }
    }
}

impl fmt::Display for ConfigErrors {
    /// One line for each.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.first)?;
        self.rest.iter().try_for_each(|error| write!(f, "\n{error}"))
    }
}

impl core::error::Error for ConfigErrors {}
