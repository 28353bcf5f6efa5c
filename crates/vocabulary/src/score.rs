//! A judge's score: a finite number from 0 to 100. Nothing else can be constructed.

use crate::prelude::*;
use core::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize, Serializer};

/// A plan's score as a judge gave it, or a mean of such scores.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Deserialize)]
#[serde(try_from = "f64")]
pub struct Score(f64);

/// What was offered as a score and is none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoreError(f64);

impl fmt::Display for ScoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is not a score: expected a finite number from 0 to 100", self.0)
    }
}

impl core::error::Error for ScoreError {}

impl Score {
    pub const LOWEST: Self = Self(0.0);

    /// The score nearest to a number; the lowest for what is no number.
    pub fn nearest(value: f64) -> Self {
        if value.is_nan() { Self::LOWEST } else { Self(value.clamp(0.0, 100.0)) }
    }

    pub const fn get(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Score {
    type Error = ScoreError;

    fn try_from(value: f64) -> Result<Self, ScoreError> {
        if (0.0..=100.0).contains(&value) { Ok(Self(value)) } else { Err(ScoreError(value)) }
    }
}

impl Serialize for Score {
    /// Whole scores are written without a fraction: `72`, as judges write them.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "0..=100 by construction"
        )]
        let whole = self.0 as u8;
        if f64::from(whole) == self.0 {
            serializer.serialize_u8(whole)
        } else {
            serializer.serialize_f64(self.0)
        }
    }
}

impl JsonSchema for Score {
    fn schema_name() -> Cow<'static, str> {
        "Score".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0, "maximum": 100 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_finite_numbers_from_0_to_100_are_scores() {
        for good in [0.0, -0.0, 0.5, 72.0, 100.0] {
            assert_eq!(Score::try_from(good).map(Score::get), Ok(good));
        }
        for bad in [-0.1, 100.000_1, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(Score::try_from(bad).is_err(), "{bad} must be refused");
        }
    }

    #[test]
    fn whole_scores_are_written_whole() {
        let written = |value: f64| serde_json::to_string(&Score::try_from(value).unwrap()).unwrap();
        assert_eq!(written(72.0), "72");
        assert_eq!(written(72.5), "72.5");
        assert_eq!(written(-0.0), "0");
        let refused = serde_json::from_str::<Score>("101").unwrap_err();
        assert!(refused.to_string().contains("from 0 to 100"));
    }
}
