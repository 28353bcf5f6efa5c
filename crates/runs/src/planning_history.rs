//! The history of a run as one JSON object a line: plans, judgements, refinements, replans, reflections, revisions,
//! actions, completion; each with its type and time.
//!
//! Computed record by record from the journal and written next to it, so that other programs can read it.

use fixpoint_decide::run::{
    Change, FinalReviewChange, PlanReviewChange, ReflectionChange, Run, RunChange, RunStatus, TaskChange,
};
use fixpoint_decide::task_run::Decision;
use fixpoint_engine::{Record, RecordedRun};
use fixpoint_vocabulary::TaskState;
use fixpoint_vocabulary::documents::{
    ActionPlan, CompletionDocument, CompletionPhase, CompletionStatus, CompletionSummary, PlanningDocument,
    PlanningPhase, Subtask, TaskDecomposition,
};
use fixpoint_vocabulary::{Cause, Lang};
use serde::Serialize;
use serde_json::{Value, json};

use crate::run_explanation::explain;
use crate::view::{FoldedRun, RunView};
use crate::words::cause_name;

/// One line of the history.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlanningHistoryLine {
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// In RFC 3339 and UTC.
    pub timestamp: String,
    /// The number of the record.
    pub seq: u64,
    #[serde(flatten)]
    pub payload: Value,
}

/// The whole history of a recorded run, in order.
pub fn planning_history(recorded: &RecordedRun, lang: Lang) -> Vec<PlanningHistoryLine> {
    let mut lines = Vec::new();
    FoldedRun::watched(recorded, |record, view| lines.extend(planning_lines(record, view, lang)));
    lines
}

/// The lines of the last record; `view` is the run after it.
pub(crate) fn planning_lines(record: &Record, view: RunView<'_>, lang: Lang) -> Vec<PlanningHistoryLine> {
    let line = |(kind, payload): (&'static str, Value)| PlanningHistoryLine {
        kind,
        timestamp: timestamp(record.at),
        seq: view.history.seq(),
        payload,
    };
    let steps = record.decision.changes.iter().filter_map(|step| content(step, view.run, lang));
    let end = completion(record, view, lang).map(|end| ("completion", end));
    steps.chain(end).map(line).collect()
}

/// A moment in RFC 3339 and UTC.
fn timestamp(milliseconds: u64) -> String {
    let milliseconds = i64::try_from(milliseconds).unwrap_or(i64::MAX);
    jiff::Timestamp::from_millisecond(milliseconds).map(|at| at.to_string()).unwrap_or_default()
}

fn content(change: &Change, run: &Run, lang: Lang) -> Option<(&'static str, Value)> {
    match change {
        Change::PlanReview(change) => plan_review(change, run, lang),
        Change::Task(change) => task(change, lang),
        Change::FinalReview(FinalReviewChange::Judged { is_complete, missing }) => {
            Some(("judgement", json!({ "is_complete": is_complete, "missing_aspects": missing })))
        }
        Change::Reflection(ReflectionChange::Reflected { document: Some(document), .. }) => {
            Some(("reflection", json!(document)))
        }
        Change::Reflection(ReflectionChange::Revised { actions, error }) => {
            Some(("revision", json!({ "reason": error, "updated_action_plan": actions })))
        }
        Change::Reflection(
            ReflectionChange::Reflected { document: None, .. } | ReflectionChange::RevisionProposed { .. },
        )
        | Change::Run(_)
        | Change::FinalProof(_)
        | Change::BaseChecks(_)
        | Change::Planning(_)
        | Change::Merge(_)
        | Change::Delivery(_) => None,
    }
}

fn plan_review(change: &PlanReviewChange, run: &Run, lang: Lang) -> Option<(&'static str, Value)> {
    match change {
        PlanReviewChange::Planned { tasks, actions, .. } => {
            let document = planning_document(tasks, actions, run);
            Some(("plan", json!({ "revision": run.review().revisions.len(), "plan": document })))
        }
        PlanReviewChange::Scored { revision, judgement } => {
            Some(("judgement", json!({ "plan": revision + 1, "judgement": judgement })))
        }
        PlanReviewChange::Decided { answer } => {
            let mut answer = answer.clone();
            fixpoint_vocabulary::Localize::localize(&mut answer, lang);
            Some(("refinement", json!(answer)))
        }
        PlanReviewChange::Accepted { .. } | PlanReviewChange::Flagged { .. } => None,
    }
}

fn planning_document(tasks: &[Subtask], actions: &ActionPlan, run: &Run) -> PlanningDocument {
    let planning = run.planning();
    let reasoning = planning.decomposition.as_ref().map(|found| found.reasoning.clone());
    PlanningDocument {
        phase: PlanningPhase::Planning,
        goal_understanding: planning.understanding.clone(),
        task_decomposition: Some(TaskDecomposition {
            reasoning: reasoning.unwrap_or_default(),
            subtasks: tasks.to_vec(),
        }),
        action_plan: Some(actions.clone()),
        error: None,
        comment: String::new(),
    }
}

fn task(change: &TaskChange, lang: Lang) -> Option<(&'static str, Value)> {
    match change {
        TaskChange::Replaced { task, children, reason } => {
            let children: Vec<Value> = children.iter().map(|child| json!(child.task)).collect();
            Some(("replan", json!({ "task": task, "reason": reason, "replaced_by": children })))
        }
        TaskChange::StateChanged { task, state, cause } => {
            Some(("task", json!({ "task": task, "state": state, "cause": cause })))
        }
        TaskChange::Decided { task, decision, .. } => {
            action(decision, lang).map(|attempt| ("action", json!({ "task": task, "attempt": attempt })))
        }
        TaskChange::Added { .. } | TaskChange::Started { .. } | TaskChange::Rewired { .. } => None,
    }
}

/// An attempt that was judged, which is the action of a coding agent.
fn action(decision: &Decision, lang: Lang) -> Option<Value> {
    let judged = decision.judged.as_ref()?;
    Some(json!({
        "n": judged.counts.iterations,
        "stage": judged.stage,
        "progress": judged.verdict.progress,
        "reason": judged.verdict.reason.text.in_lang(lang),
        "failures": judged.failures.len(),
        "commit": judged.commit,
    }))
}

fn completion(record: &Record, view: RunView<'_>, lang: Lang) -> Option<Value> {
    let is_rest =
        |change: &Change| matches!(change, Change::Run(RunChange::End { .. } | RunChange::Pause { .. }));
    let is_last = record.decision.changes.iter().any(is_rest);
    let cause = view.cause().filter(|_| is_last)?;
    let explanation = explain(view, lang);
    let count = |state: TaskState| {
        let nodes = view.run.tasks().filter(|node| node.state == state && !node.is_merge());
        u32::try_from(nodes.count()).unwrap_or(u32::MAX)
    };
    let needs_person = cause.exit_code() == Some(5);
    let document = CompletionDocument {
        phase: CompletionPhase::Completion,
        status: needs_person.then_some(CompletionStatus::RequiresHumanIntervention),
        summary: CompletionSummary {
            goal_achieved: matches!(cause, Cause::Done | Cause::AlreadySatisfied),
            tasks_completed: count(TaskState::Done),
            tasks_failed: count(TaskState::Blocked),
            key_outcomes: vec![explanation.what],
            lessons_learned: explanation.evidence,
            revision_attempts: None,
            reason: Some(cause_name(cause)),
            current_state: None,
            recommendations: explanation.next,
        },
        done: matches!(view.run.status(), RunStatus::Ended { .. }),
        comment: String::new(),
    };
    serde_json::to_value(document).ok()
}
