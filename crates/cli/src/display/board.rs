//! The state of a run with several tasks, in a few rows at the bottom of a terminal: its phase, the plan's score, the
//! budget, and every task with its attempt, its stage and the number of failures after each attempt.

use std::time::Duration;

use fixpoint_decide::run::{Owner, Run, TaskKind, TaskNode};
use fixpoint_runs::{RunHistory, RunView};
use fixpoint_vocabulary::work::Command;
use fixpoint_vocabulary::{Cause, TaskId, TaskState, counted};

use super::run_lines::score_words;
use super::words::{Used, Words, clock};
use crate::terminal_text::harmless;

/// Tasks that are drawn at the same time.
const MOST_DRAWN: usize = 12;
/// Attempts whose failures are shown.
const TRAIL: usize = 5;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) text: String,
    /// The running task of this row: what is done for it is drawn below.
    pub(super) task: Option<TaskId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Board {
    head: String,
    pub(super) rows: Vec<Row>,
}

impl Board {
    pub(super) fn of(title: &str, view: RunView<'_>, words: Words) -> Self {
        let run = view.run;
        let in_vain = run.unreachable_tasks();
        let drawn = drawn_of(run);
        let mut rows = vec![Row { text: format!("   {}", spending(run, words)), task: None }];
        rows.extend(drawn.iter().map(|node| row(node, view, in_vain.contains(node.id()), words)));
        if let Some(more) = run.tasks().count().checked_sub(drawn.len()).filter(|more| *more > 0) {
            rows.push(Row {
                text: format!(
                    "   {}",
                    words.say(format!("and {} more", counted(more, "task")), format!("他{more}タスク"))
                ),
                task: None,
            });
        }
        Self { head: head(title, run, words), rows }
    }

    pub(super) fn head_at(&self, elapsed: Duration) -> String {
        format!("{} · {}", self.head, clock(elapsed))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.head.is_empty()
    }
}

/// The tasks that there is room for: running ones first, then waiting ones, then those that have ended.
fn drawn_of(run: &Run) -> Vec<&TaskNode> {
    let mut nodes: Vec<(usize, &TaskNode)> = run.tasks().enumerate().collect();
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

/// Short enough for a narrow terminal: the budget has a line of its own.
fn head(title: &str, run: &Run, words: Words) -> String {
    let mut parts = vec![format!("── {title}"), run.phase().title().in_lang(words.0).to_string()];
    let score = run.review().plan().and_then(|plan| score_words(plan, run));
    parts.extend(score.map(|score| format!("{} {score}", words.say("plan", "計画"))));
    parts.join(" · ")
}

fn spending(run: &Run, words: Words) -> String {
    let ledger = run.ledger();
    let (spent, allowed) = (ledger.spent(), ledger.allowed());
    let used = ledger.models + ledger.agents;
    let mut parts = vec![
        words.used(spent.model_calls, allowed.model_calls, Used::Calls),
        words.used(spent.attempts, allowed.attempts, Used::Attempts),
        words.used(used.tokens(), allowed.tokens, Used::Tokens),
    ];
    let money = used.cost.map(|cost| cost.usd());
    match (money, allowed.money) {
        (_, Some(limit)) => {
            let (used, limit) = (money.unwrap_or(0.0), limit.usd());
            parts.push(words.say(format!("${used:.2} of ${limit:.2}"), format!("${used:.2}/${limit:.2}")));
        }
        // $0.00 would look like a price although none was reported.
        (Some(money), None) if money > 0.0 => parts.push(format!("${money:.2}")),
        (Some(_) | None, None) => {}
    }
    parts.join(" · ")
}

fn row(node: &TaskNode, view: RunView<'_>, is_in_vain: bool, words: Words) -> Row {
    let mark = match (node.state, is_in_vain) {
        (_, true) | (TaskState::Blocked | TaskState::Cancelled, false) => "✗",
        (TaskState::Done, false) => "✓",
        (TaskState::Running, false) => "▶",
        (TaskState::ReplacedByReplan, false) => "↳",
        (TaskState::Ready | TaskState::NeedsContinuation, false) => "·",
    };
    let state = if is_in_vain {
        words.state(TaskState::Blocked, Some(Cause::Dependency))
    } else {
        words.state(node.state, node.cause)
    };
    let kind = match node.kind {
        TaskKind::Merge { .. } => words.say(" (merge)", "（マージ）"),
        TaskKind::FinalProof => words.say(" (final check)", "（最終確認）"),
        TaskKind::Given | TaskKind::Planned | TaskKind::Replanned | TaskKind::Added => String::new(),
    };
    let mut parts = vec![format!(" {mark} {}{kind}", harmless(node.id().as_str())), state];
    parts.extend(attempt_words(node, view.run, words));
    parts.extend(trail_words(node.id(), view.history, words));
    let task = (node.state == TaskState::Running).then(|| node.id().clone());
    Row { text: parts.join(" · "), task }
}

/// The attempt that is under way, or how many there were.
fn attempt_words(node: &TaskNode, run: &Run, words: Words) -> Option<String> {
    let under_way = run.in_flight().find_map(|(_, owner, command)| match (owner, command) {
        (Owner::Task(task), Command::RunAttempt(order)) if task == node.id() => {
            Some(words.attempt_at_stage(order.number, None, order.stage))
        }
        (_, _) => None,
    });
    let made = node.run.as_ref().map_or(0, |run| run.attempts());
    under_way.or_else(|| (made > 0).then(|| words.say(counted(made, "attempt"), format!("試行{made}回"))))
}

fn trail_words(task: &TaskId, history: &RunHistory, words: Words) -> Option<String> {
    let iterations = &history.task(task)?.iterations;
    let left: Vec<usize> = iterations.iter().map(|iteration| iteration.judged.failures.len()).collect();
    (!left.is_empty()).then(|| words.failure_trail(&left, TRAIL))
}

#[cfg(test)]
mod tests {
    use fixpoint_vocabulary::Lang;

    use super::*;

    #[test]
    fn what_is_used_stands_beside_the_limit() {
        let table = [
            ("with a limit", Lang::En, 3, Some(20), "3 of 20 attempts"),
            ("without a limit", Lang::En, 3, None, "3 attempts"),
            ("one", Lang::En, 1, None, "1 attempt"),
            ("in Japanese", Lang::Ja, 3, Some(20), "試行 3/20"),
        ];
        for (name, lang, used, allowed, expected) in table {
            assert_eq!(Words(lang).used(used, allowed, Used::Attempts), expected, "{name}");
        }
    }

    /// Catches a trail that shows the oldest attempts instead of the last.
    #[test]
    fn only_the_last_attempts_are_shown() {
        let words = Words(Lang::En);
        assert_eq!(words.failure_trail(&[9, 8, 7, 5, 3, 2], TRAIL), "failures 8 → 7 → 5 → 3 → 2");
        assert_eq!(words.failure_trail(&[1], TRAIL), "failures 1");
    }
}
