//! Locks that checks name: two that share a port or a database never run at the same time, in any process.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use fixpoint_ports::Cancel;

const POLL: Duration = Duration::from_millis(50);

/// How asking for a lock ended.
#[derive(Debug)]
pub(crate) enum Asked {
    /// It is held until the file is dropped.
    Held(File),
    /// Somebody else held it for too long.
    Busy,
    /// A stop was asked for.
    Cancelled,
}

/// Waits for a lock. The kernel releases it when its holder ends, however it ends.
pub(crate) fn ask(directory: &Path, name: &str, patience: Duration, cancel: &Cancel) -> io::Result<Asked> {
    fs::create_dir_all(directory)?;
    // A name may hold anything; its hash is a file name everywhere.
    let path = directory.join(format!("{}.lock", blake3::hash(name.as_bytes()).to_hex()));
    let file = OpenOptions::new().create(true).append(true).open(path)?;
    let deadline = Instant::now() + patience;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Asked::Held(file)),
            Err(TryLockError::WouldBlock) if cancel.is_asked() => return Ok(Asked::Cancelled),
            Err(TryLockError::WouldBlock) if Instant::now() >= deadline => return Ok(Asked::Busy),
            Err(TryLockError::WouldBlock) => std::thread::sleep(POLL),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_held_by_one_and_then_by_the_next() {
        let directory = tempfile::tempdir().unwrap();
        let ask = |patience| ask(directory.path(), "port 80/..", patience, &Cancel::default()).unwrap();
        let held = ask(Duration::ZERO);
        assert!(matches!(held, Asked::Held(_)));
        assert!(matches!(ask(Duration::ZERO), Asked::Busy));
        drop(held);
        assert!(matches!(ask(Duration::ZERO), Asked::Held(_)));
    }

    #[test]
    fn a_stop_ends_the_waiting() {
        let directory = tempfile::tempdir().unwrap();
        let cancel = Cancel::default();
        let _held = ask(directory.path(), "x", Duration::ZERO, &cancel).unwrap();
        cancel.ask();
        assert!(matches!(
            ask(directory.path(), "x", Duration::from_secs(3600), &cancel).unwrap(),
            Asked::Cancelled
        ));
    }
}
