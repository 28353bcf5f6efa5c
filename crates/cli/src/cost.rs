//! What a run is expected to use, and what limits it: the first line of a run, and again when its plan is known.
//!
//! The worst case of all loops together is no expectation, so it is shown only on request. Decides nothing: the numbers
//! come from `fixpoint_decide::estimate` and `fixpoint_decide::bounds`.

use fixpoint_decide::bounds;
use fixpoint_decide::estimate::{self, Part, PastRun, Source};
use fixpoint_decide::run::{Judging, PlanningCalls, Run, RunExtent, RunOptions, TaskSource};
use fixpoint_runs::{PastKind, StateDirectory, past_runs};
use fixpoint_vocabulary::ask::Role;
use fixpoint_vocabulary::settings::{Price, Settings};
use fixpoint_vocabulary::usage::{Allowance, MicroUsd};
use fixpoint_vocabulary::{Lang, counted, grouped};
use serde_json::{Value, json};

use crate::language::say;

/// What is known before a run about what it will use.
#[derive(Debug)]
pub(crate) struct Forecast {
    part: Part,
    calls: PlanningCalls,
    judging: Judging,
    planner: Option<Price>,
    judge: Option<Price>,
    budget: Allowance,
    settings: Settings,
    past: Vec<PastRun>,
}

impl Forecast {
    /// `state` is where earlier runs are; without it there are none.
    pub(crate) fn new(options: &RunOptions, settings: &Settings, state: Option<&StateDirectory>) -> Self {
        let (part, calls, judging, prices) = match &options.tasks {
            TaskSource::Given(_) => (Part::Loop, PlanningCalls::None, Judging::ByChecksAlone, None),
            TaskSource::Planned(planned) => {
                let part = match planned.extent {
                    RunExtent::Whole => Part::Whole,
                    RunExtent::PlanOnly => Part::Planning,
                };
                (part, planned.calls, planned.judging, Some(&planned.prices))
            }
        };
        let price = |role: Role| prices.and_then(|prices| prices.get(&role)).cloned();
        let kind = match (part, calls) {
            (Part::Loop, _) => PastKind::Loop,
            (_, PlanningCalls::None) => PastKind::Unplanned,
            (_, PlanningCalls::AtOnce | PlanningCalls::PerPhase) => PastKind::Planned,
        };
        Self {
            part,
            calls,
            judging,
            planner: price(Role::Planner),
            judge: price(Role::Judge),
            budget: options.budget,
            settings: settings.clone(),
            past: state.map(|state| past_runs(state, kind)).unwrap_or_default(),
        }
    }

    fn expected(&self, part: Part) -> estimate::Answer {
        estimate::decide(&estimate::Question {
            part,
            calls: self.calls,
            judging: self.judging,
            past: self.past.clone(),
            planner: self.planner.clone(),
            judge: self.judge.clone(),
            per_attempt: self.price_per_attempt(),
        })
    }

    /// What an attempt of the agent costs, where `models.prices` says so for `agent.model`; as in the run's ledger.
    fn price_per_attempt(&self) -> Option<f64> {
        let price = self.settings.models.prices.get(self.settings.agent.model.as_ref()?)?;
        Some(price.per_attempt).filter(|usd| *usd > 0.0)
    }

    /// The worst case with so many tasks, whatever the limit in money.
    pub(crate) fn worst_case(&self, tasks: Option<u32>) -> bounds::Answer {
        let mut config = self.settings.clone();
        config.budget.usd = None;
        let per_attempt = self.price_per_attempt().unwrap_or(0.0);
        let prices = self.planner.clone().map(|price| Price { per_attempt, ..price });
        let tasks = match (self.judging, self.calls) {
            // Without any model there is no planning, no judge and no replanning.
            (Judging::ByChecksAlone, _) => {
                config.replanning.enabled = false;
                config.budget.model_calls = Some(0);
                1
            }
            (Judging::ByModel, PlanningCalls::None) => 1,
            (Judging::ByModel, PlanningCalls::AtOnce | PlanningCalls::PerPhase) => {
                tasks.unwrap_or(config.planning.max_subtasks)
            }
        };
        bounds::decide(&bounds::Question { config, tasks, prices })
    }

    /// What the run will probably use and what limits it, before it begins.
    pub(crate) fn first_line(&self, lang: Lang) -> String {
        let expected = expected_words(&self.expected(self.part), lang);
        let limit = self.limit_words(self.budget, None, lang);
        say(lang, format!("expected: {expected}; {limit}"), format!("予想: {expected}。{limit}"))
    }

