//! Added files that take the place of a module or program that a check uses.
//!
//! Owns where modules and programs are looked for, and which names are taken. Refuses names that the base has there already:
//! those are product. Invariant: a name in no list and in no manifest is product.

use std::collections::BTreeSet;

use toml::{Table, Value};

use crate::ChangeKind;
use crate::paths::{directory, extension, join, name};
use crate::reach::Reach;
use crate::tables::{Tables, header_names, is_standard_module, is_test_package};
use crate::tree::{Tree, below, is_directory, text};

/// Where modules are looked for, and what the base depends on.
pub(crate) struct Shadows {
    python_roots: BTreeSet<String>,
    ruby_roots: BTreeSet<String>,
    dependencies: BTreeSet<String>,
}

impl Shadows {
    pub(crate) fn new(base: &dyn Tree, reach: &Reach, tables: &Tables) -> Self {
        let mut python_roots: BTreeSet<String> = reach.import_roots.clone();
        python_roots.extend([String::new(), "src".to_string()]);
        let tests = base.files().iter().filter(|path| extension(path) == "py");
        for path in tests.filter(|path| tables.test(path, ChangeKind::Modified).is_some()) {
            python_roots.insert(python_root(base, directory(path)));
        }
        let mut ruby_roots = reach.import_roots.clone();
        for root in reach.import_roots.iter().cloned().chain([String::new()]) {
            ruby_roots.extend(["lib", "test", "spec"].iter().filter_map(|part| join(&root, part)));
        }
        Self { python_roots, ruby_roots, dependencies: dependencies(base) }
    }

    /// What an added file shadows.
    pub(crate) fn what(
        &self,
        path: &str,
        base: &dyn Tree,
        result: &dyn Tree,
        reach: &Reach,
    ) -> Option<String> {
        self.python(path, base)
            .or_else(|| self.ruby(path))
            .or_else(|| program(path, reach))
            .or_else(|| stub(path, base, reach))
            .or_else(|| header(path))
            .or_else(|| vendored(path, base))
            .or_else(|| workspace_package(path, base, result))
    }

    fn python(&self, path: &str, base: &dyn Tree) -> Option<String> {
        self.python_roots.iter().find_map(|root| {
            let relative = match root.as_str() {
                "" => path,
                root => path.strip_prefix(root)?.strip_prefix('/')?,
            };
            let (first, is_package) = match relative.split_once('/') {
                Some((first, _)) => (first, true),
                None => (relative.split('.').next()?, false),
            };
            let is_module = matches!(extension(path), "py" | "pyc" | "so" | "pyd" | "pyi");
            let beside = |ending: &str| join(root, &format!("{first}{ending}")).unwrap_or_default();
            let is_known = base.is_file(&beside(".py")) || is_directory(base, &beside(""));
            let is_taken = is_standard_module("python", first)
                || is_test_package("python", first)
                || self.dependencies.contains(&normalized(first));
            let is_source = is_module || is_package && is_package_file(path);
            (is_source && is_taken && !is_known).then(|| format!("shadows the module `{first}`"))
        })
    }

    fn ruby(&self, path: &str) -> Option<String> {
        let (language, ending) = match extension(path) {
            "rb" => ("ruby", ".rb"),
            "pm" => ("perl", ".pm"),
            _ => return None,
        };
        self.ruby_roots.iter().find_map(|root| {
            let relative = path.strip_prefix(root.as_str())?;
            let feature = relative.trim_start_matches('/').strip_suffix(ending)?;
            let first = feature.split('/').next().unwrap_or_default();
            let is_taken = is_standard_module(language, feature)
                || is_test_package(language, feature)
                || is_test_package(language, first);
            is_taken.then(|| format!("shadows the library `{feature}`"))
        })
    }
}

/// A file of a package that Python would import with it.
fn is_package_file(path: &str) -> bool {
    matches!(name(path), "__init__.py" | "__main__.py")
}

/// The first directory above a test that is no package: pytest puts it on the path.
fn python_root(base: &dyn Tree, start: &str) -> String {
    let mut here = start.to_string();
    while !here.is_empty() && base.is_file(&format!("{here}/__init__.py")) {
        here = directory(&here).to_string();
    }
    here
}

/// A program that a check's text names, where programs are looked for.
fn program(path: &str, reach: &Reach) -> Option<String> {
    let name = name(path);
    let is_looked_in = reach.program_directories.contains(directory(path));
    let is_bin = matches!(directory(path).rsplit('/').next(), Some("bin" | ".bin" | "Scripts"));
    let known = [
        "python", "python3", "node", "npm", "npx", "make", "go", "cargo", "ruby", "bundle", "sh", "bash",
        "git", "diff", "php",
    ];
    let is_tool = known.contains(&name)
        || ["python", "node", "ruby"].iter().any(|language| is_test_package(language, name));
    let is_taken = is_looked_in || is_bin && is_tool;
    (is_taken && extension(path).is_empty() && reach.mentions(name))
        .then(|| format!("shadows the program `{name}`"))
}

/// A stub, which type checkers read instead of the module beside it.
fn stub(path: &str, base: &dyn Tree, reach: &Reach) -> Option<String> {
    let module = path.strip_suffix("pyi").map(|rest| format!("{rest}py"))?;
    let checkers = ["mypy", "dmypy", "pyright", "basedpyright", "pytype"];
    let is_checked = checkers.iter().any(|checker| reach.mentions(checker));
    (is_checked && base.is_file(&module)).then(|| format!("hides {module} from the type checker"))
}

