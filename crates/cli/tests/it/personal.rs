//! One person's settings from a service: asked for by name, laid over the files, below the command line; or the lack
//! of them told.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::thread::JoinHandle;

use serde_json::Value;

use crate::process::{Ended, fixpoint, run};

/// Answers one request with this status and body, and gives what was asked.
fn service(status: &str, body: &str) -> (String, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    let thread = std::thread::spawn(move || {
        let (mut connection, _) = listener.accept().expect("a request");
        let mut asked = Vec::new();
        let mut byte = [0];
        while !asked.ends_with(b"\r\n\r\n") && connection.read(&mut byte).expect("readable") == 1 {
            asked.push(byte[0]);
        }
        connection.write_all(answer.as_bytes()).expect("answered");
        String::from_utf8(asked).expect("text")
    });
    (url, thread)
}

/// Names the service in the user's own file: a repository may not.
fn configure(directory: &Path, keys: &str) {
    let own = directory.join("xdg/fixpoint");
    std::fs::create_dir_all(&own).expect("made");
    let text = format!("user_config_api: {{ enabled: true, timeout: 5, {keys} }}\n");
    std::fs::write(own.join("config.yaml"), text).expect("written");
}

fn bounds(directory: &Path, url: &str, required: bool, more: &[&str]) -> Ended {
    std::fs::create_dir_all(directory.join(".fixpoint")).expect("made");
    std::fs::write(directory.join(".fixpoint/config.yaml"), "planning: { max_subtasks: 50 }\n")
        .expect("written");
    configure(directory, &format!("url: \"{url}\", api_key_env: PERSONAL_KEY, required: {required}"));
    let mut command = fixpoint(directory);
    command.env("PERSONAL_KEY", "letmein-0123456789");
    run(command.args(["plan", "--bounds", "--json", "--for", "github/alice o'hara", "do it"]).args(more), b"")
}

fn attempts(ended: &Ended) -> u64 {
    let answer: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    answer["agent_attempts"].as_u64().expect("a number")
}

/// The worst case in attempts with so many tasks: ten each, for four judgements of the whole and three repairs of merges
/// as well.
const fn for_tasks(tasks: u64) -> u64 {
    (tasks + 4 + 3) * 10
}

const ANSWER: &str = r#"{"status":"success","data":{"planning":{"max_subtasks":4}}}"#;

#[test]
fn the_settings_of_a_person_lie_between_the_files_and_the_command_line() {
    let directory = tempfile::tempdir().expect("a directory");
    let (url, asked) = service("200 OK", ANSWER);
    assert_eq!(attempts(&bounds(directory.path(), &url, true, &[])), for_tasks(4));
    let asked = asked.join().expect("asked");
    assert!(asked.starts_with("GET /config/github/alice%20o%27hara HTTP/1.1\r\n"), "{asked}");
    assert!(asked.to_lowercase().contains("authorization: bearer letmein-0123456789"), "{asked}");
    let (url, _asked) = service("200 OK", ANSWER);
    let typed = bounds(directory.path(), &url, true, &["--set", "planning.max_subtasks=6"]);
    assert_eq!(attempts(&typed), for_tasks(6));
}

#[test]
fn without_an_answer_it_is_a_warning_or_an_error() {
    for (status, body) in [
        ("500 Oh", "no"),
        ("200 OK", "{not json"),
        ("200 OK", r#"{"status":"error"}"#),
        ("200 OK", r#"{"status":"success","data":{"planning":{"max_subtasks":"many"}}}"#),
    ] {
        let directory = tempfile::tempdir().expect("a directory");
        let (url, _asked) = service(status, body);
        let ended = bounds(directory.path(), &url, false, &[]);
        assert_eq!((ended.code, attempts(&ended)), (0, for_tasks(50)), "{status} {body}");
        assert!(ended.stderr.contains("continuing without them"), "{}", ended.stderr);
        let (url, _asked) = service(status, body);
        let ended = bounds(directory.path(), &url, true, &[]);
        assert_eq!(ended.code, 7, "{status} {body}");
        assert!(ended.stderr.contains("cannot get the settings of github/alice o'hara"), "{}", ended.stderr);
        assert!(!ended.stderr.contains("letmein"), "{}", ended.stderr);
    }
}

#[test]
fn a_loop_asks_for_the_settings_of_a_person_too_and_the_service_cannot_set_everything() {
    let directory = tempfile::tempdir().expect("a directory");
    let (url, asked) = service("200 OK", r#"{"status":"success","data":{"sandbox":"off"}}"#);
    configure(directory.path(), &format!("url: \"{url}\", required: true"));
    let ended = run(
        fixpoint(directory.path()).args(["loop", "--until", "true", "--for", "github/bob", "--", "true"]),
        b"",
    );
    assert!(asked.join().expect("asked").starts_with("GET /config/github/bob HTTP/1.1\r\n"));
    assert_eq!(ended.code, 7, "{}", ended.stderr);
    assert!(ended.stderr.contains("sandbox: the user config service cannot set this"), "{}", ended.stderr);
}
