//! Sets of bytes, which is all a pattern can say about one position of a path.
//!
//! Every operation is total: there is no index that could be out of range.

/// A set of byte values, one bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ByteSet {
    low: u128,
    high: u128,
}

impl ByteSet {
    pub(super) const NONE: Self = Self { low: 0, high: 0 };
    pub(super) const ALL: Self = Self::NONE.complement();
    /// Every byte that can be part of a file name.
    pub(super) const NOT_SLASH: Self = Self::of(b'/').complement();

    pub(super) const fn of(byte: u8) -> Self {
        if byte < 128 { Self { low: 1 << byte, high: 0 } } else { Self { low: 0, high: 1 << (byte - 128) } }
    }

    /// The bytes for which a condition holds.
    pub(super) fn where_byte(holds: impl Fn(u8) -> bool) -> Self {
        (0..=u8::MAX).filter(|&byte| holds(byte)).fold(Self::NONE, |set, byte| set.union(Self::of(byte)))
    }

    pub(super) const fn union(self, other: Self) -> Self {
        Self { low: self.low | other.low, high: self.high | other.high }
    }

    pub(super) const fn intersection(self, other: Self) -> Self {
        Self { low: self.low & other.low, high: self.high & other.high }
    }

    pub(super) const fn complement(self) -> Self {
        Self { low: !self.low, high: !self.high }
    }

    pub(super) const fn meets(self, other: Self) -> bool {
        let common = self.intersection(other);
        common.low != 0 || common.high != 0
    }

    pub(super) const fn contains(self, byte: u8) -> bool {
        self.meets(Self::of(byte))
    }
}

#[cfg(test)]
mod tests {
    use super::ByteSet;

    #[test]
    fn a_set_holds_exactly_what_was_put_in() {
        for byte in 0..=u8::MAX {
            let set = ByteSet::of(byte);
            for other in 0..=u8::MAX {
                assert_eq!(set.contains(other), byte == other, "{byte} {other}");
                assert_eq!(set.complement().contains(other), byte != other, "{byte} {other}");
                let (one, both) = (ByteSet::of(other), set.union(ByteSet::of(other)));
                assert!(both.contains(byte) && both.contains(other), "{byte} {other}");
                let common = if byte == other { set } else { ByteSet::NONE };
                assert_eq!(set.intersection(one), common, "{byte} {other}");
            }
        }
    }
}
