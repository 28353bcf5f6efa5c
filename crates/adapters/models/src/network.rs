//! What all models of a process share: connections, what endpoints were found to accept, which of them are down.
//!
//! Owns nothing of any one question. One is enough for a process, and a second one would learn everything anew.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::breaker::{BreakerLimits, Breakers};
use crate::retry::Backoff;
use crate::shape::Shapes;
use crate::wire::{Proxies, Wire};

/// Limits of every question. The defaults suit everybody but tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NetworkLimits {
    /// How pauses between requests grow.
    pub backoff: Backoff,
    /// When an endpoint is left alone.
    pub breaker: BreakerLimits,
    /// The longest time without a byte inside a stream.
    pub silence: Duration,
    /// The longest time until a stream begins.
    pub first_byte: Duration,
    /// Bytes of one answer, at most.
    pub max_answer: u64,
    /// A server on this machine answers within this time, or is none. Whoever has none must not wait.
    pub local_server: Duration,
}

impl Default for NetworkLimits {
    fn default() -> Self {
        Self {
            backoff: Backoff::default(),
            breaker: BreakerLimits::default(),
            silence: Duration::from_secs(60),
            first_byte: Duration::from_secs(180),
            max_answer: 16 << 20,
            local_server: Duration::from_millis(150),
        }
    }
}

impl NetworkLimits {
    /// The limits where one answer may take so long. A model that reads slowly begins late, and would have to begin anew
    /// if it were asked again: whoever grants more time in all grants more for the beginning and for silence too.
    pub fn within(deadline: Duration) -> Self {
        let usual = Self::default();
        Self {
            first_byte: usual.first_byte.max(deadline / 2),
            silence: usual.silence.max(deadline / 5),
            ..usual
        }
    }
}

/// The network, shared by all models.
#[derive(Debug)]
pub struct Network {
    pub(crate) limits: NetworkLimits,
    pub(crate) wire: Wire,
    pub(crate) shapes: Shapes,
    pub(crate) breakers: Breakers,
    /// Questions asked so far.
    questions: AtomicU64,
}

impl Network {
    /// A network; the environment may name proxies. Nothing is started before the first request.
    pub fn new(limits: NetworkLimits, environment: &BTreeMap<String, String>) -> Self {
        Self {
            limits,
            wire: Wire::new(Proxies::of(environment)),
            shapes: Shapes::default(),
            breakers: Breakers::new(limits.breaker),
            questions: AtomicU64::new(0),
        }
    }

    /// The pauses of the next question: each has a jitter of its own, since many may be asked at once.
    pub(crate) fn backoff(&self) -> Backoff {
        let number = self.questions.fetch_add(1, Ordering::Relaxed);
        // The factor spreads small numbers over all bits, so that neighbouring seeds do not give the same pauses.
        let seed = self.limits.backoff.seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Backoff { seed, ..self.limits.backoff }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_time_in_all_is_more_time_to_begin() {
        let of = |seconds| {
            let limits = NetworkLimits::within(Duration::from_secs(seconds));
            (limits.first_byte.as_secs(), limits.silence.as_secs())
        };
        assert_eq!([of(1), of(300), of(3600)], [(180, 60), (180, 60), (1800, 720)]);
    }
}
