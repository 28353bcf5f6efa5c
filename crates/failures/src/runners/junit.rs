//! JUnit XML, whatever wrote it: Maven, Gradle, pytest, Vitest, Mocha, Node and the rest.
//!
//! Owns test cases and their outcomes. A document is never held: only the test case at hand is, up to a bound, and it
//! is read when its end comes. What a failure says in its text is read as the language it is in.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::Step;
use super::javascript::Thrown;
use super::libtest::details_of;
use super::pytest::block::Block;
use super::python::Traceback;
use crate::collector::Collector;
use crate::fingerprint::FingerprintParts;
use crate::lines::{Ending, text_of};
use crate::report::{Kind, Runner};
use crate::search::Search;

/// Bytes of one test case that are read.
const MAX_CASE: usize = 256 * 1024;

#[derive(Debug, Default)]
pub(crate) struct Junit {
    depth: usize,
    /// The current test case; empty between two.
    case: String,
}

#[derive(Debug, Default)]
struct Fault {
    is_skip: bool,
    class: String,
    message: String,
    text: String,
}

impl Junit {
    pub(crate) fn piece(&mut self, text: &str, ending: Ending, out: &mut Collector) -> Step {
        let trimmed = text.trim();
        let begins = self.case.is_empty() && trimmed.starts_with("<testcase");
        if begins || !self.case.is_empty() {
            if self.case.len() < MAX_CASE {
                self.case.push_str(text);
                if ending == Ending::Line {
                    self.case.push('\n');
                }
            }
            if trimmed.ends_with("</testcase>") || (begins && trimmed.ends_with("/>")) {
                self.report(out);
            }
            return Step::Taken;
        }
        if trimmed.starts_with("<testsuite") && !trimmed.ends_with("/>") {
            self.depth += 1;
        } else if trimmed.starts_with("</testsuite") {
            self.depth = self.depth.saturating_sub(1);
            if self.depth == 0 {
                return Step::Ended;
            }
        }
        Step::Taken
    }

    /// Reports a test case that the end of the output cut off.
    pub(crate) fn finish(&mut self, out: &mut Collector) {
        self.report(out);
        if self.depth > 0 {
            out.masked();
        }
    }

    fn report(&mut self, out: &mut Collector) {
        let case = std::mem::take(&mut self.case);
        let mut reader = Reader::from_str(&case);
        reader.config_mut().check_end_names = false;
        let (mut class, mut name, mut file) = (String::new(), String::new(), None);
        let mut faults: Vec<Fault> = Vec::new();
        let mut inside = false;
        // A document that is broken is read up to where it breaks.
        while let Ok(event) = reader.read_event() {
            match event {
                Event::Start(element) | Event::Empty(element)
                    if element.local_name().as_ref() == b"testcase" =>
                {
                    class = attribute(&element, "classname").unwrap_or_default();
                    name = attribute(&element, "name").unwrap_or_default();
                    file = attribute(&element, "file");
                }
                Event::Start(element) => {
                    inside = push(&element, &mut faults);
                }
                Event::Empty(element) => {
                    push(&element, &mut faults);
                }
                Event::End(_) => inside = false,
                Event::Text(text) if inside => {
                    append_text(&mut faults, text.decode().as_deref().unwrap_or_default());
                }
                Event::CData(text) if inside => {
                    append_text(&mut faults, text.decode().as_deref().unwrap_or_default());
                }
                Event::GeneralRef(reference) if inside => {
                    append_text(&mut faults, &entity(reference.decode().as_deref().unwrap_or_default()));
                }
                Event::Eof => break,
                Event::Text(_)
                | Event::CData(_)
                | Event::GeneralRef(_)
                | Event::Comment(_)
                | Event::Decl(_)
                | Event::PI(_)
                | Event::DocType(_) => {}
            }
        }
        if name.is_empty() && class.is_empty() {
            return;
        }
        let package = Some(class.as_str()).filter(|class| !class.is_empty());
        faults.iter_mut().for_each(Fault::plain);
        // A test that is expected to fail, or still to be done, may carry its failure as well.
        let is_skipped = faults.iter().any(|fault| fault.is_skip);
        match faults.first().filter(|_| !is_skipped) {
            Some(fault) => out.failed(fault.draft(package, &name, file)),
            None if faults.is_empty() => out.case_passed(package, &name),
            None => out.skipped(package, &name),
        }
    }
}

