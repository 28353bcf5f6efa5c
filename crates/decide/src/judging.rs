//! What a judge's answer about one task leads to, once it is compared with the evidence.
//!
//! A model's word alone never makes a task done: `success` with new failures or files outside the scope is a
//! continuation with that evidence as its reason. Whether the task still may go on is bounded here too.

use fixpoint_vocabulary::settings::limits::MAX_ITERATIONS;
use fixpoint_vocabulary::settings::{ConvergenceSettings, ReplanningSettings};
use fixpoint_vocabulary::{Cause, Lang, Localize, Reason};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use fixpoint_vocabulary::documents::JudgeAnswer;

use crate::prelude::*;
use crate::replanning;

/// What the checks and the scope guard found.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Evidence {
    /// Failures that were not there before the task.
    pub new_failures: Vec<String>,
    /// Files changed outside the scope.
    pub scope_violations: Vec<String>,
}

/// The limits that apply to a judgement.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Limits {
    /// Attempts at one task, at most.
    #[schemars(range(min = MAX_ITERATIONS.min, max = MAX_ITERATIONS.max))]
    pub max_iterations: u32,
    /// The `replanning` section of the configuration.
    pub replanning: ReplanningSettings,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_iterations: ConvergenceSettings::default().max_iterations,
            replanning: ReplanningSettings::default(),
        }
    }
}

/// A judge's answer with the evidence and the limits.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct Question {
    /// The judge's answer.
    pub answer: JudgeAnswer,
    /// What the checks and the scope guard found.
    #[serde(default)]
    pub evidence: Evidence,
    /// Attempts made at this task so far.
    pub attempts_run: u32,
    /// Replans made so far in the task's lineage.
    pub lineage_iteration: u32,
    /// The limits.
    #[serde(default)]
    pub config: Limits,
}

/// What becomes of the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Finished.
    Done,
    /// Another attempt, if the convergence controller agrees.
    Continue,
    /// Smaller tasks take its place.
    Replan,
    /// It cannot go on.
    Blocked,
}

/// Which rule decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// The judge and the evidence agree.
    AcceptanceMet,
    /// The judge and the evidence agree that nothing had to be done.
    AlreadySatisfied,
    /// The judge sees success and the evidence does not.
    EvidenceContradicts,
    /// The judge asks for another attempt.
    ContinueAsked,
    /// The judge asks for another plan.
    ReplanAsked,
    /// No attempts are left.
    MaxIterations,
    /// No replans are left.
    MaxReplans,
    /// Replanning is off.
    ReplanningDisabled,
    /// The judge sees no way on.
    JudgeGaveUp,
}

/// What becomes of the task, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Answer {
    /// What becomes of the task.
    pub outcome: Outcome,
    /// Why it is blocked; only with `blocked`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// Which rule decided, with the judge's or the evidence's words.
    pub reason: Reason<Code>,
}

impl Localize for Answer {
    fn localize(&mut self, lang: Lang) {
        self.reason.localize(lang);
    }
}

/// Compares a judge's answer with the evidence and the limits.
pub fn decide(question: &Question) -> Answer {
    let answer = &question.answer;
    let words = Words { en: &answer.reason, ja: &answer.reason };
    if answer.success {
        return match contradiction(&question.evidence) {
            Some((en, ja)) => continued(question, Code::EvidenceContradicts, Words { en: &en, ja: &ja }),
            None if answer.already_satisfied => plain(Outcome::Done, Code::AlreadySatisfied, words),
            None => plain(Outcome::Done, Code::AcceptanceMet, words),
        };
    }
    if answer.should_continue {
        return continued(question, Code::ContinueAsked, words);
    }
    if answer.should_replan {
        return match replanning::may_replan(question.lineage_iteration, &question.config.replanning) {
            Ok(_) => plain(Outcome::Replan, Code::ReplanAsked, words),
            Err(replanning::ReplanRefusal::Disabled) => {
                blocked(Cause::ReplanningDisabled, Code::ReplanningDisabled, words)
            }
            Err(replanning::ReplanRefusal::LimitReached) => {
                blocked(Cause::MaxReplans, Code::MaxReplans, words)
            }
        };
    }
    blocked(Cause::JudgeGaveUp, Code::JudgeGaveUp, words)
}

