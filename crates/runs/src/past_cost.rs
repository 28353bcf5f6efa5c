//! What earlier runs of a repository used, read from their journals, so that the next one can be estimated.
//!
//! Only finished runs count: one that was stopped or ran out of budget says little about what the work takes. At most
//! [`MOST_RUNS`] are used and [`MOST_READ`] are read, the youngest first, so that a run does not start more slowly
//! with each one before it. A run that cannot be read, or not completely, is left out.

use fixpoint_decide::estimate::PastRun;
use fixpoint_decide::run::{Change, PlanReviewChange, PlanningCalls, Run, RunExtent, RunStatus, TaskSource};
use fixpoint_engine::RecordedRun;
use fixpoint_vocabulary::Cause;
use fixpoint_vocabulary::usage::{MicroUsd, Usage};

use crate::directory::StateDirectory;
use crate::view::FoldedRun;

/// Runs that an estimate is made from.
const MOST_RUNS: usize = 8;
/// Runs that are read in order to find them.
const MOST_READ: usize = 24;

/// Runs that can be compared with each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PastKind {
    /// `fixpoint run` with a plan.
    Planned,
    /// `fixpoint run` with the goal as one task.
    Unplanned,
    /// `fixpoint loop`.
    Loop,
}

/// The finished runs of a kind, the youngest first.
pub fn past_runs(state: &StateDirectory, kind: PastKind) -> Vec<PastRun> {
    let runs = state.list().unwrap_or_default();
    let recorded = runs.into_iter().take(MOST_READ).filter_map(|run| run.read_whole().ok());
    recorded.filter(|recorded| kind_of(recorded) == Some(kind)).filter_map(past_run).take(MOST_RUNS).collect()
}

/// `None` for a run that only planned.
fn kind_of(recorded: &RecordedRun) -> Option<PastKind> {
    match &recorded.header.options.tasks {
        TaskSource::Given(_) => Some(PastKind::Loop),
        TaskSource::Planned(options) => match (options.extent, options.calls) {
            (RunExtent::PlanOnly, _) => None,
            (RunExtent::Whole, PlanningCalls::None) => Some(PastKind::Unplanned),
            (RunExtent::Whole, PlanningCalls::AtOnce | PlanningCalls::PerPhase) => Some(PastKind::Planned),
        },
    }
}

/// What a run used; `None` if it is not finished, or if no agent worked.
fn past_run(recorded: RecordedRun) -> Option<PastRun> {
    let mut planning = Usage::default();
    let folded = FoldedRun::watched(&recorded, |record, view| {
        let is_accepted =
            |change: &Change| matches!(change, Change::PlanReview(PlanReviewChange::Accepted { .. }));
        if record.decision.changes.iter().any(is_accepted) {
            planning = used_by_models(view.run);
        }
    });
    let run = &folded.run;
    let attempts = run.ledger().spent().attempts;
    (is_finished(run) && attempts > 0).then(|| PastRun {
        tasks: run.review().plan().map_or(1, |plan| plan.tasks.len().max(1)) as u64,
        attempts,
        planning,
        execution: less(used_by_models(run), planning),
        agents: run.ledger().agents,
    })
}

fn is_finished(run: &Run) -> bool {
    match run.status() {
        RunStatus::Ended { cause } => matches!(cause, Cause::Done | Cause::Partial),
        RunStatus::New | RunStatus::Working | RunStatus::Paused { .. } => false,
    }
}

/// With questions as calls, as a budget counts them: a request that is repeated is one call.
fn used_by_models(run: &Run) -> Usage {
    Usage { calls: run.ledger().spent().model_calls, ..run.ledger().models }
}

fn less(whole: Usage, part: Usage) -> Usage {
    let cost = |usage: Usage| usage.cost.map(|cost| cost.0);
    Usage {
        calls: whole.calls.saturating_sub(part.calls),
        input_tokens: whole.input_tokens.saturating_sub(part.input_tokens),
        cache_read_tokens: whole.cache_read_tokens.saturating_sub(part.cache_read_tokens),
        cache_write_tokens: whole.cache_write_tokens.saturating_sub(part.cache_write_tokens),
        output_tokens: whole.output_tokens.saturating_sub(part.output_tokens),
        cost: cost(whole).map(|whole| MicroUsd(whole.saturating_sub(cost(part).unwrap_or(0)))),
        counted: whole.counted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_the_plan_is_what_remains() {
        let whole = Usage {
            calls: 9,
            input_tokens: 100,
            output_tokens: 30,
            cost: Some(MicroUsd(50)),
            ..Usage::default()
        };
        let planning = Usage {
            calls: 4,
            input_tokens: 60,
            output_tokens: 10,
            cost: Some(MicroUsd(20)),
            ..Usage::default()
        };
        let rest = Usage {
            calls: 5,
            input_tokens: 40,
            output_tokens: 20,
            cost: Some(MicroUsd(30)),
            ..Usage::default()
        };
        assert_eq!(less(whole, planning), rest);
        assert_eq!(less(Usage { cost: None, ..whole }, planning).cost, None, "an unknown cost stays unknown");
        assert_eq!(less(whole, Usage::default()), whole);
    }

    #[test]
    fn where_no_run_is_there_is_nothing_to_learn_from() {
        let directory = tempfile::tempdir().unwrap();
        let state = StateDirectory::new(directory.path(), "r");
        assert_eq!(past_runs(&state, PastKind::Planned), []);
    }
}
