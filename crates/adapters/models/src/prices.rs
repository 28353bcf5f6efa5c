//! Prices of models.
//!
//! Owns the public prices of well-known models as of November 2026, in US dollars for a million tokens, without the
//! discounts for batches and off-peak hours and without the surcharges for very long prompts. Refuses to guess: a model
//! that is not in the table has no price, and the configuration's prices come before the table's.

use std::collections::BTreeMap;

use fixpoint_vocabulary::settings::Price;

/// The start of a model's name, then the prices of input, cache reads, cache writes and output.
type Row = (&'static str, f64, f64, f64, f64);

#[rustfmt::skip]
const TABLE: &[Row] = &[
    // Anthropic; cache writes are those of the five-minute cache.
    ("claude-fable-5",          10.0,  1.0,    12.5,   50.0),
    ("claude-opus-5-5",          4.0,  0.4,     5.0,   20.0),
    ("claude-opus-5",            5.0,  0.5,     6.25,  25.0),
    ("claude-opus-4-8",          5.0,  0.5,     6.25,  25.0),
    ("claude-opus-4-7",          5.0,  0.5,     6.25,  25.0),
    ("claude-opus-4-6",          5.0,  0.5,     6.25,  25.0),
    ("claude-opus-4-5",          5.0,  0.5,     6.25,  25.0),
    ("claude-opus-4",           15.0,  1.5,    18.75,  75.0),
    ("claude-sonnet-5",          2.0,  0.2,     2.5,   10.0),
    ("claude-sonnet-4",          3.0,  0.3,     3.75,  15.0),
    ("claude-3-7-sonnet",        3.0,  0.3,     3.75,  15.0),
    ("claude-3-5-sonnet",        3.0,  0.3,     3.75,  15.0),
    ("claude-haiku-4-5",         1.0,  0.1,     1.25,   5.0),
    ("claude-3-5-haiku",         0.8,  0.08,    1.0,    4.0),
    // OpenAI; before GPT-6, cache writes cost the same as input.
    ("gpt-6.1-sol",              2.0,  0.1,     2.5,   10.0),
    ("gpt-6-sol",                2.0,  0.2,     2.5,   10.0),
    ("gpt-5.5-pro",             30.0, 30.0,    30.0,  180.0),
    ("gpt-5.5",                  5.0,  0.5,     5.0,   30.0),
    ("gpt-5.4-pro",             30.0, 30.0,    30.0,  180.0),
    ("gpt-5.4-mini",             0.75, 0.075,   0.75,   4.5),
    ("gpt-5.4-nano",             0.2,  0.02,    0.2,    1.25),
    ("gpt-5.4",                  2.5,  0.25,    2.5,   15.0),
    ("gpt-5.3-codex",            1.75, 0.175,   1.75,  14.0),
    ("gpt-5.2-pro",             21.0, 21.0,    21.0,  168.0),
    ("gpt-5.2",                  1.75, 0.175,   1.75,  14.0),
    ("gpt-5.1",                  1.25, 0.125,   1.25,  10.0),
    ("gpt-5-pro",               15.0, 15.0,    15.0,  120.0),
    ("gpt-5-mini",               0.25, 0.025,   0.25,   2.0),
    ("gpt-5-nano",               0.05, 0.005,   0.05,   0.4),
    ("gpt-5",                    1.25, 0.125,   1.25,  10.0),
    ("gpt-4.1-mini",             0.4,  0.1,     0.4,    1.6),
    ("gpt-4.1-nano",             0.1,  0.025,   0.1,    0.4),
    ("gpt-4.1",                  2.0,  0.5,     2.0,    8.0),
    ("gpt-4o-mini",              0.15, 0.075,   0.15,   0.6),
    ("gpt-4o",                   2.5,  1.25,    2.5,   10.0),
    ("o3",                       2.0,  0.5,     2.0,    8.0),
    ("o4-mini",                  1.1,  0.275,   1.1,    4.4),
    // Google.
    ("gemini-3.6-flash",         1.5,  0.15,    1.5,    7.5),
    ("gemini-3.5-flash-lite",    0.3,  0.03,    0.3,    2.5),
    ("gemini-3.5-flash",         1.5,  0.15,    1.5,    9.0),
    ("gemini-3.1-pro",           2.0,  0.2,     2.0,   12.0),
    ("gemini-3-pro",             2.0,  0.2,     2.0,   12.0),
    ("gemini-3-flash",           0.5,  0.05,    0.5,    3.0),
    ("gemini-2.5-pro",           1.25, 0.125,   1.25,  10.0),
    ("gemini-2.5-flash-lite",    0.1,  0.01,    0.1,    0.4),
    ("gemini-2.5-flash",         0.3,  0.03,    0.3,    2.5),
    // DeepSeek, peak hours.
    ("deepseek-flash",           0.3,  0.006,   0.3,    1.2),
    ("deepseek-v4-flash",        0.3,  0.006,   0.3,    1.2),
    ("deepseek-v4-pro",          1.32, 0.044,   1.32,   3.96),
    // Mistral.
    ("mistral-large",            0.5,  0.5,     0.5,    1.5),
    ("mistral-medium",           0.4,  0.4,     0.4,    2.0),
    ("mistral-small",            0.1,  0.1,     0.1,    0.3),
    ("codestral",                0.3,  0.3,     0.3,    0.9),
    ("devstral-medium",          0.4,  0.4,     0.4,    2.0),
    // Open models at Groq.
    ("llama-3.3-70b-versatile",  0.59, 0.59,    0.59,   0.79),
    ("llama-3.1-8b-instant",     0.05, 0.05,    0.05,   0.08),
    ("gpt-oss-120b",             0.15, 0.075,   0.15,   0.6),
    ("gpt-oss-20b",              0.075, 0.0375, 0.075,  0.3),
];

/// Where a model runs, which decides its price if none is configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Locality {
    /// A local model server: free.
    Own,
    /// A server on this machine, which may be a proxy: the price in the table, or free.
    Loopback,
    /// The price in the table, or unknown.
    Remote,
}

