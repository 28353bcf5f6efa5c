//! Which entries of a list are there already, found by a cheap hash.
//!
//! Owns a table of places in the caller's list, never the entries: the caller compares them, so that two texts with the
//! same hash are not mistaken for one. Gives up after a few comparisons, so that crafted texts cost no more than others;
//! the caller must bear an entry that is there twice.

/// Comparisons for one entry.
const MOST_PROBES: usize = 32;

#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// The hash, and the place counted from 1; 0 is an empty slot. There are twice as many slots as entries.
    slots: Vec<(u32, u32)>,
    used: usize,
}

impl Seen {
    /// Whether an entry is new. It must then be appended to the list, at this place.
    pub(crate) fn is_new(&mut self, hash: u32, place: usize, is_same: impl Fn(usize) -> bool) -> bool {
        if self.used * 2 >= self.slots.len() {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        for step in 0..MOST_PROBES {
            let Some(slot) = self.slots.get_mut((hash as usize + step) & mask) else { return true };
            if slot.1 == 0 {
                *slot = (hash, u32::try_from(place + 1).unwrap_or_default());
                self.used += 1;
                return true;
            }
            if slot.0 == hash && is_same(slot.1 as usize - 1) {
                return false;
            }
        }
        true
    }

    /// Whether an entry is there.
    pub(crate) fn has(&self, hash: u32, is_same: impl Fn(usize) -> bool) -> bool {
        let Some(mask) = self.slots.len().checked_sub(1) else { return false };
        let places = (0..MOST_PROBES).map(|step| (hash as usize + step) & mask);
        let mut used = places.map_while(|at| self.slots.get(at).filter(|slot| slot.1 != 0));
        used.any(|slot| slot.0 == hash && is_same(slot.1 as usize - 1))
    }

    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(64);
        let old = std::mem::replace(&mut self.slots, vec![(0, 0); size]);
        for (hash, place) in old.into_iter().filter(|slot| slot.1 != 0) {
            let places = (0..size).map(|step| (hash as usize + step) & (size - 1));
            let free = places.into_iter().find(|at| self.slots.get(*at).is_some_and(|slot| slot.1 == 0));
            if let Some(slot) = free.and_then(|at| self.slots.get_mut(at)) {
                *slot = (hash, place);
            }
        }
    }
}

/// A hash of texts that follow each other. Only for [`Seen`]: others can make texts that share one.
pub(crate) fn hash_of<'a>(texts: impl IntoIterator<Item = Option<&'a str>>) -> u32 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |hash: u64, word: u64| (hash.rotate_left(23) ^ word).wrapping_mul(FACTOR);
    let mut hash = 0;
    for text in texts {
        let bytes = text.unwrap_or_default().as_bytes();
        hash = mix(hash, text.map_or(u64::MAX, |text| text.len() as u64));
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            hash = mix(hash, u64::from_le_bytes(*word));
        }
        for byte in rest {
            hash = mix(hash, u64::from(*byte));
        }
    }
    (hash >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a table that loses entries when it grows, and one that trusts the hash.
    #[test]
    fn each_entry_is_new_once() {
        let (mut seen, mut list) = (Seen::default(), Vec::new());
        for round in 0..2 {
            for number in 0..1000_u32 {
                // Pairs share a hash.
                let hash = hash_of([Some((number / 2).to_string().as_str())]);
                let is_new = seen.is_new(hash, list.len(), |at| list.get(at) == Some(&number));
                assert_eq!(is_new, round == 0, "{number}");
                list.extend(is_new.then_some(number));
            }
        }
        assert_eq!(list.len(), 1000);
    }

    #[test]
    fn texts_are_kept_apart() {
        let hashes = [
            hash_of([Some("ab"), Some("c")]),
            hash_of([Some("a"), Some("bc")]),
            hash_of([None, Some("abc")]),
            hash_of([Some(""), Some("abc")]),
            hash_of([Some("abcdefghi")]),
            hash_of([Some("abcdefghj")]),
        ];
        let mut distinct = hashes.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), hashes.len());
    }
}
