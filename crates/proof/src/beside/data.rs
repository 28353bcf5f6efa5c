//! Data that only tests read, wherever it is.
//!
//! Owns the ways in which a test names such a file. Refuses code. Invariant: what the product reads, too, is product.

use super::{Source, Users, is_code, is_import_of};
use crate::ChangeKind;
use crate::links::Links;
use crate::paths::{directory, join, matches, name, stem};

impl Users<'_> {
    /// Whether only tests load through a link.
    pub(crate) fn is_way_of_tests(&self, link: &str) -> bool {
        let inside = format!("{}/", name(link));
        let loads = |line: &str| {
            is_import_of(line, name(link)) || is_import_of(line, stem(link)) || line.contains(&inside)
        };
        let is_loaded = |by: &[Source]| by.iter().any(|source| source.text.lines().any(loads));
        is_loaded(self.tests()) && !is_loaded(self.products())
    }

    /// A file that a test names as its snapshot.
    pub(crate) fn snapshot(&self, path: &str) -> Option<String> {
        let mut tests = self.tests().iter();
        let source = tests.find(|source| source.path != path && names_snapshot(source, path))?;
        let is_product = is_code(path) && self.is_used(self.products(), path);
        (!is_product).then(|| format!("snapshot of {}", source.path))
    }

    /// Data that a link among the tests leads to.
    pub(super) fn linked_data(&self, path: &str) -> Option<String> {
        if is_code(path) {
            return None;
        }
        let links = Links::new(self.base);
        let is_of_tests = |link: &str| self.tables.test(link, ChangeKind::Modified).is_some();
        let (link, _) = links.names(path).find(|(link, _)| is_of_tests(link))?;
        (!self.is_used(self.products(), path)).then(|| format!("the link {link} of the tests leads to it"))
    }
}

/// Whether a test gives a file to an assertion that compares with files, or the file's directory to a setting of snapshots.
fn names_snapshot(source: &Source, path: &str) -> bool {
    const FILES: [&str; 7] = [
        "toMatchFileSnapshot",
        "toMatchSpecificSnapshot",
        "toMatchFile(",
        "expect_file!",
        "assert_file_eq",
        "file_snapshot",
        "assertMatchesFileSnapshot",
    ];
    const DIRECTORIES: [&str; 3] = ["customSnapshotsDir", "snapshot_path", "snapshot_dir"];
    let here = directory(&source.path);
    let fits = |literal: &str, behind: &str| {
        let named = [here, ""].into_iter().filter_map(|root| join(root, literal));
        // A name of which nothing is known may be that of any file beside the test.
        let says = |named: &String| !named.is_empty() && (name(named) != "*" || directory(named) != here);
        named.filter(says).any(|named| matches(&format!("/{named}{behind}"), path))
    };
    let is_given = |word: &str, behind: &str| {
        let calls = source.text.match_indices(word);
        let mut arguments = calls.filter_map(|(at, _)| call(source.text.get(at + word.len()..)?));
        arguments.any(|arguments| {
            let literals: Vec<String> = literals(arguments).map(with_stars).collect();
            literals.iter().any(|literal| fits(literal, behind)) || fits(&literals.join("/"), behind)
        })
    };
    FILES.iter().any(|word| is_given(word, "")) || DIRECTORIES.iter().any(|word| is_given(word, "/**"))
}

/// The text of a call or an assignment: up to the end of its statement, or some lines.
fn call(text: &str) -> Option<&str> {
    let end = text.find(';').unwrap_or(text.len());
    let lines = text.match_indices('\n').nth(3).map_or(text.len(), |(at, _)| at);
    text.get(..end.min(lines))
}

fn literals(text: &str) -> impl Iterator<Item = &str> {
    text.split(['"', '\'', '`']).skip(1).step_by(2)
}

/// A text with `*` for each part that is put in when it runs: `out/${name}.html`, `{name}.res`.
fn with_stars(literal: &str) -> String {
    let mut stars = String::new();
    let mut depth = 0_usize;
    for letter in literal.chars() {
        match letter {
            '{' => {
                depth += 1;
                stars = stars.trim_end_matches(['$', '#']).to_string();
                stars.push('*');
            }
            '}' => depth = depth.saturating_sub(1),
            _ if depth == 0 => stars.push(letter),
            _ => {}
        }
    }
    stars
}
