//! What an agent lets us see of its work, in the same words for every kind.
//!
//! Owns the words. Refuses evidence: a turn that is [`Outcome::Completed`] has ended as its agent wished, which says
//! nothing about whether the task is done.
//!
//! Invariant: no text in here is longer than [`crate::LONGEST_TEXT`] bytes, and none can steer a terminal.

use fixpoint_ports::ToolOutcome;
use fixpoint_vocabulary::usage::Usage;

/// Something an agent let us see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// It works in this session, which can be continued.
    Session(String),
    /// It uses this model.
    Model(String),
    /// It said something.
    Text(String),
    /// It thought aloud.
    Thinking(String),
    /// It uses a tool.
    ToolCall {
        /// The id by which its result is known.
        id: String,
        /// The tool.
        name: String,
        /// What for, on one line.
        summary: String,
    },
    /// A tool came to its end.
    ToolResult {
        /// The id of the call.
        id: String,
        /// How it ended.
        outcome: ToolOutcome,
        /// What came out, on one line.
        summary: String,
    },
    /// All it used since it was started, this included: each replaces the one before. What the session had used
    /// before is not part of it.
    Usage(Usage),
    /// Something went otherwise than a person would expect, and it goes on.
    Notice(String),
    /// Something failed.
    Error(String),
    /// A line that could not be understood, as it was.
    Line(String),
    /// Its turn has ended.
    Finished {
        /// How, as the agent tells it.
        outcome: Outcome,
        /// Its last words.
        text: String,
    },
}

/// How a turn ended, by what can be done about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The agent had nothing more to do. It is no evidence of anything.
    Completed,
    /// It used all the turns it was given.
    OutOfTurns,
    /// It spent all the money it was given.
    OutOfBudget,
    /// The session that was to be continued does not exist any more: begin anew.
    SessionGone,
    /// Its provider is overloaded or refuses more requests for now: wait.
    RateLimited,
    /// It is not signed in, may not use the model, or has no credit: a person must see to it.
    Account,
    /// Anything else.
    Failed,
}

impl Outcome {
    /// The name, for records.
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

    /// What an HTTP status of the provider comes to.
    pub(crate) const fn of_status(status: u64) -> Self {
        match status {
            401..=403 => Self::Account,
            429 | 503 | 529 => Self::RateLimited,
            _ => Self::Failed,
        }
    }
}

/// A session that can be continued.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its id, in the agent's words.
    pub id: String,
    /// All it used so far. Some agents tell the sum over the whole session, of which the part of one run is taken.
    pub used: Usage,
}

impl Session {
    /// As one word that can be kept in a record: the id and, where any was used, the numbers of tokens.
    pub fn token(&self) -> String {
        let Usage { input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, .. } = self.used;
        match self.used.tokens() {
            0 => self.id.clone(),
            _ => {
                format!("{}+{input_tokens}+{cache_read_tokens}+{cache_write_tokens}+{output_tokens}", self.id)
            }
        }
    }

    /// Out of such a word; nothing where it is none. Calls and cost are not part of it.
    pub fn of_token(token: &str) -> Option<Self> {
        let mut parts = token.split('+');
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

    /// An id that is safe as an argument: agents use UUIDs and the like. Whatever looks like an option or a path is
    /// not taken for one.
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
    fn a_token_is_one_word_and_nothing_else_is_a_token() {
        let used = Usage { input_tokens: 1, output_tokens: 4, ..Usage::default() };
        assert_eq!(Session { id: "s-1".into(), used }.token(), "s-1+1+0+0+4");
        assert_eq!(Session { id: "s-1".into(), used: Usage::default() }.token(), "s-1");
        for token in ["", "+1+2+3+4", "--last", "s+1", "s+1+2+3+4+5", "s+a+2+3+4", "s+-1+2+3+4"] {
            assert_eq!(Session::of_token(token), None, "{token}");
        }
    }

    proptest! {
        /// Catches numbers that change places between writing and reading.
        #[test]
        fn a_token_brings_the_session_back(id in "[a-z0-9][a-z0-9._-]{0,40}", numbers: [u32; 4]) {
            let [input, read, written, output] = numbers.map(u64::from);
            let used = Usage {
                input_tokens: input,
                cache_read_tokens: read,
                cache_write_tokens: written,
                output_tokens: output,
                ..Usage::default()
            };
            let session = Session { id, used };
            prop_assert_eq!(Session::of_token(&session.token()), Some(session));
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
