//! Code that a checker or a compiler does not see any more, although it is still there: moved to where the checker does not
//! look, silenced by a comment that sets a rule, left out of the build by a constraint.
//!
//! Owns where checkers look. Refuses code that is gone. Invariant: a checker that no check uses does not count.

use crate::paths::{directory, extension, matches, name};
use crate::reach::Reach;
use crate::tree::{Tree, text};
use crate::{Change, ChangeKind};

/// A checker, the endings of the files in which it looks by itself, and the files with its settings.
struct Checker {
    program: &'static str,
    endings: &'static [&'static str],
    settings: &'static [&'static str],
    /// Directories in which it never looks.
    skipped: &'static [&'static str],
}

const PYTHON: &[&str] = &["py", "pyi"];
const OF_PYTHON: &[&str] = &[
    ".flake8",
    "setup.cfg",
    "tox.ini",
    "pyproject.toml",
    "ruff.toml",
    ".ruff.toml",
    "mypy.ini",
    ".pylintrc",
    "pyrightconfig.json",
];
const BUILT: &[&str] =
    &["build", "dist", "node_modules", "venv", ".venv", "_build", "buck-out", ".eggs", "site-packages"];
const INSTALLED: &[&str] = &["node_modules", ".git", ".tox", ".eggs"];

#[rustfmt::skip]
const CHECKERS: [Checker; 16] = [
    Checker { program: "ruff", endings: PYTHON, settings: OF_PYTHON, skipped: BUILT },
    Checker { program: "black", endings: PYTHON, settings: OF_PYTHON, skipped: BUILT },
    Checker { program: "flake8", endings: PYTHON, settings: OF_PYTHON, skipped: INSTALLED },
    Checker { program: "pylint", endings: PYTHON, settings: OF_PYTHON, skipped: INSTALLED },
    Checker { program: "mypy", endings: PYTHON, settings: OF_PYTHON, skipped: INSTALLED },
    Checker { program: "pyright", endings: PYTHON, settings: OF_PYTHON, skipped: INSTALLED },
    Checker { program: "bandit", endings: PYTHON, settings: OF_PYTHON, skipped: INSTALLED },
    Checker { program: "eslint", endings: &["js", "mjs", "cjs"], settings: &["eslint.config", ".eslintrc", ".eslintignore", "package.json"], skipped: INSTALLED },
    Checker { program: "tsc", endings: &["ts", "tsx", "mts", "cts"], settings: &["tsconfig"], skipped: INSTALLED },
    Checker { program: "vue-tsc", endings: &["ts", "tsx", "vue"], settings: &["tsconfig"], skipped: INSTALLED },
    Checker { program: "stylelint", endings: &["css", "scss", "less"], settings: &[".stylelint", "stylelint.config"], skipped: INSTALLED },
    Checker { program: "rubocop", endings: &["rb"], settings: &[".rubocop"], skipped: &["vendor", "node_modules"] },
    Checker { program: "phpstan", endings: &["php"], settings: &["phpstan"], skipped: &["vendor"] },
    Checker { program: "shellcheck", endings: &["sh", "bash", "ksh", "bats"], settings: &[], skipped: &[] },
    Checker { program: "golangci-lint", endings: &["go"], settings: &[".golangci"], skipped: &["vendor", "testdata", "third_party"] },
    Checker { program: "vet", endings: &["go"], settings: &[], skipped: &["vendor", "testdata"] },
];

/// What an added file takes out of a checker: it holds what a deleted one held, and the checker does not look there.
pub(crate) fn moved_out(
    path: &str,
    changes: &[Change],
    base: &dyn Tree,
    result: &dyn Tree,
    reach: &Reach,
) -> Option<String> {
    let used: Vec<&Checker> = CHECKERS.iter().filter(|checker| reach.mentions(checker.program)).collect();
    let now = (!used.is_empty()).then(|| text(result, path))??;
    let deleted = changes.iter().filter(|change| change.kind == ChangeKind::Deleted);
    for old in deleted.map(|change| change.path.as_str()) {
        let of_file = |checker: &&&Checker| checker.endings.contains(&extension(old));
        let Some(checker) =
            used.iter().find(|checker| of_file(checker) && is_left(checker, old, path, base, reach))
        else {
            continue;
        };
        if text(base, old).is_some_and(|before| is_most_of(&before, &now)) {
            return Some(format!("takes {old} out of {}", checker.program));
        }
    }
    None
}

/// Whether a text has at least half of the lines of another.
fn is_most_of(before: &str, now: &str) -> bool {
    let lines: Vec<&str> = before.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let kept = lines.iter().filter(|line| now.lines().any(|other| other.trim() == **line)).count();
    !lines.is_empty() && kept * 2 >= lines.len()
}

