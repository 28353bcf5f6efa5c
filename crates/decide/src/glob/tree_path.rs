//! What a path inside a repository is: names separated by single slashes, none empty, `.` or `..`.
//!
//! Owns that rule as a machine that reads one byte at a time, because overlap has to walk it along with two
//! patterns. A question about a whole path is a run of the same machine, so the rule exists once.

use super::bytes::ByteSet;

/// Whether these bytes can be the path of something in a repository's tree, given from its root.
pub fn is_tree_path(path: &[u8]) -> bool {
    path.iter().try_fold(Segment::START, |segment, &byte| segment.after(byte)).is_some_and(Segment::may_end)
}

/// How much of the present name has been read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Segment {
    Empty,
    Dot,
    DotDot,
    /// Something that can be a name.
    Name,
}

impl Segment {
    pub(super) const START: Self = Self::Empty;

    /// Whether a path may end here.
    pub(super) fn may_end(self) -> bool {
        match self {
            Self::Empty | Self::Dot | Self::DotDot => false,
            Self::Name => true,
        }
    }

    /// After one more byte; `None` when no path goes on like that.
    fn after(self, byte: u8) -> Option<Self> {
        match (byte, self) {
            (0, _) => None,
            (b'/', _) => self.may_end().then_some(Self::Empty),
            (b'.', Self::Empty) => Some(Self::Dot),
            (b'.', Self::Dot) => Some(Self::DotDot),
            (_, Self::Empty | Self::Dot | Self::DotDot | Self::Name) => Some(Self::Name),
        }
    }

    /// Everything that one more byte of the set can lead to. All bytes but the three special ones act alike, so
    /// one of them stands for all.
    pub(super) fn after_any_of(self, bytes: ByteSet) -> impl Iterator<Item = Self> {
        const ORDINARY: ByteSet =
            ByteSet::of(0).union(ByteSet::of(b'/')).union(ByteSet::of(b'.')).complement();
        [(ByteSet::of(b'/'), b'/'), (ByteSet::of(b'.'), b'.'), (ORDINARY, b'a')]
            .into_iter()
            .filter(move |(alike, _)| alike.meets(bytes))
            .filter_map(move |(_, example)| self.after(example))
    }
}

#[cfg(test)]
mod tests {
    use super::is_tree_path;

    #[test]
    fn a_tree_path_is_made_of_real_names() {
        for path in ["a", "a/b", ".a", "..a", "...", "a./b..", ".../a", "a b", "\u{e9}/\u{3042}", "a\\b", "-"]
        {
            assert!(is_tree_path(path.as_bytes()), "{path:?}");
        }
        for path in
            ["", "/", "/a", "a/", "a//b", ".", "..", "./a", "../a", "a/.", "a/..", "a/./b", "a/../b", "a\0b"]
        {
            assert!(!is_tree_path(path.as_bytes()), "{path:?}");
        }
        assert!(is_tree_path(b"\xff/\xfe"));
    }
}
