//! Systems without subreapers or `/proc`: the program's process group is all that is known of its tree.
//!
//! A process that left the group and lost its parent is not found here. The group itself is ended as on Linux.

use std::ffi::{CStr, OsString};
use std::io;
use std::time::Instant;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use super::Process;

/// Orphans go to the first process of the system; nothing can be done about it.
pub(crate) fn adopt_orphans() -> io::Result<()> {
    Ok(())
}

/// Processes cannot be named here.
pub(crate) fn rename(_name: &CStr) {}

/// The program that is running.
pub(crate) fn this_program() -> io::Result<OsString> {
    std::env::current_exe().map(OsString::from)
}

/// Whether the tree cannot have members when this process has no children: nobody is in the program's group.
pub(crate) fn none_but_children(program: Pid) -> bool {
    living(program).is_empty()
}

/// The program's group, as one, while anybody is in it.
pub(crate) fn living(program: Pid) -> Vec<Process> {
    let group = Process { pid: program, group: program };
    killpg(program, None).map(|()| group).into_iter().collect()
}

/// Children cannot be listed here.
pub(crate) fn latest_children() -> Vec<Process> {
    Vec::new()
}

/// Only the supervisors' own group is known; the program's died with the knowledge of it.
pub(crate) fn end_session(leader: Pid, _until: Instant) {
    let _ = killpg(leader, Signal::SIGKILL);
}
