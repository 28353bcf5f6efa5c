//! A whole run in lines: what each step of it means to whoever watches.

use fixpoint_decide::noise;
use fixpoint_decide::run::{Mended, Move, Owner, Revision, Run};
use fixpoint_runs::{RunHistory, RunView, cause_name, counted, state_name};
use fixpoint_vocabulary::ask::{About, Role};
use fixpoint_vocabulary::documents::Subtask;
use fixpoint_vocabulary::work::Command;
use fixpoint_vocabulary::{Lang, TaskState};

use crate::output::harmless;

/// Letters of a foreign sentence.
const LONGEST: usize = 160;

/// The lines that stay when a step was taken. `view` is the run after it.
pub(super) fn lines_of(step: &Move, view: RunView<'_>, lang: Lang) -> Vec<String> {
    let mut lines = plan_lines(step, view.run, lang).or_else(|| task_lines(step)).unwrap_or_default();
    lines.extend(not_replanned_line(step, view.history));
    lines
}

/// Why no smaller tasks take the place of one that is blocked.
fn not_replanned_line(step: &Move, history: &RunHistory) -> Option<String> {
    let Move::TaskMoved { task, state: TaskState::Blocked, .. } = step else { return None };
    history.task(task)?.replan_refusal.as_ref().map(|said| format!("  the planner: {}", short(said)))
}

fn plan_lines(step: &Move, run: &Run, lang: Lang) -> Option<Vec<String>> {
    if let Move::Understood { understanding } = step {
        let mut lines = vec![format!("goal: {}", short(&understanding.main_objective))];
        lines.extend(understanding.assumptions.iter().map(|text| format!("  assumed: {}", short(text))));
        return Some(lines);
    }
    if let Move::Planned { tasks, mended, .. } = step {
        let number = run.review().revisions.len();
        let mended = match mended {
            Mended::No => "",
            Mended::Merged => ", broken and mended task by task with the plan before",
            Mended::Previous => ", broken: the plan before is used",
        };
        let head = format!("plan {number}: {}{mended}", counted(tasks.len(), "task"));
        return Some(std::iter::once(head).chain(tasks.iter().map(subtask_line)).collect());
    }
    if let Move::PlanScored { revision, judgement } = step {
        let plan = run.review().revisions.get(*revision as usize)?;
        let verdict = if judgement.is_acceptable { "acceptable" } else { "not acceptable" };
        let mut lines = vec![format!("plan {}: {} {verdict}", revision + 1, score_words(plan, run))];
        lines.extend(judgement.issues.iter().map(|issue| format!("  issue: {}", short(issue))));
        return Some(lines);
    }
    if let Move::PlanDecided { answer } = step {
        let word = match answer.decision {
            fixpoint_decide::refinement::Decision::Accept => "accepted",
            fixpoint_decide::refinement::Decision::Replan => "planned again",
            fixpoint_decide::refinement::Decision::Reject => "rejected",
        };
        return Some(vec![format!("plan {word}: {}", answer.reason.text.in_lang(lang))]);
    }
    if let Move::PlanSuspect { findings } = step {
        return Some(findings.iter().map(|finding| format!("plan: {}", short(finding))).collect());
    }
    if let Move::Recalled { draft: Some(_) } = step {
        return Some(vec!["a plan kept from earlier was found".to_string()]);
    }
    if let Move::Unusable { owner, trouble } = step {
        let whose = owner_words(owner);
        return Some(vec![format!(
            "{whose}: an answer that cannot be used: {}",
            short(trouble.problem.as_str())
        )]);
    }
    None
}

