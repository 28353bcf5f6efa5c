//! What a run will probably use: from earlier runs of the same repository, else from a stated model.
//!
//! Owns the constants of the model. It is no limit: the limits are the budget and [`crate::bounds`]. Invariant: more
//! tasks never lower the estimate, and a price that nobody knows is never counted as zero.

use fixpoint_vocabulary::settings::Price;
use fixpoint_vocabulary::usage::{MicroUsd, Usage};

use crate::prelude::*;
use crate::run::{Judging, PlanningCalls};

/// Questions to the planner: one for everything, or one each to understand, split and order.
const CALLS_AT_ONCE: u64 = 1;
const CALLS_PER_PHASE: u64 = 3;
/// The first plan is scored twice, improved once and scored again.
const REVIEW_CALLS: u64 = 4;
/// Tasks of a plan that does not exist yet.
const USUAL_TASKS: u64 = 4;
/// Three attempts for every two tasks, each judged once.
const ATTEMPTS: (u64, u64) = (3, 2);
/// The attempts of `fixpoint loop`.
const LOOP_ATTEMPTS: u64 = 3;
/// The final review of the whole.
const FINAL_CALLS: u64 = 1;
/// One question to a model.
const CALL: Usage = Usage {
    calls: 1,
    input_tokens: 6000,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    output_tokens: 1200,
    cost: None,
    counted: fixpoint_vocabulary::usage::CountSource::Estimated,
};

/// What an earlier run used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PastRun {
    /// Tasks of its accepted plan; at least one.
    pub tasks: u64,
    pub attempts: u64,
    /// Models, until the plan was accepted.
    pub planning: Usage,
    /// Models, after that.
    pub execution: Usage,
    pub agents: Usage,
}

/// Which part of a run is estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Everything, with a plan of as many tasks as such runs usually have.
    Whole,
    /// Planning only.
    Planning,
    /// What follows a plan of so many tasks.
    Execution { tasks: u64 },
    /// One given task: `fixpoint loop`.
    Loop,
}

/// What is to be estimated.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    pub part: Part,
    pub calls: PlanningCalls,
    pub judging: Judging,
    /// Finished runs of the same kind, in any order.
    pub past: Vec<PastRun>,
    /// What the models that plan and that judge cost, where that is known.
    pub planner: Option<Price>,
    pub judge: Option<Price>,
    /// US dollars for one attempt, where the configuration says so.
    pub per_attempt: Option<f64>,
}

/// Where an estimate comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The medians of this many earlier runs.
    EarlierRuns(u64),
    /// There are none: fixed numbers of calls, attempts and tokens.
    Model,
}

/// What a run will probably use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    pub source: Source,
    /// Tasks that are assumed or planned.
    pub tasks: u64,
    pub model_calls: u64,
    pub tokens: u64,
    pub agent_attempts: u64,
    /// For models; `None` where their price is unknown.
    pub models_cost: Option<MicroUsd>,
    /// For agents; `None` where nobody knows what an attempt costs.
    pub agents_cost: Option<MicroUsd>,
}

pub fn decide(question: &Question) -> Answer {
    let past = &question.past;
    let source = match past.len() {
        0 => Source::Model,
        number => Source::EarlierRuns(number as u64),
    };
    let tasks = match (question.part, question.calls) {
        (Part::Execution { tasks }, _) => tasks.max(1),
        (Part::Loop, _) | (Part::Whole | Part::Planning, PlanningCalls::None) => 1,
        (Part::Whole | Part::Planning, PlanningCalls::AtOnce | PlanningCalls::PerPhase) => {
            median(past.iter().map(|run| run.tasks.max(1)).collect()).unwrap_or(USUAL_TASKS)
        }
    };
    let (plans, executes) = match question.part {
        Part::Whole => (1, 1),
        Part::Planning => (1, 0),
        Part::Execution { .. } | Part::Loop => (0, 1),
    };
    let attempts = executes * attempts(question, tasks);
    let planning = times(planning(question), plans);
    let execution = times(execution(question, tasks, attempts), executes);
    let models = planning + execution;
    let cost = |usage: &Usage, price: &Option<Price>| match price {
        _ if usage.tokens() == 0 && usage.calls == 0 => Some(MicroUsd(0)),
        Some(price) => Some(price.of(usage)),
        None => usage.cost,
    };
    let models_cost = cost(&planning, &question.planner)
        .zip(cost(&execution, &question.judge))
        .map(|(planning, execution)| MicroUsd(planning.0.saturating_add(execution.0)));
    Answer {
        source,
        tasks,
        model_calls: models.calls,
        tokens: models.tokens(),
        agent_attempts: attempts,
        models_cost,
        agents_cost: agents(question, attempts),
    }
}

