//! Records of a run that are not what was written: from which one on, and what is still intact.
//!
//! Invariant: a run with damage is never shown as one that is merely shorter. Whoever reads a run gets the damage together
//! with the intact records.

use std::fs;
use std::path::Path;

use fixpoint_engine::{RecordError, RecordedRun};
use fixpoint_journal::{Broken, Damage, Ending, FileJournal, Inspection, JOURNAL_FILE, OpenError};
use fixpoint_ports::Seq;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::directory::RunDirectory;
use crate::error::RunError;

/// A journal that is not longer than this may be one without records.
const SHORT_JOURNAL: u64 = 4096;

/// What is wrong with the records of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunDamage {
    /// The number of the first damaged record; 0 is the opening of the journal. Those before it are intact.
    pub record: u64,
    /// What is wrong with it.
    pub problem: String,
    /// Whether `fixpoint resume --repair` can cut the damage off and continue the run.
    pub is_repairable: bool,
}

impl RunDamage {
    pub(crate) fn of_journal(damage: &Damage) -> Self {
        let Seq(record) = damage.record;
        // A file header is written again; without the opening record there is no run.
        let is_repairable = record > 0 || damage.broken == Broken::FileHeader;
        Self { record, problem: format!("the journal is {damage}"), is_repairable }
    }

    pub(crate) fn of_record(error: &RecordError) -> Option<Self> {
        match error {
            RecordError::Unreadable { number, .. } => Some(Self {
                record: *number,
                problem: format!(
                    "{error}; the records before it are intact; a repair would cut it off, with all that follow"
                ),
                is_repairable: *number > 0,
            }),
            RecordError::Empty | RecordError::OtherFormat { .. } => None,
        }
    }
}

/// The records of a run as far as they are intact.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadRun {
    pub recorded: RecordedRun,
    /// `None` if these are all records.
    pub damage: Option<RunDamage>,
}

impl RunDirectory {
    /// Reads its records without changing them, also while it goes on. Damage is a result as long as the opening of the
    /// journal is intact.
    pub fn read(&self) -> Result<ReadRun, RunError> {
        let Inspection { records, ending } = match FileJournal::inspect(&self.path) {
            Err(OpenError::Missing(_)) => return Err(self.without_records("there is no journal")),
            inspected => inspected.map_err(|error| RunError::journal(&self.id, &error))?,
        };
        let of_journal = match &ending {
            Ending::Whole | Ending::Torn(_) => None,
            Ending::Damaged(damage) => Some(RunDamage::of_journal(damage)),
        };
        let payloads = records.iter().map(|record| record.payload.as_slice());
        match RecordedRun::read_intact(payloads, &self.blobs_to_read()) {
            // The damage of a record is before that of the journal, which ends the records.
            Ok((recorded, error)) => {
                let of_record = error.as_ref().and_then(RunDamage::of_record);
                Ok(ReadRun { recorded, damage: of_record.or(of_journal) })
            }
            Err(error) => Err(match of_journal.or_else(|| RunDamage::of_record(&error)) {
                Some(damage) => RunError::Damaged { run: self.id.clone(), damage },
                None if matches!(error, RecordError::Empty) => self.without_records("the journal is empty"),
                None => RunError::record(&self.id, &error),
            }),
        }
    }

    /// Reads all records; fails if one is damaged.
    pub fn read_whole(&self) -> Result<RecordedRun, RunError> {
        match self.read()? {
            ReadRun { recorded, damage: None } => Ok(recorded),
            ReadRun { damage: Some(damage), .. } => Err(RunError::Damaged { run: self.id.clone(), damage }),
        }
    }

    /// Whether its process ended before the first record was written, so that nothing was done.
    pub fn never_began(&self) -> bool {
        let journal = self.path.join(JOURNAL_FILE);
        let is_short = journal.symlink_metadata().map_or(true, |found| found.len() <= SHORT_JOURNAL);
        is_short && matches!(self.read(), Err(RunError::NeverBegan { .. }))
    }

    /// A journal without records is damaged if the run has worked: the first record is written before anything is done.
    fn without_records(&self, found: &str) -> RunError {
        let run = self.id.clone();
        let directories = [self.outputs(), self.prompts(), self.path.join("context")];
        let has_worked = directories.iter().any(|directory| has_files(directory));
        let was_cut = self.path.join(format!("{JOURNAL_FILE}.cut-1")).exists();
        if has_worked || was_cut {
            let problem = format!("{found}, although the run has worked; no record is left");
            return RunError::Damaged { run, damage: RunDamage { record: 0, problem, is_repairable: false } };
        }
        RunError::NeverBegan { run }
    }
}

fn has_files(directory: &Path) -> bool {
    fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_some())
}
