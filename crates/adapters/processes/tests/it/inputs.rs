//! Arguments, environment, directory and input of a program, and that other processes do not see them.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;

use fixpoint_ports::{Cancel, ExitCause, Processes, Program, Stdin};

use crate::fixture::Fixture;

#[test]
fn the_environment_is_exactly_the_one_given() {
    let fixture = Fixture::new();
    let mut invocation = fixture.direct("/usr/bin/env", &["-0"]);
    invocation.environment.push(("ODD".into(), OsString::from_vec(b"a\n=\xff\xfe b".to_vec())));
    invocation.environment.push(("EMPTY".into(), "".into()));
    fixture.run(&invocation);
    let written = fs::read(fixture.file("output")).unwrap();
    let mut seen: Vec<&[u8]> =
        written.split(|byte| *byte == 0).filter(|variable| !variable.is_empty()).collect();
    seen.sort_unstable();
    let mark = format!("MARK={}", fixture.mark);
    let path = b"PATH=/usr/local/bin:/usr/bin:/bin".as_slice();
    assert_eq!(seen, [b"EMPTY=".as_slice(), mark.as_bytes(), b"ODD=a\n=\xff\xfe b", path]);
}

#[test]
fn arguments_are_bytes_and_the_directory_is_the_one_given() {
    let fixture = Fixture::new();
    let unusual = OsString::from_vec(b"\xff\xfe'\"$(x)\n".to_vec());
    let arguments = vec!["%s|".into(), unusual, "".into(), "last".into()];
    fixture.run(&fixture.invocation(Program::Direct { program: "printf".into(), arguments }));
    assert_eq!(fs::read(fixture.file("output")).unwrap(), b"\xff\xfe'\"$(x)\n||last|");
    fs::create_dir(fixture.file("below")).unwrap();
    let mut invocation = fixture.shell("pwd -P");
    invocation.directory = fixture.file("below");
    fixture.run(&invocation);
    let expected = fs::canonicalize(fixture.file("below")).unwrap();
    assert_eq!(fixture.output().trim_end(), expected.to_str().unwrap());
}

#[test]
fn a_program_is_found_on_the_path_it_is_given() {
    let fixture = Fixture::new();
    std::os::unix::fs::symlink("/bin/echo", fixture.file("say")).unwrap();
    let mut invocation = fixture.direct("say", &["here"]);
    invocation.environment = vec![("PATH".into(), fixture.directory.path().into())];
    fixture.run(&invocation);
    assert_eq!(fixture.output(), "here\n");
}

#[test]
fn input_ends_also_if_it_is_empty() {
    let fixture = Fixture::new();
    let mut invocation = fixture.shell("cat; echo end");
    assert_eq!(fixture.run(&invocation).cause, ExitCause::Exited(0));
    assert_eq!(fixture.output(), "end\n");
    invocation.stdin = Stdin::Bytes(b"some\n".to_vec());
    fixture.run(&invocation);
    assert_eq!(fixture.output(), "some\nend\n");
}

#[test]
fn large_input_is_passed_on_unchanged() {
    let fixture = Fixture::new();
    let bytes: Vec<u8> = (0..10 << 20).map(|i: u32| (i % 251) as u8).collect();
    let mut invocation = fixture.direct("cat", &[]);
    invocation.stdin = Stdin::Bytes(bytes.clone());
    invocation.limits.kept_output = 20 << 20;
    let mut seen = Vec::new();
    let exit = fixture.processes.run(&invocation, &Cancel::default(), &mut |piece| {
        assert!(piece.len() <= 64 << 10);
        seen.extend_from_slice(piece);
    });
    assert_eq!(exit.unwrap().output.written, 10 << 20);
    assert!(seen == bytes && fs::read(fixture.file("output")).unwrap() == bytes, "bytes were changed");
}

#[test]
fn input_that_is_not_read_blocks_nothing() {
    let fixture = Fixture::new();
    let mut invocation = fixture.shell("echo done");
    invocation.stdin = Stdin::Bytes(vec![b'x'; 10 << 20]);
    assert_eq!(fixture.run(&invocation).cause, ExitCause::Exited(0));
    invocation = fixture.shell("exec <&-; echo closed");
    invocation.stdin = Stdin::Bytes(vec![b'x'; 10 << 20]);
    assert_eq!(fixture.run(&invocation).cause, ExitCause::Exited(0));
}

#[test]
fn supervisors_do_not_show_arguments_and_variables_of_the_program() {
    let fixture = Fixture::new();
    let mut invocation = fixture.direct("sh", &["-c", "echo ready; sleep 1000", "hidden-argument"]);
    invocation.environment.push(("TOKEN".into(), "hidden-variable".into()));
    let exit = fixture.run_and(&invocation, |cancel| {
        for name in ["fxp-watchdog", "fxp-supervisor"] {
            let pid = fixture.find(name);
            let shown = fs::read(format!("/proc/{pid}/cmdline")).unwrap();
            assert!(!String::from_utf8_lossy(&shown).contains("hidden"), "{name} shows its job");
            assert_eq!(fs::read(format!("/proc/{pid}/environ")).unwrap(), b"", "{name} has an environment");
        }
        cancel.ask();
    });
    assert_eq!(exit.unwrap().cause, ExitCause::Cancelled);
}

#[test]
fn a_program_does_not_inherit_the_socket_of_its_supervisor() {
    let fixture = Fixture::new();
    fixture.run(&fixture.shell("for f in /proc/$$/fd/*; do readlink $f; done"));
    let output = fixture.output();
    assert!(output.contains("/dev/null") && output.contains("pipe:["), "{output}");
    assert!(!output.contains("socket:["), "{output}");
}
