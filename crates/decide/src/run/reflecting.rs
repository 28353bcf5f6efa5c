//! Looking back after a task, and changing the steps that are not done yet.
//!
//! Nothing new starts while a look back is under way: what it finds may change what should start. Invariant: at most
//! one look back for each task, and at most `max_revisions` revisions.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixpoint_vocabulary::ask::{About, Ask, PersonAnswer, PersonAsk, PersonAskKind, Reading};
use fixpoint_vocabulary::documents::{ActionPlan, Document, ReflectionDocument};
use fixpoint_vocabulary::settings::ReflectionSettings;
use fixpoint_vocabulary::work::{Command, CommandResult};
use fixpoint_vocabulary::{Cause, Redacted, Redactor, TaskId, TaskState};

use super::{Deciding, Judging, Move, Node, NodeKind, OutOfPlace, Owner, Run, Trouble};
use crate::reflection::{self, ActionStatus, LastAction};
use crate::revising;
use crate::revision::{Approval, Verdict};

/// Whether a task has an end that can be looked back at.
pub(super) const fn has_ended(node: &Node) -> bool {
    let is_over = match node.state {
        TaskState::Done | TaskState::Blocked => true,
        TaskState::Ready
        | TaskState::Running
        | TaskState::NeedsContinuation
        | TaskState::Cancelled
        | TaskState::ReplacedByReplan => false,
    };
    let is_planned = match node.kind {
        NodeKind::Planned | NodeKind::Replanned | NodeKind::Added => true,
        NodeKind::Given | NodeKind::Merge { .. } => false,
    };
    is_over && is_planned
}

impl Run {
    /// Whether looking back at a task is called for.
    fn is_reflection_due(&self, node: &Node) -> bool {
        let (Some(settings), Some(order)) = (self.settings(), self.plan_order()) else { return false };
        // What cannot change anything any more is not worth a question.
        let is_left = self.nodes.waiting() > 0;
        let ended = self.nodes.ended();
        let is_done = node.state == TaskState::Done;
        let question = reflection::Question {
            actions_done: u64::try_from(ended).unwrap_or(u64::MAX),
            last: LastAction {
                status: if is_done { ActionStatus::Success } else { ActionStatus::Failure },
                matches_expectation: true,
                changes_something: node.run.as_ref().is_some_and(|run| run.changes_files()),
            },
            config: ReflectionSettings {
                trigger_interval: order.reflection_interval,
                ..settings.planning.reflection.clone()
            },
        };
        is_left && order.judging == Judging::ByModel && reflection::decide(&question).reflect
    }
}

impl Deciding<'_> {
    /// Whether a look back is under way or was just begun, so that nothing new starts.
    pub(super) fn is_reflecting(&mut self) -> bool {
        let mut owners = self.run.under_way.values().map(|under_way| &under_way.owner);
        let held = self.run.held.iter().map(|(owner, ..)| owner);
        if owners.by_ref().chain(held).any(|owner| matches!(owner, Owner::Reflection(_))) {
            return true;
        }
        let next = self.run.nodes.active().find(|node| has_ended(node) && !node.reflected);
        let Some((task, is_due)) = next.map(|node| (node.id().clone(), self.run.is_reflection_due(node)))
        else {
            return false;
        };
        if is_due {
            self.ask(Owner::Reflection(task.clone()), Ask::new(About::Reflect { task }));
        } else {
            self.push(Move::Reflected { task, document: None });
        }
        true
    }

    pub(super) fn with_reflection(
        &mut self,
        task: &TaskId,
        result: &CommandResult,
    ) -> Result<(), OutOfPlace> {
        let answer = match result {
            CommandResult::Answer(answer) => answer,
            CommandResult::Person(answer) => return self.with_approval(answer),
            CommandResult::Base(_)
            | CommandResult::Checks { .. }
            | CommandResult::Attempt(_)
            | CommandResult::Grafted { .. }
            | CommandResult::Merged(_)
            | CommandResult::Recalled(_)
            | CommandResult::Kept => return Ok(()),
        };
        let trouble = match &answer.reading {
            Reading::Document(Document::Reflection(document)) => match self.revised(document) {
                Ok(revised) => return self.reflected(task, document, revised),
                Err(problem) => {
                    Trouble { problem: Redactor::default().redact(&problem), text: Redacted::default() }
                }
            },
            Reading::Document(_) => Trouble {
                problem: Redacted::ours("another kind of document was given"),
                text: Redacted::default(),
            },
            Reading::Unreadable { problem, text } => Trouble { problem: problem.clone(), text: text.clone() },
            Reading::Unanswered { .. } => return Ok(()),
        };
        let owner = Owner::Reflection(task.clone());
        if self.is_asked_again(&owner, trouble) {
            self.ask(owner, Ask::new(About::Reflect { task: task.clone() }));
        } else {
            // Nobody could look back: the plan stays as it is.
            self.push(Move::Reflected { task: task.clone(), document: None });
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
        revising::revised(&plan.actions, revision, &tasks, &is_done).map(Some)
    }

    fn reflected(
        &mut self,
        task: &TaskId,
        document: &ReflectionDocument,
        revised: Option<ActionPlan>,
    ) -> Result<(), OutOfPlace> {
        let kept = alloc::boxed::Box::new(document.clone());
        self.push(Move::Reflected { task: task.clone(), document: Some(kept) });
        let (Some(actions), Some(settings)) = (revised, self.run.settings()) else { return Ok(()) };
        let reflection = &document.reflection;
        let error = reflection.error.clone().or_else(|| reflection.issues_identified.first().cloned());
        let error = error.unwrap_or_else(|| reflection.action_evaluated.clone());
        match self.run.revisions.verdict(&error, &settings.planning.revision) {
            Verdict::Revise { approval: Approval::NotNeeded, .. } => {
                self.push(Move::Revised { actions, error });
            }
            Verdict::Revise { approval: Approval::Within { seconds }, .. } => {
                let about = format!("the plan shall be changed because of: {error}");
                self.push(Move::RevisionProposed { actions, error });
                let (about, kind) = (Redactor::default().redact(&about), PersonAskKind::Approval);
                let asked = PersonAsk { about, questions: Vec::new(), kind, within: seconds };
                self.begin(Owner::Reflection(task.clone()), Command::AskPerson(asked));
            }
            Verdict::AskPerson { cause, .. } => return self.halt(cause),
        }
        Ok(())
    }

    /// A person was asked whether the plan may change; silence is a no.
    fn with_approval(&mut self, answer: &PersonAnswer) -> Result<(), OutOfPlace> {
        match (answer, self.run.proposed.clone()) {
            (PersonAnswer::Approved { .. }, Some((actions, error))) => {
                self.push(Move::Revised { actions, error });
                Ok(())
            }
            (PersonAnswer::Approved { .. }, None) => Ok(()),
            (PersonAnswer::Refused { .. } | PersonAnswer::Said(_), _) => self.halt(Cause::ApprovalRefused),
            (PersonAnswer::Nobody, _) => self.halt(Cause::ApprovalTimeout),
        }
    }
}
