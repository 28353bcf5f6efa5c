//! What the names in a source stand for: modules, and members of them, under whatever name they are imported.
//!
//! Owns imports and plain assignments of such names in one file. Refuses to follow calls, parameters and other files. A name
//! that is bound twice stands for what it was bound to first.

pub(crate) mod javascript;
pub(crate) mod python;
mod python_scan;

use std::collections::BTreeMap;

/// The names of a source, each with the path of what it stands for: `T` is `unittest.TestCase`.
pub(crate) type Names = BTreeMap<String, String>;

/// A source in which each name has been replaced by what it stands for, if that is a part of one of some modules.
fn with_paths(
    text: &str,
    tokens: &[std::ops::Range<usize>],
    path_of: &dyn Fn(usize, &str) -> Option<String>,
) -> String {
    let mut result = String::with_capacity(text.len());
    let mut end = 0;
    for (number, token) in tokens.iter().enumerate() {
        let word = text.get(token.clone()).unwrap_or_default();
        result.push_str(text.get(end..token.start).unwrap_or_default());
        match path_of(number, word) {
            Some(path) => result.push_str(&path),
            None => result.push_str(word),
        }
        end = token.end;
    }
    result.push_str(text.get(end..).unwrap_or_default());
    result
}
