//! Whose file it is that a check's script or a runner's settings load: theirs, or the product that they are about.
//!
//! Owns who else uses a file at the base. Product code and tests claim what they load, and so does a directory of sources.
//! Refuses to resolve imports: a line that imports and has the name of the file counts. Invariant: what is claimed stays
//! product.

use std::collections::BTreeMap;

use super::imports::is_tool;
use super::programs::sounds_like_test;
use crate::ChangeKind;
use crate::beside::{imports_module, is_code};
use crate::paths::{directory, extension, name, stem};
use crate::tables::Tables;
use crate::tree::{Tree, text};

const MOST_FILES: usize = 3000;
/// Directories of sources of the product.
const SOURCES: [&str; 20] = [
    "src", "lib", "app", "apps", "packages", "pkg", "internal", "cmd", "source", "sources", "server",
    "client", "web", "api", "core", "modules", "bin", "cli", "backend", "frontend",
];
/// Directories whose scripts a check runs in order to test them.
const SHOWN: [&str; 10] =
    ["examples", "example", "docs", "doc", "demo", "demos", "samples", "tutorials", "plugins", "migrations"];
/// Directories of what prepares a run, rather than being run.
const PREPARED: [&str; 14] = [
    "infra",
    "config",
    "configs",
    "conf",
    "inc",
    "build",
    "setup",
    "env",
    "envs",
    "boot",
    "bootstrap",
    "fixtures",
    "helpers",
    "environments",
];
/// Names of tests that prepare others.
const PREPARING: [&str; 8] = [
    "spec_helper",
    "rails_helper",
    "test_helper",
    "bootstrap",
    "setup",
    "conftest",
    "environment",
    "globals",
];

/// A source by the lines with which it loads others.
struct Loader {
    path: String,
    imports: String,
    /// What it has in quotes, for directories.
    quotes: Vec<String>,
}

impl Loader {
    fn loads(&self, path: &str) -> bool {
        if extension(path) != "py" || extension(&self.path) != "py" {
            return imports_module(&self.path, &self.imports, path);
        }
        self.imports.lines().any(|line| loads_python(line.trim(), path))
    }
}

/// Whether a line of Python imports a module, rather than something of its name out of another.
fn loads_python(line: &str, path: &str) -> bool {
    let (own, parent) = match stem(path) {
        "__init__" | "__main__" => (name(directory(path)), name(directory(directory(path)))),
        stem => (stem, name(directory(path))),
    };
    let has = |text: &str| {
        text.split(|letter: char| !letter.is_alphanumeric() && letter != '_').any(|word| word == own)
    };
    match line.strip_prefix("from ").and_then(|rest| rest.split_once(" import ")) {
        Some((module, names)) => {
            let package = module.rsplit('.').next().unwrap_or(module).trim();
            has(module) || has(names) && (package == parent || package.is_empty())
        }
        None => (line.contains("import") || line.contains("load")) && has(line),
    }
}

/// Who uses what at the base.
pub(super) struct Claims {
    tests: Vec<Loader>,
    products: Vec<Loader>,
    /// What the manifests say, in which the product has its name.
    manifests: String,
}

impl Claims {
    pub(super) fn new(base: &dyn Tree, tables: &Tables) -> Self {
        let (mut tests, mut products) = (Vec::new(), Vec::new());
        for path in base.files().iter().filter(|path| is_code(path)).take(MOST_FILES) {
            let Some(content) = text(base, path) else { continue };
            let is_test = tables.test(path, ChangeKind::Modified).is_some();
            if is_test && prepares(path) || tables.definition(path, ChangeKind::Modified, &|_| true).is_some()
            {
                continue;
            }
            let loader = loader(path, &content);
            if is_test { tests.push(loader) } else { products.push(loader) }
        }
        let is_manifest = |path: &&String| {
            !path.contains('/') && crate::manifests::is_manifest(path) && !path.contains("lock")
        };
        let manifests = base.files().iter().filter(is_manifest).filter_map(|path| text(base, path)).collect();
        Self { tests, products, manifests }
    }

    /// Whether code that is neither a test nor what decides loads a file.
    pub(super) fn is_used_by_product(&self, path: &str, decides: &BTreeMap<String, String>) -> bool {
        let is_other = |loader: &&Loader| loader.path != path && !decides.contains_key(&loader.path);
        if !is_code(path) {
            let is_it = |text: &String| text == name(path) || text.ends_with(&format!("/{}", name(path)));
            return self.products.iter().filter(is_other).any(|loader| loader.quotes.iter().any(is_it));
        }
        self.products.iter().filter(is_other).any(|loader| loader.loads(path))
    }

    pub(super) fn is_used_by_tests(&self, path: &str) -> bool {
        self.tests.iter().any(|loader| loader.loads(path))
    }

    /// Whether a file is product, whoever else loads it.
    pub(super) fn is_claimed(&self, path: &str, decides: &BTreeMap<String, String>) -> bool {
        is_source(path) || self.is_used_by_tests(path) || self.is_used_by_product(path, decides)
    }

    /// Whether product code names the directory of a file, as the loader of plugins does.
    pub(super) fn is_listed_by_product(&self, path: &str, decides: &BTreeMap<String, String>) -> bool {
        let listed = directory(path);
        let names = |loader: &Loader, text: &String| {
            let text = text.trim_end_matches('/');
            let own = directory(&loader.path);
            let is_above = own.is_empty() || listed.starts_with(&format!("{own}/"));
            text.trim_start_matches("./") == listed
                || text.replace('.', "/") == listed
                || is_above && text.rsplit(['/', '.']).any(|part| part == name(listed))
        };
        let is_alike = |loader: &&Loader| extension(&loader.path) == extension(path);
        let others =
            self.products.iter().filter(is_alike).filter(|loader| !decides.contains_key(&loader.path));
        others.into_iter().any(|loader| loader.quotes.iter().any(|text| names(loader, text)))
    }

