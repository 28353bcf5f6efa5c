//! Reads an output: passes lines to the reader of their runner.
//!
//! Owns the choice of reader and the last lines of the output. One reader is active at a time; it says when a line is
//! not its own. Memory does not grow with the output.

use crate::collector::{Collector, Ending};
use crate::detect;
use crate::lines::{self, Lines, Mode, Sink};
use crate::normalise::{Normaliser, Values};
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
                reader: None,
                junit: None,
                collector: Collector::default(),
                tail: Tail::default(),
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
        let ParserState { told, reader, junit, mut collector, tail } = self.reading;
        if let Some(mut reader) = reader {
            reader.read.finish(&mut collector);
        }
        if let Some(mut junit) = junit {
            junit.finish(&mut collector);
        }
        collector.finish(Ending {
            told,
            exit_code,
            normaliser: &self.normaliser,
            long_lines: self.lines.long_lines(),
            tail: tail.into_draft(exit_code),
        })
    }
}

#[derive(Debug)]
struct ParserState {
    told: Option<Runner>,
    reader: Option<Reader>,
    junit: Option<Junit>,
    collector: Collector,
    tail: Tail,
}

impl ParserState {
    fn line(&mut self, line: &str) {
        if let Some(reader) = &mut self.reader {
            if detect::interrupts(reader.runner, line) {
                reader.read.finish(&mut self.collector);
                self.reader = None;
            } else {
                match reader.read.line(line, &mut self.collector) {
                    Step::Taken => return,
                    Step::Ended => {
                        self.reader = None;
                        return;
                    }
                    Step::Refused => self.reader = None,
                }
            }
        }
        let Some(mut reader) = detect::begin(line, self.told, &self.tail) else { return };
        // Many tools begin their errors as rustc does.
        if reader.runner != Runner::Rustc || !line.starts_with("error: ") {
            self.collector.recognised(reader.runner);
        }
        match reader.read.line(line, &mut self.collector) {
            Step::Taken => self.reader = Some(reader),
            Step::Ended | Step::Refused => {}
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
        self.tail.add(text);
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
