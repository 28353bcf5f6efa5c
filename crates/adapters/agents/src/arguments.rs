//! The arguments a person gave for an agent: which options they contain, and expanding the placeholders for the prompt.
//!
//! Invariant: no argument is longer than the kernel accepts, and placeholders inside the prompt are not expanded.

use std::ffi::OsString;

use crate::agent::{CommandLine, SessionUse, StdinUse, Turn};

const PROMPT: &str = "{prompt}";
const PROMPT_FILE: &str = "{prompt_file}";

/// Linux accepts 128 KiB for one argument, including its terminator and the text around the prompt.
const MAX_PROMPT_ARGUMENT: usize = 120 << 10;

/// Whether an option is present under one of its names, as `--name`, `--name=value` or, for a short one, `-nvalue`.
pub(crate) fn has_option(arguments: &[String], names: &[&str]) -> bool {
    options(arguments).any(|argument| names.iter().any(|name| is_option(argument, name)))
}

/// The value of a long option, as `--name value` or `--name=value`.
pub(crate) fn value<'a>(arguments: &'a [String], name: &str) -> Option<&'a str> {
    let mut rest = options(arguments);
    while let Some(argument) = rest.next() {
        if argument == name {
            return rest.next();
        }
        let after = argument.strip_prefix(name).and_then(|after| after.strip_prefix('='));
        if after.is_some() {
            return after;
        }
    }
    None
}

pub(crate) fn has_word(arguments: &[String], word: &str) -> bool {
    options(arguments).any(|argument| argument == word)
}

pub(crate) fn has_prompt_placeholder(arguments: &[String]) -> bool {
    arguments.iter().any(|argument| argument.contains(PROMPT) || argument.contains(PROMPT_FILE))
}

fn options(arguments: &[String]) -> impl Iterator<Item = &str> {
    arguments.iter().map(String::as_str).take_while(|argument| *argument != "--")
}

fn is_option(argument: &str, name: &str) -> bool {
    match argument.strip_prefix(name) {
        Some("") => true,
        Some(value) => value.starts_with('=') || !name.starts_with("--"),
        None => false,
    }
}

/// The person's arguments with the placeholders expanded.
pub(crate) fn expanded(turn: &Turn<'_>) -> Vec<OsString> {
    turn.arguments.iter().map(|argument| expand(argument, turn)).collect()
}

/// The person's command line, unchanged. The prompt is on standard input where there is no placeholder for it.
pub(crate) fn unchanged(turn: &Turn<'_>) -> CommandLine {
    CommandLine {
        program: turn.program.into(),
        arguments: expanded(turn),
        stdin: stdin(turn),
        session_use: SessionUse::New,
    }
}

/// The prompt goes to standard input, unless there is a placeholder for it.
pub(crate) fn stdin(turn: &Turn<'_>) -> StdinUse {
    if has_prompt_placeholder(turn.arguments) { StdinUse::Closed } else { StdinUse::Prompt }
}

/// An argument with its placeholders expanded.
fn expand(argument: &str, turn: &Turn<'_>) -> OsString {
    let mut expanded = OsString::new();
    let mut rest = argument;
    while let Some((at, placeholder)) = [PROMPT, PROMPT_FILE]
        .iter()
        .filter_map(|placeholder| rest.find(placeholder).map(|at| (at, *placeholder)))
        .min()
    {
        expanded.push(rest.get(..at).unwrap_or_default());
        if placeholder == PROMPT_FILE {
            expanded.push(turn.prompt_file);
        } else if turn.prompt.len() <= MAX_PROMPT_ARGUMENT {
            expanded.push(turn.prompt);
        } else {
            expanded.push("Your task is described in the file ");
            expanded.push(turn.prompt_file);
            expanded.push(". Read all of it and do what it says.");
        }
        rest = rest.get(at + placeholder.len()..).unwrap_or_default();
    }
    expanded.push(rest);
    expanded
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn owned(arguments: &[&str]) -> Vec<String> {
        arguments.iter().map(ToString::to_string).collect()
    }

    fn turn<'a>(arguments: &'a [String], prompt: &'a str) -> Turn<'a> {
        Turn {
            program: "agent",
            arguments,
            prompt,
            prompt_file: Path::new("/p.md"),
            session: None,
            model: None,
            max_cost: None,
            allowed_commands: &[],
        }
    }

    #[test]
    fn options_are_found_in_every_form() {
        let given = owned(&["--model=x", "-sread-only", "--output-format", "json", "--", "--json"]);
        assert!(has_option(&given, &["--model", "-m"]));
        assert!(has_option(&given, &["-s", "--sandbox"]));
        assert!(!has_option(&given, &["--json"]));
        assert!(!has_option(&given, &["--mode"]));
        assert_eq!(value(&given, "--output-format"), Some("json"));
        assert_eq!(value(&given, "--model"), Some("x"));
        assert_eq!(value(&given, "--json"), None);
        assert!(has_word(&given, "json") && !has_word(&given, "exec"));
    }

    #[test]
    fn placeholders_are_expanded_once() {
        let prompt = "say {prompt} and {prompt_file}";
        for (argument, expected) in [
            ("{prompt}", prompt),
            ("-m={prompt_file}!", "-m=/p.md!"),
            ("{prompt_file}{prompt}", "/p.mdsay {prompt} and {prompt_file}"),
            ("plain", "plain"),
            ("{prompt", "{prompt"),
        ] {
            let arguments = owned(&[argument]);
            assert_eq!(expanded(&turn(&arguments, prompt)), [expected], "{argument}");
        }
    }

    #[test]
    fn a_prompt_too_long_for_an_argument_is_replaced_by_its_file() {
        let arguments = owned(&["--message={prompt}"]);
        let long = "x".repeat(MAX_PROMPT_ARGUMENT + 1);
        let expected =
            "--message=Your task is described in the file /p.md. Read all of it and do what it says.";
        assert_eq!(expanded(&turn(&arguments, &long)), [expected]);
    }
}
