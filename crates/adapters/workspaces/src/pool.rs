//! Which slot a request gets.
//!
//! Owns the locks: one file per slot, locked by the kernel for whoever holds it and released by the kernel when that
//! process ends, however it ends. Programs that are started meanwhile inherit the lock, so that a slot whose holder
//! was killed stays locked until the last of them has ended: nobody else's files are ever written by a dead run's
//! agent. Refuses more slots than were asked for. Invariant: a directory of the pool is touched only under its lock.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use fixpoint_ports::{Cancel, CommitId, Purpose, SlotRequest, WorkspaceError};
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::sys::signal::kill;
use nix::unistd::Pid;

use crate::files::io_error;
use crate::local::Inner;
use crate::marks::Mark;
use crate::slot::LocalSlot;

/// How often other processes and requests to stop are looked at; our own slots wake us at once.
const POLL: Duration = Duration::from_millis(50);
/// How long programs of a killed process are waited for. Their supervisors end them sooner, if they can.
const FAREWELL: Duration = Duration::from_secs(15);

/// A slot's place, and the proof that it is ours.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) directory: PathBuf,
    pub(crate) lock: File,
}

impl Drop for Place {
    fn drop(&mut self) {
        // Closing the file is not enough: a program that another thread has just started may have inherited it.
        drop(self.lock.unlock());
    }
}

/// Waits for a slot and brings it to a commit.
pub(crate) fn acquire(
    inner: &Arc<Inner>,
    request: &SlotRequest<'_>,
    cancel: &Cancel,
) -> Result<LocalSlot, WorkspaceError> {
    let mark = request.unfinished.map(|reference| Mark::new(request.at, reference)).transpose()?;
    let deadline = Instant::now() + inner.options.wait;
    loop {
        if let Some(place) = inner.free_place(request.purpose, request.at)? {
            return LocalSlot::prepare(inner, place, request.at, mark.as_ref());
        }
        if cancel.is_asked() {
            return Err(WorkspaceError::Cancelled);
        }
        if Instant::now() >= deadline {
            return Err(WorkspaceError::AllInUse(inner.limit(request.purpose)));
        }
        let guard = inner.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        drop(inner.freed.wait_timeout(guard, POLL));
    }
}

impl Inner {
    pub(crate) fn limit(&self, purpose: Purpose) -> u32 {
        match purpose {
            Purpose::Agent => self.options.agent_slots,
            Purpose::Check => self.options.check_slots,
        }
    }

    /// Locks the free slot that has least to do: one that was at this commit, else one that exists, else a new one.
    fn free_place(&self, purpose: Purpose, at: &CommitId) -> Result<Option<Place>, WorkspaceError> {
        let mut names: Vec<String> = (0..self.limit(purpose)).map(|number| name(purpose, number)).collect();
        names.sort_by_cached_key(|name| match self.last_commit(name) {
            Some(commit) if commit == at.0 => 0,
            Some(_) => 1,
            None => 2,
        });
        for name in names {
            if let Some(mut place) = self.lock(&name)? {
                // For whoever wonders who holds it; the write also dates its last use.
                let mark =
                    place.lock.set_len(0).and_then(|()| writeln!(place.lock, "{}", std::process::id()));
                mark.map_err(io_error(&place.directory))?;
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    fn last_commit(&self, name: &str) -> Option<String> {
        let head = std::fs::read_to_string(self.pool.join(name).join("git/HEAD")).ok()?;
        Some(head.trim_end().to_string())
    }

    /// Locks a slot by its name, if nobody holds it.
    pub(crate) fn lock(&self, name: &str) -> Result<Option<Place>, WorkspaceError> {
        let path = self.pool.join(format!("{name}.lock"));
        let file = OpenOptions::new().create(true).append(true).open(&path).map_err(io_error(&path))?;
        match file.try_lock() {
            Ok(()) => {
                fcntl(&file, FcntlArg::F_SETFD(FdFlag::empty()))
                    .map_err(|errno| io_error(&path)(errno.into()))?;
                Ok(Some(Place { directory: self.pool.join(name), lock: file }))
            }
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(io_error(&path)(error)),
        }
    }

    /// The same; if its holder is dead and only what it started holds it, waits for the end of that.
    pub(crate) fn lock_after_the_dead(&self, name: &str) -> Result<Option<Place>, WorkspaceError> {
        let deadline = Instant::now() + FAREWELL;
        loop {
            let place = self.lock(name)?;
            if place.is_some() || !self.holder_is_dead(name) || Instant::now() >= deadline {
                return Ok(place);
            }
            std::thread::sleep(POLL);
        }
    }

    /// Whether the process that wrote itself into a lock is gone. One that cannot be told is not.
    fn holder_is_dead(&self, name: &str) -> bool {
        let holder = std::fs::read_to_string(self.pool.join(format!("{name}.lock"))).unwrap_or_default();
        let pid = holder.trim_end().parse().ok().filter(|pid: &i32| *pid > 0);
        pid.is_some_and(|pid| kill(Pid::from_raw(pid), None) == Err(Errno::ESRCH))
    }
}

fn name(purpose: Purpose, number: u32) -> String {
    match purpose {
        Purpose::Agent => format!("agent-{number}"),
        Purpose::Check => format!("check-{number}"),
    }
}
