//! Which kind an agent is, and what is stored of its output.

use fixpoint_ports::CapturedOutput;
use fixpoint_vocabulary::Redacted;
use fixpoint_vocabulary::run_spec::BaseSource;
use fixpoint_vocabulary::settings::Settings;

use super::*;

fn spec(kind: AgentKind, program: &str) -> RunSpec {
    let mut settings = Settings::default();
    settings.agent.kind = kind;
    RunSpec {
        version: String::new(),
        repository: String::new(),
        directory: String::new(),
        goal: Redacted::default(),
        agent: vec![program.to_string()],
        checks: Vec::new(),
        base: BaseSource::WorkingTree,
        settings,
        delivery: fixpoint_vocabulary::run_spec::Delivery::Branch,
    }
}

#[test]
fn settings_say_which_kind_it_is_and_else_its_name_does() {
    for (kind, program, expected) in [
        (AgentKind::Auto, "/opt/bin/claude", "claude"),
        (AgentKind::Auto, "codex", "codex"),
        (AgentKind::Auto, "./agent.sh", "command"),
        (AgentKind::Claude, "/opt/my-wrapper", "claude"),
        (AgentKind::Codex, "claude", "codex"),
        (AgentKind::Command, "claude", "command"),
        (AgentKind::Gemini, "gemini", "command"),
    ] {
        assert_eq!(agent_of(&spec(kind, program)).name(), expected, "{kind:?} {program}");
    }
}

fn ended_turn(outcome: Option<TurnOutcome>, words: Option<&str>, errors: &[&str]) -> AgentTurn {
    let output = CapturedOutput { path: PathBuf::new(), written: 0, omitted: 0 };
    AgentTurn {
        exit: ProcessExit {
            cause: ExitCause::Exited(0),
            duration: Duration::ZERO,
            output,
            stragglers: 0,
            refused: Vec::new(),
        },
        transcript: Transcript {
            outcome,
            last_message: words.map(ToString::to_string),
            errors: errors.iter().map(ToString::to_string).collect(),
            last_unknown_line: Some("a line".to_string()),
            ..Transcript::default()
        },
    }
}

#[test]
fn last_words_are_the_reason_where_it_did_not_end_as_it_wished() {
    for (outcome, words, errors, expected) in [
        (Some(TurnOutcome::Completed), Some("done"), ["retried"].as_slice(), "done"),
        (None, Some("done"), &["retried"], "done"),
        (Some(TurnOutcome::Account), Some("I begin"), &["first", "not signed in"], "not signed in"),
        (Some(TurnOutcome::Failed), Some("I begin"), &[], "I begin"),
        (Some(TurnOutcome::Completed), None, &["error"], "error"),
        (None, None, &[], "a line"),
    ] {
        assert_eq!(ended_turn(outcome, words, errors).last_words(), Some(expected), "{outcome:?}");
    }
}

#[test]
fn only_a_provider_refuses() {
    for (outcome, expected) in [
        (TurnOutcome::Account, true),
        (TurnOutcome::RateLimited, true),
        (TurnOutcome::Failed, false),
        (TurnOutcome::OutOfBudget, false),
        (TurnOutcome::SessionGone, false),
        (TurnOutcome::Completed, false),
    ] {
        assert_eq!(ended_turn(Some(outcome), None, &[]).is_refused(), expected, "{outcome:?}");
    }
    assert!(!ended_turn(None, None, &[]).is_refused());
}
