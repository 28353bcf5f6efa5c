//! Whether a run has exceeded a limit, by the monotonic clock. Pure: the time is an argument.

use std::time::{Duration, Instant};

use fixpoint_ports::{ExitCause, ProcessLimits};

#[derive(Debug, Clone, Copy)]
pub(crate) struct RunTimes {
    pub(crate) started: Instant,
    pub(crate) last_output: Instant,
}

impl RunTimes {
    /// The limit that is exceeded at `now`. The limit of the whole run comes before that of silence.
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
    fn a_limit_is_exceeded_at_its_time_and_not_before() {
        let started = Instant::now();
        let at = |seconds: u64| started + Duration::from_secs(seconds);
        let limits = |silence: Option<u64>| ProcessLimits {
            wall: Duration::from_secs(10),
            silence: silence.map(Duration::from_secs),
            grace: Duration::ZERO,
            kept_output: 0,
        };
        let rows = [
            ("before the end", None, 0, 9, None, 1),
            ("at the end", None, 0, 10, Some(ExitCause::TimedOut), 0),
            ("not silent for long", Some(3), 0, 2, None, 1),
            ("silent", Some(3), 0, 3, Some(ExitCause::Silent), 0),
            ("silent since some output", Some(3), 4, 6, None, 1),
            ("silent, at the end", Some(3), 7, 10, Some(ExitCause::TimedOut), 0),
            ("just before the end", Some(3), 8, 9, None, 1),
            ("output after the question", Some(3), 9, 8, None, 2),
        ];
        for (row, silence, last_output, now, expected, remaining) in rows {
            let times = RunTimes { started, last_output: at(last_output) };
            assert_eq!(times.exceeded(&limits(silence), at(now)), expected, "{row}");
            assert_eq!(times.remaining(&limits(silence), at(now)), Duration::from_secs(remaining), "{row}");
        }
    }
}
