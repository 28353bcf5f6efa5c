//! `cargo … --message-format=json`: every line is a message of its own.
//!
//! Owns the messages' fields; what makes a diagnostic the same one is decided where the text is read.

use serde::Deserialize;

use super::rustc::draft_of;
use super::{Read, Step};
use crate::collector::Collector;

#[derive(Debug, Default)]
pub(crate) struct RustcJson;

#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    target: Option<Target>,
    #[serde(default)]
    message: Option<Message>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

#[derive(Deserialize)]
struct Message {
    level: String,
    message: String,
    #[serde(default)]
    code: Option<Code>,
    #[serde(default)]
    spans: Vec<Span>,
    #[serde(default)]
    rendered: Option<String>,
}

#[derive(Deserialize)]
struct Code {
    code: String,
}

#[derive(Deserialize)]
struct Span {
    file_name: String,
    line_start: u32,
    is_primary: bool,
    #[serde(default)]
    label: Option<String>,
    #[serde(default)]
    text: Vec<Source>,
}

#[derive(Deserialize)]
struct Source {
    text: String,
}

pub(crate) fn is_message(line: &str) -> bool {
    line.starts_with("{\"reason\":\"")
}

impl Read for RustcJson {
    fn line(&mut self, line: &str, out: &mut Collector) -> Step {
        let Ok(Line { target, message: Some(message) }) = serde_json::from_str(line) else {
            return Step::Ended;
        };
        let primary = message.spans.iter().find(|span| span.is_primary);
        let Some(span) = primary.filter(|_| message.level.starts_with("error")) else { return Step::Ended };
        let code = message.code.as_ref().map_or("", |code| code.code.as_str());
        let source = span.text.first().map_or("", |source| source.text.trim());
        let label = span.label.as_deref().unwrap_or_default();
        let mut draft = draft_of(code, &message.message, label, source, false);
        draft.package = target.map(|target| target.name);
        draft.message = message.rendered.unwrap_or(message.message);
        out.failed(draft.at(Some((&span.file_name, Some(span.line_start)))));
        Step::Ended
    }

    fn finish(&mut self, _: &mut Collector) {}
}
