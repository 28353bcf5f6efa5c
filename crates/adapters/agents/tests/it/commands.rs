//! Command lines, word for word: what a person types after `--`, and what is run.

use std::path::Path;

use fixpoint_agents::{
    CommandLine, Continuation, Permissions, Session, StdinUse, Turn, TurnLimits, User, of_program,
};
use fixpoint_vocabulary::usage::{MicroUsd, Usage};

fn owned(words: &str) -> Vec<String> {
    words.split_whitespace().map(ToString::to_string).collect()
}

/// A turn about which nothing is said.
fn plain() -> Turn<'static> {
    Turn {
        program: "",
        extra: &[],
        prompt: "the task",
        prompt_file: Path::new("/p.md"),
        session: None,
        model: None,
        limits: TurnLimits::default(),
        permissions: Permissions::default(),
        may_run: &[],
        user: User::default(),
    }
}

/// What is run for what a person typed.
fn command(typed: &str, turn: Turn<'_>) -> CommandLine {
    let words = owned(typed);
    let turn = Turn { program: &words[0], extra: &words[1..], ..turn };
    of_program(turn.program).command(&turn)
}

fn line(command: &CommandLine) -> String {
    let words = [&command.program].into_iter().chain(&command.arguments);
    words.map(|word| word.to_str().unwrap()).collect::<Vec<_>>().join(" ")
}

#[test]
fn what_a_person_types_is_completed_or_respected() {
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
        assert_eq!(command.environment, [], "{typed}");
    }
}

#[test]
fn a_session_is_continued_with_everything_said_again() {
    let session = Session { id: "s-1".to_string(), used: Usage::default() };
    for (typed, expected, continuation) in [
        (
            "claude",
            "claude -p --output-format stream-json --verbose --permission-mode acceptEdits --model m --resume s-1",
            Continuation::Continued,
        ),
        (
            "claude --no-session-persistence --model x",
            "claude -p --output-format stream-json --verbose --permission-mode acceptEdits \
             --no-session-persistence --model x",
            Continuation::Anew,
        ),
        (
            "codex",
            "codex exec --json --skip-git-repo-check --sandbox workspace-write -m m resume s-1 -",
            Continuation::Continued,
        ),
        (
            "codex --model=x",
            "codex --model=x exec --json --skip-git-repo-check --sandbox workspace-write resume s-1 -",
            Continuation::Continued,
        ),
        ("codex exec --json", "codex exec --json", Continuation::Anew),
        ("agent.sh", "agent.sh", Continuation::Anew),
    ] {
        let command = command(typed, Turn { session: Some(&session), model: Some("m"), ..plain() });
        assert_eq!((line(&command).as_str(), command.continuation), (expected, continuation), "{typed}");
    }
}

#[test]
fn limits_and_permissions_are_passed_on() {
    let may_run = vec!["cargo test".to_string(), "(odd)".to_string(), "make".to_string()];
    let limited = command(
        "claude",
        Turn {
            limits: TurnLimits { turns: Some(9), cost: Some(MicroUsd(1_500_000)) },
            may_run: &may_run,
            ..plain()
        },
    );
    let expected = "claude -p --output-format stream-json --verbose --permission-mode acceptEdits \
                    --allowedTools=Bash(cargo test:*),Bash(make:*) --max-turns 9 --max-budget-usd 1.500000";
    assert_eq!(line(&limited), expected);

    let trusted = |typed, user| command(typed, Turn { permissions: Permissions::Anything, user, ..plain() });
    let claude = trusted("claude", User::Root);
    let expected = "claude -p --output-format stream-json --verbose --dangerously-skip-permissions";
    assert_eq!(line(&claude), expected);
    assert_eq!(claude.environment, [("IS_SANDBOX".into(), "1".into())]);
    assert_eq!(trusted("claude", User::Ordinary).environment, []);
    // What confines it is then a person's affair.
    assert_eq!(trusted("claude --permission-mode plan", User::Root).environment, []);
    let codex = trusted("codex", User::Root);
    assert_eq!(line(&codex), "codex exec --json --skip-git-repo-check --sandbox danger-full-access -");
    assert_eq!(codex.environment, []);
}
