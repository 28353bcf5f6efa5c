//! Changes a command line so that a known runner names every test and does not stop at the first failure, or so that it
//! runs only some tests; and so that the compiler of Go prints all errors.
//!
//! A check is any line for `sh -c`. If exactly its last command calls a known runner, options are inserted into the
//! line; the rest of it stays as it is, byte for byte. Nothing is run and no file is read: the caller says what a
//! package script contains.

mod change;
mod coverage;
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
pub use coverage::Coverage;
use recognise::{Call, Manager};
use shell::Word;

/// The kernel accepts no more than 128 KiB for one argument.
const MAX_LINE: usize = 100 * 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine {
    text: String,
    told: Option<Runner>,
    known: Option<Known>,
    coverage: Coverage,
}

/// The call of a tool in the line.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Known {
    tool: Tool,
    arguments: Arguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tool {
    Runner(Runner),
    GoCompiler,
}

impl CommandLine {
    /// Reads a line for `sh -c`. `told` is the runner that the user configured, which is used to read its output but
    /// not to change the line. `scripts` gives the package scripts of the directory in which the line runs.
    pub fn read(command: &str, told: Option<Runner>, scripts: &dyn Fn(&str) -> Option<String>) -> Self {
        let coverage = coverage::coverage(command, scripts);
        Self { text: command.to_string(), told, known: known(command, scripts), coverage }
    }

    /// The same line where the directory holds one package with one target, so that a crate that fails keeps cargo from
    /// nothing else.
    #[must_use]
    pub fn with_one_target(self) -> Self {
        let is_alone = coverage::builds_one_package(&self.text);
        Self { coverage: if is_alone { Coverage::Compiler } else { self.coverage }, ..self }
    }

    /// What a failure may have kept from running.
    pub fn coverage(&self) -> Coverage {
        self.coverage
    }

    pub fn runner(&self) -> Option<Runner> {
        self.told.or(self.known.as_ref().and_then(|known| known.tool.runner()))
    }

    /// The exit code of the line, or `None` if it says nothing: a shell reports that the last command of a pipe succeeded,
    /// unless it is told to look at all of them.
    pub fn telling_exit_code(&self, exit_code: Option<i32>) -> Option<i32> {
        let is_unknown = || shell::has_pipe(&self.text) && !self.text.contains("pipefail");
        exit_code.filter(|code| *code != 0 || !is_unknown())
    }

    /// The line with which every test runs and is named; unchanged if the runner is not known.
    pub fn telling_everything(&self) -> String {
        let told = self.known.as_ref().and_then(|known| {
            let changes = known.changes(None)?;
            known.arguments.apply(&self.text, &changes)
        });
        let told = told.or_else(|| self.analysing_everything());
        told.unwrap_or_else(|| self.text.clone())
    }

    /// With an error in one class, `javac` does not look for the errors that it finds last.
    fn analysing_everything(&self) -> Option<String> {
        let (name, rest) = self.text.split_at_checked(coverage::behind_javac(&self.text)?)?;
        (!rest.contains("should-stop")).then(|| format!("{name} -XDshould-stop.ifError=FLOW{rest}"))
    }

    /// The line with which only these tests run and are named, each written as a [`TestId`](crate::TestId). Tests of the
    /// same name elsewhere may run too. `None` if the runner or the line does not allow it.
    pub fn only(&self, tests: &BTreeSet<String>) -> Option<String> {
        let known = self.known.as_ref()?;
        let is_odd = |test: &String| test.trim().is_empty() || test.contains(char::is_control);
        if tests.is_empty() || tests.iter().any(is_odd) {
            return None;
        }
        let changes = known.changes(Some(tests))?;
        known.arguments.apply(&self.text, &changes).filter(|line| line.len() <= MAX_LINE)
    }
}

impl Tool {
    const fn runner(self) -> Option<Runner> {
        match self {
            Self::Runner(runner) => Some(runner),
            Self::GoCompiler => None,
        }
    }
}

