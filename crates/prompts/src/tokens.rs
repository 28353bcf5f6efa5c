//! Estimating token counts without a tokenizer.
//!
//! Owns one estimate, a little above what real tokenizers count for prose, code, diffs and logs in English and
//! Japanese; the bench compares it with two of them. Refuses to know any model: costs are computed from what the
//! provider counted.
//!
//! Invariants: a longer text never has a smaller estimate; two joined texts have no larger estimate than the sum of both.
//! Shortening to a budget depends on both.

/// Costs in thousandths of a token, fitted to the samples of the bench.
const WORD: u64 = 800;
/// Each letter after the first: long and rare words are several tokens.
const LETTER: u64 = 100;
const DIGIT: u64 = 560;
/// A space before a word is part of the word's token, and indentation is one token for many spaces.
const SPACE: u64 = 60;
const LINE: u64 = 420;
const MARK: u64 = 760;
/// Punctuation is often one token together, as in `":{"`.
const NEXT_MARK: u64 = 440;
/// The same character again, as in lines and fences.
const SAME_MARK: u64 = 160;
const KANA: u64 = 980;
const IDEOGRAPH: u64 = 1400;
/// Letters of other alphabets.
const FOREIGN: u64 = 800;
/// Everything else: symbols, emoji, invisible characters, each up to four bytes that stand alone.
const RARE: u64 = 3000;

/// The estimated tokens of a text: seldom fewer than a model counts, seldom more than 1.5 times as many.
pub fn estimate_tokens(text: &str) -> u64 {
    let mut meter = TokenMeter::default();
    text.chars().for_each(|letter| meter.add(letter));
    meter.tokens()
}

/// Counts character by character, so that shortening knows where to stop.
#[derive(Debug, Clone, Default)]
pub struct TokenMeter {
    thousandths: u64,
    last: Option<char>,
}

impl TokenMeter {
    pub fn add(&mut self, letter: char) {
        let cost = match letter {
            'a'..='z' | 'A'..='Z' => match self.last {
                Some(last) if last.is_ascii_lowercase() && letter.is_ascii_uppercase() => WORD,
                Some(last) if last.is_ascii_alphabetic() => LETTER,
                Some(_) | None => WORD,
            },
            '0'..='9' => DIGIT,
            ' ' | '\t' => SPACE,
            '\n' | '\r' => LINE,
            '!'..='~' => match self.last {
                Some(last) if last == letter => SAME_MARK,
                Some(last) if last.is_ascii_punctuation() => NEXT_MARK,
                Some(_) | None => MARK,
            },
            '\u{3000}'..='\u{30ff}' => KANA,
            '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' => IDEOGRAPH,
            _ if letter.is_alphabetic() => FOREIGN,
            _ => RARE,
        };
        self.thousandths = self.thousandths.saturating_add(cost);
        self.last = Some(letter);
    }

    /// The count so far, rounded up.
    pub const fn tokens(&self) -> u64 {
        self.thousandths.div_ceil(1000)
    }
}

/// The longest start of a text within a number of tokens.
pub(crate) fn prefix_within(text: &str, tokens: u64) -> &str {
    let mut meter = TokenMeter::default();
    for (at, letter) in text.char_indices() {
        meter.add(letter);
        if meter.tokens() > tokens {
            return text.get(..at).unwrap_or_default();
        }
    }
    text
}

/// The longest end of a text within a number of tokens, never more.
pub(crate) fn suffix_within(text: &str, tokens: u64) -> &str {
    let mut meter = TokenMeter::default();
    let mut start = 0;
    for (at, letter) in text.char_indices().rev() {
        meter.add(letter);
        if meter.tokens() > tokens {
            start = at + letter.len_utf8();
            break;
        }
    }
    // Read backwards, words may count a little less, so a bit more of the start may have to go.
    let mut end = text.get(start..).unwrap_or_default();
    while estimate_tokens(end) > tokens {
        let some = end.chars().count() / 16 + 1;
        end = end.char_indices().nth(some).and_then(|(at, _)| end.get(at..)).unwrap_or_default();
    }
    end
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn costs_are_as_documented() {
        for (text, tokens) in
            [("", 0), ("a", 1), ("the cat sat", 4), ("日本語", 5), ("----------------", 4), ("\":{\"", 3)]
        {
            assert_eq!(estimate_tokens(text), tokens, "{text}");
        }
    }

    proptest! {
        /// Catches a discount for what follows, such as a run whose cost falls as it grows.
        #[test]
        fn a_longer_text_never_costs_less(text in "\\PC{0,80}", more in "\\PC{0,8}") {
            let longer = text.clone() + &more;
            prop_assert!(estimate_tokens(&longer) >= estimate_tokens(&text));
        }

        /// Catches an extra cost where two texts meet, which would make a prompt larger than the sum of its parts.
        #[test]
        fn joined_texts_cost_no_more_than_both(one in "[a-zA-Z0-9 `\n日本ご]{0,40}", two in "\\PC{0,40}") {
            let both = one.clone() + &two;
            prop_assert!(estimate_tokens(&both) <= estimate_tokens(&one) + estimate_tokens(&two));
        }

        /// Catches keeping the character that exceeded the budget, at either end.
        #[test]
        fn a_shortened_text_fits(text in "[a-zA-Z0-9 `\n日本ご]{0,200}", tokens in 0_u64..40) {
            let (head, tail) = (prefix_within(&text, tokens), suffix_within(&text, tokens));
            prop_assert!(estimate_tokens(head) <= tokens && text.starts_with(head));
            prop_assert!(estimate_tokens(tail) <= tokens && text.ends_with(tail));
            prop_assert!(head.len() == text.len() || estimate_tokens(&text) > tokens);
        }
    }
}
