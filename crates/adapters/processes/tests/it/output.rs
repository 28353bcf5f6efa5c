//! Output is kept in order, and in a file of bounded size.

use std::fs;
use std::process::Command;

use crate::fixture::{Fixture, test_program, wait_until};

#[test]
fn stdout_and_stderr_are_kept_in_the_order_in_which_they_were_written() {
    let fixture = Fixture::new();
    fixture.run(&fixture.shell("for i in 1 2 3; do echo out $i; echo err $i >&2; done"));
    assert_eq!(fixture.output(), "out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n");
}

#[test]
fn the_beginning_and_the_end_are_kept() {
    let fixture = Fixture::new();
    let mut invocation = fixture.shell("seq 1 200000; echo the last line");
    invocation.limits.kept_output = 100;
    let exit = fixture.run(&invocation);
    let written = 1_288_895 + 14;
    assert_eq!((exit.output.written, exit.output.omitted), (written, written - 100));
    let output = fixture.output();
    assert!(
        output.starts_with("1\n2\n3\n") && output.ends_with("199999\n200000\nthe last line\n"),
        "{output}"
    );
    assert!(output.contains(&format!("\n[{} bytes omitted]---", written - 100)), "{output}");
    assert!(output.len() <= 100 + 64);
}

#[test]
fn much_output_needs_little_memory_and_disk() {
    let fixture = Fixture::new();
    let line = format!("{} flood 300000000; echo the end", test_program());
    let mut host = Command::new(test_program());
    let printed =
        host.arg("host").arg(&fixture.mark).arg(fixture.directory.path()).arg(line).output().unwrap();
    let printed = String::from_utf8(printed.stdout).unwrap();
    assert!(printed.contains("cause: Exited(0)") && printed.contains("written: 300000008"), "{printed}");
    let peak = printed.split_ascii_whitespace().rev().nth(1).and_then(|kib| kib.parse::<u64>().ok());
    assert!(peak.is_some_and(|kib| kib < 16 << 10), "{printed}");
    assert_eq!(fs::metadata(fixture.file("output")).unwrap().len(), (1 << 20) + 64);
    assert!(fixture.output().ends_with("xxxthe end\n"));
}

#[test]
fn output_that_is_read_after_the_end_is_kept() {
    let fixture = Fixture::new();
    // The pipe is full, and is not read before the supervisor has exited.
    let invocation = fixture.shell("echo first; head -c 1048576 /dev/zero");
    let exit = fixture.run_and(&invocation, |_| {
        let has_exited = || !fixture.running().iter().any(|(_, name)| name == "fxp-supervisor");
        wait_until(has_exited, || "the supervisor did not exit".to_string());
    });
    assert_eq!(exit.unwrap().output.written, 6 + 1_048_576);
}
