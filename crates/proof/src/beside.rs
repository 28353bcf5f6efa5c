//! Files outside the conventional places of tests that only tests use: helpers, data, expectations. And the reverse: product
//! that has the name of a test.
//!
//! Owns who mentions whom at the base. Refuses to resolve imports: a line that imports and has the name of the file counts.
//! Invariant: only the base is asked, so that nothing an agent writes changes the answer.

mod data;
mod words;

pub(crate) use data::with_stars;
pub(crate) use words::{has_word, is_code};

use self::words::{is_import_of, language};
use std::cell::OnceCell;
use std::collections::BTreeSet;

use serde_json::Value;

use crate::ChangeKind;
use crate::compares::compares;
use crate::equality::only_compares;
use crate::inline::{is_javascript, vitest};
use crate::links::Links;
use crate::own_process::loads;
use crate::paths::{directory, extension, join, name, stem};
use crate::reach::{Reach, only_defines};
use crate::tables::{Tables, helper_by_path, helper_by_text};
use crate::tree::{Tree, below, text};

/// Files that are read to find out who uses a file, of each kind.
const MOST_FILES: usize = 3000;
/// Words of tests. A file without any holds none, whatever it is called.
const TEST_WORDS: [&str; 16] = [
    "assert",
    "expect(",
    "unittest",
    "pytest",
    "describe(",
    "it(",
    "test(",
    "def test",
    "class test",
    "fn test",
    "@test",
    "#[test",
    "minitest",
    "rspec",
    "not ok",
    "doctest",
];

/// Who uses what at the base.
pub(crate) struct Users<'a> {
    base: &'a dyn Tree,
    tables: &'a Tables,
    reach: &'a Reach,
    observed: &'a BTreeSet<String>,
    tests: OnceCell<Vec<Source>>,
    products: OnceCell<Vec<Source>>,
    definitions: OnceCell<Vec<Source>>,
    /// Links among the tests.
    links: OnceCell<Links>,
}

struct Source {
    path: String,
    text: String,
}

impl<'a> Users<'a> {
    pub(crate) fn new(
        base: &'a dyn Tree,
        tables: &'a Tables,
        reach: &'a Reach,
        observed: &'a BTreeSet<String>,
    ) -> Self {
        let (tests, products, definitions) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        Self { base, tables, reach, observed, tests, products, definitions, links: OnceCell::new() }
    }

    /// What a file is that looks like product and that only tests use.
    pub(crate) fn helper(&self, path: &str, kind: ChangeKind) -> Option<String> {
        if kind == ChangeKind::Added {
            return None;
        }
        let content = text(self.base, path)?;
        if let Some(what) = self.linked_data(path) {
            return Some(what);
        }
        if let Some(what) = judges(extension(path), &content)
            && !self.is_tool_for_tests(extension(path))
            && !self.is_used(self.products(), path)
        {
            return Some(format!("{what}, and only tests use it"));
        }
        let of_bats = || self.loaded_by_bats(path, &content);
        let what = helper_by_path(path).or_else(|| self.built_into_tests(path)).or_else(of_bats);
        let by_name =
            what.filter(|_| self.is_named_helper(path)).map(|what| format!("{what}: only tests use it"));
        by_name.or_else(|| self.read_by_tests(path))
    }

    /// Whether a file is a helper of tests, or only tests use it and it has words of tests.
    pub(crate) fn is_like_helper(&self, path: &str) -> bool {
        let is_for_tests = || {
            self.is_used(self.tests(), path) && !self.is_used(self.products(), path) && self.holds_tests(path)
        };
        self.helper(path, ChangeKind::Modified).is_some() || is_for_tests()
    }

