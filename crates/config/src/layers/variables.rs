//! Settings from environment variables: six short names, and `FIXPOINT_` with the path of any key, `__` between levels.
//!
//! Invariant: a variable that begins with `FIXPOINT_` is a setting, reserved, or an error; a misspelt one is never ignored.

use std::ffi::{OsStr, OsString};

use super::error::ConfigError;
use super::old_names::OldNames;
use super::origin::Origin;
use super::set_argument::resolve;
use crate::schema::ProblemKind;
use crate::schema::names::nearest;
use crate::schema::rule::{Rule, ValueType};
use crate::tree::Node;

const PREFIX: &str = "FIXPOINT_";
const BETWEEN_LEVELS: &str = "__";

/// Variables that begin like settings and are not: `FIXPOINT_LANG` chooses the language, `FIXPOINT_TRUST` trusts every
/// repository, and Fixpoint sets the others for agents and checks.
pub const RESERVED_VARIABLES: [&str; 8] = [
    "FIXPOINT_ATTEMPT",
    "FIXPOINT_CHECK_ID",
    "FIXPOINT_DECISION_FILE",
    "FIXPOINT_LANG",
    "FIXPOINT_PROMPT_FILE",
    "FIXPOINT_RUN",
    "FIXPOINT_STAGE",
    "FIXPOINT_TRUST",
];

const SHORT_NAMES: [(&str, &[&str]); 6] = [
    ("PLANNING_ENABLED", &["planning", "enabled"]),
    ("PLANNING_STRATEGY", &["planning", "strategy"]),
    ("PLANNING_MAX_SUBTASKS", &["planning", "max_subtasks"]),
    ("REFLECTION_ENABLED", &["planning", "reflection", "enabled"]),
    ("REFLECTION_INTERVAL", &["planning", "reflection", "trigger_interval"]),
    ("MAX_PLAN_REVISIONS", &["planning", "revision", "max_revisions"]),
];

/// A variable that is set and not empty.
struct Variable<'env> {
    name: &'env str,
    value: &'env OsStr,
    rank: Rank,
    keys: Vec<String>,
}

/// Weakest first. A variable for one key is stronger than one for its section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Short,
    Full { depth: usize },
}

/// The tree of every variable that is a setting, weakest first; an error for every other one.
pub(super) fn all(
    environment: &[(OsString, OsString)],
    root: &Rule,
    old: &OldNames,
) -> Vec<Result<(Origin, Node), ConfigError>> {
    // A name that is not UTF-8 is not one of ours.
    let mut variables: Vec<Variable<'_>> =
        environment.iter().filter_map(|(name, value)| variable(name.to_str()?, value)).collect();
    // The environment has no order, so equal ranks are sorted by name.
    variables.sort_by(|left, right| (left.rank, left.name).cmp(&(right.rank, right.name)));
    variables
        .into_iter()
        .map(|variable| {
            let name = variable.name.to_owned();
            let keys = old.redirect(variable.keys);
            let origin = Origin::Environment { variable: name.clone() };
            let resolved = resolve(root, &keys).map_err(|problem| {
                if let ProblemKind::UnavailableKey { .. } = problem.kind {
                    ConfigError::invalid_value(&origin, &problem)
                } else {
                    ConfigError::UnknownVariable { nearest: nearest_variable(&name, root), variable: name }
                }
            })?;
            let Some(value) = variable.value.to_str() else {
                return Err(ConfigError::new(origin.place(None), "not valid UTF-8"));
            };
            match resolved.tree(value) {
                Ok(node) => Ok((origin, node)),
                Err(error) => Err(ConfigError::parsing(&origin, error)),
            }
        })
        .collect()
}

/// Nothing if the variable is not a setting by its name, is reserved, or is empty.
fn variable<'env>(name: &'env str, value: &'env OsStr) -> Option<Variable<'env>> {
    if value.to_str().is_some_and(|value| value.trim().is_empty()) {
        return None;
    }
    if let Some((_, keys)) = SHORT_NAMES.iter().find(|(short, _)| *short == name) {
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

/// A variable of a similar name, or the one of the only key that has this name in some section.
fn nearest_variable(name: &str, root: &Rule) -> Option<String> {
    let mut known = Vec::new();
    collect(root, PREFIX, &mut known);
    let similar = nearest(name, known.iter().map(String::as_str)).map(str::to_owned);
    let key = name.get(PREFIX.len()..).unwrap_or_default();
    let in_a_section = || match root.paths_of(key).as_slice() {
        [path] => Some(format!("{PREFIX}{}", path.to_ascii_uppercase().replace('.', BETWEEN_LEVELS))),
        _ => None,
    };
    similar.or_else(in_a_section)
}

fn collect(rule: &Rule, prefix: &str, known: &mut Vec<String>) {
    let ValueType::Record(record) = &rule.kind else { return };
    for (name, field) in &record.fields {
        let variable = format!("{prefix}{}", name.to_ascii_uppercase());
        collect(&field.rule, &format!("{variable}{BETWEEN_LEVELS}"), known);
        known.push(variable);
    }
}
