//! What the agent did in the attempts of a task that did not succeed, as the headline of its diagnosis.
//!
//! The first that holds is said: what was done to the checks outweighs that nothing was done, and that outweighs how
//! the failures changed. Invariant: "changed nothing" is said only of an agent that left every tree as it was and whose
//! changes were not reverted either.

use std::collections::BTreeSet;

use fixpoint_decide::progress::ProgressKind;
use fixpoint_vocabulary::work::{FailureId, ProtectedChange, ProtectedEdit, ProtectedRole};

use super::TaskExplainer;
use crate::history::Iteration;

/// Files that a headline names.
const MOST_FILES: usize = 3;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Conduct {
    ChangedTests(String),
    ChangedDefinitions(String),
    ReachedForChecks(String),
    ChangedNothing,
    OnlyOutOfScope(String),
    /// The last attempt left what this earlier one had left.
    SameAsAttempt(u32),
    OtherFailures,
    NoProgress,
}

/// Whether an attempt left the tree that it began with, and nothing had to be reverted for that.
pub(super) fn changed_nothing(iteration: &Iteration) -> bool {
    is_tree_kept(iteration) && iteration.judged.outside.is_empty()
}

fn is_tree_kept(iteration: &Iteration) -> bool {
    let attempt = &iteration.judged.attempt;
    attempt.tree.is_some() && attempt.tree == attempt.base_tree
}

/// Whether everything that an attempt changed is out of scope.
fn is_out_of_scope(iteration: &Iteration) -> bool {
    let changed = iteration.attempt.as_ref().map_or(0, |made| made.result.changed_files);
    let outside = iteration.judged.outside.len();
    outside > 0 && (is_tree_kept(iteration) || outside as u64 >= changed)
}

fn named(names: &BTreeSet<String>) -> Option<String> {
    let shown = names.iter().take(MOST_FILES).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len() {
        0 => None,
        few if few <= MOST_FILES => Some(shown),
        many => Some(format!("{shown}, +{}", many - MOST_FILES)),
    }
}

impl TaskExplainer<'_> {
    pub(super) fn conduct(&self) -> Conduct {
        let iterations = &self.task.history.iterations;
        let changed = |role| named(&self.changes_of(role));
        if let Some(files) = changed(ProtectedRole::Test) {
            return Conduct::ChangedTests(files);
        }
        if let Some(files) = changed(ProtectedRole::Definition) {
            return Conduct::ChangedDefinitions(files);
        }
        if let Some(files) = changed(ProtectedRole::Interference) {
            return Conduct::ReachedForChecks(files);
        }
        if iterations.iter().all(changed_nothing) {
            return Conduct::ChangedNothing;
        }
        let is_useless = |iteration: &Iteration| changed_nothing(iteration) || is_out_of_scope(iteration);
        if iterations.iter().all(is_useless) {
            let outside = iterations.iter().flat_map(|iteration| iteration.judged.outside.iter().cloned());
            return Conduct::OnlyOutOfScope(named(&outside.collect()).unwrap_or_default());
        }
        let Some((last, earlier)) = iterations.split_last() else { return Conduct::NoProgress };
        let is_same = |iteration: &&Iteration| iteration.judged.attempt.tree == last.judged.attempt.tree;
        match (earlier.iter().find(is_same), last.judged.verdict.progress) {
            (Some(same), _) if !is_tree_kept(last) => Conduct::SameAsAttempt(same.number),
            (_, ProgressKind::Changed | ProgressKind::Oscillating) => Conduct::OtherFailures,
            (_, _) => Conduct::NoProgress,
        }
    }

    /// What was changed without permission, of one kind. New tests are named only where something passes just with them.
    fn changes_of(&self, role: ProtectedRole) -> BTreeSet<String> {
        let of = |iteration: &Iteration| -> Vec<String> {
            let is_weakened = iteration
                .judged
                .failures
                .iter()
                .any(|failure| matches!(failure.id(), FailureId::Weakened(_)));
            let counts = |change: &&ProtectedChange| {
                let is_new_test = role == ProtectedRole::Test && change.edit == ProtectedEdit::Added;
                change.role == role && !self.task.task.permits(change) && (is_weakened || !is_new_test)
            };
            let made = iteration.attempt.iter().flat_map(|made| &made.result.protected);
            made.filter(counts).map(|change| change.path.path().to_string()).collect()
        };
        self.task.history.iterations.iter().flat_map(of).collect()
    }

    /// The end of "The agent …".
    pub(super) fn conduct_words(&self) -> String {
        match self.conduct() {
            Conduct::ChangedTests(files) => self.without_progress(
                format!("changed tests ({files})"),
                format!("テストを変更しました（{files}）"),
            ),
            Conduct::ChangedDefinitions(files) => self.without_progress(
                format!("changed files that decide what the checks do ({files})"),
                format!("チェックの動作を決めるファイルを変更しました（{files}）"),
            ),
            Conduct::ReachedForChecks(files) => self.say(
                format!("wrote product code that changes or silences a check ({files})"),
                format!("チェックの動作や結果を変えるコードを製品に追加しました（{files}）"),
            ),
            Conduct::ChangedNothing => self.say("changed nothing", "何も変更しませんでした"),
            Conduct::OnlyOutOfScope(files) => self.say(
                format!("changed only files out of scope ({files})"),
                format!("範囲外のファイルだけを変更しました（{files}）"),
            ),
            Conduct::SameAsAttempt(number) => self.say(
                format!("repeated the changes of attempt {number}"),
                format!("試行{number}と同じ変更を繰り返しました"),
            ),
            Conduct::OtherFailures => self.say(
                "replaces failures with other failures and makes no more progress",
                "失敗を別の失敗に置き換えるだけで、これ以上進展していません",
            ),
            Conduct::NoProgress => self.say("makes no more progress", "これ以上進展していません"),
        }
    }

    /// What was done, and that it leads no further, if several attempts show that.
    fn without_progress(&self, en: String, ja: String) -> String {
        let iterations = &self.task.history.iterations;
        let progress = iterations.last().map(|last| last.judged.verdict.progress);
        if iterations.len() < 2 || progress == Some(ProgressKind::Progress) {
            return self.say(en, ja);
        }
        self.say(format!("{en} and makes no more progress"), format!("{ja}が、これ以上進展していません"))
    }

    /// A sentence about the conduct, where it says more than that there is no progress.
    pub(super) fn conduct_sentence(&self) -> Option<String> {
        let says_more = !matches!(self.conduct(), Conduct::NoProgress | Conduct::OtherFailures);
        says_more.then(|| {
            let words = self.conduct_words();
            self.say(format!(" The agent {words}."), format!("エージェントは{words}。"))
        })
    }
}
