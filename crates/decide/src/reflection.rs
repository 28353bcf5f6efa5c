//! Whether a reflection is due.

use fixpoint_vocabulary::settings::{ReflectAfter, ReflectionSettings};
use fixpoint_vocabulary::{Lang, Localize, Reason};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How an action ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ActionStatus {
    /// It did what it should.
    Success,
    /// It failed.
    Failure,
    /// It did some of it.
    Partial,
}

/// The action that ended last.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct LastAction {
    /// How it ended.
    pub status: ActionStatus,
    /// Whether its result is what was expected.
    pub matches_expectation: bool,
    /// Whether it changes something; assumed where it is not said.
    #[serde(default = "assumed")]
    pub changes_something: bool,
}

fn assumed() -> bool {
    true
}

/// How far execution has come.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct Question {
    /// Actions done so far, the last one included.
    pub actions_done: u64,
    /// The last one.
    pub last: LastAction,
    /// The `planning.reflection` section of the configuration.
    #[serde(default)]
    pub config: ReflectionSettings,
}

/// Why a reflection is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// The action failed.
    ActionFailed,
    /// Its result was not the expected one.
    UnexpectedResult,
    /// It is time again.
    IntervalReached,
}

/// Whether a reflection is due, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Answer {
    /// Whether a reflection is due.
    pub reflect: bool,
    /// What calls for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason<Code>>,
}

impl Localize for Answer {
    fn localize(&mut self, lang: Lang) {
        self.reason.localize(lang);
    }
}

/// Decides whether a reflection is due. Failures and unexpected results always call for one; `after: important` limits
/// only the regular ones.
pub fn decide(question: &Question) -> Answer {
    let reason = trigger(question).map(|code| {
        let (en, ja) = match code {
            Code::ActionFailed => ("the action failed", "アクションが失敗した"),
            Code::UnexpectedResult => ("the result is not the expected one", "期待と異なる結果"),
            Code::IntervalReached => ("regular reflection", "定期的な振り返り"),
        };
        Reason::new(code, en, ja)
    });
    Answer { reflect: reason.is_some(), reason }
}

fn trigger(question: &Question) -> Option<Code> {
    let Question { actions_done, last, config } = question;
    if !config.enabled {
        return None;
    }
    if config.trigger_on_error && last.status == ActionStatus::Failure {
        return Some(Code::ActionFailed);
    }
    if !last.matches_expectation {
        return Some(Code::UnexpectedResult);
    }
    let counts = match config.after {
        ReflectAfter::All => true,
        ReflectAfter::Important => last.changes_something,
    };
    // An interval of 0 is no interval: nothing but 0 is a multiple of it.
    let is_time = *actions_done > 0 && actions_done.is_multiple_of(u64::from(config.trigger_interval));
    (counts && is_time).then_some(Code::IntervalReached)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(actions_done: u64, status: ActionStatus, matches_expectation: bool) -> Question {
        let last = LastAction { status, matches_expectation, changes_something: false };
        Question { actions_done, last, config: ReflectionSettings::default() }
    }

    #[test]
    fn every_trigger() {
        use ActionStatus::{Failure, Partial, Success};
        let important = |mut question: Question, changes_something| {
            question.config.after = ReflectAfter::Important;
            question.last.changes_something = changes_something;
            question
        };
        let configured = |mut question: Question, change: fn(&mut ReflectionSettings)| {
            change(&mut question.config);
            question
        };
        let table = [
            (question(1, Success, true), None),
            (question(3, Success, true), Some(Code::IntervalReached)),
            (question(4, Partial, true), None),
            (question(0, Success, true), None),
            (question(1, Failure, true), Some(Code::ActionFailed)),
            (question(3, Failure, false), Some(Code::ActionFailed)),
            (question(1, Success, false), Some(Code::UnexpectedResult)),
            (important(question(3, Success, true), false), None),
            (important(question(3, Success, true), true), Some(Code::IntervalReached)),
            (important(question(1, Failure, true), false), Some(Code::ActionFailed)),
            (configured(question(3, Success, true), |c| c.trigger_interval = 0), None),
            (configured(question(1, Failure, true), |c| c.trigger_on_error = false), None),
            (configured(question(3, Failure, false), |c| c.enabled = false), None),
        ];
        for (question, expected) in table {
            let answer = decide(&question);
            assert_eq!(answer.reason.map(|reason| reason.code), expected, "{question:?}");
            assert_eq!(answer.reflect, expected.is_some());
        }
    }

    #[test]
    fn an_action_that_does_not_say_so_is_taken_to_change_something() {
        let unsaid = r#"{"status":"success","matches_expectation":true}"#;
        let expected =
            LastAction { status: ActionStatus::Success, matches_expectation: true, changes_something: true };
        assert_eq!(serde_json::from_str::<LastAction>(unsaid).unwrap(), expected);
    }
}
