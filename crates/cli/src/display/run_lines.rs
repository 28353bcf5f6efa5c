//! A run of several tasks in lines: what each change of it means to a person who watches.

use fixpoint_decide::noise;
use fixpoint_decide::refinement::Decision;
use fixpoint_decide::run::{
    Change, FinalReviewChange, MergeChange, Owner, PlanRepair, PlanReviewChange, PlanningChange,
    ReflectionChange, ReviewedPlan, Run, RunChange, TaskChange, TaskSource,
};
use fixpoint_runs::{RunHistory, RunView};
use fixpoint_vocabulary::TaskState;
use fixpoint_vocabulary::documents::Subtask;
use fixpoint_vocabulary::work::Command;

use super::words::{PlanVerdict, Words};
use crate::output::harmless;

/// Letters of a foreign sentence that are shown.
const LONGEST: usize = 160;

/// The lines to print when a change was made. `view` is the run after it.
pub(super) fn lines_of(change: &Change, view: RunView<'_>, words: Words) -> Vec<String> {
    match change {
        Change::Run(change) => run_lines(change, words),
        Change::Planning(change) => planning_lines(change, words),
        Change::PlanReview(change) => plan_review_lines(change, view.run, words),
        Change::Task(change) => task_lines(change, view.history, words),
        Change::Merge(MergeChange::Merged { task, merged }) => vec![match merged.conflicts.len() {
            0 => words.merged(task.as_str()),
            number => words.merge_conflicts(task.as_str(), number, &short(&merged.conflicts.join(", "))),
        }],
        Change::Merge(MergeChange::LeftOut { task }) => vec![words.left_out(task.as_str())],
        Change::FinalReview(FinalReviewChange::Judged { is_complete, missing }) => {
            let head = if *is_complete { words.goal_reached() } else { words.goal_not_reached() };
            let missing = missing.iter().map(|missing| words.missing(&short(missing)));
            std::iter::once(head).chain(missing).collect()
        }
        Change::Reflection(ReflectionChange::Revised { error, .. }) => {
            vec![words.plan_revised(&short(error))]
        }
        Change::Reflection(
            ReflectionChange::Reflected { .. } | ReflectionChange::RevisionProposed { .. },
        )
        | Change::Delivery(_) => Vec::new(),
    }
}

fn run_lines(change: &RunChange, words: Words) -> Vec<String> {
    match change {
        RunChange::Defer { owner, cause, .. } => vec![words.deferred(owner, *cause)],
        RunChange::RejectAnswer { owner, answer } => {
            vec![words.unusable_answer(owner, &short(answer.problem.as_str()))]
        }
        RunChange::Begin { .. }
        | RunChange::ReleaseDeferred
        | RunChange::Pause { .. }
        | RunChange::End { .. } => Vec::new(),
    }
}

fn planning_lines(change: &PlanningChange, words: Words) -> Vec<String> {
    match change {
        PlanningChange::Understood { understanding } => {
            let head = words.goal(&short(&understanding.main_objective));
            let assumptions = understanding.assumptions.iter().map(|text| words.assumption(&short(text)));
            std::iter::once(head).chain(assumptions).collect()
        }
        PlanningChange::CacheLookedUp { draft: Some(_) } => vec![words.cached_plan()],
        PlanningChange::CacheLookedUp { draft: None }
        | PlanningChange::BaseTaken { .. }
        | PlanningChange::Clarified { .. }
        | PlanningChange::Unavailable
        | PlanningChange::Remarked { .. }
        | PlanningChange::Decomposed { .. }
        | PlanningChange::Coarser { .. }
        | PlanningChange::PartialOffered(_) => Vec::new(),
    }
}

