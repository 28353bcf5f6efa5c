//! Locks that checks name: two that share a port or a database never run at the same time, in any process.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use fixpoint_ports::Cancel;

const POLL: Duration = Duration::from_millis(50);

/// How waiting for a lock ended.
#[derive(Debug)]
pub(crate) enum LockOutcome {
    /// It is held until the file is dropped.
    Acquired(File),
    /// Somebody else held it for too long.
    TimedOut,
    Cancelled,
}

/// Waits for a lock. The kernel releases it when its holder ends, however it ends.
pub(crate) fn acquire(
    directory: &Path,
    name: &str,
    patience: Duration,
    cancel: &Cancel,
) -> io::Result<LockOutcome> {
    fs::create_dir_all(directory)?;
    // A name may hold anything; its hash is a file name everywhere.
    let path = directory.join(format!("{}.lock", blake3::hash(name.as_bytes()).to_hex()));
    let file = OpenOptions::new().create(true).append(true).open(path)?;
    let deadline = Instant::now() + patience;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(LockOutcome::Acquired(file)),
            Err(TryLockError::WouldBlock) if cancel.is_asked() => return Ok(LockOutcome::Cancelled),
            Err(TryLockError::WouldBlock) if Instant::now() >= deadline => return Ok(LockOutcome::TimedOut),
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
        let acquire =
            |patience| acquire(directory.path(), "port 80/..", patience, &Cancel::default()).unwrap();
        let held = acquire(Duration::ZERO);
        assert!(matches!(held, LockOutcome::Acquired(_)));
        assert!(matches!(acquire(Duration::ZERO), LockOutcome::TimedOut));
        drop(held);
        assert!(matches!(acquire(Duration::ZERO), LockOutcome::Acquired(_)));
    }

    #[test]
    fn a_stop_ends_the_waiting() {
        let directory = tempfile::tempdir().unwrap();
        let cancel = Cancel::default();
        let _held = acquire(directory.path(), "x", Duration::ZERO, &cancel).unwrap();
        cancel.ask();
        assert!(matches!(
            acquire(directory.path(), "x", Duration::from_secs(3600), &cancel).unwrap(),
            LockOutcome::Cancelled
        ));
    }
}
