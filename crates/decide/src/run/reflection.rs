//! Reflection after a task, and the revision of the steps that are not done yet.
//!
//! Nothing new starts during a reflection: what it finds may change what should start. Invariant: at most one
//! reflection for each task, and at most `max_revisions` revisions.

use fixpoint_vocabulary::ask::{ParsedAnswer, PersonAnswer, QuestionKind};
use fixpoint_vocabulary::documents::{ActionPlan, Document, ReflectionDocument};
use fixpoint_vocabulary::settings::ReflectionSettings;
use fixpoint_vocabulary::work::CommandResult;
use fixpoint_vocabulary::{Cause, Redactor, TaskId, TaskState};
use serde::{Deserialize, Serialize};

use super::{Judging, Owner, RejectedAnswer, Run, TaskNode, Transition, UnexpectedEvent};
use crate::prelude::*;
use crate::reflection::{self, ActionStatus, LastAction};
use crate::revised_actions;
use crate::revision::{Approval, RevisionDecision};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReflectionChange {
    /// The reflection after a task is over, or was not called for.
    Reflected {
        task: TaskId,
        /// What it found; nothing where there was none.
        document: Option<Box<ReflectionDocument>>,
    },
    /// The remaining steps shall change, if a person agrees.
    RevisionProposed {
        /// The order and the steps.
        actions: ActionPlan,
        /// The error that the revision answers.
        error: String,
    },
    /// The remaining steps are changed.
    Revised {
        /// The order and the steps.
        actions: ActionPlan,
        /// The error that the revision answers.
        error: String,
    },
}

impl Run {
    pub(super) fn apply_reflection(&mut self, change: &ReflectionChange) {
        match change {
            ReflectionChange::Reflected { task, document } => {
                self.graph.update(task, |node| node.reflected = true);
                self.reflections += u32::from(document.is_some());
                self.forget_rejected(&Owner::Reflection(task.clone()));
            }
            ReflectionChange::RevisionProposed { actions, error } => {
                self.proposed = Some((actions.clone(), error.clone()));
            }
            ReflectionChange::Revised { actions, error } => {
                let review = &mut self.review;
                let accepted = review.accepted.and_then(|plan| review.revisions.get_mut(plan as usize));
                if let Some(plan) = accepted {
                    plan.actions = actions.clone();
                }
                self.revisions.record(error);
                self.proposed = None;
                self.follow_plan_order();
            }
        }
    }

    /// Whether a reflection after a task is called for.
    fn is_reflection_due(&self, node: &TaskNode) -> bool {
        let (Some(settings), Some(options)) = (self.settings(), self.plan_options()) else { return false };
        // What cannot change anything any more is not worth a question.
        let is_left = self.graph.waiting() > 0;
        let ended = self.graph.ended();
        let is_done = node.state == TaskState::Done;
        let question = reflection::Question {
            actions_done: u64::try_from(ended).unwrap_or(u64::MAX),
            last: LastAction {
                status: if is_done { ActionStatus::Success } else { ActionStatus::Failure },
                matches_expectation: true,
                changes_something: node.run.as_ref().is_some_and(|run| run.changes_files()),
            },
            config: ReflectionSettings {
                trigger_interval: options.reflection_interval,
                ..settings.planning.reflection.clone()
            },
        };
        is_left && options.judging == Judging::ByModel && reflection::decide(&question).reflect
    }
}