fn attempts(question: &Question, tasks: u64) -> u64 {
    let of_past = question.past.iter().map(|run| share(run.attempts, run.tasks, tasks)).collect();
    let (attempts, of_tasks) = ATTEMPTS;
    let by_model = match question.part {
        Part::Loop => LOOP_ATTEMPTS,
        Part::Whole | Part::Planning | Part::Execution { .. } => {
            tasks.saturating_mul(attempts).div_ceil(of_tasks)
        }
    };
    median(of_past).unwrap_or(by_model).max(1)
}

fn planning(question: &Question) -> Usage {
    let calls = match (question.calls, question.judging) {
        (PlanningCalls::None, _) | (_, Judging::ByChecksAlone) => return Usage::default(),
        (PlanningCalls::AtOnce, Judging::ByModel) => CALLS_AT_ONCE,
        (PlanningCalls::PerPhase, Judging::ByModel) => CALLS_PER_PHASE,
    };
    let of_past: Vec<Usage> = question.past.iter().map(|run| run.planning).collect();
    median_usage(&of_past).unwrap_or(times(CALL, calls + REVIEW_CALLS))
}

/// What models use for the tasks and for the final review.
fn execution(question: &Question, tasks: u64, attempts: u64) -> Usage {
    let is_judged = match (question.part, question.judging) {
        (Part::Loop, _) | (_, Judging::ByChecksAlone) => false,
        (Part::Whole | Part::Planning | Part::Execution { .. }, Judging::ByModel) => true,
    };
    if !is_judged {
        return Usage::default();
    }
    let scaled = |run: &PastRun| {
        let of = |number: u64| share(number, run.tasks, tasks);
        let used = run.execution;
        Usage {
            calls: of(used.calls),
            input_tokens: of(used.input_tokens),
            cache_read_tokens: of(used.cache_read_tokens),
            cache_write_tokens: of(used.cache_write_tokens),
            output_tokens: of(used.output_tokens),
            cost: used.cost.map(|cost| MicroUsd(of(cost.0))),
            counted: used.counted,
        }
    };
    let of_past: Vec<Usage> = question.past.iter().map(scaled).collect();
    median_usage(&of_past).unwrap_or(times(CALL, attempts.saturating_add(FINAL_CALLS)))
}

/// What the attempts cost: as agents reported it before, else as configured. `None` where nobody knows.
fn agents(question: &Question, attempts: u64) -> Option<MicroUsd> {
    if attempts == 0 {
        return Some(MicroUsd(0));
    }
    let reported = |run: &PastRun| {
        let cost = run.agents.cost.filter(|cost| cost.0 > 0 && run.attempts > 0)?;
        Some(share(cost.0, run.attempts, 1))
    };
    let configured = || question.per_attempt.map(|usd| MicroUsd::from_usd(usd).0);
    let each = median(question.past.iter().filter_map(reported).collect()).or_else(configured)?;
    Some(MicroUsd(each.saturating_mul(attempts)))
}

/// The middle one; of two in the middle the larger, so that an estimate is rather too high.
fn median(mut numbers: Vec<u64>) -> Option<u64> {
    numbers.sort_unstable();
    numbers.get(numbers.len() / 2).copied()
}

/// The medians of each number. The cost is unknown as soon as one run does not know it.
fn median_usage(all: &[Usage]) -> Option<Usage> {
    let of = |number: fn(&Usage) -> u64| median(all.iter().map(number).collect());
    let costs: Option<Vec<u64>> = all.iter().map(|usage| usage.cost.map(|cost| cost.0)).collect();
    Some(Usage {
        calls: of(|usage| usage.calls)?,
        input_tokens: of(|usage| usage.input_tokens)?,
        cache_read_tokens: of(|usage| usage.cache_read_tokens)?,
        cache_write_tokens: of(|usage| usage.cache_write_tokens)?,
        output_tokens: of(|usage| usage.output_tokens)?,
        cost: costs.and_then(median).map(MicroUsd),
        counted: CALL.counted,
    })
}

/// What `tasks` tasks use if `of` tasks used `number`, rounded up.
fn share(number: u64, of: u64, tasks: u64) -> u64 {
    number.saturating_mul(tasks).div_ceil(of.max(1))
}

fn times(usage: Usage, number: u64) -> Usage {
    let of = |one: u64| one.saturating_mul(number);
    Usage {
        calls: of(usage.calls),
        input_tokens: of(usage.input_tokens),
        cache_read_tokens: of(usage.cache_read_tokens),
        cache_write_tokens: of(usage.cache_write_tokens),
        output_tokens: of(usage.output_tokens),
        cost: usage.cost.map(|cost| MicroUsd(of(cost.0))),
        counted: usage.counted,
    }
}

#[cfg(test)]
mod tests;
