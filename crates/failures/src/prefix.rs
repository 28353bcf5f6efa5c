//! Prefixes that programs put before every line of the programs they run: `app-1  | `, `[task] `, `pkg:test: `, a time.
//!
//! Owns their forms. Refuses to say whether a text is meant as a prefix: only what follows it can show that.

use crate::search::Search;

/// Bytes in which a prefix ends.
const LONGEST: usize = 120;
/// Between brackets, these are the level of a message.
const LEVELS: [&str; 10] =
    ["ERROR", "WARNING", "WARN", "INFO", "DEBUG", "error", "warn", "warning", "info", "debug"];

/// A line behind its prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Prefixed<'a> {
    /// The prefix without times: the same for all lines of one program.
    pub(crate) name: &'a str,
    pub(crate) rest: &'a str,
    pub(crate) form: Form,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Nothing but a prefix looks like it.
    Certain,
    /// Words before a colon, as in other sentences.
    Words,
}

/// The line behind a time, or behind what a CI system marks it with.
pub(crate) fn behind_time(line: &str) -> Option<&str> {
    time(line).or_else(|| command(line))
}

/// The line behind a name. A time must be gone already.
pub(crate) fn split(text: &str) -> Option<Prefixed<'_>> {
    let certain = |(name, rest)| Prefixed { name, rest, form: Form::Certain };
    let found = bar(text).or_else(|| bracket(text)).map(certain);
    found.or_else(|| {
        let (name, rest) = words(text)?;
        Some(Prefixed { name, rest, form: if is_task(name) { Form::Certain } else { Form::Words } })
    })
}

/// `pkg:test`, `packages/a test`
fn is_task(name: &str) -> bool {
    let has_ending = |path: &str| path.rsplit('/').next().is_some_and(|name| name.contains('.'));
    match name.split_once(' ') {
        Some((path, script)) => {
            path.contains('/')
                && !has_ending(path)
                && !LEVELS.contains(&script)
                && !["note", "fatal"].contains(&script)
        }
        None => name.contains(':') && !has_ending(name) && !name.has("::") && !name.has("//"),
    }
}

/// `2026-05-05T10:11:12.1234567Z rest`, `10:11:12 rest`
fn time(line: &str) -> Option<&str> {
    let bytes = line.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let is = |at: usize, byte: u8| bytes.get(at) == Some(&byte);
    if !is_digit(0) || !is_digit(1) {
        return None;
    }
    let clock = if is(2, b':') {
        0
    } else if is_digit(2) && is_digit(3) && is(4, b'-') && is(7, b'-') && (is(10, b'T') || is(10, b' ')) {
        11
    } else {
        return None;
    };
    let is_clock = is(clock + 2, b':') && is_digit(clock + 3) && is(clock + 5, b':') && is_digit(clock + 7);
    let end = line.get(clock + 8..)?;
    let fraction = end.trim_start_matches(|letter: char| {
        letter.is_ascii_digit() || matches!(letter, '.' | ',' | 'Z' | '+' | ':')
    });
    fraction.strip_prefix(' ').filter(|_| is_clock)
}

/// `##[error]rest` of CI systems.
fn command(line: &str) -> Option<&str> {
    line.strip_prefix("##[").and_then(|rest| rest.split_once(']')).map(|(_, rest)| rest)
}

/// `app-1  | rest`, `web.1 | rest`, `pkg:task | rest`
fn bar(line: &str) -> Option<(&str, &str)> {
    let start = beginning(line);
    let at = memchr::memchr(b'|', start.as_bytes())?;
    let name = line.get(..at)?;
    let trimmed = name.trim_end();
    let rest = line.get(at + 1..)?;
    let is_name = name.ends_with(' ')
        && is_name(trimmed)
        && trimmed.contains(['-', '.', '_', ':'])
        && !trimmed.ends_with(':');
    (is_name && (rest.is_empty() || rest.starts_with(' ')))
        .then(|| (trimmed, rest.get(1..).unwrap_or_default()))
}

/// `[task] rest`, `[task]: rest`, `[10:11:12] rest`
fn bracket(line: &str) -> Option<(&str, &str)> {
    let inside = line.strip_prefix('[')?;
    let (name, rest) = inside.split_once(']')?;
    let rest = rest.strip_prefix(": ").or_else(|| rest.strip_prefix(' '))?;
    let is_time = name.len() >= 8 && name.bytes().all(|byte| byte.is_ascii_digit() || b":.".contains(&byte));
    let is_prefix = is_time || is_name(name) && !LEVELS.contains(&name);
    is_prefix.then_some((if is_time { "" } else { name }, rest))
}

/// `pkg:test: rest`, `packages/a test: rest`, `pkg: rest`
fn words(line: &str) -> Option<(&str, &str)> {
    let start = beginning(line);
    let at = start.position_of(": ")?;
    let (name, rest) = (line.get(..at)?, line.get(at + 2..)?);
    let mut parts = name.split(' ');
    let (first, second) = (parts.next()?, parts.next());
    let is_script =
        |word: &str| word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b":-_.".contains(&byte));
    let is_position =
        first.rsplit(':').next().is_some_and(|last| last.bytes().all(|byte| byte.is_ascii_digit()));
    let is_prefix = is_name(first) && second.is_none_or(is_script) && parts.next().is_none() && !is_position;
    is_prefix.then_some((name, rest))
}

fn is_name(text: &str) -> bool {
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"@./:#_-".contains(&byte);
    !text.is_empty() && text.bytes().all(is_of_name)
}

fn beginning(line: &str) -> &str {
    line.get(..line.floor_char_boundary(LONGEST)).unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_of_many_programs() {
        use Form::{Certain, Words};
        let rows = [
            ("app-1  | FAIL a", Some(("app-1", "FAIL a", Certain))),
            ("web.1 | x", Some(("web.1", "x", Certain))),
            ("12:00:01 web.1  | x", Some(("web.1", "x", Certain))),
            ("app-1  |", Some(("app-1", "", Certain))),
            ("[0] x", Some(("0", "x", Certain))),
            ("[@scope/pkg]: x", Some(("@scope/pkg", "x", Certain))),
            ("[12:00:01] x", Some(("", "x", Certain))),
            ("2026-05-05T10:11:12.1234567Z x", Some(("", "x", Certain))),
            ("2026-05-05T10:11:12.1Z [api] x", Some(("api", "x", Certain))),
            ("##[error]x", Some(("", "x", Certain))),
            ("web:test: x", Some(("web:test", "x", Certain))),
            ("packages/a test: x", Some(("packages/a test", "x", Certain))),
            ("a/b.c error: x", Some(("a/b.c error", "x", Words))),
            ("std::io: x", Some(("std::io", "x", Words))),
            ("lib: x", Some(("lib", "x", Words))),
            ("[ERROR] x", None),
            ("[  FAILED  ] Suite.Test", None),
            ("main.c:3: x", None),
            ("main.c:3:5: x", None),
            ("1 | let x = 3;", None),
            ("a sentence with words: x", None),
        ];
        for (line, expected) in rows {
            let behind = behind_time(line);
            let found = split(behind.unwrap_or(line)).map(|found| (found.name, found.rest, found.form));
            let found = found.or_else(|| behind.map(|rest| ("", rest, Certain)));
            assert_eq!(found, expected, "{line}");
        }
    }
}
