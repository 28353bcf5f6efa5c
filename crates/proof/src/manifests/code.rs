//! Manifests that are code or lists of lines: `go.mod`, `Gemfile`, `setup.py`, `build.gradle`, makefiles.
//!
//! Owns which changed lines are product (a dependency, a source file in a list) by how they look. Refuses to run or to parse
//! the languages. Invariant: a changed line that does not look like product is taken from the base.

use std::sync::LazyLock;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::substitution::is_substitution;
use crate::Mix;
use crate::paths::extension;
use crate::tables::{Tables, is_any_test_package};

/// Which names are tests, whatever the checks run.
static TABLES: LazyLock<Tables> = LazyLock::new(|| Tables::new(&|_| false));

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    GoMod,
    Gemfile,
    Requirements,
    SetupPy,
    Mix,
    Gradle,
    Makefile,
    SourceList,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    Product,
    Definition,
    /// Blank, a comment, or brackets alone.
    Neutral,
}

/// The attempt's file with the base's lines where the changed ones are definitions.
pub(super) fn mixed(kind: Kind, base: &str, now: &str) -> Mix {
    let (before, after): (Vec<&str>, Vec<&str>) =
        (base.split_inclusive('\n').collect(), now.split_inclusive('\n').collect());
    let mut text = String::new();
    let mut changed = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, &before, &after) {
        let old = before.get(op.old_range()).unwrap_or_default();
        let new = after.get(op.new_range()).unwrap_or_default();
        match op {
            DiffOp::Equal { .. } => new.iter().for_each(|line| push(&mut text, line)),
            DiffOp::Delete { .. } | DiffOp::Insert { .. } | DiffOp::Replace { .. } => {
                mix_hunk(kind, base, old, new, &mut text, &mut changed);
            }
        }
    }
    if changed.is_empty() {
        return Mix::Product;
    }
    changed.dedup();
    Mix::Parts { text: text.into_bytes(), changed }
}

fn push(text: &mut String, line: &str) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(line);
}

fn mix_hunk(
    kind: Kind,
    base: &str,
    old: &[&str],
    new: &[&str],
    text: &mut String,
    changed: &mut Vec<String>,
) {
    let class_of_old = |line: &&str| classify(kind, line, None);
    let class_of_new = |line: &&str| classify(kind, line, Some(base));
    let is_definition = |line: &&&str, class: &dyn Fn(&&str) -> Line| class(line) == Line::Definition;
    let definitions: Vec<&&str> = old
        .iter()
        .filter(|line| is_definition(line, &class_of_old))
        .chain(new.iter().filter(|line| is_definition(line, &class_of_new)))
        .collect();
    if definitions.is_empty() {
        new.iter().for_each(|line| push(text, line));
        return;
    }
    changed.extend(definitions.first().map(|line| format!("line `{}`", line.trim())));
    let is_neutral = |line: &&str| classify(kind, line, None) == Line::Neutral && !line.trim().is_empty();
    if old.iter().chain(new).any(is_neutral) {
        old.iter().for_each(|line| push(text, line));
        return;
    }
    let replaced = |line: &&&str| {
        // A dependency that was replaced comes back, though by itself it is product.
        let name = dependency_name(line);
        class_of_old(line) == Line::Definition
            || !matches!(kind, Kind::Makefile | Kind::SourceList)
                && !name.is_empty()
                && new
                    .iter()
                    .any(|other| class_of_new(other) == Line::Definition && dependency_name(other) == name)
    };
    old.iter().filter(replaced).for_each(|line| push(text, line));
    new.iter().filter(|line| class_of_new(line) != Line::Definition).for_each(|line| push(text, line));
}

