//! Making texts of agents safe to show: of limited length, without control characters.

/// The longest text of one event, in bytes.
pub const MAX_TEXT: usize = 4096;
/// The longest summary of a tool call or result, in bytes.
pub const MAX_SUMMARY: usize = 240;

const ELLIPSIS: &str = "…";

/// The text with its line breaks.
pub(crate) fn clean_text(text: &str) -> String {
    let is_shown = |letter: &char| !is_control(*letter) || matches!(letter, '\n' | '\t');
    bounded(text.trim().chars().filter(is_shown), MAX_TEXT)
}

pub(crate) fn one_line(text: &str) -> String {
    let pieces = text.split(|letter: char| letter.is_whitespace() || is_control(letter));
    let mut line = String::new();
    for piece in pieces.filter(|piece| !piece.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(piece);
        // What follows would be cut off anyway.
        if line.len() > MAX_SUMMARY {
            break;
        }
    }
    bounded(line.chars(), MAX_SUMMARY)
}

/// Control characters, and those that change the direction of text.
fn is_control(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn bounded(letters: impl Iterator<Item = char>, max: usize) -> String {
    let mut text = String::new();
    let mut room_for_ellipsis = 0;
    for letter in letters {
        if text.len() + letter.len_utf8() > max {
            text.truncate(room_for_ellipsis);
            text.push_str(ELLIPSIS);
            break;
        }
        text.push(letter);
        if text.len() + ELLIPSIS.len() <= max {
            room_for_ellipsis = text.len();
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_keep_their_line_breaks_and_summaries_do_not() {
        assert_eq!(clean_text("  a\u{1b}[31m\n\tb\r\n "), "a[31m\n\tb");
        assert_eq!(one_line("  a\n\n b\u{7}c\t\u{202e}d "), "a b c d");
        assert_eq!(clean_text(&"a".repeat(MAX_TEXT)), "a".repeat(MAX_TEXT));
        assert_eq!(clean_text(&"a".repeat(MAX_TEXT + 1)), format!("{}…", "a".repeat(MAX_TEXT - 3)));
    }

    proptest! {
        /// Catches a limit in characters instead of bytes, and an ellipsis added to a text of full length.
        #[test]
        fn limits_hold(text in "(\\PC|[\u{1}-\u{1f}é…]){0,3000}") {
            prop_assert!(clean_text(&text).len() <= MAX_TEXT);
            prop_assert!(one_line(&text).len() <= MAX_SUMMARY);
            prop_assert!(!one_line(&text).contains(is_control));
        }
    }
}
