//! How a tree is ended: left to settle, asked, made to, and given up on, each for a bounded time.
//!
//! Invariant: phases only go forward, and every phase but the first has a deadline.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use nix::unistd::Pid;

use crate::tree::{self, Process};
use crate::wire::Report;

/// How long after the program's own end its helpers may take to end by themselves.
pub(crate) const SETTLE: Duration = Duration::from_millis(100);
/// How long a tree is killed before it is given up on: what cannot be killed waits in the kernel.
pub(crate) const KILL_BOUND: Duration = Duration::from_secs(10);
/// Between two rounds of killing.
const ROUND: Duration = Duration::from_millis(5);
/// Quick looks at new children in each round.
const QUICK_LOOKS: u32 = 50;
/// Between two looks at what sends no event.
const WATCH: Duration = Duration::from_millis(20);
/// Longest wait when nothing is due.
const IDLE: Duration = Duration::from_secs(3600);

/// The end of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Over {
    pub(super) stragglers: u32,
    pub(super) left: u32,
}

impl Over {
    pub(super) fn report(self) -> Report {
        Report::Done { stragglers: self.stragglers, left: self.left }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The program runs.
    Running,
    /// The program ended by itself; what it left may still end by itself.
    Settling { until: Instant },
    /// Everything was asked to end.
    Asked { until: Instant },
    /// Everything is being killed, round by round.
    Killing { until: Instant },
    /// Nothing is left, or time was up.
    Over { left: u32 },
}

/// A tree on its way to its end.
#[derive(Debug)]
pub(super) struct Ending {
    program: Pid,
    grace: Duration,
    phase: Phase,
    childless: bool,
    /// Processes besides the program that were sent a signal.
    ended: BTreeSet<Pid>,
}

impl Ending {
    pub(super) fn new(program: Pid, grace: Duration) -> Self {
        Self { program, grace, phase: Phase::Running, childless: false, ended: BTreeSet::new() }
    }

    /// The end, when it is reached.
    pub(super) fn over(&self) -> Option<Over> {
        match self.phase {
            Phase::Over { left } => {
                Some(Over { stragglers: u32::try_from(self.ended.len()).unwrap_or(u32::MAX), left })
            }
            Phase::Running | Phase::Settling { .. } | Phase::Asked { .. } | Phase::Killing { .. } => None,
        }
    }

    /// How long nothing needs to be done unless something happens.
    pub(super) fn wait(&self, now: Instant) -> Duration {
        let due = match self.phase {
            Phase::Running => IDLE,
            Phase::Settling { until } | Phase::Asked { until } => until.saturating_duration_since(now),
            Phase::Killing { until } => ROUND.min(until.saturating_duration_since(now)),
            Phase::Over { .. } => Duration::ZERO,
        };
        if self.childless { due.min(WATCH) } else { due }
    }

    /// The program ended by itself.
    pub(super) fn settle(&mut self, now: Instant) {
        match self.phase {
            Phase::Running => self.phase = Phase::Settling { until: now + SETTLE },
            Phase::Settling { .. } | Phase::Asked { .. } | Phase::Killing { .. } | Phase::Over { .. } => {}
        }
    }

    /// Asks everything to end within the grace.
    pub(super) fn ask(&mut self, now: Instant, grace: Duration) {
        match self.phase {
            Phase::Running | Phase::Settling { .. } => {
                let living = self.note(tree::living(self.program));
                tree::signal_all(&living, Signal::SIGTERM);
                // A stopped process sees the request only when it goes on.
                tree::signal_all(&living, Signal::SIGCONT);
                let until = now.checked_add(grace).unwrap_or(now + IDLE);
                self.phase = Phase::Asked { until };
            }
            Phase::Asked { until } => {
                // Asked again with less patience.
                let until = now.checked_add(grace).map_or(until, |sooner| until.min(sooner));
                self.phase = Phase::Asked { until };
            }
            Phase::Killing { .. } | Phase::Over { .. } => {}
        }
    }

    /// Makes everything end.
    pub(super) fn kill(&mut self, now: Instant) {
        match self.phase {
            Phase::Running | Phase::Settling { .. } | Phase::Asked { .. } => {
                self.phase = Phase::Killing { until: now + KILL_BOUND };
                self.round();
            }
            Phase::Killing { .. } | Phase::Over { .. } => {}
        }
    }

    /// There are no children left.
    pub(super) fn childless(&mut self) {
        self.childless = true;
        self.look();
    }

    /// Time passed.
    pub(super) fn tick(&mut self, now: Instant) {
        if self.childless {
            self.look();
        }
        match self.phase {
            Phase::Settling { until } if now >= until => self.ask(now, self.grace),
            Phase::Asked { until } if now >= until => self.kill(now),
            Phase::Killing { until } if now >= until => {
                let left = u32::try_from(tree::living(self.program).len()).unwrap_or(u32::MAX);
                // At least one is left, or the kernel would have said so.
                self.phase = Phase::Over { left: left.max(1) };
            }
            Phase::Killing { .. } => self.round(),
            Phase::Running | Phase::Settling { .. } | Phase::Asked { .. } | Phase::Over { .. } => {}
        }
    }

    fn look(&mut self) {
        if tree::none_but_children(self.program) {
            self.phase = Phase::Over { left: 0 };
        }
    }

    /// Kills what is seen. The walk over all processes finds everything that stands still; the quick looks catch
    /// what hands itself on to a new process all the time. Beside 1500 other processes, three such took seconds to
    /// catch by walks alone, and a twentieth of a second with the looks.
    fn round(&mut self) {
        let living = self.note(tree::living(self.program));
        tree::signal_all(&living, Signal::SIGKILL);
        for _ in 0..QUICK_LOOKS {
            let latest = self.note(tree::latest_children());
            if latest.is_empty() {
                return;
            }
            tree::signal_all(&latest, Signal::SIGKILL);
        }
    }

    fn note(&mut self, processes: Vec<Process>) -> Vec<Process> {
        self.ended.extend(processes.iter().map(|process| process.pid).filter(|pid| *pid != self.program));
        processes
    }
}