fn classify(kind: Kind, line: &str, compared: Option<&str>) -> Line {
    let trimmed = line.trim();
    let comment = match kind {
        Kind::GoMod | Kind::Gradle => "//",
        Kind::Gemfile
        | Kind::Requirements
        | Kind::SetupPy
        | Kind::Mix
        | Kind::Makefile
        | Kind::SourceList => "#",
    };
    if trimmed.trim_matches(['(', ')', '[', ']', '{', '}', ',', ';', ' ']).is_empty()
        || trimmed.starts_with(comment)
        || kind == Kind::GoMod && matches!(trimmed, "replace (" | "require (")
    {
        return Line::Neutral;
    }
    if kind == Kind::GoMod && compared.is_some_and(|base| adds_module(base, trimmed)) {
        return Line::Product;
    }
    if compared.is_some_and(|base| replaces_dependency(base, trimmed)) {
        return Line::Definition;
    }
    let is_product = match kind {
        Kind::GoMod => {
            let is_directive =
                ["replace", "exclude", "retract", "toolchain", "tool", "godebug", "ignore"].iter().any(
                    |word| trimmed.strip_prefix(word).is_some_and(|rest| rest.starts_with([' ', '(', '\t'])),
                );
            !is_directive && !trimmed.contains("=>")
        }
        Kind::Gemfile => is_gem(trimmed),
        Kind::Requirements => {
            !trimmed.starts_with('-') && !trimmed.starts_with(['.', '/']) || trimmed.starts_with("-r")
        }
        Kind::SetupPy => is_setup_argument(trimmed),
        Kind::Mix => {
            trimmed.trim_start_matches('[').starts_with("{:") && trimmed.contains('"') || is_metadata(trimmed)
        }
        Kind::Gradle => is_gradle_dependency(trimmed),
        Kind::Makefile => is_source_list(trimmed),
        Kind::SourceList => is_source_list(trimmed) || is_metadata(trimmed),
    };
    if is_product { Line::Product } else { Line::Definition }
}

/// Whether a line of `go.mod` says where a module is that the base does not have. Since Go 1.17, the file names all modules
/// that are built, so that nothing could have loaded it.
fn adds_module(base: &str, line: &str) -> bool {
    let words = |line: &str| line.split_whitespace().map(str::to_string).collect::<Vec<_>>();
    let names_all = base.lines().map(words).any(|line| match line.as_slice() {
        [go, version, ..] if go == "go" => {
            let mut parts = version.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
            (parts.next(), parts.next()) >= (Some(1), Some(17))
        }
        _ => false,
    });
    let module = line.strip_prefix("replace").unwrap_or(line).split_whitespace().next().unwrap_or_default();
    let is_known = base.lines().flat_map(words).any(|word| word == module);
    names_all && line.contains("=>") && !module.is_empty() && !is_known && !is_any_test_package(module)
}

/// Whether a line takes the code of a dependency that the base names from somewhere else.
fn replaces_dependency(base: &str, line: &str) -> bool {
    let name = dependency_name(line);
    let old = base.lines().find(|old| dependency_name(old) == name && old.trim() != line);
    let known = old.unwrap_or_default();
    !name.is_empty() && (old.is_some() || is_any_test_package(&name)) && is_substitution(known, line)
}

/// The name in `gem 'x'`, `{:x, …}`, `x==1`, `x @ file:`, `implementation "g:x:1"`.
fn dependency_name(line: &str) -> String {
    let line = line.trim().trim_start_matches(['{', '[', ':', '"', '\'']);
    let behind = ["gem ", "gem(", "s.add_dependency ", "spec.add_dependency "]
        .iter()
        .find_map(|word| line.strip_prefix(word))
        .unwrap_or(line)
        .trim_start_matches(['"', '\'', ' ']);
    let is_of_name = |letter: &char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | '/');
    behind.chars().take_while(is_of_name).collect()
}

fn is_gem(line: &str) -> bool {
    let words = ["gem ", "gem(", "source ", "ruby ", "group ", "platforms ", "end"];
    let is_specification = line.contains("dependency") || is_metadata(line);
    // A gem with a block or a condition is code.
    (words.iter().any(|word| line.starts_with(word)) || line == "gemspec" || is_specification)
        && !["system(", "`", "require_relative", "eval", ";"].iter().any(|word| line.contains(word))
}

fn is_setup_argument(line: &str) -> bool {
    let lists = [
        "install_requires",
        "tests_require",
        "extras_require",
        "setup_requires",
        "packages",
        "python_requires",
    ];
    let is_list = lists.iter().any(|word| line.trim_start_matches(['"', '\'']).starts_with(word));
    is_list && !line.contains("pytest11") || is_requirement(line) || is_metadata(line)
}

