//! Whether a run has gone on for too long, by the monotonic clock. Pure: it is told what time it is.

use std::time::{Duration, Instant};

use fixpoint_ports::{ExitCause, ProcessLimits};

/// When a run began, and when it was last heard of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Heard {
    pub(crate) started: Instant,
    pub(crate) last_output: Instant,
}

impl Heard {
    /// The limit that is exceeded at `now`, if any; that of the whole run before that of silence.
    pub(crate) fn exceeded(&self, limits: &ProcessLimits, now: Instant) -> Option<ExitCause> {
        let silent_for = now.saturating_duration_since(self.last_output);
        if now.saturating_duration_since(self.started) >= limits.wall {
            Some(ExitCause::TimedOut)
        } else if limits.silence.is_some_and(|silence| silent_for >= silence) {
            Some(ExitCause::Silent)
        } else {
            None
        }
    }

    /// How long until a limit can be exceeded.
    pub(crate) fn remaining(&self, limits: &ProcessLimits, now: Instant) -> Duration {
        let left =
            |limit: Duration, since: Instant| limit.saturating_sub(now.saturating_duration_since(since));
        let wall = left(limits.wall, self.started);
        limits.silence.map_or(wall, |silence| wall.min(left(silence, self.last_output)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_is_exceeded_at_its_time_and_not_before() {
        let started = Instant::now();
        let at = |seconds: u64| started + Duration::from_secs(seconds);
        let limits = |silence: Option<u64>| ProcessLimits {
            wall: Duration::from_secs(10),
            silence: silence.map(Duration::from_secs),
            grace: Duration::ZERO,
            kept_output: 0,
        };
        let cases = [
            (None, 0, 9, None, 1),
            (None, 0, 10, Some(ExitCause::TimedOut), 0),
            (Some(3), 0, 2, None, 1),
            (Some(3), 0, 3, Some(ExitCause::Silent), 0),
            (Some(3), 4, 6, None, 1),
            (Some(3), 7, 10, Some(ExitCause::TimedOut), 0),
            (Some(3), 8, 9, None, 1),
            // The clock cannot go back, but a last sign of life can be younger than the question.
            (Some(3), 9, 8, None, 2),
        ];
        for (silence, last_output, now, expected, remaining) in cases {
            let heard = Heard { started, last_output: at(last_output) };
            let case = format!("silence {silence:?}, heard at {last_output}, asked at {now}");
            assert_eq!(heard.exceeded(&limits(silence), at(now)), expected, "{case}");
            assert_eq!(heard.remaining(&limits(silence), at(now)), Duration::from_secs(remaining), "{case}");
        }
    }
}
