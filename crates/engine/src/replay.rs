//! Deciding a recorded run again, offline, and comparing.

use fixpoint_decide::task_run::{Decision, TaskOrder, TaskRun};
use fixpoint_vocabulary::work::Event;

use crate::record::{RecordError, read_all};

/// Where another decision would have been made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The number of the record.
    pub number: u64,
    /// What happened.
    pub event: Event,
    /// What was decided then.
    pub recorded: Decision,
    /// What would be decided now; `None` where the event would not even have a place.
    pub now: Option<Decision>,
}

/// What deciding again came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replayed {
    /// How many decisions were compared.
    pub decisions: u64,
    /// The first that would be made otherwise. What came after it cannot be compared.
    pub difference: Option<Difference>,
}

/// Decides a recorded run again, with the order it had or with another.
pub fn replay<'a>(
    payloads: impl IntoIterator<Item = &'a [u8]>,
    change: impl FnOnce(TaskOrder) -> TaskOrder,
) -> Result<Replayed, RecordError> {
    let (opening, records) = read_all(payloads)?;
    let mut run = TaskRun::new(change(opening.order));
    let mut decisions = 0;
    for (number, record) in (1u64..).zip(records) {
        let now = run.decide(&record.event).ok();
        decisions += 1;
        if now.as_ref() != Some(&record.decision) {
            let difference = Difference { number, event: record.event, recorded: record.decision, now };
            return Ok(Replayed { decisions, difference: Some(difference) });
        }
        run.apply(&record.event, &record.decision);
    }
    Ok(Replayed { decisions, difference: None })
}
