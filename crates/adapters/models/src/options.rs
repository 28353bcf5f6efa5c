//! The optional parts of a request, and which of them each endpoint accepts, remembered while the process lives.
//!
//! Owns the order of fallbacks. Refuses to recognise a rejection: `request_error.rs` does. Invariant: each step only
//! removes something, so that retrying ends.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// How the JSON Schema of the answer is passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum SchemaMode {
    /// The endpoint enforces it: `response_format: json_schema`, or Anthropic's `output_config.format`.
    #[default]
    Enforced,
    /// `response_format: json_object` with the schema in the prompt, or for Anthropic a tool that must be called.
    Fallback,
    InPrompt,
}

/// The name of the token limit in chat completions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum LimitField {
    /// The older name, which nearly every server accepts.
    #[default]
    MaxTokens,
    /// The newer name, which OpenAI's reasoning models require.
    MaxCompletionTokens,
}

/// Whether the request asks for the usage at the end of the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum StreamUsage {
    #[default]
    Requested,
    Omitted,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Delivery {
    #[default]
    Stream,
    Whole,
}

/// An optional part of a request that an endpoint may reject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Feature {
    Schema,
    Limit,
    StreamUsage,
    Stream,
}

/// The optional parts of the requests to one model of one endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct RequestOptions {
    pub(crate) schema: SchemaMode,
    pub(crate) limit: LimitField,
    pub(crate) usage: StreamUsage,
    pub(crate) delivery: Delivery,
}

impl RequestOptions {
    /// The options without a feature; `None` where it cannot be reduced further.
    pub(crate) fn without(self, feature: Feature) -> Option<Self> {
        let reduced = match feature {
            Feature::Schema if self.schema == SchemaMode::Enforced => {
                Self { schema: SchemaMode::Fallback, ..self }
            }
            Feature::Schema => Self { schema: SchemaMode::InPrompt, ..self },
            Feature::Limit => Self { limit: LimitField::MaxCompletionTokens, ..self },
            Feature::StreamUsage => Self { usage: StreamUsage::Omitted, ..self },
            Feature::Stream => Self { delivery: Delivery::Whole, ..self },
        };
        (reduced != self).then_some(reduced)
    }

    /// The options that ask for less in every respect.
    fn reduced_to(self, other: Self) -> Self {
        Self {
            schema: self.schema.max(other.schema),
            limit: if other.limit == LimitField::default() { self.limit } else { other.limit },
            usage: if other.usage == StreamUsage::default() { self.usage } else { other.usage },
            delivery: if other.delivery == Delivery::default() { self.delivery } else { other.delivery },
        }
    }
}

/// What each endpoint and model accepts.
#[derive(Debug, Default)]
pub(crate) struct KnownOptions(Mutex<BTreeMap<String, RequestOptions>>);

impl KnownOptions {
    pub(crate) fn get(&self, key: &str, initial: RequestOptions) -> RequestOptions {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(key).copied().unwrap_or(initial)
    }

    /// Several calls may learn something at the same time; nothing of it is lost.
    pub(crate) fn remember(&self, key: &str, options: RequestOptions) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let both = known.get(key).map_or(options, |other| other.reduced_to(options));
        known.insert(key.to_string(), both);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fallback_ends() {
        for feature in [Feature::Schema, Feature::Limit, Feature::StreamUsage, Feature::Stream] {
            let mut options = Some(RequestOptions::default());
            let steps = std::iter::from_fn(|| {
                options = options?.without(feature);
                options
            });
            assert!(steps.take(10).count() < 3, "{feature:?}");
        }
    }

    #[test]
    fn what_two_calls_learn_at_once_is_remembered() {
        let known = KnownOptions::default();
        let first = RequestOptions::default();
        known.remember("a", first.without(Feature::Schema).unwrap());
        known.remember("a", first.without(Feature::StreamUsage).unwrap());
        let expected = RequestOptions { schema: SchemaMode::Fallback, usage: StreamUsage::Omitted, ..first };
        assert_eq!(known.get("a", first), expected);
        assert_eq!(known.get("b", first), first);
    }
}
