//! Why a journal could not be opened, by what can be done about it.

use std::io;
use std::path::PathBuf;

use crate::durable::is_full;
use crate::findings::Damage;

/// Why a journal could not be opened. Nothing was changed in the file.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// There is no journal: begin one, or look elsewhere.
    #[error("there is no journal at {}", .0.display())]
    Missing(PathBuf),
    /// There is one already: open it.
    #[error("there is a journal at {} already", .0.display())]
    Exists(PathBuf),
    /// It is not what was written: repair it, knowing what is lost.
    #[error("the journal is {0}")]
    Damaged(Damage),
    /// A newer version of this program wrote it: use that one.
    #[error("the journal has format version {found}, and this version reads up to {known}: use a newer one")]
    Newer { found: u32, known: u32 },
    #[error("a journal of {bytes} bytes is larger than the {limit} allowed")]
    TooLarge { bytes: u64, limit: u64 },
    /// The disk is full: make space and open it again.
    #[error("no space left to open the journal: {0}")]
    NoSpace(io::Error),
    #[error("cannot open the journal: {0}")]
    Unavailable(io::Error),
}

impl From<io::Error> for OpenError {
    fn from(error: io::Error) -> Self {
        if is_full(&error) { Self::NoSpace(error) } else { Self::Unavailable(error) }
    }
}
