//! Large payloads in memory, for what is simulated: like files that survive every crash.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use fixpoint_ports::{BlobError, BlobId, Blobs};

#[derive(Debug, Default)]
pub struct MemoryBlobs(Mutex<BTreeMap<BlobId, Vec<u8>>>);

impl Blobs for MemoryBlobs {
    fn put(&self, content: &[u8]) -> Result<BlobId, BlobError> {
        let id = BlobId(blake3::hash(content).to_hex().to_string());
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.insert(id.clone(), content.to_vec());
        Ok(id)
    }

    fn get(&self, id: &BlobId) -> Result<Vec<u8>, BlobError> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get(id).cloned().ok_or_else(|| BlobError::Missing(id.clone()))
    }
}
