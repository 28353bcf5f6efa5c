//! Settings out of environment variables.
//!
//! Owns their names: six short ones, and `FIXPOINT_` with the path of any key, `__` between its levels.
//! Refuses to read the environment itself.
//!
//! Invariant: a `FIXPOINT_` variable is a setting, reserved, or an error; a misspelt one is never ignored.

use std::ffi::{OsStr, OsString};

use super::assign::descend;
use super::error::ConfigError;
use super::legacy::OldNames;
use super::origin::Origin;
use crate::shape::names::nearest;
use crate::shape::rule::{Kind, Rule};
use crate::text::{TextError, TextErrorKind};
use crate::tree::Node;

const PREFIX: &str = "FIXPOINT_";
const BETWEEN_LEVELS: &str = "__";

/// Variables that begin like settings and are none.
pub const RESERVED_VARIABLES: [&str; 8] = [
    "FIXPOINT_ATTEMPT",
    "FIXPOINT_CHECK_ID",
    "FIXPOINT_DECISION_FILE",
    "FIXPOINT_LANG",
    "FIXPOINT_LOG",
    "FIXPOINT_PROMPT_FILE",
    "FIXPOINT_RUN",
    "FIXPOINT_STAGE",
];

/// Short names, with the keys they stand for.
const SHORT: [(&str, &[&str]); 6] = [
    ("PLANNING_ENABLED", &["planning", "enabled"]),
    ("PLANNING_STRATEGY", &["planning", "strategy"]),
    ("PLANNING_MAX_SUBTASKS", &["planning", "max_subtasks"]),
    ("REFLECTION_ENABLED", &["planning", "reflection", "enabled"]),
    ("REFLECTION_INTERVAL", &["planning", "reflection", "trigger_interval"]),
    ("MAX_PLAN_REVISIONS", &["planning", "revision", "max_revisions"]),
];

/// A variable that is set to something.
struct Variable<'env> {
    name: &'env str,
    value: &'env OsStr,
    rank: Rank,
    keys: Vec<String>,
}

/// Weakest first. A deeper key says more than a whole section in one variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Short,
    Full { depth: usize },
}

/// The trees of all variables that are settings, weakest first, or for each why it is none.
pub(super) fn all(
    environment: &[(OsString, OsString)],
    root: &Rule,
    old: &OldNames,
) -> Vec<Result<(Origin, Node), ConfigError>> {
    // A name that is no text is none of ours.
    let mut variables: Vec<Variable<'_>> =
        environment.iter().filter_map(|(name, value)| variable(name.to_str()?, value)).collect();
    // The environment has no order of its own, so names decide between what is otherwise equal.
    variables.sort_by(|left, right| (left.rank, left.name).cmp(&(right.rank, right.name)));
    variables
        .into_iter()
        .map(|variable| {
            let name = variable.name.to_owned();
            let keys = old.redirect(variable.keys);
            let Ok(target) = descend(root, &keys) else {
                let nearest = nearest_variable(&name, root);
                return Err(ConfigError::UnknownVariable { variable: name, nearest });
            };
            let origin = Origin::Environment { variable: name };
            let not_text = TextError { mark: None, kind: TextErrorKind::NotUtf8 };
            match variable.value.to_str().ok_or(not_text).and_then(|value| target.tree(value)) {
                Ok(node) => Ok((origin, node)),
                Err(error) => Err(ConfigError::Text { origin, error }),
            }
        })
        .collect()
}

/// A variable as far as its name is concerned; nothing if it is not about settings, reserved or empty.
fn variable<'env>(name: &'env str, value: &'env OsStr) -> Option<Variable<'env>> {
    if value.to_str().is_some_and(|value| value.trim().is_empty()) {
        return None;
    }
    if let Some((_, keys)) = SHORT.iter().find(|(short, _)| *short == name) {
        let keys = keys.iter().map(|key| (*key).to_owned()).collect();
        return Some(Variable { name, value, rank: Rank::Short, keys });
    }
    let upper = name.to_ascii_uppercase();
    if RESERVED_VARIABLES.contains(&upper.as_str()) {
        return None;
    }
    let keys: Vec<String> =
        upper.strip_prefix(PREFIX)?.split(BETWEEN_LEVELS).map(str::to_ascii_lowercase).collect();
    Some(Variable { name, value, rank: Rank::Full { depth: keys.len() }, keys })
}

fn nearest_variable(name: &str, root: &Rule) -> Option<String> {
    let mut known = Vec::new();
    collect(root, PREFIX, &mut known);
    nearest(name, known.iter().map(String::as_str)).map(str::to_owned)
}

/// The names of all variables below a rule.
fn collect(rule: &Rule, prefix: &str, known: &mut Vec<String>) {
    let Kind::Record(record) = &rule.kind else { return };
    for (name, field) in &record.fields {
        let variable = format!("{prefix}{}", name.to_ascii_uppercase());
        collect(&field.rule, &format!("{variable}{BETWEEN_LEVELS}"), known);
        known.push(variable);
    }
}
