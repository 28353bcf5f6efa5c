//! Python sources as tokens.
//!
//! Owns strings, comments, names, and where a logical line ends. Refuses to know statements. Invariant: the tokens stand in the
//! text in their order; the end of a logical line is a token of a line break.

use std::ops::Range;

/// Signs that belong together.
const SIGNS: [&str; 8] = ["==", "!=", "<=", ">=", ":=", "->", "**", "//"];

/// The tokens of a text that are no blanks or comments.
pub(super) fn tokens(text: &str) -> Vec<Range<usize>> {
    let (mut found, mut at, mut depth): (Vec<Range<usize>>, usize, usize) = (Vec::new(), 0, 0);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let end = at + length(rest);
        match rest.chars().next() {
            Some('(' | '[' | '{') => depth += 1,
            Some(')' | ']' | '}') => depth = depth.saturating_sub(1),
            Some(_) | None => {}
        }
        let is_left_out = match rest.chars().next() {
            Some('\n') => depth > 0,
            Some('#' | '\\') => true,
            Some(letter) => letter.is_whitespace(),
            None => true,
        };
        if !is_left_out {
            found.push(at..end);
        }
        at = end;
    }
    found
}

/// The length of the token at the beginning of a text that is not empty.
fn length(rest: &str) -> usize {
    let is_of_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let word = rest.find(|letter| !is_of_word(letter)).unwrap_or(rest.len());
    let behind = rest.get(word..).unwrap_or_default();
    let is_prefix = word < 3 && rest.chars().take(word).all(|letter| "rbufRBUF".contains(letter));
    if is_prefix && behind.starts_with(['"', '\'']) {
        return word + string_length(behind);
    }
    if word > 0 {
        return word;
    }
    let first = rest.chars().next().map_or(1, char::len_utf8);
    match rest.chars().next() {
        Some('#') => rest.find('\n').unwrap_or(rest.len()),
        // A line break behind it ends no line.
        Some('\\') => {
            first + rest.get(first..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8)
        }
        _ => SIGNS.iter().find(|sign| rest.starts_with(**sign)).map_or(first, |sign| sign.len()),
    }
}

fn string_length(rest: &str) -> usize {
    let quote = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| rest.starts_with(quote)).unwrap_or("'");
    let mut at = quote.len();
    while let Some(letter) = rest.get(at..).and_then(|rest| rest.chars().next()) {
        if rest.get(at..).is_some_and(|rest| rest.starts_with(quote)) {
            return at + quote.len();
        }
        if letter == '\n' && quote.len() == 1 {
            return at;
        }
        at += letter.len_utf8();
        if letter == '\\' {
            at += rest.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_and_brackets_hide_line_breaks() {
        let words = |text: &'static str| -> Vec<&str> {
            tokens(text).into_iter().filter_map(|token| text.get(token)).collect()
        };
        assert_eq!(words("a.b = f'x\\'y' # c\n"), ["a", ".", "b", "=", "f'x\\'y'", "\n"]);
        assert_eq!(words("f(a,\n  b) == '''\n'''\n"), ["f", "(", "a", ",", "b", ")", "==", "'''\n'''", "\n"]);
        assert_eq!(words("a \\\n = 'open\nb"), ["a", "=", "'open", "\n", "b"]);
    }
}
