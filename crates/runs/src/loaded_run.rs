//! A run of the past or of another process, read from its directory and folded once.

use fixpoint_engine::{JournalHeader, RecordedRun};
use fixpoint_vocabulary::{Cause, Lang, counted};

use crate::damage::{ReadRun, RunDamage};
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
    /// What is wrong with its records. The rest is from those before the damage.
    pub damage: Option<RunDamage>,
}

impl RunDirectory {
    /// Reads the run without changing it, also while it goes on.
    pub fn load(&self) -> Result<LoadedRun, RunError> {
        let ReadRun { recorded, damage } = self.read()?;
        let folded = FoldedRun::of(&recorded);
        let RecordedRun { header, .. } = recorded;
        Ok(LoadedRun { directory: self.clone(), header, folded, holder: self.checked_holder()?, damage })
    }
}

impl LoadedRun {
    pub const fn view(&self) -> RunView<'_> {
        self.folded.view()
    }

    pub const fn status(&self) -> Status {
        match self.damage {
            Some(_) => Status::Damaged,
            None => Status::of(self.folded.run.status(), self.holder),
        }
    }

    /// Why it ended or is paused; not known of a damaged run.
    pub fn cause(&self) -> Option<Cause> {
        self.view().cause().filter(|_| self.damage.is_none())
    }

    /// Fails if records are damaged. Whoever shows a run calls this after it has shown what is intact.
    pub fn require_whole(&self) -> Result<(), RunError> {
        match &self.damage {
            None => Ok(()),
            Some(damage) => Err(RunError::Damaged { run: self.directory.id.clone(), damage: damage.clone() }),
        }
    }

    /// The state of the run in words.
    pub fn explain(&self, lang: Lang) -> Explanation {
        if let Some(damage) = &self.damage {
            return self.explain_damage(damage, lang);
        }
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

    fn explain_damage(&self, damage: &RunDamage, lang: Lang) -> Explanation {
        let (id, problem) = (&self.directory.id, &damage.problem);
        let (records, attempts) = (damage.record, self.view().iterations().count());
        let what = say(
            lang,
            format!("Damaged: {problem}. How the run ended is not known."),
            format!("破損: {problem}。実行の結末は分かりません。"),
        );
        let intact = say(
            lang,
            format!("Intact: {}, with {}.", counted(records, "record"), counted(attempts, "attempt")),
            format!("破損していない部分: 記録{records}件、試行{attempts}回。"),
        );
        let repair = say(
            lang,
            format!(
                "`fixpoint resume --repair {id}` cuts the damage off, keeps it in a file, and continues."
            ),
            format!("`fixpoint resume --repair {id}` は破損部分を切り取ってファイルに残し、再開します。"),
        );
        let look = say(
            lang,
            format!("`git for-each-ref refs/fixpoint/{id}` lists all commits of the run."),
            format!("`git for-each-ref refs/fixpoint/{id}` で、この実行のコミットをすべて確認できます。"),
        );
        let next = damage.is_repairable.then_some(repair).into_iter().chain([look]).collect();
        Explanation { what, evidence: vec![intact], next }
    }

    pub fn summary(&self, lang: Lang) -> Summary {
        let summary = Summary::of(&self.directory, self.view(), self.holder, lang);
        match &self.damage {
            None => summary,
            Some(damage) => Summary {
                status: Status::Damaged,
                damage: Some(damage.clone()),
                cause: None,
                diagnosis: None,
                ..summary
            },
        }
    }
}
