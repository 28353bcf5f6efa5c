//! Where a whole run stands, in a few rows at the bottom of a terminal: its phase, what it spent of what it may, the
//! plan's score, and every task with its attempt, its stage and where its failures are going.

use std::time::Duration;

use fixpoint_decide::run::{Node, NodeKind, Owner, Run};
use fixpoint_runs::{RunHistory, RunView, cause_name, counted, state_name};
use fixpoint_vocabulary::work::Command;
use fixpoint_vocabulary::{Lang, TaskId, TaskState};

use super::drawing::clock;
use super::run_lines::score_words;
use crate::output::harmless;

/// Tasks that are drawn at once.
const MOST_DRAWN: usize = 12;
/// Past attempts whose failures are shown.
const TRAIL: usize = 5;

/// One row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) text: String,
    /// The task that is worked on, if this row is about one: what is done for it is drawn below.
    pub(super) task: Option<TaskId>,
}

/// Where everything stands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Board {
    head: String,
    pub(super) rows: Vec<Row>,
}

impl Board {
    /// Where a run stands that is told so far.
    pub(super) fn of(title: &str, view: RunView<'_>, lang: Lang) -> Self {
        let run = view.run;
        let in_vain = run.waiting_in_vain();
        let drawn = drawn_of(run);
        let mut rows = vec![Row { text: format!("   {}", spending(run)), task: None }];
        rows.extend(drawn.iter().map(|node| row(node, view, in_vain.contains(node.id()))));
        if let Some(more) = run.tasks().count().checked_sub(drawn.len()).filter(|more| *more > 0) {
            rows.push(Row { text: format!("   and {} more", counted(more, "task")), task: None });
        }
        Self { head: head(title, run, lang), rows }
    }

    /// The first line, at a time.
    pub(super) fn head_at(&self, elapsed: Duration) -> String {
        format!("{} · {}", self.head, clock(elapsed))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.head.is_empty()
    }
}

/// The tasks that there is room for: what is worked on before what waits, and what is over last.
fn drawn_of(run: &Run) -> Vec<&Node> {
    let mut nodes: Vec<(usize, &Node)> = run.tasks().enumerate().collect();
    nodes.sort_by_key(|(place, node)| {
        let rank = match node.state {
            TaskState::Running => 0,
            TaskState::Blocked | TaskState::NeedsContinuation => 1,
            TaskState::Ready => 2,
            TaskState::Done | TaskState::Cancelled | TaskState::ReplacedByReplan => 3,
        };
        (rank, *place)
    });
    nodes.truncate(MOST_DRAWN);
    nodes.sort_by_key(|(place, _)| *place);
    nodes.into_iter().map(|(_, node)| node).collect()
}

/// Short enough for a narrow terminal: what was spent has a line of its own.
fn head(title: &str, run: &Run, lang: Lang) -> String {
    let mut parts = vec![format!("── {title}"), run.phase().title().in_lang(lang).to_string()];
    if let Some(plan) = run.review().plan().filter(|plan| !plan.samples.is_empty()) {
        parts.push(format!("plan {}", score_words(plan, run).trim_end_matches(',')));
    }
    parts.join(" · ")
}

fn spending(run: &Run) -> String {
    let ledger = run.ledger();
    let (spent, allowed) = (ledger.spent(), ledger.allowed());
    let used = ledger.models + ledger.agents;
    let mut parts = vec![
        against(spent.model_calls, allowed.model_calls, "calls"),
        against(spent.attempts, allowed.attempts, "attempts"),
        against(used.tokens(), allowed.tokens, "tokens"),
    ];
    let money = used.cost.map(|cost| cost.usd());
    match (money, allowed.money) {
        (_, Some(limit)) => parts.push(format!("${:.2} of ${:.2}", money.unwrap_or(0.0), limit.usd())),
        // Nothing is not worth a place, and looks like a price where somebody tells none.
        (Some(money), None) if money > 0.0 => parts.push(format!("${money:.2}")),
        (Some(_) | None, None) => {}
    }
    parts.join(" · ")
}

/// What was spent, beside what may be.
fn against(spent: u64, allowed: Option<u64>, what: &str) -> String {
    allowed.map_or_else(|| format!("{spent} {what}"), |allowed| format!("{spent} of {allowed} {what}"))
}

fn row(node: &Node, view: RunView<'_>, is_in_vain: bool) -> Row {
    let mark = match (node.state, is_in_vain) {
        (_, true) | (TaskState::Blocked | TaskState::Cancelled, false) => "✗",
        (TaskState::Done, false) => "✓",
        (TaskState::Running, false) => "▶",
        (TaskState::ReplacedByReplan, false) => "↳",
        (TaskState::Ready | TaskState::NeedsContinuation, false) => "·",
    };
    let state = match (node.cause, is_in_vain) {
        (_, true) => "blocked (dependency)".to_string(),
        (Some(cause), false) => format!("{} ({})", state_name(node.state), cause_name(cause)),
        (None, false) => state_name(node.state).to_string(),
    };
    let kind = match node.kind {
        NodeKind::Merge { .. } => " (merge)",
        NodeKind::Given | NodeKind::Planned | NodeKind::Replanned | NodeKind::Added => "",
    };
    let mut parts = vec![format!(" {mark} {}{kind}", harmless(node.id().as_str())), state];
    parts.extend(attempt_words(node, view.run));
    parts.extend(trail_words(node.id(), view.history));
    let task = (node.state == TaskState::Running).then(|| node.id().clone());
    Row { text: parts.join(" · "), task }
}

/// The attempt that is under way, or how many there were.
fn attempt_words(node: &Node, run: &Run) -> Option<String> {
    let under_way = run.under_way().find_map(|(_, owner, command)| match (owner, command) {
        (Owner::Task(task), Command::RunAttempt(order)) if task == node.id() => {
            Some(format!("attempt {}, stage {}", order.number, order.stage))
        }
        (_, _) => None,
    });
    let made = node.run.as_ref().map_or(0, |run| run.attempts());
    under_way.or_else(|| (made > 0).then(|| counted(made as usize, "attempt")))
}

/// How many failures each attempt left, so that one sees where they are going.
fn trail_words(task: &TaskId, history: &RunHistory) -> Option<String> {
    let iterations = &history.task(task)?.iterations;
    let left: Vec<usize> = iterations.iter().map(|iteration| iteration.judged.failures.len()).collect();
    (!left.is_empty()).then(|| trail(&left))
}

fn trail(failures: &[usize]) -> String {
    let shown = failures.get(failures.len().saturating_sub(TRAIL)..).unwrap_or_default();
    let numbers: Vec<String> = shown.iter().map(ToString::to_string).collect();
    format!("failing {}", numbers.join(" → "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_spent_stands_beside_what_may_be() {
        assert_eq!(against(3, Some(20), "calls"), "3 of 20 calls");
        assert_eq!(against(3, None, "calls"), "3 calls");
    }

    /// Catches a trail that shows the oldest attempts instead of the last.
    #[test]
    fn the_last_attempts_show_where_failures_are_going() {
        assert_eq!(trail(&[9, 8, 7, 5, 3, 2]), "failing 8 → 7 → 5 → 3 → 2");
        assert_eq!(trail(&[1]), "failing 1");
    }
}
