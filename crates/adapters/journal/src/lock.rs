//! The run's lock: one process at a time, for as long as it lives.
//!
//! Owns the lock file. The kernel holds the lock and releases it when the process ends, however it ends, so that a
//! dead process's lock is simply free. What is written in the file is for the message to the second process
//! only: whether the run is locked is never concluded from it.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, SystemTime};

use nix::errno::Errno;
use nix::sys::signal::kill;
use nix::unistd::Pid;

use crate::durable::{create_directory, open_or_create_file};

/// The name of the lock in the directory of a run.
pub const LOCK_FILE: &str = "lock";
/// The holder writes its process id right after it has the lock; a faster second process reads again.
const LOOKS: u32 = 20;
const LOOK_PAUSE: Duration = Duration::from_millis(10);
/// How often the file may be replaced between its opening and its locking.
const MAX_TRIES: u32 = 8;

#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process has the run: wait for it, or stop it.
    #[error("another process has this run{}", holder(.pid))]
    Held {
        pid: Option<u32>,
        /// By the clock of the other process.
        since: Option<SystemTime>,
    },
    /// Something else is in its place, which could block or lead elsewhere: move it away.
    #[error("cannot lock the run: {} is {kind} and not a file; move it away", .path.display())]
    NotAFile { path: PathBuf, kind: &'static str },
    #[error("cannot lock the run: {0}")]
    Unavailable(#[from] io::Error),
}

fn holder(pid: &Option<u32>) -> String {
    pid.map(|pid| format!(": process {pid}")).unwrap_or_default()
}

/// Held until this is dropped or the process ends.
#[derive(Debug)]
pub struct RunLock {
    file: File,
}

impl RunLock {
    /// Takes the run, creating its directory if it is missing. Never waits for its holder to end, only for those who
    /// just look.
    pub fn acquire(directory: &Path) -> Result<Self, LockError> {
        create_directory(directory)?;
        let path = directory.join(LOCK_FILE);
        let (mut tries, mut looks) = (0, 0);
        while tries < MAX_TRIES {
            require_file(&path)?;
            let mut file = open_or_create_file(&path)?;
            match file.try_lock() {
                Ok(()) if is_same(&file, &path)? => {
                    file.set_len(0)?;
                    file.write_all(Holder::this().to_line().as_bytes())?;
                    return Ok(Self { file });
                }
                // The file was replaced before it was locked: the lock of the one that is gone is worth nothing.
                Ok(()) => tries += 1,
                Err(TryLockError::Error(error)) => return Err(error.into()),
                Err(TryLockError::WouldBlock) => match living_holder(&path) {
                    Some(Holder { pid, since }) => return Err(LockError::Held { pid: Some(pid), since }),
                    None if looks >= LOOKS => return Err(LockError::Held { pid: None, since: None }),
                    None => {
                        looks += 1;
                        sleep(LOOK_PAUSE);
                    }
                },
            }
        }
        Err(io::Error::other("the lock file is replaced again and again").into())
    }

    /// Does not take the lock, and changes nothing.
    pub fn look(directory: &Path) -> Result<(), LockError> {
        let path = directory.join(LOCK_FILE);
        require_file(&path)?;
        let file = match File::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            opened => opened?,
        };
        match file.try_lock_shared() {
            Ok(()) => Ok(()),
            Err(TryLockError::Error(error)) => Err(error.into()),
            Err(TryLockError::WouldBlock) => {
                let found = (0..LOOKS).find_map(|_| {
                    living_holder(&path).or_else(|| {
                        sleep(LOOK_PAUSE);
                        None
                    })
                });
                Err(LockError::Held {
                    pid: found.map(|holder| holder.pid),
                    since: found.and_then(|holder| holder.since),
                })
            }
        }
    }
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // A courtesy to people who read the file. The lock itself goes with the handle.
        drop(self.file.set_len(0));
    }
}

