//! Deaths of those who supervise, and of those they supervise for.

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fixpoint_ports::{Cancel, ExitCause, ProcessError, Processes};
use fixpoint_processes::SupervisedProcesses;
use nix::sys::signal::{Signal, kill};

use crate::stage::{LONG, Stage, actor, wait_until};

/// A tree with everything in it: children, a daemon in its own session, one that ignores requests.
const TREE: &str = "setsid -f sleep 1000; sleep 1000 & sh -c 'trap \"\" TERM; sleep 1000; sleep 1000' & \
                    echo ready; wait; sleep 1000";

#[test]
fn when_the_process_that_wanted_it_is_killed_nothing_is_left() {
    let stage = Stage::new();
    let mut host = host(&stage);
    let settled = || std::fs::read(stage.file("output")).is_ok_and(|output| output == b"ready\n");
    wait_until(settled, || "the tree never stood".to_string());
    assert!(stage.living().len() >= 7, "{:?}", stage.living());
    host.kill().unwrap();
    host.wait().unwrap();
    let took = stage.await_emptiness();
    assert!(took < LONG / 4, "{took:?}");
}

#[test]
fn at_whatever_moment_it_is_killed() {
    let stage = Stage::new();
    for delay in 0..30 {
        let mut host = host(&stage);
        // The moment is what is tried here, so it has to be waited for.
        std::thread::sleep(Duration::from_micros(delay * 400));
        host.kill().unwrap();
        host.wait().unwrap();
        stage.await_emptiness();
    }
}

fn host(stage: &Stage) -> Child {
    let mut host = Command::new(actor());
    host.arg("host").arg(&stage.mark).arg(stage.directory.path()).arg(TREE);
    host.stdout(Stdio::null()).spawn().unwrap()
}

#[test]
fn when_the_keeper_is_killed_the_guard_ends_the_tree() {
    let stage = Stage::new();
    let error = stage.run_and(&stage.shell(TREE), |_| stage.kill("fxp-keeper")).unwrap_err();
    let expected = "the supervisor failed: it was killed or could not begin; all it ran was ended";
    assert_eq!((error.to_string().as_str(), stage.living()), (expected, Vec::new()));
}

#[test]
fn when_the_guard_is_killed_the_keeper_goes_on() {
    let stage = Stage::new();
    let ended = stage.run_and(&stage.shell("echo ready; sleep 0.2; setsid -f sleep 1000; exit 4"), |_| {
        stage.kill("fxp-guard");
    });
    let ended = ended.unwrap();
    assert_eq!((ended.cause, ended.stragglers), (ExitCause::Exited(4), 1));
}

#[test]
fn when_both_are_killed_what_stayed_in_the_session_is_ended() {
    let stage = Stage::new();
    let error = stage.run_and(&stage.shell("sleep 1000 & echo ready; wait"), |_| {
        let (guard, keeper) = (stage.find("fxp-guard"), stage.find("fxp-keeper"));
        kill(guard, Signal::SIGKILL).unwrap();
        kill(keeper, Signal::SIGKILL).unwrap();
    });
    assert!(matches!(error, Err(ProcessError::Supervisor(_))), "{error:?}");
}

#[test]
fn a_program_may_kill_its_supervisor_itself() {
    let stage = Stage::new();
    let error = stage.run_and(&stage.shell("sleep 1000 & echo ready; kill -9 $PPID; wait"), |_| {});
    assert!(matches!(error, Err(ProcessError::Supervisor(_))), "{error:?}");
}

#[test]
#[ignore = "waits out the patience with a supervisor, a quarter of a minute"]
fn supervisors_that_are_stopped_are_replaced() {
    let stage = Stage::new();
    let mut invocation = stage.shell(TREE);
    invocation.limits.wall = Duration::from_millis(500);
    let began = Instant::now();
    let error = stage.run_and(&invocation, |_| {
        kill(stage.find("fxp-keeper"), Signal::SIGSTOP).unwrap();
        kill(stage.find("fxp-guard"), Signal::SIGSTOP).unwrap();
    });
    assert!(matches!(error, Err(ProcessError::Supervisor(_))), "{error:?}");
    assert!(began.elapsed() < LONG, "{:?}", began.elapsed());
}

#[test]
fn a_supervisor_that_cannot_be_started_or_is_none_is_an_error() {
    let stage = Stage::new();
    let commands: [&[&str]; 4] = [&[], &["/no/such/supervisor"], &["true"], &[actor(), "nonsense"]];
    for command in commands {
        let command: Vec<OsString> = command.iter().map(OsString::from).collect();
        let processes = SupervisedProcesses::new(command.clone());
        let error = processes.run(&stage.shell("true"), &Cancel::default(), &mut |_| {}).unwrap_err();
        assert!(matches!(error, ProcessError::Supervisor(_)), "{command:?}: {error}");
    }
}

#[test]
fn when_whoever_watches_the_output_panics_nothing_is_left() {
    let stage = Stage::new();
    let run = AssertUnwindSafe(|| stage.run_and(&stage.shell(TREE), |_| panic!("on purpose")));
    assert!(catch_unwind(run).is_err());
    assert_eq!(stage.living(), [], "before the panic goes on, not after it");
}
