//! Finds short texts in lines.
//!
//! The standard library prepares a search for a text each time, which costs more than looking at a whole line. Here one byte
//! of the text is searched for with wide registers. The results are those of the standard library.

use memchr::{memchr_iter, memrchr_iter};

pub(crate) trait Search {
    /// As `contains`.
    fn has(&self, text: &str) -> bool;
    /// As `find`.
    fn position_of(&self, text: &str) -> Option<usize>;
    /// As `split_once`.
    fn cut(&self, text: &str) -> Option<(&str, &str)>;
    /// As `rsplit_once`.
    fn cut_last(&self, text: &str) -> Option<(&str, &str)>;
}

impl Search for str {
    fn has(&self, text: &str) -> bool {
        self.position_of(text).is_some()
    }

    fn position_of(&self, text: &str) -> Option<usize> {
        let Some((offset, byte)) = searched(text) else { return Some(0) };
        let (line, text) = (self.as_bytes(), text.as_bytes());
        memchr_iter(byte, line)
            .find_map(|at| at.checked_sub(offset).filter(|start| begins(line, *start, text)))
    }

    fn cut(&self, text: &str) -> Option<(&str, &str)> {
        let at = self.position_of(text)?;
        self.get(..at).zip(self.get(at + text.len()..))
    }

    fn cut_last(&self, text: &str) -> Option<(&str, &str)> {
        let Some((offset, byte)) = searched(text) else { return Some((self, "")) };
        let (line, bytes) = (self.as_bytes(), text.as_bytes());
        let found = |at: usize| at.checked_sub(offset).filter(|start| begins(line, *start, bytes));
        let at = memrchr_iter(byte, line).find_map(found)?;
        self.get(..at).zip(self.get(at + text.len()..))
    }
}

fn begins(line: &[u8], start: usize, text: &[u8]) -> bool {
    line.get(start..).is_some_and(|rest| rest.starts_with(text))
}

/// The byte to look for: the first that is no blank, since a line has many of those.
fn searched(text: &str) -> Option<(usize, u8)> {
    let bytes = text.as_bytes();
    let offset = bytes.iter().position(|byte| *byte != b' ').unwrap_or(0);
    bytes.get(offset).map(|byte| (offset, *byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Catches a search that begins behind the first place where the text may stand.
        #[test]
        fn as_the_standard_library(line in "[ab é:]{0,12}", text in "[ab é:]{0,3}") {
            prop_assert_eq!(line.has(&text), line.contains(&text));
            prop_assert_eq!(line.position_of(&text), line.find(&text));
            prop_assert_eq!(line.cut(&text), line.split_once(&text));
            prop_assert_eq!(line.cut_last(&text), line.rsplit_once(&text));
        }
    }
}
