//! One run, as seen by this process: writes the output, enforces the limits, passes on stops, waits for the end.
//!
//! Owns why a run ended. Invariant: the first cause counts. A program that exits with 0 because it was told to stop was
//! stopped.

use std::ffi::OsString;
use std::io;
use std::time::{Duration, Instant};

use fixpoint_ports::{
    Cancel, CapturedOutput, ExitCause, Invocation, ProcessError, ProcessExit, Processes, Urgency,
};

use crate::connection::{Leftovers, OutputRead, Received, SupervisorConnection};
use crate::limits::RunTimes;
use crate::output_file::OutputFile;
use crate::protocol::{Job, Report, StopOrder};
use crate::supervisor::{KILL_TIMEOUT, SETTLE_TIME};
use crate::tree::this_program;

/// Bytes read at a time, and the longest chunk that is passed on as progress.
const BUFFER: usize = 64 << 10;
/// Chunks read before limits and stops are checked again.
const CHUNKS: usize = 16;
/// How often a stop is polled for.
const POLL: Duration = Duration::from_millis(20);
/// How much longer than its own limits a supervisor may take before it is taken for lost.
const SUPERVISOR_DELAY: Duration = Duration::from_secs(5);
/// Output read after the end: more than any pipe holds.
const REMAINING_OUTPUT: usize = 4 << 20;

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

    /// Supervisors are this program, started again with these arguments. On Linux that is this very version, even if the
    /// file of the program was replaced since.
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
        let output = OutputFile::create(&invocation.output, invocation.limits.kept_output)?;
        let without_start = |cause| {
            let output = CapturedOutput { path: invocation.output.clone(), written: 0, omitted: 0 };
            let duration = started.elapsed();
            Ok(ProcessExit { cause, duration, output, stragglers: 0, refused: Vec::new() })
        };
        if cancel.is_asked() {
            return without_start(ExitCause::Cancelled);
        }
        let Some(job) = Job::of(invocation).frame() else {
            let reason = "the arguments and the environment are too long".to_string();
            return without_start(ExitCause::NotStarted(reason));
        };
        let connection = SupervisorConnection::start(&self.supervisor, invocation, &job)?;
        let mut run = SupervisedRun {
            invocation,
            output: Ok(output),
            times: RunTimes { started, last_output: started },
            state: RunState::Running,
            supervisor: None,
            ordered: Urgency::None,
            deadline: Deadline::None,
            buffer: vec![0; BUFFER],
        };
        run.follow(connection, cancel, progress)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum RunState {
    Running,
    /// The tree is being stopped, for this reason.
    Ending(ExitCause),
}

/// When the tree must be gone.
#[derive(Debug, Clone, Copy)]
enum Deadline {
    /// The program runs under its own limits.
    None,
    /// The supervisor is stopping the tree.
    Supervisor(Instant),
    /// The supervisor did not answer and was killed, so that the watchdog takes over.
    Watchdog(Instant),
}

enum SupervisorEnd {
    Done { stragglers: u32, left: u32 },
    Lost(&'static str),
}

struct SupervisedRun<'a> {
    invocation: &'a Invocation,
    /// The file, until writing fails.
    output: Result<OutputFile, ProcessError>,
    times: RunTimes,
    state: RunState,
    supervisor: Option<i32>,
    ordered: Urgency,
    deadline: Deadline,
    buffer: Vec<u8>,
}

