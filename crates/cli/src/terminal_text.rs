//! Foreign text for a terminal: without anything that a terminal obeys or that makes text look like another.
//!
//! The only place that decides this. Everything that is printed for people passes through [`harmless`] or [`printable`], and
//! JSON through [`harmless_json`]. Invariant: the result has no control character but line ends and tabs, neither
//! as one byte nor as UTF-8 (U+0080 to U+009F), no character that changes the direction of text, and no invisible one.

use std::borrow::Cow;

/// Stands where something was removed that is not just a colour.
const REPLACEMENT: char = '\u{fffd}';
/// The text of a sequence such as a window title. What is longer without an end was never one.
const LONGEST_STRING: usize = 4096;
const ESCAPE: char = '\u{1b}';

/// Text with its lines and tabs. Colours and cursor movements are removed, everything else that acts is replaced by a mark.
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    let acts = |letter: char| is_hostile(letter) && !matches!(letter, '\n' | '\t');
    let Some(first) = text.find(acts) else { return Cow::Borrowed(text) };
    let (start, mut rest) = text.split_at_checked(first).unwrap_or((text, ""));
    let mut clean = String::from(start);
    while let Some(letter) = rest.chars().next() {
        let after = rest.get(letter.len_utf8()..).unwrap_or_default();
        rest = match letter {
            '\n' | '\t' => {
                clean.push(letter);
                after
            }
            '\r' if after.starts_with('\n') => after,
            ESCAPE => match sequence(after) {
                Sequence::Formatting(rest) => rest,
                Sequence::Text(rest) | Sequence::None(rest) => {
                    clean.push(REPLACEMENT);
                    rest
                }
            },
            '\u{9b}' => formatting(after).unwrap_or_else(|| {
                clean.push(REPLACEMENT);
                after
            }),
            '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => {
                clean.push(REPLACEMENT);
                string_end(after).unwrap_or(after)
            }
            hostile if is_hostile(hostile) => {
                clean.push(REPLACEMENT);
                after
            }
            plain => {
                clean.push(plain);
                after
            }
        };
    }
    Cow::Owned(clean)
}

/// One line of a text, with nothing in the place of what was removed.
pub(crate) fn printable(line: &str) -> String {
    harmless(line).chars().filter(|letter| !letter.is_control() && *letter != REPLACEMENT).collect()
}

/// What a program printed: a carriage return, with which it would write over its own line, begins another one.
pub(crate) fn harmless_output(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let lines = text.replace("\r\n", "\n").replace('\r', "\n");
    harmless(&lines).into_owned()
}

/// JSON with the same value, in which no character acts.
pub(crate) fn harmless_json(json: String) -> String {
    let acts = |letter: char| is_hostile(letter) && letter >= '\u{7f}';
    if !json.contains(acts) {
        return json;
    }
    let mut clean = String::with_capacity(json.len());
    for letter in json.chars() {
        if acts(letter) {
            let mut units = [0; 2];
            letter.encode_utf16(&mut units).iter().for_each(|unit| clean.push_str(&format!("\\u{unit:04x}")));
        } else {
            clean.push(letter);
        }
    }
    clean
}

