//! How much one judge's scores of one and the same plan scatter.
//!
//! Estimated from every plan that was ever scored more than once, pooled over plans, and drawn towards a prior
//! while there are few, so that two lucky answers do not pass for a judge without noise.

use fixpoint_vocabulary::Score;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The standard deviation assumed of an unknown judge, in points.
pub const PRIOR_SIGMA: f64 = 2.5;
/// The prior weighs as much as this many repeated scores.
const PRIOR_WEIGHT: f64 = 4.0;
/// Judges answer in whole points; below this the scatter is rounding.
const LEAST_SIGMA: f64 = 0.5;

/// A measured scatter.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sigma {
    /// The standard deviation of repeated scores, in points.
    #[schemars(range(min = 0, max = 100))]
    pub estimate: f64,
    /// The number of repeated scores behind it.
    pub n: u32,
}

/// The standard deviation to use: the measured one, drawn towards the prior while there are few samples.
pub fn effective_sigma(measured: Option<Sigma>) -> f64 {
    let (squares, weight) = measured.map_or((0.0, 0.0), |Sigma { estimate, n }| {
        let weight = f64::from(n);
        (weight * estimate * estimate, weight)
    });
    let variance = (PRIOR_WEIGHT * PRIOR_SIGMA * PRIOR_SIGMA + squares) / (PRIOR_WEIGHT + weight);
    libm::sqrt(variance).max(LEAST_SIGMA)
}

/// Repeated scores of one judge, pooled over plans.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct RepeatedScores {
    squares: f64,
    degrees: u32,
}

impl RepeatedScores {
    /// Takes in all the scores one plan got. A single score says nothing about scatter.
    pub fn observe(&mut self, scores: &[Score]) {
        let Some(mean) = mean(scores) else { return };
        self.squares += scores.iter().map(|score| (score.get() - mean) * (score.get() - mean)).sum::<f64>();
        self.degrees = self.degrees.saturating_add(u32::try_from(scores.len() - 1).unwrap_or(u32::MAX));
    }

    /// The measured scatter, once anything was scored twice.
    pub fn sigma(&self) -> Option<Sigma> {
        let n = self.degrees;
        (n > 0).then(|| Sigma { estimate: libm::sqrt(self.squares / f64::from(n)).min(100.0), n })
    }
}

pub fn mean(scores: &[Score]) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "a plan is scored a handful of times")]
    let count = scores.len() as f64;
    (!scores.is_empty()).then(|| scores.iter().map(|score| score.get()).sum::<f64>() / count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores<const N: usize>(values: [f64; N]) -> [Score; N] {
        values.map(|value| Score::try_from(value).unwrap())
    }

    #[test]
    fn scatter_is_pooled_within_plans_and_not_between_them() {
        let mut repeated = RepeatedScores::default();
        repeated.observe(&scores([90.0]));
        assert_eq!(repeated.sigma(), None, "one score says nothing");
        repeated.observe(&scores([70.0, 74.0]));
        repeated.observe(&scores([20.0, 22.0, 24.0]));
        // (2² + 2²) + (2² + 0 + 2²) over 1 + 2 degrees of freedom.
        let expected = libm::sqrt(16.0 / 3.0);
        assert_eq!(repeated.sigma(), Some(Sigma { estimate: expected, n: 3 }));
    }

    #[test]
    fn little_knowledge_is_drawn_towards_the_prior() {
        assert_eq!(effective_sigma(None), PRIOR_SIGMA);
        let of = |estimate, n| effective_sigma(Some(Sigma { estimate, n }));
        // The root of (4 × 2.5² + 12 × 10²) / (4 + 12), and so on.
        assert_eq!([of(10.0, 12), of(0.0, 21), of(9.0, 0)], [8.75, 1.0, 2.5]);
        assert!(of(6.0, 1) < 4.0 && of(6.0, 1) > PRIOR_SIGMA);
        assert!((of(6.0, 10_000) - 6.0).abs() < 0.01);
        assert_eq!(of(0.0, 100_000), LEAST_SIGMA);
    }
}