fn task_lines(step: &Move) -> Option<Vec<String>> {
    if let Move::TaskStarted { order } = step {
        return Some(vec![format!("[{}] begins", order.task)]);
    }
    if let Move::TaskMoved { task, state, cause } = step {
        let why = cause.map(|cause| format!(" ({})", cause_name(cause))).unwrap_or_default();
        return match state {
            TaskState::Running => None,
            TaskState::Ready
            | TaskState::NeedsContinuation
            | TaskState::Done
            | TaskState::Blocked
            | TaskState::Cancelled
            | TaskState::ReplacedByReplan => Some(vec![format!("[{task}] {}{why}", state_name(*state))]),
        };
    }
    if let Move::TaskReplaced { task, children, reason } = step {
        let names: Vec<&str> = children.iter().map(|child| child.task.id.as_str()).collect();
        let mut lines = vec![format!("[{task}] cannot work as it is; in its place: {}", names.join(", "))];
        if !reason.as_str().trim().is_empty() {
            lines.push(format!("  because: {}", short(reason.as_str())));
        }
        lines.extend(children.iter().map(|child| subtask_line(&child.task)));
        return Some(lines);
    }
    if let Move::SidesMerged { task, merged } = step {
        let words = match merged.conflicts.len() {
            0 => "brought together".to_string(),
            n => format!("in conflict in {n} files: {}", short(&merged.conflicts.join(", "))),
        };
        return Some(vec![format!("[{task}] {words}")]);
    }
    if let Move::LeftOut { task } = step {
        return Some(vec![format!(
            "[{task}] its result is left out: it could not be brought together with the others"
        )]);
    }
    if let Move::WholeJudged { is_complete, missing } = step {
        let word = if *is_complete { "the goal is reached" } else { "the goal is not reached" };
        let mut lines = vec![format!("the whole: {word}")];
        lines.extend(missing.iter().map(|missing| format!("  missing: {}", short(missing))));
        return Some(lines);
    }
    if let Move::Revised { error, .. } = step {
        return Some(vec![format!("the steps that are not done were revised: {}", short(error))]);
    }
    if let Move::Hold { owner, cause, .. } = step {
        return Some(vec![format!("{}: held back ({})", owner_words(owner), cause_name(*cause))]);
    }
    None
}

fn subtask_line(task: &Subtask) -> String {
    let after = if task.dependencies.is_empty() {
        String::new()
    } else {
        let names: Vec<&str> = task.dependencies.iter().map(|id| id.as_str()).collect();
        format!(" (after {})", names.join(", "))
    };
    format!("  {}{after}: {}", task.id, short(&task.description))
}

/// A score with its uncertainty: `78 ± 3 (n=4)`.
pub(crate) fn score_words(plan: &Revision, run: &Run) -> String {
    let scores = plan.scores();
    let Some(score) = plan.score() else { return "no score,".to_string() };
    let sigma = match &run.order().tasks {
        fixpoint_decide::run::TaskSource::Planned(order) => noise::reckoned(order.sigma),
        fixpoint_decide::run::TaskSource::Given(_) => noise::PRIOR_SIGMA,
    };
    #[expect(clippy::cast_precision_loss, reason = "a handful of scores")]
    let error = sigma / (scores.len().max(1) as f64).sqrt();
    format!("{:.0} ± {:.0} (n={}),", score.get(), error, scores.len())
}

/// What is being done, for the line that is drawn anew.
pub(super) fn doing(owner: &Owner, command: &Command) -> Option<String> {
    let what = match command {
        Command::TakeBase => "taking the base".to_string(),
        Command::Merge(_) => "bringing results together".to_string(),
        Command::Ask(ask) => format!("asking the {}", ask.about.role().name()),
        Command::AskPerson(_) => "waiting for you".to_string(),
        Command::RecallPlan => "looking for a kept plan".to_string(),
        Command::KeepPlan | Command::RunChecks(_) | Command::RunAttempt(_) | Command::Graft(_) => {
            return None;
        }
    };
    let whose = owner_words(owner);
    Some(format!("{whose}: {what}"))
}

fn owner_words(owner: &Owner) -> String {
    match owner {
        Owner::Task(task) => format!("[{task}]"),
        Owner::Planning => "planning".to_string(),
        Owner::Review => "plan judgement".to_string(),
        Owner::Replan(task) => format!("[{task}] replan"),
        Owner::Merge(task) => format!("[{task}]"),
        Owner::Whole => "the whole".to_string(),
        Owner::Reflection(task) => format!("[{task}] looking back"),
    }
}

/// What is asked, in a few words.
pub(super) fn asked(about: &About, model: &str, tokens: u64) -> String {
    let who = match about.role() {
        Role::Planner => "planner",
        Role::Judge => "judge",
        Role::Worker => "worker",
        Role::Reflector => "reflector",
    };
    format!("asking the {who} ({model}): {}, about {tokens} tokens", about.name().replace('_', " "))
}

fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut: String = line.chars().take(LONGEST).collect();
    let cut = if cut.len() < line.len() { format!("{cut}…") } else { cut };
    harmless(&cut).into_owned()
}
