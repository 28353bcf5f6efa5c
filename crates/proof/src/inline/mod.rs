//! Tests that stand in the file they test: the attempt's product with the base's tests.
//!
//! Owns which languages have such tests. Refuses to compile anything: a scanner knows where items begin and end. Invariant:
//! a file whose tests are as at the base keeps its text.

mod elixir;
pub(crate) mod javascript_ends;
pub(crate) mod javascript_scan;
pub(crate) mod python;
pub(crate) mod python_ends;
pub(crate) mod python_handlers;
pub(crate) mod rust;
pub(crate) mod rust_attributes;
pub(crate) mod rust_scan;
pub(crate) mod vitest;

use crate::Mix;
use crate::paths::extension;

/// Two versions of a source, taken apart.
pub(crate) fn mixed(path: &str, base: Option<&[u8]>, result: &[u8]) -> Mix {
    let base = base.unwrap_or_default();
    let (Ok(before), Ok(now)) = (std::str::from_utf8(base), std::str::from_utf8(result)) else {
        return Mix::Product;
    };
    match extension(path) {
        "rs" => rust::mixed(before, now),
        "py" => python::mixed(before, now),
        "ex" => elixir::mixed(before, now),
        ending if is_javascript(ending) => vitest::mixed(before, now),
        _ => Mix::Product,
    }
}

pub(crate) fn is_javascript(ending: &str) -> bool {
    matches!(ending, "js" | "mjs" | "cjs" | "ts" | "mts" | "cts" | "jsx" | "tsx")
}
