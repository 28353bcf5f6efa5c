//! Command lines that tell everything: a known runner is called so that it does not stop at the first failure and names
//! what passes, or so that it runs some tests only.
//!
//! A check is any line for `sh -c`. Where exactly its last command calls a runner that is known, options are put into
//! the line and not a word of the user's is written anew; everything else stays as it is, byte for byte. Nothing is
//! run and no file is read: what a package script holds is asked of the caller.

mod change;
mod go;
mod javascript;
mod python;
mod recognise;
mod rust;
mod shell;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use crate::report::Runner;
use change::{Argument, Arguments, Change, Passing};
use recognise::{Call, Manager};
use shell::Word;

/// Bytes of a line that are handed to a shell as one argument; the kernel takes no more than 128 KiB.
const MAX_LINE: usize = 100 * 1024;

/// A command line whose runner is known, or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine {
    text: String,
    told: Option<Runner>,
    known: Option<Known>,
}

/// The call of a runner in the line.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Known {
    runner: Runner,
    arguments: Arguments,
}

impl CommandLine {
    /// Reads a line for `sh -c`. `told` is the runner that the user says it is, which is believed of its output but
    /// does not make a line known. `scripts` says what a package script holds in the directory where the line runs.
    pub fn read(command: &str, told: Option<Runner>, scripts: &dyn Fn(&str) -> Option<String>) -> Self {
        Self { text: command.to_string(), told, known: known(command, scripts) }
    }

    /// Who runs the tests, as far as it is known.
    pub fn runner(&self) -> Option<Runner> {
        self.told.or(self.known.as_ref().map(|known| known.runner))
    }

    /// The line so that every test runs and is named; the same text where nothing is known.
    pub fn telling_everything(&self) -> String {
        let told = self.known.as_ref().and_then(|known| {
            let changes = known.telling()?;
            known.arguments.apply(&self.text, &changes)
        });
        told.unwrap_or_else(|| self.text.clone())
    }

    /// The line so that only these tests run and are named, each given as a [`TestId`](crate::TestId) is written. Some
    /// more may run, of the same name in other places; those that ran are named in the same way again. Nothing where the
    /// runner or the line does not allow it.
    pub fn only(&self, tests: &BTreeSet<String>) -> Option<String> {
        let known = self.known.as_ref()?;
        let is_odd = |test: &String| test.trim().is_empty() || test.contains(char::is_control);
        if tests.is_empty() || tests.iter().any(is_odd) {
            return None;
        }
        let mut changes = known.telling()?;
        changes.extend(known.only(tests)?);
        known.arguments.apply(&self.text, &changes).filter(|line| line.len() <= MAX_LINE)
    }
}

impl Known {
    fn telling(&self) -> Option<Vec<Change>> {
        let arguments = &self.arguments.texts();
        match self.runner {
            Runner::CargoTest => rust::test_telling(arguments),
            Runner::Nextest => rust::nextest_telling(arguments),
            Runner::GoTest => go::telling(arguments),
            Runner::Pytest => python::pytest_telling(arguments),
            Runner::Unittest => python::unittest_telling(arguments),
            Runner::Jest => javascript::jest_telling(arguments),
            Runner::Vitest => javascript::vitest_telling(arguments),
            Runner::Mocha => javascript::mocha_telling(arguments),
            // Node's own runner names everything and never stops early. The others are called by no name.
            Runner::NodeTest
            | Runner::Junit
            | Runner::Tap
            | Runner::Rustc
            | Runner::Gcc
            | Runner::Tsc
            | Runner::Eslint
            | Runner::Generic => None,
        }
    }

    fn only(&self, tests: &BTreeSet<String>) -> Option<Vec<Change>> {
        let arguments = &self.arguments.texts();
        match self.runner {
            Runner::CargoTest => rust::test_only(arguments, tests),
            Runner::Nextest => rust::nextest_only(arguments, tests),
            Runner::GoTest => go::only(arguments, tests),
            Runner::Pytest => python::pytest_only(arguments, tests),
            Runner::Unittest => python::unittest_only(arguments, tests),
            Runner::Jest | Runner::Vitest => javascript::only(arguments, tests),
            Runner::Mocha => javascript::mocha_only(arguments, tests),
            // Which names a pattern of Node's is held against differs from version to version.
            Runner::NodeTest
            | Runner::Junit
            | Runner::Tap
            | Runner::Rustc
            | Runner::Gcc
            | Runner::Tsc
            | Runner::Eslint
            | Runner::Generic => None,
        }
    }
}

