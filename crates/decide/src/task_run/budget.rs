//! What the task has spent, and whether another attempt can be afforded.
//!
//! Work that has begun is never cut short for the budget: a task is over it by one attempt at most.

use fixpoint_vocabulary::Cause;
use fixpoint_vocabulary::work::{Allowance, Command, Event};
use serde::{Deserialize, Serialize};

use super::{Decision, Step, TaskRun, Work};

/// What was spent, and what was allowed beyond the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Spent {
    attempts: u64,
    milliseconds: u64,
    more: Allowance,
}

impl Spent {
    /// Records what an event and its decision cost.
    pub(super) fn take_in(&mut self, event: &Event, decision: &Decision) {
        *self = self.after(event);
        if matches!(decision.command, Some(Command::RunAttempt(_))) {
            self.attempts += 1;
        }
    }

    fn after(mut self, event: &Event) -> Self {
        match event {
            Event::Ended { took_ms, .. } => self.milliseconds = self.milliseconds.saturating_add(*took_ms),
            Event::Resumed { more } => {
                let granted = Allowance {
                    attempts: Some(self.more.attempts.unwrap_or(0)),
                    seconds: Some(self.more.seconds.unwrap_or(0)),
                };
                self.more = granted.raised(*more);
            }
            Event::Begun | Event::StopAsked => {}
        }
        self
    }

    fn is_within(&self, allowed: Allowance) -> bool {
        let allowed = allowed.raised(self.more);
        allowed.attempts.is_none_or(|attempts| self.attempts < attempts)
            && allowed.seconds.is_none_or(|seconds| self.milliseconds < seconds.saturating_mul(1000))
    }
}

impl TaskRun {
    /// Attempts begun and seconds of work spent so far.
    pub const fn spent(&self) -> (u64, u64) {
        (self.spent.attempts, self.spent.milliseconds / 1000)
    }

    /// A decision as it is, or held back if it begins an attempt that cannot be afforded.
    pub(super) fn within_budget(&self, event: &Event, decision: Decision) -> Decision {
        let begins_attempt = matches!(decision.command, Some(Command::RunAttempt(_)));
        if !begins_attempt || self.spent.after(event).is_within(self.order.budget) {
            return decision;
        }
        let step = Step::Paused { cause: Cause::Budget, work: Work::Attempting };
        Decision { step, held: decision.command, command: None, judged: decision.judged }
    }
}
