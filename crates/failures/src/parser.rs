//! The pass over an output: which lines go to which runner's reader.
//!
//! Owns the choice of reader and the last lines of the output. One reader at a time is at work; it says when a line
//! is not its own, and then the line is looked at afresh. Refuses to know what any runner prints beyond its first
//! sign. Memory does not grow with the output.

use crate::collector::{Collector, Ending};
use crate::detect;
use crate::lines::{self, Lines, Mode, Sink};
use crate::normalise::{Normaliser, Values};
use crate::report::{Report, Runner};
use crate::runners::junit::Junit;
use crate::runners::{Reader, Step};
use crate::tail::Tail;

/// What is known about an output before it is read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Options {
    /// Who wrote it; found out where not told.
    pub runner: Option<Runner>,
    /// Where the command ran: paths in it are made relative.
    pub workdir: Option<String>,
    /// Whether numbers that were seen tell failures apart.
    pub values: Values,
}

/// Reads an output in chunks of any size.
#[derive(Debug)]
pub struct Parser {
    lines: Lines,
    reading: ParserState,
    normaliser: Normaliser,
}

impl Parser {
    /// A parser that has read nothing.
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

    /// Reads on. Where a chunk ends makes no difference.
    pub fn push(&mut self, chunk: &[u8]) {
        self.lines.push(chunk, &mut self.reading);
    }

    /// The report, once the command has ended.
    pub fn finish(mut self, exit_code: Option<i32>) -> Report {
        self.lines.finish(&mut self.reading);
        let ParserState { told, reader, junit, mut collector, tail } = self.reading;
        if let Some(mut reader) = reader {
            reader.finish(&mut collector);
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
    /// The XML document that is being read, if it is one.
    junit: Option<Junit>,
    collector: Collector,
    tail: Tail,
}

impl ParserState {
    fn line(&mut self, line: &str) {
        if let Some(reader) = &mut self.reader {
            if detect::interrupts(reader.runner(), line) {
                reader.finish(&mut self.collector);
                self.reader = None;
            } else {
                match reader.line(line, &mut self.collector) {
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
        // Many a tool begins its complaints as rustc does.
        if reader.runner() != Runner::Rustc || !line.starts_with("error: ") {
            self.collector.recognised(reader.runner());
        }
        match reader.line(line, &mut self.collector) {
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
    /// A piece of XML goes to the reader of XML only.
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