/// Whether a checker looks at one path, and not at another.
fn is_left(checker: &Checker, old: &str, new: &str, base: &dyn Tree, reach: &Reach) -> bool {
    let is_settings = |path: &&String| checker.settings.iter().any(|known| name(path).starts_with(known));
    let settings: Vec<String> =
        base.files().iter().filter(is_settings).take(20).filter_map(|path| text(base, path)).collect();
    let ending = extension(new);
    let is_named = |text: &String| !ending.is_empty() && text.contains(ending);
    // To move to TypeScript is to move to its own checker.
    let is_typed = matches!(ending, "ts" | "tsx") && reach.mentions("tsc");
    let by_ending = !checker.endings.contains(&ending) && !settings.iter().any(is_named) && !is_typed;
    let fits = |path: &str| reach.globs().any(|glob| matches(glob.trim_start_matches("./"), path));
    let is_skipped = |path: &str| {
        directory(path).split('/').any(|part| checker.skipped.contains(&part))
            || settings.iter().any(|text| is_excluded(text, path))
    };
    let is_given_by_glob = fits(old);
    let by_glob = is_given_by_glob && !fits(new);
    (by_ending && !is_given_by_glob) || by_glob || is_skipped(new) && !is_skipped(old)
}

/// Whether settings name a file, or a directory above it, among what they leave out.
fn is_excluded(settings: &str, path: &str) -> bool {
    const KEYS: [&str; 5] = ["exclude", "ignore", "Exclude", "skip", "omit"];
    let is_between = |letter: char| {
        letter.is_whitespace()
            || matches!(letter, '"' | '\'' | ',' | '=' | ':' | '[' | ']' | '{' | '}' | '|' | '(' | ')')
    };
    let lists = KEYS.iter().flat_map(|key| settings.split(*key).skip(1)).map(|rest| {
        let list = rest.trim_start_matches(|letter: char| {
            letter.is_alphanumeric() || matches!(letter, '-' | '_' | '"' | '\'' | ' ' | '=' | ':')
        });
        // A list in brackets ends with them, another with its line or what is indented below it.
        let length = match list.starts_with('[') {
            true => list.find(']').unwrap_or(list.len()),
            false => indented_length(list),
        };
        list.get(..length).unwrap_or_default()
    });
    let covers = |word: &str| {
        let word = word.trim_start_matches(['^', '.', '/']).trim_end_matches(['$', '*', '/', '.']);
        let word = word.trim_start_matches("**/").trim_end_matches(['/', '*']);
        let is_above = path.strip_prefix(word).is_some_and(|rest| rest.starts_with('/')) || path == word;
        let is_part = !word.contains('/') && directory(path).split('/').any(|part| part == word);
        word.len() > 1 && (is_above || is_part || word.contains('*') && matches(word, path))
    };
    lists.into_iter().any(|list| list.split(is_between).any(covers))
}

fn indented_length(text: &str) -> usize {
    let lines = text.split_inclusive('\n').enumerate();
    lines
        .take_while(|(at, line)| *at == 0 || line.starts_with([' ', '\t', '-']))
        .map(|(_, line)| line.len())
        .sum()
}

/// A comment that sets a rule of a checker for the file so that it does not fail: `/* eslint no-undef: 0 */`.
pub(crate) fn gained_comment(
    ending: &str,
    base: &str,
    now: &str,
    mentions: &dyn Fn(&str) -> bool,
) -> Option<&'static str> {
    let is_read =
        matches!(ending, "js" | "mjs" | "cjs" | "ts" | "mts" | "cts" | "jsx" | "tsx" | "vue" | "svelte");
    let count = |text: &str| -> usize {
        let comments = text.split("/*").skip(1).filter_map(|rest| rest.split("*/").next());
        let rules = comments.filter_map(|comment| {
            comment.trim_start().strip_prefix("eslint").filter(|rest| rest.starts_with(char::is_whitespace))
        });
        let is_off = |setting: &&str| {
            let level = setting.split_once(':').map_or("", |(_, level)| level);
            let level = level.trim().trim_start_matches('[').trim_matches([' ', '"', '\'', ']']);
            level.starts_with('0')
                || level.starts_with('1')
                || level.starts_with("off")
                || level.starts_with("warn")
        };
        rules.map(|rules| rules.split(',').filter(is_off).count()).sum()
    };
    let is_checked = is_read && (mentions("eslint") || mentions("oxlint"));
    (is_checked && count(now) > count(base)).then_some("silences a checker")
}

/// A constraint that leaves a file of Go out of the build, which was a part of it. `is_given` tells whether a check names a tag.
pub(crate) fn left_out_of_build(
    path: &str,
    base: &str,
    now: &str,
    is_given: &dyn Fn(&str) -> bool,
) -> Option<&'static str> {
    let is_source = extension(path) == "go" && !base.is_empty();
    let is_left_out = is_source && is_built(base, is_given) && !is_built(now, is_given);
    is_left_out.then_some("takes the file out of the build")
}