    /// The same once the plan is known: what was used so far, and what its tasks will probably use.
    pub(crate) fn line_with_plan(&self, run: &Run, lang: Lang) -> Option<String> {
        let tasks = run.review().plan()?.tasks.len().max(1);
        if self.part != Part::Whole {
            return None;
        }
        let (ledger, spent) = (run.ledger(), run.ledger().spent());
        let rest = self.expected(Part::Execution { tasks: tasks as u64 });
        let so_far = if spent.model_calls == 0 { Some(MicroUsd(0)) } else { ledger.models.cost };
        let total = estimate::Answer {
            model_calls: rest.model_calls.saturating_add(spent.model_calls),
            tokens: rest.tokens.saturating_add(ledger.models.tokens()),
            models_cost: rest.models_cost.zip(so_far).map(|(rest, so_far)| plus(rest, so_far)),
            ..rest
        };
        let expected = expected_words(&total, lang);
        let limit = self.limit_words(ledger.allowed(), u32::try_from(tasks).ok(), lang);
        Some(say(
            lang,
            format!("expected with {}, plan included: {expected}; {limit}", counted(tasks, "task")),
            format!("予想（タスク{tasks}件、計画を含む）: {expected}。{limit}"),
        ))
    }

    /// The limits that apply: the budget, or less where no run with such a plan can use so much.
    fn limits(&self, budget: Allowance, tasks: Option<u32>) -> Allowance {
        if self.part == Part::Loop {
            let most = u64::from(self.settings.convergence.max_iterations);
            return Allowance {
                attempts: Some(budget.attempts.map_or(most, |limit| limit.min(most))),
                ..budget
            };
        }
        // The money of the agent is part of the worst case only where its price is known.
        let is_priced = self.part == Part::Planning || self.price_per_attempt().is_some();
        let worst = self.worst_case(tasks).money.filter(|_| is_priced).map(MicroUsd::from_usd);
        let money = budget.money.map(|limit| worst.map_or(limit, |worst| worst.min(limit)));
        Allowance { money, ..budget }
    }

    fn limit_words(&self, budget: Allowance, tasks: Option<u32>, lang: Lang) -> String {
        let Allowance { model_calls, tokens, money, attempts, seconds } = self.limits(budget, tasks);
        let parts: Vec<String> = [
            money.map(|limit| format!("${:.2}", limit.usd())),
            model_calls.map(|limit| calls_words(limit, lang)),
            tokens.map(|limit| tokens_words(limit, lang)),
            attempts.map(|limit| attempts_words(limit, lang)),
            seconds.map(|limit| say(lang, format!("{limit} s of work"), format!("作業時間{limit}秒"))),
        ]
        .into_iter()
        .flatten()
        .collect();
        if parts.is_empty() {
            return say(
                lang,
                "no limit is set; --budget sets one",
                "上限は設定されていません（--budget で設定できます）",
            );
        }
        let (limits, pauses) = (parts.join(&say(lang, ", ", "、")), budget != Allowance::default());
        match (self.part, pauses) {
            (Part::Loop, false) => say(lang, format!("limit: {limits}"), format!("上限: {limits}")),
            (_, _) => say(
                lang,
                format!("limit: {limits}, then the run pauses (`fixpoint resume --budget` raises it)"),
                format!(
                    "上限: {limits}（達すると一時停止し、`fixpoint resume --budget` で引き上げられます）"
                ),
            ),
        }
    }

    /// What no run can exceed, whatever happens in it.
    pub(crate) fn worst_case_line(&self, tasks: Option<u32>, lang: Lang) -> String {
        let worst = self.worst_case(tasks);
        let (money, ja_money) = match (worst.money, self.price_per_attempt()) {
            (None, _) => (String::new(), String::new()),
            (Some(usd), Some(_)) => (format!(", ${usd:.2}"), format!("、費用 ${usd:.2}")),
            (Some(usd), None) => (
                format!(", ${usd:.2} for models (the price of the agent is unknown)"),
                format!("、モデル費用 ${usd:.2}（エージェントの料金は不明）"),
            ),
        };
        let parts = [
            calls_words(worst.model_calls, lang),
            tokens_words(worst.tokens, lang),
            attempts_words(worst.agent_attempts, lang),
        ];
        say(
            lang,
            format!("worst case, if every loop goes to its end: {}{money}", parts.join(", ")),
            format!("最悪の場合（すべてのループが上限まで続いた場合）: {}{ja_money}", parts.join("、")),
        )
    }

