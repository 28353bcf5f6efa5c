//! What the checks' commands run, transitively, in the base's tree.
//!
//! Owns the walk: commands, the scripts they start, what these source, targets of make, scripts of packages, settings of
//! test runners. What a command merely looks at is not reached. Invariant: the walk ends, since no file is read twice and its
//! depth is bounded.

mod arguments;
mod claims;
mod configs;
mod dynamic;
mod imports;
mod inputs;
mod literals;
mod loading;
mod make;
mod packages;
mod programs;
mod shell;
mod shell_functions;
mod walk;

pub(crate) use arguments::glob_fits;
pub(crate) use shell_functions::{gained_command, gained_end, gained_setting, only_defines};

use std::collections::{BTreeMap, BTreeSet};

use crate::CheckCommand;
use crate::links::{Followed, Links};
use crate::tree::Tree;

/// All that the checks reach.
#[derive(Debug, Default)]
pub(crate) struct Reach {
    /// Files that decide what a check does, and why.
    pub(crate) definitions: BTreeMap<String, String>,
    /// Files that a test runner is given.
    pub(crate) tests: BTreeSet<String>,
    /// Directories that a test runner is given.
    pub(crate) test_directories: BTreeSet<String>,
    /// Files that a command names and the base does not have: to make them is the work.
    pub(crate) named: BTreeSet<String>,
    /// Files that the base does not have and that would be loaded if they were there, and why.
    pub(crate) looked_for: BTreeMap<String, String>,
    /// Shell libraries that a script loads in order to test them.
    pub(crate) tested: BTreeSet<String>,
    /// Programs that are started by their names.
    pub(crate) programs: BTreeSet<String>,
    /// Directories in which programs are looked for.
    pub(crate) program_directories: BTreeSet<String>,
    /// Directories in which modules are looked for.
    pub(crate) import_roots: BTreeSet<String>,
    /// All text of commands and scripts.
    text: String,
    visited: BTreeSet<String>,
}

impl Reach {
    pub(crate) fn new(checks: &[CheckCommand], base: &dyn Tree) -> Self {
        let links = Links::new(base);
        if links.is_empty() {
            return Self::of(checks, base);
        }
        let mut reach = Self::of(checks, &Followed::new(base, &links));
        reach.follow(&links);
        reach
    }

    fn of(checks: &[CheckCommand], base: &dyn Tree) -> Self {
        let mut reach = Self::default();
        for check in checks {
            walk::walk_command(&mut reach, base, check);
        }
        configs::read_settings(&mut reach, base, checks);
        loading::follow(&mut reach, base);
        reach
    }

    /// What is reached through a link is reached under its own name, and the link decides, too.
    fn follow(&mut self, links: &Links) {
        for (path, why) in self.definitions.clone() {
            let (file, passed) = links.followed(&path);
            for link in passed {
                self.define(link, &format!("a link on the way to what is {why}"));
            }
            self.define(file, &why);
        }
        for path in self.tests.clone() {
            self.tests.insert(links.followed(&path).0);
        }
        for path in self.test_directories.clone() {
            self.test_directories.insert(links.followed(&path).0);
        }
    }

    /// Whether a word stands in what is run.
    pub(crate) fn mentions(&self, word: &str) -> bool {
        let is_part =
            |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
        self.text.match_indices(word).any(|(at, _)| {
            let before = self.text.get(..at).and_then(|text| text.chars().next_back());
            let after = self.text.get(at + word.len()..).and_then(|text| text.chars().next());
            !is_part(before) && !is_part(after) && after != Some('-')
        })
    }

    /// The globs in what is run.
    pub(crate) fn globs(&self) -> impl Iterator<Item = &str> {
        let is_between = |letter: char| {
            letter.is_whitespace() || matches!(letter, '"' | '\'' | '`' | '(' | ')' | ';' | ',' | '|')
        };
        self.text.split(is_between).filter(|word| word.contains('*') && !word.starts_with('-'))
    }

    /// Whether examples in documentation are run.
    pub(crate) fn runs_doctests(&self) -> bool {
        self.text.contains("doctest")
    }

    /// Whether what is in a variable is run as a command.
    fn runs_variable(&self, name: &str) -> bool {
        let forms =
            [format!("\"${name}"), format!("${name}"), format!("\"${{{name}}}"), format!("${{{name}}}")];
        let runs = |form: &String| {
            ["eval ", "-c ", "-ec ", "\n"].iter().any(|before| self.text.contains(&format!("{before}{form}")))
        };
        forms.iter().any(runs)
    }

    fn note_text(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn define(&mut self, path: String, why: &str) {
        self.definitions.entry(path).or_insert_with(|| why.to_string());
    }

    /// Whether a file is visited for the first time.
    fn visit(&mut self, what: &str) -> bool {
        self.visited.len() < 2000 && self.visited.insert(what.to_string())
    }
}
