//! Globs over whole names, such as those of tools and of files without their directory.
//!
//! Owns the simpler language: `*` and `?` match any byte, a slash too, brackets and escapes work as in paths, and
//! white space around the glob is not part of it. Refuses to give a meaning to a glob that is empty or malformed:
//! only the caller knows which way is safe.

use super::program::Program;
use super::syntax::{Dialect, compile};

/// Why a glob has no meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NameGlobError {
    /// There is nothing but white space.
    #[error("the glob is empty")]
    Empty,
    /// A bracket is not closed, a class has no such name, or an escape escapes nothing.
    #[error("the glob has an unclosed or unknown bracket class, or ends in a backslash")]
    Malformed,
}

/// A glob that matches a name as a whole, compiled once.
#[derive(Debug, Clone)]
pub struct NameGlob {
    program: Program,
}

impl NameGlob {
    pub fn new(glob: &str) -> Result<Self, NameGlobError> {
        let glob = glob.trim_ascii();
        if glob.is_empty() {
            return Err(NameGlobError::Empty);
        }
        let tokens = compile(glob.as_bytes(), Dialect::Name).ok_or(NameGlobError::Malformed)?;
        Ok(Self { program: Program::new(tokens) })
    }

    pub fn matches(&self, name: &[u8]) -> bool {
        let mut whole = false;
        self.program.for_each_matched_prefix(name, |length| whole |= length == name.len());
        whole
    }
}

#[cfg(test)]
mod tests {
    use super::{NameGlob, NameGlobError};

    #[test]
    fn names_match_as_a_whole() {
        let cases: &[(&str, &str, bool)] = &[
            // glob, name, whether it matches
            ("*", "", true),
            ("*", "a/b", true),
            ("a?c", "a/c", true),
            ("a?c", "ac", false),
            ("*delete*", "bulkDelete", false),
            ("*delete*", "files/delete_all", true),
            ("get", "get_all", false),
            ("get", "forget", false),
            ("GET", "get", false),
            ("**", "a/b/c", true),
            ("a**b", "a/x/b", true),
            ("[a-c]x", "Bx", false),
            ("[!a]x", "Ax", true),
            ("[!a]x", "/x", true),
            ("[[:upper:]]", "a", false),
            ("\\*", "*", true),
            ("\\*", "a", false),
            ("{a,b}", "a", false),
            ("#x", "#x", true),
            ("!x", "!x", true),
            (" x\t", "x", true),
            ("caf\u{e9}", "caf\u{c9}", false),
        ];
        for &(glob, name, expected) in cases {
            let found = NameGlob::new(glob).expect("a good glob").matches(name.as_bytes());
            assert_eq!(found, expected, "{glob:?} {name:?}");
        }
    }

    #[test]
    fn what_has_no_meaning_is_refused() {
        for (glob, error) in [
            ("", NameGlobError::Empty),
            (" \t", NameGlobError::Empty),
            ("[a", NameGlobError::Malformed),
            ("a\\", NameGlobError::Malformed),
            ("[[:nope:]]", NameGlobError::Malformed),
        ] {
            assert_eq!(NameGlob::new(glob).expect_err(glob), error, "{glob:?}");
        }
    }
}
