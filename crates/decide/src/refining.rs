//! The refinement loop's memory: how many replans were made, and the best acceptable plan seen so far.
//!
//! A later plan can be worse than an earlier one, or broken. What goes on is the best acceptable plan, and a
//! rejection at the end does not throw away a plan that was acceptable before. Invariant: at most
//! `max_refinement_attempts` replans are ever asked for.

use alloc::string::String;
use alloc::vec::Vec;

use fixpoint_vocabulary::Score;
use fixpoint_vocabulary::settings::RefinementSettings;

use crate::refinement::{self, Answer, Code, Comparison, Decision, Question};

/// What the judge said of one plan. A score that is the mean of several samples comes with their comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// Whether the plan is acceptable.
    pub is_acceptable: bool,
    /// Its score.
    pub score: Option<Score>,
    /// What is held against it.
    pub issues: Vec<String>,
    /// What might be added.
    pub suggestions: Vec<String>,
    /// How repeated scores compare with those of the plan before; `None` compares the single scores.
    pub sampled: Option<Comparison>,
}

#[derive(Debug, Clone, PartialEq)]
struct Kept<Plan> {
    plan: Plan,
    score: Option<Score>,
}

/// Which plan goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The one that was judged last.
    Current,
    /// An earlier one that was better.
    Earlier,
}

/// What happens next.
#[derive(Debug, Clone, PartialEq)]
pub enum Step<Plan> {
    /// This plan goes on.
    Deliver {
        /// The best acceptable plan.
        plan: Plan,
        /// Whether it is the one judged last.
        source: Source,
        /// The decision about the plan judged last.
        answer: Answer,
    },
    /// Plan again with the feedback in the answer.
    Replan(Answer),
    /// No plan was ever acceptable.
    Rejected(Answer),
}

/// The refinement loop, between two judgements.
#[derive(Debug, Clone)]
pub struct Refining<Plan> {
    settings: RefinementSettings,
    attempts: u32,
    suggestion_replans: u32,
    previous: Option<Score>,
    best: Option<Kept<Plan>>,
}

impl<Plan: Clone> Refining<Plan> {
    /// A loop that has seen no plan yet.
    pub fn new(settings: RefinementSettings) -> Self {
        Self { settings, attempts: 0, suggestion_replans: 0, previous: None, best: None }
    }

    /// The question this judgement puts, to see whether more samples are worth drawing.
    pub fn question(&self, judgement: &Judgement) -> Question {
        Question {
            is_acceptable: judgement.is_acceptable,
            score: judgement.score,
            previous_score: self.previous,
            issues: judgement.issues.clone(),
            suggestions: judgement.suggestions.clone(),
            attempt_count: self.attempts,
            suggestion_replan_count: self.suggestion_replans,
            config: self.settings.clone(),
        }
    }

    /// Takes in a judgement and says what happens next.
    pub fn judged(&mut self, plan: &Plan, judgement: &Judgement) -> Step<Plan> {
        let question = self.question(judgement);
        let answer = match (judgement.sampled, self.previous) {
            (Some(comparison), Some(_)) => refinement::decide_compared(&question, Some(comparison)),
            (Some(_), None) | (None, _) => refinement::decide(&question),
        };
        if judgement.is_acceptable {
            self.keep_if_best(plan, judgement.score);
        }
        self.previous = judgement.score.or(self.previous);
        match answer.decision {
            Decision::Replan => {
                self.attempts += 1;
                if answer.reason.code == Code::ApplyingSuggestions {
                    self.suggestion_replans += 1;
                }
                Step::Replan(answer)
            }
            Decision::Accept | Decision::Reject => self.end(judgement, answer),
        }
    }

    /// The plan to go on with when a replan broke the structure and could not be mended.
    pub fn best(&self) -> Option<&Plan> {
        self.best.as_ref().map(|kept| &kept.plan)
    }

    fn keep_if_best(&mut self, plan: &Plan, score: Option<Score>) {
        // On equal scores the later plan is kept: it has the feedback in it.
        let is_best = self.best.as_ref().is_none_or(|kept| score >= kept.score);
        if is_best {
            self.best = Some(Kept { plan: plan.clone(), score });
        }
    }

