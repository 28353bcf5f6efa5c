//! JavaScript and TypeScript sources as tokens.
//!
//! Owns the little of the syntax that says where brackets stand: strings, templates, comments, regular expressions. Refuses to
//! know statements. A slash that may begin an expression begins a regular expression if that ends on its line. Invariant: the
//! tokens stand in the text in their order.

use std::ops::Range;

/// Words behind which an expression begins.
const BEFORE_EXPRESSIONS: [&str; 15] = [
    "return",
    "typeof",
    "case",
    "in",
    "of",
    "delete",
    "void",
    "throw",
    "new",
    "do",
    "else",
    "instanceof",
    "yield",
    "await",
    "default",
];

/// What a closing brace closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Brace,
    /// An expression in a template, which goes on behind it.
    Template,
}

/// The tokens of a text that are no blanks or comments. A template is cut at the expressions in it.
pub(crate) fn tokens(text: &str) -> Vec<Range<usize>> {
    let (mut found, mut open): (Vec<Range<usize>>, Vec<Open>) = (Vec::new(), Vec::new());
    let (mut at, mut previous) = (0, "");
    while at < text.len() {
        let mut end = token_end(text, at, previous);
        match text.get(at..end) {
            Some("{") => open.push(Open::Brace),
            Some("}") if open.pop() == Some(Open::Template) => end = template_end(text, end),
            _ => {}
        }
        let end = end.max(at + 1).min(text.len());
        let token = text.get(at..end).unwrap_or_default();
        if token.starts_with(['`', '}']) && token.ends_with("${") {
            open.push(Open::Template);
        }
        let is_comment = token.starts_with("//") || token.starts_with("/*");
        if !is_comment && !token.chars().all(char::is_whitespace) {
            found.push(at..end);
            previous = token;
        }
        at = end;
    }
    found
}

fn token_end(text: &str, at: usize, previous: &str) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let is_of_word = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '$' | '#');
    match rest.chars().next() {
        Some('/') if rest.starts_with("//") => at + rest.find('\n').unwrap_or(rest.len()),
        Some('/') if rest.starts_with("/*") => {
            let close = rest.get(2..).and_then(|inner| inner.find("*/"));
            close.map_or(text.len(), |found| at + 2 + found + 2)
        }
        Some('/') if !rest.starts_with("/>") && begins_expression(previous) => {
            expression_end(rest).map_or(at + 1, |length| at + length)
        }
        Some(quote @ ('"' | '\'')) => at + string_length(rest, quote),
        Some('`') => template_end(text, at + 1),
        Some(first) if is_of_word(first) => {
            at + rest.find(|letter: char| !is_of_word(letter)).unwrap_or(rest.len())
        }
        Some(first) => at + first.len_utf8(),
        None => text.len(),
    }
}

/// Whether an expression may begin behind a token. `</` is the end of an element.
fn begins_expression(previous: &str) -> bool {
    const SIGNS: &str = "(,=:[!&|?{};+-*%~^>";
    previous.is_empty()
        || previous.ends_with("${")
        || previous.len() == 1 && SIGNS.contains(previous)
        || BEFORE_EXPRESSIONS.contains(&previous)
}

/// The length of a regular expression that ends on its line.
fn expression_end(rest: &str) -> Option<usize> {
    let (mut is_escaped, mut is_in_class) = (false, false);
    for (at, letter) in rest.char_indices().skip(1) {
        match letter {
            '\n' => return None,
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '[' => is_in_class = true,
            ']' => is_in_class = false,
            '/' if !is_in_class => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// The length of a string, which ends with its line at the latest.
fn string_length(rest: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, letter) in rest.char_indices().skip(1) {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '\n' => return at,
            _ if letter == quote => return at + letter.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

/// Where a piece of a template ends: behind its last quote, or behind `${`.
fn template_end(text: &str, start: usize) -> usize {
    let mut is_escaped = false;
    let mut letters = text.get(start..).unwrap_or_default().char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '`' => return start + at + 1,
            '$' if letters.peek().is_some_and(|(_, next)| *next == '{') => return start + at + 2,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        tokens(text).into_iter().filter_map(|range| text.get(range)).collect()
    }

    #[test]
    fn what_hides_brackets_is_one_token() {
        for (text, expected) in [
            ("a('}') // {", vec!["a", "(", "'}'", ")"]),
            ("/* { */ `${b({})} }`;", vec!["`${", "b", "(", "{", "}", ")", "} }`", ";"]),
            ("x = /[/}]\\//g", vec!["x", "=", "/[/}]\\//", "g"]),
            ("a / b / c", vec!["a", "/", "b", "/", "c"]),
            ("return /}/", vec!["return", "/}/"]),
            ("<p>don't {a}\n</p>", vec!["<", "p", ">", "don", "'t {a}", "<", "/", "p", ">"]),
            ("\"a\\\"}\"", vec!["\"a\\\"}\""]),
        ] {
            assert_eq!(words(text), expected, "{text}");
        }
    }
}
