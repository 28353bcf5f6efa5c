//! What the demo promises to show, verified against the record of the run.
//!
//! Invariant: each item is found in the journal or on the disk, never in what was printed while the run went on.

use fixpoint_decide::progress::ProgressKind;
use fixpoint_decide::refinement::{Code, Decision};
use fixpoint_decide::run::{Change, PlanningChange, TaskChange};
use fixpoint_engine::RecordedRun;
use fixpoint_runs::{FoldedRun, Iteration, RunDirectory, Summary};
use fixpoint_vocabulary::{Cause, Lang, TaskId, TaskState, Text};

use super::narration::running_agents;
use crate::failure::Failure;
use crate::repository::Repository;

/// The failing test that no task is about.
const LEFT_ALONE: &str = "hours of a holiday";

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
    /// In JSON.
    pub(super) name: &'static str,
    pub(super) what: Text,
    /// The command that shows it for any run.
    pub(super) shown_by: &'static str,
    pub(super) happened: bool,
}

impl Finished {
    pub(super) fn new(repository: Repository, run: RunDirectory) -> Result<Self, Failure> {
        let recorded = run.read_whole()?;
        let mut most_at_once = 0;
        let folded = FoldedRun::watched(&recorded, |_, view| {
            most_at_once = most_at_once.max(running_agents(view.run));
        });
        Ok(Self { repository, run, recorded, folded, most_at_once })
    }

    pub(super) fn summary(&self, lang: Lang) -> Summary {
        Summary::of(&self.run, self.folded.view(), None, lang)
    }

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
                "an unclear goal was clarified",
                "曖昧な目標を質問で明確化",
            ),
            item(
                "refined",
                "show",
                self.is_refined(),
                "a plan was refined until the change was inside the noise",
                "変化がノイズの範囲内になるまで計画を改善",
            ),
            item(
                "parallel",
                "history",
                self.most_at_once > 1,
                "agents worked on several tasks at the same time",
                "複数のタスクを同時に実行",
            ),
            item(
                "known",
                "show",
                self.is_known_tolerated(),
                "a failure that existed before was left alone",
                "以前からの失敗はそのまま",
            ),
            item(
                "recovered",
                "show",
                self.complete().any(|iteration| iteration.judged.stage == 2),
                "a loop was caught at stage 2, and the task recovered",
                "ループをステージ2で検出し、立て直し",
            ),
            item(
                "replanned",
                "history",
                self.is_replanned(),
                "a task was split into three",
                "1つのタスクを3つに分割",
            ),
            item(
                "reverted",
                "show",
                self.is_reverted(),
                "a change out of scope was reverted",
                "範囲外の変更を取り消し",
            ),
            item(
                "stopped",
                "explain",
                self.diagnosis().is_some_and(|path| path.is_file()),
                "a hopeless task was stopped, with a diagnosis",
                "見込みのないタスクを診断付きで停止",
            ),
            item("delivered", "diff", self.is_delivered(), "a branch was delivered", "ブランチを納品"),
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

    /// Attempts that finished their task.
    fn complete(&self) -> impl Iterator<Item = &Iteration> {
        let iterations = self.folded.view().iterations().map(|(_, iteration)| iteration);
        iterations.filter(|iteration| iteration.judged.verdict.progress == ProgressKind::Complete)
    }

    fn is_known_tolerated(&self) -> bool {
        self.complete().any(|iteration| {
            iteration.judged.comparison.known.iter().any(|id| id.to_string().contains(LEFT_ALONE))
        })
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

    /// The task that cannot be done.
    pub(super) fn hopeless(&self) -> Option<&TaskId> {
        let is_stopped = |state, cause| state == TaskState::Blocked && cause == Some(Cause::NotConverging);
        self.folded.run.tasks().find(|node| is_stopped(node.state, node.cause)).map(|node| node.id())
    }

    pub(super) fn diagnosis(&self) -> Option<std::path::PathBuf> {
        self.hopeless().map(|task| self.run.context(task.as_str()).join("diagnosis.md"))
    }

    /// The branch with the result, if it was made.
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
