//! What an agent said in its own words, as far back as is worth reading.
//!
//! Owns which progress is words and how many of them are kept. Refuses its tools: what they were called with and what
//! they printed is not what it said. Invariant: no more than [`MOST_SAID`] bytes are kept, the last ones.

use std::collections::VecDeque;

use crate::progress::Progress;

/// The most bytes of an agent's words that are kept.
pub const MOST_SAID: usize = 24 << 10;

const BETWEEN: &str = "\n\n";
const LEFT_OUT: &str = "[…]";

/// The end of what an agent said.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Said {
    pieces: VecDeque<String>,
    /// Of all pieces, with what stands after each.
    bytes: usize,
    is_cut: bool,
}

impl Said {
    /// The words, a paragraph for each time it spoke; they say where something was left out.
    pub fn text(&self) -> String {
        let cut = self.is_cut.then_some(LEFT_OUT);
        let pieces = cut.into_iter().chain(self.pieces.iter().map(String::as_str));
        pieces.collect::<Vec<_>>().join(BETWEEN)
    }

    /// Adds what of it is words.
    pub(crate) fn see(&mut self, progress: &Progress) {
        match progress {
            Progress::Text(text) => self.add(text.clone()),
            Progress::Error(text) => self.add(format!("error: {text}")),
            Progress::Notice(text) => self.add(format!("notice: {text}")),
            // Before it can tell events it speaks plainly. An event that nobody has heard of is not its words.
            Progress::Line(text) if !text.starts_with('{') => self.add(text.clone()),
            // Agents repeat their last words when they end.
            Progress::Finished { text, .. } if !text.is_empty() && !self.pieces.contains(text) => {
                self.add(text.clone());
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

    fn add(&mut self, piece: String) {
        self.bytes += piece.len() + BETWEEN.len();
        self.pieces.push_back(piece);
        while self.bytes + LEFT_OUT.len() > MOST_SAID
            && let Some(oldest) = self.pieces.pop_front()
        {
            self.bytes -= oldest.len() + BETWEEN.len();
            self.is_cut = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::progress::Outcome;
    use crate::shortening::{LONGEST_TEXT, words};

    fn said(all: &[Progress]) -> Said {
        all.iter().fold(Said::default(), |mut said, progress| {
            said.see(progress);
            said
        })
    }

    #[test]
    fn words_are_kept_and_tools_and_events_are_not() {
        let finished = |text: &str| Progress::Finished { outcome: Outcome::Completed, text: text.into() };
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
        assert_eq!(said(&all).text(), expected);
        assert_eq!(said(&[finished("Only this.")]).text(), "Only this.");
    }

    proptest! {
        /// Catches a bound that forgets what stands between the pieces, and one that keeps the beginning.
        #[test]
        fn the_end_is_kept_within_the_bound(sizes in prop::collection::vec(1..LONGEST_TEXT, 0..40)) {
            let pieces: Vec<Progress> =
                sizes.iter().map(|size| Progress::Text(words(&"x".repeat(*size)))).collect();
            let mut said = said(&pieces);
            said.see(&Progress::Text("the very end".into()));
            let text = said.text();
            prop_assert!(text.len() <= MOST_SAID);
            prop_assert!(text.ends_with("the very end"));
            let all = sizes.iter().map(|size| size + BETWEEN.len()).sum::<usize>() + "the very end".len();
            prop_assert_eq!(text.starts_with(LEFT_OUT), all + BETWEEN.len() + LEFT_OUT.len() > MOST_SAID);
        }
    }
}
