//! Whether a tool may be used: allowed, forbidden, or only with a person's consent.
//!
//! Owns the order of the three lists. Refuses to run anything or to ask anyone: it answers, others act. When in
//! doubt the answer is the stricter one: a rule that forbids or asks and is empty or malformed catches every tool,
//! so that a slip of the pen is noticed at once instead of opening a door; one that allows then allows nothing.

use fixpoint_vocabulary::Localize;
use fixpoint_vocabulary::settings::{ApprovalRule, ApprovalWhen, BranchKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::glob::NameGlob;
use crate::prelude::*;

/// Whether one tool may be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    /// The name of the tool.
    pub tool: String,
    /// Globs of the tools that may be used; empty for all that are neither forbidden nor to be asked for.
    #[serde(default)]
    pub allowed_tools: Vec<String>,
    /// Globs of the tools that may never be used. They win over everything.
    #[serde(default)]
    pub forbidden_tools: Vec<String>,
    /// Tools a person must agree to.
    #[serde(default)]
    pub require_approval: Vec<ApprovalRule>,
    /// Whether the tool would change the repository's default branch; absent when that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_default_branch: Option<bool>,
}

/// Whether the tool may be used, and what decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// What to do.
    pub verdict: Permission,
    /// The glob that decided; absent when none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

/// What to do about the use of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    /// Let it be used.
    Allow,
    /// Refuse it.
    Forbid,
    /// Ask a person first.
    Ask,
}

impl Localize for Answer {}

/// Decides whether a tool may be used: first what forbids, then what asks, then what allows; a tool that no
/// rule is about may be used only when nothing is listed as allowed.
pub fn decide(question: &Question) -> Answer {
    let tool = question.tool.as_bytes();
    let answer = |verdict, rule: Option<&String>| Answer { verdict, rule: rule.cloned() };
    if let Some(rule) = question.forbidden_tools.iter().find(|rule| restricts(rule, tool)) {
        return answer(Permission::Forbid, Some(rule));
    }
    let mut in_force =
        question.require_approval.iter().filter_map(|rule| glob_in_force(rule, question.on_default_branch));
    if let Some(rule) = in_force.find(|rule| restricts(rule, tool)) {
        return answer(Permission::Ask, Some(rule));
    }
    if question.allowed_tools.is_empty() {
        return answer(Permission::Allow, None);
    }
    match question.allowed_tools.iter().find(|rule| allows(rule, tool)) {
        Some(rule) => answer(Permission::Allow, Some(rule)),
        None => answer(Permission::Forbid, None),
    }
}

/// The glob of an approval rule, unless it is known that its condition does not hold.
fn glob_in_force(rule: &ApprovalRule, on_default_branch: Option<bool>) -> Option<&String> {
    match rule {
        ApprovalRule::Tool(tool) => Some(tool),
        ApprovalRule::Conditional { tool, when: ApprovalWhen { branch: BranchKind::Default } } => {
            on_default_branch.unwrap_or(true).then_some(tool)
        }
    }
}

fn restricts(rule: &str, tool: &[u8]) -> bool {
    NameGlob::new(rule).map_or(true, |glob| glob.matches(tool))
}

fn allows(rule: &str, tool: &[u8]) -> bool {
    NameGlob::new(rule).is_ok_and(|glob| glob.matches(tool))
}

#[cfg(test)]
mod tests {
    use crate::prelude::*;
    use fixpoint_vocabulary::settings::{ApprovalRule, ApprovalWhen, BranchKind};

    use super::{Answer, Permission, Question, decide};

    fn owned(globs: &[&str]) -> Vec<String> {
        globs.iter().map(|&glob| glob.to_string()).collect()
    }

    /// Rules written with `@` in front hold on the default branch only.
    fn approval(rule: &&str) -> ApprovalRule {
        match rule.strip_prefix('@') {
            None => ApprovalRule::Tool((*rule).to_string()),
            Some(tool) => ApprovalRule::Conditional {
                tool: tool.to_string(),
                when: ApprovalWhen { branch: BranchKind::Default },
            },
        }
    }

