//! Texts of agents made fit to be shown: bounded, and without anything that steers a terminal.

/// The most bytes of what an agent said or thought in one piece.
pub const LONGEST_TEXT: usize = 4096;
/// The most bytes of what describes a tool's call or result.
pub const LONGEST_SUMMARY: usize = 240;

const CUT: &str = "…";

/// Words, with their lines.
pub(crate) fn words(text: &str) -> String {
    let is_shown = |letter: &char| !is_control(*letter) || matches!(letter, '\n' | '\t');
    bounded(text.trim().chars().filter(is_shown), LONGEST_TEXT)
}

/// Words on one line.
pub(crate) fn summary(text: &str) -> String {
    let pieces = text.split(|letter: char| letter.is_whitespace() || is_control(letter));
    let mut line = String::new();
    for piece in pieces.filter(|piece| !piece.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(piece);
        // What comes after is cut away anyway.
        if line.len() > LONGEST_SUMMARY {
            break;
        }
    }
    bounded(line.chars(), LONGEST_SUMMARY)
}

/// Control characters, and those that turn the direction of what follows.
fn is_control(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn bounded(letters: impl Iterator<Item = char>, longest: usize) -> String {
    let mut text = String::new();
    let mut room_for_cut = 0;
    for letter in letters {
        if text.len() + letter.len_utf8() > longest {
            text.truncate(room_for_cut);
            text.push_str(CUT);
            break;
        }
        text.push(letter);
        if text.len() + CUT.len() <= longest {
            room_for_cut = text.len();
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_keep_their_lines_and_summaries_do_not() {
        assert_eq!(words("  a\u{1b}[31m\n\tb\r\n "), "a[31m\n\tb");
        assert_eq!(summary("  a\n\n b\u{7}c\t\u{202e}d "), "a b c d");
        assert_eq!(words(&"a".repeat(LONGEST_TEXT)), "a".repeat(LONGEST_TEXT));
        assert_eq!(words(&"a".repeat(LONGEST_TEXT + 1)), format!("{}…", "a".repeat(LONGEST_TEXT - 3)));
    }

    proptest! {
        /// Catches a bound in letters instead of bytes, and the mark of the cut put on top of a full text.
        #[test]
        fn bounds_hold(text in "(\\PC|[\u{1}-\u{1f}é…]){0,3000}") {
            prop_assert!(words(&text).len() <= LONGEST_TEXT);
            prop_assert!(summary(&text).len() <= LONGEST_SUMMARY);
            prop_assert!(!summary(&text).contains(is_control));
        }
    }
}