/// What is added to a reason: the judge's own words, which are the same in every language, or ours.
#[derive(Clone, Copy)]
struct Words<'a> {
    en: &'a str,
    ja: &'a str,
}

fn continued(question: &Question, code: Code, words: Words<'_>) -> Answer {
    if question.attempts_run >= question.config.max_iterations {
        blocked(Cause::MaxIterations, Code::MaxIterations, words)
    } else {
        plain(Outcome::Continue, code, words)
    }
}

/// The evidence that contradicts a success, in both languages.
fn contradiction(evidence: &Evidence) -> Option<(String, String)> {
    let named = |(en, ja): (&str, &str), names: &[String]| {
        let names = shortened(names);
        (!names.is_empty()).then(|| (format!("{en}: {names}"), format!("{ja}: {names}")))
    };
    let found = [
        named(("new failures", "新しい失敗"), &evidence.new_failures),
        named(("outside the scope", "範囲外の変更"), &evidence.scope_violations),
    ];
    found
        .into_iter()
        .flatten()
        .reduce(|(en, ja), (more_en, more_ja)| (format!("{en}; {more_en}"), format!("{ja}、{more_ja}")))
}

/// The first few names, so that the reason stays readable whatever an attempt broke.
fn shortened(names: &[String]) -> String {
    const SHOWN: usize = 5;
    let mut text = names.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    if let Some(more) = names.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        text.push_str(&format!(" (+{more})"));
    }
    text
}

fn plain(outcome: Outcome, code: Code, words: Words<'_>) -> Answer {
    Answer { outcome, cause: None, reason: code.reason(words) }
}

fn blocked(cause: Cause, code: Code, words: Words<'_>) -> Answer {
    Answer { outcome: Outcome::Blocked, cause: Some(cause), reason: code.reason(words) }
}

