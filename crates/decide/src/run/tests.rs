//! How a plan is judged and refined, for every judge there could be.

use fixpoint_vocabulary::ask::{ModelQuestion, QuestionKind};
use fixpoint_vocabulary::documents::{Document, PlanJudgement};
use fixpoint_vocabulary::settings::{OnStagnation, RefinementSettings, Settings};
use fixpoint_vocabulary::work::{Command, CommandEnd};
use fixpoint_vocabulary::{Cause, Score};
use proptest::prelude::*;

use super::run_fixture::*;
use super::{Owner, RunExtent, RunStatus};
use crate::phases::Phase;
use crate::prelude::*;
use crate::refinement::Code;

/// What the judge says of a plan each time it is asked: whether it is acceptable, and its score.
type Opinion = (bool, Option<f64>);

fn judged((is_acceptable, score): Opinion) -> CommandEnd {
    answer(Document::PlanJudgement(PlanJudgement {
        is_acceptable,
        issues: Vec::new(),
        suggestions: vec!["more".into()],
        overall_score: score.map(Score::nearest),
    }))
}

/// A plan under a judge who says the same of a revision whenever it is asked, and how that ended.
fn reviewed(opinions: &[Opinion], change: impl FnOnce(&mut Settings)) -> (RunFixture, RunStatus) {
    let mut world = RunFixture::new(vec![subtask("a", &[])], |settings, options| {
        options.extent = RunExtent::PlanOnly;
        settings.refinement.refine_suggestions_on_success = true;
        change(settings);
    });
    let status = world.go(&mut |_: &Owner, command: &Command| {
        let Command::Ask(ModelQuestion { about: QuestionKind::JudgePlan { revision, .. }, .. }) = command
        else {
            return None;
        };
        let last = opinions.last().copied().unwrap_or((false, None));
        Some(judged(opinions.get(*revision as usize).copied().unwrap_or(last)))
    });
    (world, status)
}

const DELIVERED: RunStatus = RunStatus::Ended { cause: Cause::Done };
const REJECTED: RunStatus = RunStatus::Ended { cause: Cause::PlanRejected };

/// Catches a later plan that goes on although it is worse, or rejected, or no better.
#[test]
fn the_best_acceptable_plan_goes_on() {
    let tables: [(&[Opinion], Option<u32>); 5] = [
        (&[(true, Some(84.0)), (true, Some(61.0))], Some(0)),
        (&[(true, Some(70.0)), (false, Some(71.0))], Some(0)),
        (&[(true, Some(70.0)), (true, Some(70.0))], Some(1)),
        (&[(false, Some(50.0)), (true, Some(90.0)), (true, Some(60.0))], Some(1)),
        (&[(false, Some(90.0)), (false, None)], None),
    ];
    for (opinions, expected) in tables {
        let (world, status) = reviewed(opinions, |_| {});
        assert_eq!(world.run.review().accepted, expected, "{opinions:?}");
        assert_eq!(status, if expected.is_some() { DELIVERED } else { REJECTED }, "{opinions:?}");
        assert_eq!(world.run.phase(), Phase::Completion);
    }
}

/// Catches a replan that is counted twice or not at all.
#[test]
fn every_replan_is_counted_and_those_for_suggestions_once_more() {
    let opinions = [
        (false, Some(20.0)),
        (true, Some(40.0)),
        (false, Some(60.0)),
        (true, Some(80.0)),
        (true, Some(99.0)),
    ];
    let (world, status) = reviewed(&opinions, |settings| {
        settings.refinement.max_refinement_attempts = 5;
        settings.refinement.max_suggestion_replans = 2;
    });
    let counts = world
        .run
        .review()
        .decisions
        .iter()
        .map(|answer| (answer.reason.code, answer.attempt_count, answer.suggestion_replan_count));
    let expected = [
        (Code::QualityNotMet, 0, 0),
        (Code::ApplyingSuggestions, 1, 0),
        (Code::QualityNotMet, 2, 1),
        (Code::ApplyingSuggestions, 3, 1),
        (Code::QualityOk, 4, 2),
    ];
    assert_eq!((counts.collect::<Vec<_>>(), status), (expected.to_vec(), DELIVERED));
}

proptest! {
    /// Catches a replan that is not counted, a limit compared with the wrong count, a judge asked for ever, and a plan
    /// delivered that is not the best.
    #[test]
    fn every_judge_comes_to_an_end_within_the_attempts(
        // Mostly answers that ask for more, because only a long row of replans can run into the limit; and few
        // different scores, because the best plan must be found among equal ones too.
        opinions in proptest::collection::vec(
            (
                proptest::bool::weighted(0.2),
                proptest::option::weighted(0.95, (0u8..=10).prop_map(|n| f64::from(n * 10))),
            ),
            12,
        ),
        max in 0u32..=10, suggestions in 0u32..=5, policy in 0usize..3, samples in 1u32..=4,
    ) {
        let (world, status) = reviewed(&opinions, |settings| {
            settings.judge.max_samples = samples;
            settings.refinement = RefinementSettings {
                max_refinement_attempts: max,
                max_suggestion_replans: suggestions,
                on_stagnation: [OnStagnation::Auto, OnStagnation::Reject, OnStagnation::Replan][policy],
                ..settings.refinement.clone()
            };
        });
        let seen = world.run.review().revisions.len();
        prop_assert!(seen as u32 <= max + 1);
        let asked = world.asked(|about| matches!(about, QuestionKind::JudgePlan { .. }));
        prop_assert!(asked <= seen * samples as usize);
        let acceptable = opinions.iter().take(seen).zip(0u32..).filter(|((is_acceptable, _), _)| *is_acceptable);
        let best = acceptable.map(|((_, score), number)| (*score, number));
        let best = best.max_by(|a, b| a.partial_cmp(b).unwrap()).map(|(_, number)| number);
        prop_assert_eq!(world.run.review().accepted, best);
        prop_assert_eq!(status, if best.is_some() { DELIVERED } else { REJECTED });
    }
}
