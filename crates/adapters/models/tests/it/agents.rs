//! Agents used as models, replaced by small shell scripts, and commands that print keys.

use std::ffi::OsString;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use fixpoint_models::{Availability, DetectMode, ModelEnvironment, ProgramRunner, Resolver, detect};
use fixpoint_ports::{
    Cancel, CapturedOutput, ExitCause, Invocation, Message, Model, ModelError, ModelRequest, ProcessError,
    ProcessExit, Processes, Program, Stdin,
};
use fixpoint_vocabulary::settings::{Endpoint, ModelSettings};
use fixpoint_vocabulary::usage::{CountSource, MicroUsd, Usage};
use serde_json::json;

use crate::server::{Server, ok};
use crate::setup::{ask, completion, document_question, limits, network, question, schema, weather};

/// Runs programs directly, with as much supervision as the tests need.
struct PlainProcesses;

impl Processes for PlainProcesses {
    fn run(
        &self,
        invocation: &Invocation,
        cancel: &Cancel,
        progress: &mut dyn FnMut(&[u8]),
    ) -> Result<ProcessExit, ProcessError> {
        let mut command = match &invocation.program {
            Program::Direct { program, arguments } => {
                let mut command = Command::new(program);
                command.args(arguments);
                command
            }
            Program::Shell(line) => {
                let mut command = Command::new("sh");
                command.arg("-c").arg(line);
                command
            }
        };
        let started = Instant::now();
        let mut child = command
            .current_dir(&invocation.directory)
            .env_clear()
            .envs(invocation.environment.iter().cloned())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| ProcessError::Supervisor(error.to_string()))?;
        let mut stdin = child.stdin.take().unwrap();
        if let Stdin::Bytes(bytes) = &invocation.stdin {
            let _ = stdin.write_all(bytes);
        }
        drop(stdin);
        let cause = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break ExitCause::Exited(status.code().unwrap_or(-1));
            }
            if cancel.is_asked() || started.elapsed() >= invocation.limits.wall {
                child.kill().unwrap();
                child.wait().unwrap();
                break if cancel.is_asked() { ExitCause::Cancelled } else { ExitCause::TimedOut };
            }
            std::thread::yield_now();
        };
        let mut output = Vec::new();
        if matches!(cause, ExitCause::Exited(_)) {
            child.stdout.take().unwrap().read_to_end(&mut output).unwrap();
        }
        output.chunks(7).for_each(progress);
        let captured =
            CapturedOutput { path: invocation.output.clone(), written: output.len() as u64, omitted: 0 };
        Ok(ProcessExit {
            cause,
            duration: started.elapsed(),
            output: captured,
            stragglers: 0,
            refused: Vec::new(),
        })
    }
}

/// A directory with a program of this name.
fn installed(name: &str, script: &str) -> tempfile::TempDir {
    let bin = tempfile::tempdir().unwrap();
    let file = bin.path().join(name);
    fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    bin
}

fn environment(bin: &Path) -> ModelEnvironment {
    let path: OsString = format!("{}:/usr/bin:/bin", bin.display()).into();
    let variables = vec![
        ("PATH".into(), path),
        ("SEEN".into(), bin.join("seen").into()),
        ("SOME_TOKEN".into(), "open-sesame-open".into()),
    ];
    let mut environment = ModelEnvironment::new(Default::default(), network(limits()));
    environment.programs =
        Some(ProgramRunner { processes: Arc::new(PlainProcesses), environment: variables });
    environment.ports = fixpoint_models::LocalPorts { ollama: 1, llamacpp: 1, lmstudio: 1 };
    environment
}

fn agent(bin: &Path, name: &str) -> Arc<dyn Model> {
    let settings = ModelSettings::default();
    Resolver::new(&settings, &environment(bin)).model(name).unwrap()
}

const CLAUDE: &str = r#"{ pwd; ls -A; printf '%s\n' "$@"; echo ---; cat; } > "$SEEN"
echo '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"four","total_cost_usd":0.5,"usage":{"input_tokens":3,"cache_creation_input_tokens":20,"cache_read_input_tokens":100,"output_tokens":5}}'"#;

#[test]
fn claude_answers_without_tools_in_an_empty_directory() {
    let bin = installed("claude", CLAUDE);
    let (reply, streamed) = ask(&*agent(bin.path(), "agent:claude"), &document_question(schema()));
    let reply = reply.unwrap();
    let usage = Usage {
        calls: 1,
        input_tokens: 3,
        cache_read_tokens: 100,
        cache_write_tokens: 20,
        output_tokens: 5,
        cost: Some(MicroUsd(500_000)),
        counted: CountSource::Told,
    };
    assert_eq!((reply.text.as_str(), reply.usage, streamed.as_str()), ("four", usage, "four"));
    let seen = fs::read_to_string(bin.path().join("seen")).unwrap();
    let (arguments, input) = seen.split_once("---\n").unwrap();
    let (directory, arguments) = arguments.split_once('\n').unwrap();
    assert_eq!(
        arguments,
        "-p\n--output-format\njson\n--tools\n\n--strict-mcp-config\n--no-session-persistence\n--system-prompt\nBe spec.\n"
    );
    assert!(!Path::new(directory).exists(), "{directory}");
    assert!(input.starts_with("Well?\n\nAnswer with one JSON document named verdict"), "{input}");
}

