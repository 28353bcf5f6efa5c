//! How a tree of processes is stopped: first left alone, then SIGTERM, then SIGKILL, then given up, each for a limited time.
//!
//! Invariant: phases only go forward, and every phase but the first has a deadline.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use nix::unistd::Pid;

use crate::protocol::Report;
use crate::tree::{self, Process};

/// After the program has exited, its children may take this long to exit by themselves.
pub(crate) const SETTLE_TIME: Duration = Duration::from_millis(100);
/// How long a tree is killed before it is given up: a process that cannot be killed waits in the kernel.
pub(crate) const KILL_TIMEOUT: Duration = Duration::from_secs(10);
/// Between two rounds of SIGKILL.
const KILL_INTERVAL: Duration = Duration::from_millis(5);
/// How often new children are looked up in each round.
const QUICK_LOOKUPS: u32 = 50;
/// How often a tree is checked that sends no event.
const POLL: Duration = Duration::from_millis(20);
/// Longest wait when there is no deadline.
const IDLE: Duration = Duration::from_secs(3600);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TreeEnd {
    /// Processes besides the program that were sent a signal.
    pub(super) stragglers: u32,
    pub(super) left: u32,
}

impl TreeEnd {
    pub(super) fn report(self) -> Report {
        Report::Done { stragglers: self.stragglers, left: self.left }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Running,
    /// The program has exited; its children may still exit by themselves.
    Settling {
        deadline: Instant,
    },
    /// SIGTERM was sent to everything.
    Terminating {
        deadline: Instant,
    },
    /// SIGKILL is sent to everything, again and again.
    Killing {
        deadline: Instant,
    },
    /// Nothing is left, or the time is over.
    Ended {
        left: u32,
    },
}

/// Stops a tree of processes. The caller reports events and the time; nothing here waits.
#[derive(Debug)]
pub(super) struct Termination {
    program: Pid,
    grace: Duration,
    phase: Phase,
    has_no_children: bool,
    /// Processes besides the program that were sent a signal.
    signalled: BTreeSet<Pid>,
}

impl Termination {
    pub(super) fn new(program: Pid, grace: Duration) -> Self {
        Self { program, grace, phase: Phase::Running, has_no_children: false, signalled: BTreeSet::new() }
    }

    pub(super) fn end(&self) -> Option<TreeEnd> {
        match self.phase {
            Phase::Ended { left } => {
                Some(TreeEnd { stragglers: u32::try_from(self.signalled.len()).unwrap_or(u32::MAX), left })
            }
            Phase::Running | Phase::Settling { .. } | Phase::Terminating { .. } | Phase::Killing { .. } => {
                None
            }
        }
    }

    /// How long the caller may wait for an event before it calls `tick`.
    pub(super) fn wait_time(&self, now: Instant) -> Duration {
        let due = match self.phase {
            Phase::Running => IDLE,
            Phase::Settling { deadline } | Phase::Terminating { deadline } => {
                deadline.saturating_duration_since(now)
            }
            Phase::Killing { deadline } => KILL_INTERVAL.min(deadline.saturating_duration_since(now)),
            Phase::Ended { .. } => Duration::ZERO,
        };
        if self.has_no_children { due.min(POLL) } else { due }
    }

    /// Called when the program has exited.
    pub(super) fn settle(&mut self, now: Instant) {
        match self.phase {
            Phase::Running => self.phase = Phase::Settling { deadline: now + SETTLE_TIME },
            Phase::Settling { .. }
            | Phase::Terminating { .. }
            | Phase::Killing { .. }
            | Phase::Ended { .. } => {}
        }
    }

    /// Sends SIGTERM to everything. What is left after the grace is killed.
    pub(super) fn terminate(&mut self, now: Instant, grace: Duration) {
        match self.phase {
            Phase::Running | Phase::Settling { .. } => {
                let processes = self.note(tree::running_processes(self.program));
                tree::signal_all(&processes, Signal::SIGTERM);
                // A stopped process handles the signal only when it is continued.
                tree::signal_all(&processes, Signal::SIGCONT);
                let deadline = now.checked_add(grace).unwrap_or(now + IDLE);
                self.phase = Phase::Terminating { deadline };
            }
            Phase::Terminating { deadline } => {
                // A second order can only make the grace shorter.
                let deadline = now.checked_add(grace).map_or(deadline, |sooner| deadline.min(sooner));
                self.phase = Phase::Terminating { deadline };
            }
            Phase::Killing { .. } | Phase::Ended { .. } => {}
        }
    }

    pub(super) fn kill(&mut self, now: Instant) {
        match self.phase {
            Phase::Running | Phase::Settling { .. } | Phase::Terminating { .. } => {
                self.phase = Phase::Killing { deadline: now + KILL_TIMEOUT };
                self.kill_round();
            }
            Phase::Killing { .. } | Phase::Ended { .. } => {}
        }
    }

    /// Called when this process has no children any more.
    pub(super) fn no_children(&mut self) {
        self.has_no_children = true;
        self.check_empty();
    }

    /// Called when no event came for the wait time.
    pub(super) fn tick(&mut self, now: Instant) {
        if self.has_no_children {
            self.check_empty();
        }
        match self.phase {
            Phase::Settling { deadline } if now >= deadline => self.terminate(now, self.grace),
            Phase::Terminating { deadline } if now >= deadline => self.kill(now),
            Phase::Killing { deadline } if now >= deadline => {
                let left = u32::try_from(tree::running_processes(self.program).len()).unwrap_or(u32::MAX);
                // There is at least one, or the kernel would have reported that there are no children.
                self.phase = Phase::Ended { left: left.max(1) };
            }
            Phase::Killing { .. } => self.kill_round(),
            Phase::Running | Phase::Settling { .. } | Phase::Terminating { .. } | Phase::Ended { .. } => {}
        }
    }

    fn check_empty(&mut self) {
        if tree::childless_is_empty(self.program) {
            self.phase = Phase::Ended { left: 0 };
        }
    }

    /// Kills everything that is found. Reading all processes finds those that keep their process id; the quick lookups
    /// catch one that forks and exits over and over. With 1500 other processes, three such took seconds to catch
    /// without the lookups, and 50 ms with them.
    fn kill_round(&mut self) {
        let processes = self.note(tree::running_processes(self.program));
        tree::signal_all(&processes, Signal::SIGKILL);
        for _ in 0..QUICK_LOOKUPS {
            let children = self.note(tree::children());
            if children.is_empty() {
                return;
            }
            tree::signal_all(&children, Signal::SIGKILL);
        }
    }

    fn note(&mut self, processes: Vec<Process>) -> Vec<Process> {
        let others = processes.iter().map(|process| process.pid).filter(|pid| *pid != self.program);
        self.signalled.extend(others);
        processes
    }
}
