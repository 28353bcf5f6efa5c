//! Large payloads, named by what they hold. A blob is on the disk before any record names it.

use fixpoint_vocabulary::work::BlobId;

/// Why a blob could not be kept or given back.
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    /// There is none of that name.
    #[error("blob {0} is missing")]
    Missing(BlobId),
    /// Its content is not what its name says.
    #[error("blob {0} is damaged")]
    Damaged(BlobId),
    /// The disk is full: make space and resume.
    #[error("no space left to keep a blob: {0}")]
    NoSpace(std::io::Error),
    /// Anything else the disk says.
    #[error("cannot access a blob: {0}")]
    Unavailable(std::io::Error),
}

/// A place for large payloads.
pub trait Blobs: std::fmt::Debug + Send + Sync {
    /// Keeps a payload durably and names it. Keeping the same payload again costs no space.
    fn put(&self, content: &[u8]) -> Result<BlobId, BlobError>;
    /// Gives a payload back, checked against its name.
    fn get(&self, id: &BlobId) -> Result<Vec<u8>, BlobError>;
}
