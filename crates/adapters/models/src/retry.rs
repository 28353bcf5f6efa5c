//! Whether there is another request after one that failed, and when.
//!
//! Owns the decision, as a function of what is known: pauses that double, a jitter out of a seed, what the endpoint asks
//! for, what is left of the time and of the requests. Refuses the clock and randomness.

use std::time::Duration;

/// How pauses grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// The first pause, at most.
    pub first: Duration,
    /// Any pause, at most, unless the endpoint asks for a longer one.
    pub longest: Duration,
    /// Out of which the jitter is made, so that several callers do not come back together and a test can repeat itself.
    pub seed: u64,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { first: Duration::from_millis(500), longest: Duration::from_secs(20), seed: 0 }
    }
}

/// What happens after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Another request after this pause.
    After(Duration),
    /// As many requests were made as may be.
    UsedUp,
    /// The endpoint asks to be left alone for longer than there is time.
    LaterThanDeadline(Duration),
    /// The pause would be longer than the time that is left.
    NoTime,
}

/// Decides after the request number `made`, counted from one.
pub(crate) fn decide(
    backoff: Backoff,
    made: u32,
    most: u32,
    asked: Option<Duration>,
    left: Duration,
) -> Verdict {
    if made >= most {
        return Verdict::UsedUp;
    }
    let jitter = jitter(backoff.seed, made);
    if let Some(asked) = asked {
        // A little later than asked for, so that those who were told the same do not come together.
        let pause = asked.saturating_add(asked.min(backoff.first).mul_f64(jitter / 4.0));
        return if pause >= left { Verdict::LaterThanDeadline(asked) } else { Verdict::After(pause) };
    }
    let doubled = backoff.first.saturating_mul(1_u32.checked_shl(made.saturating_sub(1)).unwrap_or(u32::MAX));
    let pause = doubled.min(backoff.longest).mul_f64(0.5 + jitter / 2.0);
    if pause >= left { Verdict::NoTime } else { Verdict::After(pause) }
}

/// A number from 0 up to 1 that depends on the seed and the request alone.
#[expect(clippy::cast_precision_loss, reason = "only 53 bits are taken")]
fn jitter(seed: u64, made: u32) -> f64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&seed.to_le_bytes()).update(&made.to_le_bytes());
    let mut bytes = [0; 8];
    hasher.finalize_xof().fill(&mut bytes);
    (u64::from_le_bytes(bytes) >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn the_bounds_are_kept() {
        let backoff = Backoff::default();
        assert_eq!(decide(backoff, 3, 3, None, SECOND * 100), Verdict::UsedUp);
        assert_eq!(
            decide(backoff, 1, 3, Some(SECOND * 9), SECOND * 5),
            Verdict::LaterThanDeadline(SECOND * 9)
        );
        assert_eq!(decide(backoff, 1, 3, None, SECOND / 10), Verdict::NoTime);
        assert_eq!(
            decide(backoff, 1, 3, Some(SECOND), SECOND * 5),
            decide(backoff, 1, 3, Some(SECOND), SECOND * 5)
        );
    }

    #[test]
    fn seeds_spread_the_pauses() {
        let pauses: std::collections::BTreeSet<u128> = (0..50)
            .filter_map(|seed| {
                match decide(Backoff { seed, ..Backoff::default() }, 2, 9, None, SECOND * 99) {
                    Verdict::After(pause) => Some(pause.as_micros()),
                    Verdict::UsedUp | Verdict::LaterThanDeadline(_) | Verdict::NoTime => None,
                }
            })
            .collect();
        assert!(pauses.len() > 45, "{}", pauses.len());
    }

    proptest! {
        /// Catches a shift that overflows at large numbers, a pause before the time asked for, and one beyond the time.
        #[test]
        fn a_pause_lies_within_its_bounds(
            seed: u64, made in 1..200_u32, asked in proptest::option::of(0..100_000_u64), left in 0..200_000_u64,
        ) {
            let backoff = Backoff { seed, ..Backoff::default() };
            let (asked, left) = (asked.map(Duration::from_millis), Duration::from_millis(left));
            if let Verdict::After(pause) = decide(backoff, made, 1000, asked, left) {
                prop_assert!(pause < left);
                match asked {
                    Some(asked) => prop_assert!(pause >= asked && pause <= asked + backoff.first / 4),
                    None => prop_assert!(pause >= backoff.first / 2 && pause <= backoff.longest),
                }
            }
        }
    }
}
