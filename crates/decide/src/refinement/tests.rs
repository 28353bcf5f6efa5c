//! The decision table of refinement, row by row, and what must hold for every input.

use fixpoint_vocabulary::Lang;
use proptest::prelude::*;

use super::*;

fn score(value: f64) -> Score {
    Score::try_from(value).unwrap()
}

/// The plan of the table's rows: attempt 1 of 2, one issue, one suggestion.
fn judged(is_acceptable: bool, now: Option<f64>, before: Option<f64>) -> Question {
    Question {
        is_acceptable,
        score: now.map(score),
        previous_score: before.map(score),
        issues: vec!["issue1".to_string()],
        suggestions: vec!["suggestion1".to_string()],
        attempt_count: 1,
        suggestion_replan_count: 0,
        config: RefinementSettings::default(),
    }
}

fn with(question: Question, change: impl FnOnce(&mut RefinementSettings)) -> Question {
    let mut question = question;
    change(&mut question.config);
    question
}

#[test]
fn every_row_of_the_table() {
    use Code::*;
    use Decision::*;
    use Direction::*;
    let at_max = |question| Question { attempt_count: 2, ..question };
    let replan_always = |question| with(question, |config| config.on_stagnation = OnStagnation::Replan);
    let reject_always = |question| with(question, |config| config.on_stagnation = OnStagnation::Reject);
    let target_75 = |question| with(question, |config| config.target_score = Some(score(75.0)));
    let suggesting = |question| with(question, |config| config.refine_suggestions_on_success = true);
    let table = vec![
        // The first evaluation is never noise.
        (judged(false, Some(55.0), None), Replan, QualityNotMet, "品質未達", Unknown),
        (judged(true, Some(70.0), None), Accept, QualityOk, "品質OK", Unknown),
        (judged(true, Some(72.0), Some(70.0)), Accept, StagnatedInNoise, "改善停滞（ノイズ範囲内）", Stable),
        (judged(true, Some(73.0), Some(70.0)), Accept, Stagnated, "改善停滞", Improved),
        (judged(true, Some(80.0), Some(70.0)), Accept, QualityOk, "品質OK", Improved),
        (judged(false, Some(55.0), Some(45.0)), Replan, QualityNotMet, "品質未達", Improved),
        (judged(false, Some(52.0), Some(50.0)), Reject, StagnatedInNoise, "改善停滞（ノイズ範囲内）", Stable),
        (judged(false, Some(10.0), Some(0.0)), Replan, QualityNotMet, "品質未達", Improved),
        (judged(false, Some(75.0), Some(70.0)), Replan, QualityNotMet, "品質未達", Improved),
        (judged(false, Some(73.0), Some(70.0)), Replan, StagnatedContinuing, "改善停滞（継続）", Improved),
        (judged(false, Some(60.0), Some(70.0)), Replan, StagnatedContinuing, "改善停滞（継続）", Degraded),
        (at_max(judged(true, Some(10.0), None)), Accept, MaxAttemptsReached, "最大試行回数到達", Unknown),
        (at_max(judged(false, None, None)), Reject, MaxAttemptsReached, "最大試行回数到達", Unknown),
        (judged(true, None, Some(70.0)), Accept, ScoreMissing, "スコア取得失敗", Unknown),
        (judged(false, None, Some(70.0)), Reject, ScoreMissing, "スコア取得失敗", Unknown),
        (
            replan_always(judged(false, Some(52.0), Some(50.0))),
            Replan,
            StagnatedContinuing,
            "改善停滞（継続）",
            Stable,
        ),
        (reject_always(judged(false, Some(73.0), Some(70.0))), Reject, Stagnated, "改善停滞", Improved),
        (target_75(judged(true, Some(75.0), Some(74.0))), Accept, TargetReached, "目標スコア到達", Stable),
        (target_75(judged(false, Some(90.0), None)), Replan, QualityNotMet, "品質未達", Unknown),
        (suggesting(judged(true, Some(70.0), None)), Replan, ApplyingSuggestions, "suggestions適用", Unknown),
        (
            with(judged(true, Some(73.0), Some(70.0)), |config| config.noise_threshold = 5.0),
            Accept,
            StagnatedInNoise,
            "改善停滞（ノイズ範囲内）",
            Stable,
        ),
    ];
    for (question, decision, code, japanese, direction) in table {
        let answer = decide(&question);
        assert_eq!(
            (answer.decision, answer.reason.code, answer.score_direction),
            (decision, code, Some(direction)),
            "{question:?}"
        );
        assert_eq!(answer.reason.text.in_lang(Lang::Ja), japanese);
        assert_eq!(answer.feedback.is_some(), decision == Replan);
    }
}

#[test]
fn suggestion_replans_leave_the_issues_out_and_are_counted() {
    let question = with(judged(true, Some(70.0), None), |config| config.refine_suggestions_on_success = true);
    let expected = Feedback { issues: vec![], suggestions: vec!["suggestion1".to_string()] };
    assert_eq!(decide(&question).feedback, Some(expected));
    let used_up = Question { suggestion_replan_count: 1, ..question.clone() };
    assert_eq!(decide(&used_up).reason.code, Code::QualityOk);
    let nothing_suggested = Question { suggestions: vec![], ..question };
    assert_eq!(decide(&nothing_suggested).reason.code, Code::QualityOk);
}

#[test]
fn entries_without_a_direction_can_be_read() {
    let old = r#"{"decision":"replan","reason":{"code":"quality_not_met","text":{"en":"a","ja":"b"}},
                  "attempt_count":0,"suggestion_replan_count":0}"#;
    let entry: Answer = serde_json::from_str(old).unwrap();
    assert_eq!((entry.score_direction, entry.current_score), (None, None));
}

#[test]
fn the_judge_is_asked_again_only_where_it_matters() {
    assert!(depends_on_comparison(&judged(false, Some(72.0), Some(70.0))));
    assert!(!depends_on_comparison(&judged(true, Some(72.0), Some(70.0))), "accepted either way");
    assert!(!depends_on_comparison(&judged(false, Some(72.0), None)), "nothing to compare with");
    let last = Question { attempt_count: 2, ..judged(false, Some(72.0), Some(70.0)) };
    assert!(!depends_on_comparison(&last), "rejected either way");
    let suggesting =
        with(judged(true, Some(72.0), Some(70.0)), |config| config.refine_suggestions_on_success = true);
    assert!(depends_on_comparison(&suggesting), "an improvement alone leads to the suggestions");
    let trying_on = |on_stagnation| {
        let question = judged(false, Some(72.0), Some(70.0));
        depends_on_comparison(&with(question, |config| config.on_stagnation = on_stagnation))
    };
    let depends = [OnStagnation::Auto, OnStagnation::Reject, OnStagnation::Replan].map(trying_on);
    assert_eq!(depends, [true, true, false]);
}

proptest! {
    /// Catches `>=` turned into `>` in the attempts rule, and a rule that replans without looking at attempts.
    #[test]
    fn no_replan_beyond_the_attempts(
        acceptable: bool, now in 0.0..=100.0f64, before in proptest::option::of(0.0..=100.0f64),
        attempts in 0u32..12, max in 0u32..=10, suggesting: bool,
    ) {
        let mut question = Question { attempt_count: attempts, ..judged(acceptable, Some(now), before) };
        question.config.max_refinement_attempts = max;
        question.config.refine_suggestions_on_success = suggesting;
        let answer = decide(&question);
        prop_assert!(attempts < max || answer.decision != Decision::Replan);
        // A plan that is not acceptable is never accepted, whatever its score.
        prop_assert!(acceptable || answer.decision != Decision::Accept);
    }
}