#[test]
fn codex_answers_by_the_schema() {
    let script = r#"for argument; do last2=$last; last=$argument; [ "$last2" = --output-schema ] && cp "$argument" "$SEEN.schema"; done
{ printf '%s\n' "$@"; echo ---; cat; } > "$SEEN"
echo '{"type":"item.completed","item":{"type":"agent_message","text":"{\"ok\":true}"}}'
echo '{"type":"turn.completed","usage":{"input_tokens":100,"cached_input_tokens":60,"output_tokens":7}}'"#;
    let bin = installed("codex", script);
    let mut request = document_question(schema());
    request.messages.push(Message::Assistant { text: "Hm.".into(), calls: vec![] });
    request.messages.push(Message::User("Now.".into()));
    let reply = ask(&*agent(bin.path(), "agent:codex"), &request).0.unwrap();
    let usage =
        Usage { calls: 1, input_tokens: 40, cache_read_tokens: 60, output_tokens: 7, ..Usage::default() };
    assert_eq!((reply.text.as_str(), reply.usage), ("{\"ok\":true}", usage));
    let seen = fs::read_to_string(bin.path().join("seen")).unwrap();
    assert!(
        seen.starts_with("exec\n--json\n--skip-git-repo-check\n--sandbox\nread-only\n--output-schema\n"),
        "{seen}"
    );
    let conversation = "---\nBe spec.\n\n[user]\nWell?\n\n[you, earlier]\nHm.\n\n[user]\nNow.";
    assert!(seen.ends_with(conversation), "{seen}");
    let written: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(bin.path().join("seen.schema")).unwrap()).unwrap();
    assert_eq!(written, schema());
}

#[test]
fn errors_of_agents_have_their_class() {
    let result = |text: &str| json!({"type": "result", "is_error": true, "result": text}).to_string();
    for (name, script, expected) in [
        ("wrong key", format!("echo '{}'", result("Invalid API key. Please run /login")), "sign in"),
        ("usage limit", format!("echo '{}'; exit 1", result("Claude usage limit reached")), "credit"),
        ("long prompt", format!("echo '{}'", result("Prompt is too long")), "too long"),
        ("unknown option", "echo \"error: unknown option '--tools'\"; exit 1".to_string(), "refused"),
        (
            "crash that prints a secret",
            "echo 'open-sesame-open is what I know'; exit 3".to_string(),
            "unavailable",
        ),
        ("no output", "exit 0".to_string(), "unavailable"),
    ] {
        let bin = installed("claude", &script);
        let error = ask(&*agent(bin.path(), "agent:claude"), &question("Hi")).0.unwrap_err().error;
        let class = match &error {
            ModelError::SignIn { .. } => "sign in",
            ModelError::NoCredit { .. } => "credit",
            ModelError::TooLong { .. } => "too long",
            ModelError::Refused { .. } => "refused",
            ModelError::Unavailable { .. } => "unavailable",
            ModelError::TimedOut { .. } => "timed out",
            ModelError::Cancelled => "cancelled",
        };
        assert_eq!(class, expected, "{name}: {error}");
        assert!(!error.to_string().contains("sesame"), "{error}");
    }
}

#[test]
fn an_agent_that_hangs_is_killed() {
    let bin = installed("claude", "exec sleep 3600");
    let request = ModelRequest { deadline: Duration::from_millis(100), ..question("Hi") };
    let error = ask(&*agent(bin.path(), "agent:claude"), &request).0.unwrap_err().error;
    assert!(matches!(error, ModelError::TimedOut { .. }), "{error}");
}

#[test]
fn tools_are_rejected() {
    let bin = installed("claude", CLAUDE);
    let request = ModelRequest { tools: vec![weather()], ..question("Hi") };
    let failure = ask(&*agent(bin.path(), "agent:claude"), &request).0.unwrap_err();
    assert!(matches!(failure.error, ModelError::Refused { .. }));
    assert_eq!(failure.usage, Usage::default());
    assert!(!bin.path().join("seen").exists());
}

#[test]
fn an_installed_agent_is_found_last() {
    let bin = installed("codex", "exit 1");
    let detected = detect(&ModelSettings::default(), &environment(bin.path()), DetectMode::FirstFound);
    assert_eq!(detected.auto_model.as_deref(), Some("agent:codex"));
    let codex = detected.candidates.last().unwrap();
    assert_eq!(codex.availability, Availability::Found { model: "agent:codex".into() });
}

#[test]
fn a_command_may_print_the_key() {
    let server = Server::answering(vec![ok(&completion("Hello"))]);
    let bin = installed("print-key", "echo; echo '  printed-key-of-mine '");
    let mut settings = ModelSettings::default();
    let mut model = |command: &str| {
        let endpoint =
            Endpoint { url: server.url(), api_key_command: Some(command.into()), ..Endpoint::default() };
        settings.endpoints.insert("mine".into(), endpoint);
        Resolver::new(&settings, &environment(bin.path())).model("mine/x")
    };
    ask(&*model("print-key").ok().unwrap(), &question("Hi")).0.unwrap();
    assert_eq!(server.requests()[0].header("authorization").as_deref(), Some("Bearer printed-key-of-mine"));
    let mut error = |command: &str| model(command).err().unwrap().to_string();
    assert_eq!(
        error("exit 3"),
        "the endpoint `mine` cannot be used: `api_key_command` failed with exit code 3"
    );
    assert_eq!(error("true"), "the endpoint `mine` cannot be used: `api_key_command` printed no key");
}
