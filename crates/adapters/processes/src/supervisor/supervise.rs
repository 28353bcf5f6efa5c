//! The supervisor: starts the program, reports what happens to it, and stops its tree.
//!
//! Invariant: it reports `Done` only when the tree is gone or could not be killed in time, and says which.

use std::fs;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use fixpoint_ports::Program;
use nix::unistd::{Pid, getpid};

use super::events::{Event, receive_orders, report_exits};
use super::termination::{Termination, TreeEnd};
use crate::protocol::{Job, Report, StopOrder, read_frame};
use crate::tree;

/// The longest grace if the process that started us is gone.
const ORPHAN_GRACE: Duration = Duration::from_secs(2);

pub(super) fn supervise() -> io::Result<TreeEnd> {
    tree::set_process_name(c"fxp-supervisor");
    tree::adopt_orphans()?;
    let mut control = UnixStream::from(io::stderr().as_fd().try_clone_to_owned()?);
    control.write_all(&Report::Ready(getpid().as_raw()).frame())?;
    let job = Job::parse(&read_frame(&mut control)?).map_err(io::Error::other)?;

    let (sender, events) = sync_channel(16);
    receive_orders(control.try_clone()?, sender.clone())?;
    let program = match start(&job) {
        Ok(program) => program,
        Err(reason) => {
            let end = TreeEnd { stragglers: 0, left: 0 };
            send(&mut control, &Report::NotStarted(reason));
            send(&mut control, &end.report());
            return Ok(end);
        }
    };
    send(&mut control, &Report::Started);
    report_exits(program, sender)?;

    let mut termination = Termination::new(program, job.grace);
    loop {
        if let Some(end) = termination.end() {
            send(&mut control, &end.report());
            return Ok(end);
        }
        let event = events.recv_timeout(termination.wait_time(Instant::now()));
        let now = Instant::now();
        match event {
            Ok(Event::ProgramExited(report)) => {
                send(&mut control, &report);
                termination.settle(now);
            }
            Ok(Event::Ordered(StopOrder::Terminate)) => termination.terminate(now, job.grace),
            Ok(Event::Ordered(StopOrder::Kill)) => termination.kill(now),
            Ok(Event::ParentGone) => termination.terminate(now, job.grace.min(ORPHAN_GRACE)),
            Ok(Event::NoChildren) => termination.no_children(),
            Err(RecvTimeoutError::Timeout) => termination.tick(now),
            // Without its threads the supervisor gets no events; all it can do is kill everything.
            Err(RecvTimeoutError::Disconnected) => {
                termination.kill(now);
                termination.tick(now);
            }
        }
    }
}

/// Sends a report. The thread that receives orders notices if the other end is gone.
fn send(control: &mut UnixStream, report: &Report) {
    let _ = control.write_all(&report.frame());
}

/// Starts the program in a process group of its own. The error is a sentence for the user.
fn start(job: &Job) -> Result<Pid, String> {
    let directory = job.directory.display();
    match fs::metadata(&job.directory) {
        Ok(found) if found.is_dir() => {}
        Ok(_) => return Err(format!("{directory} is not a directory")),
        Err(error) => return Err(format!("cannot enter {directory}: {error}")),
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
    let stdout = io::stdout().as_fd().try_clone_to_owned().map_err(|error| error.to_string())?;
    command.env_clear().envs(job.environment.iter().map(|(name, value)| (name, value)));
    command.current_dir(&job.directory).process_group(0).stderr(Stdio::from(stdout));
    let child = command.spawn().map_err(|error| not_started(&name, &job.directory, &error))?;
    i32::try_from(child.id()).map(Pid::from_raw).map_err(|error| error.to_string())
}

fn not_started(name: &str, directory: &Path, error: &io::Error) -> String {
    let kind = error.kind();
    let problem = if kind == io::ErrorKind::NotFound && name.contains('/') && directory.join(name).exists() {
        "needs an interpreter that does not exist"
    } else if kind == io::ErrorKind::NotFound {
        "was not found"
    } else if kind == io::ErrorKind::PermissionDenied {
        "cannot be executed"
    } else {
        "cannot be started"
    };
    format!("`{name}` {problem}: {error}")
}
