//! `go test`, with or without `-json`, which is the same text taken apart by package and test.
//!
//! Owns the events; what they carry is read as text, one reader for each package, so that packages that run at once do
//! not mix. Lines that are no events are read as text too: the compiler speaks in between, or all of it is text.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::go::Go;
use super::{Read, Step};
use crate::collector::Collector;
use crate::tail::Tail;

/// Packages that run in parallel and are read separately.
const MAX_PACKAGES: usize = 512;
/// Bytes of an incomplete line.
const MAX_PARTIAL: usize = 64 * 1024;

#[derive(Debug, Default)]
pub(crate) struct GoJson {
    packages: BTreeMap<String, Package>,
    between: Go,
}

#[derive(Debug, Default)]
struct Package {
    reader: Go,
    /// An event may contain a part of a line.
    partial: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Event {
    action: String,
    #[serde(default, alias = "ImportPath")]
    package: String,
    #[serde(default)]
    test: Option<String>,
    #[serde(default)]
    output: Option<String>,
}

pub(crate) fn is_event(line: &str) -> bool {
    line.starts_with("{\"Time\":") || line.starts_with("{\"Action\":") || line.starts_with("{\"ImportPath\":")
}

impl GoJson {
    /// A reader that knows how the test binary ended, which is printed before the first event.
    pub(crate) fn after(tail: &Tail) -> Self {
        let mut reader = Self::default();
        if let Some(line) = tail.latest_first().next() {
            reader.between.ended(line);
        }
        reader
    }
}

impl Read for GoJson {
    fn line(&mut self, line: &str, out: &mut Collector) -> Step {
        let event = is_event(line).then(|| serde_json::from_str::<Event>(line));
        let Some(Ok(event)) = event else {
            return match self.between.line(line, out) {
                // Packages that are being read keep this reader at work.
                Step::Refused if self.packages.is_empty() => Step::Refused,
                Step::Refused | Step::Ended | Step::Taken => Step::Taken,
            };
        };
        if event.action == "build-output" {
            if let Some(text) = event.output {
                self.between.line(text.trim_end_matches('\n'), out);
            }
            return Step::Taken;
        }
        let Some(text) = event.output else { return Step::Taken };
        if self.packages.len() >= MAX_PACKAGES && !self.packages.contains_key(&event.package) {
            return Step::Taken;
        }
        let package = self.packages.entry(event.package.clone()).or_default();
        package.output(&text, event.test.as_deref(), out);
        if event.test.is_none() && (text.starts_with("FAIL\t") || text.starts_with("ok  \t")) {
            self.packages.remove(&event.package);
        }
        Step::Taken
    }

    fn finish(&mut self, out: &mut Collector) {
        for package in self.packages.values_mut() {
            package.reader.finish(out);
        }
        self.packages.clear();
        self.between.finish(out);
    }
}

impl Package {
    fn output(&mut self, text: &str, test: Option<&str>, out: &mut Collector) {
        if let Some(test) = test {
            self.reader.in_test(test);
        }
        if self.partial.len() < MAX_PARTIAL {
            self.partial.push_str(text);
        }
        if !text.ends_with('\n') {
            return;
        }
        let whole = std::mem::take(&mut self.partial);
        for line in whole.lines() {
            self.reader.line(line, out);
        }
    }
}
