//! The keeper: starts the program, tells what becomes of it, and ends its tree.
//!
//! Invariant: it reports `Done` only when the tree is gone or could not be ended within the bound, and says which.

use std::fs;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use fixpoint_ports::Program;
use nix::unistd::{Pid, getpid};

use super::ending::{Ending, Over};
use super::events::{Event, listen, notice_deaths};
use crate::tree;
use crate::wire::{Job, Order, Report, read_frame};

/// The longest grace when the process that wanted the program is gone: nobody is left who would wait.
const ORPHAN_GRACE: Duration = Duration::from_secs(2);

/// Runs the job that comes over the socket to its end.
pub(super) fn keep() -> io::Result<Over> {
    tree::rename(c"fxp-keeper");
    tree::adopt_orphans()?;
    let mut control = UnixStream::from(io::stderr().as_fd().try_clone_to_owned()?);
    control.write_all(&Report::Ready(getpid().as_raw()).frame())?;
    let job = Job::parse(&read_frame(&mut control)?).map_err(io::Error::other)?;

    let (sender, events) = sync_channel(16);
    listen(control.try_clone()?, sender.clone())?;
    let program = match start(&job) {
        Ok(program) => program,
        Err(reason) => {
            let over = Over { stragglers: 0, left: 0 };
            tell(&mut control, &Report::NotStarted(reason));
            tell(&mut control, &over.report());
            return Ok(over);
        }
    };
    tell(&mut control, &Report::Started);
    notice_deaths(program, sender)?;

    let mut ending = Ending::new(program, job.grace);
    loop {
        if let Some(over) = ending.over() {
            tell(&mut control, &over.report());
            return Ok(over);
        }
        let event = events.recv_timeout(ending.wait(Instant::now()));
        let now = Instant::now();
        match event {
            Ok(Event::ProgramEnded(how)) => {
                tell(&mut control, &how);
                ending.settle(now);
            }
            Ok(Event::Ordered(Order::End)) => ending.ask(now, job.grace),
            Ok(Event::Ordered(Order::Kill)) => ending.kill(now),
            Ok(Event::ParentGone) => ending.ask(now, job.grace.min(ORPHAN_GRACE)),
            Ok(Event::Childless) => ending.childless(),
            Err(RecvTimeoutError::Timeout) => ending.tick(now),
            // Without its threads the keeper knows nothing any more, except how to end everything.
            Err(RecvTimeoutError::Disconnected) => {
                ending.kill(now);
                ending.tick(now);
            }
        }
    }
}

/// Says something to the process that started us. It may be gone, which the listening thread notices.
fn tell(control: &mut UnixStream, report: &Report) {
    let _ = control.write_all(&report.frame());
}

/// Starts the program in a process group of its own, or says in words why that cannot be done.
fn start(job: &Job) -> Result<Pid, String> {
    let directory = job.directory.display();
    match fs::metadata(&job.directory) {
        Ok(found) if found.is_dir() => {}
        Ok(_) => return Err(format!("{directory} is not a directory")),
        Err(error) => return Err(format!("the directory {directory} cannot be used: {error}")),
    }
    let (mut command, name) = match &job.program {
        Program::Direct { program, arguments } => {
            let mut command = Command::new(program);
            command.args(arguments);
            (command, program.to_string_lossy().into_owned())
        }
        Program::Shell(line) => {
            let mut command = Command::new("sh");
            command.arg("-c").arg(line);
            (command, "sh".to_string())
        }
    };
    let both_streams = io::stdout().as_fd().try_clone_to_owned().map_err(|error| error.to_string())?;
    command.env_clear().envs(job.environment.iter().map(|(name, value)| (name, value)));
    command.current_dir(&job.directory).process_group(0).stderr(Stdio::from(both_streams));
    let child = command.spawn().map_err(|error| not_started(&name, &error))?;
    i32::try_from(child.id()).map(Pid::from_raw).map_err(|error| error.to_string())
}

fn not_started(name: &str, error: &io::Error) -> String {
    let kind = error.kind();
    let what = if kind == io::ErrorKind::NotFound {
        "was not found"
    } else if kind == io::ErrorKind::PermissionDenied {
        "may not be run"
    } else {
        "cannot be started"
    };
    format!("`{name}` {what}: {error}")
}
