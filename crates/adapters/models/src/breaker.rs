//! Whether an endpoint that failed again and again is asked at all.
//!
//! Owns one state per endpoint: closed, open until a moment, or tried by one question while the others are turned away.
//! Refuses to know why a question failed: it is told whether the endpoint was alive. Time is handed in.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// When an endpoint is left alone, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BreakerLimits {
    /// Questions in a row that used up all their requests without an answer.
    pub failures: u32,
    /// How long nobody asks then.
    pub pause: Duration,
}

impl Default for BreakerLimits {
    fn default() -> Self {
        Self { failures: 3, pause: Duration::from_secs(30) }
    }
}

/// What a question showed of its endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    /// It answered, be it with a refusal.
    Alive,
    /// All requests failed.
    Dead,
    /// Nothing: the question was given up.
    Nothing,
}

/// Whether a question may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admission {
    Go,
    /// Not now: so many questions failed in a row, and in so much time it is tried again.
    TurnedAway {
        failures: u32,
        again_in: Duration,
    },
}

#[derive(Debug, Clone, Copy, Default)]
struct State {
    failures: u32,
    open_until: Option<Instant>,
    /// Until when the question that tries it is waited for: one that never reports must not close the endpoint for good.
    probe_until: Option<Instant>,
}

/// The states of all endpoints.
#[derive(Debug, Default)]
pub(crate) struct Breakers {
    limits: BreakerLimits,
    states: Mutex<BTreeMap<String, State>>,
}

impl Breakers {
    pub(crate) fn new(limits: BreakerLimits) -> Self {
        Self { limits, states: Mutex::default() }
    }

    /// Asks for admission. A question that tries an open endpoint has until `deadline` to report.
    pub(crate) fn admit(&self, endpoint: &str, now: Instant, deadline: Instant) -> Admission {
        let mut states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(state) = states.get_mut(endpoint) else { return Admission::Go };
        let Some(until) = state.open_until else { return Admission::Go };
        let blocked =
            state.probe_until.filter(|until| *until > now).or(Some(until).filter(|until| *until > now));
        match blocked {
            Some(until) => Admission::TurnedAway { failures: state.failures, again_in: until - now },
            None => {
                state.probe_until = Some(deadline);
                Admission::Go
            }
        }
    }

    /// Reports what a question showed.
    pub(crate) fn report(&self, endpoint: &str, seen: Seen, now: Instant) {
        let mut states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        match seen {
            Seen::Alive => {
                states.remove(endpoint);
            }
            Seen::Dead => {
                let state = states.entry(endpoint.to_string()).or_default();
                state.failures = state.failures.saturating_add(1);
                state.probe_until = None;
                if state.failures >= self.limits.failures {
                    state.open_until = now.checked_add(self.limits.pause);
                }
            }
            Seen::Nothing => {
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

    fn opened(now: Instant) -> Breakers {
        let breakers = Breakers::new(BreakerLimits { failures: 2, pause: SECOND * 10 });
        breakers.report("a", Seen::Dead, now);
        assert_eq!(breakers.admit("a", now, now + SECOND), Admission::Go);
        breakers.report("a", Seen::Dead, now);
        breakers
    }

    #[test]
    fn it_opens_for_a_while_and_for_that_endpoint_only() {
        let now = Instant::now();
        let breakers = opened(now);
        let turned = Admission::TurnedAway { failures: 2, again_in: SECOND * 7 };
        assert_eq!(breakers.admit("a", now + SECOND * 3, now + SECOND * 60), turned);
        assert_eq!(breakers.admit("b", now, now + SECOND), Admission::Go);
    }

    #[test]
    fn one_question_tries_it_while_others_are_turned_away() {
        let now = Instant::now();
        let later = now + SECOND * 11;
        let turned = Admission::TurnedAway { failures: 2, again_in: SECOND * 5 };
        for (seen, next) in [
            (Seen::Alive, Admission::Go),
            (Seen::Nothing, Admission::Go),
            (Seen::Dead, Admission::TurnedAway { failures: 3, again_in: SECOND * 10 }),
        ] {
            let breakers = opened(now);
            assert_eq!(breakers.admit("a", later, later + SECOND * 5), Admission::Go);
            assert_eq!(breakers.admit("a", later, later + SECOND * 5), turned);
            breakers.report("a", seen, later);
            assert_eq!(breakers.admit("a", later, later + SECOND), next, "{seen:?}");
        }
    }

    #[test]
    fn a_question_that_never_reports_does_not_close_it_for_good() {
        let now = Instant::now();
        let breakers = opened(now);
        let later = now + SECOND * 11;
        assert_eq!(breakers.admit("a", later, later + SECOND * 5), Admission::Go);
        assert_eq!(breakers.admit("a", later + SECOND * 6, later + SECOND * 9), Admission::Go);
    }

    #[test]
    fn failures_must_be_in_a_row() {
        let now = Instant::now();
        let breakers = Breakers::new(BreakerLimits { failures: 2, pause: SECOND });
        for seen in [Seen::Dead, Seen::Alive, Seen::Dead] {
            breakers.report("a", seen, now);
        }
        assert_eq!(breakers.admit("a", now, now), Admission::Go);
    }
}
