//! Every recording in `fixtures` is read as its `.expected.json` says. `FIXPOINT_RECORD=1` writes these files again; review
//! them before committing.

use std::fs;
use std::path::{Path, PathBuf};

use fixpoint_agents::{OutputStream, Progress, Session, Transcript, Turn, agent_named};
use fixpoint_ports::ToolOutcome;
use proptest::prelude::*;
use serde_json::{Value, json};

fn recordings() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let below = |directory: &Path| -> Vec<PathBuf> {
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect()
    };
    let mut found = Vec::new();
    for agent in below(&root).into_iter().filter(|path| path.is_dir()) {
        let name = agent.file_name().unwrap().to_str().unwrap().to_string();
        for file in below(&agent).iter().flat_map(|version| below(version)) {
            if file.extension().is_some_and(|extension| extension == "jsonl") {
                found.push((name.clone(), file));
            }
        }
    }
    found.sort();
    found
}

fn outcome(outcome: ToolOutcome) -> &'static str {
    match outcome {
        ToolOutcome::Success => "success",
        ToolOutcome::Failure => "failure",
    }
}

fn progress(progress: &Progress) -> Value {
    match progress {
        Progress::Session(id) => json!({"session": id}),
        Progress::Model(model) => json!({"model": model}),
        Progress::Text(text) => json!({"text": text}),
        Progress::Thinking(text) => json!({"thinking": text}),
        Progress::ToolCall { id, name, summary } => {
            json!({"tool_call": {"id": id, "name": name, "summary": summary}})
        }
        Progress::ToolResult { id, outcome: how, summary } => {
            json!({"tool_result": {"id": id, "outcome": outcome(*how), "summary": summary}})
        }
        Progress::Usage(usage) => json!({"usage": usage}),
        Progress::Notice(text) => json!({"notice": text}),
        Progress::Error(text) => json!({"error": text}),
        Progress::Line(text) => json!({"line": text}),
        Progress::Finished { outcome, text } => {
            json!({"finished": {"outcome": outcome.name(), "text": text}})
        }
    }
}

fn transcript(transcript: &Transcript) -> Value {
    let session = transcript.session.as_ref();
    json!({
        "session": session.map(|session| json!({"id": session.id, "used": session.used})),
        "model": transcript.model,
        "usage": transcript.usage,
        "last_message": transcript.last_message,
        "agent_text": transcript.agent_text.as_ref().map(fixpoint_agents::AgentText::text),
        "errors": transcript.errors,
        "tool_calls": transcript.tool_calls,
        "failed_tool_calls": transcript.failed_tool_calls,
        "unknown_lines": transcript.unknown_lines,
        "last_unknown_line": transcript.last_unknown_line,
        "outcome": transcript.outcome.map(fixpoint_agents::TurnOutcome::name),
    })
}

fn session(expected: &Value) -> Option<Session> {
    let session = expected.get("resumes")?;
    let used = serde_json::from_value(session["used"].clone()).unwrap();
    Some(Session { id: session["id"].as_str().unwrap().to_string(), used })
}

/// What is read from a recording, and the session it resumes.
fn read(agent: &str, file: &Path, session: Option<&Session>) -> Value {
    let agent = agent_named(agent).unwrap();
    // This recording was made with `--output-format json`.
    let arguments: Vec<String> = match file.file_stem().and_then(|stem| stem.to_str()) {
        Some("json-result") => vec!["--output-format=json".to_string()],
        _ => vec![],
    };
    let turn = Turn {
        program: agent.name(),
        arguments: &arguments,
        prompt: "",
        prompt_file: Path::new("/p.md"),
        session,
        model: None,
        max_cost: None,
        allowed_commands: &[],
    };
    let mut stream = OutputStream::new(agent.reader(&turn));
    let mut seen = stream.push(&fs::read(file).unwrap());
    let (last, transcript_read) = stream.finish();
    seen.extend(last);
    let mut read = json!({
        "progress": seen.iter().map(progress).collect::<Vec<_>>(),
        "transcript": transcript(&transcript_read),
    });
    if let Some(session) = session {
        read["resumes"] = json!({"id": session.id, "used": session.used});
    }
    read
}

#[test]
fn every_recording_is_read_as_expected() {
    let recordings = recordings();
    assert!(recordings.len() > 20);
    for (agent, file) in recordings {
        let expected_file = file.with_extension("expected.json");
        let expected: Value =
            fs::read_to_string(&expected_file).map_or(json!({}), |text| serde_json::from_str(&text).unwrap());
        let found = read(&agent, &file, session(&expected).as_ref());
        if std::env::var_os("FIXPOINT_RECORD").is_some() {
            fs::write(&expected_file, format!("{found:#}\n")).unwrap();
        } else {
            assert_eq!(found, expected, "{}", file.display());
        }
    }
}

/// Catches adding up totals, and losing the usage of a session before it was resumed.
#[test]
fn the_runs_of_a_session_add_up_to_its_total() {
    for agent in ["claude/2.1.197", "codex/0.166.0"] {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(agent);
        let name = agent.split('/').next().unwrap();
        let first = read(name, &root.join("tool-call.jsonl"), None);
        let before = first["transcript"]["session"].clone();
        let session = session(&json!({"resumes": before}));
        let second = read(name, &root.join("resumed.jsonl"), session.as_ref());
        let tokens = |usage: &Value, kind: &str| usage[kind].as_u64().unwrap();
        for kind in ["input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens"] {
            let sum =
                tokens(&first["transcript"]["usage"], kind) + tokens(&second["transcript"]["usage"], kind);
            assert_eq!(tokens(&second["transcript"]["session"]["used"], kind), sum, "{agent} {kind}");
            assert_eq!(
                tokens(&first["transcript"]["usage"], kind),
                2 * tokens(&second["transcript"]["usage"], kind),
                "{agent} {kind}: the first run made two requests of one size, the second one"
            );
        }
    }
}

/// Everything read from these bytes, in chunks of these sizes.
fn in_chunks(agent: &str, bytes: &[u8], sizes: &[usize]) -> (Vec<Progress>, Transcript) {
    let turn = Turn {
        program: agent,
        arguments: &[],
        prompt: "",
        prompt_file: Path::new("/p.md"),
        session: None,
        model: None,
        max_cost: None,
        allowed_commands: &[],
    };
    let mut stream = OutputStream::new(agent_named(agent).unwrap().reader(&turn));
    let mut seen = Vec::new();
    let mut rest = bytes;
    for size in sizes.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (piece, after) = rest.split_at((*size).min(rest.len()));
        seen.extend(stream.push(piece));
        rest = after;
    }
    let (last, transcript) = stream.finish();
    seen.extend(last);
    (seen, transcript)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Catches reading a chunk instead of a line, and cutting a text inside a character.
    #[test]
    fn damaged_recordings_are_read_alike_in_any_chunks(
        which in any::<prop::sample::Index>(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..40),
        sizes in prop::collection::vec(1_usize..500, 1..20),
    ) {
        let recordings = recordings();
        let (agent, file) = which.get(&recordings);
        let mut bytes = fs::read(file).unwrap();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let whole = in_chunks(agent, &bytes, &[bytes.len()]);
        prop_assert_eq!(in_chunks(agent, &bytes, &sizes), whole);
    }
}
