//! Names that a module of Python gives to every test that imports all of it.
//!
//! Owns which names mean something in the module of a test: those that a runner calls, and the built-in functions. Refuses a
//! name that `__all__` leaves out, and one that the base has.

use super::python::BUILT_IN;
use crate::paths::{directory, name, stem};

/// A name that a source gains at its top level, and that takes the place of something in a test. `is_used` tells whether
/// tests have a word.
pub(crate) fn star_name(base: &str, now: &str, is_used: &dyn Fn(&[&str]) -> bool) -> Option<String> {
    let known = names(base);
    let exports = now.contains("__all__");
    let is_exported =
        |name: &str| !exports || now.contains(&format!("\"{name}\"")) || now.contains(&format!("'{name}'"));
    let counts = |name: &str| is_hook(name) || BUILT_IN.contains(&name) && is_used(&[name]);
    let mut gained = names(now).into_iter().filter(|name| !known.contains(name));
    gained.find(|name| counts(name) && is_exported(name)).map(str::to_string)
}

/// Whether a name in the module of a test is one that a runner looks for.
fn is_hook(name: &str) -> bool {
    const NAMES: [&str; 10] = [
        "setup_module",
        "teardown_module",
        "setup_function",
        "teardown_function",
        "setUpModule",
        "tearDownModule",
        "load_tests",
        "setup_method",
        "teardown_method",
        "pytestmark",
    ];
    NAMES.contains(&name) || name.starts_with("pytest_") || matches!(name, "collect_ignore" | "__test__")
}

/// The names that a source binds at its left margin.
fn names(text: &str) -> Vec<&str> {
    let is_of_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut found = Vec::new();
    for line in text.lines().filter(|line| line.starts_with(is_of_name)) {
        let code = line.split('#').next().unwrap_or_default();
        let mut words = code.split(|letter| !is_of_name(letter)).filter(|word| !word.is_empty());
        match words.next() {
            Some("def" | "class") => found.extend(words.next()),
            Some("async") => found.extend(words.nth(1)),
            Some("from" | "import") => found.extend(
                code.split("import")
                    .last()
                    .unwrap_or_default()
                    .split([',', '(', ')'])
                    .filter_map(|item| item.split_whitespace().last()),
            ),
            Some(_) => {
                // `a = b = c`, and `a, b = c`.
                let targets = code.rsplit_once('=').map_or("", |(targets, _)| targets);
                let targets = targets
                    .split(['=', ','])
                    .map(|target| target.split(':').next().unwrap_or_default().trim());
                found.extend(targets.filter(|target| !target.is_empty() && target.chars().all(is_of_name)));
            }
            None => {}
        }
    }
    found
}

/// Whether a source imports all of a module: `from calc import *`.
pub(crate) fn is_star_imported(text: &str, path: &str) -> bool {
    let module = if stem(path) == "__init__" { name(directory(path)) } else { stem(path) };
    text.lines().any(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let from = match words.as_slice() {
            ["from", from, "import", "*", ..] | ["from", from, "import*", ..] => from,
            _ => return false,
        };
        let is_own = from.chars().all(|letter| letter == '.') && stem(path) == "__init__";
        is_own || from.rsplit('.').next() == Some(module)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_mean_something_in_a_test() {
        for (now, expected) in [
            ("def setup_function(f):\n    pass\n", Some("setup_function")),
            ("def pytest_generate_tests(metafunc):\n    pass\n", Some("pytest_generate_tests")),
            ("def all(x):\n    return True\n", Some("all")),
            ("x = any = f\n", Some("any")),
            ("from evil import ok as isinstance\n", Some("isinstance")),
            ("pytestmark = skip\n", Some("pytestmark")),
            ("def setup(app):\n    def all(x): pass\n", None),
            ("class A:\n    def all(self): pass\n", None),
            ("__all__ = ['add']\ndef all(x): pass\n", None),
            ("if x == all: pass\n", None),
        ] {
            assert_eq!(star_name("", now, &|_| true).as_deref(), expected, "{now}");
            assert_eq!(star_name(now, now, &|_| true), None, "{now}");
        }
        assert_eq!(star_name("", "def all(x): pass\n", &|_| false), None, "no test uses it");
    }

    #[test]
    fn who_imports_all() {
        for (line, path, expected) in [
            ("from calc import *", "calc.py", true),
            ("from pkg.calc import *  # noqa", "pkg/calc.py", true),
            ("from pkg import *", "pkg/__init__.py", true),
            ("from .calc import *", "pkg/calc.py", true),
            ("from calc import add", "calc.py", false),
            ("from other import *", "calc.py", false),
        ] {
            assert_eq!(is_star_imported(line, path), expected, "{line}");
        }
    }
}
