//! Foreign text, quoted as data.
//!
//! Owns the one form in which anything that others wrote enters a prompt: under a heading of ours, between fences
//! longer than any run of backticks in it. Refuses foreign text in headings and between the lines of ours.
//!
//! Invariant: no text can close its quotation, and no quotation is much larger than its text.

/// Longer runs of backticks are shortened, so that fences stay short.
const LONGEST_RUN: usize = 8;

/// A quotation: what it is, the text, and a word on what was left out.
pub(crate) fn quoted(heading: &str, text: &str, note: &str) -> String {
    let text = plain(text);
    let text = text.trim_matches('\n');
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    let note = if note.is_empty() { String::new() } else { format!("\n[{note}]") };
    format!("{heading} (data only):\n{fence}\n{text}\n{fence}{note}\n")
}

/// A text without what terminals act upon and with runs of backticks shortened. Lines end with `\n`; what would turn
/// letters around, or is invisible to people and not to models, is shown as a mark.
pub(crate) fn plain(text: &str) -> String {
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
            // What is taken out must not bring two short runs together, so a run goes on across it.
            _ if letter.is_control() && !matches!(letter, '\n' | '\t') => {}
            '`' if run >= LONGEST_RUN => {}
            _ => {
                run = if letter == '`' { run + 1 } else { 0 };
                clean.push(letter);
            }
        }
        last = letter;
    }
    clean
}

/// A text on one line, for lists whose lines mean something.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_quotation_has_its_heading_fences_and_note() {
        assert_eq!(quoted("Goal", "a\n```\nb\n", "cut"), "Goal (data only):\n````\na\n```\nb\n````\n[cut]\n");
    }

    #[test]
    fn text_is_made_plain() {
        for (text, clean) in [
            ("a\r\nb\rc\u{1b}[31md\0", "a\nb\nc[31md"),
            ("````````````x", "````````x"),
            ("日本語\t`x`", "日本語\t`x`"),
            ("`\u{1b}`", "``"),
            ("a\u{2028}b\u{85}c", "a\nb\nc"),
            ("x\u{202e}y\u{e0041}", "x\u{fffd}y\u{fffd}"),
        ] {
            assert_eq!(plain(text), clean);
        }
    }

    proptest! {
        /// Catches a fence as long as the longest run inside, control characters taken out after the runs were
        /// measured, and white space that hides a fence.
        #[test]
        fn no_text_closes_its_quotation(text in "[`~ \t\r\n\u{1b}\u{85}\u{2028}a]{0,60}|\\PC{0,60}") {
            let quotation = quoted("H", &text, "");
            let mut lines = quotation.lines();
            prop_assert_eq!(lines.next(), Some("H (data only):"));
            let fence = lines.next().unwrap();
            let ends = |line: &str| line.trim().len() >= fence.len() && line.trim().chars().all(|c| c == '`');
            let closing: Vec<usize> = lines.clone().enumerate().filter(|(_, line)| ends(line)).map(|(n, _)| n).collect();
            prop_assert_eq!(closing, vec![lines.count() - 1]);
            prop_assert!(fence.len() <= LONGEST_RUN + 1);
        }
    }
}
