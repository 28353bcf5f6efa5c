//! Turns a ring buffer in a file into a sequence, in place and in bounded memory.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// Bytes read at a time.
const BLOCK: usize = 64 << 10;

/// Moves the first `by` bytes of the range behind the others. Three reversals need no second copy.
pub(crate) fn rotate_left(file: &File, range: Range<u64>, by: u64) -> io::Result<()> {
    let middle = range.start.saturating_add(by).min(range.end);
    if middle == range.start || middle == range.end {
        return Ok(());
    }
    let (mut low, mut high) = (vec![0; BLOCK], vec![0; BLOCK]);
    reverse(file, range.start..middle, &mut low, &mut high)?;
    reverse(file, middle..range.end, &mut low, &mut high)?;
    reverse(file, range, &mut low, &mut high)
}

/// Reverses the bytes of a range, by swapping blocks from both ends.
fn reverse(file: &File, range: Range<u64>, low: &mut [u8], high: &mut [u8]) -> io::Result<()> {
    let Range { mut start, mut end } = range;
    while end.saturating_sub(start) > 1 {
        let half = usize::try_from((end - start) / 2).unwrap_or(usize::MAX);
        let length = half.min(low.len());
        let (Some(low), Some(high)) = (low.get_mut(..length), high.get_mut(..length)) else { return Ok(()) };
        let step = length as u64;
        file.read_exact_at(low, start)?;
        file.read_exact_at(high, end - step)?;
        low.reverse();
        high.reverse();
        file.write_all_at(high, start)?;
        file.write_all_at(low, end - step)?;
        start += step;
        end -= step;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rotated(content: &[u8], range: Range<usize>, by: usize) -> Vec<u8> {
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(content, 0).unwrap();
        rotate_left(&file, range.start as u64..range.end as u64, by as u64).unwrap();
        let mut result = vec![0; content.len()];
        file.read_exact_at(&mut result, 0).unwrap();
        result
    }

    proptest! {
        /// Catches one of the three reversals left out.
        #[test]
        fn a_file_is_rotated_like_a_slice(
            content in prop::collection::vec(any::<u8>(), 1..200), a: usize, b: usize, by: usize
        ) {
            let (a, b) = (a % content.len(), b % content.len());
            let range = a.min(b)..a.max(b);
            let by = if range.is_empty() { 0 } else { by % range.len() };
            let mut expected = content.clone();
            expected[range.clone()].rotate_left(by);
            prop_assert_eq!(rotated(&content, range, by), expected);
        }
    }

    #[test]
    fn more_than_one_block_is_rotated() {
        let content: Vec<u8> = (0..5 * BLOCK + 77).map(|i| (i % 251) as u8).collect();
        for by in [1, BLOCK - 1, BLOCK, 2 * BLOCK + 13, content.len() - 20] {
            let mut expected = content.clone();
            expected[9..].rotate_left(by);
            assert_eq!(rotated(&content, 9..content.len(), by), expected, "by {by}");
        }
    }
}
