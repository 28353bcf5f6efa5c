//! A hint for a command line whose agent does not follow `--`: the line as it should be.
//!
//! The corrected line is shown only if it can be parsed. Invariant: without an agent that was named, there is no hint.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Error, Parser};
use fixpoint_vocabulary::Lang;

use crate::arguments::{Arguments, Command};
use crate::language::{self, LangArgument, say};

/// Agents that are recognised even where they are not installed.
const AGENTS: [&str; 7] = ["claude", "codex", "opencode", "gemini", "aider", "goose", "cursor-agent"];

/// What to type instead, where an error of the parser is about an agent without `--` before it.
pub(crate) fn hint(typed: &[OsString], error: &Error) -> Option<String> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let Some(ContextValue::String(unexpected)) = error.get(ContextKind::InvalidArg) else { return None };
    if unexpected.starts_with('-') {
        return None;
    }
    // A word may also be the value of an option: the first place at which the line becomes right is the one.
    let places =
        (1..typed.len()).filter(|place| typed.get(*place).is_some_and(|word| **word == **unexpected));
    let corrected = |place: usize| {
        let (before, agent) = typed.split_at_checked(place)?;
        let line = [before, &[OsString::from("--")], agent].concat();
        Some((Arguments::try_parse_from(&line).ok()?, line))
    };
    let (parsed, line) = places.into_iter().find_map(corrected)?;
    let lang = lang(typed);
    if matches!(parsed.command, Command::Loop(_)) {
        return Some(words(&line, lang));
    }
    let quotes = || {
        say(
            lang,
            "hint: put a goal of several words in quotes: fixpoint run 'do this'",
            "ヒント: 複数の語からなる目標は引用符で囲んでください: fixpoint run 'do this'",
        )
    };
    let is_run = matches!(parsed.command, Command::Run(_));
    is_run.then(|| if is_program(unexpected) { words(&line, lang) } else { quotes() })
}

fn words(line: &[OsString], lang: Lang) -> String {
    let line: Vec<String> = line.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let line = shlex::try_join(line.iter().map(String::as_str)).unwrap_or_else(|_| line.join(" "));
    say(
        lang,
        format!("hint: the agent's command line comes after `--`:\n  fixpoint {line}"),
        format!("ヒント: エージェントのコマンドラインは `--` の後に書きます:\n  fixpoint {line}"),
    )
}

/// Whether a word names a program, rather than being the second word of a goal without quotes.
fn is_program(word: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_found = || std::env::split_paths(&path).any(|directory| directory.join(word).is_file());
    AGENTS.contains(&word) || if word.contains('/') { Path::new(word).is_file() } else { is_found() }
}

/// The language asked for. The arguments could not be parsed, so `--lang` is looked for among the words.
fn lang(typed: &[OsString]) -> Lang {
    let of_word = |word: &OsStr| match word.to_str() {
        Some("ja" | "--lang=ja") => Some(LangArgument::Ja),
        Some("en" | "--lang=en") => Some(LangArgument::En),
        Some(_) | None => None,
    };
    let joined = typed.iter().filter(|word| word.to_string_lossy().starts_with("--lang="));
    let separate = typed.iter().zip(typed.iter().skip(1)).filter(|(flag, _)| *flag == "--lang");
    let asked = joined.chain(separate.map(|(_, value)| value)).find_map(|word| of_word(word));
    language::choose(asked, &std::env::vars_os().collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hinted(line: &str) -> Option<String> {
        let typed: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let error = Arguments::try_parse_from(&typed).err()?;
        hint(&typed, &error)
    }

    #[test]
    fn the_corrected_line_is_shown_where_an_agent_was_named() {
        let table = [
            ("a loop", "fixpoint loop --until x claude -p y", Some("fixpoint loop --until x -- claude -p y")),
            (
                "the same word twice",
                "fixpoint loop --until claude claude --until z",
                Some("fixpoint loop --until claude -- claude --until z"),
            ),
            ("a run", "fixpoint run goal codex exec", Some("fixpoint run goal -- codex exec")),
            ("quotes", "fixpoint run make 日本 better", Some("fixpoint run 'do this'")),
            ("an option", "fixpoint loop --untli x", None),
            ("no agent here", "fixpoint check claude", None),
            ("a second run", "fixpoint status a b", None),
            ("a line that is right", "fixpoint loop --until x -- claude", None),
        ];
        for (name, line, expected) in table {
            match (hinted(line), expected) {
                (Some(hint), Some(expected)) => assert!(hint.ends_with(expected), "{name}: {hint}"),
                (hint, expected) => assert_eq!(hint.as_deref(), expected, "{name}"),
            }
        }
    }

    #[test]
    fn the_language_is_found_among_the_words() {
        let hint = hinted("fixpoint --lang ja loop --until x claude");
        assert!(hint.is_some_and(|hint| hint.starts_with("ヒント")));
    }
}
