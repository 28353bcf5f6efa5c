//! Whether a judged plan is accepted, planned again, or rejected: one decision, the first rule that matches.
//!
//! Scores are compared once, in [`compare`]; where they were sampled several times the caller brings the
//! comparison of the samples instead ([`decide_compared`]). The loop around this decision, with its memory of
//! the best plan, is in `run/review.rs`.

use fixpoint_vocabulary::settings::{OnStagnation, RefinementSettings};
use fixpoint_vocabulary::{Lang, Localize, Reason, Score};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::direction::{self, Direction};
use crate::prelude::*;

/// A judged plan and what came before it.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
pub struct Question {
    /// Whether the judge finds the plan acceptable.
    pub is_acceptable: bool,
    /// The judge's score of this plan.
    #[serde(default)]
    pub score: Option<Score>,
    /// The score of the plan before it.
    #[serde(default)]
    pub previous_score: Option<Score>,
    /// What the judge holds against the plan.
    #[serde(default)]
    pub issues: Vec<String>,
    /// What the judge would add.
    #[serde(default)]
    pub suggestions: Vec<String>,
    /// Replans made so far; 0 at the first plan.
    pub attempt_count: u32,
    /// Those of them that were made for suggestions alone.
    pub suggestion_replan_count: u32,
    /// The `refinement` section of the configuration.
    #[serde(default)]
    pub config: RefinementSettings,
}

/// What becomes of the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It goes on.
    Accept,
    /// It is planned again with the feedback.
    Replan,
    /// It goes no further.
    Reject,
}

/// Which rule decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// No replans are left.
    MaxAttemptsReached,
    /// There is no score to go by.
    ScoreMissing,
    /// An acceptable plan has the score that was asked for.
    TargetReached,
    /// The score moved by no more than noise.
    StagnatedInNoise,
    /// The score improved too little.
    Stagnated,
    /// The score improved too little, but attempts remain.
    StagnatedContinuing,
    /// The judge does not find the plan acceptable.
    QualityNotMet,
    /// An acceptable plan is improved by the judge's suggestions.
    ApplyingSuggestions,
    /// The plan is acceptable.
    QualityOk,
}

impl Code {
    fn reason(self) -> Reason<Self> {
        let (en, ja) = match self {
            Self::MaxAttemptsReached => ("maximum attempts reached", "最大試行回数到達"),
            Self::ScoreMissing => ("no score", "スコア取得失敗"),
            Self::TargetReached => ("target score reached", "目標スコア到達"),
            Self::StagnatedInNoise => ("no improvement (inside the noise)", "改善停滞（ノイズ範囲内）"),
            Self::Stagnated => ("improvement too small", "改善停滞"),
            Self::StagnatedContinuing => ("improvement too small, trying on", "改善停滞（継続）"),
            Self::QualityNotMet => ("quality not met", "品質未達"),
            Self::ApplyingSuggestions => ("applying suggestions", "suggestions適用"),
            Self::QualityOk => ("quality ok", "品質OK"),
        };
        Reason::new(self, en, ja)
    }
}

/// What a replan is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Feedback {
    /// What must be mended.
    pub issues: Vec<String>,
    /// What may be added.
    pub suggestions: Vec<String>,
}

/// What becomes of the plan, and why. Entries recorded before `score_direction` existed can still be read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// What becomes of the plan.
    pub decision: Decision,
    /// Which rule decided.
    pub reason: Reason<Code>,
    /// What the replan is told; only with `replan`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<Feedback>,
    /// Which way the score moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score_direction: Option<Direction>,
    /// The score of this plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_score: Option<Score>,
    /// The score of the plan before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_score: Option<Score>,
    /// Replans made so far.
    pub attempt_count: u32,
    /// Those of them that were made for suggestions alone.
    pub suggestion_replan_count: u32,
}

impl Localize for Answer {
    fn localize(&mut self, lang: Lang) {
        self.reason.localize(lang);
    }
}

/// How a plan's score compares with that of the plan before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// The difference is noise, or could not be told from noise.
    InNoise,
    /// A real change, but no sufficient improvement.
    Stagnated,
    /// A sufficient improvement.
    Improved,
}

