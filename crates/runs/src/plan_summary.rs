//! The plan and the tasks in the summary of a run.

use fixpoint_decide::goals::Proof;
use fixpoint_decide::run::{PlanRepair, ReviewedPlan, Run, TaskKind, TaskNode, TaskSource};
use fixpoint_vocabulary::documents::{GoalUnderstanding, Subtask};
use fixpoint_vocabulary::{Cause, Lang, TaskState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::view::{RunView, TaskView};
use crate::words::json_name;

/// One version of the plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RevisionLine {
    /// The number of its tasks.
    pub tasks: usize,
    /// The mean of its scores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// The number of scores.
    pub samples: usize,
    /// Whether the judge accepts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acceptable: Option<bool>,
    /// `accept`, `replan` or `reject`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<String>,
    /// The reason for the decision, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What replaced an invalid plan: `merged` with the previous one, or the `previous` one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mended: Option<String>,
}

/// The plan of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanLine {
    /// The goal, as the planner understood it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub understanding: Option<GoalUnderstanding>,
    /// All versions of the plan, oldest first.
    pub revisions: Vec<RevisionLine>,
    /// The number of the accepted version, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<u32>,
    /// Suggestions of the judge that were not followed.
    pub suggestions: Vec<String>,
    /// Commands in it that must not run, or need consent.
    pub findings: Vec<String>,
}

/// One task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskLine {
    /// The id of the task.
    pub id: String,
    /// What to do.
    pub description: String,
    /// Its origin: `given`, `planned`, `replanned`, `added` or `merge`.
    pub kind: String,
    /// Its state.
    pub state: TaskState,
    /// Why it is blocked; `dependency` where a task it depends on is blocked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// The tasks it depends on.
    pub dependencies: Vec<String>,
    /// The tasks that replace it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaced_by: Vec<String>,
    /// The number of judged attempts.
    pub attempts: u32,
    /// The commit with its result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// What proves the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
    /// The tests, and the files that decide what the checks do, that it changes with permission.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub permitted_changes: Vec<String>,
}

/// `None` for a run without a plan.
pub(crate) fn plan_line(run: &Run, lang: Lang) -> Option<PlanLine> {
    if matches!(run.options().tasks, TaskSource::Given(_)) {
        return None;
    }
    let review = run.review();
    let line = |(number, plan): (usize, &ReviewedPlan)| {
        let decided = review.decisions.get(number);
        RevisionLine {
            tasks: plan.tasks.len(),
            score: plan.score().map(|score| score.get()),
            samples: plan.samples.len(),
            acceptable: plan.samples.first().map(|first| first.is_acceptable),
            decision: decided.map(|answer| json_name(&answer.decision)),
            reason: decided.map(|answer| answer.reason.text.in_lang(lang).to_string()),
            mended: match plan.repair {
                PlanRepair::None => None,
                PlanRepair::Merged => Some("merged".to_string()),
                PlanRepair::Previous => Some("previous".to_string()),
            },
        }
    };
    let last = review.plan().and_then(|plan| plan.samples.first());
    Some(PlanLine {
        understanding: run.planning().understanding.clone(),
        revisions: review.revisions.iter().enumerate().map(line).collect(),
        accepted: review.accepted.map(|number| number + 1),
        suggestions: last.map(|sample| sample.suggestions.clone()).unwrap_or_default(),
        findings: review.findings.clone(),
    })
}

/// Empty for a run without a plan.
pub(crate) fn task_lines(view: RunView<'_>) -> Vec<TaskLine> {
    if matches!(view.run.options().tasks, TaskSource::Given(_)) {
        return Vec::new();
    }
    let in_vain = view.run.unreachable_tasks();
    let line = |node: &TaskNode| TaskLine {
        kind: kind_name(&node.kind).to_string(),
        state: if in_vain.contains(node.id()) { TaskState::Blocked } else { node.state },
        cause: if in_vain.contains(node.id()) { Some(Cause::Dependency) } else { node.cause },
        replaced_by: node.replaced_by.iter().map(ToString::to_string).collect(),
        attempts: node.run.as_ref().map_or(0, |run| run.attempts()),
        result: node.result().map(|result| result.commit.to_string()),
        proof: view.task(node.id()).and_then(TaskView::proof),
        permitted_changes: view.task(node.id()).map(TaskView::permitted_changes).unwrap_or_default(),
        ..planned_line(&node.task)
    };
    let lines: Vec<TaskLine> = view.run.tasks().map(line).collect();
    // A run that only made a plan has no started tasks.
    let plan = view.run.review().plan().filter(|_| lines.is_empty());
    let planned = plan.into_iter().flat_map(|plan| &plan.tasks).map(planned_line);
    lines.into_iter().chain(planned).collect()
}

fn planned_line(task: &Subtask) -> TaskLine {
    TaskLine {
        id: task.id.to_string(),
        description: task.description.clone(),
        kind: kind_name(&TaskKind::Planned).to_string(),
        state: TaskState::Ready,
        cause: None,
        dependencies: task.dependencies.iter().map(ToString::to_string).collect(),
        replaced_by: Vec::new(),
        attempts: 0,
        result: None,
        proof: None,
        permitted_changes: Vec::new(),
    }
}

const fn kind_name(kind: &TaskKind) -> &'static str {
    match kind {
        TaskKind::Given => "given",
        TaskKind::Planned => "planned",
        TaskKind::Replanned => "replanned",
        TaskKind::Added => "added",
        TaskKind::FinalProof => "final_proof",
        TaskKind::Merge { .. } => "merge",
    }
}
