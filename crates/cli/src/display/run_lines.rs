//! A run of several tasks in lines: what each change of it means to a person who watches.

use fixpoint_decide::noise;
use fixpoint_decide::refinement::Decision;
use fixpoint_decide::run::{Mended, Move, Owner, Revision, Run, TaskSource};
use fixpoint_runs::{RunHistory, RunView};
use fixpoint_vocabulary::TaskState;
use fixpoint_vocabulary::documents::Subtask;
use fixpoint_vocabulary::work::Command;

use super::words::{PlanVerdict, Words};
use crate::output::harmless;

/// Letters of a foreign sentence that are shown.
const LONGEST: usize = 160;

/// The lines to print when a change was made. `view` is the run after it.
pub(super) fn lines_of(step: &Move, view: RunView<'_>, words: Words) -> Vec<String> {
    let mut lines = plan_lines(step, view.run, words).or_else(|| task_lines(step, words)).unwrap_or_default();
    lines.extend(not_replanned_line(step, view.history, words));
    lines
}

/// Why a blocked task is not replaced by smaller ones.
fn not_replanned_line(step: &Move, history: &RunHistory, words: Words) -> Option<String> {
    let Move::TaskMoved { task, state: TaskState::Blocked, .. } = step else { return None };
    history.task(task)?.replan_refusal.as_ref().map(|said| words.planner_said(&short(said)))
}

fn plan_lines(step: &Move, run: &Run, words: Words) -> Option<Vec<String>> {
    if let Move::Understood { understanding } = step {
        let mut lines = vec![words.goal(&short(&understanding.main_objective))];
        lines.extend(understanding.assumptions.iter().map(|text| words.assumption(&short(text))));
        return Some(lines);
    }
    if let Move::Planned { tasks, mended, .. } = step {
        let mended = match mended {
            Mended::No => String::new(),
            Mended::Merged => words.repaired_plan(),
            Mended::Previous => words.previous_plan(),
        };
        let head = format!("{}{mended}", words.plan(run.review().revisions.len(), tasks.len()));
        return Some(
            std::iter::once(head).chain(tasks.iter().map(|task| subtask_line(task, words))).collect(),
        );
    }
    if let Move::PlanScored { revision, judgement } = step {
        let plan = run.review().revisions.get(*revision as usize)?;
        let verdict =
            if judgement.is_acceptable { PlanVerdict::Acceptable } else { PlanVerdict::NotAcceptable };
        let mut lines = vec![words.plan_reviewed(revision + 1, score_words(plan, run).as_deref(), verdict)];
        lines.extend(judgement.issues.iter().map(|issue| words.issue(&short(issue))));
        return Some(lines);
    }
    if let Move::PlanDecided { answer } = step {
        let why = answer.reason.text.in_lang(words.0);
        return Some(vec![match answer.decision {
            Decision::Accept => words.plan_accepted(why),
            Decision::Replan => words.plan_sent_back(why),
            Decision::Reject => words.plan_rejected(why),
        }]);
    }
    if let Move::PlanSuspect { findings } = step {
        return Some(findings.iter().map(|finding| words.plan_finding(&short(finding))).collect());
    }
    if let Move::Recalled { draft: Some(_) } = step {
        return Some(vec![words.cached_plan()]);
    }
    if let Move::Unusable { owner, trouble } = step {
        return Some(vec![words.unusable_answer(owner, &short(trouble.problem.as_str()))]);
    }
    None
}

fn task_lines(step: &Move, words: Words) -> Option<Vec<String>> {
    if let Move::TaskStarted { order } = step {
        return Some(vec![words.task_started(order.task.as_str())]);
    }
    if let Move::TaskMoved { task, state, cause } = step {
        return match state {
            TaskState::Running => None,
            TaskState::Ready
            | TaskState::NeedsContinuation
            | TaskState::Done
            | TaskState::Blocked
            | TaskState::Cancelled
            | TaskState::ReplacedByReplan => Some(vec![format!("[{task}] {}", words.state(*state, *cause))]),
        };
    }
    if let Move::TaskReplaced { task, children, reason } = step {
        let names: Vec<&str> = children.iter().map(|child| child.task.id.as_str()).collect();
        let mut lines = vec![words.task_split(task.as_str(), &names.join(", "))];
        if !reason.as_str().trim().is_empty() {
            lines.push(words.reason(&short(reason.as_str())));
        }
        lines.extend(children.iter().map(|child| subtask_line(&child.task, words)));
        return Some(lines);
    }
    if let Move::SidesMerged { task, merged } = step {
        return Some(vec![match merged.conflicts.len() {
            0 => words.merged(task.as_str()),
            number => words.merge_conflicts(task.as_str(), number, &short(&merged.conflicts.join(", "))),
        }]);
    }
    if let Move::LeftOut { task } = step {
        return Some(vec![words.left_out(task.as_str())]);
    }
    if let Move::WholeJudged { is_complete, missing } = step {
        let head = if *is_complete { words.goal_reached() } else { words.goal_not_reached() };
        let missing = missing.iter().map(|missing| words.missing(&short(missing)));
        return Some(std::iter::once(head).chain(missing).collect());
    }
    if let Move::Revised { error, .. } = step {
        return Some(vec![words.plan_revised(&short(error))]);
    }
    if let Move::Hold { owner, cause, .. } = step {
        return Some(vec![words.deferred(owner, *cause)]);
    }
    None
}

fn subtask_line(task: &Subtask, words: Words) -> String {
    let after: Vec<&str> = task.dependencies.iter().map(|id| id.as_str()).collect();
    words.subtask(task.id.as_str(), &after, &short(&task.description))
}

/// A score with its uncertainty and the number of times the plan was scored: `78 ± 3 (n=4)`.
pub(crate) fn score_words(plan: &Revision, run: &Run) -> Option<String> {
    let scores = plan.scores();
    let score = plan.score()?;
    let sigma = match &run.order().tasks {
        TaskSource::Planned(order) => noise::reckoned(order.sigma),
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
        Command::RecallPlan => words.looking_for_plan(),
        Command::KeepPlan | Command::RunChecks(_) | Command::RunAttempt(_) | Command::Graft(_) => {
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