fn plan_review_lines(change: &PlanReviewChange, run: &Run, words: Words) -> Vec<String> {
    match change {
        PlanReviewChange::Planned { tasks, repair, .. } => {
            let repaired = match repair {
                PlanRepair::None => String::new(),
                PlanRepair::Merged => words.repaired_plan(),
                PlanRepair::Previous => words.previous_plan(),
            };
            let head = format!("{}{repaired}", words.plan(run.review().revisions.len(), tasks.len()));
            std::iter::once(head).chain(tasks.iter().map(|task| subtask_line(task, words))).collect()
        }
        PlanReviewChange::Scored { revision, judgement } => {
            let plan = run.review().revisions.get(*revision as usize);
            let score = plan.and_then(|plan| score_words(plan, run));
            let verdict =
                if judgement.is_acceptable { PlanVerdict::Acceptable } else { PlanVerdict::NotAcceptable };
            let head = words.plan_reviewed(revision + 1, score.as_deref(), verdict);
            let issues = judgement.issues.iter().map(|issue| words.issue(&short(issue)));
            std::iter::once(head).chain(issues).collect()
        }
        PlanReviewChange::Decided { answer } => {
            let why = answer.reason.text.in_lang(words.0);
            vec![match answer.decision {
                Decision::Accept => words.plan_accepted(why),
                Decision::Replan => words.plan_sent_back(why),
                Decision::Reject => words.plan_rejected(why),
            }]
        }
        PlanReviewChange::Flagged { findings } => {
            findings.iter().map(|finding| words.plan_finding(&short(finding))).collect()
        }
        PlanReviewChange::Accepted { .. } => Vec::new(),
    }
}

fn task_lines(change: &TaskChange, history: &RunHistory, words: Words) -> Vec<String> {
    match change {
        TaskChange::Started { options } => vec![words.task_started(options.task.as_str())],
        TaskChange::StateChanged { state: TaskState::Running, .. } => Vec::new(),
        TaskChange::StateChanged { task, state, cause } => {
            let mut lines = vec![format!("[{task}] {}", words.state(*state, *cause))];
            // Why a blocked task is not replaced by smaller ones.
            let refusal = history.task(task).and_then(|task| task.replan_refusal.as_ref());
            let refusal = refusal.filter(|_| *state == TaskState::Blocked);
            lines.extend(refusal.map(|said| words.planner_said(&short(said))));
            lines
        }
        TaskChange::Replaced { task, children, reason } => {
            let names: Vec<&str> = children.iter().map(|child| child.task.id.as_str()).collect();
            let mut lines = vec![words.task_split(task.as_str(), &names.join(", "))];
            if !reason.as_str().trim().is_empty() {
                lines.push(words.reason(&short(reason.as_str())));
            }
            lines.extend(children.iter().map(|child| subtask_line(&child.task, words)));
            lines
        }
        TaskChange::Added { .. } | TaskChange::Decided { .. } | TaskChange::Rewired { .. } => Vec::new(),
    }
}

fn subtask_line(task: &Subtask, words: Words) -> String {
    let after: Vec<&str> = task.dependencies.iter().map(|id| id.as_str()).collect();
    words.subtask(task.id.as_str(), &after, &short(&task.description))
}

/// A score with its uncertainty and the number of times the plan was scored: `78 ± 3 (n=4)`.
pub(crate) fn score_words(plan: &ReviewedPlan, run: &Run) -> Option<String> {
    let scores = plan.scores();
    let score = plan.score()?;
    let sigma = match &run.options().tasks {
        TaskSource::Planned(options) => noise::effective_sigma(options.sigma),
        TaskSource::Given(_) => noise::PRIOR_SIGMA,
    };
    #[expect(clippy::cast_precision_loss, reason = "a handful of scores")]
    let error = sigma / (scores.len().max(1) as f64).sqrt();
    Some(format!("{:.0} ± {:.0} (n={})", score.get(), error, scores.len()))
}

/// What is being done, for the line that is redrawn.
pub(super) fn doing(owner: &Owner, command: &Command, words: Words) -> Option<String> {
    let what = match command {
        Command::TakeBase => words.taking_snapshot(),
        Command::Merge(_) => words.merging(),
        Command::Ask(ask) => words.asking(ask.about.role()),
        Command::AskPerson(_) => words.waiting_for_person(),
        Command::FindCachedPlan => words.looking_for_plan(),
        Command::Deliver(_) => words.delivering(),
        Command::StorePlan | Command::RunChecks(_) | Command::RunAttempt(_) | Command::RestorePaths(_) => {
            return None;
        }
    };
    Some(format!("{}: {what}", words.owner(owner)))
}

/// The beginning of what somebody wrote, on one line.
fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut: String = line.chars().take(LONGEST).collect();
    let cut = if cut.len() < line.len() { format!("{cut}…") } else { cut };
    harmless(&cut).into_owned()
}
