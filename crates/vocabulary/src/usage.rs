//! What models and agents use up: tokens by kind, calls, and money.
//!
//! Sums are exact: tokens are whole, money is in millionths of a dollar. What is not reported is estimated, and marked so.

use core::ops::{Add, AddAssign};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A sum of money in millionths of a US dollar: whole, so that sums are exact.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct MicroUsd(pub u64);

impl MicroUsd {
    /// Rounds up, so that a reservation never falls short of the price.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "clamped; the cast saturates, and a sum beyond 53 bits is beyond any bill"
    )]
    pub fn from_usd(usd: f64) -> Self {
        let millionths = (usd * 1e6).max(0.0);
        let whole = millionths as u64;
        Self(if (whole as f64) < millionths { whole.saturating_add(1) } else { whole })
    }

    /// In dollars, for people.
    #[expect(clippy::cast_precision_loss, reason = "shown, not summed")]
    pub fn usd(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

/// Whether a number was told by whoever knows it, or estimated by us.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum CountSource {
    /// The provider or the agent said so.
    #[default]
    Told,
    /// At least a part of it is our estimate.
    Estimated,
}

/// What something used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Usage {
    /// Requests that reached a model's endpoint, failed and repeated ones included.
    pub calls: u64,
    /// Tokens read that were in no cache.
    pub input_tokens: u64,
    /// Tokens read out of a cache.
    pub cache_read_tokens: u64,
    /// Tokens read and written into a cache.
    pub cache_write_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// What it cost, where prices are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<MicroUsd>,
    /// Where the numbers come from.
    pub counted: CountSource,
}

impl Usage {
    /// All tokens together, which is what a budget of tokens counts.
    pub const fn tokens(&self) -> u64 {
        self.input_tokens
            .saturating_add(self.cache_read_tokens)
            .saturating_add(self.cache_write_tokens)
            .saturating_add(self.output_tokens)
    }
}

impl Add for Usage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            calls: self.calls.saturating_add(other.calls),
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            cache_read_tokens: self.cache_read_tokens.saturating_add(other.cache_read_tokens),
            cache_write_tokens: self.cache_write_tokens.saturating_add(other.cache_write_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            cost: match (self.cost, other.cost) {
                (Some(one), Some(two)) => Some(MicroUsd(one.0.saturating_add(two.0))),
                (cost, None) | (None, cost) => cost,
            },
            counted: self.counted.max(other.counted),
        }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// What a run may spend; a limit that is absent is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Allowance {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_calls: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub money: Option<MicroUsd>,
    /// Attempts, those that a crash cut short included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u64>,
}

impl Allowance {
    /// This much and more: what had no limit still has none.
    #[must_use]
    pub fn raised(self, more: Self) -> Self {
        let sum = |limit: Option<u64>, more: Option<u64>| {
            limit.map(|limit| limit.saturating_add(more.unwrap_or(0)))
        };
        let money = |allowed: Option<MicroUsd>| allowed.map(|money| money.0);
        Self {
            model_calls: sum(self.model_calls, more.model_calls),
            tokens: sum(self.tokens, more.tokens),
            money: sum(money(self.money), money(more.money)).map(MicroUsd),
            attempts: sum(self.attempts, more.attempts),
            seconds: sum(self.seconds, more.seconds),
        }
    }
}
