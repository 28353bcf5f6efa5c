//! After the last task: results are merged two by two, the whole is proven and judged.
//!
//! Owns the judge's question about the whole result and what its answer means. Invariant: at most
//! `max_fix_iterations` rounds of additional tasks.

use fixpoint_vocabulary::ask::{ModelAnswer, ParsedAnswer, QuestionKind};
use fixpoint_vocabulary::documents::{Document, Subtask, WholeJudgement};
use fixpoint_vocabulary::work::{Command, CommandResult};
use fixpoint_vocabulary::{Cause, TaskId};
use serde::{Deserialize, Serialize};

use super::{NewTask, Owner, RejectedAnswer, Run, TaskChange, TaskKind, Transition};
use crate::prelude::*;
use crate::{plan_shape, sanitising};

/// What the judge said of the whole result.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct FinalReview {
    pub(super) rounds: u32,
    /// What the last one said; `None` before it and after tasks were added.
    pub(super) is_complete: Option<bool>,
    pub(super) missing: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinalReviewChange {
    /// The judge said whether the goal is reached.
    Judged { is_complete: bool, missing: Vec<String> },
}

impl Run {
    pub(super) fn apply_final_review(&mut self, change: &FinalReviewChange) {
        match change {
            FinalReviewChange::Judged { is_complete, missing } => {
                self.final_review.rounds += 1;
                self.final_review.is_complete = Some(*is_complete);
                self.final_review.missing.clone_from(missing);
                self.forget_rejected(&Owner::FinalReview);
            }
        }
    }

    /// The tasks that the judge wants added, as far as they may be, on top of the result.
    fn additional_tasks(&self, tasks: &[Subtask]) -> Vec<NewTask> {
        let Some(settings) = self.settings() else { return Vec::new() };
        let is_over = self.final_review.rounds >= settings.integration.max_fix_iterations;
        let added = self.tasks().filter(|node| node.kind == TaskKind::Added).count();
        let left = (settings.integration.max_additional_tasks as usize).saturating_sub(added);
        let room = (settings.planning.max_subtasks as usize).saturating_sub(self.graph.len());
        let names: BTreeSet<TaskId> = self.tasks().map(|node| node.id().clone()).collect();
        let mut tasks: Vec<Subtask> = plan_shape::flattened(tasks);
        tasks.truncate(if is_over { 0 } else { left.min(room) });
        rename(&mut tasks, &names);
        let is_unsound = plan_shape::problem_of_tasks(&tasks, self.plan_bounds(self.graph.len())).is_some();
        if is_unsound || !sanitising::risky_commands(&tasks).is_empty() {
            return Vec::new();
        }
        // They begin on the result, and their own results hold it.
        let end = self.unmerged_results();
        let new = |mut task: Subtask| {
            if task.dependencies.is_empty() {
                task.dependencies.clone_from(&end);
            }
            NewTask::new(task, TaskKind::Added)
        };
        tasks.into_iter().map(new).collect()
    }

    /// Whether the judge is to be asked about the whole result.
    fn needs_final_review(&self) -> bool {
        let worked = self.tasks().filter(|node| !node.is_merge()).count();
        self.is_judged_by_model()
            && worked > 1
            && self.final_review.is_complete.is_none()
            && !self.unmerged_results().is_empty()
    }
}

impl Transition<'_> {
    /// All tasks have ended: their results are merged two by two, then the whole is judged.
    pub(super) fn next_of_final_review(&mut self) {
        if let Some((ours, theirs)) = self.run.next_pair() {
            let merge = self.run.merge_task(&ours, &theirs);
            return self.push(TaskChange::Added { tasks: Vec::from([merge]) });
        }
        if self.run.is_busy(&Owner::FinalProof) {
            return;
        }
        if let Some(range) = self.run.uncompared_result() {
            return self.begin(Owner::FinalProof, Command::FindProtected(range));
        }
        if let Some(last) = self.run.last_task() {
            return self.push(TaskChange::Added { tasks: Vec::from([last]) });
        }
        if !self.run.needs_final_review() {
            return self.finish();
        }
        if self.run.is_busy(&Owner::FinalReview) {
            return;
        }
        match (self.run.result(), &self.run.planning.base) {
            (Some(result), Some(base)) => {
                let about =
                    QuestionKind::JudgeWhole { commit: result.commit.clone(), origin: base.commit.clone() };
                self.ask(Owner::FinalReview, about);
            }
            (_, _) => self.finish(),
        }
    }

    pub(super) fn with_final_review(&mut self, result: &CommandResult) {
        let CommandResult::Answer(ModelAnswer { reading, .. }) = result else { return };
        if let ParsedAnswer::Document(Document::WholeJudgement(judgement)) = reading {
            return self.with_whole_judgement(judgement);
        }
        let Some(rejected) = RejectedAnswer::of(reading) else { return };
        if !self.is_asked_again(&Owner::FinalReview, rejected) {
            // An answer that cannot be read is no yes; what is done is delivered all the same.
            self.conclude(Cause::JudgeUnavailable);
        }
    }

    fn with_whole_judgement(&mut self, judgement: &WholeJudgement) {
        let (is_complete, missing) = (judgement.is_complete, judgement.missing_aspects.clone());
        let added =
            if is_complete { Vec::new() } else { self.run.additional_tasks(&judgement.additional_tasks) };
        self.push(FinalReviewChange::Judged { is_complete, missing });
        if !added.is_empty() {
            self.push(TaskChange::Added { tasks: added });
        }
    }
}

/// Gives tasks names that are not taken, and drops dependencies on what is not among them: that is done already.
fn rename(tasks: &mut [Subtask], taken: &BTreeSet<TaskId>) {
    let own: BTreeSet<TaskId> = tasks.iter().map(|task| task.id.clone()).collect();
    let fresh = |id: &TaskId| {
        let named = |n: u32| if n == 0 { id.clone() } else { TaskId::from(format!("{id}.{n}")) };
        (0u32..).map(named).find(|id| !taken.contains(id)).unwrap_or_else(|| id.clone())
    };
    for task in tasks {
        task.id = fresh(&task.id);
        let inner = task.dependencies.iter().filter(|id| own.contains(*id));
        task.dependencies = inner.map(&fresh).collect();
    }
}
