//! What a source of product does to the checks.
//!
//! Owns the order in which the ways of reaching for a check are asked. Refuses to know how each of them looks. Invariant: what
//! the base does already is not held against an attempt.

use super::Judge;
use crate::beside::has_word;
use crate::daemons::without_forks;
use crate::handlers::{gained_swallow, without_failing_ends};
use crate::inline::{self, javascript_ends, python_ends, python_handlers};
use crate::moved::{Moves, SILENCES};
use crate::names;
use crate::own_process::{loads, replaces_fork};
use crate::patches::{ENDS, gained_patch};
use crate::paths::{extension, name};
use crate::polyfills::without_polyfills;
use crate::reach::{gained_command, gained_end, gained_setting};
use crate::tree::text;
use crate::unseen::{gained_comment, left_out_of_build};
use crate::{Mix, php, replaced, taken_names};

impl Judge<'_> {
    /// What the product does to the checks in a file of which the tests are taken from the base.
    pub(super) fn beside_tests(&self, path: &str) -> Option<String> {
        let (before, now) = (self.base.read(path), self.result.read(path)?);
        match inline::mixed(path, before.as_deref(), &now) {
            Mix::Parts { text, .. } => self.interference(path, before.as_deref().unwrap_or_default(), &text),
            Mix::Product | Mix::Whole(_) => None,
        }
    }

    /// What a source of product does to the checks that it did not do before.
    pub(super) fn interference(&self, path: &str, before: &[u8], now: &[u8]) -> Option<String> {
        let extension = extension(path);
        let lossy = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes).into_owned();
            let is_forking = text.contains("fork") && !self.changes_that(extension, replaces_fork);
            let text = if is_forking { without_forks(path, &text, self.result) } else { text };
            match extension {
                "py" => names::python::written_out(&text),
                ending if inline::is_javascript(ending) => names::javascript::written_out(&text),
                _ => text,
            }
        };
        let (old, new) = (lossy(before), lossy(now));
        let mentions =
            |program: &str| self.reach.mentions(program) || program == "coverage" && self.demands_coverage();
        if let Some(what) = self.gained_in_table(path, &old, &new, &mentions) {
            return Some(what.to_string());
        }
        if let Some(what) = self.taken(path, &old, &new) {
            return Some(what);
        }
        let is_tested = self.reach.tested.contains(path);
        if is_tested && gained_end(&old, &new) {
            return Some("ends the shell that sources it as if all was well".to_string());
        }
        if let Some(what) = is_tested.then(|| gained_setting(&old, &new)).flatten() {
            return Some(what.to_string());
        }
        let is_shell = matches!(extension, "sh" | "bash") || is_tested;
        let taken = is_shell.then(|| gained_command(&old, &new, &|word| self.reach.mentions(word))).flatten();
        if let Some(command) = taken {
            return Some(format!("takes the place of `{command}`, which a check uses"));
        }
        if extension == "php"
            && let Some(function) = php::replaced(&old, &new, self.users.test_texts("php"))
        {
            return Some(format!("takes the place of `{function}`, which a test calls"));
        }
        let silences = gained_comment(extension, &old, &new, &mentions);
        let left_out = left_out_of_build(path, &old, &new, &|tag| self.reach.mentions(tag));
        let ends = || self.ends(path, &old, &new).then_some(ENDS);
        silences.or(left_out).or_else(ends).map(str::to_string)
    }

    /// What the table of patches finds that was not there before. What was silenced may move, and what is missing in an older
    /// runtime may be filled in.
    fn gained_in_table(
        &self,
        path: &str,
        old: &str,
        new: &str,
        mentions: &dyn Fn(&str) -> bool,
    ) -> Option<&'static str> {
        let extension = extension(path);
        let moves = Moves { changes: self.changes, base: self.base, result: self.result };
        let silenced = |what: &str| what == SILENCES;
        let filled = |text: &str| without_polyfills(extension, text);
        let replaces = |what: &str| what != ENDS && what != SILENCES;
        let ending = |text: &str| without_failing_ends(extension, text);
        let ends = |what: &str| what == ENDS && !self.is_program(path);
        gained_patch(extension, &moves.before(path, old, new), new, mentions, &silenced)
            .or_else(|| gained_patch(extension, &filled(old), &filled(new), mentions, &replaces))
            .or_else(|| gained_patch(extension, &ending(old), &ending(new), mentions, &ends))
    }

    /// Whether the settings of a test runner name how much of the code tests have to reach.
    fn demands_coverage(&self) -> bool {
        const KEYS: [&str; 6] = [
            "coverageThreshold",
            "check-coverage",
            "fail_under",
            "cov-fail-under",
            "minimum_coverage",
            "thresholds",
        ];
        const SETTINGS: [&str; 12] = [
            "package.json",
            "jest.config",
            "vitest.config",
            "vite.config",
            ".nycrc",
            ".c8rc",
            "pyproject.toml",
            "setup.cfg",
            "tox.ini",
            "pytest.ini",
            ".coveragerc",
            ".simplecov",
        ];
        let is_settings = |path: &&String| SETTINGS.iter().any(|known| name(path).starts_with(known));
        let demands = |path: &String| {
            text(self.base, path).is_some_and(|text| KEYS.iter().any(|key| text.contains(key)))
        };
        self.base.files().iter().filter(is_settings).take(50).any(demands)
    }

    /// What a source takes the place of: names that tests use, and what ends a test that fails.
    fn taken(&self, path: &str, old: &str, new: &str) -> Option<String> {
        let ending = extension(path);
        let is_used = |words: &[&str]| {
            let has = |text: &str, word: &str| match word.ends_with('(') {
                true => text.contains(word),
                false => has_word(text, word),
            };
            self.users.test_texts_like(ending).any(|text| words.iter().all(|word| has(text, word)))
        };
        if let Some(what) = replaced::gained(ending, old, new, &is_used) {
            return Some(what);
        }
        match ending {
            "py" => {
                let mut names = taken_names::gained_names(old, new, "sys.modules").into_iter();
                let of_tests = |name: &str| self.users.test_module(&name.replace('.', "/"), "py");
                if let Some(file) = names.find_map(of_tests) {
                    return Some(format!("puts another module in the place of {file}"));
                }
                let name = self.is_star_imported(path).then(|| replaced::star_name(old, new, &is_used))??;
                Some(format!("gives `{name}` to tests that import all of it"))
            }
            "rb" => {
                let method = taken_names::of_ruby(old, new)?;
                Some(format!("takes the place of `{method}`, by which a test fails"))
            }
            "php" => {
                let is_gained = self.users.has_bare_script("php") && gained_swallow(ending, old, new);
                is_gained.then(|| ENDS.to_string())
            }
            "c" | "cc" | "cpp" | "cxx" | "h" | "hh" | "hpp" | "hxx" => {
                let function = taken_names::of_c(old, new, ending.starts_with('h'), &|name| {
                    ["c", "cc", "cpp", "cxx", "h", "hpp"]
                        .iter()
                        .flat_map(|ending| self.users.test_texts(ending))
                        .any(|text| {
                            has_word(text, name) || ABORTS.contains(&name) && has_word(text, "assert")
                        })
                })?;
                Some(format!("takes the place of `{function}`, which a test calls"))
            }
            _ if inline::is_javascript(ending) => {
                if taken_names::gained_cached_module(old, new) {
                    return Some("puts another module in the place of one that is loaded".to_string());
                }
                let is_gained = gained_swallow(ending, old, new) && !self.is_program(path);
                is_gained.then(|| ENDS.to_string())
            }
            _ => None,
        }
    }

    /// Whether a script is run as a program, and still loaded by nobody.
    fn is_program(&self, path: &str) -> bool {
        self.users.is_program(path) && !self.is_loaded_now(path)
    }

    /// Whether a changed source of a language is now one for which something holds.
    fn changes_that(&self, ending: &str, holds: impl Fn(&str) -> bool) -> bool {
        let changed = self.changes.iter().filter(|change| extension(&change.path) == ending);
        changed.filter_map(|change| text(self.result, &change.path)).any(|text| holds(&text))
    }

    /// Whether tests import all of a module of Python, or of one that does.
    fn is_star_imported(&self, path: &str) -> bool {
        let by_tests =
            |path: &str| self.users.test_texts("py").any(|text| replaced::is_star_imported(text, path));
        let passes_on = |other: &&String| {
            extension(other) == "py"
                && other.as_str() != path
                && by_tests(other)
                && text(self.result, other).is_some_and(|text| replaced::is_star_imported(&text, path))
        };
        by_tests(path) || self.result.files().iter().any(|other| passes_on(&other))
    }

    /// Whether a module ends the process in which it is tested. A test runner takes an end in a function for a failure.
    fn ends(&self, path: &str, old: &str, new: &str) -> bool {
        match extension(path) {
            "py" => {
                let is_gained = python_ends::gained_on_import(old, new)
                    || python_handlers::gained(old, new)
                    || python_ends::gained_in_function(old, new) && self.users.has_bare_script("py");
                is_gained && self.users.is_imported(path)
            }
            ending if inline::is_javascript(ending) && !new.starts_with("#!") => {
                // A signal that others send may end the process.
                let (old, new) = (&without_failing_ends(ending, old), &without_failing_ends(ending, new));
                let is_gained = javascript_ends::gained_on_load(old, new)
                    || javascript_ends::gained_in_function(old, new) && self.users.has_bare_script(ending);
                is_gained && !self.is_program(path) && self.is_loaded(path)
            }
            _ => false,
        }
    }

    /// Whether a script of JavaScript is loaded by tests or product, of the base or of the result.
    fn is_loaded(&self, path: &str) -> bool {
        self.users.is_loaded(path) || self.is_loaded_now(path)
    }

    /// Whether a changed script of JavaScript loads another.
    fn is_loaded_now(&self, path: &str) -> bool {
        let changed = self.changes.iter().map(|change| change.path.as_str());
        let mut sources = changed.filter(|changed| inline::is_javascript(extension(changed)));
        sources.any(|source| text(self.result, source).is_some_and(|text| loads(source, &text, path)))
    }
}

/// What an assertion of C calls when it fails.
const ABORTS: [&str; 5] = ["__assert_fail", "__assert", "__assert_rtn", "abort", "raise"];