/// The price of a model. `full` is `provider/model`, `model` the name the endpoint uses.
pub(crate) fn price(
    overrides: &BTreeMap<String, Price>,
    full: &str,
    model: &str,
    locality: Locality,
) -> Option<Price> {
    let named = overrides.iter().map(|(name, price)| (name.as_str(), price));
    let overridden = longest(named.clone(), full).or_else(|| longest(named, model));
    if let Some(price) = overridden {
        return Some(price.clone());
    }
    let listed = || {
        let bare = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
        // Gateways write `claude-opus-4.6` for Anthropic's `claude-opus-4-6`.
        let bare = if bare.starts_with("claude") { bare.replace('.', "-") } else { bare };
        longest(TABLE.iter().map(|row| (row.0, row)), &bare).map(from_row)
    };
    match locality {
        Locality::Own => Some(Price::default()),
        Locality::Loopback => Some(listed().unwrap_or_default()),
        Locality::Remote => listed(),
    }
}

fn from_row(row: &Row) -> Price {
    let (_, input, cache_read, cache_write, output) = *row;
    Price {
        input_per_million: input,
        cache_read_per_million: Some(cache_read),
        cache_write_per_million: Some(cache_write),
        output_per_million: output,
        per_attempt: 0.0,
    }
}

/// The entry with the longest name that `name` starts with. A date or a variant may follow: `gpt-5.5` is not a variant of
/// `gpt-5`.
fn longest<'a, T: Copy>(entries: impl Iterator<Item = (&'a str, T)>, name: &str) -> Option<T> {
    let fits = |prefix: &str| {
        name.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', ':', '@']))
    };
    entries.filter(|(prefix, _)| fits(prefix)).max_by_key(|(prefix, _)| prefix.len()).map(|(_, entry)| entry)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixpoint_vocabulary::usage::{MicroUsd, Usage};

    fn input_price(model: &str, locality: Locality) -> Option<f64> {
        price(&BTreeMap::new(), &format!("x/{model}"), model, locality).map(|price| price.input_per_million)
    }

    #[test]
    fn the_longest_prefix_of_a_name_decides() {
        for (model, expected) in [
            ("gpt-5", Some(1.25)),
            ("gpt-5-2025-08-07", Some(1.25)),
            ("gpt-5-mini-2025-08-07", Some(0.25)),
            ("gpt-5.9", None),
            ("gpt-50", None),
            ("openai/gpt-5.4-mini", Some(0.75)),
            ("claude-opus-4-6", Some(5.0)),
            ("claude-opus-4-20250514", Some(15.0)),
            ("anthropic/claude-sonnet-4.6", Some(3.0)),
            ("claude-sonnet-5@20260601", Some(2.0)),
            ("llama3:8b", None),
        ] {
            assert_eq!(input_price(model, Locality::Remote), expected, "{model}");
        }
    }

    #[test]
    fn local_servers_are_free_and_local_proxies_are_not() {
        assert_eq!(input_price("mistral-small:24b", Locality::Own), Some(0.0));
        assert_eq!(input_price("gpt-5", Locality::Loopback), Some(1.25));
        assert_eq!(input_price("qwen3", Locality::Loopback), Some(0.0));
        assert_eq!(input_price("qwen3", Locality::Remote), None);
    }

    #[test]
    fn configured_prices_take_precedence() {
        let own = |input: f64| Price { input_per_million: input, ..Price::default() };
        let overrides =
            BTreeMap::from([("gpt-5".to_string(), own(7.0)), ("openai/gpt-5".to_string(), own(8.0))]);
        for (full, model, expected) in
            [("openai/gpt-5-mini", "gpt-5-mini", 8.0), ("azure/gpt-5", "gpt-5", 7.0)]
        {
            let found = price(&overrides, full, model, Locality::Own).unwrap();
            assert_eq!(found.input_per_million, expected, "{full}");
        }
    }

    #[test]
    fn a_cost_adds_up() {
        let price = price(&BTreeMap::new(), "anthropic/claude-opus-5-5", "claude-opus-5-5", Locality::Remote)
            .unwrap();
        let usage = Usage {
            input_tokens: 1000,
            cache_read_tokens: 10_000,
            cache_write_tokens: 2000,
            output_tokens: 500,
            ..Usage::default()
        };
        // 4000 + 4000 + 10000 + 10000 millionths of a dollar; binary fractions are rounded up.
        assert!([MicroUsd(28_000), MicroUsd(28_001)].contains(&price.of(&usage)), "{:?}", price.of(&usage));
    }
}
