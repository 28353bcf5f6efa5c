//! Output that is kept, in order, in bounded space.

use std::fs;
use std::process::Command;

use crate::stage::{Stage, actor, wait_until};

#[test]
fn both_streams_arrive_in_the_order_they_were_written() {
    let stage = Stage::new();
    stage.run(&stage.shell("for i in 1 2 3; do echo out $i; echo err $i >&2; done"));
    assert_eq!(stage.output(), "out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n");
}

#[test]
fn the_beginning_and_the_end_are_kept() {
    let stage = Stage::new();
    let mut invocation = stage.shell("seq 1 200000; echo the last line");
    invocation.limits.kept_output = 100;
    let ended = stage.run(&invocation);
    let written = 1_288_895 + 14;
    assert_eq!((ended.output.written, ended.output.omitted), (written, written - 100));
    let output = stage.output();
    assert!(
        output.starts_with("1\n2\n3\n") && output.ends_with("199999\n200000\nthe last line\n"),
        "{output}"
    );
    assert!(output.contains(&format!("\n[{} bytes left out here]---", written - 100)), "{output}");
    assert!(output.len() <= 100 + 64);
}

#[test]
fn much_output_costs_no_memory_and_no_disk() {
    let stage = Stage::new();
    let line = format!("{} flood 300000000; echo the end", actor());
    let mut host = Command::new(actor());
    let said = host.arg("host").arg(&stage.mark).arg(stage.directory.path()).arg(line).output().unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    assert!(said.contains("cause: Exited(0)") && said.contains("written: 300000008"), "{said}");
    let peak = said.split_ascii_whitespace().rev().nth(1).and_then(|kib| kib.parse::<u64>().ok());
    assert!(peak.is_some_and(|kib| kib < 16 << 10), "{said}");
    assert_eq!(fs::metadata(stage.file("output")).unwrap().len(), (1 << 20) + 64);
    assert!(stage.output().ends_with("xxxthe end\n"));
}

#[test]
fn what_was_written_before_the_end_is_kept_even_when_it_is_read_after_it() {
    let stage = Stage::new();
    // A full pipe, of which nothing more is read before the supervisors have said their last.
    let invocation = stage.shell("echo first; head -c 1048576 /dev/zero");
    let ended = stage.run_and(&invocation, |_| {
        let said_all = || !stage.living().iter().any(|(_, name)| name == "fxp-keeper");
        wait_until(said_all, || "the program is stuck".to_string());
    });
    assert_eq!(ended.unwrap().output.written, 6 + 1_048_576);
}
