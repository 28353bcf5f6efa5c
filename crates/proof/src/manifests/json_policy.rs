//! Which members of JSON manifests are product.
//!
//! Owns the lists. Invariant: a member that is in no list is a definition, since tools invent new ones every year.

use super::entry_points::{self, is_redirected};
use super::substitution::{is_local_lock, is_substitution};
use crate::tables::is_any_test_package;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Package,
    Lock,
    Composer,
    Deno,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Treatment {
    Product,
    Definition,
    /// It holds members of both kinds.
    Descend,
}

const PACKAGE_PRODUCT: &[&str] = &[
    "name",
    "version",
    "description",
    "keywords",
    "homepage",
    "bugs",
    "license",
    "licenses",
    "author",
    "authors",
    "contributors",
    "maintainers",
    "funding",
    "files",
    "type",
    "man",
    "directories",
    "repository",
    "engines",
    "os",
    "cpu",
    "private",
    "publishConfig",
    "sideEffects",
    "unpkg",
    "jsdelivr",
    "style",
    "sass",
    "readme",
    "packageManager",
    "icon",
    "displayName",
    "publisher",
    "categories",
    "activationEvents",
    "contributes",
    "productName",
    "peerDependenciesMeta",
    "bundleDependencies",
    "bundledDependencies",
    "preferGlobal",
    "esnext",
    "es2015",
    "source",
    "umd:main",
    "browserslist",
];
const COMPOSER_PRODUCT: &[&str] = &[
    "name",
    "version",
    "description",
    "type",
    "keywords",
    "homepage",
    "readme",
    "time",
    "license",
    "authors",
    "support",
    "funding",
    "suggest",
    "conflict",
    "provide",
    "minimum-stability",
    "prefer-stable",
    "bin",
    "archive",
    "abandoned",
    "$schema",
];
const DENO_PRODUCT: &[&str] =
    &["name", "version", "license", "exports", "publish", "description", "$schema", "workspace"];

/// Members whose members are dependencies, by name.
const DEPENDENCIES: &[&str] = &[
    "dependencies",
    "devDependencies",
    "peerDependencies",
    "optionalDependencies",
    "require",
    "require-dev",
    "catalog",
];

/// What becomes of the member at `path`, whose values at the base and in the attempt are known.
pub(super) fn treatment(kind: Kind, path: &[String], base: Option<&str>, now: Option<&str>) -> Treatment {
    let part = |at: usize| path.get(at).map(String::as_str).unwrap_or_default();
    let (top, depth) = (part(0), path.len());
    match kind {
        Kind::Lock => match (top, depth) {
            ("packages" | "dependencies", 1) => Treatment::Descend,
            _ if is_local_lock(base.unwrap_or_default(), now.unwrap_or_default())
                && (base.is_some() || is_any_test_package(package_name(part(1)))) =>
            {
                Treatment::Definition
            }
            _ => Treatment::Product,
        },
        Kind::Package | Kind::Composer if DEPENDENCIES.contains(&top) => match depth {
            1 => Treatment::Descend,
            _ => dependency(part(1), base, now),
        },
        Kind::Package if PACKAGE_PRODUCT.contains(&top) => Treatment::Product,
        Kind::Package if entry_points::MEMBERS.contains(&top) => entry_point(base, now),
        Kind::Composer if top == "autoload" => match (depth, part(1)) {
            (1, _) => Treatment::Descend,
            (_, "psr-4" | "psr-0") => entry_point(base, now),
            (_, _) => Treatment::Product,
        },
        Kind::Composer if COMPOSER_PRODUCT.contains(&top) => Treatment::Product,
        Kind::Deno if top == "imports" => match depth {
            1 => Treatment::Descend,
            _ if base.is_some() && base != now && now.is_some() => Treatment::Definition,
            _ => dependency(part(1), base, now),
        },
        Kind::Deno if DENO_PRODUCT.contains(&top) => Treatment::Product,
        Kind::Package | Kind::Composer if top == "scripts" && depth == 1 => Treatment::Descend,
        Kind::Deno if top == "tasks" && depth == 1 => Treatment::Descend,
        Kind::Package | Kind::Composer | Kind::Deno => Treatment::Definition,
    }
}

/// Which file is loaded for a name decides what a test tests. Where the names that were there stay, new ones are product.
fn entry_point(base: Option<&str>, now: Option<&str>) -> Treatment {
    if is_redirected(base, now) { Treatment::Definition } else { Treatment::Product }
}

/// A dependency is product, unless other code takes the place of one that was there, or of a test runner.
fn dependency(name: &str, base: Option<&str>, now: Option<&str>) -> Treatment {
    let existed = base.unwrap_or_default();
    let replaces = base.is_some() || is_any_test_package(name);
    match now {
        Some(now) if replaces && is_substitution(existed, now) => Treatment::Definition,
        Some(_) | None => Treatment::Product,
    }
}

/// The name of a package out of its place, `node_modules/jest`.
fn package_name(place: &str) -> &str {
    place.rsplit("node_modules/").next().unwrap_or(place)
}