impl SupervisedRun<'_> {
    fn follow(
        &mut self,
        mut connection: SupervisorConnection,
        cancel: &Cancel,
        progress: &mut dyn FnMut(&[u8]),
    ) -> Result<ProcessExit, ProcessError> {
        let end = loop {
            connection.wait(self.wait_time(Instant::now()));
            self.read_output(&mut connection, CHUNKS, progress);
            if let Some(end) = self.read_reports(&mut connection) {
                break end;
            }
            self.enforce(&mut connection, cancel);
            if let Some(end) = self.check_deadline(&connection) {
                break end;
            }
        };
        match end {
            SupervisorEnd::Done { stragglers, left: 0 } => {
                self.read_output(&mut connection, REMAINING_OUTPUT / BUFFER, progress);
                drop(connection);
                self.exit(stragglers)
            }
            SupervisorEnd::Done { left, .. } => {
                Err(ProcessError::Supervisor(format!("{left} processes could not be killed")))
            }
            SupervisorEnd::Lost(why) => {
                let leftovers = match connection.abandon(KILL_TIMEOUT) {
                    Leftovers::None => "everything it ran was stopped",
                    Leftovers::Possible => "processes in sessions of their own may still be running",
                };
                Err(ProcessError::Supervisor(format!("{why}; {leftovers}")))
            }
        }
    }

    fn exit(&mut self, stragglers: u32) -> Result<ProcessExit, ProcessError> {
        let cause = match std::mem::replace(&mut self.state, RunState::Running) {
            RunState::Ending(cause) => cause,
            RunState::Running => {
                let message = "it did not report how the program ended".to_string();
                return Err(ProcessError::Supervisor(message));
            }
        };
        let finished = ProcessError::Supervisor("the output is finished already".to_string());
        let output = std::mem::replace(&mut self.output, Err(finished))?.finish()?;
        let duration = self.times.started.elapsed();
        Ok(ProcessExit { cause, duration, output, stragglers, refused: Vec::new() })
    }

    /// How long to wait if nothing happens.
    fn wait_time(&self, now: Instant) -> Duration {
        match self.state {
            RunState::Running => POLL.min(self.times.remaining(&self.invocation.limits, now)),
            // Limits may be exceeded already, and nothing would remain.
            RunState::Ending(_) => POLL,
        }
    }

    fn read_output(
        &mut self,
        connection: &mut SupervisorConnection,
        chunks: usize,
        progress: &mut dyn FnMut(&[u8]),
    ) {
        for _ in 0..chunks {
            let OutputRead::Bytes(length) = connection.read(&mut self.buffer) else { return };
            let bytes = self.buffer.get(..length).unwrap_or_default();
            progress(bytes);
            self.times.last_output = Instant::now();
            // After the first error output is still read, so that the program does not block while it is stopped.
            if let Ok(output) = &mut self.output
                && let Err(error) = output.write(bytes)
            {
                self.output = Err(error);
            }
        }
    }

    fn read_reports(&mut self, connection: &mut SupervisorConnection) -> Option<SupervisorEnd> {
        loop {
            match connection.receive() {
                Received::Nothing => return None,
                Received::Closed => return Some(SupervisorEnd::Lost("it was killed or could not start")),
                Received::Report(Report::Ready(supervisor)) => self.supervisor = Some(supervisor),
                Received::Report(Report::Started) => {}
                Received::Report(Report::NotStarted(reason)) => self.end(ExitCause::NotStarted(reason)),
                Received::Report(Report::Exited(code)) => self.end(ExitCause::Exited(code)),
                Received::Report(Report::Signalled(signal)) => self.end(ExitCause::Signalled(signal)),
                Received::Report(Report::Done { stragglers, left }) => {
                    return Some(SupervisorEnd::Done { stragglers, left });
                }
            }
        }
    }

    /// Notes why the run ends, unless that is known already, and sets the supervisor a deadline.
    fn end(&mut self, cause: ExitCause) {
        if self.state == RunState::Running {
            self.state = RunState::Ending(cause);
            let time =
                self.invocation.limits.grace.saturating_add(SETTLE_TIME + KILL_TIMEOUT + SUPERVISOR_DELAY);
            self.deadline = Instant::now().checked_add(time).map_or(Deadline::None, Deadline::Supervisor);
        }
    }

    /// Stops the run when a limit is exceeded, a stop is asked for, or the output cannot be written.
    fn enforce(&mut self, connection: &mut SupervisorConnection, cancel: &Cancel) {
        let asked = cancel.urgency();
        if self.state == RunState::Running {
            let exceeded = self.times.exceeded(&self.invocation.limits, Instant::now());
            let cause = match (asked, exceeded, &self.output) {
                (Urgency::Soon | Urgency::Now, _, _) => Some(ExitCause::Cancelled),
                (Urgency::None, Some(limit), _) => Some(limit),
                // The caller gets the error of the output, not this cause.
                (Urgency::None, None, Err(_)) => Some(ExitCause::Cancelled),
                (Urgency::None, None, Ok(_)) => None,
            };
            if let Some(cause) = cause {
                self.end(cause);
                self.order(connection, Urgency::Soon);
            }
        }
        if asked == Urgency::Now {
            self.order(connection, Urgency::Now);
        }
    }

    fn order(&mut self, connection: &mut SupervisorConnection, urgency: Urgency) {
        if urgency > self.ordered {
            self.ordered = urgency;
            if urgency == Urgency::Now {
                // There is no grace any more, so the deadline is sooner.
                self.deadline = Deadline::Supervisor(Instant::now() + KILL_TIMEOUT + SUPERVISOR_DELAY);
                connection.send(StopOrder::Kill);
            } else {
                connection.send(StopOrder::Terminate);
            }
        }
    }

    /// Turns to the watchdog when the supervisor does not answer, and gives up when that does not either.
    fn check_deadline(&mut self, connection: &SupervisorConnection) -> Option<SupervisorEnd> {
        let now = Instant::now();
        match self.deadline {
            Deadline::Supervisor(deadline) if now >= deadline => {
                connection.kill_supervisor(self.supervisor);
                self.deadline = Deadline::Watchdog(now + KILL_TIMEOUT + SUPERVISOR_DELAY);
                None
            }
            Deadline::Watchdog(deadline) if now >= deadline => {
                Some(SupervisorEnd::Lost("it did not answer and was killed"))
            }
            Deadline::None | Deadline::Supervisor(_) | Deadline::Watchdog(_) => None,
        }
    }
}
