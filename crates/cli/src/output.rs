//! Results on standard output, in the language asked for; everything else on standard error.

use std::borrow::Cow;
use std::io::{self, Write};

use fixpoint_vocabulary::{Lang, Text};
use serde::Serialize;

use crate::failure::Failure;

/// Where results go.
pub(crate) struct Output {
    writer: Box<dyn Write>,
    lang: Lang,
}

impl Output {
    pub(crate) fn to_stdout(lang: Lang) -> Self {
        Self { writer: Box::new(io::BufWriter::new(io::stdout())), lang }
    }

    /// Results that nobody wants: what was asked for is told in another way.
    pub(crate) fn to_nobody(lang: Lang) -> Self {
        Self { writer: Box::new(io::sink()), lang }
    }

    /// In which language people are spoken to.
    pub(crate) fn lang(&self) -> Lang {
        self.lang
    }

    /// One line.
    pub(crate) fn line(&mut self, line: &str) -> Result<(), Failure> {
        writeln!(self.writer, "{}", harmless(line)).map_err(failure)
    }

    /// Text as it is, line ends included.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), Failure> {
        self.writer.write_all(harmless(text).as_bytes()).map_err(failure)
    }

    /// What others wrote, byte by byte.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.writer.write_all(bytes).map_err(failure)
    }

    /// One sentence in the language asked for.
    pub(crate) fn say(&mut self, text: &Text) -> Result<(), Failure> {
        let lang = self.lang;
        self.line(text.in_lang(lang))
    }

    /// A value as JSON on one line.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        writeln!(self.writer, "{}", serde_json::to_string(value)?).map_err(failure)
    }

    /// A value as JSON over several lines, for people and files.
    pub(crate) fn pretty_json(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        writeln!(self.writer, "{}", serde_json::to_string_pretty(value)?).map_err(failure)
    }

    /// Makes sure that everything has arrived.
    pub(crate) fn finish(&mut self) -> Result<(), Failure> {
        self.writer.flush().map_err(failure)
    }
}

fn failure(error: io::Error) -> Failure {
    if error.kind() == io::ErrorKind::BrokenPipe { Failure::ReaderGone } else { Failure::NoOutput(error) }
}

/// Text that does nothing to a terminal but to be read: names of tests, messages and tasks are written by others.
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    let acts = |letter: char| letter.is_control() && !matches!(letter, '\n' | '\t');
    if text.contains(acts) { Cow::Owned(text.replace(acts, "\u{fffd}")) } else { Cow::Borrowed(text) }
}

/// A message beside the result. If standard error is gone too, there is nobody left to tell.
pub(crate) fn complain(message: &str) {
    let _ = writeln!(io::stderr(), "{}", harmless(message));
}

/// Messages beside the result, unless nobody wants them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Notices {
    /// Said on standard error.
    Said,
    /// Kept.
    Unsaid,
}

impl Notices {
    /// Says something that is worth knowing and is no error.
    pub(crate) fn say(self, message: &str) {
        match self {
            Self::Said => complain(message),
            Self::Unsaid => {}
        }
    }
}

/// In which form a result is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// For people.
    Text,
    /// For programs.
    Json,
}

impl From<bool> for Form {
    /// Whether `--json` was typed.
    fn from(json: bool) -> Self {
        if json { Self::Json } else { Self::Text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_not_told_what_to_do() {
        assert_eq!(harmless("a\tb\n日本"), "a\tb\n日本");
        assert_eq!(harmless("\u{1b}]0;x\u{7}\u{9b}2J\r"), "\u{fffd}]0;x\u{fffd}\u{fffd}2J\u{fffd}");
    }
}
