//! The path of a key, as people write it: `refinement.noise_threshold`, `tasks[3].id`.
//!
//! Owns the notation, both writing and reading. Does not know whether a path exists.
//!
//! Invariant: a path is one line whatever the keys are. A key with other characters than letters, digits, `_`, `-` and `$`
//! is written in double quotes, and must be typed that way.

use core::fmt;

use super::excerpt::excerpt;
use fixpoint_vocabulary::secret;

/// The longest key that is shown without quotes.
const LONGEST_BARE: usize = 100;

/// A path, built on the stack while walking down a tree.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Path<'up> {
    Root,
    Key(&'up Path<'up>, &'up str),
    /// The index counts from 0.
    Index(&'up Path<'up>, usize),
}

impl<'up> Path<'up> {
    pub(crate) fn key(&'up self, key: &'up str) -> Path<'up> {
        Path::Key(self, key)
    }

    pub(crate) fn index(&'up self, index: usize) -> Path<'up> {
        Path::Index(self, index)
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Root => Ok(()),
            Path::Key(Path::Root, key) => f.write_str(&written(key)),
            Path::Key(up, key) => write!(f, "{up}.{}", written(key)),
            Path::Index(up, index) => write!(f, "{up}[{index}]"),
        }
    }
}

/// A key as it appears in a path. A long or unusual one is shown like any other text: shortened, escaped, and hidden if it
/// looks like a credential on the wrong side of the colon.
fn written(key: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '$');
    let is_plain =
        !key.is_empty() && key.len() <= LONGEST_BARE && key.chars().all(bare) && !secret::is_in(key);
    if is_plain { key.to_owned() } else { excerpt(key) }
}

pub(crate) fn join<'key>(keys: impl IntoIterator<Item = &'key str>) -> String {
    keys.into_iter().map(written).collect::<Vec<_>>().join(".")
}

/// The keys of a path as typed; nothing if a key is empty or a quote is not closed.
pub(crate) fn split(path: &str) -> Option<Vec<String>> {
    let mut keys = Vec::new();
    let mut rest = path.trim();
    loop {
        let (key, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => rest.find('.').map_or((rest, ""), |dot| rest.split_at(dot)),
        };
        if key.is_empty() {
            return None;
        }
        keys.push(key.to_owned());
        if after.is_empty() {
            return Some(keys);
        }
        rest = after.strip_prefix('.')?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn writing() {
        let (tasks, item);
        let root = Path::Root;
        tasks = root.key("tasks");
        item = tasks.index(3);
        assert_eq!(item.key("id").to_string(), "tasks[3].id");
        assert_eq!(root.to_string(), "");
        assert_eq!(root.key("a b\n").to_string(), "\"a b\\n\"");
        assert_eq!(root.index(0).key("x.y").to_string(), "[0].\"x.y\"");
    }

    #[test]
    fn reading() {
        let keys = |keys: &[&str]| Some(keys.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>());
        assert_eq!(split("max_workers"), keys(&["max_workers"]));
        assert_eq!(split("planning.cache.ttl "), keys(&["planning", "cache", "ttl"]));
        assert_eq!(
            split("models.prices.\"gpt-4.1\".per_attempt"),
            keys(&["models", "prices", "gpt-4.1", "per_attempt"])
        );
        for none in ["", ".", "a.", ".a", "a..b", "\"a", "\"a\"b", "\"\""] {
            assert_eq!(split(none), None, "{none}");
        }
    }

    proptest! {
        /// Catches: writing a key with a dot in it without quotes.
        #[test]
        fn what_is_written_can_be_read_back(keys in prop::collection::vec("[a-z.\\[ _-]{1,8}", 1..5)) {
            prop_assert_eq!(split(&join(keys.iter().map(String::as_str))), Some(keys));
        }
    }
}
