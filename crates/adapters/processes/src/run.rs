//! A run, from this side: output kept, limits enforced, stops passed on, the end awaited.
//!
//! Owns why a run ended. Invariant: the first reason stands; a program that ends well because it was told to end has
//! been told to end.

use std::ffi::OsString;
use std::io;
use std::time::{Duration, Instant};

use fixpoint_ports::{
    Cancel, CapturedOutput, ExitCause, Invocation, ProcessError, ProcessExit, Processes, Urgency,
};

use crate::capture::Capture;
use crate::limits;
use crate::link::{Heard, Left, Link, Piece};
use crate::supervisor::{KILL_BOUND, SETTLE};
use crate::tree::this_program;
use crate::wire::{Job, Order, Report};

/// Bytes read at a time, and the longest piece that progress is told of.
const BUFFER: usize = 64 << 10;
/// Pieces read before limits and stops are looked at again.
const PIECES: usize = 16;
/// How often a wish to stop is looked for.
const LOOK: Duration = Duration::from_millis(20);
/// How long supervisors may be late before they are taken for lost.
const LATE: Duration = Duration::from_secs(5);
/// Output read after the end: more than any pipe holds.
const REST: usize = 4 << 20;

/// Runs programs, each under a supervisor of its own.
#[derive(Debug, Clone)]
pub struct SupervisedProcesses {
    supervisor: Vec<OsString>,
}

impl SupervisedProcesses {
    /// Supervisors are started with this command, which must call [`supervisor_main`](crate::supervisor_main) with
    /// the arguments that follow it.
    pub fn new(supervisor_command: Vec<OsString>) -> Self {
        Self { supervisor: supervisor_command }
    }

    /// Supervisors are this program, started again with these arguments. Where the system allows it that is this
    /// very program, even if its file was replaced by another version since: the two sides always agree.
    pub fn by_this_program(arguments: impl IntoIterator<Item = OsString>) -> io::Result<Self> {
        let program = this_program()?;
        Ok(Self::new(std::iter::once(program).chain(arguments).collect()))
    }
}

impl Processes for SupervisedProcesses {
    fn run(
        &self,
        invocation: &Invocation,
        cancel: &Cancel,
        progress: &mut dyn FnMut(&[u8]),
    ) -> Result<ProcessExit, ProcessError> {
        let started = Instant::now();
        let capture = Capture::create(&invocation.output, invocation.limits.kept_output)?;
        let at_once = |cause| {
            let output = CapturedOutput { path: invocation.output.clone(), written: 0, omitted: 0 };
            Ok(ProcessExit { cause, duration: started.elapsed(), output, stragglers: 0 })
        };
        if cancel.is_asked() {
            return at_once(ExitCause::Cancelled);
        }
        let Some(job) = Job::of(invocation).frame() else {
            return at_once(ExitCause::NotStarted(
                "the arguments and the environment are too long".to_string(),
            ));
        };
        let link = Link::start(&self.supervisor, invocation, &job)?;
        let mut run = Run {
            invocation,
            capture: Ok(capture),
            heard: limits::Heard { started, last_output: started },
            state: State::Running,
            keeper: None,
            ordered: Urgency::None,
            patience: Patience::Endless,
            buffer: vec![0; BUFFER],
        };
        run.follow(link, cancel, progress)
    }
}

/// Why the run is ending, once it is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    Running,
    Ending(ExitCause),
}

/// How long the supervisors may take to end the tree.
#[derive(Debug, Clone, Copy)]
enum Patience {
    /// The program runs; its limits are all there is.
    Endless,
    /// The tree is being ended by the keeper.
    Keeper(Instant),
    /// The keeper did not answer, and was ended for the guard to take over.
    Guard(Instant),
}

/// How the supervisors' part ended.
enum Close {
    Done { stragglers: u32, left: u32 },
    Lost(&'static str),
}

struct Run<'a> {
    invocation: &'a Invocation,
    /// The file, until it cannot be written.
    capture: Result<Capture, ProcessError>,
    heard: limits::Heard,
    state: State,
    keeper: Option<i32>,
    ordered: Urgency,
    patience: Patience,
    buffer: Vec<u8>,
}

