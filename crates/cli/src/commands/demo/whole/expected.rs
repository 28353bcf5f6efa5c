//! What must have happened, held against the record of the run.
//!
//! Owns the list of what the demo promises to show. Invariant: each item is found in the journal or on the disk, never
//! in what was said while the run went on.

use fixpoint_decide::progress::ProgressKind;
use fixpoint_decide::refinement::{Code, Decision};
use fixpoint_decide::run::{Change, PlanningChange, TaskChange};
use fixpoint_engine::RecordedRun;
use fixpoint_runs::{FoldedRun, Iteration, RunDirectory, Summary};
use fixpoint_vocabulary::{Cause, Lang, TaskId, TaskState, Text};

use super::narration::attempts_under_way;
use crate::failure::Failure;
use crate::repository::Repository;

/// The test that nobody is asked to repair.
const LEFT_ALONE: &str = "hours of a holiday";

/// A run that is over, with everything it left.
pub(super) struct Finished {
    pub(super) repository: Repository,
    pub(super) run: RunDirectory,
    recorded: RecordedRun,
    pub(super) folded: FoldedRun,
    /// The most agents that worked at the same time.
    most_at_once: usize,
}

/// One thing that the demo promises to show.
pub(super) struct Item {
    /// Its name in JSON.
    pub(super) name: &'static str,
    /// What it is.
    pub(super) what: Text,
    /// The command that shows it of any run.
    pub(super) shown_by: &'static str,
    /// Whether it happened.
    pub(super) happened: bool,
}

impl Finished {
    pub(super) fn new(repository: Repository, run: RunDirectory) -> Result<Self, Failure> {
        let recorded = run.read()?;
        let mut most_at_once = 0;
        let folded = FoldedRun::watched(&recorded, |_, view| {
            most_at_once = most_at_once.max(attempts_under_way(view.run));
        });
        Ok(Self { repository, run, recorded, folded, most_at_once })
    }

    pub(super) fn summary(&self, lang: Lang) -> Summary {
        Summary::of(&self.run, self.folded.view(), None, lang)
    }

    /// What must have happened.
    pub(super) fn items(&self) -> Vec<Item> {
        let item = |name, shown_by, happened, en: &'static str, ja: &'static str| Item {
            name,
            what: Text::new(en, ja),
            shown_by,
            happened,
        };
        vec![
            item(
                "clarified",
                "history",
                self.is_clarified(),
                "a vague goal was clarified",
                "曖昧な目標を確認",
            ),
            item(
                "refined",
                "show",
                self.is_refined(),
                "a plan was refined, until the change was inside the noise",
                "計画を改善し、変化がノイズの範囲内になって終了",
            ),
            item(
                "parallel",
                "history",
                self.is_parallel(),
                "agents worked on several tasks at once",
                "複数のタスクを同時に実行",
            ),
            item(
                "known",
                "show",
                self.is_known_tolerated(),
                "a failure known from before was left alone",
                "既知の失敗はそのまま",
            ),
            item(
                "turned_round",
                "show",
                self.is_turned_round(),
                "a loop was caught at stage 2 and turned round",
                "ループをステージ2で検出し、方向転換",
            ),
            item(
                "replanned",
                "history",
                self.is_replanned(),
                "a task was replanned into three",
                "一つのタスクを三つに再計画",
            ),
            item(
                "reverted",
                "show",
                self.is_reverted(),
                "an edit out of scope was taken back",
                "範囲外の変更を取り消し",
            ),
            item(
                "stopped",
                "explain",
                self.is_stopped(),
                "a hopeless task was stopped, with its diagnosis",
                "見込みのないタスクを診断付きで停止",
            ),
            item("delivered", "diff", self.is_delivered(), "the branch was delivered", "ブランチを納品"),
        ]
    }

    fn changes(&self) -> impl Iterator<Item = &Change> {
        self.recorded.records.iter().flat_map(|record| &record.decision.changes)
    }

    fn is_clarified(&self) -> bool {
        let is_answered = |change: &Change| matches!(change, Change::Planning(PlanningChange::Clarified { said }) if !said.is_empty());
        self.changes().any(is_answered)
    }

    fn is_refined(&self) -> bool {
        let decisions = &self.folded.run.review().decisions;
        let is_refined = decisions.iter().any(|answer| answer.decision == Decision::Replan);
        is_refined && decisions.last().is_some_and(|answer| answer.reason.code == Code::StagnatedInNoise)
    }

    fn is_parallel(&self) -> bool {
        self.most_at_once > 1
    }

    /// Attempts that were all that was asked for.
    fn complete(&self) -> impl Iterator<Item = &Iteration> {
        let iterations = self.folded.view().iterations().map(|(_, iteration)| iteration);
        iterations.filter(|iteration| iteration.judged.verdict.progress == ProgressKind::Complete)
    }

    fn is_known_tolerated(&self) -> bool {
        self.complete().any(|iteration| {
            iteration.judged.comparison.known.iter().any(|id| id.to_string().contains(LEFT_ALONE))
        })
    }

    fn is_turned_round(&self) -> bool {
        self.complete().any(|iteration| iteration.judged.stage == 2)
    }

    fn is_replanned(&self) -> bool {
        let is_split_in_three = |change: &Change| matches!(change, Change::Task(TaskChange::Replaced { children, .. }) if children.len() == 3);
        self.changes().any(is_split_in_three)
    }

    fn is_reverted(&self) -> bool {
        self.complete().any(|iteration| {
            let judged = &iteration.judged;
            !judged.outside.is_empty() && judged.attempt.scope_violations.is_empty()
        })
    }

    /// The task that could not be done.
    pub(super) fn hopeless(&self) -> Option<&TaskId> {
        let is_stopped = |state, cause| state == TaskState::Blocked && cause == Some(Cause::NotConverging);
        self.folded.run.tasks().find(|node| is_stopped(node.state, node.cause)).map(|node| node.id())
    }

    /// Where its diagnosis is.
    pub(super) fn diagnosis(&self) -> Option<std::path::PathBuf> {
        self.hopeless().map(|task| self.run.context(task.as_str()).join("diagnosis.md"))
    }

    fn is_stopped(&self) -> bool {
        self.diagnosis().is_some_and(|path| path.is_file())
    }

    /// The branch with the result, where it was made.
    pub(super) fn branch(&self) -> Option<String> {
        let result = self.folded.view().result()?;
        let branch = self.folded.run.delivered()?.branch.as_ref()?.name.clone();
        let at = self.repository.workspaces.branch_commit(&branch).ok()??;
        (at == result).then_some(branch)
    }

    fn is_delivered(&self) -> bool {
        self.folded.view().cause() == Some(Cause::Partial) && self.branch().is_some()
    }
}
