//! What the words around a number say about it.
//!
//! Owns the vocabulary of assertions (which side was seen, which was expected), of counters that mean nothing (ports,
//! process numbers, seeds), and of dates. Refuses to look at more than the line it is in.

use crate::search::Search;

/// What a number at this position means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Seen,
    /// Observed too, but after the next `to` an expected value follows ("expected 4 to be 5").
    Subject,
    Expected,
}

/// The role after a word, given the one before it and the rest of the text.
pub(crate) fn role(current: Role, word: &str, behind: &str) -> Role {
    let is = |other: &str| word.eq_ignore_ascii_case(other);
    let labels = || behind.trim_start_matches([' ', '\t']).starts_with([':', '=']);
    if is("expected") || is("expect") || is("expecting") {
        let line = behind.lines().next().unwrap_or_default();
        let turns = [", got", " got ", " found ", " but ", " received ", " actual ", ", was", " instead"];
        let is_subject = !labels() && line.has(" to ") && !turns.iter().any(|turn| line.contains(turn));
        return if is_subject { Role::Subject } else { Role::Expected };
    }
    if is("want") || is("wanted") || is("wants") || (is("right") && labels()) || (is("should") && !labels()) {
        return Role::Expected;
    }
    if current == Role::Subject && is("to") {
        return Role::Expected;
    }
    let seen =
        ["got", "actual", "received", "found", "was", "were", "saw", "but", "returned", "instead", "have"];
    if seen.iter().any(|other| is(other)) || (is("left") && labels()) {
        return Role::Seen;
    }
    current
}

/// The length of a comparison operator at the start of the text; the expected value is on its right.
pub(crate) fn comparison(rest: &str) -> Option<usize> {
    let signs = ["===", "!==", "==", "!=", "<=", ">="];
    signs.iter().find(|sign| rest.starts_with(**sign)).map(|sign| sign.len())
}

/// Whether the text ends with a word after which a number only counts or identifies something of this run.
pub(crate) fn is_counter(out: &str) -> bool {
    let before = out.trim_end_matches([' ', ':', '=', '#', '(', '-', '[', '"', '\'', '+']);
    let word_start = before.rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(0, |at| at + 1);
    let word = before.get(word_start..).unwrap_or_default();
    let counters = [
        "line",
        "lines",
        "column",
        "col",
        "port",
        "pid",
        "ppid",
        "tid",
        "thread",
        "threadid",
        "process",
        "seed",
        "worker",
        "goroutine",
        "localhost",
        "elapsed",
        "duration",
        "took",
        "timestamp",
        "inode",
        "fd",
        "offset",
        "gw",
        "iteration",
        "attempt",
        "tv_sec",
        "tv_nsec",
        "secs",
        "nanos",
        "random_seed",
        "shuffle",
        "uid",
        "gid",
    ];
    counters.iter().any(|counter| word.eq_ignore_ascii_case(counter))
}

/// The length of a date in words ("Mon, 16 Nov 2026 02:36:16 GMT") at the start of the text.
pub(crate) fn date(rest: &str) -> Option<usize> {
    const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    const ZONES: [&str; 4] = ["GMT", "UTC", "AM", "PM"];
    let (mut length, mut numbers, mut names) = (0, 0, 0);
    for token in rest.split_inclusive([' ', ',']).take(8) {
        let bare = token.trim_end_matches([' ', ',']);
        let is_number = bare.starts_with(|c: char| c.is_ascii_digit())
            && bare.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b':' | b'.'));
        if DAYS.contains(&bare) || MONTHS.contains(&bare) {
            names += 1;
        } else if is_number && names > 0 {
            numbers += 1;
        } else if !bare.is_empty() && !ZONES.contains(&bare) {
            break;
        }
        length += token.len();
    }
    (names > 0 && numbers > 0)
        .then(|| rest.get(..length).unwrap_or_default().trim_end_matches([' ', ',']).len())
}