    /// A library that bats loads, and that does more than define functions to test.
    fn loaded_by_bats(&self, path: &str, content: &str) -> Option<&'static str> {
        let is_load = |line: &str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let at = words.iter().position(|word| matches!(*word, "load" | "bats_load_library"));
            let file = at.and_then(|at| words.get(at + 1)).map(|file| file.trim_matches(['"', '\'']));
            file.is_some_and(|file| stem(file) == stem(path))
        };
        let is_loaded = || {
            let mut tests = self.tests().iter().filter(|source| extension(&source.path) == "bats");
            tests.any(|source| source.text.lines().any(is_load))
        };
        let is_shell = matches!(extension(path), "bash" | "sh");
        (is_shell && is_loaded() && !only_defines(content)).then_some("loaded by bats")
    }

    /// A file that is built into a test is what the test compares with. Documents are tested for what is in them.
    fn built_into_tests(&self, path: &str) -> Option<&'static str> {
        const WORDS: [&str; 3] = ["include_str!", "include_bytes!", "//go:embed"];
        let is_document = matches!(extension(path), "md" | "rst" | "adoc" | "html" | "toml" | "yml" | "yaml");
        let builds_in =
            |line: &str| WORDS.iter().any(|word| line.contains(word)) && has_word(line, name(path));
        let is_built_in = || self.tests().iter().any(|source| source.text.lines().any(builds_in));
        (!is_code(path) && !is_document && is_built_in()).then_some("data that is built into a test")
    }

    /// A file that decides because code that decides reads it by its name: a list of tests to leave out.
    pub(crate) fn read_by_definition(&self, path: &str) -> Option<String> {
        const DATA: [&str; 10] = ["txt", "lst", "list", "json", "yml", "yaml", "toml", "ini", "cfg", ""];
        let is_list = sounds_like_list(name(path));
        let lower = name(path).to_ascii_lowercase();
        let is_schema = ["schema", "openapi", "swagger"].iter().any(|word| lower.contains(word));
        if !DATA.contains(&extension(path)) || is_schema {
            return None;
        }
        let is_quote = |letter: char| matches!(letter, '"' | '\'' | '`');
        let in_quotes = |text: &str| {
            text.match_indices(name(path)).any(|(at, found)| {
                let (before, after) = (text.get(..at), text.get(at + found.len()..));
                before.is_some_and(|before| before.ends_with(|last| is_quote(last) || last == '/'))
                    && after.is_some_and(|after| after.starts_with(is_quote))
            })
        };
        // What a script of a check reads may be what it checks.
        let reads = |source: &&Source| {
            self.is_settings(&source.path) && in_quotes(&source.text)
                || is_list && has_word(&source.text, name(path))
        };
        let by = self.definitions().iter().find(reads)?;
        (!self.is_used(self.products(), path)).then(|| format!("read by {}", by.path))
    }

    /// Whether a file has the name of a test, or is in a directory of such a name, and yet is a part of the product: it holds no
    /// test, and product uses it.
    pub(crate) fn is_product(&self, path: &str, kind: ChangeKind) -> bool {
        if kind == ChangeKind::Added || !is_code(path) || self.is_observed(path) {
            return false;
        }
        if self.holds_tests(path) {
            return self.is_all_of_product(path);
        }
        let Some(top) = self.test_directory(path) else {
            return self.is_used(self.products(), path);
        };
        let is_of_tests = |file: &str| {
            self.is_observed(file)
                || self.tables.test(name(file), ChangeKind::Modified).is_some()
                || is_code(file) && self.holds_tests(file)
        };
        let imports = |source: &Source| source.text.lines().any(|line| is_import_of(line, name(&top)));
        // A package beside this one, in the same package of the product.
        let parent = directory(&top);
        let is_package = self.tables.test(&format!("{parent}/x"), ChangeKind::Modified).is_none()
            && self.base.is_file(&format!("{parent}/__init__.py"));
        let is_beside = |source: &Source| {
            is_package
                && source.path.strip_prefix(parent).is_some_and(|rest| rest.starts_with('/'))
                && !source.path.starts_with(&format!("{top}/"))
                && !is_of_tests(&source.path)
        };
        !below(self.base, &top).any(is_of_tests)
            && (self.products().iter().any(imports)
                || self.tests().iter().any(|source| is_beside(source) && imports(source)))
    }

    /// Whether a file is all that tests can be about: there is no other code, the settings say that tests are elsewhere, and
    /// tests were observed there and not here.
    fn is_all_of_product(&self, path: &str) -> bool {
        let is_given = |directory: &String| path.starts_with(&format!("{directory}/"));
        let is_code_of = |source: &&Source| {
            language(extension(&source.path)) == language(extension(path)) && !source.text.trim().is_empty()
        };
        let has_asserts =
            |text: &str| ["assert", "unittest", "pytest"].iter().any(|word| text.contains(word));
        !self.observed.is_empty()
            && self.test_directory(path).is_none()
            && !self.reach.test_directories.is_empty()
            && !self.reach.test_directories.iter().any(is_given)
            && self.products().iter().find(is_code_of).is_none()
            && text(self.base, path).is_some_and(|text| !has_asserts(&text))
            && self.is_used(self.tests(), path)
    }

    /// The tests of a language.
    pub(crate) fn test_texts(&self, ending: &str) -> impl Iterator<Item = &str> {
        self.tests()
            .iter()
            .filter(move |source| extension(&source.path) == ending)
            .map(|source| source.text.as_str())
    }

    /// The tests of a language with any of its endings.
    pub(crate) fn test_texts_like(&self, ending: &str) -> impl Iterator<Item = &str> {
        self.tests()
            .iter()
            .filter(move |source| language(extension(&source.path)) == language(ending))
            .map(|source| source.text.as_str())
    }

    /// Whether tests or product load a script of JavaScript.
    pub(crate) fn is_loaded(&self, path: &str) -> bool {
        let mut sources = self.tests().iter().chain(self.products());
        sources
            .any(|source| is_javascript(extension(&source.path)) && loads(&source.path, &source.text, path))
    }

    /// Whether a module is imported, rather than run; one that the base does not have may be.
    pub(crate) fn is_imported(&self, path: &str) -> bool {
        !self.base.is_file(path) || self.is_used(self.tests(), path) || self.is_used(self.products(), path)
    }

    /// Whether a script of JavaScript is a program: tests name it, and neither code nor a manifest loads it.
    pub(crate) fn is_program(&self, path: &str) -> bool {
        let is_named = || self.tests().iter().any(|source| has_word(&source.text, name(path)));
        let without = path.rsplit_once('.').map_or(path, |(before, _)| before);
        let is_entry = |manifest: &String| {
            let here = directory(manifest);
            let read = text(self.base, manifest).and_then(|text| serde_json::from_str::<Value>(&text).ok());
            let entries = ["main", "module", "exports", "imports", "browser"];
            let values = entries.iter().filter_map(|key| Some(read.as_ref()?.get(*key)?.to_string()));
            let leads_to = |target: &str| match target.split_once('*') {
                Some((before, _)) => join(here, before).is_some_and(|before| path.starts_with(&before)),
                None => join(here, target).is_some_and(|target| target == path || target == without),
            };
            values.into_iter().any(|value| value.split('"').skip(1).step_by(2).any(leads_to))
        };
        let mut manifests = self.base.files().iter().filter(|path| name(path) == "package.json");
        is_javascript(extension(path))
            && self.base.is_file(path)
            && is_named()
            && !self.is_loaded(path)
            && !manifests.any(is_entry)
    }

    /// A test, or a helper of tests, by the path of its module without ending.
    pub(crate) fn test_module(&self, module: &str, ending: &str) -> Option<String> {
        let file = format!("{module}.{ending}");
        let is_it = |path: &&String| {
            path.strip_suffix(file.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        };
        let is_of_tests =
            |path: &&String| self.is_test(path) || self.helper(path, ChangeKind::Modified).is_some();
        self.base.files().iter().filter(is_it).find(is_of_tests).cloned()
    }

    /// Whether tests of Ruby or Perl load a library by its name, rather than by its place.
    pub(crate) fn tests_require(&self, ending: &str, feature: &str) -> bool {
        let loads = |line: &str| {
            let line = line.trim_start();
            match ending {
                "rb" => {
                    let name = line.strip_prefix("require").and_then(|rest| rest.split(['"', '\'']).nth(1));
                    !line.starts_with("require_relative") && name == Some(feature)
                }
                _ => {
                    let module = feature.replace('/', "::");
                    ["use ", "require "].iter().any(|word| line.contains(word)) && has_word(line, &module)
                }
            }
        };
        let is_of_language = |source: &&Source| match ending {
            "rb" => extension(&source.path) == "rb",
            _ => matches!(extension(&source.path), "t" | "pl" | "pm"),
        };
        let scripts = self.read(&|path| extension(path) == "t");
        let mut sources = self.tests().iter().chain(&scripts).filter(is_of_language);
        sources.any(|source| source.text.lines().any(loads))
    }

    /// Whether a check runs a script of a language that tests without a test runner.
    pub(crate) fn has_bare_script(&self, ending: &str) -> bool {
        let runners = ["unittest", "pytest", "doctest", "nose", "PHPUnit"];
        let uses_runner = |text: &str| runners.iter().any(|word| text.contains(word));
        self.definitions().iter().any(|source| {
            extension(&source.path) == ending
                && self.reach.definitions.contains_key(&source.path)
                && !uses_runner(&source.text)
        })
    }

    /// Whether tests of Elixir run the examples in the product's documentation.
    pub(crate) fn runs_examples(&self) -> bool {
        let runs = |source: &Source| source.text.lines().any(|line| line.trim().starts_with("doctest"));
        self.tests().iter().any(|source| extension(&source.path) == "exs" && runs(source))
    }

    fn is_observed(&self, path: &str) -> bool {
        self.observed.contains(path)
            || self.reach.tests.contains(path)
            || self.reach.definitions.contains_key(path)
    }

    fn holds_tests(&self, path: &str) -> bool {
        let lower = text(self.base, path).unwrap_or_default().to_lowercase();
        // `split(` is not `it(`.
        let begins = |at: usize| {
            let before = lower.get(..at).and_then(|text| text.chars().next_back());
            !before.is_some_and(|letter| letter.is_alphanumeric() || letter == '_')
        };
        TEST_WORDS.iter().any(|word| lower.match_indices(word).any(|(at, _)| begins(at)))
    }

    /// The topmost directory of a path that has the name of one of tests.
    fn test_directory(&self, path: &str) -> Option<String> {
        let ends = path.match_indices('/').map(|(at, _)| at);
        let mut directories = ends.filter_map(|end| path.get(..end));
        let is_of_tests =
            |directory: &&str| self.tables.test(&format!("{directory}/x"), ChangeKind::Modified).is_some();
        directories.find(is_of_tests).map(str::to_string)
    }

    /// Whether much of the product uses a test runner, as a plugin for one does.
    fn is_tool_for_tests(&self, ending: &str) -> bool {
        let same = || self.products().iter().filter(|source| extension(&source.path) == ending);
        let using = same().filter(|source| judges(ending, &source.text).is_some()).count();
        using * 2 > same().count()
    }

    fn is_used(&self, by: &[Source], path: &str) -> bool {
        by.iter().filter(|source| source.path != path).any(|source| mentions(source, path))
    }

    fn tests(&self) -> &[Source] {
        self.tests.get_or_init(|| self.read(&|path| self.is_test(path)))
    }

    fn products(&self) -> &[Source] {
        self.products.get_or_init(|| {
            self.read(&|path| {
                is_code(path)
                    && !self.is_test(path)
                    && !self.reach.definitions.contains_key(path)
                    && self.tables.definition(path, ChangeKind::Modified, &|_| true).is_none()
            })
        })
    }

    /// Code that decides what a check does: settings of test runners that are code, scripts that a check runs.
    fn definitions(&self) -> &[Source] {
        let decides = |path: &str| self.reach.definitions.contains_key(path) || self.is_settings(path);
        self.definitions.get_or_init(|| self.read(&|path| is_code(path) && decides(path)))
    }

    /// Whether a file holds settings of a test runner.
    fn is_settings(&self, path: &str) -> bool {
        const RUNNERS: [&str; 8] =
            ["conftest", "jest", "vitest", "mocha", "karma", "playwright", "cypress", "noxfile"];
        RUNNERS.iter().any(|runner| name(path).contains(runner))
            && self.tables.definition(path, ChangeKind::Modified, &|_| true).is_some()
    }

    fn is_test(&self, path: &str) -> bool {
        let holds_product = || {
            is_javascript(extension(path))
                && text(self.base, path).is_some_and(|text| vitest::holds_tests(&text))
        };
        self.observed.contains(path) && !holds_product()
            || self.reach.tests.contains(path)
            || is_code(path) && self.tables.test(path, ChangeKind::Modified).is_some()
            || self.reach.definitions.contains_key(path) && is_code(path)
    }

    fn read(&self, is_wanted: &dyn Fn(&str) -> bool) -> Vec<Source> {
        let wanted = self.base.files().iter().filter(|path| is_wanted(path)).take(MOST_FILES);
        let source = |path: &String| Some(Source { path: path.clone(), text: text(self.base, path)? });
        wanted.filter_map(source).collect()
    }
}

