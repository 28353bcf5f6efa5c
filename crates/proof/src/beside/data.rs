//! Data that only tests read, wherever it is.
//!
//! Owns the ways in which a test names such a file. Refuses code. Invariant: what the product reads, too, is product.

use super::{Source, Users, is_code, is_import_of};
use crate::ChangeKind;
use crate::links::Links;
use crate::paths::{name, stem};

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
