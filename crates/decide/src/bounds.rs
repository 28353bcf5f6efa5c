//! The worst case of a run, computed before its first call: every loop has a bound, and here they are multiplied.
//!
//! Each term names the loop it bounds and the settings it is made of. Invariant: no run makes more model calls
//! or agent attempts than the sum of its terms, nor more than its budget.

use crate::prelude::*;
use fixpoint_vocabulary::settings::{Price, Settings};
use fixpoint_vocabulary::{Lang, Localize, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Understanding, and understanding again after a clarification.
const UNDERSTANDINGS: u64 = 2;
/// Decomposing, and once more at a coarser level.
const DECOMPOSITIONS: u64 = 2;
/// Ordering the actions.
const ORDERINGS: u64 = 1;
/// A replan of the whole plan decomposes and orders again.
const CALLS_PER_REPLAN: u64 = 2;
/// A task without checks needs two independent yeses; after a second that is none the judge may be asked whether it is
/// worth going on.
const JUDGEMENTS_PER_ATTEMPT: u64 = 3;

/// A run to be bounded.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
pub struct Question {
    /// The whole configuration.
    #[serde(default)]
    pub config: Settings,
    /// The tasks the plan has.
    #[schemars(range(min = 0, max = 10_000))]
    pub tasks: u32,
    /// What the model costs; without it no money is reckoned.
    #[serde(default)]
    pub prices: Option<Price>,
}

/// One loop's share of the worst case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LoopBound {
    /// The loop.
    pub name: &'static str,
    /// What is counted, and which settings bound it.
    pub meaning: Text,
    /// Calls of models in it, at most.
    pub model_calls: u64,
    /// Attempts of agents in it, at most.
    pub agent_attempts: u64,
}

/// The worst case, with the terms it is made of.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// Calls of models, at most.
    pub model_calls: u64,
    /// Attempts of agents, at most.
    pub agent_attempts: u64,
    /// Tokens of models, at most.
    pub tokens: u64,
    /// US dollars, at most; only where prices are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub money: Option<f64>,
    /// The loops.
    pub terms: Vec<LoopBound>,
}

impl Localize for Answer {
    fn localize(&mut self, lang: Lang) {
        self.terms.iter_mut().for_each(|term| term.meaning.localize(lang));
    }
}

pub fn decide(question: &Question) -> Answer {
    let terms = terms(question);
    let budget = &question.config.budget;
    let sum = |of: fn(&LoopBound) -> u64| terms.iter().map(of).fold(0, u64::saturating_add);
    let model_calls = capped(sum(|term| term.model_calls), budget.model_calls);
    let agent_attempts = capped(sum(|term| term.agent_attempts), budget.attempts);
    let models = &question.config.models;
    let per_call = u64::from(models.max_prompt_tokens) + u64::from(models.max_output_tokens);
    let tokens = capped(model_calls.saturating_mul(per_call), budget.tokens);
    let money = question.prices.as_ref().map(|price| {
        let worst = money(question, price, model_calls, agent_attempts);
        budget.usd.map_or(worst, |limit| worst.min(limit))
    });
    Answer { model_calls, agent_attempts, tokens, money, terms }
}

fn capped(worst: u64, limit: Option<u64>) -> u64 {
    limit.map_or(worst, |limit| worst.min(limit))
}

#[expect(clippy::cast_precision_loss, reason = "a bound in dollars needs no more than 53 bits")]
fn money(question: &Question, price: &Price, model_calls: u64, agent_attempts: u64) -> f64 {
    let models = &question.config.models;
    // At worst all of the prompt is written into a cache.
    let per_token = price
        .cache_write_per_million
        .map_or(price.input_per_million, |write| write.max(price.input_per_million));
    let read = f64::from(models.max_prompt_tokens) * per_token;
    let written = f64::from(models.max_output_tokens) * price.output_per_million;
    model_calls as f64 * (read + written) / 1e6 + agent_attempts as f64 * price.per_attempt
}