    /// For `plan --bounds --json`.
    pub(crate) fn expected_json(&self) -> Value {
        let answer = self.expected(self.part);
        let (source, runs) = match answer.source {
            Source::EarlierRuns(number) => ("earlier_runs", number),
            Source::Model => ("model", 0),
        };
        json!({
            "source": source, "runs": runs, "tasks": answer.tasks, "model_calls": answer.model_calls,
            "tokens": answer.tokens, "agent_attempts": answer.agent_attempts,
            "models_usd": answer.models_cost.map(MicroUsd::usd), "agents_usd": answer.agents_cost.map(MicroUsd::usd),
        })
    }

    /// For `plan --bounds --json`: the limits that apply; null where there is none.
    pub(crate) fn limit_json(&self) -> Value {
        let Allowance { model_calls, tokens, money, attempts, seconds } = self.limits(self.budget, None);
        json!({
            "usd": money.map(MicroUsd::usd), "model_calls": model_calls, "tokens": tokens,
            "attempts": attempts, "wall_time": seconds,
        })
    }
}

fn plus(one: MicroUsd, other: MicroUsd) -> MicroUsd {
    MicroUsd(one.0.saturating_add(other.0))
}

fn calls_words(number: u64, lang: Lang) -> String {
    let shown = grouped(number);
    say(lang, counted(&shown, "model call"), format!("モデル呼び出し{shown}回"))
}

fn tokens_words(number: u64, lang: Lang) -> String {
    let shown = grouped(number);
    say(lang, counted(&shown, "token"), format!("{shown}トークン"))
}

fn attempts_words(number: u64, lang: Lang) -> String {
    let shown = grouped(number);
    say(lang, counted(&shown, "agent attempt"), format!("エージェントの試行{shown}回"))
}

/// `about $1.43 (12 model calls, …; from 3 earlier runs)`. What nobody knows the price of is named.
fn expected_words(answer: &estimate::Answer, lang: Lang) -> String {
    let mut numbers: Vec<String> = Vec::new();
    if answer.model_calls > 0 {
        numbers.push(calls_words(answer.model_calls, lang));
        numbers.push(tokens_words(rounded(answer.tokens), lang));
    }
    if answer.agent_attempts > 0 {
        numbers.push(attempts_words(answer.agent_attempts, lang));
    }
    let numbers = numbers.join(&say(lang, ", ", "、"));
    let source = match answer.source {
        Source::EarlierRuns(runs) => {
            say(lang, format!("from {}", counted(runs, "earlier run")), format!("過去{runs}回の実行から"))
        }
        Source::Model => say(lang, "estimated, no earlier runs here", "推定、過去の実行なし"),
    };
    let is_free = |cost: &MicroUsd| cost.0 == 0;
    let (money, ja_money) = match (answer.models_cost, answer.agents_cost) {
        (Some(models), Some(agents)) => (about(plus(models, agents)), about_ja(plus(models, agents))),
        (Some(models), None) if !is_free(&models) => (
            format!("{} for models, the agent's cost unknown", about(models)),
            format!("モデル{}、エージェントの費用は不明", about_ja(models)),
        ),
        (None, Some(agents)) if !is_free(&agents) => (
            format!("{} for the agent, the models' prices unknown", about(agents)),
            format!("エージェント{}、モデルの料金は不明", about_ja(agents)),
        ),
        (Some(_), None) => ("the agent's cost unknown".into(), "エージェントの費用は不明".into()),
        (None, Some(_)) => ("the models' prices unknown".into(), "モデルの料金は不明".into()),
        (None, None) => ("cost unknown, no prices".into(), "料金が不明なため費用は不明".into()),
    };
    say(lang, format!("{money} ({numbers}; {source})"), format!("{ja_money}（{numbers}。{source}）"))
}

fn about(cost: MicroUsd) -> String {
    if cost.0 == 0 { "no cost".to_string() } else { format!("about ${:.2}", cent(cost)) }
}

fn about_ja(cost: MicroUsd) -> String {
    if cost.0 == 0 { "費用なし".to_string() } else { format!("約${:.2}", cent(cost)) }
}

/// At least a cent: $0.00 would look free.
fn cent(cost: MicroUsd) -> f64 {
    cost.usd().max(0.01)
}

/// To two digits: an estimate has no more.
fn rounded(number: u64) -> u64 {
    let digits = u32::try_from(number.to_string().len()).unwrap_or(1);
    let unit = 10u64.saturating_pow(digits.saturating_sub(2));
    number.div_ceil(unit).saturating_mul(unit)
}

#[cfg(test)]
mod tests;
