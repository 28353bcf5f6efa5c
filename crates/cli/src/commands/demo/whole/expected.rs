//! What must have happened, held against the record of the run.
//!
//! Owns the list of what the demo promises to show. Invariant: each item is found in the journal or on the disk, never
//! in what was said while the run went on.

use fixpoint_decide::progress::ProgressKind;
use fixpoint_decide::refinement::{Code, Decision};
use fixpoint_decide::run::Move;
use fixpoint_engine::Recorded;
use fixpoint_runs::{Iteration, RunDirectory, Story};
use fixpoint_vocabulary::{Cause, TaskId, TaskState, Text};
use fixpoint_workspaces::BranchOutcome;

use super::narration::attempts_under_way;
use crate::repository::Repository;

/// The test that nobody is asked to repair.
const LEFT_ALONE: &str = "hours of a holiday";

/// A run that is over, with everything it left.
pub(super) struct Finished {
    pub(super) repository: Repository,
    pub(super) run: RunDirectory,
    pub(super) recorded: Recorded,
    pub(super) story: Story,
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

    fn moves(&self) -> impl Iterator<Item = &Move> {
        self.recorded.records.iter().flat_map(|record| &record.decision.moves)
    }

    fn is_clarified(&self) -> bool {
        self.moves().any(|step| matches!(step, Move::Heard { said } if !said.is_empty()))
    }

    fn is_refined(&self) -> bool {
        let decisions = &self.story.run.review().decisions;
        let is_refined = decisions.iter().any(|answer| answer.decision == Decision::Replan);
        is_refined && decisions.last().is_some_and(|answer| answer.reason.code == Code::StagnatedInNoise)
    }

    fn is_parallel(&self) -> bool {
        let mut story = Story::of(&Recorded { records: Vec::new(), ..self.recorded.clone() });
        self.recorded.records.iter().any(|record| {
            story.add(record);
            attempts_under_way(&story) > 1
        })
    }

    /// Attempts that were all that was asked for.
    fn complete(&self) -> impl Iterator<Item = &Iteration> {
        let iterations = self.story.iterations().map(|(_, iteration)| iteration);
        iterations.filter(|iteration| iteration.judged.verdict.progress == ProgressKind::Complete)
    }

    fn is_known_tolerated(&self) -> bool {
        self.complete()
            .any(|iteration| iteration.judged.seen.known.iter().any(|name| name.contains(LEFT_ALONE)))
    }

    fn is_turned_round(&self) -> bool {
        self.complete().any(|iteration| iteration.judged.stage == 2)
    }

    fn is_replanned(&self) -> bool {
        self.moves().any(|step| matches!(step, Move::TaskReplaced { children, .. } if children.len() == 3))
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
        self.story.run.tasks().find(|node| is_stopped(node.state, node.cause)).map(|node| node.id())
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
        let result = self.story.result()?;
        match self.repository.workspaces.create_branch(&self.run.id.0, &result).ok()? {
            BranchOutcome::Exists(branch, at) => (at == result).then_some(branch),
            // It is only there because it was looked for.
            BranchOutcome::Created(_) => None,
        }
    }

    fn is_delivered(&self) -> bool {
        self.story.cause() == Some(Cause::Partial) && self.branch().is_some()
    }
}
