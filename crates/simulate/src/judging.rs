//! How often judging goes wrong: unchanged plans called changed, real changes missed, judge calls spent.
//!
//! Two plans whose true quality is known are scored with Gaussian noise; each starts with one score. The fixed
//! threshold compares those two; calibrated judging draws more where it must, by the product's own decision.

use fixpoint_decide::direction::{self, Direction};
use fixpoint_decide::noise::{RepeatedScores, Sigma};
use fixpoint_decide::refinement::Comparison;
use fixpoint_decide::sampling::{self, Next, Question, Samples};
use fixpoint_vocabulary::Score;
use fixpoint_vocabulary::settings::{JudgeSettings, RefinementSettings};

use crate::random::Random;

/// The true quality of the first plan.
const QUALITY: f64 = 60.0;
/// The true improvement that should not be missed.
const IMPROVEMENT: f64 = 8.0;
/// Plans scored twice before, to learn a judge's scatter.
const LEARNED_FROM: usize = 40;

/// How two plans are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Single scores, by `refinement.noise_threshold`.
    FixedThreshold,
    /// Sequential sampling with the true scatter known.
    Calibrated,
    /// Sequential sampling with the scatter learned from earlier repeated scores.
    CalibratedLearning,
}

impl Method {
    pub const ALL: [Self; 3] = [Self::FixedThreshold, Self::Calibrated, Self::CalibratedLearning];
}

/// The results of many comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct JudgingRates {
    /// The share of comparisons that found an improvement or a degradation.
    pub called_changed: f64,
    pub called_improved: f64,
    /// Further judge calls for a comparison, on average.
    pub further_calls: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JudgingRow {
    pub sigma: f64,
    pub method: Method,
    /// The plans are equally good.
    pub unchanged: JudgingRates,
    /// The later plan is 8 points better.
    pub improved: JudgingRates,
}

impl JudgingRow {
    pub fn false_change(&self) -> f64 {
        self.unchanged.called_changed
    }

    pub fn missed_change(&self) -> f64 {
        1.0 - self.improved.called_improved
    }
}

/// Simulates `runs` comparisons for every cell of the table.
pub fn simulate_judging(
    seed: u64,
    runs: u32,
    settings: &RefinementSettings,
    judge: &JudgeSettings,
) -> Vec<JudgingRow> {
    let rows = [1.0, 2.5, 4.0].into_iter().flat_map(|sigma| Method::ALL.map(|method| (sigma, method)));
    rows.map(|(sigma, method)| {
        let rates = |improvement: f64| {
            let key = format!("{sigma} {method:?} {improvement}");
            let comparisons =
                Comparisons { random: Random::keyed(seed, &key), sigma, method, settings, judge };
            comparisons.measure(improvement, runs)
        };
        JudgingRow { sigma, method, unchanged: rates(0.0), improved: rates(IMPROVEMENT) }
    })
    .collect()
}

struct Comparisons<'a> {
    random: Random,
    sigma: f64,
    method: Method,
    settings: &'a RefinementSettings,
    judge: &'a JudgeSettings,
}

