//! What an endpoint was found to accept, remembered for as long as the process lives.
//!
//! Owns the ladder of ways to ask for a document, and which optional parts of a request are left out. Refuses to
//! recognise a rejection: that is read from the answer. Each step goes down only, so that asking ends.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// How a document is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum SchemaForm {
    /// The schema is enforced: `response_format` of type `json_schema`, `output_config.format` of Anthropic.
    #[default]
    Enforced,
    /// The next best: `json_object` with the schema in words, a tool of Anthropic's that must be called.
    Loose,
    /// The schema in words alone.
    Words,
}

/// The name of the limit of tokens, of chat completions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum LimitField {
    /// The older name, which nearly every server understands.
    #[default]
    MaxTokens,
    /// The newer, which reasoning models of OpenAI insist on.
    MaxCompletionTokens,
}

/// Whether a stream is asked to end with the usage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum StreamUsage {
    #[default]
    AskedFor,
    LeftOut,
}

/// Whether the answer is taken as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Delivery {
    #[default]
    Stream,
    Whole,
}

/// A part of a request that an endpoint may reject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Feature {
    Schema,
    Limit,
    StreamUsage,
    Stream,
}

/// How requests to one model of one endpoint look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Shape {
    pub(crate) schema: SchemaForm,
    pub(crate) limit: LimitField,
    pub(crate) usage: StreamUsage,
    pub(crate) delivery: Delivery,
}

impl Shape {
    /// The shape without a feature; `None` where there is nothing left to do without.
    pub(crate) fn without(self, feature: Feature) -> Option<Self> {
        match feature {
            Feature::Schema => match self.schema {
                SchemaForm::Enforced => Some(Self { schema: SchemaForm::Loose, ..self }),
                SchemaForm::Loose => Some(Self { schema: SchemaForm::Words, ..self }),
                SchemaForm::Words => None,
            },
            Feature::Limit => match self.limit {
                LimitField::MaxTokens => Some(Self { limit: LimitField::MaxCompletionTokens, ..self }),
                LimitField::MaxCompletionTokens => None,
            },
            Feature::StreamUsage => match self.usage {
                StreamUsage::AskedFor => Some(Self { usage: StreamUsage::LeftOut, ..self }),
                StreamUsage::LeftOut => None,
            },
            Feature::Stream => match self.delivery {
                Delivery::Stream => Some(Self { delivery: Delivery::Whole, ..self }),
                Delivery::Whole => None,
            },
        }
    }

    /// Whichever of two shapes found at the same time asks for less.
    fn meet(self, other: Self) -> Self {
        Self {
            schema: self.schema.max(other.schema),
            limit: if other.limit == LimitField::default() { self.limit } else { other.limit },
            usage: if other.usage == StreamUsage::default() { self.usage } else { other.usage },
            delivery: if other.delivery == Delivery::default() { self.delivery } else { other.delivery },
        }
    }
}

/// Shapes by endpoint and model.
#[derive(Debug, Default)]
pub(crate) struct Shapes(Mutex<BTreeMap<String, Shape>>);

impl Shapes {
    pub(crate) fn of(&self, key: &str, first: Shape) -> Shape {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(key).copied().unwrap_or(first)
    }

    /// Several questions may learn at the same time: what any of them learned stays learned.
    pub(crate) fn remember(&self, key: &str, shape: Shape) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let met = known.get(key).map_or(shape, |other| other.meet(shape));
        known.insert(key.to_string(), met);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ladder_ends() {
        for feature in [Feature::Schema, Feature::Limit, Feature::StreamUsage, Feature::Stream] {
            let mut shape = Some(Shape::default());
            let steps = std::iter::from_fn(|| {
                shape = shape?.without(feature);
                shape
            });
            assert!(steps.take(10).count() < 3, "{feature:?}");
        }
    }

    #[test]
    fn what_two_questions_learn_at_once_is_kept() {
        let shapes = Shapes::default();
        let first = Shape::default();
        shapes.remember("a", first.without(Feature::Schema).unwrap());
        shapes.remember("a", first.without(Feature::StreamUsage).unwrap());
        let expected = Shape { schema: SchemaForm::Loose, usage: StreamUsage::LeftOut, ..first };
        assert_eq!(shapes.of("a", first), expected);
        assert_eq!(shapes.of("b", first), first);
    }
}
