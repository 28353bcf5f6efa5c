//! The progress an agent reports, the same for every kind.
//!
//! Owns the events and outcomes. It is not evidence: [`TurnOutcome::Completed`] says that the agent ended its turn, not
//! that the task is done.
//!
//! Invariant: no text is longer than [`crate::MAX_TEXT`] bytes, and none contains control characters.

use fixpoint_ports::ToolOutcome;
use fixpoint_vocabulary::usage::Usage;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// The id of its session, which can be resumed.
    Session(String),
    Model(String),
    Text(String),
    Thinking(String),
    ToolCall {
        id: String,
        name: String,
        /// Its input, on one line.
        summary: String,
    },
    ToolResult {
        id: String,
        outcome: ToolOutcome,
        /// Its output, on one line.
        summary: String,
    },
    /// The total since the agent was started; each replaces the one before. Earlier usage of a resumed session is not
    /// included.
    Usage(Usage),
    /// Something unexpected happened, but the agent continues.
    Notice(String),
    Error(String),
    /// A line that is not a known event, as it was printed.
    Line(String),
    Finished {
        outcome: TurnOutcome,
        /// Its last message.
        text: String,
    },
}

/// How a turn ended according to the agent, by what can be done about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnOutcome {
    /// The agent had nothing more to do. This is not evidence that the task is done.
    Completed,
    OutOfTurns,
    OutOfBudget,
    /// The session to resume does not exist any more: start a new one.
    SessionGone,
    /// Its provider is overloaded or limits requests: wait.
    RateLimited,
    /// It is not signed in, may not use the model, or has no credit: a person must fix it.
    Account,
    Failed,
}

impl TurnOutcome {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::OutOfTurns => "out_of_turns",
            Self::OutOfBudget => "out_of_budget",
            Self::SessionGone => "session_gone",
            Self::RateLimited => "rate_limited",
            Self::Account => "account",
            Self::Failed => "failed",
        }
    }

    pub(crate) const fn of_status(status: u64) -> Self {
        match status {
            401..=403 => Self::Account,
            429 | 503 | 529 => Self::RateLimited,
            _ => Self::Failed,
        }
    }
}

/// A session that can be resumed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    pub id: String,
    /// Its total usage. Some agents report the total of the session, from which the usage of one run is computed.
    pub used: Usage,
}

impl Session {
    /// One word for the journal: the id and, where any were used, the token counts.
    pub fn encode(&self) -> String {
        let Usage { input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, .. } = self.used;
        match self.used.tokens() {
            0 => self.id.clone(),
            _ => {
                format!("{}+{input_tokens}+{cache_read_tokens}+{cache_write_tokens}+{output_tokens}", self.id)
            }
        }
    }

    /// The session of such a word. Calls and cost are not part of it.
    pub fn decode(word: &str) -> Option<Self> {
        let mut parts = word.split('+');
        let id = parts.next().filter(|id| Self::is_id(id))?.to_string();
        let numbers = parts.map(|number| number.parse().ok()).collect::<Option<Vec<u64>>>()?;
        let used = match numbers.as_slice() {
            [] => Usage::default(),
            [input_tokens, cache_read_tokens, cache_write_tokens, output_tokens] => Usage {
                input_tokens: *input_tokens,
                cache_read_tokens: *cache_read_tokens,
                cache_write_tokens: *cache_write_tokens,
                output_tokens: *output_tokens,
                ..Usage::default()
            },
            _ => return None,
        };
        Some(Self { id, used })
    }

    /// Whether an id is safe as an argument. Agents use UUIDs and the like; what looks like an option or a path is
    /// rejected.
    pub(crate) fn is_id(text: &str) -> bool {
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
        (1..=128).contains(&text.len()) && !text.starts_with(['-', '.']) && text.chars().all(is_plain)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_session_is_encoded_as_one_word_and_other_words_are_rejected() {
        let used = Usage { input_tokens: 1, output_tokens: 4, ..Usage::default() };
        assert_eq!(Session { id: "s-1".into(), used }.encode(), "s-1+1+0+0+4");
        assert_eq!(Session { id: "s-1".into(), used: Usage::default() }.encode(), "s-1");
        for word in ["", "+1+2+3+4", "--last", "s+1", "s+1+2+3+4+5", "s+a+2+3+4", "s+-1+2+3+4"] {
            assert_eq!(Session::decode(word), None, "{word}");
        }
    }

    proptest! {
        /// Catches numbers that change places between encoding and decoding.
        #[test]
        fn an_encoded_session_is_decoded(id in "[a-z0-9][a-z0-9._-]{0,40}", numbers: [u32; 4]) {
            let [input, read, written, output] = numbers.map(u64::from);
            let used = Usage {
                input_tokens: input,
                cache_read_tokens: read,
                cache_write_tokens: written,
                output_tokens: output,
                ..Usage::default()
            };
            let session = Session { id, used };
            prop_assert_eq!(Session::decode(&session.encode()), Some(session));
        }
    }

    #[test]
    fn an_id_cannot_be_an_option_or_a_path() {
        for id in ["cbe8d863-e053-43cb-a234-4a46b91dca9e", "ses_4f.1", "a"] {
            assert!(Session::is_id(id), "{id}");
        }
        for id in ["", "--last", "-", "..", "a/b", "a b", "é", "a\n", &"a".repeat(129)] {
            assert!(!Session::is_id(id), "{id}");
        }
    }
}
