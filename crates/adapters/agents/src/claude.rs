//! Claude Code: `claude -p`, with the prompt on standard input and JSON events as output.

mod events;
mod usage;

use std::ffi::OsString;

use fixpoint_vocabulary::usage::MicroUsd;

use crate::agent::{Agent, CommandLine, EnvironmentNames, SessionUse, Turn};
use crate::arguments::{expanded, has_option, stdin, unchanged, value};
use crate::generic::TextReader;
use crate::stream::Reader;

const PRINT: [&str; 2] = ["-p", "--print"];
const FORMAT: &str = "--output-format";
const PERMISSIONS: [&str; 3] =
    ["--permission-mode", "--dangerously-skip-permissions", "--allow-dangerously-skip-permissions"];
/// Options that choose the session, or that no session is stored.
const SESSION: [&str; 7] =
    ["--resume", "-r", "--continue", "-c", "--session-id", "--from-pr", "--no-session-persistence"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claude;

enum Mode {
    /// Nothing: we add everything that makes it work unattended.
    Default,
    /// They print events; we add the rest.
    Events,
    /// They print only the last event; we add the rest.
    LastEvent,
    /// They run it in their own way, and the output is text.
    Custom,
}

fn mode(turn: &Turn<'_>) -> Mode {
    match value(turn.arguments, FORMAT) {
        Some("stream-json") => Mode::Events,
        Some("json") => Mode::LastEvent,
        Some(_) => Mode::Custom,
        None if has_option(turn.arguments, &PRINT) => Mode::Custom,
        None => Mode::Default,
    }
}

impl Agent for Claude {
    fn name(&self) -> &'static str {
        "claude"
    }

    fn command(&self, turn: &Turn<'_>) -> CommandLine {
        let mut ours = Vec::new();
        if !has_option(turn.arguments, &PRINT) {
            ours.push("-p".to_string());
        }
        match mode(turn) {
            Mode::Custom => return unchanged(turn),
            Mode::Default => ours.extend([FORMAT.to_string(), "stream-json".to_string()]),
            Mode::Events | Mode::LastEvent => {}
        }
        // It is required for streaming; with `json` it would print a list of all events.
        if !matches!(mode(turn), Mode::LastEvent) && !has_option(turn.arguments, &["--verbose"]) {
            ours.push("--verbose".to_string());
        }
        if !has_option(turn.arguments, &PERMISSIONS) {
            ours.extend(permissions(turn));
        }
        ours.extend(model_and_limits(turn));
        let mut session_use = SessionUse::New;
        if let Some(session) = turn.session.filter(|_| !has_option(turn.arguments, &SESSION)) {
            ours.extend(["--resume".to_string(), session.id.clone()]);
            session_use = SessionUse::Resumed;
        }
        // The person's arguments come last: some options take every word up to the next option.
        let arguments = ours.into_iter().map(OsString::from).chain(expanded(turn)).collect();
        CommandLine { program: turn.program.into(), arguments, stdin: stdin(turn), session_use }
    }

    fn reader(&self, turn: &Turn<'_>) -> Box<dyn Reader> {
        match mode(turn) {
            Mode::Default | Mode::Events | Mode::LastEvent => {
                Box::new(events::EventReader::new(turn.session))
            }
            Mode::Custom => Box::new(TextReader::default()),
        }
    }

    fn environment(&self) -> EnvironmentNames {
        EnvironmentNames {
            always: &["ANTHROPIC_*", "CLAUDE_*", "IS_SANDBOX", "NODE_EXTRA_CA_CERTS"],
            when_enabled: &[
                ("CLAUDE_CODE_USE_BEDROCK", &["AWS_*"]),
                ("CLAUDE_CODE_USE_VERTEX", &["GOOGLE_*", "CLOUD_ML_REGION", "VERTEX_REGION_*"]),
            ],
        }
    }
}

fn permissions(turn: &Turn<'_>) -> Vec<String> {
    let mut arguments = vec!["--permission-mode".to_string(), "acceptEdits".to_string()];
    let rules: Vec<String> = turn.allowed_commands.iter().filter_map(|line| rule(line)).collect();
    if !rules.is_empty() {
        arguments.push(format!("--allowedTools={}", rules.join(",")));
    }
    arguments
}

/// A rule that permits a command line with further arguments; `None` where it contains characters that a rule cannot
/// express.
fn rule(line: &str) -> Option<String> {
    let line = line.trim();
    let is_plain = !line.is_empty() && !line.contains(['(', ')', ',', '*', '\n', '\\']);
    is_plain.then(|| format!("Bash({line}:*)"))
}

fn model_and_limits(turn: &Turn<'_>) -> Vec<String> {
    let model = turn.model.map(ToString::to_string);
    let cost = turn.max_cost.map(dollars);
    let options = [("--model", model), ("--max-budget-usd", cost)];
    let missing = options.into_iter().filter(|(name, _)| !has_option(turn.arguments, &[name]));
    missing.filter_map(|(name, value)| Some([name.to_string(), value?])).flatten().collect()
}

fn dollars(cost: MicroUsd) -> String {
    format!("{}.{:06}", cost.0 / 1_000_000, cost.0 % 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_becomes_a_rule_where_rules_can_express_it() {
        assert_eq!(rule(" cargo test "), Some("Bash(cargo test:*)".to_string()));
        for line in ["", "(cd a; make)", "make a,b", "ls *"] {
            assert_eq!(rule(line), None, "{line}");
        }
    }

    #[test]
    fn costs_are_written_exactly() {
        assert_eq!(dollars(MicroUsd(200)), "0.000200");
        assert_eq!(dollars(MicroUsd(12_345_678)), "12.345678");
    }
}
