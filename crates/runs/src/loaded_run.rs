//! A run of the past or of another process, read from its directory and folded once.

use fixpoint_engine::{JournalHeader, RecordedRun};
use fixpoint_vocabulary::Lang;

use crate::directory::RunDirectory;
use crate::error::RunError;
use crate::summary::{Status, Summary};
use crate::view::{FoldedRun, RunView};

/// A run read from its directory.
#[derive(Debug, Clone)]
pub struct LoadedRun {
    pub directory: RunDirectory,
    pub header: JournalHeader,
    pub folded: FoldedRun,
    /// The process that works on it now.
    pub holder: Option<u32>,
}

impl RunDirectory {
    /// Reads the run without changing it, also while it goes on.
    pub fn load(&self) -> Result<LoadedRun, RunError> {
        let recorded = self.read()?;
        let folded = FoldedRun::of(&recorded);
        let RecordedRun { header, .. } = recorded;
        Ok(LoadedRun { directory: self.clone(), header, folded, holder: self.holder() })
    }
}

impl LoadedRun {
    pub const fn view(&self) -> RunView<'_> {
        self.folded.view()
    }

    pub const fn status(&self) -> Status {
        Status::of(self.folded.run.status(), self.holder)
    }

    pub fn summary(&self, lang: Lang) -> Summary {
        Summary::of(&self.directory, self.view(), self.holder, lang)
    }
}
