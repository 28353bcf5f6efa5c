//! This process's end of a supervisor: the child, the socket, the output pipe.
//!
//! Owns the descriptors. Refuses to decide anything: what is read is handed on, what is to be said is said.
//! Invariant: nothing here waits without a bound.

use std::ffi::OsString;
use std::io::{self, PipeReader, Read, Seek, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fixpoint_ports::{Invocation, ProcessError, Stdin};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::tree;
use crate::wire::{Order, Report, take_frame};

/// How long a supervisor may take to read its job.
const HANDOVER: Duration = Duration::from_secs(30);
/// How long supervisors may take to end, with all they still have to end, once nobody listens to them.
const FAREWELL: Duration = Duration::from_secs(30);
/// Asked of the kernel for the output pipe: fewer turns for a program that writes much.
#[cfg(target_os = "linux")]
const PIPE: i32 = 1 << 20;

/// A running supervisor.
#[derive(Debug)]
pub(crate) struct Link {
    guard: Child,
    control: UnixStream,
    arrived: Vec<u8>,
    output: Option<PipeReader>,
}

/// What came over the socket.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// A report.
    Report(Report),
    /// Nothing at the moment.
    Nothing,
    /// Nobody is left at the other end, or it talks nonsense.
    Lost,
}

/// What came out of the program.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// This many bytes.
    Bytes(usize),
    /// Nothing at the moment, or nothing ever again.
    Nothing,
}

/// What is known to be left when supervisors are lost.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// The guard made sure that nothing is.
    Nothing,
    /// Processes that moved to sessions of their own, perhaps.
    Perhaps,
}

impl Link {
    /// Starts a supervisor and hands it the job.
    pub(crate) fn start(
        command: &[OsString],
        invocation: &Invocation,
        job: &[u8],
    ) -> Result<Self, ProcessError> {
        let stdin = stdin(invocation)?;
        let link = Self::spawn(command, stdin).map_err(|error| failed("cannot be started", &error))?;
        (&link.control).write_all(job).map_err(|error| failed("does not take its job", &error))?;
        link.control.set_nonblocking(true).map_err(|error| failed("cannot be listened to", &error))?;
        Ok(link)
    }

    fn spawn(command: &[OsString], stdin: Stdio) -> io::Result<Self> {
        let Some((program, arguments)) = command.split_first() else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "no command for it was given"));
        };
        let (control, theirs) = UnixStream::pair()?;
        let (output, write) = io::pipe()?;
        control.set_write_timeout(Some(HANDOVER))?;
        fcntl(&output, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        #[cfg(target_os = "linux")]
        {
            // A user with many pipes gets small ones, which are slower and just as good.
            let _ = fcntl(&output, FcntlArg::F_SETPIPE_SZ(PIPE));
        }
        let mut command = Command::new(program);
        command.args(arguments).env_clear().stdin(stdin).stdout(Stdio::from(write));
        let guard = command.stderr(Stdio::from(OwnedFd::from(theirs))).spawn()?;
        Ok(Self { guard, control, arrived: Vec::new(), output: Some(output) })
    }

    /// Waits until there is something to read, at most this long.
    pub(crate) fn wait(&self, at_most: Duration) {
        let mut descriptors = vec![PollFd::new(self.control.as_fd(), PollFlags::POLLIN)];
        let output = self.output.as_ref().map(|output| PollFd::new(output.as_fd(), PollFlags::POLLIN));
        descriptors.extend(output);
        let timeout = PollTimeout::try_from(at_most).unwrap_or(PollTimeout::MAX);
        // An interrupted wait is a short wait; the caller looks at everything anyway.
        let _ = poll(&mut descriptors, timeout);
    }

    /// Reads output.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> Piece {
        let Some(output) = &mut self.output else { return Piece::Nothing };
        match output.read(buffer) {
            Ok(0) => {
                self.output = None;
                Piece::Nothing
            }
            Ok(length) => Piece::Bytes(length),
            Err(error) if is_for_now(&error) => Piece::Nothing,
            Err(_) => {
                self.output = None;
                Piece::Nothing
            }
        }
    }

    /// The next report.
    pub(crate) fn hear(&mut self) -> Heard {
        loop {
            match take_frame(&mut self.arrived).map(|frame| frame.map(|body| Report::parse(&body))) {
                Ok(Some(Ok(report))) => return Heard::Report(report),
                Ok(Some(Err(_))) | Err(_) => return Heard::Lost,
                Ok(None) => {}
            }
            let mut piece = [0; 4096];
            match self.control.read(&mut piece) {
                Ok(0) => return Heard::Lost,
                Ok(length) => self.arrived.extend(piece.iter().take(length)),
                Err(error) if is_for_now(&error) => return Heard::Nothing,
                Err(_) => return Heard::Lost,
            }
        }
    }

    /// Says what is wanted. Nobody may be listening, which [`Link::hear`] tells.
    pub(crate) fn order(&mut self, order: Order) {
        let _ = self.control.write_all(&order.frame());
    }

    /// Ends a keeper that does not answer; the guard, should it be stopped, is made to go on and ends the tree.
    pub(crate) fn depose(&self, keeper: Option<i32>) {
        if let Some(keeper) = keeper.filter(|keeper| *keeper > 1) {
            let _ = kill(Pid::from_raw(keeper), Signal::SIGKILL);
        }
        if let Some(guard) = self.guard() {
            let _ = kill(guard, Signal::SIGCONT);
        }
    }

    /// Ends what can still be found when the supervisors are gone or do not answer, and says what that leaves.
    pub(crate) fn abandon(mut self, bound: Duration) -> Left {
        if let Some(guard) = self.guard() {
            let _ = kill(guard, Signal::SIGKILL);
            tree::end_session(guard, Instant::now() + bound);
        }
        // A guard that had ended by then keeps its own word, which is success only when nothing is left.
        if self.guard.wait().is_ok_and(|status| status.success()) { Left::Nothing } else { Left::Perhaps }
    }

    fn guard(&self) -> Option<Pid> {
        i32::try_from(self.guard.id()).ok().map(Pid::from_raw)
    }
}

impl Drop for Link {
    /// Lets the supervisors end what is left, which after a good end is nothing, and waits for them.
    fn drop(&mut self) {
        let _ = self.control.shutdown(Shutdown::Write);
        self.output = None;
        let until = Instant::now() + FAREWELL;
        // The keeper may outlive a guard that was killed, so it is the socket that tells that both are done.
        while self.hear() != Heard::Lost && Instant::now() < until {
            self.wait(until.saturating_duration_since(Instant::now()));
        }
        // It closes a moment before its last holder can be reaped.
        while matches!(self.guard.try_wait(), Ok(None)) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
        let _ = self.guard.kill();
        let _ = self.guard.wait();
    }
}

/// What the program reads: a file without a name, so that nothing has to be fed to a program that does not read.
fn stdin(invocation: &Invocation) -> Result<Stdio, ProcessError> {
    let bytes = match &invocation.stdin {
        Stdin::Closed => return Ok(Stdio::null()),
        Stdin::Bytes(bytes) => bytes,
    };
    let beside = invocation.output.parent().filter(|parent| !parent.as_os_str().is_empty());
    let file = || {
        let mut file = tempfile::tempfile_in(beside.unwrap_or(Path::new(".")))?;
        file.write_all(bytes)?;
        file.rewind()?;
        Ok(Stdio::from(file))
    };
    file().map_err(|source| ProcessError::Output { path: invocation.output.clone(), source })
}

fn is_for_now(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

fn failed(what: &str, error: &io::Error) -> ProcessError {
    ProcessError::Supervisor(format!("it {what}: {error}"))
}