/// A quoted requirement, or several: `"requests>=2",`.
fn is_requirement(line: &str) -> bool {
    let inner = line.trim_matches(['[', ']', ',', ' ']);
    let is_one = |part: &str| {
        let part = part.trim().trim_matches(['"', '\'']);
        !part.is_empty()
            && part.starts_with(|first: char| first.is_ascii_alphanumeric())
            && part
                .chars()
                .all(|letter| letter.is_ascii_alphanumeric() || "-_.[]<>=!~;,* '\"".contains(letter))
            && !part
                .replace("==", "")
                .replace("<=", "")
                .replace(">=", "")
                .replace("~=", "")
                .replace("!=", "")
                .contains('=')
    };
    inner.starts_with(['"', '\'']) && inner.split(',').filter(|part| !part.trim().is_empty()).all(is_one)
}

fn is_metadata(line: &str) -> bool {
    let name: String =
        line.chars().take_while(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '.')).collect();
    let name = name.rsplit('.').next().unwrap_or_default();
    [
        "version",
        "name",
        "author",
        "author_email",
        "description",
        "long_description",
        "license",
        "licenses",
        "url",
        "summary",
        "homepage",
        "classifiers",
        "keywords",
        "email",
        "maintainer",
        "source_url",
        "docs",
        "group",
    ]
    .contains(&name)
        && !line.contains("__import__")
        && !line.contains("exec")
}

fn is_gradle_dependency(line: &str) -> bool {
    const WORDS: [&str; 19] = [
        "implementation",
        "api",
        "compileOnly",
        "runtimeOnly",
        "testImplementation",
        "testCompileOnly",
        "testRuntimeOnly",
        "annotationProcessor",
        "testAnnotationProcessor",
        "kapt",
        "ksp",
        "classpath",
        "androidTestImplementation",
        "debugImplementation",
        "developmentOnly",
        "libraryDependencies",
        "version",
        "group",
        "description",
    ];
    let rest = WORDS
        .iter()
        .filter_map(|word| line.strip_prefix(word))
        .find(|rest| rest.starts_with(['(', ' ', '=', '+']));
    rest.is_some_and(|rest| !["files(", "fileTree", "exclude", "{"].iter().any(|word| rest.contains(word)))
}

/// A line that only names sources: `SRCS = a.c b.c`, `app: main.o util.o`, `src/a.cpp`, `add_library(x a.c)`.
fn is_source_list(line: &str) -> bool {
    const SOURCES: [&str; 24] = [
        "c", "cc", "cpp", "cxx", "h", "hpp", "hh", "o", "obj", "s", "S", "asm", "m", "mm", "f90", "cu",
        "swift", "zig", "ml", "d", "java", "rs", "go", "proto",
    ];
    let (name, values) = line.split_once(['=', ':', '(']).unwrap_or(("", line));
    let name = name.trim().trim_end_matches(['+', ':', '?']).trim();
    let lower = name.to_ascii_lowercase();
    let is_test_name =
        ["test", "check", "verify", "lint", "spec", "all"].iter().any(|word| lower.contains(word));
    let is_call = [
        "add_library",
        "add_executable",
        "target_sources",
        "find_package",
        "target_link_libraries",
        "target_include_directories",
        "library",
        "executable",
        "dependency",
        "include_directories",
        "files",
        "srcs",
    ]
    .contains(&lower.as_str());
    // Any other variable may be a program: `RUN = ./fake.c`.
    let first = values.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
    let of_sources = if lower == "set" { &first } else { &lower };
    let is_list = ["src", "source", "obj", "header", "hdr", "module", "lib"]
        .iter()
        .any(|word| of_sources.contains(word));
    let is_assignment = line.contains('=') && !is_call || lower == "set";
    let is_source = |word: &str| {
        let word = word.trim_matches(['"', '\'', ',', ')', '\\']);
        let is_test = TABLES.test(word, crate::ChangeKind::Modified).is_some();
        // The first words of a call are a target's name and how it is linked.
        let is_word = (is_call || lower == "set" && word.to_ascii_lowercase() == first)
            && !word.contains(['$', '/', '<'])
            && extension(word).is_empty();
        word.is_empty()
            || is_word
            || SOURCES.contains(&extension(word)) && !is_test && !word.contains(['$', '`'])
    };
    let mut words = values.split_whitespace();
    let has_source = values.split_whitespace().any(|word| word.contains('.')) || is_call;
    (is_list || !is_assignment)
        && !is_test_name
        && has_source
        && !line.contains(['`', '|', '&', ';', '>'])
        && words.all(is_source)
}
