//! Why a command ended without its result, by what the user can do about it. Each message stays on one line unless
//! it lists several problems.

use std::io;
use std::path::PathBuf;

use fixpoint_config::ConfigErrors;

/// Why a command ended without its result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The input is wrong: correct it.
    #[error("{0}")]
    BadInput(String),
    /// The configuration is wrong: correct it.
    #[error("{0}")]
    Configuration(#[from] ConfigErrors),
    /// A file could not be read: name another, or make it readable.
    #[error("cannot read {}: {source}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Standard input could not be read.
    #[error("cannot read standard input: {0}")]
    NoInput(io::Error),
    /// Standard output could not be written, as on a full disk: make space, or write elsewhere.
    #[error("cannot write the result: {0}")]
    NoOutput(io::Error),
    /// Whoever read the output has gone.
    #[error("nobody reads the output any more")]
    ReaderGone,
    /// Fixpoint itself is at fault.
    #[error("internal error: {0}; please report it")]
    Internal(String),
}

impl Failure {
    /// The exit code: 2 for what the user can correct, 1 for what is ours or the machine's.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::BadInput(_) | Self::Configuration(_) | Self::Unreadable { .. } => 2,
            Self::NoInput(_) | Self::NoOutput(_) | Self::ReaderGone | Self::Internal(_) => 1,
        }
    }
}

impl From<serde_json::Error> for Failure {
    /// Only for values of our own: what a user wrote is read with an error that names its place.
    fn from(error: serde_json::Error) -> Self {
        Self::Internal(error.to_string())
    }
}
