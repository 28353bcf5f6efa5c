//! A circuit breaker for each endpoint: after repeated failures it is not asked for a while.
//!
//! Owns one state per endpoint: closed, open until a moment, or probed by one request while the others are blocked.
//! Refuses to know why a request failed: the caller says whether the endpoint was alive. Time is passed in.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// When an endpoint is left alone, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BreakerLimits {
    /// Consecutive failures that open the breaker. One failure is a call that used up all its retries.
    pub failures: u32,
    pub pause: Duration,
}

impl Default for BreakerLimits {
    fn default() -> Self {
        Self { failures: 3, pause: Duration::from_secs(30) }
    }
}

/// What a call showed about its endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndpointHealth {
    /// It answered, even if it rejected the request.
    Alive,
    /// All requests failed.
    Down,
    /// The call was cancelled, so nothing was learned.
    Unknown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admission {
    Allowed,
    Blocked { failures: u32, retry_in: Duration },
}

#[derive(Debug, Clone, Copy, Default)]
struct State {
    failures: u32,
    open_until: Option<Instant>,
    /// Until when the probe may report: one that never does must not block the endpoint for ever.
    probe_until: Option<Instant>,
}

#[derive(Debug, Default)]
pub(crate) struct CircuitBreakers {
    limits: BreakerLimits,
    states: Mutex<BTreeMap<String, State>>,
}

impl CircuitBreakers {
    pub(crate) fn new(limits: BreakerLimits) -> Self {
        Self { limits, states: Mutex::default() }
    }

    /// Asks for admission. A request that probes an open endpoint has until `deadline` to report.
    pub(crate) fn admit(&self, endpoint: &str, now: Instant, deadline: Instant) -> Admission {
        let mut states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(state) = states.get_mut(endpoint) else { return Admission::Allowed };
        let Some(open_until) = state.open_until else { return Admission::Allowed };
        let blocked = [state.probe_until, Some(open_until)].into_iter().flatten().find(|until| *until > now);
        match blocked {
            Some(until) => Admission::Blocked { failures: state.failures, retry_in: until - now },
            None => {
                state.probe_until = Some(deadline);
                Admission::Allowed
            }
        }
    }

    pub(crate) fn report(&self, endpoint: &str, health: EndpointHealth, now: Instant) {
        let mut states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        match health {
            EndpointHealth::Alive => {
                states.remove(endpoint);
            }
            EndpointHealth::Down => {
                let state = states.entry(endpoint.to_string()).or_default();
                state.failures = state.failures.saturating_add(1);
                state.probe_until = None;
                if state.failures >= self.limits.failures {
                    state.open_until = now.checked_add(self.limits.pause);
                }
            }
            EndpointHealth::Unknown => {
                if let Some(state) = states.get_mut(endpoint) {
                    state.probe_until = None;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn opened(now: Instant) -> CircuitBreakers {
        let breakers = CircuitBreakers::new(BreakerLimits { failures: 2, pause: SECOND * 10 });
        breakers.report("a", EndpointHealth::Down, now);
        assert_eq!(breakers.admit("a", now, now + SECOND), Admission::Allowed);
        breakers.report("a", EndpointHealth::Down, now);
        breakers
    }

    #[test]
    fn it_opens_for_a_while_and_only_for_that_endpoint() {
        let now = Instant::now();
        let breakers = opened(now);
        let blocked = Admission::Blocked { failures: 2, retry_in: SECOND * 7 };
        assert_eq!(breakers.admit("a", now + SECOND * 3, now + SECOND * 60), blocked);
        assert_eq!(breakers.admit("b", now, now + SECOND), Admission::Allowed);
    }

    #[test]
    fn one_request_probes_while_the_others_are_blocked() {
        let now = Instant::now();
        let later = now + SECOND * 11;
        let blocked = Admission::Blocked { failures: 2, retry_in: SECOND * 5 };
        for (health, next) in [
            (EndpointHealth::Alive, Admission::Allowed),
            (EndpointHealth::Unknown, Admission::Allowed),
            (EndpointHealth::Down, Admission::Blocked { failures: 3, retry_in: SECOND * 10 }),
        ] {
            let breakers = opened(now);
            assert_eq!(breakers.admit("a", later, later + SECOND * 5), Admission::Allowed);
            assert_eq!(breakers.admit("a", later, later + SECOND * 5), blocked);
            breakers.report("a", health, later);
            assert_eq!(breakers.admit("a", later, later + SECOND), next, "{health:?}");
        }
    }

    #[test]
    fn a_probe_that_never_reports_does_not_block_for_ever() {
        let now = Instant::now();
        let breakers = opened(now);
        let later = now + SECOND * 11;
        assert_eq!(breakers.admit("a", later, later + SECOND * 5), Admission::Allowed);
        assert_eq!(breakers.admit("a", later + SECOND * 6, later + SECOND * 9), Admission::Allowed);
    }

    #[test]
    fn only_consecutive_failures_count() {
        let now = Instant::now();
        let breakers = CircuitBreakers::new(BreakerLimits { failures: 2, pause: SECOND });
        for health in [EndpointHealth::Down, EndpointHealth::Alive, EndpointHealth::Down] {
            breakers.report("a", health, now);
        }
        assert_eq!(breakers.admit("a", now, now), Admission::Allowed);
    }
}
