//! What an attempt changed, compared with what it may change.
//!
//! Owns the comparison of trees with the scope, and of ignored files with the denied paths: an agent that edits a file
//! that git ignores is caught all the same.

use std::collections::{BTreeMap, BTreeSet};

use fixpoint_decide::scope::{Rule, ScopeGuard};
use fixpoint_ports::{ChangeKind, CommitId, FileChange, FileState, Slot, UntrackedFile};
use fixpoint_vocabulary::prepared::PreparedAttempt;
use fixpoint_vocabulary::settings::ScopeSettings;
use fixpoint_vocabulary::work::ProtectedChange;

use crate::ExecutionContext;
use crate::error::ExecuteError;
use crate::path_text::path_text;

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Findings {
    pub(crate) violations: Vec<String>,
    pub(crate) revertible: Vec<String>,
    pub(crate) protected: Vec<ProtectedChange>,
    /// The commit that has the protected files as they were, where that is not the base of the task.
    pub(crate) protected_from: Option<CommitId>,
}

impl Findings {
    /// Adds changes at or below submodules. They are not copied into workspaces, so no attempt can know what is there.
    pub(crate) fn add_submodules(&mut self, changed: &[FileChange]) {
        let is_submodule = |change: &&FileChange| change.kind == ChangeKind::Submodule;
        let submodules: Vec<&[u8]> =
            changed.iter().filter(is_submodule).map(|change| change.path.as_slice()).collect();
        let is_inside = |path: &[u8]| {
            let rest = submodules.iter().find_map(|submodule| path.strip_prefix(*submodule));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
        };
        for change in changed.iter().filter(|change| is_inside(&change.path)) {
            let path = path_text(&change.path);
            if !self.violations.contains(&path) {
                self.violations.push(path.clone());
                self.revertible.push(path);
            }
        }
    }
}

impl ExecutionContext {
    /// The ignored files that must not change, as they are now.
    pub(crate) fn guarded_files(&self, slot: &dyn Slot) -> Result<Vec<UntrackedFile>, ExecuteError> {
        let scope = &self.spec.settings.scope;
        if scope.denied_paths.is_empty() {
            return Ok(Vec::new());
        }
        let denied = ScopeGuard::new(&ScopeSettings {
            denied_paths: scope.denied_paths.clone(),
            ..ScopeSettings::default()
        });
        let is_denied =
            |path: &[u8]| denied.check([(path, None)]).iter().any(|breach| breach.rule == Rule::DeniedPaths);
        Ok(slot.untracked_files(&is_denied)?)
    }

    /// The guarded files that were changed, added or removed.
    pub(crate) fn touched(
        &self,
        before: &[UntrackedFile],
        slot: &dyn Slot,
    ) -> Result<Vec<Vec<u8>>, ExecuteError> {
        let after = self.guarded_files(slot)?;
        let by_path = |files: &[UntrackedFile]| -> BTreeMap<Vec<u8>, FileState> {
            files.iter().map(|file| (file.path.clone(), file.state.clone())).collect()
        };
        let (before, after) = (by_path(before), by_path(&after));
        let gone_or_other = before.iter().filter(|(path, state)| after.get(*path) != Some(state));
        let new = after.iter().filter(|(path, _)| !before.contains_key(*path));
        let touched: BTreeSet<Vec<u8>> = gone_or_other.chain(new).map(|(path, _)| path.clone()).collect();
        Ok(touched.into_iter().collect())
    }

    pub(crate) fn measure(
        &self,
        attempt: &PreparedAttempt,
        commit: &CommitId,
        changed: &[FileChange],
        touched: &[Vec<u8>],
    ) -> Result<Findings, ExecuteError> {
        let guard = ScopeGuard::new(&self.spec.settings.scope);
        let mut findings = Findings::default();
        for breach in guard.check(changed.iter().map(|change| (change.path.as_slice(), change.lines))) {
            match breach.path {
                Some(path) => {
                    findings.violations.push(path_text(path));
                    findings.revertible.push(path_text(path));
                }
                None => findings.violations.push(budget_name(breach.rule).to_string()),
            }
        }
        for path in touched.iter().filter(|path| !changed.iter().any(|change| change.path == **path)) {
            // What is in no commit cannot be reverted.
            findings.violations.push(path_text(path));
        }
        (findings.protected, findings.protected_from) = self.protected(attempt, commit, changed)?;
        Ok(findings)
    }
}

fn budget_name(rule: Rule) -> &'static str {
    match rule {
        Rule::MaxChangedFiles => "max_changed_files",
        Rule::MaxChangedLines => "max_changed_lines",
        Rule::OwnConfiguration | Rule::NotATreePath | Rule::DeniedPaths | Rule::AllowedPaths => "scope",
    }
}
