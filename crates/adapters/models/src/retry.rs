//! Whether to retry a failed request, and when.
//!
//! Owns the decision as a pure function: pauses that double, jitter from a seed, the pause the endpoint asks for, the time
//! and the requests that are left. Refuses the clock and randomness.

use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// The longest first pause.
    pub first: Duration,
    /// The longest pause, unless the endpoint asks for a longer one.
    pub longest: Duration,
    /// The seed of the jitter: several callers do not retry at the same moment, and tests are repeatable.
    pub seed: u64,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { first: Duration::from_millis(500), longest: Duration::from_secs(20), seed: 0 }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RetryDecision {
    After(Duration),
    OutOfRequests,
    /// The endpoint asks for a longer pause than there is time.
    LaterThanDeadline(Duration),
    /// Our own pause would be longer than the time that is left.
    OutOfTime,
}

/// Decides after request number `made`, counted from one.
pub(crate) fn decide(
    backoff: Backoff,
    made: u32,
    max_requests: u32,
    asked: Option<Duration>,
    left: Duration,
) -> RetryDecision {
    if made >= max_requests {
        return RetryDecision::OutOfRequests;
    }
    let jitter = jitter(backoff.seed, made);
    if let Some(asked) = asked {
        // A little later than asked for, so that callers who were told the same do not retry together.
        let pause = asked.saturating_add(asked.min(backoff.first).mul_f64(jitter / 4.0));
        return if pause >= left {
            RetryDecision::LaterThanDeadline(asked)
        } else {
            RetryDecision::After(pause)
        };
    }
    let doubled = backoff.first.saturating_mul(1_u32.checked_shl(made.saturating_sub(1)).unwrap_or(u32::MAX));
    let pause = doubled.min(backoff.longest).mul_f64(0.5 + jitter / 2.0);
    if pause >= left { RetryDecision::OutOfTime } else { RetryDecision::After(pause) }
}

/// A number from 0 up to 1 that depends only on the seed and the request number.
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
    fn limits_are_respected() {
        let backoff = Backoff::default();
        assert_eq!(decide(backoff, 3, 3, None, SECOND * 100), RetryDecision::OutOfRequests);
        assert_eq!(
            decide(backoff, 1, 3, Some(SECOND * 9), SECOND * 5),
            RetryDecision::LaterThanDeadline(SECOND * 9)
        );
        assert_eq!(decide(backoff, 1, 3, None, SECOND / 10), RetryDecision::OutOfTime);
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
                    RetryDecision::After(pause) => Some(pause.as_micros()),
                    RetryDecision::OutOfRequests
                    | RetryDecision::LaterThanDeadline(_)
                    | RetryDecision::OutOfTime => None,
                }
            })
            .collect();
        assert!(pauses.len() > 45, "{}", pauses.len());
    }

    proptest! {
        /// Catches a shift that overflows at large numbers, a pause before the time asked for, and one beyond the time.
        #[test]
        fn a_pause_is_within_its_limits(
            seed: u64, made in 1..200_u32, asked in proptest::option::of(0..100_000_u64), left in 0..200_000_u64,
        ) {
            let backoff = Backoff { seed, ..Backoff::default() };
            let (asked, left) = (asked.map(Duration::from_millis), Duration::from_millis(left));
            if let RetryDecision::After(pause) = decide(backoff, made, 1000, asked, left) {
                prop_assert!(pause < left);
                match asked {
                    Some(asked) => prop_assert!(pause >= asked && pause <= asked + backoff.first / 4),
                    None => prop_assert!(pause >= backoff.first / 2 && pause <= backoff.longest),
                }
            }
        }
    }
}