impl Comparisons<'_> {
    fn measure(mut self, improvement: f64, runs: u32) -> JudgingRates {
        let mut counts = [0u32; 3];
        for _ in 0..runs {
            let (direction, calls) = match self.method {
                Method::FixedThreshold => self.by_threshold(improvement),
                Method::Calibrated => {
                    let known = Sigma { estimate: self.sigma, n: 1000 };
                    self.by_sampling(improvement, Some(known))
                }
                Method::CalibratedLearning => {
                    let learned = self.learned_sigma();
                    self.by_sampling(improvement, learned)
                }
            };
            let is_change = matches!(direction, Direction::Improved | Direction::Degraded);
            let [changed, improved, further] = &mut counts;
            *changed += u32::from(is_change);
            *improved += u32::from(direction == Direction::Improved);
            *further += calls;
        }
        let [called_changed, called_improved, further_calls] =
            counts.map(|count| f64::from(count) / f64::from(runs.max(1)));
        JudgingRates { called_changed, called_improved, further_calls }
    }

    fn score(&mut self, quality: f64) -> Score {
        Score::nearest(self.random.normal(quality, self.sigma))
    }

    fn learned_sigma(&mut self) -> Option<Sigma> {
        let mut repeated = RepeatedScores::default();
        for _ in 0..LEARNED_FROM {
            let twice = [self.score(QUALITY), self.score(QUALITY)];
            repeated.observe(&twice);
        }
        repeated.sigma()
    }

    fn by_threshold(&mut self, improvement: f64) -> (Direction, u32) {
        let (before, after) = (self.score(QUALITY), self.score(QUALITY + improvement));
        (direction::direction(Some(after), Some(before), self.settings.noise_threshold), 0)
    }

    fn by_sampling(&mut self, improvement: f64, sigma: Option<Sigma>) -> (Direction, u32) {
        let mut question = Question {
            a: Samples { scores: vec![self.score(QUALITY)] },
            b: Samples { scores: vec![self.score(QUALITY + improvement)] },
            sigma,
            max_samples: self.judge.max_samples,
            delta_threshold: self.settings.delta_threshold,
        };
        let mut calls = 0;
        loop {
            let answer = sampling::decide(&question);
            match answer.next {
                Next::A => question.a.scores.push(self.score(QUALITY)),
                Next::B => question.b.scores.push(self.score(QUALITY + improvement)),
                Next::Stop => return (self.direction(&question, answer.difference), calls),
            }
            calls += 1;
        }
    }

    /// The product's own comparison.
    fn direction(&self, question: &Question, difference: Option<f64>) -> Direction {
        match sampling::compare(question, self.settings) {
            Some(Comparison::Stagnated | Comparison::Improved) if difference > Some(0.0) => {
                Direction::Improved
            }
            Some(Comparison::Stagnated | Comparison::Improved) => Direction::Degraded,
            Some(Comparison::InNoise) | None => Direction::Stable,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a bound that is too narrow (false changes), too wide (missed ones) or too patient (calls).
    #[test]
    fn calibrated_judging_meets_its_goals_and_the_fixed_threshold_does_not() {
        let rows = simulate_judging(1, 20_000, &RefinementSettings::default(), &JudgeSettings::default());
        let row = |sigma: f64, method| *rows.iter().find(|r| r.sigma == sigma && r.method == method).unwrap();
        let goals = [(1.0, 0.05, 0.10, 2.5), (2.5, 0.05, 0.10, 2.5), (4.0, 0.05, 0.22, 5.0)];
        for (sigma, false_change, missed_change, calls) in goals {
            for method in [Method::Calibrated, Method::CalibratedLearning] {
                let row = row(sigma, method);
                assert!(row.false_change() <= false_change, "{row:?}");
                assert!(row.missed_change() <= missed_change, "{row:?}");
                assert!(
                    row.unchanged.further_calls <= calls && row.improved.further_calls <= calls,
                    "{row:?}"
                );
            }
        }
        let fixed = row(2.5, Method::FixedThreshold).false_change();
        assert!((0.37..0.43).contains(&fixed), "{fixed}");
    }

    /// Catches a second rule beside the product's: scored once, both methods are the table and nothing else.
    #[test]
    fn with_one_sample_the_fixed_threshold_is_all_that_remains() {
        let once = JudgeSettings { max_samples: 1 };
        let rows = simulate_judging(1, 20_000, &RefinementSettings::default(), &once);
        for pair in rows.chunks(Method::ALL.len()) {
            let (fixed, calibrated) = (pair[0], pair[1]);
            assert!((fixed.false_change() - calibrated.false_change()).abs() < 0.02, "{pair:?}");
            assert!((fixed.missed_change() - calibrated.missed_change()).abs() < 0.02, "{pair:?}");
            assert_eq!(calibrated.improved.further_calls, 0.0);
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_table() {
        let table =
            |seed| simulate_judging(seed, 50, &RefinementSettings::default(), &JudgeSettings::default());
        assert_eq!(table(3), table(3));
        assert_ne!(table(3), table(4));
    }
}
