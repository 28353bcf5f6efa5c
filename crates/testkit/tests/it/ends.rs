//! The server ends with the process that started it, and reports why it does not start.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;

use fixpoint_testkit::{Reply, Rule, Script, ScriptError, ScriptedServer, StartError};

use crate::client::{Client, TIMEOUT, start, until};

const PROGRAM: &str = env!("CARGO_BIN_EXE_scripted-server");

fn script() -> Script {
    Script::new().rule(Rule::new("any").reply(Reply::text("a")))
}

fn written(script: &Script) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    serde_json::to_writer(&file, script).unwrap();
    file
}

/// The program itself, without the library. It is killed when the value is dropped.
pub(crate) struct Program {
    child: Child,
    pub(crate) address: String,
    _script: tempfile::NamedTempFile,
}

impl Program {
    pub(crate) fn start(script: &Script, options: &[&OsStr]) -> Self {
        let script = written(script);
        let mut command = Command::new(PROGRAM);
        command.arg("--script").arg(script.path()).args(options);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").unwrap().to_string();
        Self { child, address, _script: script }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn it_ends_when_its_input_is_closed() {
    let mut program = Program::start(&script(), &[]);
    // An open connection does not keep the server running.
    let _client = Client::new(&program.address);
    drop(program.child.stdin.take());
    until(|| program.child.try_wait().unwrap().is_some_and(|status| status.success()));
}

/// Its input stays open here, only the parent ends. The end of its output shows that the server has ended.
#[test]
fn it_ends_when_its_parent_ends() {
    let script = written(&script());
    let mut parent = Command::new("sh")
        .args(["-c", "exec 3<&0; \"$0\" --script \"$1\" <&3 3<&- & exec 1>&-; wait"])
        .arg(PROGRAM)
        .arg(script.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(parent.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    assert!(line.starts_with("listening on http://127.0.0.1:"), "{line}");
    let input = parent.stdin.take();
    parent.kill().unwrap();
    parent.wait().unwrap();
    let (ended, end) = mpsc::channel();
    thread::spawn(move || ended.send(out.read_to_string(&mut line).is_ok()));
    assert_eq!(end.recv_timeout(TIMEOUT), Ok(true));
    drop(input);
}

#[test]
fn it_ends_when_the_value_is_dropped() {
    let server = start(&script());
    assert_eq!(server.url(), format!("http://{}", server.address()));
    let id = server.id().to_string();
    let is_there =
        || Command::new("kill").args(["-0", &id]).stderr(Stdio::null()).status().unwrap().success();
    assert!(is_there());
    drop(server);
    assert!(!is_there());
}

#[test]
fn an_invalid_script_is_rejected() {
    let start = |script: &Script| ScriptedServer::start(script, fixpoint_testkit::Options::default());
    let no_replies = Script::new().rule(Rule::new("r"));
    assert!(
        matches!(start(&no_replies), Err(StartError::Script(ScriptError::NoReplies(name))) if name == "r")
    );
    let twice = script().rule(Rule::new("any").reply(Reply::text("b")));
    assert!(
        matches!(start(&twice), Err(StartError::Script(ScriptError::DuplicateName(name))) if name == "any")
    );
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), r#"{"rules": [{"name": "r", "repiles": []}]}"#).unwrap();
    let said = Command::new(PROGRAM).arg("--script").arg(file.path()).stdin(Stdio::piped()).output().unwrap();
    let why = String::from_utf8(said.stderr).unwrap();
    assert_eq!(said.status.code(), Some(2));
    assert!(why.contains("repiles"), "{why}");
}

#[test]
fn a_port_in_use_is_named() {
    let first = start(&script());
    let port = first.address().rsplit(':').next().unwrap().parse().unwrap();
    let options = fixpoint_testkit::Options { port, ..Default::default() };
    let second = ScriptedServer::start(&script(), options);
    assert!(matches!(&second, Err(StartError::Ended(why)) if why.contains(&port.to_string())), "{second:?}");
}
