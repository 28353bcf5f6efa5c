//! How often a plan may be revised while it runs, and when a person is needed instead.
//!
//! Two things end revising: the limit, and the return of an error that a revision was meant to cure. Invariant:
//! no sequence of errors leads to more than `max_revisions` revisions.

use crate::prelude::*;
use fixpoint_vocabulary::settings::RevisionSettings;
use fixpoint_vocabulary::{Cause, Reason};
use serde::{Deserialize, Serialize};

/// What is remembered of the revisions made.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Revisions {
    made: u32,
    meant_to_cure: BTreeSet<String>,
}

/// Why no further revision is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Code {
    RevisionsUsedUp,
    /// An error came back after the revision meant to cure it.
    SameErrorAgain,
}

/// What happens about an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RevisionDecision {
    /// Revise the plan; with a person's consent where that is configured.
    Revise {
        /// The number of this revision, from 1.
        number: u32,
        /// Whether a person must agree first.
        approval: Approval,
    },
    /// Pause the run and report.
    AskPerson {
        /// The cause the run pauses with.
        cause: Cause,
        reason: Reason<Code>,
    },
}

/// Whether a person must agree to a revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Approval {
    NotNeeded,
    /// Yes, within so many seconds; silence is a no.
    Within {
        seconds: u32,
    },
}

impl Revisions {
    /// Remembers a revision that was made to cure an error.
    pub(crate) fn record(&mut self, error: &str) {
        self.made += 1;
        self.meant_to_cure.insert(error.to_string());
    }

    /// Decides about a revision that is to cure an error.
    pub(crate) fn verdict(&self, error: &str, settings: &RevisionSettings) -> RevisionDecision {
        if self.meant_to_cure.contains(error) {
            return pause(Reason::new(
                Code::SameErrorAgain,
                "the same error came back after a revision meant to cure it",
                "修正後も同じエラーが発生しました",
            ));
        }
        if self.made >= settings.max_revisions {
            return pause(Reason::new(
                Code::RevisionsUsedUp,
                "no plan revisions are left",
                "計画修正の上限に達しました",
            ));
        }
        let approval = if settings.require_human_approval {
            Approval::Within { seconds: settings.approval_timeout }
        } else {
            Approval::NotNeeded
        };
        RevisionDecision::Revise { number: self.made + 1, approval }
    }
}

fn pause(reason: Reason<Code>) -> RevisionDecision {
    RevisionDecision::AskPerson { cause: Cause::RequiresHumanIntervention, reason }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Decides about a revision, and records it if it is made.
    fn ask(revisions: &mut Revisions, error: &str, settings: &RevisionSettings) -> RevisionDecision {
        let verdict = revisions.verdict(error, settings);
        if matches!(verdict, RevisionDecision::Revise { .. }) {
            revisions.record(error);
        }
        verdict
    }

    fn code(verdict: RevisionDecision) -> Result<u32, Code> {
        match verdict {
            RevisionDecision::Revise { number, .. } => Ok(number),
            RevisionDecision::AskPerson { cause, reason } => {
                assert_eq!(cause, Cause::RequiresHumanIntervention);
                Err(reason.code)
            }
        }
    }

    #[test]
    fn the_limit_and_the_returning_error() {
        let settings = RevisionSettings::default();
        let mut revisions = Revisions::default();
        assert_eq!(code(ask(&mut revisions, "no such file", &settings)), Ok(1));
        assert_eq!(code(ask(&mut revisions, "no such file", &settings)), Err(Code::SameErrorAgain));
        assert_eq!(code(ask(&mut revisions, "timeout", &settings)), Ok(2));
        assert_eq!(code(ask(&mut revisions, "permission", &settings)), Ok(3));
        assert_eq!(code(ask(&mut revisions, "another", &settings)), Err(Code::RevisionsUsedUp));
        assert_eq!(revisions.made, 3);
    }

    #[test]
    fn approval_is_asked_where_configured() {
        let settings = RevisionSettings { require_human_approval: true, ..Default::default() };
        let verdict = ask(&mut Revisions::default(), "e", &settings);
        assert_eq!(
            verdict,
            RevisionDecision::Revise { number: 1, approval: Approval::Within { seconds: 3600 } }
        );
    }

    proptest! {
        /// Catches a revision that is made and not counted, and `>=` turned into `>`.
        #[test]
        fn never_more_than_the_limit(errors in proptest::collection::vec("[a-d]", 0..30), max in 0u32..5) {
            let settings = RevisionSettings { max_revisions: max, ..Default::default() };
            let mut revisions = Revisions::default();
            let made = errors.iter().filter(|error| code(ask(&mut revisions, error, &settings)).is_ok()).count();
            prop_assert!(made as u32 <= max);
        }
    }
}
