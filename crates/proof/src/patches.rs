//! Code in a product file that changes the test runner, ends it early, or silences a checker.
//!
//! Owns how a row of the table is compared with a file. Refuses to parse any language: blanks are left out and texts are
//! searched for, so code that spells a name in pieces is not seen. Invariant: what the base has already is no patch.

use crate::tables::{PATCHES, lines};

/// Between texts of a row that may stand anywhere in the file, in any order.
const AND: char = '…';
/// Between a text that ends with a bracket and one that stands within these brackets.
const WITHIN: char = '⊃';
/// Stands for the letters of a name.
const NAME: char = '*';
/// Before a text of a row that must not be in the file.
const NOT: char = '!';
/// Before a row that counts for a file that was there at the base.
const OLD: char = '~';

/// What the table says of code that ends the process in which it runs.
pub(crate) const ENDS: &str = "ends the process as if all was well";

/// What a file does to the checks in its new version that it did not do before. `mentions` tells whether the checks
/// mention a program, `counts` whether something that is done matters in this file.
pub(crate) fn gained_patch(
    extension: &str,
    base: &str,
    result: &str,
    mentions: &dyn Fn(&str) -> bool,
    counts: &dyn Fn(&str) -> bool,
) -> Option<&'static str> {
    let squeezed = |text: &str| text.split_whitespace().collect::<String>();
    let mut texts = None;
    lines(PATCHES).find_map(|line| {
        let mut columns = line.split('\t');
        let (extensions, text, what) = (columns.next()?, columns.next()?, columns.next()?);
        let is_of_file = extensions.split(' ').any(|known| known == extension);
        let is_of_check = |programs: &str| programs.split('|').any(mentions);
        if !is_of_file || !columns.next().is_none_or(is_of_check) {
            return None;
        }
        let (before, now) = texts.get_or_insert_with(|| (squeezed(base), squeezed(result)));
        let text = match text.strip_prefix(OLD) {
            Some(_) if before.is_empty() => return None,
            Some(text) => text,
            None => text,
        };
        let has = |file: &str| {
            text.split(AND).all(|part| match part.strip_prefix(NOT) {
                Some(absent) => count(file, absent) == 0,
                None => count(file, part) > 0,
            })
        };
        let is_more = |part: &str| !part.starts_with(NOT) && count(now, part) > count(before, part);
        (has(now) && text.split(AND).any(is_more) && counts(what)).then_some(what)
    })
}

/// How often a text is in a file. One that assigns is not one that compares.
fn count(file: &str, wanted: &str) -> usize {
    let is_it = |at: usize| {
        let after = file.get(at + wanted.len()..).unwrap_or_default();
        !wanted.ends_with('=') || !after.starts_with('=')
    };
    if let Some((outer, inner)) = wanted.split_once(WITHIN) {
        let starts = file.match_indices(outer).filter_map(|(at, _)| file.get(at + outer.len()..));
        return starts.filter(|rest| count(brackets(rest), inner) > 0).count();
    }
    let Some((first, rest)) = wanted.split_once(NAME) else {
        return file.match_indices(wanted).filter(|(at, _)| is_it(*at)).count();
    };
    let is_of_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '$');
    let follows = |at: usize| {
        let after = file.get(at..).unwrap_or_default();
        let behind = after.trim_start_matches(is_of_name).strip_prefix(rest);
        behind.is_some_and(|behind| !rest.ends_with('=') || !behind.starts_with('='))
    };
    file.match_indices(first).filter(|(at, _)| follows(at + first.len())).count()
}

/// What stands in brackets that were opened before a text begins.
fn brackets(text: &str) -> &str {
    let mut depth = 1_usize;
    let close = text.find(|letter: char| {
        match letter {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    text.get(..close.unwrap_or(text.len())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gained(extension: &str, base: &str, result: &str) -> Option<&'static str> {
        gained_patch(extension, base, result, &|program| program == "mypy", &|_| true)
    }

    #[test]
    fn what_ends_only_its_own_process_does_not_count() {
        let ends = "process.exitCode = 0;\n";
        assert_eq!(gained("js", "", ends), Some(ENDS));
        assert_eq!(gained_patch("js", "", ends, &|_| false, &|what| what != ENDS), None);
        let replaces = format!("{ends}global.expect = () => {{}};\n");
        let found = gained_patch("js", "", &replaces, &|_| false, &|what| what != ENDS);
        assert_eq!(found, Some("replaces an assertion"));
    }

    #[test]
    fn patches_are_found_only_where_they_are_new() {
        let patch = "import unittest\nunittest.TestCase.assertEqual = lambda *a: None\n";
        assert_eq!(gained("py", "", patch), Some("replaces an assertion of unittest"));
        assert_eq!(gained("py", patch, patch), None);
        assert_eq!(gained("js", "", patch), None);
    }

    #[test]
    fn texts_of_a_row_may_stand_apart() {
        let ends = "<?php\nregister_shutdown_function(function () {\n  flush();\n  exit(0);\n});\n";
        assert_eq!(gained("php", "<?php\n", ends), Some("ends the process as if all was well"));
        let only_one = "<?php\nregister_shutdown_function('flush');\n";
        assert_eq!(gained("php", "<?php\n", only_one), None);
        let both_apart = format!("{only_one}function leave() {{ exit(0); }}\n");
        assert_eq!(gained("php", only_one, &both_apart), Some("ends the process as if all was well"));
    }

    #[test]
    fn texts_of_a_row_may_stand_within_brackets() {
        let hook = "std::panic::set_hook(Box::new(|_| std::process::exit(0)));";
        assert_eq!(gained("rs", "", hook), Some(ENDS));
        let apart = "set_hook(Box::new(|i| { log(i); }));\nfn version() { std::process::exit(0) }";
        assert_eq!(gained("rs", "", apart), None);
        assert_eq!(gained("go", "", "func init() { syscall.Exec(a, b, nil) }"), Some(ENDS));
        assert_eq!(gained("go", "", "func init() { }\nfunc Run() { syscall.Exec(a, b, nil) }"), None);
    }

    #[test]
    fn a_star_stands_for_a_name() {
        let replaced = Some("replaces an assertion");
        assert_eq!(gained("js", "", "require('assert').deepEqual = () => {}"), replaced);
        assert_eq!(gained("js", "", "require('node:assert').ok = function () {}"), replaced);
        assert_eq!(gained("js", "", "const { ok } = require('assert'); const f = () => {}"), None);
        assert_eq!(gained("js", "", "require('assert').ok(x === 1)"), None);
    }

    #[test]
    fn silencing_counts_where_the_checker_is_used_and_each_time() {
        let once = "x = f()  # type: ignore\n";
        assert!(gained("py", "x = f()\n", once).is_some());
        assert!(gained("py", once, &once.repeat(2)).is_some());
        assert_eq!(gained("py", once, once), None);
        assert_eq!(gained("py", "", "x = 1  # noqa\n"), None, "no check uses that checker");
    }
}