/// The runner that the last command of a line calls, where no other command calls one.
fn known(line: &str, scripts: &dyn Fn(&str) -> Option<String>) -> Option<Known> {
    let commands = shell::commands(line)?;
    let (last, before) = commands.split_last()?;
    let called = |command: &[Word]| {
        let texts = texts(program(command)?);
        recognise::call(&texts, &|name| scripts(name).is_some())
    };
    let is_runner = |command: &Vec<Word>| match called(command) {
        // A script that runs no tests, such as a build, is no reason to leave the tests alone.
        Some(Call::Script { name, .. }) => {
            let script = scripts(&name).and_then(|script| shell::commands(&script));
            script.is_none_or(|commands| commands.iter().any(|command| called(command).is_some()))
        }
        Some(Call::Runner(..)) => true,
        None => false,
    };
    if before.iter().any(is_runner) {
        return None;
    }
    let words = program(last)?;
    if words.iter().any(|word| word.has_variable) {
        return None;
    }
    match called(last)? {
        Call::Runner(runner, at) => {
            let begin = words.get(at.checked_sub(1)?)?.place.end;
            let list = words.get(at..)?.iter().map(argument).collect();
            let arguments =
                Arguments { list, end: words.last()?.place.end, passing: Passing::Direct { begin } };
            Some(Known { runner, arguments })
        }
        Call::Script { name, arguments, manager } => {
            // The caller knows the scripts of the directory the line begins in, and of no other.
            let moves = |command: &Vec<Word>| {
                command.iter().any(|word| matches!(word.text.as_str(), "cd" | "pushd" | "popd"))
            };
            if before.iter().any(moves) {
                return None;
            }
            scripted(&scripts(&name)?, words, arguments, manager)
        }
    }
}

/// The runner that a package script calls, where it calls nothing else, with what the line adds to its arguments.
fn scripted(script: &str, words: &[Word], at: usize, manager: Manager) -> Option<Known> {
    let command = single(script)?;
    let inner = program(&command)?;
    if inner.iter().any(|word| word.has_variable) {
        return None;
    }
    let Call::Runner(runner, from) = recognise::call(&texts(inner), &|_| false)? else { return None };
    let held = inner.get(from..)?.iter().map(|word| Argument { text: word.text.clone(), place: None });
    let given = words.get(at..)?;
    let dashes = given.iter().position(|word| word.text == "--");
    let (passed, passing) = match (manager, dashes) {
        (Manager::Npm, dashes) => {
            let own = given.get(..dashes.unwrap_or(given.len()))?;
            let handed = dashes.and_then(|dashes| given.get(dashes + 1..)).unwrap_or_default();
            let (options, plain): (Vec<&Word>, Vec<&Word>) =
                own.iter().partition(|word| word.text.starts_with('-'));
            if options.iter().any(|option| !recognise::NPM_OPTIONS.contains(&option.text.as_str())) {
                return None;
            }
            let passing = if dashes.is_some() { Passing::Appended } else { Passing::BehindDashes };
            (plain.into_iter().chain(handed).collect::<Vec<_>>(), passing)
        }
        // Whether `--` is handed on differs from version to version.
        (Manager::Other, Some(_)) => return None,
        (Manager::Other, None) => (given.iter().collect(), Passing::Appended),
    };
    let list = held.chain(passed.into_iter().map(argument)).collect();
    Some(Known { runner, arguments: Arguments { list, end: words.last()?.place.end, passing } })
}

/// The one command that a script is.
fn single(script: &str) -> Option<Vec<Word>> {
    let mut commands = shell::commands(script)?;
    let command = commands.pop()?;
    commands.is_empty().then_some(command)
}

/// The words of a command behind the variables that are set for it.
fn program(command: &[Word]) -> Option<&[Word]> {
    let behind = |words: &'_ [Word]| words.iter().take_while(|word| word.is_assignment).count();
    let mut words = command.get(behind(command)..)?;
    while words.first().is_some_and(|word| matches!(word.text.as_str(), "env" | "cross-env")) {
        words = words.get(1..)?;
        words = words.get(behind(words)..)?;
    }
    Some(words).filter(|words| !words.is_empty())
}

fn texts(words: &[Word]) -> Vec<&str> {
    words.iter().map(|word| word.text.as_str()).collect()
}

fn argument(word: &Word) -> Argument {
    Argument { text: word.text.clone(), place: Some(word.place.clone()) }
}
