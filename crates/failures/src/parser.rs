//! Reads an output: passes lines to the reader of their runner.
//!
//! Owns the choice of reader and the last lines of the output. One reader is active at a time for each prefix; it says when a
//! line is not its own. A prefix is one if what follows it is read. Memory does not grow with the output.

use std::collections::BTreeMap;

use crate::collector::{Collector, Ending};
use crate::detect;
use crate::general::General;
use crate::lines::{self, Lines, Mode, Sink};
use crate::normalise::{Normaliser, Values};
use crate::prefix::{self, Form};
use crate::report::{Report, Runner};
use crate::runners::junit::Junit;
use crate::runners::{Reader, Step};
use crate::tail::Tail;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Options {
    /// Detected if `None`.
    pub runner: Option<Runner>,
    /// Paths are made relative to this directory.
    pub workdir: Option<String>,
    pub values: Values,
}

#[derive(Debug)]
pub struct Parser {
    lines: Lines,
    reading: ParserState,
    normaliser: Normaliser,
}

impl Parser {
    pub fn new(options: &Options) -> Self {
        Self {
            lines: Lines::default(),
            reading: ParserState {
                told: options.runner,
                plain: Stream::default(),
                prefixed: BTreeMap::new(),
                junit: None,
                collector: Collector::default(),
                general: General::default(),
            },
            normaliser: Normaliser::new(options.workdir.as_deref(), options.values),
        }
    }

    /// Chunk boundaries make no difference.
    pub fn push(&mut self, chunk: &[u8]) {
        self.lines.push(chunk, &mut self.reading);
    }

    pub fn finish(mut self, exit_code: Option<i32>) -> Report {
        self.lines.finish(&mut self.reading);
        let ParserState { told, mut plain, prefixed, junit, mut collector, general } = self.reading;
        plain.finish(&mut collector);
        for mut stream in prefixed.into_values() {
            stream.finish(&mut collector);
        }
        if let Some(mut junit) = junit {
            junit.finish(&mut collector);
        }
        collector.finish(Ending {
            told,
            exit_code,
            normaliser: &self.normaliser,
            long_lines: self.lines.long_lines(),
            general,
            tail: plain.tail.into_draft(exit_code),
        })
    }
}

#[derive(Debug)]
struct ParserState {
    told: Option<Runner>,
    plain: Stream,
    /// By the name of the prefix.
    prefixed: BTreeMap<String, Stream>,
    junit: Option<Junit>,
    collector: Collector,
    general: General,
}

/// Programs whose lines are told apart by their prefixes.
const MOST_PREFIXES: usize = 64;

/// What is read behind one prefix, or without any.
#[derive(Debug, Default)]
struct Stream {
    reader: Option<Reader>,
    tail: Tail,
    /// Whether a reader took any of it: only then the prefix is one.
    is_read: bool,
}

/// Whether a reader took a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Taken {
    Yes,
    No,
}

impl Stream {
    fn line(&mut self, line: &str, told: Option<Runner>, collector: &mut Collector) -> Taken {
        if let Some(reader) = &mut self.reader {
            if detect::interrupts(reader.runner, line) {
                reader.read.finish(collector);
                self.reader = None;
            } else {
                match reader.read.line(line, collector) {
                    Step::Taken => return Taken::Yes,
                    Step::Ended => {
                        self.reader = None;
                        return Taken::Yes;
                    }
                    Step::Refused => self.reader = None,
                }
            }
        }
        let Some(mut reader) = detect::begin(line, told, &self.tail) else { return Taken::No };
        // Many tools begin their errors as rustc does.
        if reader.runner != Runner::Rustc || !line.starts_with("error: ") {
            collector.recognised(reader.runner);
        }
        match reader.read.line(line, collector) {
            Step::Taken => self.reader = Some(reader),
            Step::Ended => {}
            Step::Refused => return Taken::No,
        }
        Taken::Yes
    }

    fn finish(&mut self, collector: &mut Collector) {
        if let Some(mut reader) = self.reader.take() {
            reader.read.finish(collector);
        }
    }
}

impl ParserState {
    fn line(&mut self, line: &str) {
        let Some(found) = prefix::split(line) else { return self.plain_line(line) };
        if !self.prefixed.contains_key(found.name) {
            if self.prefixed.len() >= MOST_PREFIXES {
                self.prefixed.retain(|_, stream| stream.is_read);
            }
            if self.prefixed.len() < MOST_PREFIXES {
                self.prefixed.insert(found.name.to_string(), Stream::default());
            }
        }
        let is_read = self.prefixed.get(found.name).is_some_and(|stream| stream.is_read);
        if !is_read && self.plain.line(line, self.told, &mut self.collector) == Taken::Yes {
            return;
        }
        let mut taken = Taken::No;
        if let Some(stream) = self.prefixed.get_mut(found.name) {
            taken = stream.line(found.rest, self.told, &mut self.collector);
            stream.is_read |= taken == Taken::Yes;
            stream.tail.add(found.rest);
        }
        if taken == Taken::No {
            self.general.line(match found.form {
                Form::Words if !is_read => line,
                Form::Certain | Form::Words => found.rest,
            });
        }
    }

    fn plain_line(&mut self, line: &str) {
        if self.plain.line(line, self.told, &mut self.collector) == Taken::No {
            self.general.line(line);
        }
    }
}

impl Sink for ParserState {
    fn piece(&mut self, text: &str, ending: lines::Ending, mode: Mode) -> Mode {
        let mode = match mode {
            Mode::Text => {
                self.line(text);
                mode
            }
            Mode::Markup => self.markup(text, ending),
        };
        self.plain.tail.add(text);
        mode
    }
}

impl ParserState {
    /// XML is read by the XML reader only.
    fn markup(&mut self, text: &str, ending: lines::Ending) -> Mode {
        if self.junit.is_none() {
            self.collector.recognised(Runner::Junit);
        }
        let junit = self.junit.get_or_insert_default();
        match junit.piece(text, ending, &mut self.collector) {
            Step::Taken => Mode::Markup,
            Step::Ended | Step::Refused => {
                self.junit = None;
                Mode::Text
            }
        }
    }
}
