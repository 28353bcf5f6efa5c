//! Any other program: its command line is run unchanged, and its output is text.

use crate::agent::{Agent, CommandLine, EnvironmentNames, Turn};
use crate::arguments::unchanged;
use crate::json_lines::ProgressLog;
use crate::progress::Progress;
use crate::sanitize::clean_text;
use crate::stream::Reader;
use crate::transcript::Transcript;

/// Any program. `{prompt}` in its arguments stands for the prompt, `{prompt_file}` for a file with it; without them the
/// prompt is on standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GenericAgent;

impl Agent for GenericAgent {
    fn name(&self) -> &'static str {
        "command"
    }

    fn recognises(&self, _: &str) -> bool {
        true
    }

    fn command(&self, turn: &Turn<'_>) -> CommandLine {
        unchanged(turn)
    }

    fn reader(&self, _: &Turn<'_>) -> Box<dyn Reader> {
        Box::new(TextReader::default())
    }

    fn environment(&self) -> EnvironmentNames {
        EnvironmentNames { always: &[], when_enabled: &[] }
    }
}

#[derive(Debug, Default)]
pub(crate) struct TextReader {
    log: ProgressLog,
}

impl Reader for TextReader {
    fn line(&mut self, line: &[u8]) -> Vec<Progress> {
        let text = clean_text(&String::from_utf8_lossy(line));
        if !text.is_empty() {
            self.log.add(Progress::Text(text));
        }
        self.log.take()
    }

    fn finish(self: Box<Self>) -> Transcript {
        self.log.transcript
    }
}
