//! Text in the columns of a terminal: how wide it is, where its lines break, how much of it fits.
//!
//! `unicode-width` counts columns, `textwrap` breaks lines. Invariant: no line is wider than it may be, except where a
//! single letter is wider than that.

use std::borrow::Cow;

use textwrap::core::Word;
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Text in lines of at most `width` columns, the first with one indentation, the others with another.
pub(crate) fn wrap(text: &str, width: usize, first: &str, others: &str) -> Vec<String> {
    let options = Options::new(width)
        .initial_indent(first)
        .subsequent_indent(others)
        .word_separator(WordSeparator::Custom(words))
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    textwrap::wrap(&one_line, options).into_iter().map(Cow::into_owned).collect()
}

/// What stays on one line: whatever has no space in it, such as a path or an option, so that it can be copied. Text in
/// Japanese has no spaces and breaks where Unicode allows it, which is never before a closing mark.
fn words(line: &str) -> Box<dyn Iterator<Item = Word<'_>> + '_> {
    let of_piece = |piece| -> Box<dyn Iterator<Item = Word<'_>> + '_> {
        if is_wide(piece) {
            WordSeparator::UnicodeBreakProperties.find_words(piece)
        } else {
            WordSeparator::AsciiSpace.find_words(piece)
        }
    };
    Box::new(line.split_inclusive(' ').flat_map(of_piece))
}

fn is_wide(text: &str) -> bool {
    text.chars().any(|letter| letter.width() == Some(2))
}

/// As much of the beginning of a line as fits.
pub(crate) fn fit(line: &str, width: usize) -> &str {
    let mut used = 0;
    let too_much = line.char_indices().find(|(_, letter)| {
        used += letter.width().unwrap_or(0);
        used > width
    });
    too_much.and_then(|(end, _)| line.get(..end)).unwrap_or(line)
}

/// The same, with dots where something was cut off.
pub(crate) fn shorten(line: &str, width: usize) -> Cow<'_, str> {
    if line.width() <= width {
        Cow::Borrowed(line)
    } else {
        Cow::Owned(format!("{}…", fit(line, width.saturating_sub(1))))
    }
}

/// Text with spaces after it, up to a number of columns.
pub(crate) fn pad(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

/// A path or an argument as a shell takes it. One with a NUL byte cannot be written; no program can be given one either.
pub(crate) fn shell_word(word: &str) -> String {
    shlex::try_quote(word).unwrap_or(Cow::Borrowed(word)).into_owned()
}

/// A command line as a shell takes it.
pub(crate) fn shell_line(words: &[String]) -> String {
    words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What never begins a line.
    const CLOSING: [char; 6] = ['。', '、', '）', '」', '・', 'ー'];

    #[test]
    fn lines_fit_whatever_is_in_them() {
        let long = format!("short {} 日本語の長い文がここに続きます{}", "x".repeat(300), "あ".repeat(100));
        let lines = wrap(&long, 79, "  · ", "    ");
        assert!(lines.iter().all(|line| line.width() <= 79), "{lines:#?}");
        let joined: String = lines.iter().map(|line| line.trim_start_matches([' ', '·'])).collect();
        assert_eq!(joined.replace(' ', ""), long.replace(' ', ""));
    }

    #[test]
    fn no_line_begins_with_a_closing_mark() {
        let text = "長い文が続きます。 fixpoint show、（括弧）「引用」です。".repeat(8);
        for width in 20..60 {
            let lines = wrap(&text, width, "", "");
            assert!(lines.iter().all(|line| !line.starts_with(CLOSING)), "{width}: {lines:#?}");
        }
    }

    #[test]
    fn what_can_be_copied_stays_whole() {
        let lines = wrap("see `context/tax/diagnosis.md`, then --allow-test-edits", 30, "", "  ");
        assert_eq!(lines, ["see", "  `context/tax/diagnosis.md`,", "  then --allow-test-edits"]);
    }

    #[test]
    fn a_line_is_cut_by_columns_and_not_by_letters() {
        let table = [
            ("wide letters", "日本語", 4, "日本"),
            ("half of a wide letter", "日本語", 5, "日本"),
            ("narrow arrows", "abc → d", 5, "abc →"),
            ("all of it", "abc", 3, "abc"),
            ("no room", "abc", 0, ""),
        ];
        for (name, line, width, expected) in table {
            assert_eq!(fit(line, width), expected, "{name}");
        }
        assert_eq!((shorten("日本語", 5), shorten("日本語", 6)), ("日本…".into(), "日本語".into()));
        assert_eq!((pad("日本", 6), pad("abc", 2)), ("日本  ".to_string(), "abc".to_string()));
    }

    #[test]
    fn a_shell_reads_back_what_was_quoted() {
        let table = [("plain", "/tmp/a", "/tmp/a"), ("space", "/tmp/a b", "'/tmp/a b'"), ("empty", "", "''")];
        for (name, word, expected) in table {
            assert_eq!(shell_word(word), expected, "{name}");
        }
        let words = ["sh".to_string(), "-c".to_string(), "it's $HOME".to_string()];
        assert_eq!(shlex::split(&shell_line(&words)).expect("readable"), words);
    }

    proptest! {
        /// Catches letters that are lost where a line breaks: no separator, or a break inside of an indentation.
        #[test]
        fn nothing_is_lost(text in "[a-z /。、日本語…-]{0,80}", width in 4usize..40) {
            let lines = wrap(&text, width, "", "");
            prop_assert!(lines.iter().all(|line| line.width() <= width), "{:?}", lines);
            let together: String = lines.concat().replace(' ', "");
            prop_assert_eq!(together, text.replace(' ', ""));
        }
    }
}
