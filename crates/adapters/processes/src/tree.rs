//! The descendants of this process, and signals to all of them.
//!
//! Owns the differences between systems. On Linux the nearest subreaper becomes the parent of an orphan, so every
//! descendant is found, whatever session it moved to. On other systems only the program's process group is known.
//!
//! Invariant: a signal is sent only to processes that were descendants a moment ago, or to groups with such a member;
//! our own group is never signalled as a whole.

use std::collections::BTreeSet;

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::{Pid, getpgrp};

#[cfg(target_os = "linux")]
#[path = "tree/linux.rs"]
mod system;
#[cfg(not(target_os = "linux"))]
#[path = "tree/other.rs"]
mod system;

pub(crate) use system::{
    adopt_orphans, childless_is_empty, children, kill_session, running_processes, set_process_name,
    this_program,
};

/// A process that is not a zombie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: Pid,
    pub(crate) group: Pid,
}

/// Sends each process the signal once: to its group as a whole, which no member escapes by forking at that moment, or to
/// the process alone if its group is ours. A process that is gone by now needs no signal.
pub(crate) fn signal_all(processes: &[Process], signal: Signal) {
    let ours = getpgrp();
    let groups: BTreeSet<Pid> = processes.iter().map(|process| process.group).collect();
    for group in groups.into_iter().filter(|group| *group != ours && group.as_raw() > 1) {
        let _ = killpg(group, signal);
    }
    for process in processes.iter().filter(|process| process.group == ours) {
        let _ = kill(process.pid, signal);
    }
}