impl Transition<'_> {
    /// Whether a reflection is under way or was just begun, so that nothing new starts.
    pub(super) fn is_reflecting(&mut self) -> bool {
        if self.run.busy_owners().any(|owner| matches!(owner, Owner::Reflection(_))) {
            return true;
        }
        let next = self.run.graph.active().find(|node| node.has_ended() && !node.reflected);
        let Some((task, is_due)) = next.map(|node| (node.id().clone(), self.run.is_reflection_due(node)))
        else {
            return false;
        };
        if is_due {
            self.ask(Owner::Reflection(task.clone()), QuestionKind::Reflect { task });
        } else {
            self.push(ReflectionChange::Reflected { task, document: None });
        }
        true
    }

    pub(super) fn with_reflection(
        &mut self,
        task: &TaskId,
        result: &CommandResult,
    ) -> Result<(), UnexpectedEvent> {
        if let CommandResult::Person(answer) = result {
            return self.with_revision_approval(answer);
        }
        let CommandResult::Answer(answer) = result else { return Ok(()) };
        let rejected = if let ParsedAnswer::Document(Document::Reflection(document)) = &answer.reading {
            match self.revised(document) {
                Ok(revised) => return self.reflected(task, document, revised),
                Err(problem) => Some(RejectedAnswer::because(Redactor::default().redact(&problem))),
            }
        } else {
            RejectedAnswer::of(&answer.reading)
        };
        let Some(rejected) = rejected else { return Ok(()) };
        let owner = Owner::Reflection(task.clone());
        if self.is_asked_again(&owner, rejected) {
            self.ask(owner, QuestionKind::Reflect { task: task.clone() });
        } else {
            // No reflection is to be had: the plan stays as it is.
            self.push(ReflectionChange::Reflected { task: task.clone(), document: None });
        }
        Ok(())
    }

    /// The steps as they would be, where they must change.
    fn revised(&self, document: &ReflectionDocument) -> Result<Option<ActionPlan>, String> {
        if !document.needs_revision() {
            return Ok(None);
        }
        let Some(plan) = self.run.review.plan() else { return Ok(None) };
        let Some(revision) = &document.plan_revision else {
            return Err("plan_revision: is missing although plan_revision_needed says yes".to_string());
        };
        let is_done = |id: &TaskId| self.run.task(id).is_some_and(|node| node.state.is_terminal());
        let tasks: Vec<TaskId> = self.run.tasks().map(|node| node.id().clone()).collect();
        revised_actions::revised(&plan.actions, revision, &tasks, &is_done).map(Some)
    }

    fn reflected(
        &mut self,
        task: &TaskId,
        document: &ReflectionDocument,
        revised: Option<ActionPlan>,
    ) -> Result<(), UnexpectedEvent> {
        let kept = Box::new(document.clone());
        self.push(ReflectionChange::Reflected { task: task.clone(), document: Some(kept) });
        let (Some(actions), Some(settings)) = (revised, self.run.settings()) else { return Ok(()) };
        let reflection = &document.reflection;
        let error = reflection.error.clone().or_else(|| reflection.issues_identified.first().cloned());
        let error = error.unwrap_or_else(|| reflection.action_evaluated.clone());
        match self.run.revisions.verdict(&error, &settings.planning.revision) {
            RevisionDecision::Revise { approval: Approval::NotNeeded, .. } => {
                self.push(ReflectionChange::Revised { actions, error });
            }
            RevisionDecision::Revise { approval: Approval::Within { seconds }, .. } => {
                let about = format!("the plan is to be changed because of: {error}");
                self.push(ReflectionChange::RevisionProposed { actions, error });
                self.ask_approval(Owner::Reflection(task.clone()), &about, seconds);
            }
            RevisionDecision::AskPerson { cause, .. } => return self.halt(cause),
        }
        Ok(())
    }

    /// A person was asked whether the plan may change; silence is a no.
    fn with_revision_approval(&mut self, answer: &PersonAnswer) -> Result<(), UnexpectedEvent> {
        match (answer, self.run.proposed.clone()) {
            (PersonAnswer::Approved { .. }, Some((actions, error))) => {
                self.push(ReflectionChange::Revised { actions, error });
                Ok(())
            }
            (PersonAnswer::Approved { .. }, None) => Ok(()),
            (PersonAnswer::Refused { .. } | PersonAnswer::Said(_), _) => self.halt(Cause::ApprovalRefused),
            (PersonAnswer::Nobody, _) => self.halt(Cause::ApprovalTimeout),
        }
    }
}
