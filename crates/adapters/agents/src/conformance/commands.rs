//! Rules about command lines: the prompt arrives, and the person's arguments are kept.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use fixpoint_ports::{Program, Stdin};
use fixpoint_vocabulary::usage::Usage;

use super::{Violation, ensure};
use crate::agent::{Agent, CommandLine, SessionUse, StdinUse, Turn};
use crate::progress::Session;

/// Whether a kind supports sessions and a choice of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Abilities {
    SessionsAndModels,
    None,
}

const PROMPT: &str = "Do $(this); `that` \"and\" 'more' & more\n{prompt_file}";
const PROMPT_FILE: &str = "/prompts/a file.md";
const MODEL: &str = "model-of-the-test";
const SESSION: &str = "0f8a3c52-session";
/// The longest argument the kernel accepts, with its terminator.
const MAX_ARGUMENT: usize = 128 << 10;

pub(super) fn check(agent: &dyn Agent, abilities: Abilities) -> Result<(), Violation> {
    let long = "long ".repeat(100_000);
    let arguments: [&[&str]; 4] = [
        &[],
        &["--option-of-a-person", "two words; $(x)", "--other={prompt_file}"],
        &["{prompt}"],
        &["--with={prompt}", "{prompt_file}"],
    ];
    let session = Session { id: SESSION.to_string(), used: Usage::default() };
    for arguments in arguments {
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        for prompt in [PROMPT, &long] {
            for session in [None, Some(&session)] {
                let turn = Turn {
                    program: "/opt/agent",
                    arguments: &arguments,
                    prompt,
                    prompt_file: Path::new(PROMPT_FILE),
                    session,
                    model: Some(MODEL),
                    max_cost: None,
                    allowed_commands: &[],
                };
                check_turn(agent, abilities, &turn)?;
            }
        }
    }
    Ok(())
}

fn check_turn(agent: &dyn Agent, abilities: Abilities, turn: &Turn<'_>) -> Result<(), Violation> {
    let line = agent.command(turn);
    let sample = format!("{:?}, prompt of {} bytes", turn.arguments, turn.prompt.len());
    let check = |holds: bool, rule| {
        let arguments: Vec<String> = line.arguments.iter().map(|argument| shown(argument)).collect();
        ensure(holds.then_some(()), rule, &sample, || format!("{arguments:?}, {:?}", line.stdin))
    };
    check(prompt_arrives(&line, turn), "the prompt arrives, in one way")?;
    let is_short = |argument: &OsString| argument.len() < MAX_ARGUMENT;
    check(line.arguments.iter().all(is_short), "no argument is longer than the kernel accepts")?;
    check(keeps(&line, turn), "the person's arguments are kept, each as one argument")?;
    let direct = Program::Direct { program: turn.program.into(), arguments: line.arguments.clone() };
    check(line.program() == direct, "the program is run directly")?;
    let has = |word: &str| line.arguments.iter().any(|argument| argument == word);
    let session_use = match (abilities, turn.session) {
        (Abilities::SessionsAndModels, Some(_)) => SessionUse::Resumed,
        (Abilities::SessionsAndModels | Abilities::None, None) | (Abilities::None, Some(_)) => {
            SessionUse::New
        }
    };
    check(line.session_use == session_use, "a session is resumed where it can be")?;
    let names_it = has(SESSION) == (session_use == SessionUse::Resumed);
    check(names_it, "a session is named where it is resumed, and nowhere else")?;
    match abilities {
        Abilities::SessionsAndModels => check(has(MODEL), "the model is passed on"),
        Abilities::None => Ok(()),
    }
}

fn prompt_arrives(line: &CommandLine, turn: &Turn<'_>) -> bool {
    let has = |text: &str| line.arguments.iter().any(|argument| shown(argument).contains(text));
    let is_named = turn.arguments.iter().any(|argument| argument.contains("{prompt"));
    match line.stdin {
        StdinUse::Prompt => {
            let bytes = Stdin::Bytes(turn.prompt.as_bytes().to_vec());
            line.stdin(turn.prompt) == bytes && !has(turn.prompt) && !is_named
        }
        StdinUse::Closed => {
            line.stdin(turn.prompt) == Stdin::Closed && (has(turn.prompt) || has(PROMPT_FILE)) && is_named
        }
    }
}

fn keeps(line: &CommandLine, turn: &Turn<'_>) -> bool {
    let mut rest = line.arguments.iter();
    let plain = turn.arguments.iter().filter(|argument| !argument.contains("{prompt"));
    let mut kept = plain.map(|argument| rest.any(|given| given == OsStr::new(argument)));
    kept.all(|kept| kept)
}

fn shown(argument: &OsStr) -> String {
    argument.to_string_lossy().into_owned()
}
