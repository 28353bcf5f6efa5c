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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::replay;
    use fixpoint_decide::run::{Run, Standing, Turn};
    use fixpoint_ports::{BlobError, BlobId};
    use fixpoint_vocabulary::Cause;

    /// Nothing in the recordings is large enough to be kept elsewhere.
    #[derive(Debug)]
    struct NoBlobs;

    impl Blobs for NoBlobs {
        fn put(&self, _: &[u8]) -> Result<BlobId, BlobError> {
            panic!("nothing is written")
        }

        fn get(&self, id: &BlobId) -> Result<Vec<u8>, BlobError> {
            panic!("{id:?} is in no recording")
        }
    }

    fn recorded(text: &str) -> Recorded {
        let mut lines = text.lines().map(str::as_bytes);
        let first = lines.next().unwrap();
        read_all(first, lines, &NoBlobs).unwrap()
    }

    /// Journals that a program of the first format wrote. Catches a word of it that is no longer understood, and a
    /// decision that would be made otherwise today.
    #[test]
    fn journals_written_in_the_first_format_are_read_and_decided_alike() {
        let table = [
            (include_str!("../fixtures/format-1-done.jsonl"), Cause::Done, 4),
            (include_str!("../fixtures/format-1-not-converging.jsonl"), Cause::NotConverging, 5),
            (include_str!("../fixtures/format-1-paused-then-done.jsonl"), Cause::Done, 1),
        ];
        for (text, cause, attempts) in table {
            let recorded = recorded(text);
            let (order, brief) = (recorded.opening.order.clone(), recorded.opening.brief.clone());
            let replayed = replay(&recorded, order.clone(), brief.clone());
            assert_eq!(replayed.difference, None, "{cause:?}");
            assert_eq!(replayed.decisions, text.lines().count() as u64 - 1);

            let mut run = Run::new(order, brief);
            for (seq, record) in (1..).zip(&recorded.records) {
                run.apply(Turn { seq, elapsed_ms: record.elapsed_ms }, &record.event, &record.decision);
            }
            assert_eq!(run.standing(), Standing::Ended { cause });
            let task = run.tasks().next().and_then(|node| node.run.as_deref()).unwrap();
            assert_eq!(task.attempts(), attempts, "{cause:?}");
        }
    }
}
