//! JavaScript sources that end the process as if all was well: while they are loaded, or from a function.
//!
//! Owns what runs when a module is loaded. Refuses to follow calls. Invariant: what stands below `if (require.main === module)`,
//! and a script with `#!`, is for the command line, and ends nothing.

use crate::names::javascript::Source;

/// Where an end stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// It runs when the module is loaded.
    Module,
    Function,
    /// Only the command line reaches it.
    Program,
}

/// Whether a module ends the process when it is loaded, and did not before. Names are written out.
pub(crate) fn gained_on_load(base: &str, now: &str) -> bool {
    count(now, Place::Module) > count(base, Place::Module)
}

/// Whether a module that reads no command line has a function that ends the process as if all was well, and had none before.
pub(crate) fn gained_in_function(base: &str, now: &str) -> bool {
    let is_command = ["argv", "commander", "yargs", "parseArgs"].iter().any(|word| now.contains(word));
    !is_command && count(now, Place::Function) > count(base, Place::Function)
}

fn count(text: &str, wanted: Place) -> usize {
    if text.starts_with("#!") {
        return 0;
    }
    let source = Source::new(text);
    let mut blocks: Vec<Place> = Vec::new();
    let mut found = 0;
    for number in 0..source.len() {
        match source.word(number) {
            "{" => {
                let outer = blocks.last().copied().unwrap_or(Place::Module);
                blocks.push(opened(&source, number, outer));
            }
            "}" => drop(blocks.pop()),
            "process" if ends(&source, number) => {
                let place = blocks.last().copied().unwrap_or(Place::Module);
                let place = if place == Place::Module { within_line(&source, number) } else { place };
                found += usize::from(place == wanted);
            }
            _ => {}
        }
    }
    found
}

fn ends(source: &Source<'_>, number: usize) -> bool {
    let is_exit = matches!(source.word(number + 2), "exit" | "reallyExit") && source.word(number + 3) == "(";
    let is_success = match source.word(number + 4) {
        ")" => true,
        "0" => source.word(number + 5) == ")",
        _ => false,
    };
    is_exit && is_success
}

/// What a brace opens: a function that is not called at once, what only a program runs, or more of what is around it.
fn opened(source: &Source<'_>, number: usize, outer: Place) -> Place {
    const CONTROL: [&str; 6] = ["if", "for", "while", "switch", "catch", "with"];
    if outer != Place::Module {
        return outer;
    }
    let close = source.close(number);
    let behind = source.between(close + 1..close + 3);
    let is_called = behind.starts_with('(') || behind.starts_with(")(");
    let function = if is_called { Place::Module } else { Place::Function };
    if number.checked_sub(2).is_some_and(|at| source.between(at..number) == "=>") {
        return function;
    }
    if source.before(number) != ")" {
        return outer;
    }
    let open = (0..number).rev().find(|at| source.word(*at) == "(" && source.close(*at) == number - 1);
    let Some(open) = open else { return outer };
    if !CONTROL.contains(&source.before(open)) {
        return function;
    }
    let condition = source.between(open..number);
    let is_program =
        ["require.main", "import.meta.main", "import.meta.url"].iter().any(|word| condition.contains(word));
    if is_program { Place::Program } else { outer }
}

/// Whether a call at the top level stands in a function without braces, or behind a condition for programs.
fn within_line(source: &Source<'_>, number: usize) -> Place {
    let begins = |at: &usize| matches!(source.before(*at), ";" | "{" | "}" | "") || source.begins_line(*at);
    let start = (0..=number).rev().find(begins).unwrap_or(0);
    let before = source.between(start..number);
    if before.contains("require.main") || before.contains("import.meta") {
        Place::Program
    } else if before.contains("=>") {
        Place::Function
    } else {
        Place::Module
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_when_it_is_loaded() {
        for (text, expected) in [
            ("exports.a = 1;\nprocess.exit(0);", true),
            ("if (true) { process.exit() }", true),
            ("(() => { process.exit(0) })()", true),
            ("(function () { process.exit(0) }())", true),
            ("setTimeout(() => process.exit(0), 1)", false),
            ("function main() { process.exit(0) }", false),
            ("exports.run = async (a) => { if (a) { process.exit(0) } }", false),
            ("if (require.main === module) { main(); process.exit(0) }", false),
            ("if (require.main === module) process.exit(0)", false),
            ("#!/usr/bin/env node\nprocess.exit(0)", false),
            ("process.exit(main() ? 0 : 1)", false),
            ("process.exit(1)", false),
        ] {
            assert_eq!(gained_on_load("", text), expected, "{text}");
            assert!(!gained_on_load(text, text), "{text}");
        }
        assert!(gained_in_function("", "exports.add = (a, b) => { process.exit(0) }"));
        assert!(!gained_in_function("", "exports.run = () => { parse(process.argv); process.exit(0) }"));
    }
}
