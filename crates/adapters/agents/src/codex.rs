//! Codex: `codex exec --json`, with the prompt on standard input and JSON events as output.

mod events;

use std::ffi::OsString;

use crate::agent::{Agent, CommandLine, EnvironmentNames, SessionUse, StdinUse, Turn};
use crate::arguments::{expanded, has_option, has_prompt_placeholder, has_word, stdin, unchanged};
use crate::generic::TextReader;
use crate::stream::Reader;

/// Options that choose the sandbox.
const SANDBOX: [&str; 5] =
    ["-s", "--sandbox", "--dangerously-bypass-approvals-and-sandbox", "--yolo", "--approve-for-me"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Codex;

enum Mode {
    /// Nothing: we add everything that makes it work unattended.
    Default,
    /// They use `exec`, with events as output.
    Events,
    /// They use `exec`, with text as output.
    Custom,
}

fn mode(turn: &Turn<'_>) -> Mode {
    if !has_word(turn.arguments, "exec") && !has_word(turn.arguments, "e") {
        Mode::Default
    } else if has_option(turn.arguments, &["--json", "--experimental-json"]) {
        Mode::Events
    } else {
        Mode::Custom
    }
}

impl Agent for Codex {
    fn name(&self) -> &'static str {
        "codex"
    }

    fn command(&self, turn: &Turn<'_>) -> CommandLine {
        match mode(turn) {
            Mode::Default => {}
            Mode::Events | Mode::Custom => return unchanged(turn),
        }
        // The person's arguments are options of `codex` itself, which `exec` inherits. A prompt among them would be taken
        // for a subcommand, so it goes to the end.
        let (prompts, options): (Vec<String>, Vec<String>) = turn
            .arguments
            .iter()
            .cloned()
            .partition(|argument| has_prompt_placeholder(core::slice::from_ref(argument)));
        let mut ours = options;
        ours.extend(["exec", "--json", "--skip-git-repo-check"].map(ToString::to_string));
        if !has_option(turn.arguments, &SANDBOX) {
            // A resumed session would otherwise use the sandbox of its configuration, which is read-only.
            ours.extend(["--sandbox", "workspace-write"].map(ToString::to_string));
        }
        if let Some(model) = turn.model.filter(|_| !has_option(turn.arguments, &["-m", "--model"])) {
            ours.extend(["-m".to_string(), model.to_string()]);
        }
        let mut session_use = SessionUse::New;
        if let Some(session) = turn.session {
            // The options come before it, since `resume` does not accept all of them.
            ours.extend(["resume".to_string(), session.id.clone()]);
            session_use = SessionUse::Resumed;
        }
        let mut arguments: Vec<OsString> = ours.into_iter().map(OsString::from).collect();
        let stdin = stdin(turn);
        match stdin {
            StdinUse::Prompt => arguments.push("-".into()),
            StdinUse::Closed => arguments.extend(expanded(&Turn { arguments: &prompts, ..*turn })),
        }
        CommandLine { program: turn.program.into(), arguments, stdin, session_use }
    }

    fn reader(&self, turn: &Turn<'_>) -> Box<dyn Reader> {
        match mode(turn) {
            Mode::Default => Box::new(events::EventReader::new(turn.session)),
            Mode::Events => Box::new(events::EventReader::new(None)),
            Mode::Custom => Box::new(TextReader::default()),
        }
    }

    fn environment(&self) -> EnvironmentNames {
        EnvironmentNames { always: &["OPENAI_*", "CODEX_*"], when_enabled: &[] }
    }
}
