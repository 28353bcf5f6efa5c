//! Processes that do not exit together with the program that started them.

use std::fs;
use std::thread;
use std::time::Duration;

use fixpoint_ports::{Cancel, ExitCause};

use crate::fixture::{Fixture, LONG, test_program};

#[test]
fn a_daemon_in_its_own_session_is_killed_and_counted() {
    let fixture = Fixture::new();
    let exit = fixture.run(&fixture.shell("setsid -f sleep 1000 >/dev/null 2>&1 </dev/null; exit 3"));
    assert_eq!((exit.cause, exit.stragglers), (ExitCause::Exited(3), 1));
}

#[test]
fn a_daemon_that_keeps_the_output_open_blocks_nothing() {
    let fixture = Fixture::new();
    let exit =
        fixture.run(&fixture.shell("(setsid sh -c 'trap \"\" TERM; sleep 1000; sleep 1000' &); echo done"));
    assert_eq!((exit.cause, fixture.output().as_str()), (ExitCause::Exited(0), "done\n"));
    assert!(exit.stragglers >= 2, "the shell and its sleep, not {}", exit.stragglers);
    assert!(exit.duration < LONG / 2, "{:?}", exit.duration);
}

#[test]
fn a_process_that_exits_soon_by_itself_is_not_counted() {
    let fixture = Fixture::new();
    let exit = fixture.run(&fixture.shell("(sleep 0.01; echo late) & exit 0"));
    assert_eq!((exit.cause, exit.stragglers), (ExitCause::Exited(0), 0));
    assert_eq!(fixture.output(), "late\n");
}

#[test]
fn grandchildren_are_killed_at_a_limit() {
    let fixture = Fixture::new();
    let mut invocation =
        fixture.shell("sh -c 'sh -c \"sleep 1000 & sleep 1000; :\" & sleep 1000; :' & wait; :");
    invocation.limits.wall = Duration::from_secs(2);
    let exit = fixture.run(&invocation);
    assert_eq!(exit.cause, ExitCause::TimedOut);
    assert!(exit.stragglers >= 5, "{}", exit.stragglers);
}

#[test]
fn stopped_processes_are_killed() {
    let fixture = Fixture::new();
    let exit =
        fixture.run(&fixture.shell("sleep 1000 & kill -STOP $!; setsid sh -c 'kill -STOP $$' & sleep 0.1"));
    assert_eq!((exit.cause, exit.stragglers), (ExitCause::Exited(0), 2));
    let exit = fixture.run_and(&fixture.shell("echo ready; kill -STOP $$"), Cancel::ask).unwrap();
    assert_eq!(exit.cause, ExitCause::Cancelled);
}

#[test]
fn hundreds_of_processes_in_sessions_of_their_own_are_killed() {
    let fixture = Fixture::new();
    let line = "i=0; while [ $i -lt 300 ]; do setsid sh -c 'trap \"\" TERM; while :; do sleep 100; done' & \
                i=$((i+1)); done; echo ready; wait";
    let exit = fixture.run_and(&fixture.shell(line), Cancel::ask).unwrap();
    assert_eq!(exit.cause, ExitCause::Cancelled);
    assert!(exit.stragglers >= 300, "{}", exit.stragglers);
}

#[test]
fn a_process_that_forks_and_exits_over_and_over_is_killed() {
    let fixture = Fixture::new();
    fs::write(fixture.file("running"), "").unwrap();
    let line =
        format!("for i in 1 2 3 4; do {} respawn running & done; echo ready; sleep 1000", test_program());
    let exit = fixture.run_and(&fixture.shell(&line), Cancel::ask).unwrap();
    assert_eq!(exit.cause, ExitCause::Cancelled);
    assert!(exit.stragglers >= 1);
}

#[test]
fn a_tree_that_forks_while_it_is_killed_is_killed() {
    let fixture = Fixture::new();
    fs::write(fixture.file("running"), "").unwrap();
    // Every process keeps four others running, as long as the file exists and the tree is not too deep.
    let script = "d=$1; trap '' TERM; while [ -e running ]; do [ $d -lt 4 ] && for i in 1 2 3 4; do \
                  sh ./bomb $((d+1)) & done; [ $d = 0 ] && echo ready; wait; sleep 0.02; done";
    fs::write(fixture.file("bomb"), script).unwrap();
    let mut invocation = fixture.direct("sh", &["./bomb", "0"]);
    invocation.limits.grace = Duration::from_millis(50);
    let exit = fixture.run_and(&invocation, Cancel::ask).unwrap();
    assert_eq!(exit.cause, ExitCause::Cancelled);
}

#[test]
fn twenty_programs_at_once_do_not_affect_each_other() {
    let fixtures: Vec<Fixture> = (0..20).map(|_| Fixture::new()).collect();
    thread::scope(|scope| {
        for (number, fixture) in fixtures.iter().enumerate() {
            scope.spawn(move || {
                let line = format!("setsid -f sleep 1000; head -c 200000 /dev/zero; exit {number}");
                let exit = fixture.run(&fixture.shell(&line));
                let expected = (ExitCause::Exited(i32::try_from(number).unwrap()), 200_000, 1);
                assert_eq!((exit.cause, exit.output.written, exit.stragglers), expected);
            });
        }
    });
}
