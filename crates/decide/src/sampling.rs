//! Whether two plans differ, when every score is only a sample: which plan to score once more, and when to stop.
//!
//! A sequential test against zero difference. Sampling stops when the difference is clearly not zero, when it
//! is clearly too small to matter, or when the samples run out. The bound for "clearly" starts wide and narrows
//! as samples come in (a Wang–Tsiatis boundary, Δ = ¼), because looking several times at growing data finds
//! more differences than there are. `fixpoint simulate judging` measures what this comes to.

use fixpoint_vocabulary::settings::limits::DELTA_THRESHOLD;
use fixpoint_vocabulary::settings::limits::MAX_SAMPLES;
use fixpoint_vocabulary::settings::{JudgeSettings, RefinementSettings};
use fixpoint_vocabulary::{Localize, Score};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::noise::{self, Sigma};
use crate::prelude::*;
use crate::refinement::{self, Comparison};

/// How many standard errors the difference must be from zero when all samples are in.
const CLEARLY_NOT_ZERO: f64 = 2.35;
/// How much wider that bound is earlier: to this power of the share of information that is in.
const NARROWING: f64 = -0.25;
/// How many standard errors below what matters the difference must be to be clearly too small.
const CLEARLY_TOO_SMALL: f64 = 1.0;

/// The scores one plan has so far.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
pub struct Samples {
    /// The scores, in any order.
    pub scores: Vec<Score>,
}

/// Two plans with the scores they have so far.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
pub struct Question {
    /// The earlier plan.
    pub a: Samples,
    /// The later plan.
    pub b: Samples,
    /// The judge's scatter, where it has been measured.
    #[serde(default)]
    pub sigma: Option<Sigma>,
    /// Scores drawn of one plan, at most.
    #[serde(default = "default_max_samples")]
    #[schemars(range(min = MAX_SAMPLES.min, max = MAX_SAMPLES.max))]
    pub max_samples: u32,
    /// A difference below this many points would not change what is done about a plan.
    #[serde(default = "default_delta_threshold")]
    #[schemars(range(min = DELTA_THRESHOLD.min, max = DELTA_THRESHOLD.max))]
    pub delta_threshold: f64,
}

fn default_max_samples() -> u32 {
    JudgeSettings::default().max_samples
}

fn default_delta_threshold() -> f64 {
    RefinementSettings::default().delta_threshold
}

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Next {
    /// Score the earlier plan once more.
    A,
    /// Score the later plan once more.
    B,
    /// Enough.
    Stop,
}

/// What the scores say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ScoreDifference {
    /// The plans differ.
    Changed,
    /// They do not differ by anything that matters.
    Unchanged,
    /// It cannot be told.
    Inconclusive,
}

/// What to do next, and what the scores say so far.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// What to do next.
    pub next: Next,
    /// The later plan's mean score less the earlier one's; absent while a plan has no score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<f64>,
    /// The range the true difference is taken to lie in; absent while a plan has no score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// Whether the scores tell.
    pub conclusive: bool,
    /// What they say.
    pub finding: ScoreDifference,
}

impl Localize for Answer {}

pub fn decide(question: &Question) -> Answer {
    let (a, b) = (&question.a.scores, &question.b.scores);
    let (Some(mean_a), Some(mean_b)) = (noise::mean(a), noise::mean(b)) else {
        let next = if a.is_empty() { Next::A } else { Next::B };
        return Answer {
            next,
            difference: None,
            interval: None,
            conclusive: false,
            finding: ScoreDifference::Inconclusive,
        };
    };
    let difference = mean_b - mean_a;
    let margins = Margins::of(question);
    let finding = if difference.abs() > margins.not_zero {
        ScoreDifference::Changed
    } else if difference.abs() < margins.too_small {
        ScoreDifference::Unchanged
    } else {
        ScoreDifference::Inconclusive
    };
    let conclusive = finding != ScoreDifference::Inconclusive;
    Answer {
        next: if conclusive { Next::Stop } else { fewer_samples(question) },
        difference: Some(difference),
        interval: Some([difference - margins.not_zero, difference + margins.not_zero]),
        conclusive,
        finding,
    }
}

/// How two sampled plans compare for refinement. What is not shown to differ is inside the noise; to what is, the
/// thresholds apply by the means. Where a plan may be scored only once, they apply to the single scores.
pub fn compare(question: &Question, settings: &RefinementSettings) -> Option<Comparison> {
    let score = |samples: &Samples| noise::mean(&samples.scores).map(Score::nearest);
    let (earlier, later) = (score(&question.a)?, score(&question.b)?);
    if question.max_samples <= 1 {
        return Some(refinement::compare(later, earlier, settings));
    }
    Some(match decide(question).finding {
        ScoreDifference::Inconclusive | ScoreDifference::Unchanged => Comparison::InNoise,
        ScoreDifference::Changed => refinement::compare(later, earlier, settings),
    })
}

