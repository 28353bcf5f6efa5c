//! One look at a line for all words that matter in it: those that complain, and those that tell of the environment.
//!
//! Nearly every line of a long output comes by here, and nearly none has such a word. Refuses to say which word it is.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::complaints::COMPLAINTS;
use crate::environment;

/// Bytes of a word that are looked for: a larger table would be slower.
const LONGEST: usize = 8;

/// Whether a line may complain or tell of the environment.
pub(super) fn may_be_of_note(line: &str) -> bool {
    static WORDS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
        let words = COMPLAINTS.into_iter().chain(environment::literals());
        let beginnings = words.map(|word| word.get(..word.floor_char_boundary(LONGEST)).unwrap_or(word));
        AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .kind(Some(AhoCorasickKind::DFA))
            .build(beginnings)
            .ok()
    });
    WORDS.as_ref().is_none_or(|words| words.is_match(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_word_is_missed_and_chatter_is_left_alone() {
        for word in COMPLAINTS.into_iter().chain(environment::literals()) {
            assert!(may_be_of_note(&format!("a {} b", word.to_uppercase())), "{word}");
        }
        assert!(!may_be_of_note("INFO worker-1 handled request 17 of 10.0.0.9 in 3ms"));
    }
}
