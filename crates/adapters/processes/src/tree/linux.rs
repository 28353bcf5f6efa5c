//! Linux: orphans are adopted, and `/proc` lists every process with its parent, group and session.

use std::collections::BTreeMap;
use std::ffi::{CStr, OsString};
use std::fs;
use std::io;
use std::time::{Duration, Instant};

use nix::sys::prctl;
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, getpid};

use super::Process;

/// Makes orphaned descendants of this process its children.
pub(crate) fn adopt_orphans() -> io::Result<()> {
    Ok(prctl::set_child_subreaper(true)?)
}

/// Names this process in lists of processes, so that an agent that kills all processes with the name of its project does
/// not kill the supervisor, even when that project is this one.
pub(crate) fn set_process_name(name: &CStr) {
    // Supervision works without it.
    let _ = prctl::set_name(name);
}

/// This program, even if its file was replaced since.
pub(crate) fn this_program() -> io::Result<OsString> {
    Ok("/proc/self/exe".into())
}

/// Whether the tree is empty if this process has no children. Orphans become its children, so it is.
pub(crate) fn childless_is_empty(_program: Pid) -> bool {
    true
}

/// All descendants of this process, except zombies.
pub(crate) fn running_processes(_program: Pid) -> Vec<Process> {
    descendants(getpid(), &all_processes())
}

/// The children of this process, except zombies. This is faster than reading all processes, so it also finds a process
/// that forks and exits over and over.
pub(crate) fn children() -> Vec<Process> {
    let own = getpid();
    let listed = fs::read_to_string(format!("/proc/{own}/task/{own}/children")).unwrap_or_default();
    let pids = listed.split_ascii_whitespace().filter_map(|pid| pid.parse().ok());
    pids.filter_map(|pid| status(pid).filter(ProcStat::is_running)).map(|status| status.process).collect()
}

/// Kills all processes of a session but its leader, until none is found or the deadline has passed.
pub(crate) fn kill_session(leader: Pid, deadline: Instant) {
    loop {
        let all = all_processes();
        let remaining: Vec<Pid> = all
            .values()
            .filter(|status| status.session == leader && status.process.pid != leader && status.is_running())
            .map(|status| status.process.pid)
            .collect();
        if remaining.is_empty() || Instant::now() >= deadline {
            return;
        }
        for pid in remaining {
            let _ = kill(pid, Signal::SIGKILL);
        }
        // Only the parent is told when these are gone, and that is not this process.
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// What `/proc/<pid>/stat` says about a process.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ProcStat {
    process: Process,
    parent: Pid,
    session: Pid,
    state: u8,
}

impl ProcStat {
    fn is_running(&self) -> bool {
        !matches!(self.state, b'Z' | b'X' | b'x')
    }
}

fn all_processes() -> BTreeMap<Pid, ProcStat> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(status).map(|status| (status.process.pid, status)).collect()
}

fn status(pid: i32) -> Option<ProcStat> {
    parse(pid, &fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// Parses `pid (name) state parent group session …`. The name may contain anything, also brackets and newlines.
fn parse(pid: i32, stat: &[u8]) -> Option<ProcStat> {
    let after_name = stat.iter().rposition(|byte| *byte == b')')?;
    let text = std::str::from_utf8(stat.get(after_name + 1..)?).ok()?;
    let mut fields = text.split_ascii_whitespace();
    let state = *fields.next()?.as_bytes().first()?;
    let mut next = || fields.next()?.parse().ok().map(Pid::from_raw);
    let (parent, group, session) = (next()?, next()?, next()?);
    Some(ProcStat { process: Process { pid: Pid::from_raw(pid), group }, parent, session, state })
}

/// All descendants of `root`, except zombies.
fn descendants(root: Pid, all: &BTreeMap<Pid, ProcStat>) -> Vec<Process> {
    let mut children: BTreeMap<Pid, Vec<&ProcStat>> = BTreeMap::new();
    for status in all.values() {
        children.entry(status.parent).or_default().push(status);
    }
    let mut found = Vec::new();
    let mut parents = vec![root];
    while let Some(parent) = parents.pop() {
        // Removed, because processes that changed while they were read could form a circle.
        for child in children.remove(&parent).unwrap_or_default() {
            parents.push(child.process.pid);
            found.extend(child.is_running().then_some(child.process));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: i32, group: i32) -> Process {
        Process { pid: Pid::from_raw(pid), group: Pid::from_raw(group) }
    }

    #[test]
    fn a_name_with_brackets_and_newlines_is_skipped() {
        let status = parse(12, b"12 (a) S 1 1 1\n) R 7 8 9 0 -1 4194560").unwrap();
        let expected = ProcStat {
            process: process(12, 8),
            parent: Pid::from_raw(7),
            session: Pid::from_raw(9),
            state: b'R',
        };
        assert_eq!(status, expected);
        assert_eq!(parse(12, b"12 (a) R 7"), None);
        assert_eq!(parse(12, b""), None);
    }

    #[test]
    fn descendants_at_every_depth_are_found_but_no_zombies() {
        let lines: [&[u8]; 5] =
            [b"2 (a) S 1 2 2", b"3 (a) Z 2 2 2", b"4 (a) S 3 4 4", b"5 (a) S 9 5 5", b"9 (a) S 5 9 9"];
        let all: BTreeMap<Pid, ProcStat> = lines
            .into_iter()
            .map(|line| parse(i32::from(line[0] - b'0'), line).unwrap())
            .map(|status| (status.process.pid, status))
            .collect();
        assert_eq!(descendants(Pid::from_raw(1), &all), [process(2, 2), process(4, 4)]);
        assert_eq!(descendants(Pid::from_raw(5), &all), [process(9, 9), process(5, 5)], "a circle");
    }
}
