//! Trees of processes that do not want to end with their root.

use std::fs;
use std::thread;
use std::time::Duration;

use fixpoint_ports::{Cancel, ExitCause};

use crate::stage::{LONG, Stage, actor};

#[test]
fn a_daemon_in_its_own_session_is_ended_and_counted() {
    let stage = Stage::new();
    let ended = stage.run(&stage.shell("setsid -f sleep 1000 >/dev/null 2>&1 </dev/null; exit 3"));
    assert_eq!((ended.cause, ended.stragglers), (ExitCause::Exited(3), 1));
}

#[test]
fn a_daemon_that_keeps_the_output_open_holds_nobody_up() {
    let stage = Stage::new();
    let ended =
        stage.run(&stage.shell("(setsid sh -c 'trap \"\" TERM; sleep 1000; sleep 1000' &); echo gone"));
    assert_eq!((ended.cause, stage.output().as_str()), (ExitCause::Exited(0), "gone\n"));
    assert!(ended.stragglers >= 2, "the shell and its sleep, not {}", ended.stragglers);
    assert!(ended.duration < LONG / 2, "{:?}", ended.duration);
}

#[test]
fn what_ends_by_itself_soon_is_no_straggler() {
    let stage = Stage::new();
    let ended = stage.run(&stage.shell("(sleep 0.01; echo late) & exit 0"));
    assert_eq!((ended.cause, ended.stragglers), (ExitCause::Exited(0), 0));
    assert_eq!(stage.output(), "late\n");
}

#[test]
fn grandchildren_end_with_a_limit() {
    let stage = Stage::new();
    let mut invocation =
        stage.shell("sh -c 'sh -c \"sleep 1000 & sleep 1000; :\" & sleep 1000; :' & wait; :");
    invocation.limits.wall = Duration::from_millis(400);
    let ended = stage.run(&invocation);
    assert_eq!(ended.cause, ExitCause::TimedOut);
    assert!(ended.stragglers >= 5, "{}", ended.stragglers);
}

#[test]
fn stopped_processes_end_too() {
    let stage = Stage::new();
    let ended =
        stage.run(&stage.shell("sleep 1000 & kill -STOP $!; setsid sh -c 'kill -STOP $$' & sleep 0.1"));
    assert_eq!((ended.cause, ended.stragglers), (ExitCause::Exited(0), 2));
    let ended = stage.run_and(&stage.shell("echo ready; kill -STOP $$"), Cancel::ask).unwrap();
    assert_eq!(ended.cause, ExitCause::Cancelled);
}

#[test]
fn hundreds_in_sessions_of_their_own_are_all_ended() {
    let stage = Stage::new();
    let line = "i=0; while [ $i -lt 300 ]; do setsid sh -c 'trap \"\" TERM; while :; do sleep 100; done' & \
                i=$((i+1)); done; echo ready; wait";
    let ended = stage.run_and(&stage.shell(line), Cancel::ask).unwrap();
    assert_eq!(ended.cause, ExitCause::Cancelled);
    assert!(ended.stragglers >= 300, "{}", ended.stragglers);
}

#[test]
fn a_process_that_never_stands_still_is_caught() {
    let stage = Stage::new();
    fs::write(stage.file("leash"), "").unwrap();
    let line = format!("for i in 1 2 3 4; do {} hand-on leash & done; echo ready; sleep 1000", actor());
    let ended = stage.run_and(&stage.shell(&line), Cancel::ask).unwrap();
    assert_eq!(ended.cause, ExitCause::Cancelled);
    assert!(ended.stragglers >= 1);
}

#[test]
fn a_tree_that_forks_while_it_is_killed_is_ended() {
    let stage = Stage::new();
    fs::write(stage.file("leash"), "").unwrap();
    // Every process keeps four of its kind alive, for as long as the leash is there and the tree is not too deep.
    let script = "d=$1; trap '' TERM; while [ -e leash ]; do [ $d -lt 4 ] && for i in 1 2 3 4; do \
                  sh ./bomb $((d+1)) & done; [ $d = 0 ] && echo ready; wait; sleep 0.02; done";
    fs::write(stage.file("bomb"), script).unwrap();
    let mut invocation = stage.direct("sh", &["./bomb", "0"]);
    invocation.limits.grace = Duration::from_millis(50);
    let ended = stage.run_and(&invocation, Cancel::ask).unwrap();
    assert_eq!(ended.cause, ExitCause::Cancelled);
}

#[test]
fn twenty_at_once_do_not_disturb_each_other() {
    let stages: Vec<Stage> = (0..20).map(|_| Stage::new()).collect();
    thread::scope(|scope| {
        for (number, stage) in stages.iter().enumerate() {
            scope.spawn(move || {
                let line = format!("setsid -f sleep 1000; head -c 200000 /dev/zero; exit {number}");
                let ended = stage.run(&stage.shell(&line));
                let expected = (ExitCause::Exited(i32::try_from(number).unwrap()), 200_000, 1);
                assert_eq!((ended.cause, ended.output.written, ended.stragglers), expected);
            });
        }
    });
}
