//! Codex: `codex exec --json`, told on standard input, telling its work as JSON events.

mod reading;

use std::ffi::OsString;

use crate::agent::{Agent, CommandLine, Continuation, Permissions, SessionReach, StdinUse, Turn, Variables};
use crate::arguments::{as_given, filled_in, gives, name_the_prompt, says, stdin};
use crate::command::Plain;
use crate::stream::Reader;

/// What says how it is confined.
const CONFINEMENT: [&str; 5] =
    ["-s", "--sandbox", "--dangerously-bypass-approvals-and-sandbox", "--yolo", "--approve-for-me"];

/// Codex.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Codex;

/// What a person's arguments leave to us.
enum Mode {
    /// Everything that makes it work unattended.
    Ours,
    /// They run it unattended themselves, and it tells events.
    Events,
    /// They run it unattended themselves, and what it prints is words.
    Theirs,
}

fn mode(turn: &Turn<'_>) -> Mode {
    if !says(turn.extra, "exec") && !says(turn.extra, "e") {
        Mode::Ours
    } else if gives(turn.extra, &["--json", "--experimental-json"]) {
        Mode::Events
    } else {
        Mode::Theirs
    }
}

impl Agent for Codex {
    fn name(&self) -> &'static str {
        "codex"
    }

    fn title(&self) -> &'static str {
        "Codex"
    }

    fn command(&self, turn: &Turn<'_>) -> CommandLine {
        match mode(turn) {
            Mode::Ours => {}
            Mode::Events | Mode::Theirs => return as_given(turn),
        }
        // What a person gave are options of `codex` itself, which `exec` takes over. A prompt among them would be
        // taken for a subcommand, so it goes to the end.
        let (prompts, options): (Vec<String>, Vec<String>) =
            turn.extra.iter().cloned().partition(|argument| name_the_prompt(core::slice::from_ref(argument)));
        let mut ours = options;
        ours.extend(["exec", "--json", "--skip-git-repo-check"].map(ToString::to_string));
        if !gives(turn.extra, &CONFINEMENT) {
            ours.extend(confinement(turn.permissions).map(ToString::to_string));
        }
        if let Some(model) = turn.model.filter(|_| !gives(turn.extra, &["-m", "--model"])) {
            ours.extend(["-m".to_string(), model.to_string()]);
        }
        let mut continuation = Continuation::Anew;
        if let Some(session) = turn.session {
            // Its options stand before it: `resume` itself does not take all of them.
            ours.extend(["resume".to_string(), session.id.clone()]);
            continuation = Continuation::Continued;
        }
        let mut arguments: Vec<OsString> = ours.into_iter().map(OsString::from).collect();
        let stdin = stdin(turn);
        match stdin {
            StdinUse::Prompt => arguments.push("-".into()),
            StdinUse::Closed => arguments.extend(filled_in(&Turn { extra: &prompts, ..*turn })),
        }
        CommandLine { program: turn.program.into(), arguments, stdin, environment: Vec::new(), continuation }
    }

    fn reader(&self, turn: &Turn<'_>) -> Box<dyn Reader> {
        match mode(turn) {
            Mode::Ours => Box::new(reading::Events::continuing(turn.session)),
            Mode::Events => Box::new(reading::Events::continuing(None)),
            Mode::Theirs => Box::new(Plain::default()),
        }
    }

    fn session_reach(&self) -> SessionReach {
        SessionReach::Anywhere
    }

    fn environment(&self) -> Variables {
        Variables { always: &["OPENAI_*", "CODEX_*"], with: &[] }
    }
}

/// A continued session would otherwise fall back to what its configuration says, which is to read only.
const fn confinement(permissions: Permissions) -> [&'static str; 2] {
    match permissions {
        Permissions::Workspace => ["--sandbox", "workspace-write"],
        Permissions::Anything => ["--sandbox", "danger-full-access"],
    }
}