    /// Whether the tests, or the files given, load product.
    pub(super) fn has_product(&self, loaded: &[String], decides: &BTreeMap<String, String>) -> bool {
        let of_tests = || {
            self.products
                .iter()
                .any(|product| !decides.contains_key(&product.path) && self.is_used_by_tests(&product.path))
        };
        loaded.iter().any(|path| is_source(path) || self.is_used_by_tests(path)) || of_tests()
    }

    /// Whether a file is in a directory of which nothing is claimed and that is not the product by its name.
    pub(super) fn is_apart(&self, path: &str, base: &dyn Tree, decides: &BTreeMap<String, String>) -> bool {
        let Some((top, _)) = path.split_once('/') else { return false };
        let is_claimed =
            |file: &str| is_code(file) && !decides.contains_key(file) && self.is_claimed(file, decides);
        let is_loaded_from_outside = |file: &str| {
            let outside = self.products.iter().filter(|loader| !loader.path.starts_with(&format!("{top}/")));
            outside.filter(|loader| !decides.contains_key(&loader.path)).any(|loader| loader.loads(file))
        };
        !is_shown(path)
            && !crate::beside::has_word(&self.manifests, top)
            && !crate::tree::below(base, top).take(200).any(|file| {
                is_claimed(file)
                    && (self.is_used_by_tests(file) || is_source(file) || is_loaded_from_outside(file))
            })
    }
}

/// Whether a file is in a directory that prepares, by its name.
pub(super) fn is_prepared(path: &str) -> bool {
    directory(path).split('/').any(|part| PREPARED.contains(&part)) || is_tool(path)
}

/// Whether a test prepares others, rather than test.
pub(super) fn prepares(path: &str) -> bool {
    PREPARING.contains(&stem(path)) || name(path) == "__init__.py"
}

/// Whether a file is in a directory of sources.
pub(super) fn is_source(path: &str) -> bool {
    directory(path).split('/').next().is_some_and(|top| SOURCES.contains(&top)) && !sounds_like_test(path)
}

/// Whether a file is in a directory of what is shown or run for its own sake.
pub(super) fn is_shown(path: &str) -> bool {
    directory(path).split('/').any(|part| SHOWN.contains(&part))
}

fn loader(path: &str, content: &str) -> Loader {
    let is_loading = |line: &&str| {
        ["import", "require", "from", "source", ". ", "include", "use", "load"]
            .iter()
            .any(|word| line.contains(word))
    };
    let is_short = |line: &&str| line.len() < 20_000;
    let imports = content.lines().filter(is_short).filter(is_loading).collect::<Vec<_>>().join("\n");
    let quotes = content.lines().filter(is_short).flat_map(|line| {
        super::literals::quoted(line).into_iter().filter_map(|range| line.get(range).map(str::to_string))
    });
    let is_word = |text: &String| text.len() > 1 && text.len() < 100 && !text.contains(' ');
    Loader { path: path.to_string(), imports, quotes: quotes.filter(is_word).collect() }
}

/// Whether a module has nothing but values: no condition, no loop, nothing that is worked out.
pub(super) fn has_only_values(path: &str, content: &str) -> bool {
    const WORDS: [&str; 14] = [
        "if", "for", "while", "class", "lambda", "switch", "case", "unless", "yield", "async", "await",
        "try", "import", "include",
    ];
    const SIGNS: [&str; 8] = ["=>", "@", " - ", " * ", "%", "+=", "?", "->"];
    let without_comments: Vec<&str> = content
        .lines()
        .map(str::trim)
        .filter(|line| !line.starts_with(['#', '/', '*']) && !line.starts_with("<?"))
        .collect();
    let is_worked_out = |line: &str| {
        let function = ["def ", "function "].iter().find_map(|word| line.split_once(word));
        let arguments =
            function.and_then(|(_, rest)| rest.split_once('(')).map(|(_, rest)| rest.trim_start());
        arguments.is_some_and(|rest| !rest.starts_with(')'))
    };
    let has = |line: &&str| {
        let words = line.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        words.into_iter().any(|word| WORDS.contains(&word))
            || is_worked_out(line)
            || SIGNS.iter().any(|sign| line.contains(sign))
    };
    let is_known =
        matches!(extension(path), "py" | "js" | "mjs" | "cjs" | "ts" | "mts" | "cts" | "rb" | "php" | "json");
    is_known && !without_comments.is_empty() && !without_comments.iter().any(has) && content.len() < 20_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_of_values() {
        for (path, content, expected) in [
            ("a.py", "PAIR = (2, 2, 4)\n", true),
            ("a.py", "# values\ndef pair():\n    return 2, 2, 4\n", true),
            ("a.js", "exports.n=2;\n", true),
            ("a.rb", "N = 2\n", true),
            ("a.php", "<?php\ndefine(\"N\", 2);\n", true),
            ("a.py", "from flask import Flask\napp = Flask(__name__)\n", false),
            ("a.py", "def add(a, b):\n    return a - b\n", false),
            ("a.js", "exports.add=(a,b)=>a-b;\n", false),
            ("a.py", "", false),
        ] {
            assert_eq!(has_only_values(path, content), expected, "{content}");
        }
    }
}