/// Compares two scores by the thresholds.
pub fn compare(current: Score, previous: Score, settings: &RefinementSettings) -> Comparison {
    if !direction::is_significant(Some(current), Some(previous), settings.noise_threshold) {
        Comparison::InNoise
    } else if direction::is_stagnated(current, previous, settings) {
        Comparison::Stagnated
    } else {
        Comparison::Improved
    }
}

/// Decides by comparing the single scores in the question.
pub fn decide(question: &Question) -> Answer {
    let comparison = question
        .score
        .zip(question.previous_score)
        .map(|(current, previous)| compare(current, previous, &question.config));
    decide_compared(question, comparison)
}

/// Decides by a comparison made elsewhere. `None` where there is nothing to compare with.
pub fn decide_compared(question: &Question, comparison: Option<Comparison>) -> Answer {
    let (decision, code) = first_matching_rule(question, comparison);
    let feedback = match (decision, code) {
        (Decision::Replan, Code::ApplyingSuggestions) => {
            Some(Feedback { issues: Vec::new(), suggestions: question.suggestions.clone() })
        }
        (Decision::Replan, _) => {
            Some(Feedback { issues: question.issues.clone(), suggestions: question.suggestions.clone() })
        }
        (Decision::Accept | Decision::Reject, _) => None,
    };
    let noise = question.config.noise_threshold;
    let score_direction = match comparison {
        // Samples can say that what looks like a change is none.
        Some(Comparison::InNoise) => Direction::Stable,
        Some(Comparison::Stagnated | Comparison::Improved) | None => {
            direction::direction(question.score, question.previous_score, noise)
        }
    };
    Answer {
        decision,
        reason: code.reason(),
        feedback,
        score_direction: Some(score_direction),
        current_score: question.score,
        previous_score: question.previous_score,
        attempt_count: question.attempt_count,
        suggestion_replan_count: question.suggestion_replan_count,
    }
}

/// Whether the decision would come out differently if the scores compared differently, so that it is worth
/// asking the judge again.
pub fn depends_on_comparison(question: &Question) -> bool {
    let decision = |comparison| first_matching_rule(question, Some(comparison)).0;
    let in_noise = decision(Comparison::InNoise);
    question.previous_score.is_some()
        && (in_noise != decision(Comparison::Stagnated) || in_noise != decision(Comparison::Improved))
}

fn first_matching_rule(question: &Question, comparison: Option<Comparison>) -> (Decision, Code) {
    let config = &question.config;
    let settled = if question.is_acceptable { Decision::Accept } else { Decision::Reject };
    if question.attempt_count >= config.max_refinement_attempts {
        return (settled, Code::MaxAttemptsReached);
    }
    let Some(score) = question.score else { return (settled, Code::ScoreMissing) };
    if question.is_acceptable && config.target_score.is_some_and(|target| score >= target) {
        return (Decision::Accept, Code::TargetReached);
    }
    match comparison {
        Some(Comparison::InNoise) => return in_noise(question),
        Some(Comparison::Stagnated) => return stagnated(question),
        Some(Comparison::Improved) | None => {}
    }
    if !question.is_acceptable {
        return (Decision::Replan, Code::QualityNotMet);
    }
    let may_apply = config.refine_suggestions_on_success
        && question.suggestion_replan_count < config.max_suggestion_replans;
    if may_apply && !question.suggestions.is_empty() {
        return (Decision::Replan, Code::ApplyingSuggestions);
    }
    (Decision::Accept, Code::QualityOk)
}

fn in_noise(question: &Question) -> (Decision, Code) {
    match (question.is_acceptable, question.config.on_stagnation) {
        (true, _) => (Decision::Accept, Code::StagnatedInNoise),
        (false, OnStagnation::Replan) => (Decision::Replan, Code::StagnatedContinuing),
        // Another try would be a coin toss.
        (false, OnStagnation::Auto | OnStagnation::Reject) => (Decision::Reject, Code::StagnatedInNoise),
    }
}

fn stagnated(question: &Question) -> (Decision, Code) {
    match (question.is_acceptable, question.config.on_stagnation) {
        (true, _) => (Decision::Accept, Code::Stagnated),
        (false, OnStagnation::Reject) => (Decision::Reject, Code::Stagnated),
        (false, OnStagnation::Auto | OnStagnation::Replan) => (Decision::Replan, Code::StagnatedContinuing),
    }
}

#[cfg(test)]
mod tests;
