//! Linux: orphans are adopted, and `/proc` names every process with its parent, group and session.

use std::collections::BTreeMap;
use std::ffi::{CStr, OsString};
use std::fs;
use std::io;
use std::time::{Duration, Instant};

use nix::sys::prctl;
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, getpid};

use super::Process;

/// From now on, orphans below this process become its children.
pub(crate) fn adopt_orphans() -> io::Result<()> {
    Ok(prctl::set_child_subreaper(true)?)
}

/// Names this process in lists of processes. A name of its own, so that an agent that ends everything of its own
/// project's name does not end the supervisors with it.
pub(crate) fn rename(name: &CStr) {
    // A process without a name of its own supervises as well.
    let _ = prctl::set_name(name);
}

/// The program that is running, even when its file was replaced since.
pub(crate) fn this_program() -> io::Result<OsString> {
    Ok("/proc/self/exe".into())
}

/// Whether the tree cannot have members when this process has no children. A descendant always hangs below a child
/// of ours, so that holds.
pub(crate) fn none_but_children(_program: Pid) -> bool {
    true
}

/// Every living process below this one.
pub(crate) fn living(_program: Pid) -> Vec<Process> {
    below(getpid(), &all())
}

/// The living children of this process that appeared last, without a walk over all processes: one that forks and
/// ends in turn is never caught by a slow look.
pub(crate) fn latest_children() -> Vec<Process> {
    let own = getpid();
    let listed = fs::read_to_string(format!("/proc/{own}/task/{own}/children")).unwrap_or_default();
    let pids = listed.split_ascii_whitespace().filter_map(|pid| pid.parse().ok());
    pids.filter_map(|pid| status(pid).filter(Status::is_alive)).map(|status| status.process).collect()
}

/// Ends what is left of a session whose supervisors are both gone, until none of it is seen or time is up.
pub(crate) fn end_session(leader: Pid, until: Instant) {
    loop {
        let all = all();
        let left: Vec<Pid> = all
            .values()
            .filter(|status| status.session == leader && status.process.pid != leader && status.is_alive())
            .map(|status| status.process.pid)
            .collect();
        if left.is_empty() || Instant::now() >= until {
            return;
        }
        for pid in left {
            let _ = kill(pid, Signal::SIGKILL);
        }
        // The kernel tells nobody but the parent, which is not us, when these are gone.
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// What `/proc` says about a process.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Status {
    process: Process,
    parent: Pid,
    session: Pid,
    state: u8,
}

impl Status {
    /// Whether it can still do anything: a zombie only waits to be noticed.
    fn is_alive(&self) -> bool {
        !matches!(self.state, b'Z' | b'X' | b'x')
    }
}

fn all() -> BTreeMap<Pid, Status> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(status).map(|status| (status.process.pid, status)).collect()
}

fn status(pid: i32) -> Option<Status> {
    parse(pid, &fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// Reads `pid (name) state parent group session …`. The name may contain anything, a bracket and a newline included.
fn parse(pid: i32, stat: &[u8]) -> Option<Status> {
    let after_name = stat.iter().rposition(|byte| *byte == b')')?;
    let text = std::str::from_utf8(stat.get(after_name + 1..)?).ok()?;
    let mut fields = text.split_ascii_whitespace();
    let state = *fields.next()?.as_bytes().first()?;
    let mut next = || fields.next()?.parse().ok().map(Pid::from_raw);
    let (parent, group, session) = (next()?, next()?, next()?);
    Some(Status { process: Process { pid: Pid::from_raw(pid), group }, parent, session, state })
}

/// The living processes below `root`, at any depth.
fn below(root: Pid, all: &BTreeMap<Pid, Status>) -> Vec<Process> {
    let mut children: BTreeMap<Pid, Vec<&Status>> = BTreeMap::new();
    for status in all.values() {
        children.entry(status.parent).or_default().push(status);
    }
    let mut found = Vec::new();
    let mut waiting = vec![root];
    while let Some(parent) = waiting.pop() {
        // Removed, so that a picture taken while processes moved cannot be walked in a circle.
        for child in children.remove(&parent).unwrap_or_default() {
            waiting.push(child.process.pid);
            found.extend(child.is_alive().then_some(child.process));
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
    fn a_name_made_of_brackets_and_newlines_is_skipped() {
        let status = parse(12, b"12 (a) S 1 1 1\n) R 7 8 9 0 -1 4194560").unwrap();
        let expected = Status {
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
    fn every_depth_is_found_and_zombies_are_not_alive_but_have_children() {
        let lines: [&[u8]; 5] =
            [b"2 (a) S 1 2 2", b"3 (a) Z 2 2 2", b"4 (a) S 3 4 4", b"5 (a) S 9 5 5", b"9 (a) S 5 9 9"];
        let all: BTreeMap<Pid, Status> = lines
            .into_iter()
            .map(|line| parse(i32::from(line[0] - b'0'), line).unwrap())
            .map(|status| (status.process.pid, status))
            .collect();
        assert_eq!(below(Pid::from_raw(1), &all), [process(2, 2), process(4, 4)]);
        assert_eq!(below(Pid::from_raw(5), &all), [process(9, 9), process(5, 5)], "a circle ends");
    }
}
