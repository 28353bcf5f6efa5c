//! Systems without subreapers or `/proc`: only the program's process group is known.
//!
//! A process that left the group and lost its parent is not found. The group itself is stopped as on Linux.

use std::ffi::{CStr, OsString};
use std::io;
use std::time::Instant;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use super::Process;

/// Not possible here: the first process of the system becomes the parent of orphans.
pub(crate) fn adopt_orphans() -> io::Result<()> {
    Ok(())
}

/// Not possible here.
pub(crate) fn set_process_name(_name: &CStr) {}

/// This program, unless its file was replaced since.
pub(crate) fn this_program() -> io::Result<OsString> {
    std::env::current_exe().map(OsString::from)
}

/// Whether the tree is empty if this process has no children: it is if the program's group is empty.
pub(crate) fn childless_is_empty(program: Pid) -> bool {
    running_processes(program).is_empty()
}

/// The program's group, as one entry, while it is not empty.
pub(crate) fn running_processes(program: Pid) -> Vec<Process> {
    let group = Process { pid: program, group: program };
    killpg(program, None).map(|()| group).into_iter().collect()
}

/// Not possible here.
pub(crate) fn children() -> Vec<Process> {
    Vec::new()
}

/// Kills the leader's own group. The program's group is not known to this process.
pub(crate) fn kill_session(leader: Pid, _deadline: Instant) {
    let _ = killpg(leader, Signal::SIGKILL);
}
