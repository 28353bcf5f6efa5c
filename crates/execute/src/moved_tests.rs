//! Tests that are seen under another name, because the file they stand in was renamed.
//!
//! Owns how a name is taken apart: the file or module, and the rest. Refuses to accept a file that is still there: a test that is
//! missing from it was removed. In a proof tree the tests of the base are back, so there nothing has moved. Pure.

use std::collections::BTreeSet;

use fixpoint_vocabulary::work::TestName;

/// Which of the tests that are waited for were seen passing in a file that has taken the place of theirs.
pub(crate) fn moved_tests(
    watched: &BTreeSet<TestName>,
    passed: &BTreeSet<TestName>,
    passed_before: &BTreeSet<TestName>,
    is_file: &dyn Fn(&str) -> bool,
) -> BTreeSet<TestName> {
    let is_new = |test: &&TestName| !passed_before.contains(*test) && !watched.contains(*test);
    let mut new: Vec<Parts<'_>> = passed
        .iter()
        .filter(is_new)
        .filter_map(|test| parts(&test.0))
        .filter(|new| new.is_in(is_file))
        .collect();
    let is_moved = |test: &&TestName| {
        let Some(old) = parts(&test.0).filter(|old| !old.is_in(is_file)) else { return false };
        let place = new.iter().position(|new| new.rest == old.rest && new.kind == old.kind);
        // One test takes the place of one.
        place.map(|place| new.swap_remove(place)).is_some()
    };
    watched.difference(passed).filter(is_moved).cloned().collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// `tests/test_a.py::test_x`, `src/a.test.ts > adds`.
    Path,
    /// `tests.test_a.Case.test_x`.
    Module,
}

#[derive(Debug)]
struct Parts<'a> {
    kind: Kind,
    home: &'a str,
    rest: &'a str,
}

impl Parts<'_> {
    fn is_in(&self, is_file: &dyn Fn(&str) -> bool) -> bool {
        match self.kind {
            Kind::Path => is_file(self.home),
            Kind::Module => is_file(&format!("{}.py", self.home.replace('.', "/"))),
        }
    }
}

fn parts(name: &str) -> Option<Parts<'_>> {
    let path =
        ["::", " > "].iter().filter_map(|sign| name.split_once(sign)).min_by_key(|(home, _)| home.len());
    if let Some((home, rest)) = path {
        return (home.contains('.') && !home.contains(' ')).then_some(Parts { kind: Kind::Path, home, rest });
    }
    let is_dotted = name.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '.'));
    // The last parts are the class and the test.
    let (at, _) = name.rmatch_indices('.').nth(1).filter(|_| is_dotted)?;
    Some(Parts { kind: Kind::Module, home: name.get(..at)?, rest: name.get(at + 1..)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> BTreeSet<TestName> {
        list.iter().map(|name| TestName::from(*name)).collect()
    }

    #[test]
    fn only_a_file_that_is_gone_has_moved() {
        let files = ["tests/test_new.py", "tests/test_kept.py", "web/new.test.ts"];
        let is_file = |path: &str| files.contains(&path);
        for (row, watched, passed, before, expected) in [
            ("renamed", "tests/test_old.py::test_a", vec!["tests/test_new.py::test_a"], "", true),
            ("a module", "tests.test_old.T.test_a", vec!["tests.test_new.T.test_a"], "", true),
            ("vitest", "web/old.test.ts > sums > adds", vec!["web/new.test.ts > sums > adds"], "", true),
            ("another test", "tests/test_old.py::test_a", vec!["tests/test_new.py::test_b"], "", false),
            ("its file is there", "tests/test_kept.py::test_a", vec!["tests/test_new.py::test_a"], "", false),
            ("another class", "tests.test_old.T.test_a", vec!["tests.test_new.U.test_a"], "", false),
            (
                "it passed before",
                "tests/test_old.py::test_a",
                vec!["tests/test_new.py::test_a"],
                "tests/test_new.py::test_a",
                false,
            ),
            ("nowhere", "tests/test_old.py::test_a", vec!["tests/test_none.py::test_a"], "", false),
            ("a name without a file", "adds", vec!["adds more"], "", false),
        ] {
            let found = moved_tests(&names(&[watched]), &names(&passed), &names(&[before]), &is_file);
            assert_eq!(found == names(&[watched]), expected, "{row}: {found:?}");
        }
        let two = names(&["tests/test_a.py::test_x", "tests/test_b.py::test_x"]);
        let found = moved_tests(&two, &names(&["tests/test_new.py::test_x"]), &names(&[]), &is_file);
        assert_eq!(found.len(), 1, "one test takes the place of one");
    }
}
