//! The history of a run as one JSON object a line: plans, judgements, refinements, replans, reflections, revisions,
//! actions, completion; each with its type and time.
//!
//! Told out of the journal and written beside it, so that it can be read without Fixpoint. Not kept in memory.

use fixpoint_decide::run::{Move, Standing};
use fixpoint_decide::task_run::Decision;
use fixpoint_engine::{Record, Recorded};
use fixpoint_vocabulary::TaskState;
use fixpoint_vocabulary::documents::{
    CompletionDocument, CompletionPhase, CompletionStatus, CompletionSummary, PlanningDocument,
    PlanningPhase, TaskDecomposition,
};
use fixpoint_vocabulary::{Cause, Lang};
use serde::Serialize;
use serde_json::{Value, json};

use crate::diagnosis::cause_name;
use crate::run_explanation::explain;
use crate::story::Story;

/// One line of the history.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HistoryLine {
    /// What kind of thing happened.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// When, in RFC 3339 and UTC.
    pub timestamp: String,
    /// The number of the record.
    pub seq: u64,
    /// What happened.
    #[serde(flatten)]
    pub payload: Value,
}

/// The whole history, in order.
pub fn planning_history(recorded: &Recorded, lang: Lang) -> Vec<HistoryLine> {
    let mut lines = Vec::new();
    let mut story = Story::of(&Recorded { opening: recorded.opening.clone(), records: Vec::new() });
    for (seq, record) in (1u64..).zip(&recorded.records) {
        story.add(record);
        let line = |(kind, payload): (&'static str, Value)| HistoryLine {
            kind,
            timestamp: timestamp(record.at),
            seq,
            payload,
        };
        let steps = record.decision.moves.iter();
        lines.extend(steps.filter_map(|step| told(step, &story, lang)).map(line));
        if let Some(end) = completion(record, recorded, &story, lang) {
            lines.push(line(("completion", end)));
        }
    }
    lines
}

/// A moment in RFC 3339 and UTC.
fn timestamp(milliseconds: u64) -> String {
    let milliseconds = i64::try_from(milliseconds).unwrap_or(i64::MAX);
    jiff::Timestamp::from_millisecond(milliseconds).map(|at| at.to_string()).unwrap_or_default()
}

fn told(step: &Move, story: &Story, lang: Lang) -> Option<(&'static str, Value)> {
    if let Move::Planned { tasks, actions, .. } = step {
        let document = PlanningDocument {
            phase: PlanningPhase::Planning,
            goal_understanding: story.run.planning().understanding.clone(),
            task_decomposition: Some(TaskDecomposition {
                reasoning: story
                    .run
                    .planning()
                    .decomposition
                    .as_ref()
                    .map(|found| found.reasoning.clone())
                    .unwrap_or_default(),
                subtasks: tasks.clone(),
            }),
            action_plan: Some(actions.clone()),
            error: None,
            comment: String::new(),
        };
        return Some(("plan", json!({ "revision": story.run.review().revisions.len(), "plan": document })));
    }
    if let Move::PlanScored { revision, judgement } = step {
        return Some(("judgement", json!({ "plan": revision + 1, "judgement": judgement })));
    }
    if let Move::PlanDecided { answer } = step {
        let mut answer = answer.clone();
        fixpoint_vocabulary::Speak::speak(&mut answer, lang);
        return Some(("refinement", json!(answer)));
    }
    if let Move::TaskReplaced { task, children, reason } = step {
        let children: Vec<Value> = children.iter().map(|child| json!(child.task)).collect();
        let payload = json!({ "task": task, "reason": reason, "replaced_by": children });
        return Some(("replan", payload));
    }
    if let Move::Reflected { document: Some(document), .. } = step {
        return Some(("reflection", json!(document)));
    }
    if let Move::Revised { actions, error } = step {
        return Some(("revision", json!({ "reason": error, "updated_action_plan": actions })));
    }
    if let Move::TaskMoved { task, state, cause } = step {
        return Some(("task", json!({ "task": task, "state": state, "cause": cause })));
    }
    if let Move::WholeJudged { is_complete, missing } = step {
        return Some(("judgement", json!({ "is_complete": is_complete, "missing_aspects": missing })));
    }
    if let Move::Task { task, decision, .. } = step {
        return action(decision, lang).map(|payload| ("action", json!({ "task": task, "attempt": payload })));
    }
    None
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

fn completion(record: &Record, recorded: &Recorded, story: &Story, lang: Lang) -> Option<Value> {
    let is_last =
        record.decision.moves.iter().any(|step| matches!(step, Move::End { .. } | Move::Pause { .. }));
    let cause = story.cause().filter(|_| is_last)?;
    let explanation = explain(recorded, story, lang);
    let count = |state: TaskState| {
        let nodes = story.run.tasks().filter(|node| node.state == state && !node.is_merge());
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
            reason: Some(cause_name(cause).to_string()),
            current_state: None,
            recommendations: explanation.next,
        },
        done: matches!(story.run.standing(), Standing::Ended { .. }),
        comment: String::new(),
    };
    serde_json::to_value(document).ok()
}