    fn ask(tool: &str, forbidden: &[&str], asked: &[&str], allowed: &[&str], on: Option<bool>) -> Answer {
        decide(&Question {
            tool: tool.to_string(),
            allowed_tools: owned(allowed),
            forbidden_tools: owned(forbidden),
            require_approval: asked.iter().map(approval).collect(),
            on_default_branch: on,
        })
    }

    #[test]
    fn forbidding_comes_before_asking_before_allowing() {
        use Permission::{Allow, Ask, Forbid};
        type Row<'a> = (&'a str, &'a [&'a str], &'a [&'a str], &'a [&'a str], Permission, Option<&'a str>);
        let rows: &[Row<'_>] = &[
            // tool, forbidden, to be asked for, allowed, verdict, rule
            ("read", &[], &[], &[], Allow, None),
            ("read", &[], &[], &["read"], Allow, Some("read")),
            ("read", &[], &[], &["write", "r*"], Allow, Some("r*")),
            ("read", &[], &[], &["write"], Forbid, None),
            ("read", &["read"], &["read"], &["read"], Forbid, Some("read")),
            ("read", &[], &["read"], &["read"], Ask, Some("read")),
            ("read", &[], &["read"], &["write"], Ask, Some("read")),
            ("read", &["write", "r?ad", "*"], &[], &[], Forbid, Some("r?ad")),
            // Upper and lower case differ.
            ("Read", &["read"], &[], &[], Allow, None),
            ("bulkDelete", &[], &["*[Dd]elete*"], &[], Ask, Some("*[Dd]elete*")),
            ("Read", &[], &[], &["read"], Forbid, None),
            // Names with slashes are names, and a glob is about the whole of one.
            ("github/repos/delete", &["*delete"], &[], &[], Forbid, Some("*delete")),
            ("undelete_all", &["delete"], &[], &[], Allow, None),
            // What is empty or malformed restricts everything and allows nothing.
            ("read", &[""], &[], &[], Forbid, Some("")),
            ("read", &["[rw"], &[], &[], Forbid, Some("[rw")),
            ("read", &[], &[" "], &[], Ask, Some(" ")),
            ("read", &[], &["x\\"], &["read"], Ask, Some("x\\")),
            ("read", &[], &[], &[""], Forbid, None),
            ("read", &[], &[], &["[r"], Forbid, None),
            ("read", &[" read "], &[], &[], Forbid, Some(" read ")),
        ];
        for &(tool, forbidden, asked, allowed, verdict, rule) in rows {
            let expected = Answer { verdict, rule: rule.map(ToString::to_string) };
            assert_eq!(
                ask(tool, forbidden, asked, allowed, None),
                expected,
                "{tool} {forbidden:?} {asked:?}"
            );
        }
    }

    #[test]
    fn a_condition_is_taken_to_hold_unless_it_is_known_not_to() {
        let rows: &[(&[&str], Option<bool>, Permission)] = &[
            (&["@push"], Some(true), Permission::Ask),
            (&["@push"], None, Permission::Ask),
            (&["@push"], Some(false), Permission::Allow),
            (&["@push", "push"], Some(false), Permission::Ask),
            (&["@merge"], Some(true), Permission::Allow),
            (&["@["], Some(true), Permission::Ask),
            (&["@["], Some(false), Permission::Allow),
            (&["push"], Some(false), Permission::Ask),
        ];
        for &(asked, on_default_branch, verdict) in rows {
            assert_eq!(ask("push", &[], asked, &[], on_default_branch).verdict, verdict, "{asked:?}");
        }
    }

    #[test]
    fn the_lists_may_be_left_out() {
        let question: Question = serde_json::from_str(r#"{"tool": "read"}"#).expect("a question");
        let answer = serde_json::to_string(&decide(&question)).expect("an answer");
        assert_eq!(answer, r#"{"verdict":"allow"}"#);
    }
}
