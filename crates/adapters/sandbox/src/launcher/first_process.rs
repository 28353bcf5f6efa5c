//! The first process of the namespace: builds the file system, starts the program, adopts orphans.

use std::convert::Infallible;
use std::fs::File;
use std::io::Write;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::prctl;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid};

use super::{LaunchError, Words, capabilities, landlock, loopback, mounts, signals};
use crate::raw::fork;
use crate::spec::{LaunchSpec, Network};

/// What the program started may take this long to end by itself, as without a sandbox.
const SETTLE_TIME: Duration = Duration::from_millis(100);
/// And this long after it was told to.
const GRACE: Duration = Duration::from_secs(1);
const POLL: Duration = Duration::from_millis(5);

/// How the program ended, as two bytes on a pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProgramEnd {
    Exited(u8),
    Killed(u8),
}

impl ProgramEnd {
    fn of(status: WaitStatus) -> Option<Self> {
        match status {
            WaitStatus::Exited(_, code) => Some(Self::Exited(u8::try_from(code & 0xff).unwrap_or(u8::MAX))),
            WaitStatus::Signaled(_, signal, _) => {
                Some(Self::Killed(u8::try_from(signal as i32).unwrap_or_default()))
            }
            WaitStatus::Stopped(..)
            | WaitStatus::PtraceEvent(..)
            | WaitStatus::PtraceSyscall(_)
            | WaitStatus::Continued(_)
            | WaitStatus::StillAlive => None,
        }
    }

    const fn bytes(self) -> [u8; 2] {
        match self {
            Self::Exited(code) => [b'x', code],
            Self::Killed(signal) => [b'k', signal],
        }
    }

    pub(super) const fn read(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [b'x', code] => Some(Self::Exited(*code)),
            [b'k', signal] => Some(Self::Killed(*signal)),
            _ => None,
        }
    }
}

/// Runs the program to its end. Does not return unless it cannot be started.
pub(super) fn run(spec: &LaunchSpec, words: &Words, end: &mut File) -> Result<Infallible, LaunchError> {
    // The parent is in another namespace and has no number here; if it is gone already, its end of the pipe is closed.
    prctl::set_pdeathsig(Signal::SIGKILL).map_err(LaunchError::errno("follow the outer process"))?;
    match &spec.network {
        Network::Shared | Network::None => {}
        Network::Loopback => loopback::bring_up()?,
        Network::Proxy { .. } => loopback::bring_up()?,
    }
    mounts::build(spec)?;
    landlock::confine_sockets()?;
    capabilities::drop_all()?;
    prctl::set_no_new_privs().map_err(LaunchError::errno("give up privileges"))?;
    // The program must not look into this process. It is dumpable itself, since it becomes another program.
    prctl::set_dumpable(false).map_err(LaunchError::errno("hide this process"))?;
    let program = start(spec, words)?;
    let status = wait_for(program);
    if let Some(ended) = status.and_then(ProgramEnd::of) {
        // If nobody reads, nobody waits for it either.
        let _ = end.write_all(&ended.bytes());
    }
    settle();
    std::process::exit(0);
}

fn start(spec: &LaunchSpec, words: &Words) -> Result<Pid, LaunchError> {
    let (read, write) =
        nix::unistd::pipe2(nix::fcntl::OFlag::O_CLOEXEC).map_err(LaunchError::errno("make a pipe"))?;
    match fork().map_err(LaunchError::system("start a process"))? {
        ForkResult::Child => {
            drop(read);
            signals::reset();
            let error = words.become_program(&spec.directory);
            let _ = write!(File::from(write), "{error}");
            std::process::exit(i32::from(super::NOT_STARTED));
        }
        ForkResult::Parent { child } => {
            drop(write);
            // Closed by the kernel when the program has started.
            let problem = std::io::read_to_string(File::from(read)).unwrap_or_default();
            if problem.is_empty() { Ok(child) } else { Err(LaunchError::Program(problem)) }
        }
    }
}

/// Waits for the program, and for orphans that end before.
fn wait_for(program: Pid) -> Option<WaitStatus> {
    loop {
        match waitpid(None, None) {
            Ok(status) if status.pid() == Some(program) => return Some(status),
            Ok(_) | Err(Errno::EINTR) => {}
            Err(_) => return None,
        }
    }
}

/// Lets what is left end by itself, then tells it to. The kernel kills the rest when this process ends.
fn settle() {
    if is_alone_by(Instant::now() + SETTLE_TIME) {
        return;
    }
    let _ = kill(Pid::from_raw(-1), Signal::SIGTERM);
    let _ = is_alone_by(Instant::now() + GRACE);
}

fn is_alone_by(deadline: Instant) -> bool {
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Err(Errno::ECHILD) => return true,
            Ok(WaitStatus::StillAlive) if Instant::now() >= deadline => return false,
            Ok(WaitStatus::StillAlive) => std::thread::sleep(POLL),
            Ok(_) | Err(_) => {}
        }
    }
}
