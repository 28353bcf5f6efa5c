//! Removes from a message what changes from run to run.
//!
//! Removed are durations, times, addresses, random identifiers, ports, process and thread numbers, seeds, positions in
//! files, and directories. *Observed* numbers ("got 6", "got -1") are removed too, unless a setting keeps them; *expected*
//! numbers ("want 7") belong to the assertion and stay. One pass over the text, no back-tracking further than a token,
//! never a panic.

mod number;
mod path;
mod words;

pub use fixpoint_vocabulary::settings::FingerprintValues as Values;

use self::words::Role;

/// The kind of a text, which says what its numbers mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Text {
    /// A message: numbers are observed, unless its words say that they were expected.
    Message,
    /// A source line: its numbers stay.
    Source,
}

/// Removes what changes from run to run.
#[derive(Debug, Clone)]
pub struct Normaliser {
    workdir: Option<String>,
    values: Values,
}

impl Normaliser {
    pub fn new(workdir: Option<&str>, values: Values) -> Self {
        let trimmed = workdir.map(|dir| dir.trim_end_matches(['/', '\\']));
        Self { workdir: trimmed.filter(|dir| dir.len() > 1).map(str::to_string), values }
    }

    pub fn text(&self, text: &str, what: Text) -> String {
        let mut scan =
            Scan { rest: text, out: String::with_capacity(text.len()), before: None, role: Role::Seen };
        while let Some(next) = scan.rest.chars().next() {
            self.step(&mut scan, next, what);
        }
        let trimmed = scan.out.trim_end().len();
        scan.out.truncate(trimmed);
        scan.out
    }

    pub fn relative(&self, path: &str) -> String {
        path::relative(path, self.workdir.as_deref())
    }

    /// The path in a fingerprint: relative, or else only its last part.
    pub fn stable_path(&self, path: &str) -> String {
        path::stable(path, self.workdir.as_deref())
    }

    fn step(&self, scan: &mut Scan<'_>, next: char, what: Text) {
        if next.is_whitespace() {
            return scan.blank(next);
        }
        if scan.at_boundary()
            && let Some((replacement, length)) =
                path::absolute(scan.rest, scan.before, self.workdir.as_deref())
        {
            return scan.replace(&replacement, length);
        }
        if let Some(length) = path::position(&scan.out, scan.rest) {
            return scan.skip(length);
        }
        if matches!(next, '-' | '+') && scan.at_sign() && self.seen(what, scan.role) == number::Seen::Drop {
            return scan.skip(1);
        }
        if next.is_ascii_digit() && scan.at_boundary() {
            let keep = self.seen(what, scan.role);
            let (replacement, length) = number::at(scan.rest, keep, words::is_counter(&scan.out));
            return scan.replace(&replacement, length);
        }
        if next.is_ascii_alphabetic() || next == '_' {
            return word(scan);
        }
        if let Some(length) = words::comparison(scan.rest) {
            scan.role = Role::Expected;
            return scan.copy(length);
        }
        scan.copy(next.len_utf8());
    }

    fn seen(&self, what: Text, role: Role) -> number::Seen {
        match (what, self.values, role) {
            (Text::Source, ..) | (_, Values::Keep, _) | (_, _, Role::Expected) => number::Seen::Keep,
            (Text::Message, Values::Drop, Role::Seen | Role::Subject) => number::Seen::Drop,
        }
    }
}

fn word(scan: &mut Scan<'_>) {
    let length = scan.rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    let run = scan.rest.get(..length).unwrap_or(scan.rest);
    if scan.at_boundary() {
        if let Some((replacement, length)) = number::random(scan.rest, run) {
            return scan.replace(replacement, length);
        }
        if let Some(length) = words::date(scan.rest) {
            return scan.replace("<time>", length);
        }
    }
    let behind = scan.rest.get(length..).unwrap_or_default();
    scan.role = words::role(scan.role, run, behind);
    scan.copy(length);
}

struct Scan<'a> {
    rest: &'a str,
    out: String,
    before: Option<char>,
    role: Role,
}

impl Scan<'_> {
    fn at_boundary(&self) -> bool {
        self.before.is_none_or(|before| !before.is_ascii_alphanumeric() && before != '_')
    }

    /// Whether this is the sign of a number, not a dash within a name, a range or a date.
    fn at_sign(&self) -> bool {
        let opens = |before: char| before.is_whitespace() || "([{<>,;:='\"`|".contains(before);
        self.before.is_none_or(opens) && self.rest.as_bytes().get(1).is_some_and(u8::is_ascii_digit)
    }

    fn skip(&mut self, length: usize) {
        let (taken, rest) = self.rest.split_at_checked(length.max(1)).unwrap_or((self.rest, ""));
        self.before = taken.chars().next_back().or(self.before);
        self.rest = rest;
    }

    fn replace(&mut self, replacement: &str, length: usize) {
        self.out.push_str(replacement);
        self.skip(length);
    }

    fn copy(&mut self, length: usize) {
        let taken = self.rest.get(..length).unwrap_or(self.rest);
        self.out.push_str(taken);
        self.skip(taken.len());
    }

    /// Blanks become one blank, blank lines none: indentation is not part of a message.
    fn blank(&mut self, blank: char) {
        if blank == '\n' {
            self.role = Role::Seen;
            let trimmed = self.out.trim_end_matches(' ').len();
            self.out.truncate(trimmed);
            if !self.out.is_empty() && !self.out.ends_with('\n') {
                self.out.push('\n');
            }
        } else if !self.out.is_empty() && !self.out.ends_with([' ', '\n']) {
            self.out.push(' ');
        }
        self.skip(blank.len_utf8());
    }
}

#[cfg(test)]
mod tests;
