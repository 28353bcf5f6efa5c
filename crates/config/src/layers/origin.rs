//! The layer a value comes from, and where in it. An origin holds no value, so it can be shown to anyone.

use core::fmt;
use std::path::PathBuf;

use crate::tree::Position;

/// The layers, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    Default,
    UserFile,
    ProjectFile,
    /// The project's file that is not committed.
    LocalFile,
    Environment,
    UserConfigApi,
    CommandLine,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    Default,
    UserFile {
        path: PathBuf,
        line: Option<usize>,
    },
    ProjectFile {
        path: PathBuf,
        line: Option<usize>,
    },
    LocalFile {
        path: PathBuf,
        line: Option<usize>,
    },
    Environment {
        variable: String,
    },
    UserConfigApi,
    /// Holds the key as typed, and not the value: no message can repeat a credential.
    CommandLine {
        key: String,
    },
}

impl Origin {
    pub fn layer(&self) -> Layer {
        match self {
            Self::Default => Layer::Default,
            Self::UserFile { .. } => Layer::UserFile,
            Self::ProjectFile { .. } => Layer::ProjectFile,
            Self::LocalFile { .. } => Layer::LocalFile,
            Self::Environment { .. } => Layer::Environment,
            Self::UserConfigApi => Layer::UserConfigApi,
            Self::CommandLine { .. } => Layer::CommandLine,
        }
    }

    /// The same origin with a line, if it is a file.
    pub(super) fn at(&self, position: Option<Position>) -> Self {
        let mut origin = self.clone();
        match &mut origin {
            Self::UserFile { line, .. } | Self::ProjectFile { line, .. } | Self::LocalFile { line, .. } => {
                *line = position.map(|position| position.line);
            }
            Self::Default | Self::Environment { .. } | Self::UserConfigApi | Self::CommandLine { .. } => {}
        }
        origin
    }

    /// How errors begin: `file:line:column`, which terminals and editors turn into a link.
    pub(super) fn place(&self, position: Option<Position>) -> String {
        match self {
            Self::UserFile { path, .. } | Self::ProjectFile { path, .. } | Self::LocalFile { path, .. } => {
                position.map_or_else(
                    || path.display().to_string(),
                    |position| format!("{}:{position}", path.display()),
                )
            }
            Self::Default | Self::Environment { .. } | Self::UserConfigApi | Self::CommandLine { .. } => {
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
            Self::UserConfigApi => f.write_str("user config API"),
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
        let position = Some(Position { line: 3, column: 5 });
        assert_eq!(file.place(position), "a/config.yaml:3:5");
        assert_eq!(file.place(None), "a/config.yaml");
        assert_eq!(file.at(position).to_string(), "a/config.yaml:3");
        assert_eq!(file.at(position).layer(), Layer::LocalFile);
        for (origin, written, layer) in [
            (Origin::Default, "default", Layer::Default),
            (Origin::Environment { variable: "X".into() }, "$X", Layer::Environment),
            (Origin::UserConfigApi, "user config API", Layer::UserConfigApi),
            (Origin::CommandLine { key: "a.b".into() }, "--set a.b", Layer::CommandLine),
        ] {
            assert_eq!((origin.at(position).place(position), origin.layer()), (written.to_owned(), layer));
        }
    }
}