impl Known {
    /// The changes with which all tests run and are named, or only these tests; `None` if there are no such changes.
    fn changes(&self, only: Option<&BTreeSet<String>>) -> Option<Vec<Change>> {
        type Name = fn(&[&str]) -> Option<Vec<Change>>;
        type Select = fn(&[&str], &BTreeSet<String>) -> Option<Vec<Change>>;
        let arguments = &self.arguments.texts();
        let Some(runner) = self.tool.runner() else {
            return only.is_none().then(|| go::all_errors(arguments));
        };
        let (name, select): (Name, Select) = match runner {
            Runner::CargoTest => (rust::name_tests, rust::select_tests),
            Runner::Nextest => (rust::nextest_names, rust::nextest_selects),
            Runner::GoTest => (go::name_tests, go::select_tests),
            Runner::Pytest => (python::pytest_names, python::pytest_selects),
            Runner::Unittest => (python::unittest_names, python::unittest_selects),
            Runner::Doctest => (python::doctest_names, |_, _| None),
            Runner::Jest => (javascript::jest_names, javascript::select_tests),
            Runner::Vitest => (javascript::vitest_names, javascript::select_tests),
            Runner::Mocha => (javascript::mocha_names, javascript::mocha_selects),
            // Node's own runner names everything and never stops early; which names its pattern matches differs from
            // version to version. The others are not called by a name.
            Runner::NodeTest
            | Runner::Junit
            | Runner::Tap
            | Runner::PhpUnit
            | Runner::Minitest
            | Runner::Rspec
            | Runner::Maven
            | Runner::Gradle
            | Runner::JunitConsole
            | Runner::Ctest
            | Runner::GoogleTest
            | Runner::Catch2
            | Runner::ExUnit
            | Runner::DotnetTest
            | Runner::Bun
            | Runner::Deno
            | Runner::Playwright
            | Runner::Jasmine
            | Runner::Ava
            | Runner::Robot
            | Runner::Behave
            | Runner::Javac
            | Runner::Ruff
            | Runner::Pyright
            | Runner::Biome
            | Runner::Shellcheck
            | Runner::Rustc
            | Runner::Gcc
            | Runner::Tsc
            | Runner::Eslint
            | Runner::Linter
            | Runner::Generic => return None,
        };
        let mut changes = name(arguments)?;
        if let Some(tests) = only {
            changes.extend(select(arguments, tests)?);
        }
        Some(changes)
    }
}

/// The runner that the last command of a line calls, if no other command calls one.
fn known(line: &str, scripts: &dyn Fn(&str) -> Option<String>) -> Option<Known> {
    let commands = shell::commands(line)?;
    let (last, before) = commands.split_last()?;
    let called = |command: &[Word]| {
        let texts = texts(program(command)?);
        recognise::call(&texts, &|name| scripts(name).is_some())
    };
    let is_runner = |command: &Vec<Word>| match called(command) {
        // A script that runs no tests, such as a build, does not matter.
        Some(Call::Script { name, .. }) => {
            let script = scripts(&name).and_then(|script| shell::commands(&script));
            script.is_none_or(|commands| commands.iter().any(|command| called(command).is_some()))
        }
        Some(Call::Runner(..)) => true,
        Some(Call::GoCompiler(_)) | None => false,
    };
    if before.iter().any(is_runner) {
        return None;
    }
    let words = program(last)?;
    if words.iter().any(|word| word.has_variable) {
        return None;
    }
    match called(last)? {
        Call::Runner(runner, at) => direct(Tool::Runner(runner), words, at),
        Call::GoCompiler(at) => direct(Tool::GoCompiler, words, at),
        Call::Script { name, arguments, manager } => {
            // The caller knows the scripts of the directory in which the line begins, and of no other.
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

/// A tool that the line calls itself.
fn direct(tool: Tool, words: &[Word], at: usize) -> Option<Known> {
    let begin = words.get(at.checked_sub(1)?)?.place.end;
    let list = words.get(at..)?.iter().map(argument).collect();
    let arguments = Arguments { list, end: words.last()?.place.end, passing: Passing::Direct { begin } };
    Some(Known { tool, arguments })
}

/// The runner that a package script calls, if it calls nothing else, with the arguments that the line adds.
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
        // Whether `--` is passed on differs from version to version.
        (Manager::Other, Some(_)) => return None,
        (Manager::Other, None) => (given.iter().collect(), Passing::Appended),
    };
    let list = held.chain(passed.into_iter().map(argument)).collect();
    Some(Known {
        tool: Tool::Runner(runner),
        arguments: Arguments { list, end: words.last()?.place.end, passing },
    })
}

/// The command of a script with only one.
fn single(script: &str) -> Option<Vec<Word>> {
    let mut commands = shell::commands(script)?;
    let command = commands.pop()?;
    commands.is_empty().then_some(command)
}

/// The words of a command after the variables that are set for it.
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
