//! Claude Code: `claude -p`, told on standard input, telling its work as JSON events.

mod ledger;
mod reading;

use std::ffi::OsString;

use fixpoint_vocabulary::usage::MicroUsd;

use crate::agent::{Agent, CommandLine, Continuation, Permissions, SessionReach, Turn, User, Variables};
use crate::arguments::{as_given, filled_in, gives, stdin, value};
use crate::command::Plain;
use crate::stream::Reader;

const PRINT: [&str; 2] = ["-p", "--print"];
const FORMAT: &str = "--output-format";
const PERMISSIONS: [&str; 3] =
    ["--permission-mode", "--dangerously-skip-permissions", "--allow-dangerously-skip-permissions"];
/// What says which session it is, or that there will be none to continue.
const SESSION: [&str; 7] =
    ["--resume", "-r", "--continue", "-c", "--session-id", "--from-pr", "--no-session-persistence"];

/// Claude Code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claude;

/// What a person's arguments leave to us.
enum Mode {
    /// Everything that makes it work unattended.
    Ours,
    /// They chose that it prints events: the rest is ours.
    Stream,
    /// They chose that it prints its last event only: the rest is ours.
    Result,
    /// They chose how it is run, and what it prints is words.
    Theirs,
}

fn mode(turn: &Turn<'_>) -> Mode {
    match value(turn.extra, FORMAT) {
        Some("stream-json") => Mode::Stream,
        Some("json") => Mode::Result,
        Some(_) => Mode::Theirs,
        None if gives(turn.extra, &PRINT) => Mode::Theirs,
        None => Mode::Ours,
    }
}

impl Agent for Claude {
    fn name(&self) -> &'static str {
        "claude"
    }

    fn title(&self) -> &'static str {
        "Claude Code"
    }

    fn command(&self, turn: &Turn<'_>) -> CommandLine {
        let mut ours = Vec::new();
        if !gives(turn.extra, &PRINT) {
            ours.push("-p".to_string());
        }
        match mode(turn) {
            Mode::Theirs => return as_given(turn),
            Mode::Ours => ours.extend([FORMAT.to_string(), "stream-json".to_string()]),
            Mode::Stream | Mode::Result => {}
        }
        // Without it the program refuses to stream; with it, a single result is a list of all events.
        if !matches!(mode(turn), Mode::Result) && !gives(turn.extra, &["--verbose"]) {
            ours.push("--verbose".to_string());
        }
        let mut environment = Vec::new();
        if !gives(turn.extra, &PERMISSIONS) {
            ours.extend(permissions(turn));
            if turn.permissions == Permissions::Anything && turn.user == User::Root {
                // It refuses to skip its permissions as root, unless it is told that something else confines it.
                environment.push((OsString::from("IS_SANDBOX"), OsString::from("1")));
            }
        }
        ours.extend(model_and_limits(turn));
        let mut continuation = Continuation::Anew;
        if let Some(session) = turn.session.filter(|_| !gives(turn.extra, &SESSION)) {
            ours.extend(["--resume".to_string(), session.id.clone()]);
            continuation = Continuation::Continued;
        }
        // What a person gave comes last: some of its options take every word up to the next option.
        let arguments = ours.into_iter().map(OsString::from).chain(filled_in(turn)).collect();
        CommandLine { program: turn.program.into(), arguments, stdin: stdin(turn), environment, continuation }
    }

    fn reader(&self, turn: &Turn<'_>) -> Box<dyn Reader> {
        match mode(turn) {
            Mode::Ours | Mode::Stream | Mode::Result => Box::new(reading::Events::continuing(turn.session)),
            Mode::Theirs => Box::new(Plain::default()),
        }
    }

    fn session_reach(&self) -> SessionReach {
        SessionReach::SameDirectory
    }

    fn environment(&self) -> Variables {
        Variables {
            always: &["ANTHROPIC_*", "CLAUDE_*", "IS_SANDBOX", "NODE_EXTRA_CA_CERTS"],
            with: &[
                ("CLAUDE_CODE_USE_BEDROCK", &["AWS_*"]),
                ("CLAUDE_CODE_USE_VERTEX", &["GOOGLE_*", "CLOUD_ML_REGION", "VERTEX_REGION_*"]),
            ],
        }
    }
}

fn permissions(turn: &Turn<'_>) -> Vec<String> {
    match turn.permissions {
        Permissions::Anything => vec!["--dangerously-skip-permissions".to_string()],
        Permissions::Workspace => {
            let mut arguments = vec!["--permission-mode".to_string(), "acceptEdits".to_string()];
            let rules: Vec<String> = turn.may_run.iter().filter_map(|line| rule(line)).collect();
            if !rules.is_empty() {
                arguments.push(format!("--allowedTools={}", rules.join(",")));
            }
            arguments
        }
    }
}

/// A rule that lets it run a command line, with further arguments. The language of rules has no way to write these
/// letters as they are.
fn rule(line: &str) -> Option<String> {
    let line = line.trim();
    let is_plain = !line.is_empty() && !line.contains(['(', ')', ',', '*', '\n', '\\']);
    is_plain.then(|| format!("Bash({line}:*)"))
}

fn model_and_limits(turn: &Turn<'_>) -> Vec<String> {
    let model = turn.model.map(ToString::to_string);
    let turns = turn.limits.turns.map(|turns| turns.to_string());
    let cost = turn.limits.cost.map(dollars);
    let options = [("--model", model), ("--max-turns", turns), ("--max-budget-usd", cost)];
    let missing = options.into_iter().filter(|(name, _)| !gives(turn.extra, &[name]));
    missing.filter_map(|(name, value)| Some([name.to_string(), value?])).flatten().collect()
}

/// In dollars, exactly.
fn dollars(cost: MicroUsd) -> String {
    format!("{}.{:06}", cost.0 / 1_000_000, cost.0 % 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_name_what_the_language_of_rules_can() {
        assert_eq!(rule(" cargo test "), Some("Bash(cargo test:*)".to_string()));
        for line in ["", "(cd a; make)", "make a,b", "ls *"] {
            assert_eq!(rule(line), None, "{line}");
        }
    }

    #[test]
    fn money_is_written_exactly() {
        assert_eq!(dollars(MicroUsd(200)), "0.000200");
        assert_eq!(dollars(MicroUsd(12_345_678)), "12.345678");
    }
}
