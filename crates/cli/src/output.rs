//! Results on standard output, in the language asked for; everything else on standard error.

use std::io::{self, Write};

use fixpoint_vocabulary::{Lang, Text};
use serde::Serialize;
use serde_json::{Map, Value};

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

    /// In which language people are spoken to.
    pub(crate) fn lang(&self) -> Lang {
        self.lang
    }

    /// One line.
    pub(crate) fn line(&mut self, line: &str) -> Result<(), Failure> {
        writeln!(self.writer, "{line}").map_err(failure)
    }

    /// Text as it is, line ends included.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), Failure> {
        self.writer.write_all(text.as_bytes()).map_err(failure)
    }

    /// One sentence in the language asked for.
    pub(crate) fn say(&mut self, text: &Text) -> Result<(), Failure> {
        let lang = self.lang;
        self.line(text.in_lang(lang))
    }

    /// A value as JSON on one line, its sentences in the language asked for.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        let value = spoken(serde_json::to_value(value)?, self.lang);
        self.line(&value.to_string())
    }

    /// A value as JSON over several lines, for people and files.
    pub(crate) fn pretty_json(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        let value = spoken(serde_json::to_value(value)?, self.lang);
        self.line(&serde_json::to_string_pretty(&value)?)
    }

    /// Makes sure that everything has arrived.
    pub(crate) fn finish(&mut self) -> Result<(), Failure> {
        self.writer.flush().map_err(failure)
    }
}

fn failure(error: io::Error) -> Failure {
    if error.kind() == io::ErrorKind::BrokenPipe { Failure::ReaderGone } else { Failure::NoOutput(error) }
}

/// A message beside the result. If standard error is gone too, there is nobody left to tell.
pub(crate) fn complain(message: &str) {
    let _ = writeln!(io::stderr(), "{message}");
}

/// Sentences are recorded in every language; here the one asked for is picked.
pub(crate) fn spoken(value: Value, lang: Lang) -> Value {
    match value {
        Value::Object(map) => match sentence(&map, lang) {
            Some(sentence) => Value::String(sentence),
            None => map.into_iter().map(|(key, value)| (key, spoken(value, lang))).collect(),
        },
        Value::Array(list) => list.into_iter().map(|value| spoken(value, lang)).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
    }
}

fn sentence(map: &Map<String, Value>, lang: Lang) -> Option<String> {
    let key = match lang {
        Lang::En => "en",
        Lang::Ja => "ja",
    };
    let is_text = map.len() == 2 && map.get("en")?.is_string() && map.get("ja")?.is_string();
    if is_text { map.get(key)?.as_str().map(str::to_string) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn sentences_are_picked_wherever_they_stand() {
        let value = json!({"a": [{"text": {"en": "yes", "ja": "はい"}}], "en": 1, "b": {"en": "x"}});
        assert_eq!(
            spoken(value.clone(), Lang::Ja),
            json!({"a": [{"text": "はい"}], "en": 1, "b": {"en": "x"}})
        );
        assert_eq!(spoken(value, Lang::En)["a"][0]["text"], "yes");
    }
}
