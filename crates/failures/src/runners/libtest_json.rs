//! libtest's JSON, from `cargo test -- --format json` or nextest's `--message-format libtest-json`.
//!
//! Every line is an event of its own; nothing is remembered between them.

use serde::Deserialize;

use super::libtest::details_of;
use super::{Read, Step};
use crate::collector::Collector;
use crate::report::Runner;
use crate::search::Search;

#[derive(Debug, Default)]
pub(crate) struct LibtestJson;

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    event: &'a str,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    stdout: Option<String>,
    /// Passed tests of a suite that has ended.
    #[serde(default)]
    passed: u64,
}

pub(crate) fn is_event(line: &str) -> bool {
    line.starts_with("{\"type\":\"test\"")
        || line.starts_with("{\"type\":\"suite\"")
        || line.starts_with("{ \"type\": \"test\"")
        || line.starts_with("{ \"type\": \"suite\"")
}

/// The library's own binary has the name of its package, as in nextest's text.
fn short(binary: &str) -> &str {
    match binary.cut("::") {
        Some((package, name)) if package.replace('-', "_") == name => package,
        Some(_) | None => binary,
    }
}

impl Read for LibtestJson {
    fn line(&mut self, line: &str, out: &mut Collector) -> Step {
        let Ok(Event { kind, event, name, stdout, passed }) = serde_json::from_str(line) else {
            return Step::Ended;
        };
        if kind == "suite" {
            out.counted(passed);
        }
        let Some(name) = name.filter(|_| kind == "test") else { return Step::Ended };
        // Nextest names the package and the binary before a dollar sign.
        let (runner, package, test) = match name.split_once('$') {
            Some((binary, test)) => (Runner::Nextest, Some(short(binary)), test),
            None => (Runner::CargoTest, None, name.as_str()),
        };
        match event {
            "ok" => out.passed(package, test),
            "ignored" => out.skipped(package, test),
            "failed" => out.failed(details_of(runner, package, test, stdout.as_deref().unwrap_or_default())),
            _ => {}
        }
        Step::Ended
    }

    fn finish(&mut self, _: &mut Collector) {}
}