fn is_built(text: &str, is_given: &dyn Fn(&str) -> bool) -> bool {
    let head = text.lines().take_while(|line| !line.trim_start().starts_with("package "));
    let mut constraints = head.filter_map(|line| {
        let line = line.trim();
        line.strip_prefix("//go:build ").map(str::to_string).or_else(|| {
            // Blanks mean `or`, commas `and`.
            let old = line.strip_prefix("// +build ")?;
            Some(old.split_whitespace().map(|part| part.replace(',', "&&")).collect::<Vec<_>>().join("||"))
        })
    });
    constraints.all(|constraint| holds(&constraint, is_given))
}

/// Whether a constraint holds here: `linux && !cgo`, with brackets.
fn holds(constraint: &str, is_given: &dyn Fn(&str) -> bool) -> bool {
    let mut rest: String = constraint.split_whitespace().collect();
    // Brackets from the inside out; what they are is then `1` or `0`.
    while let Some(close) = rest.find(')') {
        let Some(open) = rest.get(..close).and_then(|before| before.rfind('(')) else { break };
        let inner = rest.get(open + 1..close).unwrap_or_default();
        let value = if is_true(inner, is_given) { "1" } else { "0" };
        rest.replace_range(open..=close, value);
    }
    is_true(&rest, is_given)
}

fn is_true(plain: &str, is_given: &dyn Fn(&str) -> bool) -> bool {
    let holds = |tag: &str| {
        let system = match std::env::consts::OS {
            "macos" => "darwin",
            other => other,
        };
        let machine = match std::env::consts::ARCH {
            "x86_64" => "amd64",
            "aarch64" => "arm64",
            other => other,
        };
        matches!(tag, "1" | "unix" | "gc" | "cgo")
            || tag.starts_with("go1.")
            || tag == system
            || tag == machine
            || is_given(tag)
    };
    let is_met = |tag: &str| {
        let signs = tag.len() - tag.trim_start_matches('!').len();
        holds(tag.trim_start_matches('!')) == signs.is_multiple_of(2)
    };
    plain.split("||").any(|all| all.split("&&").all(is_met))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constraints_of_go() {
        let base = "package c\n";
        for (head, expected) in [
            ("//go:build !linux\n\n", true),
            ("//go:build release\n\n", true),
            ("// +build windows darwin\n\n", true),
            ("//go:build linux && (windows || ci)\n\n", true),
            ("//go:build !windows\n\n", false),
            ("//go:build linux || darwin\n\n", false),
            ("//go:build integration\n\n", false),
            ("// A comment.\n", false),
        ] {
            let now = format!("{head}{base}");
            let found = left_out_of_build("a.go", base, &now, &|tag| tag == "integration");
            assert_eq!(found.is_some(), expected, "{head}");
            assert_eq!(left_out_of_build("a.go", &now, &now, &|_| false), None, "{head}");
        }
    }

    #[test]
    fn comments_that_set_rules() {
        for (now, expected) in [
            ("/* eslint no-unused-vars: 0 */", true),
            ("/* eslint a: \"error\", b/c: [\"off\"] */", true),
            ("/*eslint eqeqeq: warn*/", true),
            ("/* eslint no-console: 2 */", false),
            ("/* eslint-env node */", false),
            ("/* global window */", false),
            ("// eslint no-undef: 0", false),
        ] {
            let found = gained_comment("js", "", now, &|program| program == "eslint");
            assert_eq!(found.is_some(), expected, "{now}");
            assert_eq!(gained_comment("js", "", now, &|_| false), None, "{now}");
        }
    }

    #[test]
    fn what_settings_leave_out() {
        for (settings, path, expected) in [
            ("[flake8]\nexclude = pkg/vendored\n", "pkg/vendored/a.py", true),
            (
                "[flake8]\nexclude =\n    old,\n    pkg/vendored\nmax-line-length = 100\n",
                "pkg/vendored/a.py",
                true,
            ),
            ("{\"include\":[\"src\"],\"exclude\":[\"src/legacy\"]}", "src/legacy/a.ts", true),
            ("{\"exclude\":[\"src/legacy\"],\"include\":[\"src\"]}", "src/a.ts", false),
            ("[tool.ruff]\nextend-exclude = [\"*_pb2.py\", \"gen\"]\n", "pkg/gen/a.py", true),
            ("[tool.ruff]\nselect = [\"gen\"]\n", "pkg/gen/a.py", false),
            ("module.exports = [{ ignores: [\"**/legacy/**\"] }]", "src/legacy/a.js", true),
        ] {
            assert_eq!(is_excluded(settings, path), expected, "{settings}");
        }
    }
}