/// Whether a file's name is that of a list of tests that are left out, or whose failures are ignored.
fn sounds_like_list(name: &str) -> bool {
    const WORDS: [&str; 12] = [
        "quarantine",
        "skip",
        "ignore",
        "xfail",
        "known",
        "flaky",
        "exclude",
        "disabled",
        "deselect",
        "allowed",
        "allowlist",
        "denylist",
    ];
    let lower = name.to_ascii_lowercase();
    WORDS.iter().any(|word| lower.contains(word))
}

/// What a source does that only tests do.
pub(crate) fn judges(ending: &str, content: &str) -> Option<&'static str> {
    helper_by_text(ending, content).or_else(|| {
        (is_code(&format!("x.{ending}")) && compares(ending, content))
            .then_some("compares two values and complains")
            .or_else(|| only_compares(ending, content).then_some("only compares two values"))
    })
}

/// Whether a source loads or reads a file: it has the file's name, a line that imports its module, or its directory in quotes.
fn mentions(source: &Source, path: &str) -> bool {
    let directory = name(directory(path));
    if !is_code(path) {
        let in_quotes = |text: &str| {
            let text = text.trim_end_matches('/');
            !directory.is_empty() && (text == directory || text.ends_with(&format!("/{directory}")))
        };
        return has_word(&source.text, name(path))
            || source.text.split(['"', '\'', '`']).skip(1).step_by(2).any(in_quotes)
            || has_glob_of(&source.text, path);
    }
    imports_module(&source.path, &source.text, path)
}

/// Whether a source has a line that imports the module of a file.
pub(crate) fn imports_module(source: &str, text: &str, path: &str) -> bool {
    let is_index = matches!(stem(path), "__init__" | "index" | "mod" | "__main__");
    // A package of Go or Java is imported as a directory.
    let module = if is_index || matches!(extension(path), "go") { name(directory(path)) } else { stem(path) };
    language(extension(path)) == language(extension(source))
        && text.lines().any(|line| is_import_of(line, module))
}

/// Whether a text has a glob in the directory of a file, as `examples/*.in`: a file beside what it finds may be found from it.
fn has_glob_of(text: &str, path: &str) -> bool {
    let here = directory(path);
    let is_between = |letter: char| {
        letter.is_whitespace() || matches!(letter, '"' | '\'' | '`' | '(' | ')' | ';' | ',' | '|')
    };
    let mut globs = text.split(is_between).filter_map(|word| word.split_once("/*"));
    !here.is_empty()
        && globs.any(|(before, _)| {
            let before = before.trim_start_matches("./").trim_start_matches("../");
            before == here || before.starts_with('$') && before.ends_with(&format!("/{here}"))
        })
}