/// A file that the type checker does not look into, in place of one that it did.
pub(crate) fn unchecked(path: &str, base: &dyn Tree, result: &dyn Tree, reach: &Reach) -> Option<String> {
    const CHECKERS: [&str; 4] = ["tsc", "vue-tsc", "svelte-check", "tsgo"];
    let module =
        [".d.ts", ".js", ".jsx", ".mjs", ".cjs"].iter().find_map(|ending| path.strip_suffix(ending))?;
    let sources = ["ts", "tsx", "mts", "cts"].map(|ending| format!("{module}.{ending}"));
    let source = sources.into_iter().find(|source| base.is_file(source) && !result.is_file(source))?;
    let checks_both = |settings: &String| {
        let text = text(base, settings).unwrap_or_default();
        text.split_whitespace().collect::<String>().contains("\"checkJs\":true")
    };
    let mut settings = base.files().iter().filter(|path| name(path).starts_with("tsconfig"));
    let is_checked = CHECKERS.iter().any(|checker| reach.mentions(checker));
    (is_checked && !settings.any(checks_both)).then(|| format!("takes {source} out of the type checker"))
}

/// A module of Go within another, or a package of Python that is none any more: its tests are not found from above.
pub(crate) fn taken_out(
    path: &str,
    kind: ChangeKind,
    base: &dyn Tree,
    result: &dyn Tree,
    is_test: &dyn Fn(&str) -> bool,
) -> Option<String> {
    let here = directory(path);
    let ending = match (name(path), kind) {
        ("go.mod", ChangeKind::Added) => "_test.go",
        ("__init__.py", ChangeKind::Deleted) => ".py",
        _ => return None,
    };
    let stays = |file: &str| file.ends_with(ending) && is_test(file) && result.is_file(file);
    (!here.is_empty() && below(base, here).any(stays))
        .then(|| "takes the tests below it out of the check".to_string())
}

/// A header that is found before the system's or the test framework's of the same name.
fn header(path: &str) -> Option<String> {
    let is_header = matches!(extension(path), "h" | "hpp" | "hh" | "");
    let named =
        |known: &str| path.strip_suffix(known).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
    let known = is_header.then(|| header_names().find(|known| named(known)))??;
    Some(format!("shadows the header `{known}`"))
}

/// Packages in a `vendor` directory that the base did not have.
fn vendored(path: &str, base: &dyn Tree) -> Option<String> {
    let (before, _) = path.split_once("vendor/")?;
    let vendor = format!("{before}vendor");
    let is_directory_name = before.is_empty() || before.ends_with('/');
    (is_directory_name && !is_directory(base, &vendor)).then(|| "packages are taken from it".to_string())
}

/// A package of the repository that has the name of one it depended on.
fn workspace_package(path: &str, base: &dyn Tree, result: &dyn Tree) -> Option<String> {
    if name(path) != "package.json" || directory(path).is_empty() {
        return None;
    }
    let parsed = |tree: &dyn Tree, path: &str| -> Option<serde_json::Value> {
        serde_json::from_str(&text(tree, path)?).ok()
    };
    let package = parsed(result, path)?;
    let own = package.get("name")?.as_str()?;
    let root = parsed(base, "package.json");
    let depends = |section: &str| {
        let version = root.as_ref()?.get(section)?.get(own)?.as_str()?;
        Some(!version.starts_with("workspace:") && !version.starts_with("file:"))
    };
    let sections = ["dependencies", "devDependencies", "peerDependencies"];
    let is_taken =
        is_test_package("node", own) || sections.iter().any(|section| depends(section) == Some(true));
    is_taken.then(|| format!("shadows the package `{own}`"))
}

fn normalized(name: &str) -> String {
    name.to_ascii_lowercase().replace('-', "_")
}

/// The Python packages that the base's manifests depend on.
fn dependencies(base: &dyn Tree) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut add = |requirement: &str| {
        let is_of_name = |letter: &char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.');
        let name: String = requirement.trim().chars().take_while(is_of_name).collect();
        names.extend(Some(normalized(&name)).filter(|name| !name.is_empty()));
    };
    for path in base.files().iter().filter(|path| path.matches('/').count() < 2) {
        if name(path).contains("requirements") && path.ends_with(".txt") {
            text(base, path).unwrap_or_default().lines().for_each(&mut add);
        } else if name(path) == "pyproject.toml" {
            let table: Table = text(base, path).unwrap_or_default().parse().unwrap_or_default();
            requirements(&table, &mut add);
        }
    }
    names
}

fn requirements(table: &Table, add: &mut dyn FnMut(&str)) {
    for (key, value) in table {
        match (key.as_str(), value) {
            ("dependencies" | "dev-dependencies", Value::Table(below)) => {
                below.keys().for_each(|name| add(name))
            }
            ("optional-dependencies" | "dependency-groups", Value::Table(below)) => {
                below
                    .values()
                    .filter_map(Value::as_array)
                    .flatten()
                    .filter_map(Value::as_str)
                    .for_each(&mut *add);
            }
            ("dependencies" | "dev-dependencies" | "requires", Value::Array(values)) => {
                values.iter().filter_map(Value::as_str).for_each(&mut *add);
            }
            (_, Value::Table(below)) => requirements(below, add),
            (_, _) => {}
        }
    }
}
