//! The scope guard: whether what an attempt changed lies within what its task may change.
//!
//! Owns the rules and their order. Refuses to find out what changed: the caller compares trees and gives every
//! path, whichever way it changed. Paths are bytes, as in git; text exists only where JSON is spoken. A denial
//! wins over everything that allows, and Fixpoint's own configuration is never within any scope, so no
//! attempt can loosen the rules it is judged by.

mod companions;

use fixpoint_vocabulary::Localize;
use fixpoint_vocabulary::settings::limits::MAX_GLOBS;
use fixpoint_vocabulary::settings::{Companion, ScopeSettings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::companions::{CompanionChanges, Companions};
use crate::glob::{PatternSet, is_tree_path};
use crate::prelude::*;

/// The directory of Fixpoint's own configuration.
const OWN_CONFIGURATION: &[u8] = b".fixpoint";

/// Whether a set of changes lies within a scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    /// Everything that changed.
    pub changed: Vec<Changed>,
    /// Globs as in `.gitignore` of what may change; empty for everything.
    #[schemars(length(max = MAX_GLOBS))]
    pub allowed_paths: Vec<String>,
    /// Globs of what may not change, whatever is allowed.
    #[serde(default)]
    #[schemars(length(max = MAX_GLOBS))]
    pub denied_paths: Vec<String>,
    /// Files that may change, at most; absent for no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_changed_files: Option<u64>,
    /// Lines that may change, at most; absent for no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_changed_lines: Option<u64>,
    /// Files that may change along with another, beside the known lock files.
    #[serde(default)]
    pub companions: Vec<Companion>,
}

/// One changed path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
pub struct Changed {
    /// The path from the root of the repository.
    pub path: String,
    /// How many of its lines changed; absent when that cannot be counted, as in a picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<u64>,
}

/// What lies outside the scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// At most one violation for each path, in the order the paths were given, then those of the budgets.
    pub violations: Vec<Violation>,
    /// Whether there is no violation.
    pub ok: bool,
}

/// One way in which the changes leave the scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Violation {
    /// The path that may not change; absent when a budget is exceeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The rule that was broken.
    pub rule: Rule,
    /// The glob that denies the path; absent for the other rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
}

/// The rules of a scope, called as the settings they come from. The first in this order that a path breaks is the one reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// Fixpoint's own configuration never changes as part of the work.
    OwnConfiguration,
    /// The path cannot lie in a repository's tree: it is empty, absolute, or has an empty part, `.` or `..`.
    NotATreePath,
    /// A denied glob covers the path.
    DeniedPaths,
    /// No allowed glob covers the path.
    AllowedPaths,
    /// More files changed than may.
    MaxChangedFiles,
    /// More lines changed than may.
    MaxChangedLines,
}

impl Localize for Answer {}

pub fn decide(question: &Question) -> Answer {
    let guard = ScopeGuard::new(&ScopeSettings {
        allowed_paths: question.allowed_paths.clone(),
        denied_paths: question.denied_paths.clone(),
        max_changed_files: question.max_changed_files,
        max_changed_lines: question.max_changed_lines,
        companions: question.companions.clone(),
        ..ScopeSettings::default()
    });
    let violations =
        guard.check(question.changed.iter().map(|changed| (changed.path.as_bytes(), changed.lines)));
    let violations: Vec<Violation> = violations
        .into_iter()
        .map(|violation| Violation {
            path: violation.path.map(|path| String::from_utf8_lossy(path).into_owned()),
            rule: violation.rule,
            pattern: violation.pattern.map(ToString::to_string),
        })
        .collect();
    Answer { ok: violations.is_empty(), violations }
}

/// A scope, compiled once and asked as often as needed.
#[derive(Debug, Clone)]
pub struct ScopeGuard {
    allowed: PatternSet,
    denied: PatternSet,
    denied_globs: Vec<String>,
    max_changed_files: Option<u64>,
    max_changed_lines: Option<u64>,
    companions: Companions,
}

