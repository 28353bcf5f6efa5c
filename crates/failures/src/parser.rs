//! Reads an output: passes lines to the reader of their runner.
//!
//! Owns the choice of reader and the last lines of the output. One reader is active at a time for each prefix; it says when a
//! line is not its own. A prefix is one if what follows it is read. Memory does not grow with the output.

use crate::collector::{Collector, Ending};
use crate::command::Coverage;
use crate::detect;
use crate::general::General;
use crate::lines::{self, Lines, Mode, Sink};
use crate::normalise::{Normaliser, Values};
use crate::prefix::{self, Form, Prefixed};
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
    /// What a failure may have kept from running.
    pub coverage: Coverage,
}

#[derive(Debug)]
pub struct Parser {
    lines: Lines,
    reading: ParserState,
    normaliser: Normaliser,
    coverage: Coverage,
}

impl Parser {
    pub fn new(options: &Options) -> Self {
        Self {
            lines: Lines::default(),
            reading: ParserState {
                told: options.runner,
                plain: Stream::default(),
                behind_times: Stream::default(),
                prefixed: Vec::new(),
                junit: None,
                collector: Collector::default(),
                general: General::default(),
            },
            normaliser: Normaliser::new(options.workdir.as_deref(), options.values),
            coverage: options.coverage,
        }
    }

    /// Chunk boundaries make no difference.
    pub fn push(&mut self, chunk: &[u8]) {
        self.lines.push(chunk, &mut self.reading);
    }

    pub fn finish(mut self, exit_code: Option<i32>) -> Report {
        self.lines.finish(&mut self.reading);
        let ParserState { told, mut plain, mut behind_times, mut prefixed, junit, mut collector, general } =
            self.reading;
        plain.finish(&mut collector);
        behind_times.finish(&mut collector);
        prefixed.sort_by(|(one, _), (other, _)| one.cmp(other));
        for (_, mut stream) in prefixed {
            stream.finish(&mut collector);
        }
        if let Some(mut junit) = junit {
            junit.finish(&mut collector);
        }
        collector.finish(Ending {
            told,
            exit_code,
            normaliser: &self.normaliser,
            coverage: self.coverage,
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
    /// Behind a prefix without a name, such as a time.
    behind_times: Stream,
    /// With the name of each prefix.
    prefixed: Vec<(String, Stream)>,
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
        // Many tools begin their errors as rustc does, and many texts have headings as Go has.
        let is_common = reader.runner == Runner::Rustc && line.starts_with("error: ")
            || reader.runner == Runner::GoTest && line.starts_with("# ");
        if !is_common {
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
        let behind_time = prefix::behind_time(line);
        let text = behind_time.unwrap_or(line);
        let found = prefix::split(text);
        if let Some(found) = &found
            && self.is_read(found.name)
        {
            if self.behind(found.name, found.rest) == Taken::No {
                self.general.line(found.rest);
            }
            return;
        }
        if self.is_taken(line, behind_time, found.as_ref()) {
            return;
        }
        match found {
            Some(Prefixed { rest, form: Form::Certain, .. }) => self.general.line(rest),
            Some(Prefixed { rest, form: Form::Words, .. }) => self.general.line_or_rest(text, rest),
            None => self.general.line(text),
        }
    }

    /// Whether a reader takes the line, of no prefix that is known to be one.
    fn is_taken(&mut self, line: &str, behind_time: Option<&str>, found: Option<&Prefixed<'_>>) -> bool {
        // A table behind a time looks like another prefix.
        let goes_on = self.behind_times.reader.is_some();
        if let Some(rest) = behind_time.filter(|_| goes_on)
            && self.behind("", rest) == Taken::Yes
        {
            return true;
        }
        let certain = found.filter(|found| found.form == Form::Certain);
        // Nearly every line begins with none, so a name counts only where no reader goes on.
        let is_free = self.plain.reader.is_none();
        let certain = certain.map(|found| (found.name, found.rest));
        let certain = certain.or_else(|| behind_time.map(|rest| ("", rest)));
        if let Some((name, rest)) = certain.filter(|_| is_free) {
            if self.behind(name, rest) == Taken::Yes {
                return true;
            }
            // A time is a prefix once what follows one was read.
            if self.is_read(name) {
                return false;
            }
        }
        if self.plain.line(line, self.told, &mut self.collector) == Taken::Yes {
            return true;
        }
        let second = certain.filter(|_| !is_free);
        // A sentence such as `collect2: error: …` is no prefix.
        let is_prefix =
            |found: &&Prefixed<'_>| found.form == Form::Words && !detect::is_diagnostic(found.rest);
        let third = found.filter(is_prefix).map(|found| (found.name, found.rest));
        [second, third].into_iter().flatten().any(|(name, rest)| self.behind(name, rest) == Taken::Yes)
    }

    /// Whether a prefix is one: a reader took what follows it.
    fn is_read(&self, name: &str) -> bool {
        if name.is_empty() {
            return self.behind_times.is_read;
        }
        self.prefixed.iter().any(|(known, stream)| stream.is_read && known == name)
    }

    /// Reads what stands behind a prefix.
    fn behind(&mut self, name: &str, rest: &str) -> Taken {
        let Self { behind_times, prefixed, .. } = self;
        let named = (!name.is_empty()).then(|| stream_of(prefixed, name));
        let Some(stream) = named.unwrap_or(Some(behind_times)) else { return Taken::No };
        let taken = stream.line(rest, self.told, &mut self.collector);
        stream.is_read |= taken == Taken::Yes;
        stream.tail.add(rest);
        taken
    }
}

/// The stream behind a name, if there is room for another one.
fn stream_of<'a>(prefixed: &'a mut Vec<(String, Stream)>, name: &str) -> Option<&'a mut Stream> {
    let found = prefixed.iter().position(|(known, _)| known == name);
    let at = found.unwrap_or_else(|| {
        if prefixed.len() >= MOST_PREFIXES {
            prefixed.retain(|(_, stream)| stream.is_read);
        }
        if prefixed.len() < MOST_PREFIXES {
            prefixed.push((name.to_string(), Stream::default()));
        }
        prefixed.len() - 1
    });
    prefixed.get_mut(at).filter(|(known, _)| known == name).map(|(_, stream)| stream)
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
