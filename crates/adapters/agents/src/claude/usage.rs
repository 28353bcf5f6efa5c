//! The usage of Claude Code, which reports it twice: with every message, and as a total at the end.
//!
//! A message is reported once for each of its blocks, each time with the usage of the whole message so far; so messages are
//! counted by their id. The total at the end replaces the count.

use std::collections::VecDeque;

use fixpoint_vocabulary::usage::{CountSource, MicroUsd, Usage};
use serde_json::Value;

use crate::json_lines::{count_of, max_of_each};

/// Messages that may still be reported again: those of parallel subagents, and then some.
const OPEN_MESSAGES: usize = 64;

#[derive(Debug, Default)]
pub(super) struct UsageTracker {
    settled: Usage,
    open: VecDeque<(String, Usage)>,
    failed_calls: u64,
    total: Option<Usage>,
}

impl UsageTracker {
    /// Counts a message with its usage so far.
    pub(super) fn message(&mut self, id: &str, reported: &Value) {
        let usage = Usage {
            calls: 1,
            input_tokens: count_of(reported, "input_tokens"),
            cache_read_tokens: count_of(reported, "cache_read_input_tokens"),
            cache_write_tokens: count_of(reported, "cache_creation_input_tokens"),
            output_tokens: count_of(reported, "output_tokens"),
            cost: None,
            counted: CountSource::Told,
        };
        if let Some((_, known)) = self.open.iter_mut().find(|(open, _)| open == id) {
            *known = max_of_each(*known, usage);
            return;
        }
        self.open.push_back((id.to_string(), usage));
        if self.open.len() > OPEN_MESSAGES
            && let Some((_, oldest)) = self.open.pop_front()
        {
            self.settled += oldest;
        }
    }

    pub(super) fn failed_call(&mut self) {
        self.failed_calls = self.failed_calls.saturating_add(1);
    }

    pub(super) fn result(&mut self, result: &Value) {
        let counted = self.counted();
        // Without messages, as with `--output-format json`, each turn counts as one.
        let turns = if counted.tokens() == 0 { count_of(result, "num_turns") } else { 0 };
        let reported = reported_total(result);
        let calls = if reported.tokens() == 0 { counted.calls } else { counted.calls.saturating_add(turns) };
        let reported = Usage { calls, ..reported };
        // After a crash the result reports 0.
        let total = max_of_each(reported, counted);
        let is_complete = total.tokens() == reported.tokens();
        self.total = Some(Usage {
            cost: reported.cost.filter(|_| is_complete),
            counted: if is_complete { CountSource::Told } else { CountSource::Estimated },
            ..total
        });
    }

    /// The usage so far. Until the end it is an estimate: a message is first reported before it is complete.
    pub(super) fn usage(&self) -> Usage {
        let counted = Usage { counted: CountSource::Estimated, ..self.counted() };
        match self.total {
            Some(total) => max_of_each(total, counted),
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

/// The sum over all models, which includes subagents and the last message; where it is missing, the usage of the turn.
fn reported_total(result: &Value) -> Usage {
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
    fn a_message_reported_again_counts_once() {
        let mut tracker = UsageTracker::default();
        for (id, output) in [("a", 1), ("b", 1), ("a", 5), ("b", 1)] {
            tracker.message(id, &message(10, output));
        }
        tracker.failed_call();
        let expected = Usage {
            calls: 3,
            input_tokens: 20,
            cache_read_tokens: 200,
            cache_write_tokens: 14,
            output_tokens: 6,
            cost: None,
            counted: CountSource::Estimated,
        };
        assert_eq!(tracker.usage(), expected);
    }

    /// Catches forgetting messages that are too old to be reported again.
    #[test]
    fn any_number_of_messages_is_counted() {
        let mut tracker = UsageTracker::default();
        for number in 0..1000 {
            tracker.message(&format!("m{number}"), &message(1, 1));
        }
        assert_eq!((tracker.usage().calls, tracker.usage().input_tokens), (1000, 1000));
        assert_eq!(tracker.open.len(), OPEN_MESSAGES);
    }

    #[test]
    fn the_total_replaces_the_count_unless_it_is_lower() {
        let mut tracker = UsageTracker::default();
        tracker.message("a", &message(10, 1));
        tracker.result(&json!({"total_cost_usd": 0, "usage": {"input_tokens": 0}, "modelUsage": {}}));
        assert_eq!(tracker.usage().counted, CountSource::Estimated);
        assert_eq!((tracker.usage().input_tokens, tracker.usage().cost), (10, None));
        let models = json!({"m": {"inputTokens": 10, "outputTokens": 5, "cacheReadInputTokens": 100,
            "cacheCreationInputTokens": 7}, "n": {"inputTokens": 1}});
        tracker.result(&json!({"total_cost_usd": 0.0002, "modelUsage": models}));
        let expected = Usage {
            calls: 1,
            input_tokens: 11,
            cache_read_tokens: 100,
            cache_write_tokens: 7,
            output_tokens: 5,
            cost: Some(MicroUsd(200)),
            counted: CountSource::Told,
        };
        assert_eq!(tracker.usage(), expected);
    }
}