/// Whether a terminal obeys a character, or shows text in another order or not at all because of it. Joiners stay: several
/// scripts and emoji need them.
fn is_hostile(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            // The direction of text: marks, embeddings, overrides, isolates.
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            // Line separators, and characters without any width.
            | '\u{2028}' | '\u{2029}' | '\u{200b}' | '\u{180e}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// What follows an escape character.
enum Sequence<'a> {
    /// A colour, a cursor movement or a change of mode; with what follows it.
    Formatting(&'a str),
    /// A text for the terminal itself, such as the title of its window.
    Text(&'a str),
    None(&'a str),
}

fn sequence(after: &str) -> Sequence<'_> {
    let mut letters = after.chars();
    match letters.next() {
        Some('[') => formatting(letters.as_str()).map_or(Sequence::None(after), Sequence::Formatting),
        Some(']' | 'P' | 'X' | '^' | '_') => {
            string_end(letters.as_str()).map_or(Sequence::None(letters.as_str()), Sequence::Text)
        }
        Some(' '..='/') => {
            let rest = letters.as_str().trim_start_matches(|letter| (' '..='/').contains(&letter));
            let mut letters = rest.chars();
            match letters.next() {
                Some('0'..='~') => Sequence::Formatting(letters.as_str()),
                Some(_) | None => Sequence::None(rest),
            }
        }
        Some('0'..='~') => Sequence::Formatting(letters.as_str()),
        Some(_) | None => Sequence::None(after),
    }
}

/// What follows the parameters and the last letter of a control sequence; `None` if it has no last letter.
fn formatting(after: &str) -> Option<&str> {
    let rest = after.trim_start_matches(|letter| (' '..='?').contains(&letter));
    let mut letters = rest.chars();
    letters.next().filter(|last| ('@'..='~').contains(last))?;
    Some(letters.as_str())
}

/// What follows the end of a text for the terminal; `None` if it has no end on this line.
fn string_end(after: &str) -> Option<&str> {
    let (end, letter) = after
        .char_indices()
        .take(LONGEST_STRING)
        .find(|(_, letter)| matches!(*letter, '\u{7}' | '\u{9c}' | ESCAPE | '\n'))?;
    let rest = after.get(end + letter.len_utf8()..)?;
    match letter {
        '\n' => None,
        ESCAPE => rest.strip_prefix('\\'),
        _ => Some(rest),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_removed() {
        for (name, text, clean) in [
            ("plain", "a\tb\n日本 👩‍💻", "a\tb\n日本 👩‍💻"),
            ("colours", "\u{1b}[1;31mred\u{1b}[0m", "red"),
            ("a window title", "\u{1b}]0;x\u{7}\u{9b}2J!", "\u{fffd}!"),
            ("a link", "\u{1b}]8;;http://x\u{1b}\\name\u{1b}]8;;\u{1b}\\", "\u{fffd}name\u{fffd}"),
            (
                "a title without an end",
                "\u{1b}]0;all of this stays",
                "\u{fffd}all of this stays".replace("all", "0;all").as_str(),
            ),
            ("device control", "\u{1b}P$qm\u{1b}\\\u{90}q\u{9c}x", "\u{fffd}\u{fffd}x"),
            ("an application command", "\u{1b}_G\u{1b}\\\u{9f}G\u{9c}x", "\u{fffd}\u{fffd}x"),
            ("a reset, another alphabet", "\u{1b}ca\u{1b}(Bb", "ab"),
            ("a control character of UTF-8", "a\u{85}b\u{9b}31mc", "a\u{fffd}bc"),
            ("carriage returns", "good\rbad\r\n", "good\u{fffd}bad\n"),
            ("backspaces", "ab\u{8}\u{8}c", "ab\u{fffd}\u{fffd}c"),
            ("another direction", "a\u{202e}b\u{2066}c\u{2069}", "a\u{fffd}b\u{fffd}c\u{fffd}"),
            ("no width", "a\u{200b}b\u{feff}c", "a\u{fffd}b\u{fffd}c"),
            ("cut off", "a\u{1b}[12", "a\u{fffd}[12"),
            ("an escape at the end", "a\u{1b}", "a\u{fffd}"),
        ] {
            assert_eq!(harmless(text), clean, "{name}");
        }
        assert_eq!(printable("\u{1b}[31mred\u{1b}[0m\u{7}\u{8}!"), "red!");
        assert_eq!(harmless_output(b"10%\r20%\r\nok \x9b31m\xff"), "10%\n20%\nok \u{fffd}31m\u{fffd}");
    }

    #[test]
    fn json_keeps_its_value() {
        let value = "a\u{9b}\u{202e}\u{7f}\u{e0041}\u{1b}日";
        let json = harmless_json(serde_json::to_string(value).unwrap());
        assert!(!json.contains(is_hostile), "{json:?}");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), value);
    }

    proptest! {
        /// Catches a character that comes through after a sequence that is none.
        #[test]
        fn nothing_hostile_comes_through(text in "[\\x1b\\x07\\x9b\\x90\\x9c\\r\\n\\u{202e}\\[\\]P0-9;a-z日]{0,60}") {
            let clean = harmless(&text).into_owned();
            prop_assert!(!clean.contains(|letter| is_hostile(letter) && !matches!(letter, '\n' | '\t')), "{:?}", clean);
            prop_assert_eq!(clean.matches('\n').count(), text.matches('\n').count());
        }
    }
}
