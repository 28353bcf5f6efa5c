//! Large payloads on files, each named by the BLAKE3 hash of its content, in 256 directories by its first byte.
//!
//! Owns the directory of blobs. Invariant: under a blob's name there is its whole content or nothing, whenever the
//! power fails, because it is written under another name, flushed, and then renamed. What is there anyway and does
//! not match its name was damaged later, is never given out, and is replaced when the same content is kept again.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use fixpoint_ports::{BlobError, BlobId, Blobs};

use crate::durable::{create_directory, create_file, is_full, parent, remove_if_there, sync_directory};

/// The largest blob. Output of agents is capped below this before it gets here.
pub const MAX_BLOB_BYTES: usize = 256 << 20;
/// Blobs are written here before they get their name.
const UNFINISHED: &str = "unfinished";
/// How often another process's clean-up may remove the unfinished file between its creation and its lock.
const MAX_TRIES: u32 = 8;

/// A directory of blobs. Threads and processes may share it.
#[derive(Debug)]
pub struct FileBlobs {
    root: PathBuf,
    /// Numbers the unfinished files of this process.
    count: AtomicU64,
}

impl FileBlobs {
    /// Opens a directory of blobs, creating it if it is missing, and removes what dead writers left unfinished.
    pub fn open(root: &Path) -> Result<Self, BlobError> {
        prepare(root).map_err(unavailable)?;
        Ok(Self { root: root.to_path_buf(), count: AtomicU64::new(0) })
    }

    /// A directory of blobs to read from. Nothing is created; one that is missing has no blobs.
    pub fn to_read(root: &Path) -> Self {
        Self { root: root.to_path_buf(), count: AtomicU64::new(0) }
    }

    /// `None` if it is not the name of a blob.
    fn path(&self, BlobId(name): &BlobId) -> Option<PathBuf> {
        let is_hash = name.len() == blake3::OUT_LEN * 2;
        let is_hexadecimal = name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let (directory, file) = name.split_at_checked(2)?;
        (is_hash && is_hexadecimal).then(|| self.root.join(directory).join(file))
    }

    fn keep(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        let directory = parent(path);
        create_directory(directory)?;
        let (unfinished, mut file) = self.create_unfinished()?;
        let written = file.write_all(content).and_then(|()| file.sync_all());
        if let Err(error) = written.and_then(|()| fs::rename(&unfinished, path)) {
            // On a full disk the part that was written is the space that someone is waiting for.
            drop(remove_if_there(&unfinished));
            return Err(error);
        }
        sync_directory(directory)
    }

    /// The file is locked while its writer lives.
    fn create_unfinished(&self) -> io::Result<(PathBuf, File)> {
        for _ in 0..MAX_TRIES {
            let number = self.count.fetch_add(1, Ordering::Relaxed);
            let path = self.root.join(UNFINISHED).join(format!("{}-{number}", std::process::id()));
            let file = match create_file(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                created => created?,
            };
            match file.try_lock() {
                Ok(()) if path.exists() => return Ok((path, file)),
                Ok(()) | Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        Err(io::Error::other("the file of an unfinished blob is taken away again and again"))
    }
}

impl Blobs for FileBlobs {
    fn put(&self, content: &[u8]) -> Result<BlobId, BlobError> {
        if content.len() > MAX_BLOB_BYTES {
            return Err(unavailable(io::ErrorKind::FileTooLarge.into()));
        }
        let id = BlobId(blake3::hash(content).to_hex().to_string());
        let path = self.path(&id).ok_or_else(|| BlobError::Missing(id.clone()))?;
        match read(&path) {
            // Whoever wrote it may not have made its name durable yet.
            Ok(Some(there)) if there == content => sync_directory(parent(&path)),
            Ok(_) => self.keep(&path, content),
            Err(error) => Err(error),
        }
        .map_err(unavailable)?;
        Ok(id)
    }

    fn get(&self, id: &BlobId) -> Result<Vec<u8>, BlobError> {
        let missing = || BlobError::Missing(id.clone());
        let content = read(&self.path(id).ok_or_else(missing)?).map_err(unavailable)?.ok_or_else(missing)?;
        if blake3::hash(&content).to_hex().as_str() == id.0 {
            Ok(content)
        } else {
            Err(BlobError::Damaged(id.clone()))
        }
    }
}

/// Reads at most one byte more than the largest blob; `None` if there is no file.
fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let length = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
    let mut content = Vec::with_capacity(length.min(MAX_BLOB_BYTES));
    file.take(MAX_BLOB_BYTES as u64 + 1).read_to_end(&mut content)?;
    Ok(Some(content))
}

fn prepare(root: &Path) -> io::Result<()> {
    let unfinished = root.join(UNFINISHED);
    create_directory(&unfinished)?;
    for entry in fs::read_dir(&unfinished)? {
        let path = entry?.path();
        // A file that cannot be opened or locked is in the hands of a writer, or gone.
        if File::open(&path).is_ok_and(|file| file.try_lock().is_ok()) {
            remove_if_there(&path)?;
        }
    }
    // A process that died may have made directories whose names are not durable yet.
    sync_directory(root)
}

fn unavailable(error: io::Error) -> BlobError {
    if is_full(&error) { BlobError::NoSpace(error) } else { BlobError::Unavailable(error) }
}
