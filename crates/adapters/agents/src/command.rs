//! Any command line: run as it was given, and whatever it prints is its words.

use crate::agent::{Agent, CommandLine, SessionReach, Turn, Variables};
use crate::arguments::as_given;
use crate::events::Told;
use crate::progress::Progress;
use crate::shortening::words;
use crate::stream::Reader;
use crate::transcript::Transcript;

/// Any command line. The prompt replaces `{prompt}` and the name of its file `{prompt_file}`; where neither is named
/// it is on standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Command;

impl Agent for Command {
    fn name(&self) -> &'static str {
        "command"
    }

    fn title(&self) -> &'static str {
        "A command"
    }

    fn recognises(&self, _: &str) -> bool {
        true
    }

    fn command(&self, turn: &Turn<'_>) -> CommandLine {
        as_given(turn)
    }

    fn reader(&self, _: &Turn<'_>) -> Box<dyn Reader> {
        Box::new(Plain::default())
    }

    fn session_reach(&self) -> SessionReach {
        SessionReach::Nowhere
    }

    fn environment(&self) -> Variables {
        Variables { always: &[], with: &[] }
    }
}

/// Reads every line as words.
#[derive(Debug, Default)]
pub(crate) struct Plain {
    told: Told,
}

impl Reader for Plain {
    fn line(&mut self, line: &[u8]) -> Vec<Progress> {
        let text = words(&String::from_utf8_lossy(line));
        if !text.is_empty() {
            self.told.tell(Progress::Text(text));
        }
        self.told.take()
    }

    fn ended(self: Box<Self>) -> Transcript {
        self.told.transcript
    }
}
