//! What the line of a script shows: its test runner, whether it ends, whether it rewrites files. Scripts that it starts in
//! turn, as `turbo` and `npm-run-all` do, are not followed.

use serde_json::Value;

/// Why a script cannot be a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unsuitable {
    /// It waits for changes and never ends.
    Watches,
    /// It rewrites files.
    Rewrites,
}

/// Why a script cannot be a check, if it cannot.
pub(super) fn unsuitable(line: &str) -> Option<Unsuitable> {
    let mut before = "";
    for word in words(line) {
        let watches =
            matches!(word, "--watch" | "--watchAll" | "nodemon" | "--watch=true" | "--watchAll=true")
                || (before == "vitest" && matches!(word, "watch" | "dev"))
                || (word == "-w" && words(line).any(|word| word == "tsc"));
        if watches {
            return Some(Unsuitable::Watches);
        }
        if matches!(word, "--fix" | "--write" | "--apply") {
            return Some(Unsuitable::Rewrites);
        }
        before = word;
    }
    None
}

/// Whether it watches unless `CI` is set, as `react-scripts test` does.
pub(super) fn watches_unless_ci(line: &str) -> bool {
    words(line).any(|word| word == "react-scripts") && words(line).any(|word| word == "test")
}

/// The test runner that the line starts.
pub(super) fn test_runner(line: &str) -> Option<&'static str> {
    let named = words(line).find_map(|word| match word {
        "jest" | "react-scripts" => Some("jest"),
        "vitest" => Some("vitest"),
        "mocha" => Some("mocha"),
        _ => None,
    });
    let is_node = words(line).any(|word| word == "node") && words(line).any(|word| word == "--test");
    named.or(is_node.then_some("node_test"))
}

/// The test runner among the dependencies, if there is only one.
pub(super) fn only_runner(manifest: &Value) -> Option<&'static str> {
    let is_listed = |name: &&&str| {
        let sections = ["dependencies", "devDependencies"];
        sections.iter().any(|section| manifest.get(section).is_some_and(|list| list.get(**name).is_some()))
    };
    let listed: Vec<&&str> = ["jest", "vitest", "mocha"].iter().filter(is_listed).collect();
    match listed.as_slice() {
        [only] => Some(only),
        _ => None,
    }
}

/// The linter, if its output can be read.
pub(super) fn linter(line: &str) -> Option<&'static str> {
    words(line).any(|word| word == "eslint").then_some("eslint")
}

/// The type checker, if its output can be read.
pub(super) fn type_checker(line: &str) -> Option<&'static str> {
    words(line).any(|word| word == "tsc").then_some("tsc")
}

/// The words of a line; programs without their directory. Quotes and operators separate words too, since a script may be
/// quoted within another.
fn words(line: &str) -> impl Iterator<Item = &str> {
    let words =
        line.split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ';' | '&' | '|' | '(' | ')'));
    words.filter(|word| !word.is_empty()).map(|word| word.strip_prefix("node_modules/.bin/").unwrap_or(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_that_never_end_or_rewrite_files() {
        let table = [
            ("jest --watch", Some(Unsuitable::Watches)),
            ("vitest watch", Some(Unsuitable::Watches)),
            ("tsc --noEmit -w", Some(Unsuitable::Watches)),
            ("tsc -w", Some(Unsuitable::Watches)),
            ("eslint . --fix && echo done", Some(Unsuitable::Rewrites)),
            ("prettier --write .", Some(Unsuitable::Rewrites)),
            ("vitest run", None),
            ("react-scripts test --watchAll=false", None),
        ];
        for (line, expected) in table {
            assert_eq!(unsuitable(line), expected, "{line}");
        }
    }

    #[test]
    fn the_runner_is_the_program_and_no_part_of_a_word() {
        let table = [
            ("vitest run --coverage", Some("vitest")),
            ("NODE_OPTIONS=--experimental-vm-modules node_modules/.bin/jest", Some("jest")),
            ("node --import tsx --test", Some("node_test")),
            ("nyc mocha 'test/**'", Some("mocha")),
            ("echo jestful", None),
            ("turbo run test", None),
        ];
        for (line, expected) in table {
            assert_eq!(test_runner(line), expected, "{line}");
        }
    }
}
