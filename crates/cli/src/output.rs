//! Results on standard output, in the language asked for; everything else on standard error.
//!
//! A command does not learn that its output could not be written, so that its exit code is the same whoever reads it.

use std::io::{self, IsTerminal, Write};

use fixpoint_vocabulary::{Lang, Text};
use serde::Serialize;

use crate::failure::Failure;
use crate::terminal_text::{harmless, harmless_json};

/// Where the output goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Terminal,
    /// A file or a pipe.
    Other,
}

pub(crate) struct Output {
    writer: Box<dyn Write>,
    lang: Lang,
    target: Target,
    /// The first error of the writer; nothing is written after it.
    error: Option<io::Error>,
}

impl Output {
    pub(crate) fn to_stdout(lang: Lang) -> Self {
        let target = if io::stdout().is_terminal() { Target::Terminal } else { Target::Other };
        Self { writer: Box::new(io::BufWriter::new(io::stdout())), lang, target, error: None }
    }

    /// Discards everything.
    pub(crate) fn discarding(lang: Lang) -> Self {
        Self { writer: Box::new(io::sink()), lang, target: Target::Other, error: None }
    }

    pub(crate) fn lang(&self) -> Lang {
        self.lang
    }

    pub(crate) fn line(&mut self, line: &str) -> Result<(), Failure> {
        self.text(line)?;
        self.unchanged(b"\n")
    }

    pub(crate) fn lines(&mut self, lines: impl IntoIterator<Item = impl AsRef<str>>) -> Result<(), Failure> {
        lines.into_iter().try_for_each(|line| self.line(line.as_ref()))
    }

    /// Text without what a terminal obeys, line ends included.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), Failure> {
        self.unchanged(harmless(text).as_bytes())
    }

    /// What another program may read, such as a patch: unchanged, but not on a terminal.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        match self.target {
            Target::Terminal => self.text(&String::from_utf8_lossy(bytes)),
            Target::Other => self.unchanged(bytes),
        }
    }

    pub(crate) fn is_terminal(&self) -> bool {
        self.target == Target::Terminal
    }

    fn unchanged(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        if self.error.is_none() {
            self.error = self.writer.write_all(bytes).err();
        }
        Ok(())
    }

    pub(crate) fn say(&mut self, text: &Text) -> Result<(), Failure> {
        let lang = self.lang;
        self.line(text.in_lang(lang))
    }

    /// JSON on one line.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        self.unchanged(format!("{}\n", harmless_json(serde_json::to_string(value)?)).as_bytes())
    }

    /// Indented JSON.
    pub(crate) fn pretty_json(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        self.unchanged(format!("{}\n", harmless_json(serde_json::to_string_pretty(value)?)).as_bytes())
    }

    /// The same, written piece by piece, for a value that may be large.
    pub(crate) fn streamed_json(&mut self, value: &impl Serialize, layout: Layout) -> Result<(), Failure> {
        match layout {
            Layout::Line => serde_json::to_writer(Pieces(self), value)?,
            Layout::Indented => serde_json::to_writer_pretty(Pieces(self), value)?,
        }
        self.bytes(b"\n")
    }

    pub(crate) fn flush(&mut self) {
        if self.error.is_none() {
            self.error = self.writer.flush().err();
        }
    }

    /// Whether nothing is written any more, as after the reader of a pipe has left.
    pub(crate) fn is_closed(&self) -> bool {
        self.error.is_some()
    }

    /// Fails if the output could not be written. A reader of a pipe that has seen enough is no failure.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        self.flush();
        match self.error {
            Some(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::NoOutput(error)),
            Some(_) | None => Ok(()),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    Line,
    Indented,
}

struct Pieces<'a>(&'a mut Output);

impl Write for Pieces<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // What could not be written is told at the end.
        self.0.bytes(bytes).map(|()| bytes.len()).map_err(io::Error::other)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Prints a message on standard error; errors are ignored.
pub(crate) fn complain(message: &str) {
    let _ = writeln!(io::stderr(), "{}", harmless(message));
}

/// Whether messages that are no results and no errors are printed: not with `--quiet`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Notices {
    Shown,
    Hidden,
}

impl Notices {
    pub(crate) fn say(self, message: &str) {
        match self {
            Self::Shown => complain(message),
            Self::Hidden => {}
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Text,
    Json,
}

impl From<bool> for Form {
    /// `--json`
    fn from(json: bool) -> Self {
        if json { Self::Json } else { Self::Text }
    }
}