/// Whether the text of the element belongs to the test case.
fn push(element: &BytesStart<'_>, faults: &mut Vec<Fault>) -> bool {
    let is_skip = match element.local_name().as_ref() {
        b"skipped" => true,
        b"failure" | b"error" => false,
        _ => return false,
    };
    faults.push(Fault {
        is_skip,
        class: attribute(element, "type").unwrap_or_default(),
        message: attribute(element, "message").unwrap_or_default(),
        text: String::new(),
    });
    true
}

fn append_text(faults: &mut [Fault], text: &str) {
    if let Some(fault) = faults.last_mut() {
        fault.text.push_str(text);
    }
}

fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    let attribute = element.try_get_attribute(name).ok()??;
    Some(attribute.unescape_value().map_or_else(
        |_| String::from_utf8_lossy(&attribute.value).into_owned(),
        std::borrow::Cow::into_owned,
    ))
}

fn entity(name: &str) -> String {
    let number = name.strip_prefix('#').and_then(|number| match number.strip_prefix(['x', 'X']) {
        Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16).ok(),
        None => number.parse().ok(),
    });
    match (number.and_then(char::from_u32), name) {
        (Some(character), _) => character.to_string(),
        (None, "lt") => "<".into(),
        (None, "gt") => ">".into(),
        (None, "amp") => "&".into(),
        (None, "quot") => "\"".into(),
        (None, "apos") => "'".into(),
        (None, _) => String::new(),
    }
}

impl Fault {
    /// XML cannot contain escape characters; pytest writes `#x1B` for them.
    fn plain(&mut self) {
        for text in [&mut self.text, &mut self.message] {
            if text.has("#x1B[") || text.contains('\x1b') {
                let escaped = text.replace("#x1B[", "\x1b[");
                let lines: Vec<_> = escaped.lines().map(|line| text_of(line.as_bytes())).collect();
                *text = lines.join("\n");
            }
        }
    }

    fn draft(&self, package: Option<&str>, name: &str, file: Option<String>) -> FingerprintParts {
        let mut draft = self.read(name);
        draft.runner = Runner::Junit;
        draft.package = package.map(str::to_string);
        draft.test = Some(name.to_string());
        draft.kind = kind_of_class(&self.class).unwrap_or(draft.kind);
        if draft.message.is_empty() {
            draft.message.clone_from(&self.message);
        }
        if draft.signature.is_empty() {
            draft.signature.clone_from(&self.message);
        }
        draft.file = draft.file.or(file);
        if self.message == "collection failure" {
            // pytest writes a file that it could not collect as if it were a test.
            draft.kind = Kind::Compile;
            draft.package = draft.test.take();
        }
        draft
    }

    /// Reads the text of a failure, in any language.
    fn read(&self, name: &str) -> FingerprintParts {
        let has = |start: &str| self.text.lines().any(|line| line.starts_with(start));
        if has("E  ") || has(">  ") {
            let mut block = Block::new(name);
            self.text.lines().for_each(|line| block.line(line));
            return block.into_draft(Some(name));
        }
        if self.text.has("' panicked at ") || self.text.has(") panicked at ") {
            return details_of(Runner::Junit, None, name, &self.text);
        }
        if self.text.has("Traceback (most recent call last):") {
            let mut traceback = Traceback::default();
            self.text.lines().for_each(|line| traceback.line(line));
            let mut draft = FingerprintParts::new(Runner::Junit, traceback.kind());
            traceback.describe(&mut draft);
            return draft;
        }
        let mut thrown = Thrown::default();
        self.text.lines().for_each(|line| thrown.line(line));
        let first = Thrown::kind(&thrown);
        let kind = if first == Kind::Error { super::javascript::kind_of(&self.message) } else { first };
        let mut draft = FingerprintParts::new(Runner::Junit, kind);
        thrown.describe(&mut draft);
        draft
    }
}

/// The kind of a failure by its type: the class of an exception with most tools.
fn kind_of_class(class: &str) -> Option<Kind> {
    let name = class.rsplit(['.', '$', ':']).next().unwrap_or(class);
    if name.has("Timeout") || name.has("TimedOut") {
        return Some(Kind::Timeout);
    }
    if name.has("Assertion") || name.has("ComparisonFailure") || name.has("MultipleFailures") {
        return Some(Kind::Assertion);
    }
    (name.ends_with("Error") || name.ends_with("Exception")).then(|| Kind::Exception(name.to_string()))
}
