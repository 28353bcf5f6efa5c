//! Files that an added file is loaded instead of: a module of the same name, found before them.
//!
//! Owns the order in which Python, Node, Ruby and Perl look for a name. Refuses to know which of these files matter.

use crate::inline::is_javascript;
use crate::paths::{directory, extension, join, name, stem};
use crate::reach::Reach;
use crate::tree::{Tree, below, is_directory};

/// Where libraries of tests are found, beside the product's `lib`.
const TEST_ROOTS: [&str; 8] =
    ["test", "spec", "t", "tests", "t/lib", "test/lib", "spec/support", "test/support"];

/// The files of the base that an added file may take the place of. `requires` tells whether tests load a library by a name.
pub(crate) fn displaced(
    path: &str,
    base: &dyn Tree,
    reach: &Reach,
    requires: &dyn Fn(&str) -> bool,
) -> Vec<String> {
    match extension(path) {
        "py" | "so" | "pyd" | "pyc" => {
            let mut found = python_beside(path, base);
            found.extend(python_elsewhere(path, base, reach));
            found
        }
        "rb" | "pm" => libraries(path, base, requires),
        ending if is_javascript(ending) || matches!(ending, "json" | "node") => node(path, base),
        _ => Vec::new(),
    }
}

/// A package is found before a module, and so is one that is compiled.
fn python_beside(path: &str, base: &dyn Tree) -> Vec<String> {
    let module = match name(path) {
        "__init__.py" => format!("{}.py", directory(path)),
        file if extension(path) == "py" || file.is_empty() => return Vec::new(),
        file => {
            let first = file.split('.').next().unwrap_or_default();
            join(directory(path), &format!("{first}.py")).unwrap_or_default()
        }
    };
    Vec::from_iter(Some(module).filter(|module| base.is_file(module)))
}

/// A module of the same name in another directory of those in which modules are looked for.
fn python_elsewhere(path: &str, base: &dyn Tree, reach: &Reach) -> Vec<String> {
    let below_root = |root: &str| match root {
        "" => Some(path),
        root => path.strip_prefix(root)?.strip_prefix('/'),
    };
    let mut found = Vec::new();
    for root in &reach.import_roots {
        let Some(relative) = below_root(root) else { continue };
        let first = relative.split('/').next().unwrap_or_default();
        let first = first.strip_suffix(".py").unwrap_or(first);
        let inside = |root: &str, ending: &str| join(root, &format!("{first}{ending}")).unwrap_or_default();
        let is_known = base.is_file(&inside(root, ".py")) || is_directory(base, &inside(root, ""));
        if is_known || !matches!(extension(path), "py" | "so" | "pyd") {
            continue;
        }
        for other in reach.import_roots.iter().filter(|other| *other != root) {
            found.extend(Some(inside(other, ".py")).filter(|file| base.is_file(file)));
            let package = inside(other, "");
            found.extend(below(base, &package).filter(|_| !package.is_empty()).map(str::to_string));
        }
    }
    found
}

/// A file is found before a directory, and one ending before another.
fn node(path: &str, base: &dyn Tree) -> Vec<String> {
    const ENDINGS: [&str; 9] = ["js", "mjs", "cjs", "jsx", "ts", "tsx", "mts", "cts", "json"];
    let here = directory(path);
    let own = if name(path) == "package.json" { join(here, "index") } else { join(here, stem(path)) };
    let own = own.unwrap_or_default();
    let forms =
        ENDINGS.iter().flat_map(|ending| [format!("{own}.{ending}"), format!("{own}/index.{ending}")]);
    forms.filter(|form| form != path && base.is_file(form)).collect()
}

/// A library of the product is found before one of the tests.
fn libraries(path: &str, base: &dyn Tree, requires: &dyn Fn(&str) -> bool) -> Vec<String> {
    let parts: Vec<&str> = path.split('/').collect();
    let mut found = Vec::new();
    for at in (0..parts.len()).filter(|at| *at == 0 || parts.get(at - 1) == Some(&"lib")) {
        let feature = parts.get(at..).unwrap_or_default().join("/");
        let top = parts.get(..at.saturating_sub(1)).unwrap_or_default().join("/");
        let others = TEST_ROOTS.iter().filter_map(|root| join(&top, &format!("{root}/{feature}")));
        let known: Vec<String> = others.filter(|other| other != path && base.is_file(other)).collect();
        let without = feature.rsplit_once('.').map_or(feature.as_str(), |(before, _)| before);
        if !known.is_empty() && requires(without) {
            found.extend(known);
        }
    }
    found
}
