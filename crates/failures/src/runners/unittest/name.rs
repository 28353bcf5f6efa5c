//! What unittest calls a test, and what else it calls by the same kind of name.
//!
//! Owns `method (path)`, in the words of every version: until Python 3.11 the parentheses held the class alone. Modules
//! that could not be loaded and the preparation of classes are named as tests are, but can never be seen passing.

use crate::search::Search;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Subject {
    Test(String),
    /// Set-up or tear-down of a class or module.
    Fixture {
        /// Such as `setUpClass`.
        hook: String,
        of: String,
    },
    /// A module, or another argument, that could not be loaded.
    Module(String),
}

/// A name and what follows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Heading<'a> {
    method: &'a str,
    path: &'a str,
    /// Parameters, dots, an outcome, or nothing.
    pub(super) behind: &'a str,
}

impl<'a> Heading<'a> {
    pub(super) fn of(text: &'a str) -> Option<Self> {
        let (method, rest) = text.cut(" (")?;
        if !is_name(method) {
            return None;
        }
        let (path, behind) = rest.split_once(')')?;
        is_name(path).then_some(Self { method, path, behind })
    }

    /// Whether the path has several parts, as that of every test, but few words in parentheses.
    pub(super) fn is_dotted(&self) -> bool {
        self.path.contains('.')
    }

    /// Whether it is almost certainly the name of a test.
    pub(super) fn is_of_test(&self) -> bool {
        self.is_dotted() && self.method.starts_with("test")
    }

    pub(super) fn subject(&self) -> Subject {
        let Self { method, path, .. } = *self;
        if path.starts_with("unittest.loader.") {
            return Subject::Module(method.to_string());
        }
        if matches!(method, "setUpClass" | "tearDownClass" | "setUpModule" | "tearDownModule") {
            return Subject::Fixture { hook: method.to_string(), of: path.to_string() };
        }
        Subject::Test(if path.rsplit('.').next() == Some(method) {
            path.to_string()
        } else {
            format!("{path}.{method}")
        })
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '<' | '>'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_every_version_are_read() {
        let test = |name: &str| Some(Subject::Test(name.into()));
        let module = |name: &str| Some(Subject::Module(name.into()));
        let fixture = |hook: &str, of: &str| Some(Subject::Fixture { hook: hook.into(), of: of.into() });
        let table = [
            ("test_x (m.C.test_x)", test("m.C.test_x")),
            ("test_x (m.C)", test("m.C.test_x")),
            ("test_x (m.f.<locals>.C.test_x) (i=1)", test("m.f.<locals>.C.test_x")),
            ("test_加算 (m.C.test_加算)", test("m.C.test_加算")),
            ("setUpClass (m.C)", fixture("setUpClass", "m.C")),
            ("tearDownModule (m)", fixture("tearDownModule", "m")),
            ("t.test_n (unittest.loader._FailedTest.t.test_n)", module("t.test_n")),
            ("t.test_n (unittest.loader._FailedTest)", module("t.test_n")),
            ("t.test_n (unittest.loader.ModuleImportFailure)", module("t.test_n")),
            ("two words (m.C)", None),
            ("call (a b)", None),
            ("open (", None),
        ];
        for (text, expected) in table {
            assert_eq!(Heading::of(text).map(|heading| heading.subject()), expected, "{text}");
        }
    }
}
