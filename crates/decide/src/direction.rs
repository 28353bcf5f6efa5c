//! Which way a score moved, and whether it moved at all.
//!
//! A judge's scores of one and the same plan differ by a few points. A difference below the noise threshold is
//! therefore no change; comparisons are strict, so a difference equal to the threshold is one.

use fixpoint_vocabulary::settings::RefinementSettings;
use fixpoint_vocabulary::settings::limits::NOISE_THRESHOLD;
use fixpoint_vocabulary::{Localize, Score};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Two scores to be compared.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
pub struct Question {
    /// The score now.
    #[serde(default)]
    pub current_score: Option<Score>,
    /// The score before.
    #[serde(default)]
    pub previous_score: Option<Score>,
    /// A difference below this is noise.
    #[serde(default = "default_noise_threshold")]
    #[schemars(range(min = NOISE_THRESHOLD.min, max = NOISE_THRESHOLD.max))]
    pub noise_threshold: f64,
}

fn default_noise_threshold() -> f64 {
    RefinementSettings::default().noise_threshold
}

/// Which way a score moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Up, by more than noise.
    Improved,
    /// Down, by more than noise.
    Degraded,
    /// Not by more than noise.
    Stable,
    /// A score is absent, so nothing can be said.
    Unknown,
}

/// Where the score went.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// Which way.
    pub direction: Direction,
    /// Whether the difference is more than noise. True where a score is absent: noise cannot be claimed.
    pub significant: bool,
}

impl Localize for Answer {}

pub fn decide(question: &Question) -> Answer {
    let Question { current_score, previous_score, noise_threshold } = *question;
    Answer {
        direction: direction(current_score, previous_score, noise_threshold),
        significant: is_significant(current_score, previous_score, noise_threshold),
    }
}

pub fn direction(current: Option<Score>, previous: Option<Score>, noise_threshold: f64) -> Direction {
    let (Some(current), Some(previous)) = (current, previous) else { return Direction::Unknown };
    let difference = current.get() - previous.get();
    if difference.abs() < noise_threshold {
        Direction::Stable
    } else if difference > 0.0 {
        Direction::Improved
    } else {
        Direction::Degraded
    }
}

/// Whether the score moved by more than noise, or cannot be compared.
pub fn is_significant(current: Option<Score>, previous: Option<Score>, noise_threshold: f64) -> bool {
    match (current, previous) {
        (Some(current), Some(previous)) => (current.get() - previous.get()).abs() >= noise_threshold,
        (None, _) | (_, None) => true,
    }
}

/// Whether the improvement is too small to go on for: below the absolute **or** the relative threshold. The
/// relative one has no meaning, and is not applied, when there was nothing to improve on.
pub fn is_stagnated(current: Score, previous: Score, settings: &RefinementSettings) -> bool {
    let improvement = current.get() - previous.get();
    let relative_is_small =
        previous.get() > 0.0 && improvement / previous.get() * 100.0 < settings.delta_threshold_percent;
    improvement < settings.delta_threshold || relative_is_small
}

#[cfg(test)]
mod tests {
    use super::*;
    use Direction::{Degraded, Improved, Stable, Unknown};

    fn score(value: impl Into<Option<f64>>) -> Option<Score> {
        value.into().map(|value: f64| Score::try_from(value).unwrap())
    }

    #[test]
    fn direction_and_significance_table() {
        let table = [
            (Some(75.0), Some(70.0), 3.0, Improved, true),
            (Some(73.0), Some(70.0), 3.0, Improved, true),
            (Some(72.0), Some(70.0), 3.0, Stable, false),
            (Some(71.0), Some(70.0), 3.0, Stable, false),
            (Some(70.0), Some(70.0), 3.0, Stable, false),
            (Some(68.0), Some(70.0), 3.0, Stable, false),
            (Some(67.0), Some(70.0), 3.0, Degraded, true),
            (Some(66.0), Some(70.0), 3.0, Degraded, true),
            (Some(70.0), None, 3.0, Unknown, true),
            (None, Some(70.0), 3.0, Unknown, true),
            (None, None, 3.0, Unknown, true),
            (Some(72.5), Some(70.0), 2.5, Improved, true),
        ];
        for (current, previous, noise_threshold, direction, significant) in table {
            let question =
                Question { current_score: score(current), previous_score: score(previous), noise_threshold };
            assert_eq!(decide(&question), Answer { direction, significant }, "{question:?}");
        }
    }

    #[test]
    fn everything_may_be_left_out() {
        let question: Question = serde_json::from_str("{}").unwrap();
        assert_eq!(question, Question { current_score: None, previous_score: None, noise_threshold: 3.0 });
    }

    #[test]
    fn stagnation_table() {
        let settings = RefinementSettings::default();
        let table = [
            (75.0, 70.0, false), // 5 is not below 5, 7.1 % not below 5 %
            (74.0, 70.0, true),
            (96.0, 91.0, false), // 5.49 %
            (100.0, 95.5, true),
            (60.0, 70.0, true),
            (10.0, 0.0, false), // the relative test does not apply
            (4.0, 0.0, true),
        ];
        for (current, previous, expected) in table {
            let stagnated = is_stagnated(score(current).unwrap(), score(previous).unwrap(), &settings);
            assert_eq!(stagnated, expected, "{previous} → {current}");
        }
        let relative_only = RefinementSettings { delta_threshold: 0.0, ..settings };
        assert!(is_stagnated(score(99.0).unwrap(), score(95.0).unwrap(), &relative_only));
    }
}
