//! A run of the past or of another process, read from its directory and folded once.

use fixpoint_engine::{JournalHeader, RecordedRun};
use fixpoint_vocabulary::Lang;

use crate::directory::RunDirectory;
use crate::error::RunError;
use crate::explanation::Explanation;
use crate::run_explanation::explain;
use crate::summary::{Status, Summary};
use crate::view::{FoldedRun, RunView};
use crate::words::say;

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

    /// The state of the run in words.
    pub fn explain(&self, lang: Lang) -> Explanation {
        let explanation = explain(self.view(), lang);
        if self.status() != Status::Interrupted {
            return explanation;
        }
        let id = &self.directory.id;
        let (en, ja) = (
            "Interrupted: the process that worked on this run is gone.",
            "中断: この実行を処理していたプロセスは終了しています。",
        );
        let next = (
            format!("`fixpoint resume {id}` continues it."),
            format!("`fixpoint resume {id}` で再開します。"),
        );
        Explanation { what: say(lang, en, ja), next: vec![say(lang, next.0, next.1)], ..explanation }
    }

    pub fn summary(&self, lang: Lang) -> Summary {
        Summary::of(&self.directory, self.view(), self.holder, lang)
    }
}
