//! The arguments a person gave for an agent: what they already say, and the prompt put where they name it.
//!
//! Invariant: an argument is never longer than the kernel takes, and the prompt is never looked through for places
//! to fill in.

use std::ffi::OsString;

use crate::agent::{CommandLine, Continuation, StdinUse, Turn};

/// What stands for the prompt.
const PROMPT: &str = "{prompt}";
/// What stands for the name of its file.
const PROMPT_FILE: &str = "{prompt_file}";

/// Linux takes 128 KiB for one argument, its end and what stands around the prompt included.
const LONGEST_PROMPT_ARGUMENT: usize = 120 << 10;

/// Whether an option is given by one of its names, as `--name`, `--name=value` or, of a short one, `-nvalue`.
pub(crate) fn gives(arguments: &[String], names: &[&str]) -> bool {
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

/// Whether a word is given, such as a subcommand.
pub(crate) fn says(arguments: &[String], word: &str) -> bool {
    options(arguments).any(|argument| argument == word)
}

/// Whether a place for the prompt is named.
pub(crate) fn name_the_prompt(arguments: &[String]) -> bool {
    arguments.iter().any(|argument| argument.contains(PROMPT) || argument.contains(PROMPT_FILE))
}

/// What stands before `--`.
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

/// The arguments as the person gave them, with the prompt in its place.
pub(crate) fn filled_in(turn: &Turn<'_>) -> Vec<OsString> {
    turn.extra.iter().map(|argument| filled(argument, turn)).collect()
}

/// The command line exactly as the person gave it. The prompt is on standard input where no place is named for it.
pub(crate) fn as_given(turn: &Turn<'_>) -> CommandLine {
    CommandLine {
        program: turn.program.into(),
        arguments: filled_in(turn),
        stdin: stdin(turn),
        environment: Vec::new(),
        continuation: Continuation::Anew,
    }
}

/// What the agent reads: the prompt, unless a place is named for it.
pub(crate) fn stdin(turn: &Turn<'_>) -> StdinUse {
    if name_the_prompt(turn.extra) { StdinUse::Closed } else { StdinUse::Prompt }
}

/// An argument with the prompt, or the name of its file, in the place named for it. What the prompt itself says is
/// never looked through again.
fn filled(argument: &str, turn: &Turn<'_>) -> OsString {
    let mut whole = OsString::new();
    let mut rest = argument;
    while let Some((at, mark)) =
        [PROMPT, PROMPT_FILE].iter().filter_map(|mark| rest.find(mark).map(|at| (at, *mark))).min()
    {
        whole.push(rest.get(..at).unwrap_or_default());
        if mark == PROMPT_FILE {
            whole.push(turn.prompt_file);
        } else if turn.prompt.len() <= LONGEST_PROMPT_ARGUMENT {
            whole.push(turn.prompt);
        } else {
            whole.push("Your task is described in the file ");
            whole.push(turn.prompt_file);
            whole.push(": read all of it and do what it says.");
        }
        rest = rest.get(at + mark.len()..).unwrap_or_default();
    }
    whole.push(rest);
    whole
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::agent::{Permissions, TurnLimits, User};

    fn owned(arguments: &[&str]) -> Vec<String> {
        arguments.iter().map(ToString::to_string).collect()
    }

    fn turn<'a>(extra: &'a [String], prompt: &'a str) -> Turn<'a> {
        Turn {
            program: "agent",
            extra,
            prompt,
            prompt_file: Path::new("/p.md"),
            session: None,
            model: None,
            limits: TurnLimits::default(),
            permissions: Permissions::default(),
            may_run: &[],
            user: User::default(),
        }
    }

    #[test]
    fn options_are_found_in_each_of_their_forms() {
        let given = owned(&["--model=x", "-sread-only", "--output-format", "json", "--", "--json"]);
        assert!(gives(&given, &["--model", "-m"]));
        assert!(gives(&given, &["-s", "--sandbox"]));
        assert!(!gives(&given, &["--json"]));
        assert!(!gives(&given, &["--mode"]));
        assert_eq!(value(&given, "--output-format"), Some("json"));
        assert_eq!(value(&given, "--model"), Some("x"));
        assert_eq!(value(&given, "--json"), None);
        assert!(says(&given, "json") && !says(&given, "exec"));
    }

    #[test]
    fn the_prompt_is_filled_in_once() {
        let prompt = "say {prompt} and {prompt_file}";
        for (argument, expected) in [
            ("{prompt}", prompt),
            ("-m={prompt_file}!", "-m=/p.md!"),
            ("{prompt_file}{prompt}", "/p.mdsay {prompt} and {prompt_file}"),
            ("plain", "plain"),
            ("{prompt", "{prompt"),
        ] {
            let extra = owned(&[argument]);
            assert_eq!(filled_in(&turn(&extra, prompt)), [expected]);
        }
    }

    #[test]
    fn a_prompt_no_argument_can_hold_is_pointed_to() {
        let extra = owned(&["--message={prompt}"]);
        let long = "x".repeat(LONGEST_PROMPT_ARGUMENT + 1);
        let expected =
            "--message=Your task is described in the file /p.md: read all of it and do what it says.";
        assert_eq!(filled_in(&turn(&extra, &long)), [expected]);
    }
}
