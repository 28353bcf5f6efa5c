//! What the tests of this crate start: a supervisor, a process that runs something under one, and programs that
//! misbehave in ways a shell cannot.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Duration;

use fixpoint_ports::{Cancel, Invocation, ProcessLimits, Processes, Program, Stdin};
use fixpoint_processes::{SupervisedProcesses, supervisor_main};

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let command = arguments.next().unwrap_or_default();
    let rest: Vec<OsString> = arguments.collect();
    match command.to_str() {
        // By the first argument the test finds its processes.
        Some("supervise") => supervisor_main(rest.into_iter().skip(1)),
        Some("host") => host(&rest),
        Some("flood") => flood(&rest),
        Some("respawn") => respawn(&rest),
        _ => ExitCode::from(2),
    }
}

/// Runs a shell line under supervision, and prints how it ended and the peak memory of this process.
fn host(arguments: &[OsString]) -> ExitCode {
    let [mark, directory, line] = arguments else { return ExitCode::from(2) };
    let again = ["supervise".into(), mark.clone()];
    let Ok(processes) = SupervisedProcesses::by_this_program(again) else { return ExitCode::FAILURE };
    let directory = PathBuf::from(directory);
    let invocation = Invocation {
        access: fixpoint_ports::FileAccess::default(),
        program: Program::Shell(line.to_string_lossy().into_owned()),
        output: directory.join("output"),
        directory,
        environment: vec![("MARK".into(), mark.clone()), ("PATH".into(), "/usr/bin:/bin".into())],
        stdin: Stdin::Closed,
        limits: ProcessLimits {
            wall: Duration::from_secs(600),
            silence: None,
            grace: Duration::from_millis(200),
            kept_output: 1 << 20,
        },
    };
    let exit = processes.run(&invocation, &Cancel::default(), &mut |_| {});
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    let _ = writeln!(std::io::stdout(), "{exit:?}\n{peak}");
    ExitCode::SUCCESS
}

/// Writes this many bytes as fast as they are read.
fn flood(arguments: &[OsString]) -> ExitCode {
    let count = arguments.first().and_then(|count| count.to_str()?.parse().ok());
    let mut left: usize = count.unwrap_or_default();
    let chunk = [b'x'; 64 << 10];
    let mut out = std::io::stdout().lock();
    while let Some(now) = chunk.get(..left.min(chunk.len())).filter(|now| !now.is_empty()) {
        if out.write_all(now).is_err() {
            return ExitCode::FAILURE;
        }
        left -= now.len();
    }
    ExitCode::SUCCESS
}

/// Moves to a session of its own, starts itself again, and exits, over and over. Stops when the file that it is given is
/// deleted, so that a test that fails does not leave it running.
fn respawn(arguments: &[OsString]) -> ExitCode {
    let Some(file) = arguments.first() else { return ExitCode::from(2) };
    let _ = nix::unistd::setsid();
    if !PathBuf::from(file).exists() {
        return ExitCode::SUCCESS;
    }
    let Ok(own) = std::env::current_exe() else { return ExitCode::FAILURE };
    match Command::new(own).arg("respawn").arg(file).spawn() {
        Ok(_) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
