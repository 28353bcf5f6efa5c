//! What a script of a check imports from beside itself.
//!
//! Owns how each language names a file of the same directory. What a script imports may be what it tests, so only the modules
//! in a directory of tools or tests count, and those whose names or texts say that they test.

use super::Reach;
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
        format!("{name}.js"),
        format!("{name}.ts"),
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
