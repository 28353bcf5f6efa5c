//! A line for `sh -c`, taken apart into simple commands and words, and words put back into quotes.
//!
//! Owns the little of the shell's grammar that can be read with certainty: words, quotes, variables, `&&`, `;` and
//! line ends. Refuses the whole line at the first pipe, redirection, group, substitution, background job or comment:
//! what is not read with certainty is not changed. `shlex` quotes; it cannot read here, since it knows no `&&`, no `;`
//! and no variables, and gives no positions of words.

use std::borrow::Cow;
use std::iter::Peekable;
use std::ops::Range;
use std::str::CharIndices;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// The word after expansion of quotes; variables are left as they are.
    pub(super) text: String,
    /// Its position in the line, with quotes.
    pub(super) place: Range<usize>,
    /// Whether it contains a variable, whose value only the shell knows.
    pub(super) has_variable: bool,
    /// Whether it sets a variable, as `CI=1` does.
    pub(super) is_assignment: bool,
}

/// The simple commands of a line, in order; `None` if it contains other shell syntax.
pub(super) fn commands(line: &str) -> Option<Vec<Vec<Word>>> {
    let mut reading =
        ShellScanner { line, rest: line.char_indices().peekable(), commands: Vec::new(), words: Vec::new() };
    let mut and = false;
    while let Some((at, character)) = reading.rest.peek().copied() {
        match character {
            ' ' | '\t' => {
                reading.rest.next();
            }
            '\n' => {
                reading.rest.next();
                // A line may end behind `&&`, and may be empty.
                and &= !reading.end_command();
            }
            ';' => {
                reading.rest.next();
                if !reading.end_command() {
                    return None;
                }
                and = false;
            }
            '&' => {
                reading.rest.next();
                let is_and = reading.rest.next().is_some_and(|(_, next)| next == '&');
                if !is_and || !reading.end_command() {
                    return None;
                }
                and = true;
            }
            '#' => return None,
            '\\' if reading.continues() => {}
            _ => reading.word(at)?,
        }
    }
    if !reading.end_command() && and {
        return None;
    }
    Some(reading.commands)
}

/// Whether the output of one command is another's input. Unlike [`commands`], it reads any line, as far as it can.
pub(super) fn has_pipe(line: &str) -> bool {
    let mut rest = line.chars().peekable();
    let mut previous = ' ';
    while let Some(character) = rest.next() {
        match character {
            '\'' => while rest.next_if(|next| *next != '\'').is_some() {},
            '"' => {
                while rest
                    .next_if(|next| *next != '"')
                    .is_some_and(|next| next != '\\' || rest.next().is_some())
                {}
            }
            '\\' => {}
            '#' if matches!(previous, ' ' | '\t' | '\n' | ';' | '&') => {
                while rest.next_if(|next| *next != '\n').is_some() {}
            }
            // `||` is an alternative, and `>|` writes to a file.
            '|' if rest.next_if_eq(&'|').is_none() && previous != '>' => return true,
            _ => {}
        }
        if matches!(character, '\'' | '"' | '\\') {
            // The closing quote, or what is escaped.
            rest.next();
        }
        previous = character;
    }
    false
}

struct ShellScanner<'a> {
    line: &'a str,
    rest: Peekable<CharIndices<'a>>,
    commands: Vec<Vec<Word>>,
    words: Vec<Word>,
}

impl ShellScanner<'_> {
    /// Whether there was a command to end.
    fn end_command(&mut self) -> bool {
        let words = std::mem::take(&mut self.words);
        let is_any = !words.is_empty();
        self.commands.extend(is_any.then_some(words));
        is_any
    }

    /// Skips a line end after a backslash; whether there is one.
    fn continues(&mut self) -> bool {
        let mut ahead = self.rest.clone();
        ahead.next();
        let is_end = ahead.next().is_some_and(|(_, next)| next == '\n');
        if is_end {
            self.rest = ahead;
        }
        is_end
    }

    fn word(&mut self, start: usize) -> Option<()> {
        let (mut text, mut has_variable) = (String::new(), false);
        let mut end = start;
        while let Some((at, character)) = self.rest.peek().copied() {
            match character {
                ' ' | '\t' | '\n' | ';' | '&' => break,
                '|' | '<' | '>' | '(' | ')' | '`' | '\r' | '\0' => return None,
                '\\' if self.continues() => break,
                _ => {}
            }
            self.rest.next();
            end = at + character.len_utf8();
            match character {
                '\\' => {
                    let (at, escaped) = self.rest.next()?;
                    end = at + escaped.len_utf8();
                    text.push(escaped);
                }
                '\'' => end = self.single_quoted(&mut text)?,
                '"' => end = self.double_quoted(&mut text, &mut has_variable)?,
                '$' => has_variable |= self.variable(&mut text, &mut end)?,
                _ => text.push(character),
            }
        }
        let raw = self.line.get(start..end)?;
        let is_assignment = raw.split_once('=').is_some_and(|(name, _)| is_name(name));
        self.words.push(Word { text, place: start..end, has_variable, is_assignment });
        Some(())
    }

    /// Reads up to the closing quote; returns the position after it.
    fn single_quoted(&mut self, text: &mut String) -> Option<usize> {
        loop {
            match self.rest.next()? {
                (at, '\'') => return Some(at + 1),
                (_, character) => text.push(character),
            }
        }
    }

    fn double_quoted(&mut self, text: &mut String, has_variable: &mut bool) -> Option<usize> {
        loop {
            match self.rest.next()? {
                (at, '"') => return Some(at + 1),
                (_, '`') => return None,
                (_, '$') => *has_variable |= self.variable(text, &mut 0)?,
                (_, '\\') => match self.rest.next()?.1 {
                    '\n' => {}
                    escaped @ ('$' | '`' | '"' | '\\') => text.push(escaped),
                    other => text.extend(['\\', other]),
                },
                (_, character) => text.push(character),
            }
        }
    }

    /// Reads what follows a dollar sign; whether it is a variable. `None` for any other expansion.
    fn variable(&mut self, text: &mut String, end: &mut usize) -> Option<bool> {
        text.push('$');
        match self.rest.peek().map(|(_, next)| *next) {
            Some('(' | '\'' | '`') => None,
            Some('{') => loop {
                let (at, character) = self.rest.next()?;
                text.push(character);
                match character {
                    '}' => {
                        *end = at + 1;
                        return Some(true);
                    }
                    '{' if text.ends_with("${") => {}
                    character if character.is_ascii_alphanumeric() || character == '_' => {}
                    _ => return None,
                }
            },
            Some(next) => Some(
                next.is_ascii_alphanumeric() || matches!(next, '_' | '?' | '$' | '!' | '#' | '@' | '*' | '-'),
            ),
            None => Some(false),
        }
    }
}

fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// A word written so that the shell takes it as it is. One with a NUL cannot be written, and no program can be given it:
/// it is left as it is, and the command fails where it is run.
pub(super) fn quoted(word: &str) -> String {
    shlex::try_quote(word).unwrap_or(Cow::Borrowed(word)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(line: &str) -> Option<Vec<Vec<String>>> {
        let texts = |words: Vec<Word>| words.into_iter().map(|word| word.text).collect();
        commands(line).map(|commands| commands.into_iter().map(texts).collect())
    }

    #[test]
    fn lines_are_taken_apart_as_the_shell_does() {
        let table: [(&str, &[&[&str]]); 10] = [
            ("cargo test", &[&["cargo", "test"]]),
            ("  a 'b c' \"d e\" f\\ g  ", &[&["a", "b c", "d e", "f g"]]),
            ("cd x && make; go test ./...", &[&["cd", "x"], &["make"], &["go", "test", "./..."]]),
            ("a\n\nb\n", &[&["a"], &["b"]]),
            ("a &&\n b", &[&["a"], &["b"]]),
            ("a;", &[&["a"]]),
            ("a b\\\n  c", &[&["a", "b", "c"]]),
            ("A=1 x \"it's $HOME\" ${X} $", &[&["A=1", "x", "it's $HOME", "${X}", "$"]]),
            ("a'b'\"c\"d \"x\\\"y\\z\" ''", &[&["abcd", "x\"y\\z", ""]]),
            ("a#b 日本 'é'", &[&["a#b", "日本", "é"]]),
        ];
        for (line, expected) in table {
            let expected: Vec<Vec<String>> =
                expected.iter().map(|words| words.iter().map(ToString::to_string).collect()).collect();
            assert_eq!(texts(line), Some(expected), "{line}");
        }
    }

    #[test]
    fn what_is_more_than_commands_in_a_row_is_refused() {
        let table = [
            "a | b",
            "a || b",
            "a & b",
            "a > b",
            "a 2>&1",
            "a < b",
            "(a)",
            "a $(b)",
            "a `b`",
            "a \"$(b)\"",
            "a \"`b`\"",
            "a # b",
            "a 'b",
            "a \"b",
            "a \\",
            "a ;; b",
            "; a",
            "&& a",
            "a &&",
            "a && && b",
            "a ${b:-c}",
            "a $'b'",
            "f() { a; }",
            "a\r\n",
        ];
        for line in table {
            assert_eq!(commands(line), None, "{line}");
        }
    }

    #[test]
    fn only_a_pipe_outside_of_quotes_is_one() {
        let table = [
            ("pytest -q | tail -5", true),
            ("a 2>&1|b", true),
            ("a |& b", true),
            ("a \"x\\\"\" | b", true),
            ("(a | b) && c", true),
            ("a || b", false),
            ("a '|' \"|\" \\|", false),
            ("a \"x\\\" | y\"", false),
            ("a >| b", false),
            ("a # | b", false),
            ("a 'open |", false),
        ];
        for (line, expected) in table {
            assert_eq!(has_pipe(line), expected, "{line}");
        }
    }

    #[test]
    fn variables_and_assignments_are_marked() {
        let words = commands("A=$B C='d e' x \"$Y\" '$Z' 1=2").unwrap().remove(0);
        let marks: Vec<_> =
            words.iter().map(|word| (word.text.as_str(), word.has_variable, word.is_assignment)).collect();
        assert_eq!(
            marks,
            [
                ("A=$B", true, true),
                ("C=d e", false, true),
                ("x", false, false),
                ("$Y", true, false),
                ("$Z", false, false),
                ("1=2", false, false)
            ]
        );
    }

    #[test]
    fn words_are_quoted_where_they_must_be() {
        let table = [
            ("a/b.c::d", "a/b.c::d"),
            ("", "''"),
            ("a b", "'a b'"),
            ("it's $x", "\"it's \"'$x'"),
            ("é", "'é'"),
        ];
        for (word, expected) in table {
            assert_eq!(quoted(word), expected);
            assert_eq!(texts(&format!("x {}", quoted(word))), Some(vec![vec!["x".into(), word.into()]]));
        }
    }
}
