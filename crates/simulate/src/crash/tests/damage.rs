//! Flipped bytes of finished journals: reported, or without any effect.

use fixpoint_journal::{Ending as JournalEnding, FaultyDisk, StoredJournal};

use super::super::*;
use crate::agent::Agent;
use crate::task::without_faults;
use crate::world::World;

/// What the state of a task is by a disk; an error for whatever is reported to be wrong with it.
fn state_by(disk: FaultyDisk, simulator: &TaskSimulator) -> Result<fixpoint_decide::run::Run, String> {
    let inspection = StoredJournal::examine(disk).map_err(|error| error.to_string())?;
    match inspection.ending {
        JournalEnding::Whole => {}
        JournalEnding::Torn(tail) => return Err(tail.to_string()),
        JournalEnding::Damaged(damage) => return Err(damage.to_string()),
    }
    let payloads = inspection.records.iter().map(|record| record.payload.as_slice());
    let recorded = fixpoint_engine::RecordedRun::read(payloads, &*simulator.storage.blobs)
        .map_err(|error| error.to_string())?;
    Ok(recorded.run())
}

/// Every byte of whole journals, turned over by several masks: one bit low and high, all bits, and the one that makes
/// a zero of a record's last byte. Catches a part of a record that no checksum covers.
#[test]
fn a_flipped_byte_is_reported_or_changes_nothing() {
    let mut unreported = 0;
    for (seed, agent, world) in [
        (2, Agent::Fixes, World::Plain),
        (2, Agent::Breaks, World::KnownFailure),
        (2, Agent::Hangs, World::FlakyAtBase),
    ] {
        let simulator = TaskSimulator::default();
        simulator.run(&Project::new(seed, agent, world), &without_faults(), &mut |_, _| {}).unwrap();
        let whole = simulator.storage.disk.contents();
        let state = state_by(simulator.storage.disk.clone(), &simulator).unwrap();
        for offset in 0..whole.len() {
            let masks = [0x01, 0x80, 0xff, 0xa5];
            let is_last_record = offset + 64 > whole.len();
            for (number, mask) in masks.iter().enumerate() {
                // Two masks for each byte, and all of them where an append could have been interrupted.
                if !is_last_record && number != offset % 4 && number != (offset + 1 + offset / 4) % 4 {
                    continue;
                }
                let disk = FaultyDisk::holding(whole.clone());
                disk.flip(offset, *mask);
                match state_by(disk, &simulator) {
                    Err(_) => {}
                    Ok(same) => {
                        unreported += 1;
                        assert_eq!(same, state, "{agent:?}, {world:?}: byte {offset}, mask {mask:#x}");
                    }
                }
            }
        }
    }
    assert_eq!(unreported, 0, "today every byte is covered by a checksum");
}