/// A FIFO would block whoever opens it, a link would lead elsewhere, and a device may do anything.
fn require_file(path: &Path) -> Result<(), LockError> {
    let found = match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        found => found?.file_type(),
    };
    let kind = match () {
        () if found.is_file() => return Ok(()),
        () if found.is_dir() => "a directory",
        () if found.is_symlink() => "a symbolic link",
        () if found.is_fifo() => "a FIFO",
        () if found.is_socket() => "a socket",
        () => "a device",
    };
    Err(LockError::NotAFile { path: path.to_path_buf(), kind })
}

fn is_same(file: &File, path: &Path) -> io::Result<bool> {
    let identity = |metadata: &fs::Metadata| (metadata.dev(), metadata.ino());
    let locked = identity(&file.metadata()?);
    match fs::metadata(path) {
        Ok(there) => Ok(identity(&there) == locked),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Holder {
    pid: u32,
    since: Option<SystemTime>,
}

impl Holder {
    fn this() -> Self {
        Self { pid: std::process::id(), since: Some(SystemTime::now()) }
    }

    fn to_line(self) -> String {
        let since = self.since.and_then(|since| since.duration_since(SystemTime::UNIX_EPOCH).ok());
        format!("{} {}\n", self.pid, since.unwrap_or_default().as_secs())
    }

    /// `None` if the line is incomplete or of another program.
    fn from_line(text: &str) -> Option<Self> {
        let (pid, since) = text.strip_suffix('\n')?.split_once(' ')?;
        let seconds = since.parse().ok().map(Duration::from_secs);
        let since = seconds.and_then(|since| SystemTime::UNIX_EPOCH.checked_add(since));
        Some(Self { pid: pid.parse().ok()?, since })
    }

    /// A dead process holds no lock: the line is of an earlier holder.
    fn is_alive(self) -> bool {
        let pid = i32::try_from(self.pid).ok().filter(|pid| *pid > 0);
        pid.is_some_and(|pid| kill(Pid::from_raw(pid), None) != Err(Errno::ESRCH))
    }
}

fn living_holder(path: &Path) -> Option<Holder> {
    Holder::from_line(&fs::read_to_string(path).ok()?).filter(|holder| holder.is_alive())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_holder_writes_is_read_and_nothing_else() {
        let holder = Holder { pid: 42, since: Some(SystemTime::UNIX_EPOCH + Duration::from_secs(7)) };
        assert_eq!(Holder::from_line(&holder.to_line()), Some(holder));
        for text in ["", "42", "42 7", "x 7\n", "-1 7\n", "99999999999 7\n", "\n"] {
            assert_eq!(Holder::from_line(text), None, "{text:?}");
        }
        assert_eq!(Holder::from_line("42 x\n"), Some(Holder { pid: 42, since: None }));
    }

    #[test]
    fn what_is_no_file_is_refused_at_once() {
        type Make = fn(&Path);
        let make: [(&str, Make); 4] = [
            ("a directory", |path| fs::create_dir(path).unwrap()),
            ("a symbolic link", |path| std::os::unix::fs::symlink("/dev/null", path).unwrap()),
            ("a FIFO", |path| nix::unistd::mkfifo(path, nix::sys::stat::Mode::S_IRWXU).unwrap()),
            ("a socket", |path| drop(std::os::unix::net::UnixListener::bind(path).unwrap())),
        ];
        for (kind, make) in make {
            let directory = tempfile::tempdir().unwrap();
            make(&directory.path().join(LOCK_FILE));
            let looked = RunLock::look(directory.path()).unwrap_err().to_string();
            let acquired = RunLock::acquire(directory.path()).unwrap_err().to_string();
            assert!(looked.contains(kind) && looked == acquired, "{kind}: {looked}, {acquired}");
        }
    }

    #[test]
    fn numbers_that_are_no_process_are_not_alive() {
        let is_alive = |pid| Holder { pid, since: None }.is_alive();
        assert!(is_alive(std::process::id()));
        assert!(!is_alive(0) && !is_alive(u32::MAX) && !is_alive(i32::MAX.unsigned_abs()));
    }
}
