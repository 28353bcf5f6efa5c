//! The words of an expectation and of the limits.

use std::collections::{BTreeMap, BTreeSet};

use fixpoint_decide::run::PlanOptions;
use fixpoint_decide::task_run::TestEdits;
use fixpoint_vocabulary::ask::{PersonPresence, PlanningStyle};
use fixpoint_vocabulary::settings::{DecompositionLevel, ReflectionDepth, Strategy};

use super::*;

fn forecast(change: impl FnOnce(&mut Forecast)) -> Forecast {
    let settings = Settings::default();
    let planned = PlanOptions {
        calls: PlanningCalls::AtOnce,
        style: PlanningStyle {
            strategy: Strategy::Simple,
            level: DecompositionLevel::Minimal,
            depth: ReflectionDepth::default(),
        },
        reflection_interval: 0,
        person: PersonPresence::Unavailable,
        judging: Judging::ByModel,
        extent: RunExtent::Whole,
        sigma: None,
        prices: BTreeMap::new(),
        tools: Vec::new(),
        guards: BTreeSet::new(),
        goals: BTreeSet::new(),
        test_edits: TestEdits::Checked,
    };
    let options = RunOptions::planned(planned, crate::allowance::from_settings(&settings.budget));
    let mut forecast = Forecast::new(&options, &settings, None);
    change(&mut forecast);
    forecast
}

fn price() -> Option<Price> {
    Some(Price { input_per_million: 1.0, output_per_million: 10.0, ..Price::default() })
}

#[test]
fn the_first_line_names_the_expectation_its_source_and_the_limit() {
    let unknown = forecast(|_| {});
    assert_eq!(
        unknown.first_line(Lang::En),
        "expected: cost unknown, no prices (12 model calls, 87,000 tokens, 6 agent attempts; estimated, no earlier runs \
         here); limit: $20.00, then the run pauses (`fixpoint resume --budget` raises it)"
    );
    let priced = forecast(|forecast| (forecast.planner, forecast.judge) = (price(), price()));
    assert!(
        priced
            .first_line(Lang::En)
            .starts_with("expected: about $0.22 for models, the agent's cost unknown ("),
        "{}",
        priced.first_line(Lang::En)
    );
    let unlimited = forecast(|forecast| forecast.budget = Allowance::default());
    assert!(unlimited.first_line(Lang::En).ends_with("; no limit is set; --budget sets one"));
    let past = PastRun { tasks: 2, attempts: 3, ..PastRun::default() };
    let learnt = forecast(|forecast| forecast.past = vec![past]);
    assert!(learnt.first_line(Lang::En).contains("(3 agent attempts; from 1 earlier run)"));
}

#[test]
fn in_japanese_no_english_word_is_left() {
    let line = forecast(|_| {}).first_line(Lang::Ja);
    assert_eq!(
        line,
        "予想: 料金が不明なため費用は不明（モデル呼び出し12回、87,000トークン、エージェントの試行6回。推定、過去の実行なし）。上限: \
         $20.00（達すると一時停止し、`fixpoint resume --budget` で引き上げられます）"
    );
}

#[test]
fn the_worst_case_is_lower_than_the_budget_only_where_every_price_is_known() {
    let cheap = |forecast: &mut Forecast| {
        forecast.settings.budget.model_calls = Some(1);
        forecast.settings.budget.attempts = Some(2);
        (forecast.planner, forecast.judge) = (price(), price());
    };
    assert_eq!(forecast(cheap).limit_json()["usd"], 20.0, "nobody knows what the agent costs");
    let all = forecast(|forecast| {
        cheap(forecast);
        forecast.settings.agent.model = Some("m".to_string());
        let price = Price { per_attempt: 0.5, ..Price::default() };
        forecast.settings.models.prices.insert("m".to_string(), price);
    });
    assert!(all.limit_json()["usd"].as_f64().unwrap() < 2.0, "{}", all.limit_json());
}

#[test]
fn small_sums_are_not_shown_as_nothing() {
    assert_eq!(
        [0, 1, 5_000, 1_431_000].map(|micro| about(MicroUsd(micro))),
        ["no cost", "about $0.01", "about $0.01", "about $1.43"]
    );
    assert_eq!([0, 7, 86_400, 86_000, 123_456].map(rounded), [0, 7, 87_000, 86_000, 130_000]);
}