impl Code {
    fn reason(self, words: Words<'_>) -> Reason<Self> {
        let (en, ja) = match self {
            Self::AcceptanceMet => ("acceptance met", "受け入れ条件を満たした"),
            Self::AlreadySatisfied => ("already satisfied", "既に満たされている"),
            Self::EvidenceContradicts => {
                ("the judge says done, the evidence does not", "判定は完了だが証拠と矛盾する")
            }
            Self::ContinueAsked => ("not finished, another attempt", "未完了、継続"),
            Self::ReplanAsked => ("cannot work as planned, replanning", "現在の計画では不可能、再計画"),
            Self::MaxIterations => ("no attempts are left", "最大試行回数到達"),
            Self::MaxReplans => ("no replans are left", "最大再評価回数到達"),
            Self::ReplanningDisabled => {
                ("a replan is needed and replanning is off", "再計画が必要だが無効化されている")
            }
            Self::JudgeGaveUp => ("the judge sees no way on", "判定者が続行不能と判断した"),
        };
        match (words.en.trim(), words.ja.trim()) {
            ("", _) => Reason::new(self, en, ja),
            (more_en, more_ja) => Reason::new(self, format!("{en}: {more_en}"), format!("{ja}: {more_ja}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn question(success: bool, should_continue: bool, should_replan: bool) -> Question {
        Question {
            answer: JudgeAnswer {
                success,
                should_continue,
                should_replan,
                already_satisfied: false,
                reason: "because".to_string(),
                missing_requirements: vec![],
            },
            evidence: Evidence::default(),
            attempts_run: 1,
            lineage_iteration: 0,
            config: Limits::default(),
        }
    }

    #[test]
    fn every_row_of_the_table() {
        let failing = Evidence { new_failures: vec!["t".to_string()], scope_violations: vec![] };
        let wandering = Evidence { new_failures: vec![], scope_violations: vec!["x".to_string()] };
        let off = Limits {
            replanning: ReplanningSettings { enabled: false, ..Default::default() },
            ..Limits::default()
        };
        let satisfied = |mut question: Question| {
            question.answer.already_satisfied = true;
            question
        };
        use Code::*;
        use Outcome::{Blocked, Continue, Done, Replan};
        let asked = question;
        let table = vec![
            (asked(true, false, false), Done, None, AcceptanceMet),
            (asked(true, true, true), Done, None, AcceptanceMet),
            (satisfied(asked(true, false, false)), Done, None, AlreadySatisfied),
            (satisfied(asked(false, false, false)), Blocked, Some(Cause::JudgeGaveUp), JudgeGaveUp),
            (asked(false, true, false), Continue, None, ContinueAsked),
            (asked(false, true, true), Continue, None, ContinueAsked),
            (asked(false, false, true), Replan, None, ReplanAsked),
            (asked(false, false, false), Blocked, Some(Cause::JudgeGaveUp), JudgeGaveUp),
            (
                Question { evidence: failing, ..asked(true, false, false) },
                Continue,
                None,
                EvidenceContradicts,
            ),
            (
                Question { evidence: wandering, ..asked(true, false, true) },
                Continue,
                None,
                EvidenceContradicts,
            ),
            (
                Question { attempts_run: 10, ..asked(false, true, false) },
                Blocked,
                Some(Cause::MaxIterations),
                MaxIterations,
            ),
            (Question { attempts_run: 10, ..asked(true, false, false) }, Done, None, AcceptanceMet),
            (Question { lineage_iteration: 1, ..asked(false, false, true) }, Replan, None, ReplanAsked),
            (
                Question { lineage_iteration: 2, ..asked(false, false, true) },
                Blocked,
                Some(Cause::MaxReplans),
                MaxReplans,
            ),
            (
                Question { config: off, ..asked(false, false, true) },
                Blocked,
                Some(Cause::ReplanningDisabled),
                ReplanningDisabled,
            ),
        ];
        for (question, outcome, cause, code) in table {
            let answer = decide(&question);
            assert_eq!(
                (answer.outcome, answer.cause, answer.reason.code),
                (outcome, cause, code),
                "{question:?}"
            );
        }
    }

    #[test]
    fn the_evidence_is_the_reason_where_it_contradicts() {
        for (failures, more) in [(5, ""), (6, " (+1)"), (7, " (+2)")] {
            let new_failures = (1..=failures).map(|n| format!("test_{n}")).collect();
            let evidence = Evidence { new_failures, scope_violations: vec!["ci.yml".to_string()] };
            let answer = decide(&Question { evidence, ..question(true, false, false) });
            let expected = format!(
                "the judge says done, the evidence does not: new failures: test_1, test_2, test_3, test_4, \
                 test_5{more}; outside the scope: ci.yml"
            );
            assert_eq!(answer.reason.text.in_lang(Lang::En), expected);
        }
    }

    #[test]
    fn the_judges_words_stand_behind_the_rule() {
        for (words, expected) in
            [("", "acceptance met"), (" \n", "acceptance met"), (" fine\n", "acceptance met: fine")]
        {
            let mut asked = question(true, false, false);
            asked.answer.reason = words.to_string();
            assert_eq!(decide(&asked).reason.text.in_lang(Lang::En), expected);
        }
    }

    proptest! {
        /// Catches evidence being looked at only where the judge doubts: no answer is done against evidence.
        #[test]
        fn nothing_is_done_against_the_evidence(
            flags in any::<(bool, bool, bool, bool)>(), new in 0usize..3, outside in 0usize..3,
        ) {
            let mut q = question(flags.0, flags.1, flags.2);
            q.answer.already_satisfied = flags.3;
            q.evidence.new_failures = vec!["f".to_string(); new];
            q.evidence.scope_violations = vec!["p".to_string(); outside];
            let clean = new == 0 && outside == 0;
            prop_assert_eq!(decide(&q).outcome == Outcome::Done, flags.0 && clean);
        }
    }
}