fn fewer_samples(question: &Question) -> Next {
    let most = question.max_samples as usize;
    let (a, b) = (question.a.scores.len(), question.b.scores.len());
    // The plan with fewer scores is below the limit if either is, so the limit is looked at once.
    if a.min(b) >= most {
        Next::Stop
    } else if b <= a {
        Next::B
    } else {
        Next::A
    }
}

/// How far from zero a difference must be to count, and how near not to.
struct Margins {
    not_zero: f64,
    too_small: f64,
}

impl Margins {
    #[expect(clippy::cast_precision_loss, reason = "a plan is scored a handful of times")]
    fn of(question: &Question) -> Self {
        let (a, b) = (question.a.scores.len() as f64, question.b.scores.len() as f64);
        let variance_factor = 1.0 / a + 1.0 / b;
        let information = (2.0 / f64::from(question.max_samples) / variance_factor).min(1.0);
        let error = noise::effective_sigma(question.sigma) * libm::sqrt(variance_factor);
        Self {
            not_zero: CLEARLY_NOT_ZERO * libm::pow(information, NARROWING) * error,
            too_small: question.delta_threshold - CLEARLY_TOO_SMALL * error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn scores(values: &[f64]) -> Vec<Score> {
        values.iter().map(|value| Score::try_from(*value).unwrap()).collect()
    }

    fn question(a: &[f64], b: &[f64]) -> Question {
        let (a, b) = (Samples { scores: scores(a) }, Samples { scores: scores(b) });
        Question { a, b, sigma: None, max_samples: 5, delta_threshold: 5.0 }
    }

    #[test]
    fn clear_cases_need_no_further_score() {
        let far = decide(&question(&[50.0], &[80.0]));
        assert_eq!(
            (far.next, far.finding, far.difference),
            (Next::Stop, ScoreDifference::Changed, Some(30.0))
        );
        let same = decide(&question(&[70.0], &[70.5]));
        assert_eq!((same.next, same.finding), (Next::Stop, ScoreDifference::Unchanged));
        let [low, high] = far.interval.unwrap();
        assert!(low > 0.0 && high > 30.0);
    }

    #[test]
    fn unclear_ones_are_scored_in_turn_until_the_samples_run_out() {
        let next = |a: &[f64], b: &[f64]| decide(&question(a, b)).next;
        let nothing_yet = Answer {
            next: Next::A,
            difference: None,
            interval: None,
            conclusive: false,
            finding: ScoreDifference::Inconclusive,
        };
        assert_eq!(decide(&question(&[], &[])), nothing_yet);
        assert_eq!(next(&[70.0], &[]), Next::B);
        assert_eq!(next(&[70.0], &[76.0]), Next::B);
        assert_eq!(next(&[70.0], &[76.0, 75.0]), Next::A);
        let worn_out = decide(&Question {
            sigma: Some(Sigma { estimate: 20.0, n: 1000 }),
            ..question(&[70.0; 5], &[76.0; 5])
        });
        assert_eq!((worn_out.next, worn_out.finding), (Next::Stop, ScoreDifference::Inconclusive));
    }

    #[test]
    fn a_plan_that_has_all_its_scores_waits_for_the_other() {
        let next = |a: usize, b: usize| {
            let sigma = Some(Sigma { estimate: 20.0, n: 1000 });
            decide(&Question { sigma, ..question(&[70.0].repeat(a), &[76.0].repeat(b)) }).next
        };
        let found = [(5, 4), (4, 5), (6, 4), (5, 5), (6, 5)].map(|(a, b)| next(a, b));
        assert_eq!(found, [Next::B, Next::A, Next::B, Next::Stop, Next::Stop]);
    }

    /// The margins as the formula in the file's description gives them, worked out by hand.
    #[test]
    fn the_margins_narrow_as_scores_come_in() {
        let measured = Some(Sigma { estimate: 6.0, n: 4 });
        let table = [
            // scores of a, of b, at most, scatter, clearly not zero, clearly too small
            (1, 1, 1, None, 8.3085, 1.4645),
            (1, 1, 5, None, 12.4241, 1.4645),
            (2, 4, 5, None, 5.9537, 2.8349),
            (4, 4, 4, measured, 7.6375, 1.75),
            (8, 8, 4, measured, 5.4005, 2.7019),
            (3, 1, 5, measured, 16.8521, -0.3072),
        ];
        let rounded = |value: f64| libm::round(value * 1e4) / 1e4;
        for (a, b, max_samples, sigma, not_zero, too_small) in table {
            let asked = Question { sigma, max_samples, ..question(&[70.0].repeat(a), &[70.0].repeat(b)) };
            let margins = Margins::of(&asked);
            assert_eq!((rounded(margins.not_zero), rounded(margins.too_small)), (not_zero, too_small));
            let interval = decide(&asked).interval.unwrap();
            assert_eq!(interval.map(rounded), [-not_zero, not_zero], "around no difference");
        }
    }

    #[test]
    fn a_difference_on_a_margin_is_not_clear() {
        let finding =
            |difference: f64| decide(&Question { max_samples: 1, ..question(&[0.0], &[difference]) }).finding;
        let error = noise::PRIOR_SIGMA * libm::sqrt(2.0);
        let (too_small, not_zero) = (5.0 - error, 2.35 * error);
        let found = [too_small - 1e-9, too_small, not_zero, not_zero + 1e-9].map(finding);
        use ScoreDifference::{Changed, Inconclusive, Unchanged};
        assert_eq!(found, [Unchanged, Inconclusive, Inconclusive, Changed]);
    }

    #[test]
    fn the_limit_may_be_left_out() {
        let asked: Question = serde_json::from_str(r#"{"a":{"scores":[70]},"b":{"scores":[76]}}"#).unwrap();
        assert_eq!(asked, question(&[70.0], &[76.0]));
    }

    #[test]
    fn single_scores_are_compared_by_the_table() {
        let single = Question { max_samples: 1, ..question(&[70.0], &[76.0]) };
        assert_eq!(decide(&single).next, Next::Stop);
        let settings = RefinementSettings::default();
        for (before, after) in [(70.0, 76.0), (70.0, 73.0), (70.0, 72.0), (70.0, 60.0), (0.0, 10.0)] {
            let single = Question { max_samples: 1, ..question(&[before], &[after]) };
            let [before, after] = [before, after].map(|score| scores(&[score])[0]);
            assert_eq!(compare(&single, &settings), Some(refinement::compare(after, before, &settings)));
        }
    }

    #[test]
    fn what_cannot_be_told_apart_is_noise() {
        let settings = RefinementSettings::default();
        let wide = Some(Sigma { estimate: 20.0, n: 1000 });
        let unclear = Question { sigma: wide, ..question(&[70.0; 5], &[76.0; 5]) };
        assert_eq!(compare(&unclear, &settings), Some(Comparison::InNoise));
        assert_eq!(compare(&question(&[50.0], &[80.0]), &settings), Some(Comparison::Improved));
        assert_eq!(compare(&question(&[80.0], &[50.0]), &settings), Some(Comparison::Stagnated));
        assert_eq!(compare(&question(&[], &[50.0]), &settings), None);
        assert_eq!(compare(&question(&[70.0; 5], &[73.5; 5]), &settings), Some(Comparison::InNoise));
    }

    proptest! {
        /// Catches a choice of the fuller plan, a sample beyond the limit, and a stop that never comes.
        #[test]
        fn sampling_ends_within_the_limit(
            stream in proptest::collection::vec(0.0..=100.0f64, 60), max in 1u32..=20, sigma in 0.0..30.0f64,
        ) {
            let sigma = Some(Sigma { estimate: sigma, n: 50 });
            let mut asked = Question { max_samples: max, sigma, ..question(&[], &[]) };
            let mut stream = stream.into_iter();
            loop {
                let (of_a, of_b) = (asked.a.scores.len(), asked.b.scores.len());
                let (scored, of_other) = match decide(&asked).next {
                    Next::A => (&mut asked.a.scores, of_b),
                    Next::B => (&mut asked.b.scores, of_a),
                    Next::Stop => break,
                };
                prop_assert!(scored.len() <= of_other, "the fuller plan was scored");
                scored.extend(scores(&[stream.next().unwrap()]));
                prop_assert!(scored.len() <= max as usize);
            }
        }

        /// Catches a test that prefers one plan: swapping the plans swaps the sign and nothing else.
        #[test]
        fn the_plans_are_treated_alike(a in vec_of_scores(), b in vec_of_scores()) {
            let (one, other) = (decide(&question(&a, &b)), decide(&question(&b, &a)));
            prop_assert_eq!(one.finding, other.finding);
            let sum = one.difference.unwrap() + other.difference.unwrap();
            prop_assert!(sum.abs() < 1e-9);
            let ([low, high], [other_low, other_high]) = (one.interval.unwrap(), other.interval.unwrap());
            prop_assert!((low + other_high).abs() < 1e-9 && (high + other_low).abs() < 1e-9);
        }
    }

    fn vec_of_scores() -> impl Strategy<Value = Vec<f64>> {
        proptest::collection::vec((0u8..=100).prop_map(f64::from), 1..5)
    }
}
