//! Deciding a recorded run again, offline, and comparing.

use fixpoint_decide::run::{Decision, Run, RunOptions, Turn};
use fixpoint_vocabulary::run_spec::RunSpec;
use fixpoint_vocabulary::work::Event;

use crate::record::RecordedRun;

/// Where another decision would have been made.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    pub number: u64,
    pub event: Event,
    pub recorded: Decision,
    /// What would be decided now; `None` where the event could not happen.
    pub now: Option<Decision>,
}

/// What deciding a recorded run again showed.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplayReport {
    /// How many decisions were compared.
    pub decisions: u64,
    /// The first that would be made otherwise. What came after it cannot be compared.
    pub difference: Option<Difference>,
}

/// Decides a recorded run again, with the options and the spec it had or with others.
pub fn replay(recorded: &RecordedRun, options: RunOptions, spec: Option<RunSpec>) -> ReplayReport {
    let mut run = Run::new(options, spec);
    let mut decisions = 0;
    for (number, record) in (1u64..).zip(&recorded.records) {
        let turn = Turn { seq: number, elapsed_ms: record.elapsed_ms };
        let now = run.step(turn, &record.event).ok();
        decisions += 1;
        if now.as_ref() != Some(&record.decision) {
            let difference =
                Difference { number, event: record.event.clone(), recorded: record.decision.clone(), now };
            return ReplayReport { decisions, difference: Some(difference) };
        }
    }
    ReplayReport { decisions, difference: None }
}