/// A violation over bytes, borrowed from the changes and the guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScopeViolation<'a> {
    /// The path that may not change; `None` when a budget is exceeded.
    pub path: Option<&'a [u8]>,
    pub rule: Rule,
    /// The glob that denies the path.
    pub pattern: Option<&'a str>,
}

/// Where a path lies, before companions are considered.
enum Place<'a> {
    Inside,
    /// Outside what is allowed, which a companion may excuse.
    Outside(&'a [u8]),
    /// Where nothing excuses it.
    Barred(ScopeViolation<'a>),
}

impl ScopeGuard {
    pub fn new(settings: &ScopeSettings) -> Self {
        Self {
            allowed: PatternSet::new(&settings.allowed_paths),
            denied: PatternSet::new(&settings.denied_paths),
            denied_globs: settings.denied_paths.clone(),
            max_changed_files: settings.max_changed_files,
            max_changed_lines: settings.max_changed_lines,
            companions: Companions::new(&settings.companions),
        }
    }

    /// Everything in which changes, given as paths and numbers of lines, leave the scope: at most one violation for
    /// each path, in the order given, then those of the budgets. A path given twice counts once.
    pub fn check<'a>(
        &'a self,
        changed: impl IntoIterator<Item = (&'a [u8], Option<u64>)>,
    ) -> Vec<ScopeViolation<'a>> {
        let mut lines: u64 = 0;
        let mut files = BTreeSet::new();
        let mut manifests = Vec::new();
        let mut places = Vec::new();
        for (path, changed_lines) in changed {
            lines = lines.saturating_add(changed_lines.unwrap_or(0));
            if files.insert(path) {
                let place = self.place(path);
                if let Place::Inside = place {
                    manifests.push(path);
                }
                places.push(place);
            }
        }
        let excused = self.companions.excused(&manifests);
        let mut violations: Vec<ScopeViolation<'a>> =
            places.into_iter().filter_map(|place| self.violation(place, &excused)).collect();
        let files = u64::try_from(files.len()).unwrap_or(u64::MAX);
        let budgets = [
            (files, self.max_changed_files, Rule::MaxChangedFiles),
            (lines, self.max_changed_lines, Rule::MaxChangedLines),
        ];
        let exceeded =
            budgets.into_iter().filter(|(spent, limit, _)| limit.is_some_and(|limit| *spent > limit));
        violations.extend(exceeded.map(|(_, _, rule)| ScopeViolation { path: None, rule, pattern: None }));
        violations
    }

    fn place<'a>(&'a self, path: &'a [u8]) -> Place<'a> {
        let barred = |rule, pattern| Place::Barred(ScopeViolation { path: Some(path), rule, pattern });
        if is_own_configuration(path) {
            return barred(Rule::OwnConfiguration, None);
        }
        if !is_tree_path(path) {
            return barred(Rule::NotATreePath, None);
        }
        if let Some(index) = self.denied.matches_file(path).covering() {
            return barred(Rule::DeniedPaths, self.denied_globs.get(index).map(String::as_str));
        }
        if self.allowed.is_empty() || self.allowed.matches_file(path).covering().is_some() {
            Place::Inside
        } else {
            Place::Outside(path)
        }
    }

    fn violation<'a>(&self, place: Place<'a>, excused: &CompanionChanges<'_>) -> Option<ScopeViolation<'a>> {
        match place {
            Place::Inside => None,
            Place::Barred(violation) => Some(violation),
            Place::Outside(path) if self.companions.excuse(path, excused) => None,
            Place::Outside(path) => {
                Some(ScopeViolation { path: Some(path), rule: Rule::AllowedPaths, pattern: None })
            }
        }
    }
}

/// Whether a path is Fixpoint's configuration or below it. Case makes no difference, because on some file systems
/// `.Fixpoint` is the same directory.
fn is_own_configuration(path: &[u8]) -> bool {
    path.split(|&byte| byte == b'/').next().is_some_and(|first| first.eq_ignore_ascii_case(OWN_CONFIGURATION))
}

#[cfg(test)]
mod tests;
