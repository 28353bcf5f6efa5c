//! Rust modules in files of their own that are there for tests only.
//!
//! Owns how `#[cfg(test)] mod x;` finds its file, with and without `#[path]`. Refuses to follow further than one step up:
//! what a test module declares lies in its directory.

use crate::inline::rust_attributes::{is_test, key};
use crate::inline::rust_scan::{Item, items};
use crate::paths::{directory, extension, join, name, stem};
use crate::tree::{Tree, text};

/// Whether a source is declared as a test module, in the base or in the attempt.
pub(crate) fn is_test_module(path: &str, base: &dyn Tree, result: &dyn Tree) -> bool {
    extension(path) == "rs" && (is_declared(path, base) || !base.is_file(path) && is_declared(path, result))
}

fn is_declared(path: &str, tree: &dyn Tree) -> bool {
    let here = directory(path);
    // A test module's own modules lie in a directory of its name.
    let is_below_test = !here.is_empty()
        && parents(here, name(here)).iter().any(|parent| declares(tree, parent, name(here), path));
    let module = if name(path) == "mod.rs" { name(here) } else { stem(path) };
    let place = if name(path) == "mod.rs" { directory(here) } else { here };
    let by_name = parents(&format!("{place}/{module}"), module)
        .iter()
        .any(|parent| declares(tree, parent, module, path));
    by_name || is_below_test || by_path(path, tree)
}

/// The files that may declare a module with this file or directory.
fn parents(place: &str, _module: &str) -> Vec<String> {
    let here = directory(place.trim_start_matches('/'));
    let inside = |file: &str| if here.is_empty() { file.to_string() } else { format!("{here}/{file}") };
    vec![inside("lib.rs"), inside("main.rs"), inside("mod.rs"), format!("{here}.rs")]
}

fn test_modules(tree: &dyn Tree, file: &str) -> Vec<Item> {
    let Some(content) = text(tree, file) else { return Vec::new() };
    let (found, _) = items(&content, 0..content.len());
    found
        .into_iter()
        .filter(|item| item.body.is_none() && is_test(item) && key(item).starts_with("mod "))
        .collect()
}

fn declares(tree: &dyn Tree, file: &str, module: &str, path: &str) -> bool {
    file != path && test_modules(tree, file).iter().any(|item| key(item) == format!("mod {module}"))
}

/// Whether a source nearby declares a test module with `#[path = "…"]` that is this file.
fn by_path(path: &str, tree: &dyn Tree) -> bool {
    let here = directory(path);
    let near = tree.files().iter().filter(|file| {
        extension(file) == "rs"
            && (directory(file) == here || directory(file) == directory(here))
            && file.as_str() != path
    });
    near.take(200).any(|file| {
        test_modules(tree, file).iter().flat_map(|item| item.attributes.clone()).any(|attribute| {
            let named = attribute.strip_prefix("path=").map(|value| value.trim_matches('"').to_string());
            named.and_then(|named| join(directory(file), &named)).is_some_and(|target| target == path)
        })
    })
}
