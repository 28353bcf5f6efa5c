//! The last messages of an agent.
//!
//! Owns which progress counts as a message and how much is kept. Refuses tools: their calls and their output are not
//! messages. Invariant: at most the last [`MAX_AGENT_TEXT`] bytes are kept, and what is left out is counted.

use std::collections::VecDeque;

use crate::progress::Progress;

/// How much of an agent's messages is kept, in bytes.
pub const MAX_AGENT_TEXT: usize = 24 << 10;

const SEPARATOR: &str = "\n\n";
/// The longest note about messages that were left out.
const MAX_NOTE: usize = 64;

/// The last messages of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AgentText {
    messages: VecDeque<String>,
    /// Of all messages with their separators.
    bytes: usize,
    omitted: u64,
}

impl AgentText {
    /// The messages, one paragraph each, after a note about those that were left out.
    pub fn text(&self) -> String {
        let note = match self.omitted {
            0 => None,
            1 => Some("[… 1 earlier message left out …]".to_string()),
            many => Some(format!("[… {many} earlier messages left out …]")),
        };
        let paragraphs = note.iter().chain(&self.messages).map(String::as_str);
        paragraphs.collect::<Vec<_>>().join(SEPARATOR)
    }

    /// Adds the progress if it is a message.
    pub(crate) fn add(&mut self, progress: &Progress) {
        match progress {
            Progress::Text(text) => self.push(text.clone()),
            Progress::Error(text) => self.push(format!("error: {text}")),
            Progress::Notice(text) => self.push(format!("notice: {text}")),
            // Before its first event an agent prints plain text. An unknown event is not a message.
            Progress::Line(text) if !text.starts_with('{') => self.push(text.clone()),
            // Agents repeat their last message when they finish.
            Progress::Finished { text, .. } if !text.is_empty() && !self.messages.contains(text) => {
                self.push(text.clone());
            }
            Progress::Line(_)
            | Progress::Finished { .. }
            | Progress::Session(_)
            | Progress::Model(_)
            | Progress::Thinking(_)
            | Progress::ToolCall { .. }
            | Progress::ToolResult { .. }
            | Progress::Usage(_) => {}
        }
    }

    fn push(&mut self, message: String) {
        self.bytes += message.len() + SEPARATOR.len();
        self.messages.push_back(message);
        while self.bytes + MAX_NOTE > MAX_AGENT_TEXT
            && let Some(oldest) = self.messages.pop_front()
        {
            self.bytes -= oldest.len() + SEPARATOR.len();
            self.omitted += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::progress::TurnOutcome;
    use crate::sanitize::{MAX_TEXT, clean_text};

    fn collected(all: &[Progress]) -> AgentText {
        all.iter().fold(AgentText::default(), |mut text, progress| {
            text.add(progress);
            text
        })
    }

    #[test]
    fn messages_are_kept_and_tools_and_events_are_not() {
        let finished = |text: &str| Progress::Finished { outcome: TurnOutcome::Completed, text: text.into() };
        let call = Progress::ToolCall { id: "1".into(), name: "Bash".into(), summary: "cat secrets".into() };
        let all = [
            Progress::Line("warning: old".into()),
            Progress::Session("s".into()),
            Progress::Thinking("hmm".into()),
            Progress::Text("I begin.".into()),
            call,
            Progress::Line(r#"{"type":"news"}"#.into()),
            Progress::Notice("was not permitted to use Bash: make".into()),
            Progress::Error("no credit".into()),
            Progress::Text("Done.".into()),
            finished("Done."),
        ];
        let expected = "warning: old\n\nI begin.\n\nnotice: was not permitted to use Bash: make\n\n\
                        error: no credit\n\nDone.";
        assert_eq!(collected(&all).text(), expected);
        assert_eq!(collected(&[finished("Only this.")]).text(), "Only this.");
    }

    proptest! {
        /// Catches a limit that forgets the separators, and one that keeps the start.
        #[test]
        fn the_end_is_kept_within_the_limit(sizes in prop::collection::vec(1..MAX_TEXT, 0..40)) {
            let pieces: Vec<Progress> =
                sizes.iter().map(|size| Progress::Text(clean_text(&"x".repeat(*size)))).collect();
            let mut collected = collected(&pieces);
            collected.add(&Progress::Text("the very end".into()));
            let text = collected.text();
            prop_assert!(text.len() <= MAX_AGENT_TEXT);
            prop_assert!(text.ends_with("the very end"));
            let all = sizes.iter().map(|size| size + SEPARATOR.len()).sum::<usize>() + "the very end".len();
            let is_cut = all + SEPARATOR.len() + MAX_NOTE > MAX_AGENT_TEXT;
            prop_assert_eq!(text.starts_with("[… "), is_cut);
            let shown = text.split(SEPARATOR).filter(|one| !one.starts_with("[… ")).count();
            let note = format!("[… {} earlier message", sizes.len() + 1 - shown);
            prop_assert_eq!(text.starts_with(&note), is_cut);
        }
    }
}
