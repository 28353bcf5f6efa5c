//! The connection to a supervisor: the child process, the socket, the output pipe.
//!
//! Owns the descriptors. Refuses to decide anything: it only reads and writes. Invariant: nothing here waits without a
//! limit.

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

use crate::protocol::{Report, StopOrder, take_frame};
use crate::tree;

/// How long a supervisor may take to read its job.
const JOB_TIMEOUT: Duration = Duration::from_secs(30);
/// How long watchdog and supervisor may take to exit, and to stop what is left, after the socket is closed.
const EXIT_TIMEOUT: Duration = Duration::from_secs(30);
/// The size of the output pipe: a larger one means fewer switches to a program that writes much.
#[cfg(target_os = "linux")]
const PIPE_SIZE: i32 = 1 << 20;

#[derive(Debug)]
pub(crate) struct SupervisorConnection {
    watchdog: Child,
    control: UnixStream,
    received: Vec<u8>,
    output: Option<PipeReader>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Received {
    Report(Report),
    Nothing,
    /// The other end is gone, or sent something that cannot be parsed.
    Closed,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum OutputRead {
    Bytes(usize),
    Nothing,
}

/// What may be running after watchdog and supervisor are gone.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Leftovers {
    /// The watchdog has made sure of it.
    None,
    /// Processes that moved to sessions of their own.
    Possible,
}

impl SupervisorConnection {
    pub(crate) fn start(
        command: &[OsString],
        invocation: &Invocation,
        job: &[u8],
    ) -> Result<Self, ProcessError> {
        let stdin = stdin(invocation)?;
        let connection =
            Self::spawn(command, stdin).map_err(|error| failed("it cannot be started", &error))?;
        let control = &connection.control;
        let sent = (&*control).write_all(job).and_then(|()| control.set_nonblocking(true));
        sent.map_err(|error| failed("it does not accept its job", &error))?;
        Ok(connection)
    }

    fn spawn(command: &[OsString], stdin: Stdio) -> io::Result<Self> {
        let Some((program, arguments)) = command.split_first() else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "its command is empty"));
        };
        let (control, theirs) = UnixStream::pair()?;
        let (output, write) = io::pipe()?;
        control.set_write_timeout(Some(JOB_TIMEOUT))?;
        fcntl(&output, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        #[cfg(target_os = "linux")]
        {
            // A user with many pipes only gets small ones, which are slower but work.
            let _ = fcntl(&output, FcntlArg::F_SETPIPE_SZ(PIPE_SIZE));
        }
        let mut command = Command::new(program);
        command.args(arguments).env_clear().stdin(stdin).stdout(Stdio::from(write));
        let watchdog = command.stderr(Stdio::from(OwnedFd::from(theirs))).spawn()?;
        Ok(Self { watchdog, control, received: Vec::new(), output: Some(output) })
    }

    pub(crate) fn wait(&self, at_most: Duration) {
        let mut descriptors = vec![PollFd::new(self.control.as_fd(), PollFlags::POLLIN)];
        let output = self.output.as_ref().map(|output| PollFd::new(output.as_fd(), PollFlags::POLLIN));
        descriptors.extend(output);
        let timeout = PollTimeout::try_from(at_most).unwrap_or(PollTimeout::MAX);
        // An interrupted wait is only shorter; the caller checks everything afterwards.
        let _ = poll(&mut descriptors, timeout);
    }

    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> OutputRead {
        let Some(output) = &mut self.output else { return OutputRead::Nothing };
        match output.read(buffer) {
            Ok(0) => {
                self.output = None;
                OutputRead::Nothing
            }
            Ok(length) => OutputRead::Bytes(length),
            Err(error) if is_temporary(&error) => OutputRead::Nothing,
            Err(_) => {
                self.output = None;
                OutputRead::Nothing
            }
        }
    }

    pub(crate) fn receive(&mut self) -> Received {
        loop {
            match take_frame(&mut self.received).map(|frame| frame.map(|body| Report::parse(&body))) {
                Ok(Some(Ok(report))) => return Received::Report(report),
                Ok(Some(Err(_))) | Err(_) => return Received::Closed,
                Ok(None) => {}
            }
            let mut buffer = [0; 4096];
            match self.control.read(&mut buffer) {
                Ok(0) => return Received::Closed,
                Ok(length) => self.received.extend(buffer.iter().take(length)),
                Err(error) if is_temporary(&error) => return Received::Nothing,
                Err(_) => return Received::Closed,
            }
        }
    }

    /// Sends an order. If the other end is gone, [`SupervisorConnection::receive`] returns `Closed`.
    pub(crate) fn send(&mut self, order: StopOrder) {
        let _ = self.control.write_all(&order.frame());
    }

    /// Kills a supervisor that does not answer. The watchdog kills the tree then; if it was stopped, it is continued.
    pub(crate) fn kill_supervisor(&self, supervisor: Option<i32>) {
        if let Some(supervisor) = supervisor.filter(|pid| *pid > 1) {
            let _ = kill(Pid::from_raw(supervisor), Signal::SIGKILL);
        }
        if let Some(watchdog) = self.watchdog() {
            let _ = kill(watchdog, Signal::SIGCONT);
        }
    }

    /// Kills what can still be found when watchdog and supervisor are gone or do not answer.
    pub(crate) fn abandon(mut self, timeout: Duration) -> Leftovers {
        if let Some(watchdog) = self.watchdog() {
            let _ = kill(watchdog, Signal::SIGKILL);
            tree::kill_session(watchdog, Instant::now() + timeout);
        }
        // A watchdog that has exited before with 0 has found that nothing is left.
        let is_clean = self.watchdog.wait().is_ok_and(|status| status.success());
        if is_clean { Leftovers::None } else { Leftovers::Possible }
    }

    fn watchdog(&self) -> Option<Pid> {
        i32::try_from(self.watchdog.id()).ok().map(Pid::from_raw)
    }
}

impl Drop for SupervisorConnection {
    /// Lets watchdog and supervisor stop what is left, usually nothing, and waits for them.
    fn drop(&mut self) {
        let _ = self.control.shutdown(Shutdown::Write);
        self.output = None;
        let deadline = Instant::now() + EXIT_TIMEOUT;
        // A supervisor may outlive a watchdog that was killed. The socket is closed when both are gone.
        while self.receive() != Received::Closed && Instant::now() < deadline {
            self.wait(deadline.saturating_duration_since(Instant::now()));
        }
        // That happens a moment before the process can be waited for.
        while matches!(self.watchdog.try_wait(), Ok(None)) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
        let _ = self.watchdog.kill();
        let _ = self.watchdog.wait();
    }
}

/// The input of the program as a file without a name: it needs no thread that writes to a program that may not read.
fn stdin(invocation: &Invocation) -> Result<Stdio, ProcessError> {
    let bytes = match &invocation.stdin {
        Stdin::Closed => return Ok(Stdio::null()),
        Stdin::Bytes(bytes) => bytes,
    };
    let directory = invocation.output.parent().filter(|parent| !parent.as_os_str().is_empty());
    let file = || {
        let mut file = tempfile::tempfile_in(directory.unwrap_or(Path::new(".")))?;
        file.write_all(bytes)?;
        file.rewind()?;
        Ok(Stdio::from(file))
    };
    file().map_err(|source| ProcessError::Output { path: invocation.output.clone(), source })
}

fn is_temporary(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

fn failed(what: &str, error: &io::Error) -> ProcessError {
    ProcessError::Supervisor(format!("{what}: {error}"))
}
