//! Supervisors, watchdogs and the processes that started them are killed.

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fixpoint_ports::{Cancel, ExitCause, ProcessError, Processes};
use fixpoint_processes::SupervisedProcesses;
use nix::sys::signal::{Signal, kill};

use crate::fixture::{Fixture, LONG, test_program, wait_until};

/// Children, a daemon in its own session, and a process that ignores SIGTERM.
const TREE: &str = "setsid -f sleep 1000; sleep 1000 & sh -c 'trap \"\" TERM; sleep 1000; sleep 1000' & \
                    echo ready; wait; sleep 1000";

#[test]
fn when_the_process_that_started_it_is_killed_nothing_is_left() {
    let fixture = Fixture::new();
    let mut host = host(&fixture);
    let is_ready = || std::fs::read(fixture.file("output")).is_ok_and(|output| output == b"ready\n");
    wait_until(is_ready, || "the tree was not started".to_string());
    wait_until(|| fixture.running().len() >= 7, || format!("too few processes: {:?}", fixture.running()));
    host.kill().unwrap();
    host.wait().unwrap();
    let took = fixture.wait_until_empty();
    assert!(took < LONG / 4, "{took:?}");
}

#[test]
fn the_process_that_started_it_may_be_killed_at_any_moment() {
    let fixture = Fixture::new();
    for delay in 0..30 {
        let mut host = host(&fixture);
        // The moment is what is tested here.
        std::thread::sleep(Duration::from_micros(delay * 400));
        host.kill().unwrap();
        host.wait().unwrap();
        fixture.wait_until_empty();
    }
}

fn host(fixture: &Fixture) -> Child {
    let mut host = Command::new(test_program());
    host.arg("host").arg(&fixture.mark).arg(fixture.directory.path()).arg(TREE);
    host.stdout(Stdio::null()).spawn().unwrap()
}

#[test]
fn when_the_supervisor_is_killed_the_watchdog_kills_the_tree() {
    let fixture = Fixture::new();
    let error = fixture.run_and(&fixture.shell(TREE), |_| fixture.kill("fxp-supervisor")).unwrap_err();
    let expected = "the supervisor failed: it was killed or could not start; everything it ran was stopped";
    assert_eq!((error.to_string().as_str(), fixture.running()), (expected, Vec::new()));
}

#[test]
fn when_the_watchdog_is_killed_the_supervisor_goes_on() {
    let fixture = Fixture::new();
    let invocation = fixture.shell("echo ready; sleep 0.2; setsid -f sleep 1000; exit 4");
    let exit = fixture.run_and(&invocation, |_| fixture.kill("fxp-watchdog")).unwrap();
    assert_eq!((exit.cause, exit.stragglers), (ExitCause::Exited(4), 1));
}

#[test]
fn when_both_are_killed_the_processes_in_their_session_are_killed() {
    let fixture = Fixture::new();
    let error = fixture.run_and(&fixture.shell("sleep 1000 & echo ready; wait"), |_| {
        let (watchdog, supervisor) = (fixture.find("fxp-watchdog"), fixture.find("fxp-supervisor"));
        kill(watchdog, Signal::SIGKILL).unwrap();
        kill(supervisor, Signal::SIGKILL).unwrap();
    });
    assert!(matches!(error, Err(ProcessError::Supervisor(_))), "{error:?}");
}

#[test]
fn a_program_may_kill_its_supervisor_itself() {
    let fixture = Fixture::new();
    let error = fixture.run_and(&fixture.shell("sleep 1000 & echo ready; kill -9 $PPID; wait"), |_| {});
    assert!(matches!(error, Err(ProcessError::Supervisor(_))), "{error:?}");
}

#[test]
#[ignore = "waits for the deadline of a supervisor, a quarter of a minute"]
fn a_supervisor_and_a_watchdog_that_are_stopped_are_killed() {
    let fixture = Fixture::new();
    let mut invocation = fixture.shell(TREE);
    invocation.limits.wall = Duration::from_millis(500);
    let started = Instant::now();
    let error = fixture.run_and(&invocation, |_| {
        kill(fixture.find("fxp-supervisor"), Signal::SIGSTOP).unwrap();
        kill(fixture.find("fxp-watchdog"), Signal::SIGSTOP).unwrap();
    });
    assert!(matches!(error, Err(ProcessError::Supervisor(_))), "{error:?}");
    assert!(started.elapsed() < LONG, "{:?}", started.elapsed());
}

#[test]
fn a_command_that_is_no_supervisor_is_an_error() {
    let fixture = Fixture::new();
    let commands: [&[&str]; 4] = [&[], &["/no/such/supervisor"], &["true"], &[test_program(), "nonsense"]];
    for command in commands {
        let command: Vec<OsString> = command.iter().map(OsString::from).collect();
        let processes = SupervisedProcesses::new(command.clone());
        let error = processes.run(&fixture.shell("true"), &Cancel::default(), &mut |_| {}).unwrap_err();
        assert!(matches!(error, ProcessError::Supervisor(_)), "{command:?}: {error}");
    }
}

#[test]
fn when_the_callback_for_output_panics_nothing_is_left() {
    let fixture = Fixture::new();
    let run = AssertUnwindSafe(|| fixture.run_and(&fixture.shell(TREE), |_| panic!("a panic of the test")));
    assert!(catch_unwind(run).is_err());
    assert_eq!(fixture.running(), [], "before the panic is passed on, not after it");
}