fn terms(question: &Question) -> Vec<LoopBound> {
    let Settings { planning, refinement, judge, replanning, convergence, integration, models, .. } =
        &question.config;
    let tries = u64::from(models.max_format_retries) + 1;
    let plans = if planning.enabled { 1 } else { 0 };
    let refinements = plans * u64::from(refinement.max_refinement_attempts);
    let replans_per_lineage =
        if replanning.enabled { u64::from(replanning.max_iterations.saturating_sub(1)) } else { 0 };
    let finals = u64::from(integration.max_fix_iterations) + 1;
    // The goals of the run are a task of their own after each judgement of the whole.
    let lineages = u64::from(question.tasks) + u64::from(integration.max_additional_tasks) + finals;
    let replans = lineages * replans_per_lineage;
    let most_tasks = u64::from(planning.max_subtasks.max(question.tasks)) + finals;
    // Merges that need an agent come on top, whatever the number of tasks, and are not planned anew.
    let merges = u64::from(integration.max_fix_iterations);
    let tasks = (lineages + replans * u64::from(replanning.max_children)).min(most_tasks) + merges;
    let attempts = tasks * u64::from(convergence.max_iterations);
    let reflections = if planning.reflection.enabled { attempts } else { 0 };
    let revisions = u64::from(planning.revision.max_revisions);

    let calls = |name, calls: u64, en, ja| LoopBound {
        name,
        meaning: Text::new(en, ja),
        model_calls: calls.saturating_mul(tries),
        agent_attempts: 0,
    };
    Vec::from([
        calls(
            "planning",
            plans * (UNDERSTANDINGS + DECOMPOSITIONS + ORDERINGS),
            "understand the goal (twice with a clarification), split it (once more, coarser), order the tasks",
            "目標理解・タスク分解・行動計画",
        ),
        calls(
            "plan_judgement",
            (plans + refinements) * u64::from(judge.max_samples),
            "each plan scored judge.max_samples times",
            "計画の評価",
        ),
        calls(
            "refinement",
            refinements * CALLS_PER_REPLAN,
            "refinement.max_refinement_attempts improved plans",
            "計画の改善",
        ),
        calls(
            "replanning",
            replans,
            "replanning.max_iterations − 1 replans for each planned task and what replaces it",
            "タスクの再計画",
        ),
        LoopBound {
            agent_attempts: attempts,
            ..calls(
                "attempts",
                attempts * JUDGEMENTS_PER_ATTEMPT,
                "convergence.max_iterations attempts for each of at most planning.max_subtasks tasks, plus repairs of merges; each judged up to three times",
                "試行と判定",
            )
        },
        calls("reflection", reflections, "one reflection for each attempt", "リフレクション"),
        calls("revision", revisions, "planning.revision.max_revisions", "計画修正"),
        calls(
            "final_judgement",
            finals,
            "one final review, and one more after each repair of a merge",
            "全体の最終判定",
        ),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bounds(tasks: u32, change: impl FnOnce(&mut Settings)) -> Answer {
        let mut config = Settings::default();
        change(&mut config);
        decide(&Question { config, tasks, prices: None })
    }

    #[test]
    fn the_default_configuration_with_three_tasks() {
        let answer = bounds(3, |_| {});
        let of = |name| answer.terms.iter().find(|term| term.name == name).unwrap().model_calls;
        assert_eq!(of("planning"), 15);
        assert_eq!(of("plan_judgement"), 3 * 5 * 3);
        assert_eq!(of("refinement"), 2 * 2 * 3);
        // 3 tasks, 5 additions and 4 times the goals of the run may each be replanned twice.
        assert_eq!(of("replanning"), 12 * 2 * 3);
        // 12 + 24 × 5 = 132 tasks would be more than the 100 a run may plan and the 4 for its goals; 3 repairs on top.
        assert_eq!(answer.agent_attempts, 107 * 10);
        assert_eq!(of("attempts"), 1070 * 3 * 3);
        let total: u64 = answer.terms.iter().map(|term| term.model_calls).sum();
        assert_eq!(answer.model_calls, total);
        assert_eq!(answer.tokens, total * (64_000 + 8192));
        assert_eq!(answer.money, None);
    }

    /// Every setting has a value of its own, so that none can stand in for another.
    #[test]
    fn every_setting_counts_where_it_should() {
        let answer = bounds(7, |config| {
            config.models.max_format_retries = 1;
            config.refinement.max_refinement_attempts = 3;
            config.judge.max_samples = 4;
            config.integration.max_fix_iterations = 3;
            config.integration.max_additional_tasks = 5;
            config.replanning.max_iterations = 4;
            config.replanning.max_children = 2;
            config.planning.max_subtasks = 1000;
            config.planning.reflection.enabled = true;
            config.planning.revision.max_revisions = 6;
            config.convergence.max_iterations = 11;
        });
        let terms = answer.terms.iter().map(|term| (term.name, term.model_calls, term.agent_attempts));
        // 7 + 5 + 4 lineages, each replanned 3 times into 2 tasks, and 3 repairs: 16 + 48 × 2 + 3 tasks with 11 attempts.
        assert_eq!(
            terms.collect::<Vec<_>>(),
            [
                ("planning", 5 * 2, 0),
                ("plan_judgement", 4 * 4 * 2, 0),
                ("refinement", 3 * 2 * 2, 0),
                ("replanning", 48 * 2, 0),
                ("attempts", 1265 * 3 * 2, 1265),
                ("reflection", 1265 * 2, 0),
                ("revision", 6 * 2, 0),
                ("final_judgement", 4 * 2, 0),
            ]
        );
    }

    #[test]
    fn a_budget_bounds_the_bounds() {
        let answer = bounds(3, |config| {
            config.budget.model_calls = Some(50);
            config.budget.attempts = Some(4);
        });
        assert_eq!((answer.model_calls, answer.agent_attempts), (50, 4));
        let price =
            Price { input_per_million: 3.0, output_per_million: 2.0, per_attempt: 0.5, ..Price::default() };
        let mut question = Question { config: Settings::default(), tasks: 1, prices: Some(price) };
        question.config.budget.model_calls = Some(1000);
        question.config.budget.attempts = Some(2);
        let capped = |tokens, usd| {
            let mut question = question.clone();
            (question.config.budget.tokens, question.config.budget.usd) = (tokens, usd);
            let answer = decide(&question);
            (answer.tokens, answer.money)
        };
        assert_eq!(capped(Some(70), Some(0.5)), (70, Some(0.5)));
        let (_, money) = capped(None, None);
        let money = money.unwrap();
        assert!((money - (1000.0 * (3.0 * 64_000.0 + 2.0 * 8192.0) / 1e6 + 1.0)).abs() < 1e-9);
    }

    #[test]
    fn what_is_switched_off_costs_nothing() {
        let answer = bounds(1, |config| {
            config.planning.enabled = false;
            config.planning.reflection.enabled = false;
            config.replanning.enabled = false;
        });
        let idle = ["planning", "plan_judgement", "refinement", "replanning", "reflection"];
        assert!(
            answer.terms.iter().filter(|term| idle.contains(&term.name)).all(|term| term.model_calls == 0)
        );
    }

    proptest! {
        /// Catches a term with a minus sign or a swapped limit: more tasks or attempts never lower the bound.
        #[test]
        fn bounds_grow_with_their_settings(tasks in 0u32..200, iterations in 1u32..50, more in 1u32..5) {
            let less = bounds(tasks, |config| config.convergence.max_iterations = iterations);
            let with_more = bounds(tasks + more, |config| config.convergence.max_iterations = iterations + more);
            prop_assert!(less.agent_attempts <= with_more.agent_attempts);
            prop_assert!(less.model_calls <= with_more.model_calls);
        }
    }
}
