//! The processes below one of ours, and signals to all of them.
//!
//! Owns the difference between systems. On Linux orphans are handed to the nearest subreaper above them, so every
//! descendant is found, whatever session it moved to. Elsewhere only the program's process group is known.
//!
//! Invariant: a signal reaches a process only if it was seen below us, or in a group that has such a member, a moment
//! ago; our own group is never signalled as a whole.

use std::collections::BTreeSet;

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::{Pid, getpgrp};

#[cfg(target_os = "linux")]
#[path = "tree/linux.rs"]
mod system;
#[cfg(not(target_os = "linux"))]
#[path = "tree/elsewhere.rs"]
mod system;

pub(crate) use system::{
    adopt_orphans, end_session, latest_children, living, none_but_children, rename, this_program,
};

/// A process that is alive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: Pid,
    pub(crate) group: Pid,
}

/// Sends each process the signal once: to groups as a whole, which no member escapes by forking at that moment, and
/// to single processes where the group is ours. A process that is gone by now needs no signal.
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
