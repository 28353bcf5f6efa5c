//! What a script of a check imports from beside itself.
//!
//! Owns how each language names a file of the same directory. What a script imports may be what it tests, so only the modules
//! in a directory of tools or tests count, and those whose names or texts say that they test.

use super::Reach;
use super::literals::quoted as quoted_ranges;
use super::programs::sounds_like_test;
use super::walk::{Place, load_script};
use crate::paths::{directory, extension, join};
use crate::tables::helper_by_text;
use crate::tree::{Tree, text};

/// Directories in which nothing is tested, and everything tests.
const TOOLS: [&str; 26] = [
    "tools",
    "tool",
    "ci",
    ".ci",
    "scripts",
    "script",
    "qa",
    "checks",
    "check",
    "dev",
    "hack",
    "automation",
    "support",
    "verify",
    "e2e",
    "acceptance",
    "tests",
    "test",
    "spec",
    "specs",
    "__tests__",
    "t",
    "testing",
    "harness",
    "evals",
    ".github",
];

/// Follows the imports of a script that is not one of the shell.
pub(super) fn follow(reach: &mut Reach, base: &dyn Tree, path: &str, content: &str, place: &Place) {
    let names = match extension(path) {
        "py" => python(content),
        "js" | "mjs" | "cjs" | "ts" | "mts" | "cts" | "jsx" | "tsx" => quoted(content, &["./", "../"]),
        "rb" => relative(content, "require_relative"),
        "pl" | "php" | "lua" => quoted(content, &["./", "/"]),
        _ => return,
    };
    for name in names {
        let Some(found) = beside(base, directory(path), &name, extension(path)) else { continue };
        let judges = || helper_by_text(extension(&found), &text(base, &found).unwrap_or_default()).is_some();
        if found != path && (is_tool(&found) || sounds_like_test(&found) || judges()) {
            load_script(reach, base, &format!("//{found}"), place, "loaded by");
        }
    }
}

/// The files of the base that a source imports, as its language says it.
pub(super) fn imported(base: &dyn Tree, reach: &Reach, path: &str, content: &str) -> Vec<String> {
    let own = directory(path);
    let ending = extension(path);
    let mut roots = vec![own];
    let names = match ending {
        "py" => {
            roots.extend(["", "src"]);
            roots.extend(reach.import_roots.iter().map(String::as_str));
            python(content)
        }
        _ if crate::inline::is_javascript(ending) => javascript(content),
        "php" => required(content, &["require", "include"]),
        "rb" | "rake" | "" => {
            roots.extend(["", "lib"]);
            required(content, &["require", "load", "import"])
        }
        _ => return Vec::new(),
    };
    let ending = if matches!(ending, "rake" | "") { "rb" } else { ending };
    let find = |name: &String| roots.iter().find_map(|root| beside(base, root, name, ending));
    let mut found: Vec<String> = names.iter().filter_map(find).filter(|file| file != path).collect();
    found.sort();
    found.dedup();
    found
}

/// Relative paths behind `require(`, `import(`, `from` and `import`, also if they are joined there.
fn javascript(content: &str) -> Vec<String> {
    const LOADERS: [&str; 5] = ["require", "import", "resolve", "from", "loadConfig"];
    let mut names = Vec::new();
    for line in content.lines().filter(|line| line.len() < 20_000) {
        let mut end = 0;
        for range in quoted_ranges(line) {
            let before = line.get(end..range.start.saturating_sub(1)).unwrap_or_default();
            end = range.end + 1;
            let statement = before.rsplit([';', ')', '}']).next().unwrap_or_default();
            let last =
                statement.rsplit(|letter: char| !letter.is_alphanumeric()).find(|word| !word.is_empty());
            let is_loading =
                statement.split(|letter: char| !letter.is_alphanumeric()).any(|word| LOADERS.contains(&word))
                    || before.trim_end().ends_with("from")
                    || last.is_some_and(|word| LOADERS.contains(&word));
            let rest = line.get(range.start.saturating_sub(1)..).unwrap_or_default();
            let rest = rest.split(')').next().unwrap_or_default();
            if is_loading {
                names.extend(super::literals::named(rest).into_iter().filter(|name| !name.contains('*')));
            }
        }
    }
    let is_own = |name: &String| name.starts_with('.') || name.contains('/');
    names.retain(is_own);
    names
}

/// What stands in quotes behind one of some words, in the same line.
fn required(content: &str, words: &[&str]) -> Vec<String> {
    let mut names = Vec::new();
    for line in content.lines().map(str::trim).filter(|line| words.iter().any(|word| line.contains(word))) {
        names.extend(super::literals::named(line).into_iter().filter(|name| !name.contains('*')));
    }
    names
        .iter()
        .map(|name| name.trim_start_matches('/').to_string())
        .filter(|name| !name.is_empty())
        .collect()
}

/// Whether a file is in a directory of tools or tests.
pub(super) fn is_tool(path: &str) -> bool {
    directory(path).split('/').any(|part| TOOLS.contains(&part))
}

/// The file of a module, seen from a directory.
fn beside(base: &dyn Tree, own: &str, name: &str, ending: &str) -> Option<String> {
    let forms = [
        name.to_string(),
        format!("{name}.{ending}"),
        format!("{name}/__init__.py"),
        format!("{name}/index.js"),
        format!("{name}/index.ts"),
        format!("{name}.js"),
        format!("{name}.ts"),
        format!("{name}.mjs"),
        format!("{name}.cjs"),
        format!("{name}.json"),
        format!("{}.ts", name.trim_end_matches(".js")),
    ];
    forms.iter().filter_map(|form| join(own, form)).find(|path| base.is_file(path))
}

/// Modules as paths: `import suite`, `from . import suite`, `from tools.suite import run`.
fn python(content: &str) -> Vec<String> {
    let mut names = Vec::new();
    for line in content.lines().map(str::trim) {
        let (module, inner) = match (line.strip_prefix("import "), line.strip_prefix("from ")) {
            (Some(modules), _) => {
                let modules = modules.split(',').filter_map(|part| part.split_whitespace().next());
                names.extend(modules.map(|module| module.replace('.', "/")));
                continue;
            }
            (None, Some(rest)) => rest.split_once(" import ").unwrap_or((rest, "")),
            (None, None) => continue,
        };
        let path = module.trim().trim_start_matches('.').replace('.', "/");
        for name in inner.split(',').filter_map(|part| part.split_whitespace().next()) {
            names.push(if path.is_empty() { name.to_string() } else { format!("{path}/{name}") });
        }
        names.push(path);
    }
    // A module may be named from the root, too.
    let from_root: Vec<String> = names.iter().map(|name| format!("//{name}")).collect();
    names.extend(from_root);
    names.retain(|name| !name.trim_start_matches('/').is_empty());
    names
}

fn quoted(content: &str, beginnings: &[&str]) -> Vec<String> {
    let pieces = content.split(['"', '\'', '`']);
    let is_path = |piece: &&str| {
        piece.len() < 200
            && !piece.contains(['\n', ' '])
            && beginnings.iter().any(|text| piece.starts_with(text))
    };
    pieces.filter(is_path).map(|piece| piece.trim_start_matches('/').to_string()).collect()
}

fn relative(content: &str, word: &str) -> Vec<String> {
    let behind = content.split(word).skip(1);
    let name = |rest: &str| rest.split(['"', '\'']).nth(1).map(str::to_string);
    behind.filter_map(name).filter(|name| name.len() < 200).collect()
}
