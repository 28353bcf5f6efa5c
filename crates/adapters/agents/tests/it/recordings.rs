//! Every recording below `fixtures` says what is expected of it. `FIXPOINT_RECORD=1` writes that down anew, to be
//! read before it is kept.

use std::fs;
use std::path::{Path, PathBuf};

use fixpoint_agents::{Permissions, Progress, Session, Stream, Transcript, Turn, TurnLimits, User, named};
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
        "last_words": transcript.last_words,
        "said": transcript.said.as_ref().map(fixpoint_agents::Said::text),
        "errors": transcript.errors,
        "tool_calls": transcript.tool_calls,
        "failed_tool_calls": transcript.failed_tool_calls,
        "lines": transcript.lines,
        "last_line": transcript.last_line,
        "outcome": transcript.outcome.map(fixpoint_agents::Outcome::name),
    })
}

fn session(expected: &Value) -> Option<Session> {
    let session = expected.get("continues")?;
    let used = serde_json::from_value(session["used"].clone()).unwrap();
    Some(Session { id: session["id"].as_str().unwrap().to_string(), used })
}

/// What a recording says, with the session it continues.
fn read(agent: &str, file: &Path, session: Option<&Session>) -> Value {
    let agent = named(agent).unwrap();
    // The single result of `json` is asked for by a person.
    let extra: Vec<String> = match file.file_stem().and_then(|stem| stem.to_str()) {
        Some("json-result") => vec!["--output-format=json".to_string()],
        _ => vec![],
    };
    let turn = Turn {
        program: agent.name(),
        extra: &extra,
        prompt: "",
        prompt_file: Path::new("/p.md"),
        session,
        model: None,
        limits: TurnLimits::default(),
        permissions: Permissions::default(),
        may_run: &[],
        user: User::default(),
    };
    let mut stream = Stream::new(agent.reader(&turn));
    let mut seen = stream.push(&fs::read(file).unwrap());
    let (last, kept) = stream.end();
    seen.extend(last);
    let mut said = json!({
        "progress": seen.iter().map(progress).collect::<Vec<_>>(),
        "transcript": transcript(&kept),
    });
    if let Some(session) = session {
        said["continues"] = json!({"id": session.id, "used": session.used});
    }
    said
}

#[test]
fn every_recording_says_what_is_expected_of_it() {
    let recordings = recordings();
    assert!(recordings.len() > 20);
    for (agent, file) in recordings {
        let expected_file = file.with_extension("expected.json");
        let expected: Value =
            fs::read_to_string(&expected_file).map_or(json!({}), |text| serde_json::from_str(&text).unwrap());
        let said = read(&agent, &file, session(&expected).as_ref());
        if std::env::var_os("FIXPOINT_RECORD").is_some() {
            fs::write(&expected_file, format!("{said:#}\n")).unwrap();
        } else {
            assert_eq!(said, expected, "{}", file.display());
        }
    }
}

/// Catches adding up what an agent tells as a sum, and losing what a session used before it was continued.
#[test]
fn runs_of_one_session_add_up_to_what_the_session_used() {
    for agent in ["claude/2.1.197", "codex/0.166.0"] {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(agent);
        let name = agent.split('/').next().unwrap();
        let first = read(name, &root.join("tool-call.jsonl"), None);
        let before = first["transcript"]["session"].clone();
        let session = session(&json!({"continues": before}));
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

/// All that is read out of these bytes, handed over in pieces of these sizes, over and over.
fn in_pieces(agent: &str, bytes: &[u8], sizes: &[usize]) -> (Vec<Progress>, Transcript) {
    let turn = Turn {
        program: agent,
        extra: &[],
        prompt: "",
        prompt_file: Path::new("/p.md"),
        session: None,
        model: None,
        limits: TurnLimits::default(),
        permissions: Permissions::default(),
        may_run: &[],
        user: User::default(),
    };
    let mut stream = Stream::new(named(agent).unwrap().reader(&turn));
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
    let (last, transcript) = stream.end();
    seen.extend(last);
    (seen, transcript)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Catches reading a piece instead of a line, and cutting a text in the middle of a letter.
    #[test]
    fn damaged_recordings_are_read_alike_in_any_pieces(
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
        let whole = in_pieces(agent, &bytes, &[bytes.len()]);
        prop_assert_eq!(in_pieces(agent, &bytes, &sizes), whole);
    }
}
