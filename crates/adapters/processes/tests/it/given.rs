//! What a program is given: arguments, environment, directory, input; and what nobody else sees of it.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;

use fixpoint_ports::{Cancel, ExitCause, Processes, Program, Stdin};

use crate::stage::Stage;

#[test]
fn the_environment_is_exactly_the_one_given() {
    let stage = Stage::new();
    let mut invocation = stage.direct("/usr/bin/env", &["-0"]);
    invocation.environment.push(("ODD".into(), OsString::from_vec(b"a\n=\xff\xfe b".to_vec())));
    invocation.environment.push(("EMPTY".into(), "".into()));
    stage.run(&invocation);
    let written = fs::read(stage.file("output")).unwrap();
    let mut seen: Vec<&[u8]> =
        written.split(|byte| *byte == 0).filter(|variable| !variable.is_empty()).collect();
    seen.sort_unstable();
    let mark = format!("MARK={}", stage.mark);
    let path = b"PATH=/usr/local/bin:/usr/bin:/bin".as_slice();
    assert_eq!(seen, [b"EMPTY=".as_slice(), mark.as_bytes(), b"ODD=a\n=\xff\xfe b", path]);
}

#[test]
fn arguments_are_bytes_and_the_directory_is_the_one_given() {
    let stage = Stage::new();
    let odd = OsString::from_vec(b"\xff\xfe'\"$(x)\n".to_vec());
    let arguments = vec!["%s|".into(), odd, "".into(), "last".into()];
    stage.run(&stage.invocation(Program::Direct { program: "printf".into(), arguments }));
    assert_eq!(fs::read(stage.file("output")).unwrap(), b"\xff\xfe'\"$(x)\n||last|");
    fs::create_dir(stage.file("below")).unwrap();
    let mut invocation = stage.shell("pwd -P");
    invocation.directory = stage.file("below");
    stage.run(&invocation);
    let expected = fs::canonicalize(stage.file("below")).unwrap();
    assert_eq!(stage.output().trim_end(), expected.to_str().unwrap());
}

#[test]
fn a_program_is_found_on_the_path_it_is_given() {
    let stage = Stage::new();
    std::os::unix::fs::symlink("/bin/echo", stage.file("speak")).unwrap();
    let mut invocation = stage.direct("speak", &["here"]);
    invocation.environment = vec![("PATH".into(), stage.directory.path().into())];
    stage.run(&invocation);
    assert_eq!(stage.output(), "here\n");
}

#[test]
fn input_ends_whether_there_is_some_or_not() {
    let stage = Stage::new();
    let mut invocation = stage.shell("cat; echo end");
    assert_eq!(stage.run(&invocation).cause, ExitCause::Exited(0));
    assert_eq!(stage.output(), "end\n");
    invocation.stdin = Stdin::Bytes(b"some\n".to_vec());
    stage.run(&invocation);
    assert_eq!(stage.output(), "some\nend\n");
}

#[test]
fn ten_megabytes_are_echoed() {
    let stage = Stage::new();
    let bytes: Vec<u8> = (0..10 << 20).map(|i: u32| (i % 251) as u8).collect();
    let mut invocation = stage.direct("cat", &[]);
    invocation.stdin = Stdin::Bytes(bytes.clone());
    invocation.limits.kept_output = 20 << 20;
    let mut seen = Vec::new();
    let ended = stage.processes.run(&invocation, &Cancel::default(), &mut |piece| {
        assert!(piece.len() <= 64 << 10);
        seen.extend_from_slice(piece);
    });
    assert_eq!(ended.unwrap().output.written, 10 << 20);
    assert!(seen == bytes && fs::read(stage.file("output")).unwrap() == bytes, "bytes were changed");
}

#[test]
fn input_that_nobody_reads_holds_nobody_up() {
    let stage = Stage::new();
    let mut invocation = stage.shell("echo done");
    invocation.stdin = Stdin::Bytes(vec![b'x'; 10 << 20]);
    assert_eq!(stage.run(&invocation).cause, ExitCause::Exited(0));
    invocation = stage.shell("exec <&-; echo closed");
    invocation.stdin = Stdin::Bytes(vec![b'x'; 10 << 20]);
    assert_eq!(stage.run(&invocation).cause, ExitCause::Exited(0));
}

#[test]
fn supervisors_show_nothing_of_what_they_run() {
    let stage = Stage::new();
    let mut invocation = stage.direct("sh", &["-c", "echo ready; sleep 1000", "hidden-argument"]);
    invocation.environment.push(("TOKEN".into(), "hidden-variable".into()));
    let ended = stage.run_and(&invocation, |cancel| {
        for name in ["fxp-guard", "fxp-keeper"] {
            let pid = stage.find(name);
            let shown = fs::read(format!("/proc/{pid}/cmdline")).unwrap();
            assert!(!String::from_utf8_lossy(&shown).contains("hidden"), "{name} shows its job");
            assert_eq!(fs::read(format!("/proc/{pid}/environ")).unwrap(), b"", "{name} has an environment");
        }
        cancel.ask();
    });
    assert_eq!(ended.unwrap().cause, ExitCause::Cancelled);
}

#[test]
fn a_program_holds_no_line_to_its_supervisor() {
    let stage = Stage::new();
    stage.run(&stage.shell("for f in /proc/$$/fd/*; do readlink $f; done"));
    let output = stage.output();
    assert!(output.contains("/dev/null") && output.contains("pipe:["), "{output}");
    assert!(!output.contains("socket:["), "{output}");
}
