//! Why the settings could not be loaded. All errors are collected: someone who corrects a configuration wants to see
//! everything at once.
//!
//! Invariant: an error names the file, variable or flag it is about, and shows no credential.

use core::fmt;
use std::path::Path;

use thiserror::Error;

use super::origin::Origin;
use crate::parse::ParseError;
use crate::schema::Problem;

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ConfigError {
    /// Something must be corrected at this place: a file (with line and column), a variable or a flag.
    #[error("{place}: {message}")]
    Invalid { place: String, message: String },
    /// A variable looks like a setting and is none. Not an error if a setting names it as the holder of a key.
    #[error("${variable}: unknown setting{}", suggestion(nearest.as_deref()))]
    UnknownVariable { variable: String, nearest: Option<String> },
}

impl ConfigError {
    pub(super) fn new(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Invalid { place: place.into(), message: message.into() }
    }

    pub(super) fn in_file(path: &Path, message: impl Into<String>) -> Self {
        Self::new(path.display().to_string(), message)
    }

    pub(super) fn parsing(origin: &Origin, error: ParseError) -> Self {
        Self::new(origin.place(error.position), error.message)
    }

    /// A flag names its key already, so the message does not repeat it.
    pub(super) fn invalid_value(origin: &Origin, problem: &Problem) -> Self {
        let is_named = matches!(origin, Origin::CommandLine { key } if *key == problem.path);
        let message = if is_named { problem.kind.to_string() } else { problem.to_string() };
        Self::new(origin.place(problem.position), message)
    }
}

fn suggestion(nearest: Option<&str>) -> String {
    match nearest {
        Some(nearest) => format!("; did you mean `{nearest}`?"),
        None => "; unset it, or rename it if it is not meant for Fixpoint".to_owned(),
    }
}

/// All errors; at least one.
#[derive(Debug)]
pub struct ConfigErrors {
    first: Box<ConfigError>,
    rest: Vec<ConfigError>,
}

impl ConfigErrors {
    /// Nothing if there are no errors.
    pub(super) fn from_all(errors: Vec<ConfigError>) -> Option<Self> {
        let mut errors = errors.into_iter();
        let first = Box::new(errors.next()?);
        Some(Self { first, rest: errors.collect() })
    }

    pub fn iter(&self) -> impl Iterator<Item = &ConfigError> {
        core::iter::once(&*self.first).chain(&self.rest)
    }
}

impl From<ConfigError> for ConfigErrors {
    fn from(first: ConfigError) -> Self {
        Self { first: Box::new(first), rest: Vec::new() }
    }
}

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.first)?;
        self.rest.iter().try_for_each(|error| write!(f, "\n{error}"))
    }
}

impl core::error::Error for ConfigErrors {}
