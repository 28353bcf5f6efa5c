//! A run of the past or of another process, read from its directory and folded once.

use fixpoint_engine::{Opening, Recorded};
use fixpoint_vocabulary::Lang;

use crate::directory::RunDirectory;
use crate::error::RunError;
use crate::summary::{Status, Summary};
use crate::view::{FoldedRun, RunView};

/// A run read from its directory.
#[derive(Debug, Clone)]
pub struct LoadedRun {
    pub directory: RunDirectory,
    pub opening: Opening,
    pub folded: FoldedRun,
    /// The process that works on it now.
    pub holder: Option<u32>,
}

impl RunDirectory {
    /// Reads the run without changing it, also while it goes on.
    pub fn load(&self) -> Result<LoadedRun, RunError> {
        let recorded = self.read()?;
        let folded = FoldedRun::of(&recorded);
        let Recorded { opening, .. } = recorded;
        Ok(LoadedRun { directory: self.clone(), opening, folded, holder: self.holder() })
    }
}

impl LoadedRun {
    pub const fn view(&self) -> RunView<'_> {
        self.folded.view()
    }

    pub const fn status(&self) -> Status {
        Status::of(self.folded.run.standing(), self.holder)
    }

    pub fn summary(&self, lang: Lang) -> Summary {
        Summary::of(&self.directory, &self.opening, self.view(), self.holder, lang)
    }
}
