//! Exact command lines: what a person types after `--`, and what is run.

use std::path::Path;

use fixpoint_agents::{CommandLine, Session, SessionUse, StdinUse, Turn, agent_for_program};
use fixpoint_vocabulary::usage::{MicroUsd, Usage};

fn owned(words: &str) -> Vec<String> {
    words.split_whitespace().map(ToString::to_string).collect()
}

/// A turn without options.
fn plain() -> Turn<'static> {
    Turn {
        program: "",
        arguments: &[],
        prompt: "the task",
        prompt_file: Path::new("/p.md"),
        session: None,
        model: None,
        max_cost: None,
        allowed_commands: &[],
    }
}

/// What is run for what a person typed.
fn command(typed: &str, turn: Turn<'_>) -> CommandLine {
    let words = owned(typed);
    let turn = Turn { program: &words[0], arguments: &words[1..], ..turn };
    agent_for_program(turn.program).command(&turn)
}

fn line(command: &CommandLine) -> String {
    let words = [&command.program].into_iter().chain(&command.arguments);
    words.map(|word| word.to_str().unwrap()).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_command_line_is_completed_or_left_unchanged() {
    let claude = "claude -p --output-format stream-json --verbose --permission-mode acceptEdits";
    let codex = "exec --json --skip-git-repo-check --sandbox workspace-write";
    for (typed, expected, stdin) in [
        ("claude", claude.to_string(), StdinUse::Prompt),
        ("claude --model x", format!("{claude} --model x"), StdinUse::Prompt),
        ("claude {prompt}", format!("{claude} the task"), StdinUse::Closed),
        ("claude -p", "claude -p".to_string(), StdinUse::Prompt),
        ("claude -p {prompt}", "claude -p the task".to_string(), StdinUse::Closed),
        ("claude --output-format text", "claude --output-format text".to_string(), StdinUse::Prompt),
        (
            "claude --output-format=json",
            "claude -p --permission-mode acceptEdits --output-format=json".to_string(),
            StdinUse::Prompt,
        ),
        (
            "claude -p --output-format stream-json",
            "claude --verbose --permission-mode acceptEdits -p --output-format stream-json".to_string(),
            StdinUse::Prompt,
        ),
        (
            "claude --dangerously-skip-permissions",
            "claude -p --output-format stream-json --verbose --dangerously-skip-permissions".to_string(),
            StdinUse::Prompt,
        ),
        ("codex", format!("codex {codex} -"), StdinUse::Prompt),
        ("/opt/codex -m x", format!("/opt/codex -m x {codex} -"), StdinUse::Prompt),
        ("codex {prompt}", format!("codex {codex} the task"), StdinUse::Closed),
        (
            "codex -s read-only",
            "codex -s read-only exec --json --skip-git-repo-check -".to_string(),
            StdinUse::Prompt,
        ),
        ("codex exec --full-auto", "codex exec --full-auto".to_string(), StdinUse::Prompt),
        ("codex exec --json -", "codex exec --json -".to_string(), StdinUse::Prompt),
        ("./agent.sh --fast", "./agent.sh --fast".to_string(), StdinUse::Prompt),
        ("aider --message-file {prompt_file}", "aider --message-file /p.md".to_string(), StdinUse::Closed),
    ] {
        let command = command(typed, plain());
        assert_eq!((line(&command), command.stdin), (expected, stdin), "{typed}");
    }
}

#[test]
fn a_session_is_resumed_with_all_options() {
    let session = Session { id: "s-1".to_string(), used: Usage::default() };
    for (typed, expected, session_use) in [
        (
            "claude",
            "claude -p --output-format stream-json --verbose --permission-mode acceptEdits --model m --resume s-1",
            SessionUse::Resumed,
        ),
        (
            "claude --no-session-persistence --model x",
            "claude -p --output-format stream-json --verbose --permission-mode acceptEdits \
             --no-session-persistence --model x",
            SessionUse::New,
        ),
        (
            "codex",
            "codex exec --json --skip-git-repo-check --sandbox workspace-write -m m resume s-1 -",
            SessionUse::Resumed,
        ),
        (
            "codex --model=x",
            "codex --model=x exec --json --skip-git-repo-check --sandbox workspace-write resume s-1 -",
            SessionUse::Resumed,
        ),
        ("codex exec --json", "codex exec --json", SessionUse::New),
        ("agent.sh", "agent.sh", SessionUse::New),
    ] {
        let command = command(typed, Turn { session: Some(&session), model: Some("m"), ..plain() });
        assert_eq!((line(&command).as_str(), command.session_use), (expected, session_use), "{typed}");
    }
}

#[test]
fn the_cost_limit_and_the_checks_are_passed_on() {
    let checks = vec!["cargo test".to_string(), "(odd)".to_string(), "make".to_string()];
    let turn = Turn { max_cost: Some(MicroUsd(1_500_000)), allowed_commands: &checks, ..plain() };
    let expected = "claude -p --output-format stream-json --verbose --permission-mode acceptEdits \
                    --allowedTools=Bash(cargo test:*),Bash(make:*) --max-budget-usd 1.500000";
    assert_eq!(line(&command("claude", turn)), expected);
    let codex = "codex exec --json --skip-git-repo-check --sandbox workspace-write -";
    assert_eq!(line(&command("codex", turn)), codex);
}
