//! Which slot a request gets.
//!
//! Owns the locks: one file per slot, locked by the kernel for the process that uses it, and released by the kernel when
//! that process ends, however it ends. Programs that it starts inherit the lock, so that a slot whose user was killed
//! stays locked until the last of them has ended: no agent of a dead run writes into a slot of another. Refuses more
//! slots than the options allow. Invariant: the directory of a slot is changed only by who holds its lock.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use fixpoint_ports::{Cancel, CommitId, SlotPurpose, SlotRequest, WorkspaceError};
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::sys::signal::kill;
use nix::unistd::Pid;

use crate::files::io_error;
use crate::slot::GitSlot;
use crate::slot_files::UnfinishedMarker;
use crate::workspaces::Inner;

/// How often locks of other processes and requests to stop are polled; a slot of this process wakes us at once.
const POLL: Duration = Duration::from_millis(50);
/// How long to wait for programs that a killed process has started. Their supervisors stop them sooner, if they can.
const ORPHANS_WAIT: Duration = Duration::from_secs(15);

/// The directory of a slot whose lock we hold.
#[derive(Debug)]
pub(crate) struct LockedSlot {
    pub(crate) directory: PathBuf,
    pub(crate) lock: File,
}

impl Drop for LockedSlot {
    fn drop(&mut self) {
        // Closing the file is not enough: a program that another thread has just started may have inherited it.
        drop(self.lock.unlock());
    }
}

/// Waits for a slot and checks out a commit in it.
pub(crate) fn acquire(
    inner: &Arc<Inner>,
    request: &SlotRequest<'_>,
    cancel: &Cancel,
) -> Result<GitSlot, WorkspaceError> {
    let marker = request.recover_as.map(|reference| UnfinishedMarker::new(request.at, reference));
    let marker = marker.transpose()?;
    let deadline = Instant::now() + inner.options.wait;
    loop {
        if let Some(slot) = inner.lock_free_slot(request.purpose, request.at)? {
            return GitSlot::prepare(inner, slot, request, marker.as_ref());
        }
        if cancel.is_asked() {
            return Err(WorkspaceError::Cancelled);
        }
        if Instant::now() >= deadline {
            return Err(WorkspaceError::AllInUse(inner.max_slots(request.purpose)));
        }
        let guard = inner.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        drop(inner.slot_freed.wait_timeout(guard, POLL));
    }
}

impl Inner {
    fn max_slots(&self, purpose: SlotPurpose) -> u32 {
        match purpose {
            SlotPurpose::Agent => self.options.agent_slots,
            SlotPurpose::Check => self.options.check_slots,
        }
    }

    /// Locks the free slot that needs the least work: one with this commit, else one that exists, else a new one.
    fn lock_free_slot(
        &self,
        purpose: SlotPurpose,
        at: &CommitId,
    ) -> Result<Option<LockedSlot>, WorkspaceError> {
        let numbers = 0..self.max_slots(purpose);
        let mut names: Vec<String> = numbers.map(|number| slot_name(purpose, number)).collect();
        names.sort_by_cached_key(|name| match self.last_commit(name) {
            Some(commit) if commit == at.0 => 0,
            Some(_) => 1,
            None => 2,
        });
        for name in names {
            if let Some(mut slot) = self.lock(&name)? {
                // Tells others who holds it; the write also dates its last use.
                let written =
                    slot.lock.set_len(0).and_then(|()| writeln!(slot.lock, "{}", std::process::id()));
                written.map_err(io_error(&slot.directory))?;
                return Ok(Some(slot));
            }
        }
        Ok(None)
    }

    fn last_commit(&self, name: &str) -> Option<String> {
        let head = std::fs::read_to_string(self.pool.join(name).join("git/HEAD")).ok()?;
        Some(head.trim_end().to_string())
    }

    /// Locks a slot, if nobody holds it.
    pub(crate) fn lock(&self, name: &str) -> Result<Option<LockedSlot>, WorkspaceError> {
        let path = self.pool.join(format!("{name}.lock"));
        let file = OpenOptions::new().create(true).append(true).open(&path).map_err(io_error(&path))?;
        match file.try_lock() {
            Ok(()) => {
                // Programs inherit the file, and with it the lock.
                fcntl(&file, FcntlArg::F_SETFD(FdFlag::empty()))
                    .map_err(|errno| io_error(&path)(errno.into()))?;
                Ok(Some(LockedSlot { directory: self.pool.join(name), lock: file }))
            }
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(io_error(&path)(error)),
        }
    }

    /// Locks a slot, if nobody holds it. If its user is dead and only programs that it started hold the lock, waits for
    /// them.
    pub(crate) fn lock_after_orphans(&self, name: &str) -> Result<Option<LockedSlot>, WorkspaceError> {
        let deadline = Instant::now() + ORPHANS_WAIT;
        loop {
            let slot = self.lock(name)?;
            if slot.is_some() || !self.user_is_dead(name) || Instant::now() >= deadline {
                return Ok(slot);
            }
            std::thread::sleep(POLL);
        }
    }

    /// Whether the process whose id is in a lock file is gone. If that is not known, it is not.
    fn user_is_dead(&self, name: &str) -> bool {
        let content = std::fs::read_to_string(self.pool.join(format!("{name}.lock"))).unwrap_or_default();
        let pid = content.trim_end().parse().ok().filter(|pid: &i32| *pid > 0);
        pid.is_some_and(|pid| kill(Pid::from_raw(pid), None) == Err(Errno::ESRCH))
    }

    /// The lock file of a deleted slot stays: two processes must never lock two files of one name.
    pub(crate) fn slot_names(&self) -> Vec<String> {
        let entries = self.pool.read_dir().into_iter().flatten().flatten();
        let name = |entry: std::fs::DirEntry| {
            let name = entry.file_name().into_string().ok()?;
            Some(name.strip_suffix(".lock")?.to_string())
        };
        let mut names: Vec<String> = entries.filter_map(name).collect();
        names.sort();
        names
    }
}

fn slot_name(purpose: SlotPurpose, number: u32) -> String {
    match purpose {
        SlotPurpose::Agent => format!("agent-{number}"),
        SlotPurpose::Check => format!("check-{number}"),
    }
}
