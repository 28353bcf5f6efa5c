//! The tables of paths, packages and patches, read out of the data files of this crate.
//!
//! Owns the format: lines of columns between tabs, `#` for comments. Refuses to decide: a row says what it matches and what
//! that does. A line that has too few columns is left out, and a test fails on it.

use crate::ChangeKind;
use crate::links::Links;
use crate::paths::{directory, matches, name};

const TESTS: &str = include_str!("../data/tests.txt");
const DEFINITIONS: &str = include_str!("../data/definitions.txt");
const PACKAGES: &str = include_str!("../data/packages.txt");
const MODULES: &str = include_str!("../data/modules.txt");
pub(crate) const PATCHES: &str = include_str!("../data/patches.txt");
const HELPERS: &str = include_str!("../data/helpers.txt");

struct Row {
    programs: &'static str,
    glob: &'static str,
    /// The last part of the glob, which the name of a file must match.
    last: &'static str,
    what: &'static str,
    beside: Option<&'static str>,
}

impl Row {
    /// Whether the ends of a file's name do not rule the row out. Every file of a tree is compared with every row.
    fn may_match(&self, name: &str) -> bool {
        let is_open = |letter: Option<&u8>| letter.is_none_or(|letter| matches!(letter, b'*' | b'?' | b'['));
        let (last, name) = (self.last.as_bytes(), name.as_bytes());
        let fits = |wanted: Option<&u8>, found: Option<&u8>| is_open(wanted) || wanted == found;
        fits(last.first(), name.first()) && fits(last.last(), name.last())
    }
}

/// The tables that concern a set of checks.
pub(crate) struct Tables {
    tests: Vec<Row>,
    definitions: Vec<Row>,
    /// Links that are directories of tests.
    links: Links,
}

impl Tables {
    /// The rows for checks that mention certain programs.
    pub(crate) fn new(mentions: &dyn Fn(&str) -> bool) -> Self {
        let relevant = |table: &'static str| {
            rows(table).filter(|row| row.programs == "*" || row.programs.split('|').any(mentions)).collect()
        };
        Self { tests: relevant(TESTS), definitions: relevant(DEFINITIONS), links: Links::default() }
    }

    /// The same with the links of a tree that are directories of tests: what they lead to is a test.
    pub(crate) fn with_links(mut self, links: &Links) -> Self {
        let is_test = |path: &str| find(&self.tests, path, ChangeKind::Modified, &|_| true).is_some();
        self.links = links.only(|link| !is_test(link) && is_test(&format!("{link}/x")));
        self
    }

    /// What kind of test a path is by its name.
    pub(crate) fn test(&self, path: &str, kind: ChangeKind) -> Option<&'static str> {
        let by_name = |path: &str| find(&self.tests, path, kind, &|_| true);
        by_name(path).or_else(|| self.links.names(path).find_map(|(_, name)| by_name(&name)))
    }

    /// What a path does to checks by its name.
    pub(crate) fn definition(
        &self,
        path: &str,
        kind: ChangeKind,
        is_file: &dyn Fn(&str) -> bool,
    ) -> Option<&'static str> {
        find(&self.definitions, path, kind, is_file)
    }
}

fn find(rows: &[Row], path: &str, kind: ChangeKind, is_file: &dyn Fn(&str) -> bool) -> Option<&'static str> {
    let own = name(path);
    let is_it = |row: &&Row| {
        let (glob, applies) = match row.glob.strip_prefix('~') {
            Some(glob) => (glob, kind != ChangeKind::Added),
            None => (row.glob, true),
        };
        let beside = |name: &str| match directory(path) {
            "" => is_file(name),
            parent => is_file(&format!("{parent}/{name}")),
        };
        applies && row.may_match(own) && matches(glob, path) && row.beside.is_none_or(beside)
    };
    rows.iter().find(is_it).map(|row| row.what)
}

pub(crate) fn lines(table: &'static str) -> impl Iterator<Item = &'static str> {
    table.lines().filter(|line| !line.starts_with('#') && !line.is_empty())
}

fn rows(table: &'static str) -> impl Iterator<Item = Row> {
    lines(table).filter_map(|line| {
        let mut columns = line.split('\t').skip(1);
        let (programs, glob) = (columns.next()?, columns.next()?);
        Some(Row {
            programs,
            glob,
            last: name(glob.trim_start_matches('~')),
            what: columns.next()?,
            beside: columns.next(),
        })
    })
}

/// Whether a table of names has one for a language.
fn has_name(table: &'static str, language: &str, name: &str) -> bool {
    lines(table).filter_map(|line| line.split_once('\t')).any(|(of, names)| {
        of == language && names.split_whitespace().any(|known| known.eq_ignore_ascii_case(name))
    })
}

/// The headers of the C library and of test frameworks.
pub(crate) fn header_names() -> impl Iterator<Item = &'static str> {
    let headers = lines(MODULES).filter_map(|line| line.strip_prefix("header\t"));
    headers.flat_map(str::split_whitespace)
}

/// Whether a package is a test runner, or one that test runners load.
pub(crate) fn is_test_package(language: &str, name: &str) -> bool {
    has_name(PACKAGES, language, name)
}

/// Whether a package of any language is a test runner's.
pub(crate) fn is_any_test_package(name: &str) -> bool {
    lines(PACKAGES)
        .filter_map(|line| line.split_once('\t'))
        .any(|(_, names)| names.split_whitespace().any(|known| known == name))
}

pub(crate) fn is_standard_module(language: &str, name: &str) -> bool {
    lines(MODULES)
        .filter_map(|line| line.split_once('\t'))
        .any(|(of, names)| of == language && names.split_whitespace().any(|known| known == name))
}

/// What a file is by its name, if only tests use it.
pub(crate) fn helper_by_path(path: &str) -> Option<&'static str> {
    lines(HELPERS)
        .filter_map(|line| line.strip_prefix("path\t")?.split_once('\t'))
        .find_map(|(glob, what)| matches(glob, path).then_some(what))
}

/// Which tool of tests a file uses.
pub(crate) fn helper_by_text(extension: &str, text: &str) -> Option<&'static str> {
    let mut squeezed = None;
    lines(HELPERS).find_map(|line| {
        let mut columns = line.split('\t');
        let (extensions, wanted, what) = (columns.next()?, columns.next()?, columns.next()?);
        if !extensions.split(' ').any(|known| known == extension) {
            return None;
        }
        let squeezed = squeezed.get_or_insert_with(|| text.split_whitespace().collect::<String>());
        squeezed.contains(wanted).then_some(what)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_has_its_columns() {
        for (table, columns) in
            [(TESTS, 4), (DEFINITIONS, 4), (PACKAGES, 2), (MODULES, 2), (PATCHES, 3), (HELPERS, 3)]
        {
            for line in lines(table) {
                assert!(line.split('\t').count() >= columns, "{line}");
                assert!(line.split('\t').all(|column| !column.is_empty()), "{line}");
            }
        }
        assert!(rows(TESTS).count() > 100 && rows(DEFINITIONS).count() > 200);
    }
}
