//! Rust modules in files of their own that are there for tests only.
//!
//! Owns how `#[cfg(test)] mod x;` finds its file, with and without `#[path]`. Refuses to follow further than one step up:
//! what a test module declares lies in its directory.

use toml::Table;

use crate::inline::rust_attributes::{is_test, key};
use crate::inline::rust_scan::{Item, items};
use crate::paths::{directory, extension, join, name, stem};
use crate::tree::{Tree, text};

/// Whether a source is declared as a test module, in the base or in the attempt.
pub(crate) fn is_test_module(path: &str, base: &dyn Tree, result: &dyn Tree) -> bool {
    let is_new = || is_declared(path, result) || stands_in(path, result) || is_target(path, result);
    extension(path) == "rs" && (is_declared(path, base) || !base.is_file(path) && is_new())
}

/// Whether a source takes the place of a module under test: `#[cfg_attr(test, path = "…")]`.
fn stands_in(path: &str, tree: &dyn Tree) -> bool {
    near(path, tree).any(|file| {
        let squeezed: String = text(tree, file).unwrap_or_default().split_whitespace().collect();
        let mut named =
            squeezed.split("cfg_attr(test,path=\"").skip(1).filter_map(|rest| rest.split('"').next());
        named.any(|named| join(directory(file), named).is_some_and(|target| target == path))
    })
}

/// Whether a manifest names a source as a target that is run by tests.
fn is_target(path: &str, tree: &dyn Tree) -> bool {
    let ends = path.match_indices('/').map(|(at, _)| at).chain([0]);
    let directories = ends.filter_map(|end| path.get(..end));
    directories.filter_map(|here| Some((here, join(here, "Cargo.toml")?))).any(|(here, manifest)| {
        let table: Table = text(tree, &manifest).unwrap_or_default().parse().unwrap_or_default();
        let targets = ["test", "bench"].iter().filter_map(|kind| table.get(*kind)?.as_array()).flatten();
        let mut paths = targets.filter_map(|target| target.get("path")?.as_str());
        paths.any(|named| join(here, named).is_some_and(|target| target == path))
    })
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
    near(path, tree).any(|file| {
        test_modules(tree, file).iter().flat_map(|item| item.attributes.clone()).any(|attribute| {
            let named = attribute.strip_prefix("path=").map(|value| value.trim_matches('"').to_string());
            named.and_then(|named| join(directory(file), &named)).is_some_and(|target| target == path)
        })
    })
}

/// The sources in the directory of a source and in the one above.
fn near<'a>(path: &'a str, tree: &'a dyn Tree) -> impl Iterator<Item = &'a String> {
    let here = directory(path);
    let is_near = move |file: &&String| {
        let there = directory(file);
        extension(file) == "rs" && (there == here || there == directory(here)) && file.as_str() != path
    };
    tree.files().iter().filter(is_near).take(200)
}
