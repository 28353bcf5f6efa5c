//! What Claude Code used, told twice: with every message while it works, and in total at its end.
//!
//! A message is told once for every block of it, each time with the usage of the whole message as far as it was
//! known then; so messages are counted by their id. The total at the end replaces what was counted.

use std::collections::VecDeque;

use fixpoint_vocabulary::usage::{Counted, MicroUsd, Usage};
use serde_json::Value;

use crate::events::{at_least, count_of};

/// Messages that may still be told again: those of agents working side by side, and then some.
const OPEN_MESSAGES: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Ledger {
    settled: Usage,
    open: VecDeque<(String, Usage)>,
    failed_calls: u64,
    total: Option<Usage>,
}

impl Ledger {
    /// A message with what it used as far as that is known.
    pub(super) fn message(&mut self, id: &str, told: &Value) {
        let usage = Usage {
            calls: 1,
            input_tokens: count_of(told, "input_tokens"),
            cache_read_tokens: count_of(told, "cache_read_input_tokens"),
            cache_write_tokens: count_of(told, "cache_creation_input_tokens"),
            output_tokens: count_of(told, "output_tokens"),
            cost: None,
            counted: Counted::Told,
        };
        if let Some((_, known)) = self.open.iter_mut().find(|(open, _)| open == id) {
            *known = at_least(*known, usage);
            return;
        }
        self.open.push_back((id.to_string(), usage));
        if self.open.len() > OPEN_MESSAGES
            && let Some((_, oldest)) = self.open.pop_front()
        {
            self.settled += oldest;
        }
    }

    /// A request that failed.
    pub(super) fn failed_call(&mut self) {
        self.failed_calls = self.failed_calls.saturating_add(1);
    }

    /// The totals of a `result`.
    pub(super) fn result(&mut self, result: &Value) {
        let counted = self.counted();
        // Where no message was told, as in the single event of `json`, each turn was one.
        let turns = if counted.tokens() == 0 { count_of(result, "num_turns") } else { 0 };
        let told = told_total(result);
        let calls = if told.tokens() == 0 { counted.calls } else { counted.calls.saturating_add(turns) };
        let told = Usage { calls, ..told };
        // A result after a crash of its own says 0.
        let total = at_least(told, counted);
        let is_whole = total.tokens() == told.tokens();
        self.total = Some(Usage {
            cost: told.cost.filter(|_| is_whole),
            counted: if is_whole { Counted::Told } else { Counted::Estimated },
            ..total
        });
    }

    /// All that was used. Until the end it is an estimate: what a message wrote is told before it is written.
    pub(super) fn usage(&self) -> Usage {
        let counted = Usage { counted: Counted::Estimated, ..self.counted() };
        match self.total {
            Some(total) => at_least(total, counted),
            None => counted,
        }
    }

    fn counted(&self) -> Usage {
        let mut sum = self.settled;
        for (_, usage) in &self.open {
            sum += *usage;
        }
        sum.calls = sum.calls.saturating_add(self.failed_calls);
        sum
    }
}

/// By model where that is told, since it includes other agents it started and the last message; by turn otherwise.
fn told_total(result: &Value) -> Usage {
    let cost = result.get("total_cost_usd").and_then(Value::as_f64).map(MicroUsd::from_usd);
    let models = result.get("modelUsage").and_then(Value::as_object).filter(|models| !models.is_empty());
    let mut total = Usage::default();
    match (models, result.get("usage")) {
        (Some(models), _) => {
            for model in models.values() {
                total += Usage {
                    input_tokens: count_of(model, "inputTokens"),
                    cache_read_tokens: count_of(model, "cacheReadInputTokens"),
                    cache_write_tokens: count_of(model, "cacheCreationInputTokens"),
                    output_tokens: count_of(model, "outputTokens"),
                    ..Usage::default()
                };
            }
        }
        (None, Some(usage)) => {
            total.input_tokens = count_of(usage, "input_tokens");
            total.cache_read_tokens = count_of(usage, "cache_read_input_tokens");
            total.cache_write_tokens = count_of(usage, "cache_creation_input_tokens");
            total.output_tokens = count_of(usage, "output_tokens");
        }
        (None, None) => {}
    }
    Usage { cost, ..total }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn message(input: u64, output: u64) -> Value {
        json!({"input_tokens": input, "cache_creation_input_tokens": 7, "cache_read_input_tokens": 100,
               "output_tokens": output})
    }

    /// Catches adding the usage of a message for each of its blocks.
    #[test]
    fn a_message_told_again_counts_once() {
        let mut ledger = Ledger::default();
        for (id, output) in [("a", 1), ("b", 1), ("a", 5), ("b", 1)] {
            ledger.message(id, &message(10, output));
        }
        ledger.failed_call();
        let expected = Usage {
            calls: 3,
            input_tokens: 20,
            cache_read_tokens: 200,
            cache_write_tokens: 14,
            output_tokens: 6,
            cost: None,
            counted: Counted::Estimated,
        };
        assert_eq!(ledger.usage(), expected);
    }

    /// Catches forgetting messages that are too old to be told again.
    #[test]
    fn any_number_of_messages_is_counted() {
        let mut ledger = Ledger::default();
        for number in 0..1000 {
            ledger.message(&format!("m{number}"), &message(1, 1));
        }
        assert_eq!((ledger.usage().calls, ledger.usage().input_tokens), (1000, 1000));
        assert_eq!(ledger.open.len(), OPEN_MESSAGES);
    }

    #[test]
    fn the_total_replaces_what_was_counted_unless_it_is_less() {
        let mut ledger = Ledger::default();
        ledger.message("a", &message(10, 1));
        ledger.result(&json!({"total_cost_usd": 0, "usage": {"input_tokens": 0}, "modelUsage": {}}));
        assert_eq!(ledger.usage().counted, Counted::Estimated);
        assert_eq!((ledger.usage().input_tokens, ledger.usage().cost), (10, None));
        let models = json!({"m": {"inputTokens": 10, "outputTokens": 5, "cacheReadInputTokens": 100,
            "cacheCreationInputTokens": 7}, "n": {"inputTokens": 1}});
        ledger.result(&json!({"total_cost_usd": 0.0002, "modelUsage": models}));
        let expected = Usage {
            calls: 1,
            input_tokens: 11,
            cache_read_tokens: 100,
            cache_write_tokens: 7,
            output_tokens: 5,
            cost: Some(MicroUsd(200)),
            counted: Counted::Told,
        };
        assert_eq!(ledger.usage(), expected);
    }
}
