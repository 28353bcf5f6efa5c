//! The layer a value came from, and where in it.
//!
//! Owns the order of layers and how places are written. Refuses values: an origin can be shown to anyone.
//!
//! Invariant: layers compare by strength.

use core::fmt;
use std::path::PathBuf;

use crate::tree::Mark;

/// The layers, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// Built in.
    Default,
    /// The user's file.
    UserFile,
    /// The project's file.
    ProjectFile,
    /// The project's file that is not committed.
    LocalFile,
    /// The environment.
    Environment,
    /// One person's settings from a service.
    Remote,
    /// The command line.
    CommandLine,
}

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Built in.
    Default,
    /// The user's file.
    UserFile {
        /// The file.
        path: PathBuf,
        /// The line in it.
        line: Option<usize>,
    },
    /// The project's file.
    ProjectFile {
        /// The file.
        path: PathBuf,
        /// The line in it.
        line: Option<usize>,
    },
    /// The project's file that is not committed.
    LocalFile {
        /// The file.
        path: PathBuf,
        /// The line in it.
        line: Option<usize>,
    },
    /// The environment.
    Environment {
        /// The variable.
        variable: String,
    },
    /// One person's settings from a service.
    Remote,
    /// The command line.
    CommandLine {
        /// The key as typed. The value stays out, so that no message can repeat a credential.
        key: String,
    },
}

impl Origin {
    /// The layer.
    pub fn layer(&self) -> Layer {
        match self {
            Self::Default => Layer::Default,
            Self::UserFile { .. } => Layer::UserFile,
            Self::ProjectFile { .. } => Layer::ProjectFile,
            Self::LocalFile { .. } => Layer::LocalFile,
            Self::Environment { .. } => Layer::Environment,
            Self::Remote => Layer::Remote,
            Self::CommandLine { .. } => Layer::CommandLine,
        }
    }

    /// The same, at a place in it. Only files have places.
    pub(super) fn at(&self, mark: Option<Mark>) -> Self {
        let mut here = self.clone();
        match &mut here {
            Self::UserFile { line, .. } | Self::ProjectFile { line, .. } | Self::LocalFile { line, .. } => {
                *line = mark.map(|mark| mark.line);
            }
            Self::Default | Self::Environment { .. } | Self::Remote | Self::CommandLine { .. } => {}
        }
        here
    }

    /// The place as errors begin with it: `file:line:column`, which terminals and editors make a link of.
    pub(super) fn place(&self, mark: Option<Mark>) -> String {
        match self {
            Self::UserFile { path, .. } | Self::ProjectFile { path, .. } | Self::LocalFile { path, .. } => {
                mark.map_or_else(|| path.display().to_string(), |mark| format!("{}:{mark}", path.display()))
            }
            Self::Default | Self::Environment { .. } | Self::Remote | Self::CommandLine { .. } => {
                self.to_string()
            }
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::UserFile { path, line }
            | Self::ProjectFile { path, line }
            | Self::LocalFile { path, line } => {
                write!(f, "{}", path.display())?;
                line.map_or(Ok(()), |line| write!(f, ":{line}"))
            }
            Self::Environment { variable } => write!(f, "${variable}"),
            Self::Remote => f.write_str("user config API"),
            Self::CommandLine { key } => write!(f, "--set {key}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_written_as_terminals_link_them() {
        let file = Origin::LocalFile { path: "a/config.yaml".into(), line: None };
        let mark = Some(Mark { line: 3, column: 5 });
        assert_eq!(file.place(mark), "a/config.yaml:3:5");
        assert_eq!(file.place(None), "a/config.yaml");
        assert_eq!(file.at(mark).to_string(), "a/config.yaml:3");
        assert_eq!(file.at(mark).layer(), Layer::LocalFile);
        for (origin, written, layer) in [
            (Origin::Default, "default", Layer::Default),
            (Origin::Environment { variable: "X".into() }, "$X", Layer::Environment),
            (Origin::Remote, "user config API", Layer::Remote),
            (Origin::CommandLine { key: "a.b".into() }, "--set a.b", Layer::CommandLine),
        ] {
            assert_eq!((origin.at(mark).place(mark), origin.layer()), (written.to_owned(), layer));
        }
    }
}
