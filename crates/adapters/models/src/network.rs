//! What all models of a process share: connections, the options that endpoints accept, the circuit breakers.
//!
//! Owns no state of a single call. One per process is enough; a second one would have to learn everything again.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::breaker::{BreakerLimits, CircuitBreakers};
use crate::http::{HttpClient, Proxies};
use crate::options::KnownOptions;
use crate::retry::Backoff;

/// Limits of every call. Only tests change the defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NetworkLimits {
    pub backoff: Backoff,
    pub breaker: BreakerLimits,
    /// The longest time without a byte in a stream.
    pub silence: Duration,
    /// The longest time until a stream starts.
    pub first_byte: Duration,
    /// The largest answer that is accepted, in bytes.
    pub max_answer: u64,
    /// How long a local server has to answer when models are detected. Users without one must not wait.
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
    /// The limits for a call with this deadline. A slow model starts late, and a retry would make it start again: a longer
    /// deadline also gives it longer to start and to be silent.
    pub fn for_deadline(deadline: Duration) -> Self {
        let default = Self::default();
        Self {
            first_byte: default.first_byte.max(deadline / 2),
            silence: default.silence.max(deadline / 5),
            ..default
        }
    }
}

/// Shared by all models.
#[derive(Debug)]
pub struct Network {
    pub(crate) limits: NetworkLimits,
    pub(crate) http: HttpClient,
    pub(crate) known_options: KnownOptions,
    pub(crate) breakers: CircuitBreakers,
    calls: AtomicU64,
}

impl Network {
    /// `environment` may name proxies. Nothing is started before the first request.
    pub fn new(limits: NetworkLimits, environment: &BTreeMap<String, String>) -> Self {
        Self {
            limits,
            http: HttpClient::new(Proxies::of(environment)),
            known_options: KnownOptions::default(),
            breakers: CircuitBreakers::new(limits.breaker),
            calls: AtomicU64::new(0),
        }
    }

    /// The backoff of the next call: each has its own jitter, since many may run at once.
    pub(crate) fn next_backoff(&self) -> Backoff {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        // The factor spreads small numbers over all bits, so that neighbouring seeds do not give the same pauses.
        let seed = self.limits.backoff.seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Backoff { seed, ..self.limits.backoff }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_deadline_gives_longer_to_start() {
        let of = |seconds| {
            let limits = NetworkLimits::for_deadline(Duration::from_secs(seconds));
            (limits.first_byte.as_secs(), limits.silence.as_secs())
        };
        assert_eq!([of(1), of(300), of(3600)], [(180, 60), (180, 60), (1800, 720)]);
    }
}
