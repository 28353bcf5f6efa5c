//! What is kept of an agent's output.
//!
//! Owns the sum of all [`Progress`]. Invariant: its size is limited, however much the agent printed.

use fixpoint_ports::ToolOutcome;
use fixpoint_vocabulary::usage::Usage;

use crate::agent_text::AgentText;
use crate::progress::{Progress, Session, TurnOutcome};

/// How many errors are kept: the first ones show the cause.
pub const MAX_ERRORS: usize = 20;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Transcript {
    /// Its `used` includes this run.
    pub session: Option<Session>,
    pub model: Option<String>,
    /// Estimated ([`fixpoint_vocabulary::usage::CountSource::Estimated`]) where the agent was killed before it reported all.
    pub usage: Option<Usage>,
    pub last_message: Option<String>,
    /// Its last messages; `None` for agents whose output is plain text.
    pub agent_text: Option<AgentText>,
    pub errors: Vec<String>,
    pub tool_calls: u64,
    pub failed_tool_calls: u64,
    /// Lines that are not known events.
    pub unknown_lines: u64,
    /// The last of them: an agent that fails to start prints the reason as text.
    pub last_unknown_line: Option<String>,
    /// How its last turn ended, if it reported that.
    pub outcome: Option<TurnOutcome>,
}

impl Transcript {
    pub(crate) fn add(&mut self, progress: &Progress) {
        if let Some(text) = &mut self.agent_text {
            text.add(progress);
        }
        match progress {
            Progress::Session(id) => {
                let used = self.session.take().filter(|session| session.id == *id).map(|known| known.used);
                self.session = Some(Session { id: id.clone(), used: used.unwrap_or_default() });
            }
            Progress::Model(model) => self.model = Some(model.clone()),
            Progress::Text(text) => self.last_message = Some(text.clone()),
            Progress::ToolCall { .. } => self.tool_calls = self.tool_calls.saturating_add(1),
            Progress::ToolResult { outcome: ToolOutcome::Failure, .. } => {
                self.failed_tool_calls = self.failed_tool_calls.saturating_add(1);
            }
            Progress::ToolResult { outcome: ToolOutcome::Success, .. }
            | Progress::Thinking(_)
            | Progress::Notice(_) => {}
            Progress::Usage(usage) => self.usage = Some(*usage),
            Progress::Error(error) => {
                if self.errors.len() < MAX_ERRORS {
                    self.errors.push(error.clone());
                }
            }
            Progress::Line(line) => {
                self.unknown_lines = self.unknown_lines.saturating_add(1);
                self.last_unknown_line = Some(line.clone());
            }
            Progress::Finished { outcome, text } => {
                self.outcome = Some(*outcome);
                if !text.is_empty() {
                    self.last_message = Some(text.clone());
                }
            }
        }
    }
}
