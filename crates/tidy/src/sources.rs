//! What every source file must be: introduced, short, made of short functions, and named for what it does.

use std::path::Path;

use crate::workspace::{Source, Workspace};

/// A longer file is two files.
pub const MAX_FILE_LINES: usize = 500;
/// A longer function does not fit on a screen.
pub const MAX_FUNCTION_LINES: usize = 70;

/// Names that attract everything.
const VAGUE: [&str; 9] =
    ["core", "common", "util", "utils", "helper", "helpers", "misc", "manager", "lib_utils"];

/// Everything that is wrong with any file.
pub fn source_violations(workspace: &Workspace) -> Vec<String> {
    workspace.sources.iter().flat_map(violations).collect()
}

fn violations(source: &Source) -> Vec<String> {
    let path = source.path.display();
    let mut found = Vec::new();
    if !source.text.starts_with("//! ") {
        found.push(format!("{path}: begins without `//!`: say what the file owns and what it refuses"));
    }
    let lines = source.text.lines().count();
    if lines > MAX_FILE_LINES {
        found.push(format!("{path}: {lines} lines, at most {MAX_FILE_LINES}: split it"));
    }
    let mut stems = source.path.iter().filter_map(|part| Path::new(part).file_stem()?.to_str());
    if let Some(vague) = stems.find(|stem| VAGUE.contains(stem)) {
        found.push(format!("{path}: `{vague}` says nothing: name it for what it decides or talks to"));
    }
    found.extend(long_functions(&source.text).map(|(line, length)| {
        format!("{path}:{line}: a function of {length} lines, at most {MAX_FUNCTION_LINES}: split it")
    }));
    found
}

/// The first line and the length of every function that is too long. Relies on rustfmt: a function ends at the
/// first closing brace that is indented as its `fn` is.
fn long_functions(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let measured = lines.iter().enumerate().filter_map(|(start, line)| {
        let indent = line.len() - line.trim_start().len();
        let ends = |other: &&str| {
            let closes = other.trim_start().starts_with('}') || other.trim_end().ends_with(';');
            closes && other.len() - other.trim_start().len() == indent
        };
        let length = lines.iter().skip(start).position(ends).map(|length| length + 1)?;
        is_function(line).then_some((start + 1, length))
    });
    measured.filter(|(_, length)| *length > MAX_FUNCTION_LINES).collect::<Vec<_>>().into_iter()
}

fn is_function(line: &str) -> bool {
    let mut rest = line.trim_start();
    if rest.starts_with("//") {
        return false;
    }
    while let Some((word, after)) = rest.split_once(' ') {
        match word {
            "fn" => return true,
            "pub" | "const" | "async" | "unsafe" | "pub(crate)" | "pub(super)" => rest = after,
            _ => return false,
        }
    }
    false
}

/// Signs that the pure crates reach for the world: the standard library, or waiting.
pub fn impurities(workspace: &Workspace) -> Vec<String> {
    let pure = |source: &&Source| {
        ["crates/decide/src", "crates/vocabulary/src"].iter().any(|root| source.path.starts_with(root))
    };
    let mut found: Vec<String> = workspace.sources.iter().filter(pure).flat_map(impure_lines).collect();
    for root in ["crates/decide/src/lib.rs", "crates/vocabulary/src/lib.rs"] {
        let is_no_std =
            |source: &Source| source.path.ends_with(root) && source.text.contains("\n#![no_std]\n");
        if !workspace.sources.iter().any(is_no_std) {
            found.push(format!("{root}: `#![no_std]` is gone, which keeps files, clocks and processes out"));
        }
    }
    found
}

fn impure_lines(source: &Source) -> Vec<String> {
    let mut previous = "";
    let mut found = Vec::new();
    for (number, line) in source.text.lines().enumerate() {
        let code = line.trim_start();
        let for_tests = previous.trim_start() == "#[cfg(test)]";
        previous = line;
        let links_std = code.contains("extern crate std") && !for_tests;
        let waits = ["async fn ", "async move", "async {"].iter().any(|word| code.contains(word))
            || code.split(".await").skip(1).any(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()));
        if !code.starts_with("//") && (links_std || waits) {
            found.push(format!(
                "{}:{}: a pure crate must not do this: {code}",
                source.path.display(),
                number + 1
            ));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.into(), text: text.to_string() }
    }

    fn function_of(lines: usize) -> String {
        format!("//! Doc.\n    pub(crate) fn long() {{\n{}    }}\n", "        step();\n".repeat(lines - 2))
    }

    #[test]
    fn each_rule_finds_what_breaks_it() {
        let table = [
            (source("crates/a/src/plan.rs", "//! Doc.\nfn f() {}\n"), 0),
            (source("crates/a/src/plan.rs", "fn f() {}\n"), 1),
            (source("crates/a/src/plan.rs", &format!("//! Doc.\n{}", "\n".repeat(MAX_FILE_LINES))), 1),
            (source("crates/a/src/utils.rs", "//! Doc.\n"), 1),
            (source("crates/common/src/plan.rs", "//! Doc.\n"), 1),
            (source("crates/a/src/plan.rs", &function_of(MAX_FUNCTION_LINES)), 0),
            (source("crates/a/src/plan.rs", &function_of(MAX_FUNCTION_LINES + 1)), 1),
        ];
        for (source, expected) in table {
            assert_eq!(violations(&source).len(), expected, "{:?}", violations(&source));
        }
    }

    #[test]
    fn a_pure_crate_that_reaches_out_is_found() {
        let with = |text: &str| {
            let library = source("crates/decide/src/lib.rs", &format!("//! Doc.\n#![no_std]\n{text}"));
            let words = source("crates/vocabulary/src/lib.rs", "//! Doc.\n#![no_std]\n");
            impurities(&Workspace {
                crates: vec![],
                sources: vec![library, words],
                architecture: String::new(),
            })
        };
        assert!(with("#[cfg(test)]\nextern crate std;\n// async fn in a comment\n").is_empty());
        assert_eq!(with("extern crate std;\n").len(), 1);
        assert_eq!(with("pub async fn wait() {}\n").len(), 1);
        assert_eq!(with("answer.await;\n").len(), 1);
        assert!(with("task.awaited();\n").is_empty());
        let nothing = Workspace { crates: vec![], sources: vec![], architecture: String::new() };
        assert_eq!(impurities(&nothing).len(), 2);
    }
}