impl Run<'_> {
    fn follow(
        &mut self,
        mut link: Link,
        cancel: &Cancel,
        progress: &mut dyn FnMut(&[u8]),
    ) -> Result<ProcessExit, ProcessError> {
        let close = loop {
            link.wait(self.pause(Instant::now()));
            self.take_output(&mut link, PIECES, progress);
            if let Some(close) = self.take_reports(&mut link) {
                break close;
            }
            self.enforce(&mut link, cancel);
            if let Some(close) = self.lose_patience(&link) {
                break close;
            }
        };
        match close {
            Close::Done { stragglers, left: 0 } => {
                self.take_output(&mut link, REST / BUFFER, progress);
                drop(link);
                self.ended(stragglers)
            }
            Close::Done { left, .. } => {
                Err(ProcessError::Supervisor(format!("{left} processes could not be ended")))
            }
            Close::Lost(why) => Err(ProcessError::Supervisor(match link.abandon(KILL_BOUND) {
                Left::Nothing => format!("{why}; all it ran was ended"),
                Left::Perhaps => format!("{why}; what moved to a session of its own may be left"),
            })),
        }
    }

    fn ended(&mut self, stragglers: u32) -> Result<ProcessExit, ProcessError> {
        let cause = match std::mem::replace(&mut self.state, State::Running) {
            State::Ending(cause) => cause,
            State::Running => {
                return Err(ProcessError::Supervisor("it did not say how the program ended".to_string()));
            }
        };
        let lost = ProcessError::Supervisor("the output was already given up".to_string());
        let output = std::mem::replace(&mut self.capture, Err(lost))?.finish()?;
        Ok(ProcessExit { cause, duration: self.heard.started.elapsed(), output, stragglers })
    }

    /// How long to wait when nothing happens.
    fn pause(&self, now: Instant) -> Duration {
        match self.state {
            State::Running => LOOK.min(self.heard.remaining(&self.invocation.limits, now)),
            // The limits are exceeded, perhaps, and would have us wait for no time at all.
            State::Ending(_) => LOOK,
        }
    }

    fn take_output(&mut self, link: &mut Link, pieces: usize, progress: &mut dyn FnMut(&[u8])) {
        for _ in 0..pieces {
            let Piece::Bytes(length) = link.read(&mut self.buffer) else { return };
            let bytes = self.buffer.get(..length).unwrap_or_default();
            progress(bytes);
            self.heard.last_output = Instant::now();
            // After the first failure output is still read, so that the program is not stuck while it is ended.
            if let Ok(capture) = &mut self.capture
                && let Err(error) = capture.keep(bytes)
            {
                self.capture = Err(error);
            }
        }
    }

    fn take_reports(&mut self, link: &mut Link) -> Option<Close> {
        loop {
            match link.hear() {
                Heard::Nothing => return None,
                Heard::Lost => return Some(Close::Lost("it was killed or could not begin")),
                Heard::Report(Report::Ready(keeper)) => self.keeper = Some(keeper),
                Heard::Report(Report::Started) => {}
                Heard::Report(Report::NotStarted(reason)) => self.end(ExitCause::NotStarted(reason)),
                Heard::Report(Report::Exited(code)) => self.end(ExitCause::Exited(code)),
                Heard::Report(Report::Signalled(signal)) => self.end(ExitCause::Signalled(signal)),
                Heard::Report(Report::Done { stragglers, left }) => {
                    return Some(Close::Done { stragglers, left });
                }
            }
        }
    }

    /// Notes why the run ends, unless that is known already, and gives the supervisors their time.
    fn end(&mut self, cause: ExitCause) {
        if self.state == State::Running {
            self.state = State::Ending(cause);
            let bound = self.invocation.limits.grace.saturating_add(SETTLE + KILL_BOUND + LATE);
            self.patience = Instant::now().checked_add(bound).map_or(Patience::Endless, Patience::Keeper);
        }
    }

    /// Ends the run when a limit is exceeded, a stop is asked for, or the output cannot be kept.
    fn enforce(&mut self, link: &mut Link, cancel: &Cancel) {
        let asked = cancel.urgency();
        if self.state == State::Running {
            let exceeded = self.heard.exceeded(&self.invocation.limits, Instant::now());
            let cause = match (asked, exceeded, &self.capture) {
                (Urgency::Soon | Urgency::Now, _, _) => Some(ExitCause::Cancelled),
                (Urgency::None, Some(limit), _) => Some(limit),
                // The cause is not told: that the output is lost is.
                (Urgency::None, None, Err(_)) => Some(ExitCause::Cancelled),
                (Urgency::None, None, Ok(_)) => None,
            };
            if let Some(cause) = cause {
                self.end(cause);
                self.order(link, Urgency::Soon);
            }
        }
        if asked == Urgency::Now {
            self.order(link, Urgency::Now);
        }
    }

    fn order(&mut self, link: &mut Link, urgency: Urgency) {
        if urgency > self.ordered {
            self.ordered = urgency;
            if urgency == Urgency::Now {
                // The grace is over, and with it the patience for it.
                self.patience = Patience::Keeper(Instant::now() + KILL_BOUND + LATE);
                link.order(Order::Kill);
            } else {
                link.order(Order::End);
            }
        }
    }

    /// Turns to the guard when the keeper does not answer, and then to nobody.
    fn lose_patience(&mut self, link: &Link) -> Option<Close> {
        let now = Instant::now();
        match self.patience {
            Patience::Keeper(until) if now >= until => {
                link.depose(self.keeper);
                self.patience = Patience::Guard(now + KILL_BOUND + LATE);
                None
            }
            Patience::Guard(until) if now >= until => Some(Close::Lost("it did not answer and was ended")),
            Patience::Endless | Patience::Keeper(_) | Patience::Guard(_) => None,
        }
    }
}
