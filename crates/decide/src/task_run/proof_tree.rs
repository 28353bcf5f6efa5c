//! The trees in which an attempt is proven: its own, with tests and check definitions as at the base.
//!
//! Owns which of an attempt's changes are put back. An attempt that changes a test, or something that decides what a
//! check does, must pass without that change too; otherwise the change is what made it pass. A goal that ran no test at
//! the base has only the tests that the attempt added, so it is proven with them; the guards never are. Invariant: the
//! last run of every check before an attempt is accepted is in such a tree, in a workspace no agent's code has touched.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use fixpoint_vocabulary::work::{
    CheckProblem, Command, CommitId, FailureId, Leftovers, ProtectedChange, ProtectedEdit, ProtectedRole,
    ReportedFailure, RestorePaths, RestoredPath,
};
use fixpoint_vocabulary::{Redacted, Redactor};
use serde::{Deserialize, Serialize};

use super::evaluation::Evaluation;
use super::{Decision, TaskActivity, TaskRun, TestEdits};

/// Changed files that a message names; more are counted.
const NAMED_FILES: usize = 5;

/// The commits in which goals and guards are proven, once they are made. Both are the attempt's own commit where it
/// changed nothing that is protected.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct ProofTrees {
    pub(super) goals: Option<CommitId>,
    pub(super) guards: Option<CommitId>,
}

/// Which tree a check runs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TreeKind {
    /// The attempt's own, where caches of earlier checks may be used.
    Own,
    /// The proof tree.
    Proof,
}

impl TreeKind {
    pub(super) const fn leftovers(self) -> Leftovers {
        match self {
            Self::Own => Leftovers::Kept,
            Self::Proof => Leftovers::Pristine,
        }
    }
}

