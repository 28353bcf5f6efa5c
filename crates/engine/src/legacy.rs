//! Journals of the first format, in which a run was one task: read as if they had been written today.

use fixpoint_decide::run::{Decision, Move, On, RunOrder};
use fixpoint_decide::task_run::{self, Step, TaskOrder};
use fixpoint_ports::Blobs;
use fixpoint_vocabulary::TaskId;
use fixpoint_vocabulary::brief::Brief;
use fixpoint_vocabulary::work::Event;
use serde::Deserialize;

use crate::record::{Opening, Record, RecordError, Recorded, read};

/// The format that is read here.
pub(crate) const FORMAT: u32 = 1;

#[derive(Deserialize)]
struct OldOpening {
    format: u32,
    at: u64,
    order: TaskOrder,
    #[serde(default)]
    brief: Option<Brief>,
}

#[derive(Deserialize)]
struct OldRecord {
    at: u64,
    event: Event,
    decision: task_run::Decision,
}

/// Reads all records of an old journal.
pub(crate) fn read_all<'a>(
    first: &[u8],
    payloads: impl Iterator<Item = &'a [u8]>,
    blobs: &dyn Blobs,
) -> Result<Recorded, RecordError> {
    let OldOpening { format, at, order, brief } = read(0, first, blobs)?;
    let task = order.task.clone();
    let mut stood = Step::New;
    let mut records = Vec::new();
    for (number, payload) in (1u64..).zip(payloads) {
        let old: OldRecord = read(number, payload, blobs)?;
        let step = old.decision.step;
        records.push(translated(old, &task, stood).whole());
        stood = step;
    }
    Ok(Recorded { opening: Opening { format, at, order: RunOrder::given(order), brief }, records })
}

fn translated(old: OldRecord, task: &TaskId, stood: Step) -> Record {
    let (on, elapsed_ms) = match &old.event {
        Event::Begun => (On::Begun, 0),
        Event::Ended { took_ms, .. } => (On::TheEvent, *took_ms),
        Event::StopAsked => (On::StopAsked, 0),
        Event::Resumed { .. } => (On::Resumed, 0),
    };
    let after = match old.decision.step {
        Step::Paused { cause, .. } => Some(Move::Pause { cause }),
        Step::Ended { cause } => Some(Move::End { cause }),
        Step::New | Step::Working { .. } => None,
    };
    let is_over = matches!(stood, Step::Paused { .. } | Step::Ended { .. }) && stood == old.decision.step;
    let moves = if is_over {
        Vec::new()
    } else {
        let told = Move::Task { task: task.clone(), on, decision: old.decision };
        [Some(told), after].into_iter().flatten().collect()
    };
    Record { at: old.at, elapsed_ms, event: old.event, decision: Decision { moves } }
}
