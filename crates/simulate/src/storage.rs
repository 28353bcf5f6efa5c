//! The simulated disk and the blobs of one run: what survives a loss of power.
//!
//! Owns opening the journal and reading it back.

use std::sync::Arc;

use fixpoint_engine::{EngineDeps, EngineError, RecordError, RecordedRun, replay};
use fixpoint_journal::{FaultyDisk, MemoryBlobs, MemoryJournal, OpenError, OpenMode, StoredJournal};
use fixpoint_ports::Clock;
use fixpoint_vocabulary::work::CommandId;

/// Why a simulation could not go on. Where no fault was asked for, each of these is a defect.
#[derive(Debug, thiserror::Error)]
pub enum SimulationError {
    #[error("the engine could not go on: {0}")]
    Engine(#[from] EngineError),
    #[error("the journal could not be opened: {0}")]
    Journal(#[from] OpenError),
    #[error("the journal could not be read: {0}")]
    Record(#[from] RecordError),
    /// A command was executed that no record on the disk contains.
    #[error("command {0} was performed and is not on record")]
    Unrecorded(CommandId),
    #[error("record {number} would be decided otherwise when it is decided again")]
    DecidedOtherwise { number: u64 },
}

#[derive(Debug, Default, Clone)]
pub(crate) struct Storage {
    pub(crate) disk: FaultyDisk,
    pub(crate) blobs: Arc<MemoryBlobs>,
}

impl Storage {
    /// The journal to go on with, and what is recorded in it; `None` if nothing is.
    pub(crate) fn open(
        &self,
        clock: impl Clock + 'static,
    ) -> Result<(EngineDeps<MemoryJournal>, Option<RecordedRun>), SimulationError> {
        let (journal, records) = match StoredJournal::resume(self.disk.clone(), OpenMode::Continue) {
            Ok(opened) => (opened.journal, opened.records),
            // Nothing was recorded before the power went.
            Err(OpenError::Missing(_)) => (StoredJournal::begin(self.disk.clone())?, Vec::new()),
            Err(error) => return Err(error.into()),
        };
        let deps = EngineDeps { journal, blobs: Arc::clone(&self.blobs) as _, clock: Arc::new(clock) };
        if records.is_empty() {
            return Ok((deps, None));
        }
        let payloads = records.iter().map(|record| record.payload.as_slice());
        Ok((deps, Some(RecordedRun::read(payloads, &*self.blobs)?)))
    }

    pub(crate) fn read(&self) -> Result<RecordedRun, SimulationError> {
        let records = StoredJournal::examine(self.disk.clone())?.records;
        Ok(RecordedRun::read(records.iter().map(|record| record.payload.as_slice()), &*self.blobs)?)
    }

    /// The records on the disk. Every simulated journal is replayed: the decisions must be the recorded ones.
    pub(crate) fn read_and_replay(&self) -> Result<RecordedRun, SimulationError> {
        let recorded = self.read()?;
        let (options, spec) = (recorded.header.options.clone(), recorded.header.spec.clone());
        match replay(&recorded, options, spec).difference {
            Some(difference) => Err(SimulationError::DecidedOtherwise { number: difference.number }),
            None => Ok(recorded),
        }
    }
}