impl TaskRun {
    /// The changes of tests and definitions that nobody permitted.
    pub(super) fn unpermitted<'a>(
        &self,
        evaluation: &'a Evaluation,
    ) -> impl Iterator<Item = &'a ProtectedChange> {
        let test_edits = self.options.test_edits;
        evaluation.protected.iter().filter(move |change| !is_permitted(test_edits, change))
    }

    /// The changes of tests and definitions that somebody permitted.
    pub(super) fn permitted(&self, evaluation: &Evaluation) -> Vec<ProtectedChange> {
        let changes = evaluation.protected.iter();
        let is_in_result = |change: &&ProtectedChange| change.role != ProtectedRole::LeftOut;
        changes.filter(is_in_result).filter(|change| self.permits(change)).cloned().collect()
    }

    /// Whether a goal ran no test at the base, so that the tests it runs now are the attempt's.
    fn has_new_goal(&self) -> bool {
        let ran_none = |id: &FailureId| {
            matches!(id, FailureId::Check { problem: CheckProblem::NoTestsRan | CheckProblem::NotFound, .. })
        };
        self.goals().iter().filter_map(|goal| self.baseline.checks.get(goal)).any(|goal| {
            let mut failing = goal.failing.iter().flatten();
            goal.counted == 0 && goal.failing_tests().next().is_none() && failing.any(ran_none)
        })
    }

    fn restored_for_guards(&self, evaluation: &Evaluation) -> Vec<RestoredPath> {
        self.unpermitted(evaluation).map(|change| change.path.clone()).collect()
    }

    fn restored_for_goals(&self, evaluation: &Evaluation) -> Vec<RestoredPath> {
        let keeps_added = self.has_new_goal();
        let is_kept = |change: &&ProtectedChange| {
            keeps_added && change.role == ProtectedRole::Test && change.edit == ProtectedEdit::Added
        };
        let restored = self.unpermitted(evaluation).filter(|change| !is_kept(change));
        restored.map(|change| change.path.clone()).collect()
    }

    /// Whether the guards are proven in another tree than the attempt's own.
    pub(super) fn has_proof_tree(&self, evaluation: &Evaluation) -> bool {
        self.unpermitted(evaluation).next().is_some()
    }

    /// The commit in which the goals are proven, or what makes it.
    pub(super) fn goal_tree(&self, evaluation: &Evaluation) -> Result<CommitId, RestorePaths> {
        self.tree(evaluation, evaluation.proof_trees.goals.as_ref(), self.restored_for_goals(evaluation))
    }

    /// The same for the guards.
    pub(super) fn guard_tree(&self, evaluation: &Evaluation) -> Result<CommitId, RestorePaths> {
        self.tree(evaluation, evaluation.proof_trees.guards.as_ref(), self.restored_for_guards(evaluation))
    }

    fn tree(
        &self,
        evaluation: &Evaluation,
        made: Option<&CommitId>,
        paths: Vec<RestoredPath>,
    ) -> Result<CommitId, RestorePaths> {
        if let Some(commit) = made {
            return Ok(commit.clone());
        }
        if paths.is_empty() {
            return Ok(evaluation.commit.clone());
        }
        let (onto, from) = (evaluation.commit.clone(), evaluation.protected_from.clone());
        Err(RestorePaths { onto, from, paths })
    }

    pub(super) fn build_proof_tree(restore: RestorePaths) -> Decision {
        Decision::execute(TaskActivity::BuildingProofTree, Command::RestorePaths(restore))
    }

    /// A proof tree was made: what it was made for goes on.
    pub(super) fn after_proof_tree(&self, evaluation: &Evaluation) -> Decision {
        let goals_are_proven = self.goals().is_empty() || !evaluation.proof_goal_runs.is_empty();
        if goals_are_proven { self.run_guards(evaluation) } else { self.run_goals(evaluation) }
    }

    /// Folds a proof tree that was made. Goals come first; where the guards need the same tree, it is theirs too.
    pub(super) fn record_proof_tree(&mut self, commit: &CommitId) {
        let Some(evaluation) = &self.evaluation else { return };
        let for_goals = self.restored_for_goals(evaluation);
        let is_of_goals =
            !self.goals().is_empty() && evaluation.proof_trees.goals.is_none() && !for_goals.is_empty();
        let is_of_guards = !is_of_goals || for_goals == self.restored_for_guards(evaluation);
        if let Some(evaluation) = &mut self.evaluation {
            if is_of_goals {
                evaluation.proof_trees.goals = Some(commit.clone());
            }
            if is_of_guards {
                evaluation.proof_trees.guards = Some(commit.clone());
            }
        }
    }

    /// Product code of the attempt that changes or silences a check: with it, a check that passes shows nothing.
    pub(super) fn interferences(&self, evaluation: &Evaluation) -> Vec<ReportedFailure> {
        let is_one = |change: &&ProtectedChange| change.role == ProtectedRole::Interference;
        let failure = |change: &ProtectedChange| {
            let path = change.path.path().to_owned();
            let id = FailureId::Weakened(alloc::boxed::Box::new(FailureId::Declared(path.clone())));
            let file = described(change);
            let message = format!(
                "changes or silences a check, so no check can prove this code: {file}; remove that, or permit the file \
                 with `scope.definitions`"
            );
            ReportedFailure::new(id, Redactor::default().redact(&message)).at(Some(path))
        };
        self.unpermitted(evaluation).filter(is_one).map(failure).collect()
    }

    /// A failure that the attempt's own tests or definitions hide, with the files that do.
    pub(super) fn weakened(&self, evaluation: &Evaluation, id: FailureId) -> ReportedFailure {
        let mut changes: Vec<&ProtectedChange> = self.unpermitted(evaluation).collect();
        // A new test makes no other pass; it is named only where there is nothing else.
        let is_new_test = |change: &&ProtectedChange| {
            change.role == ProtectedRole::Test && change.edit == ProtectedEdit::Added
        };
        if !changes.iter().all(is_new_test) {
            changes.retain(|change| !is_new_test(change));
        }
        let place = changes.first().map(|change| change.path.path().to_owned());
        let id = FailureId::Weakened(alloc::boxed::Box::new(id));
        ReportedFailure::new(id, weakened_message(&changes)).at(place)
    }
}

/// Whether somebody permitted a change of tests or definitions.
pub(crate) fn is_permitted(test_edits: TestEdits, change: &ProtectedChange) -> bool {
    let is_allowed_test = test_edits == TestEdits::Allowed && change.role == ProtectedRole::Test;
    change.is_permitted || is_allowed_test
}

fn weakened_message(changes: &[&ProtectedChange]) -> Redacted {
    let named: Vec<String> = changes.iter().take(NAMED_FILES).map(|change| described(change)).collect();
    let more = match changes.len().saturating_sub(NAMED_FILES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let files = named.join(", ");
    Redactor::default().redact(&format!("passes only with the changes in {files}{more}"))
}

/// `tests/a.py (edited)`, `package.json (edited: scripts.test)`.
pub fn described(change: &ProtectedChange) -> String {
    let edit = match change.edit {
        ProtectedEdit::Added => "added",
        ProtectedEdit::Edited => "edited",
        ProtectedEdit::Deleted => "deleted",
    };
    match change.what.as_str() {
        "" => format!("{} ({edit})", change.path.path()),
        what => format!("{} ({edit}: {what})", change.path.path()),
    }
}
