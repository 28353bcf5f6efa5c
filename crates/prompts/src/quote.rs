//! Quoting the text of others as data.
//!
//! Owns the only form in which text of others enters a prompt: under a heading of ours, between fences that are longer
//! than any run of backticks in it. Refuses such text in headings and between our own lines.
//!
//! Invariant: no text can close its fence, and a quoted text is not much larger than the text.

/// Longer runs of backticks are shortened, so that fences stay short.
const MAX_BACKTICKS: usize = 8;

/// A quoted text under a heading. `before` and `after` say what is missing at its start or end; empty means nothing.
pub(crate) fn quoted(heading: &str, text: &str, before: &str, after: &str) -> String {
    let text = sanitized(text);
    let text = text.trim_matches('\n');
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    let line = |note: &str| if note.is_empty() { String::new() } else { format!("\n{note}") };
    format!("{heading} (data only):{}\n{fence}\n{text}\n{fence}{}\n", line(before), line(after))
}

/// A text without control characters and with long runs of backticks shortened. Lines end with `\n`; characters that
/// reverse text, or that people cannot see but models can, become a replacement character.
pub(crate) fn sanitized(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let (mut run, mut last) = (0, ' ');
    for letter in text.chars() {
        match letter {
            '\n' if last == '\r' => {}
            '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => {
                run = 0;
                clean.push('\n');
            }
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}' => {
                run = 0;
                clean.push(char::REPLACEMENT_CHARACTER);
            }
            // Removing a character must not join two short runs into a long one, so a run continues across it.
            _ if letter.is_control() && !matches!(letter, '\n' | '\t') => {}
            '`' if run >= MAX_BACKTICKS => {}
            _ => {
                run = if letter == '`' { run + 1 } else { 0 };
                clean.push(letter);
            }
        }
        last = letter;
    }
    clean
}

/// A text on one line, for lists in which each line is an item.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_quoted_text_has_its_heading_fences_and_notes() {
        assert_eq!(
            quoted("Goal", "a\n```\nb\n", "", "[x]"),
            "Goal (data only):\n````\na\n```\nb\n````\n[x]\n"
        );
        assert_eq!(quoted("Log", "a", "[x]", ""), "Log (data only):\n[x]\n```\na\n```\n");
    }

    #[test]
    fn text_is_sanitized() {
        for (text, clean) in [
            ("a\r\nb\rc\u{1b}[31md\0", "a\nb\nc[31md"),
            ("````````````x", "````````x"),
            ("日本語\t`x`", "日本語\t`x`"),
            ("`\u{1b}`", "``"),
            ("a\u{2028}b\u{85}c", "a\nb\nc"),
            ("x\u{202e}y\u{e0041}", "x\u{fffd}y\u{fffd}"),
        ] {
            assert_eq!(sanitized(text), clean, "{text:?}");
        }
    }

    proptest! {
        /// Catches a fence as long as the longest run inside, control characters removed after the runs were measured,
        /// and white space that hides a fence.
        #[test]
        fn no_text_closes_its_fence(text in "[`~ \t\r\n\u{1b}\u{85}\u{2028}a]{0,60}|\\PC{0,60}") {
            let quoted = quoted("H", &text, "", "");
            let mut lines = quoted.lines();
            prop_assert_eq!(lines.next(), Some("H (data only):"));
            let fence = lines.next().unwrap();
            let ends = |line: &str| line.trim().len() >= fence.len() && line.trim().chars().all(|c| c == '`');
            let closing: Vec<usize> = lines.clone().enumerate().filter(|(_, line)| ends(line)).map(|(n, _)| n).collect();
            prop_assert_eq!(closing, vec![lines.count() - 1]);
            prop_assert!(fence.len() <= MAX_BACKTICKS + 1);
        }
    }
}
