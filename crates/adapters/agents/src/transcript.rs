//! What is kept of an agent's output when it has ended.
//!
//! Owns the sum of all [`Progress`]. Invariant: it is bounded, however much the agent printed.

use fixpoint_ports::ToolOutcome;
use fixpoint_vocabulary::usage::Usage;

use crate::progress::{Outcome, Progress, Session};
use crate::said::Said;

/// The most errors that are kept: the first ones say why.
pub const MOST_ERRORS: usize = 20;

/// What an agent's output came to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Transcript {
    /// The session, if it said one, with all it used so far.
    pub session: Option<Session>,
    /// The model, if it said which.
    pub model: Option<String>,
    /// What it used, if it said so. [`fixpoint_vocabulary::usage::Counted::Estimated`] where it was ended before it
    /// said all of it.
    pub usage: Option<Usage>,
    /// The last it said.
    pub last_words: Option<String>,
    /// The end of all it said, where that is something else than what it printed.
    pub said: Option<Said>,
    /// The first errors it told, at most [`MOST_ERRORS`].
    pub errors: Vec<String>,
    /// Calls of tools.
    pub tool_calls: u64,
    /// Those of them that failed.
    pub failed_tool_calls: u64,
    /// Lines that could not be understood.
    pub lines: u64,
    /// The last of them: an agent that cannot even begin says why in words.
    pub last_line: Option<String>,
    /// How its last turn ended, if it came to an end.
    pub outcome: Option<Outcome>,
}

impl Transcript {
    /// Adds what was seen.
    pub(crate) fn see(&mut self, progress: &Progress) {
        if let Some(said) = &mut self.said {
            said.see(progress);
        }
        match progress {
            Progress::Session(id) => {
                let used = self.session.take().filter(|session| session.id == *id).map(|known| known.used);
                self.session = Some(Session { id: id.clone(), used: used.unwrap_or_default() });
            }
            Progress::Model(model) => self.model = Some(model.clone()),
            Progress::Text(text) => self.last_words = Some(text.clone()),
            Progress::ToolCall { .. } => self.tool_calls = self.tool_calls.saturating_add(1),
            Progress::ToolResult { outcome: ToolOutcome::Failure, .. } => {
                self.failed_tool_calls = self.failed_tool_calls.saturating_add(1);
            }
            Progress::ToolResult { outcome: ToolOutcome::Success, .. }
            | Progress::Thinking(_)
            | Progress::Notice(_) => {}
            Progress::Usage(usage) => self.usage = Some(*usage),
            Progress::Error(error) => {
                if self.errors.len() < MOST_ERRORS {
                    self.errors.push(error.clone());
                }
            }
            Progress::Line(line) => {
                self.lines = self.lines.saturating_add(1);
                self.last_line = Some(line.clone());
            }
            Progress::Finished { outcome, text } => {
                self.outcome = Some(*outcome);
                if !text.is_empty() {
                    self.last_words = Some(text.clone());
                }
            }
        }
    }
}
