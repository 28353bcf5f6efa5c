//! `fixpoint decide KIND`: reads questions, computes the answers with the functions that the engine uses, and prints
//! them.

pub(crate) mod kinds;
mod log;

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::PathBuf;

use fixpoint_config::{Content, Node};
use fixpoint_vocabulary::Lang;
use serde_json::Value;

use self::kinds::Kind;
use crate::arguments::DecideArguments;
use crate::failure::Failure;
use crate::output::{Output, complain};

/// More than any batch needs; endless input must not fill the memory.
const MAX_INPUT_BYTES: u64 = 64 * 1024 * 1024;
/// A value takes about a hundred bytes of memory, however short it is written.
const MAX_VALUES: usize = 2_000_000;

pub(crate) fn run(arguments: &DecideArguments, output: &mut Output) -> Result<(), Failure> {
    if arguments.example {
        return output.text(arguments.kind.example());
    }
    if let Some(path) = &arguments.log {
        return log::run(path, arguments, output);
    }
    let input = read(arguments)?;
    let answer = answer(arguments.kind, &input, output.lang()).map_err(Failure::BadInput)?;
    if arguments.pretty { output.pretty_json(&answer) } else { output.json(&answer) }
}

fn read(arguments: &DecideArguments) -> Result<Vec<u8>, Failure> {
    match &arguments.input {
        Some(path) if path.as_os_str() != "-" => {
            let unreadable = |source| Failure::Unreadable { path: PathBuf::from(path), source };
            let file = File::open(path).map_err(unreadable)?;
            bounded(file).map_err(unreadable)
        }
        Some(_) | None => {
            let stdin = io::stdin();
            if stdin.is_terminal() {
                let kind = arguments.kind.name();
                complain(&format!(
                    "reading the question from the terminal; `fixpoint decide {kind} --example` prints an example"
                ));
            }
            bounded(stdin.lock()).map_err(Failure::NoInput)
        }
    }
}

fn bounded(source: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(MAX_INPUT_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_INPUT_BYTES {
        let message = format!("more than {} MiB; split the batch", MAX_INPUT_BYTES / 1024 / 1024);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}

/// Answers one question, or an array of them. An error is one line that names the field.
pub(crate) fn answer(kind: Kind, input: &[u8], lang: Lang) -> Result<Value, String> {
    // Some editors write a byte order mark, which is not part of the JSON.
    let input = input.strip_prefix(b"\xef\xbb\xbf").unwrap_or(input);
    if values(input) > MAX_VALUES {
        return Err(format!("more than {MAX_VALUES} values; split the batch"));
    }
    let question: Node = serde_json::from_slice(input).map_err(|error| not_json(&error, input))?;
    let decider = kind.decider();
    match &question.content {
        Content::List(questions) => {
            let answers = questions.iter().enumerate().map(|(index, question)| {
                (decider.answer)(question, lang).map_err(|problem| in_batch(index, &problem))
            });
            answers.collect::<Result<Vec<Value>, String>>().map(Value::Array)
        }
        Content::Map(_) => (decider.answer)(&question, lang),
        Content::Null | Content::Bool(_) | Content::Number(_) | Content::Text(_) => {
            Err("expected an object, or an array of objects".to_string())
        }
    }
}

/// About how many values a JSON text has. Deep nesting is refused when it is read.
fn values(input: &[u8]) -> usize {
    let (mut values, mut is_text, mut is_escaped) = (1_usize, false, false);
    for byte in input {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            b',' | b':' if !is_text => values = values.saturating_add(1),
            _ => {}
        }
    }
    values
}

/// A problem that begins with a field gets the place in front of the field; any other is about the whole question.
fn in_batch(index: usize, problem: &str) -> String {
    let names_a_field = problem.split_once(": ").is_some_and(|(field, _)| !field.contains(' '));
    if names_a_field { format!("[{index}].{problem}") } else { format!("[{index}]: {problem}") }
}

fn not_json(error: &serde_json::Error, input: &[u8]) -> String {
    if input.iter().all(u8::is_ascii_whitespace) {
        "no input: expected a question in JSON (`--example` prints one)".to_string()
    } else {
        format!("invalid JSON: {error}")
    }
}

#[cfg(test)]
mod tests;
