//! What is promised about command lines: the prompt arrives, and what a person said is kept.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use fixpoint_ports::{Program, Stdin};
use fixpoint_vocabulary::usage::Usage;

use super::{Violation, ensure};
use crate::agent::{
    Agent, CommandLine, Continuation, Permissions, SessionReach, StdinUse, Turn, TurnLimits, User,
};
use crate::progress::Session;

/// What a kind of agent can be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Abilities {
    /// Which session to continue, and which model to use.
    SessionsAndModels,
    /// Neither.
    None,
}

const PROMPT: &str = "Do $(this); `that` \"and\" 'more' & more\n{prompt_file}";
const PROMPT_FILE: &str = "/prompts/a file.md";
const MODEL: &str = "model-of-the-test";
const SESSION: &str = "0f8a3c52-session";
/// What the kernel takes for one argument, its end included.
const LONGEST_ARGUMENT: usize = 128 << 10;

pub(super) fn uphold(agent: &dyn Agent, abilities: Abilities) -> Result<(), Violation> {
    let long = "long ".repeat(100_000);
    let extras: [&[&str]; 4] = [
        &[],
        &["--option-of-a-person", "two words; $(x)", "--other={prompt_file}"],
        &["{prompt}"],
        &["--with={prompt}", "{prompt_file}"],
    ];
    let session = Session { id: SESSION.to_string(), used: Usage::default() };
    let has_sessions = agent.session_reach() != SessionReach::Nowhere;
    let kept = has_sessions == (abilities == Abilities::SessionsAndModels);
    ensure(kept.then_some(()), "a kind with sessions says where", agent.name(), || format!("{abilities:?}"))?;
    for extra in extras {
        let extra: Vec<String> = extra.iter().map(ToString::to_string).collect();
        for prompt in [PROMPT, &long] {
            for session in [None, Some(&session)] {
                for permissions in [Permissions::Workspace, Permissions::Anything] {
                    let turn = Turn {
                        program: "/opt/agent",
                        extra: &extra,
                        prompt,
                        prompt_file: Path::new(PROMPT_FILE),
                        session,
                        model: Some(MODEL),
                        limits: TurnLimits { turns: Some(3), cost: None },
                        permissions,
                        may_run: &[],
                        user: User::Root,
                    };
                    one_turn(agent, abilities, &turn)?;
                }
            }
        }
    }
    Ok(())
}

fn one_turn(agent: &dyn Agent, abilities: Abilities, turn: &Turn<'_>) -> Result<(), Violation> {
    let line = agent.command(turn);
    let told = format!("{:?}, prompt of {} bytes", turn.extra, turn.prompt.len());
    let check = |kept: bool, promise| {
        let arguments: Vec<String> = line.arguments.iter().map(|argument| shown(argument)).collect();
        ensure(kept.then_some(()), promise, &told, || format!("{arguments:?}, {:?}", line.stdin))
    };
    check(prompt_arrives(&line, turn), "the prompt arrives, in one way")?;
    let is_short = |argument: &OsString| argument.len() < LONGEST_ARGUMENT;
    check(line.arguments.iter().all(is_short), "no argument is longer than the kernel takes")?;
    check(keeps(&line, turn), "what a person gave is kept, each as one argument")?;
    let direct = Program::Direct { program: turn.program.into(), arguments: line.arguments.clone() };
    check(line.program() == direct, "the program is run directly")?;
    let has = |word: &str| line.arguments.iter().any(|argument| argument == word);
    let continuation = match (abilities, turn.session) {
        (Abilities::SessionsAndModels, Some(_)) => Continuation::Continued,
        (Abilities::SessionsAndModels | Abilities::None, None) | (Abilities::None, Some(_)) => {
            Continuation::Anew
        }
    };
    check(line.continuation == continuation, "a session is continued where it can be")?;
    let names_it = has(SESSION) == (continuation == Continuation::Continued);
    check(names_it, "a session is named where it is continued, and nowhere else")?;
    match abilities {
        Abilities::SessionsAndModels => check(has(MODEL), "the model is passed on"),
        Abilities::None => Ok(()),
    }
}

fn prompt_arrives(line: &CommandLine, turn: &Turn<'_>) -> bool {
    let has = |text: &str| line.arguments.iter().any(|argument| shown(argument).contains(text));
    let is_named = turn.extra.iter().any(|argument| argument.contains("{prompt"));
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
    let plain = turn.extra.iter().filter(|argument| !argument.contains("{prompt"));
    let mut kept = plain.map(|argument| rest.any(|given| given == OsStr::new(argument)));
    kept.all(|kept| kept)
}

fn shown(argument: &OsStr) -> String {
    argument.to_string_lossy().into_owned()
}