    fn end(&mut self, judgement: &Judgement, answer: Answer) -> Step<Plan> {
        match self.best.take() {
            None => Step::Rejected(answer),
            Some(kept) => {
                let is_current = judgement.is_acceptable && kept.score == judgement.score;
                let source = if is_current { Source::Current } else { Source::Earlier };
                Step::Deliver { plan: kept.plan, source, answer }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;

    fn judgement(is_acceptable: bool, score: Option<f64>) -> Judgement {
        Judgement {
            is_acceptable,
            score: score.map(|value| Score::try_from(value).unwrap()),
            issues: vec![],
            suggestions: vec!["more".into()],
            sampled: None,
        }
    }

    fn suggesting() -> RefinementSettings {
        RefinementSettings { refine_suggestions_on_success: true, ..RefinementSettings::default() }
    }

    #[test]
    fn after_a_regression_the_better_plan_goes_on() {
        let mut refining = Refining::new(suggesting());
        assert!(matches!(refining.judged(&"first", &judgement(true, Some(84.0))), Step::Replan(_)));
        let step = refining.judged(&"second", &judgement(true, Some(61.0)));
        assert!(matches!(step, Step::Deliver { plan: "first", source: Source::Earlier, .. }), "{step:?}");
    }

    #[test]
    fn a_rejection_does_not_throw_away_an_acceptable_plan() {
        let mut refining = Refining::new(suggesting());
        refining.judged(&"first", &judgement(true, Some(70.0)));
        assert_eq!(refining.best(), Some(&"first"));
        let step = refining.judged(&"second", &judgement(false, Some(71.0)));
        assert!(matches!(step, Step::Deliver { plan: "first", source: Source::Earlier, .. }), "{step:?}");
    }

    #[test]
    fn of_equal_plans_the_later_goes_on() {
        let mut refining = Refining::new(suggesting());
        refining.judged(&"first", &judgement(true, Some(70.0)));
        let step = refining.judged(&"second", &judgement(true, Some(70.0)));
        assert!(matches!(step, Step::Deliver { plan: "second", source: Source::Current, .. }), "{step:?}");
    }

    #[test]
    fn an_undecided_comparison_counts_as_noise() {
        let mut refining = Refining::new(RefinementSettings::default());
        refining.judged(&1, &judgement(false, Some(50.0)));
        let sampled = Judgement { sampled: Some(Comparison::InNoise), ..judgement(false, Some(60.0)) };
        let Step::Rejected(answer) = refining.judged(&2, &sampled) else { panic!("not rejected") };
        assert_eq!(answer.reason.code, Code::StagnatedInNoise);
    }

    /// The code and the two counts of a replan.
    fn replanned<Plan: core::fmt::Debug>(step: Step<Plan>) -> (Code, u32, u32) {
        let Step::Replan(answer) = step else { panic!("no replan: {step:?}") };
        (answer.reason.code, answer.attempt_count, answer.suggestion_replan_count)
    }

    #[test]
    fn every_replan_is_counted_and_those_for_suggestions_once_more() {
        let settings =
            RefinementSettings { max_refinement_attempts: 5, max_suggestion_replans: 2, ..suggesting() };
        let mut refining = Refining::new(settings);
        let expected = [
            (false, 20.0, (Code::QualityNotMet, 0, 0)),
            (true, 40.0, (Code::ApplyingSuggestions, 1, 0)),
            (false, 60.0, (Code::QualityNotMet, 2, 1)),
            (true, 80.0, (Code::ApplyingSuggestions, 3, 1)),
        ];
        for (is_acceptable, score, counts) in expected {
            assert_eq!(replanned(refining.judged(&score, &judgement(is_acceptable, Some(score)))), counts);
        }
        let Step::Deliver { plan, source, answer } = refining.judged(&99.0, &judgement(true, Some(99.0)))
        else {
            panic!("not delivered")
        };
        assert_eq!((plan, source), (99.0, Source::Current));
        assert_eq!(
            (answer.reason.code, answer.attempt_count, answer.suggestion_replan_count),
            (Code::QualityOk, 4, 2)
        );
    }

    proptest! {
        /// Catches a replan that is not counted, and `attempts` compared with the wrong limit.
        #[test]
        fn every_sequence_of_answers_ends_within_the_attempts(
            // Mostly answers that ask for more, because only a long row of replans can run into the limit; and
            // few different scores, because the best plan must be found among equal ones too.
            answers in proptest::collection::vec(
                (proptest::bool::weighted(0.2), proptest::option::weighted(0.95, (0u8..=10).prop_map(|n| f64::from(n * 10)))),
                12,
            ),
            max in 0u32..=10, suggestions in 0u32..=5, policy in 0..3,
        ) {
            use fixpoint_vocabulary::settings::OnStagnation::{Auto, Reject, Replan};
            let settings = RefinementSettings {
                max_refinement_attempts: max,
                max_suggestion_replans: suggestions,
                on_stagnation: [Auto, Reject, Replan][policy as usize],
                ..suggesting()
            };
            let mut refining = Refining::new(settings);
            let mut replans = 0;
            let mut acceptable = vec![];
            for (plan, (is_acceptable, score)) in answers.into_iter().enumerate() {
                if is_acceptable {
                    acceptable.push((score, plan));
                }
                match refining.judged(&plan, &judgement(is_acceptable, score)) {
                    Step::Replan(_) => replans += 1,
                    Step::Rejected(_) => {
                        prop_assert!(acceptable.is_empty());
                        break;
                    }
                    Step::Deliver { plan, .. } => {
                        let best = acceptable.iter().max_by(|a, b| a.partial_cmp(b).unwrap()).unwrap();
                        prop_assert_eq!(plan, best.1);
                        break;
                    }
                }
            }
            prop_assert!(replans <= max);
        }
    }
}
