//! Which rule answers a request, and with which of its replies.
//!
//! Refuses input and output: the counts of replies are passed in. Invariant: the first rule that matches and has a reply
//! left is chosen.

use std::collections::BTreeMap;

use crate::question::Question;
use crate::script::{AfterLast, Reply, ReplyKind, Rule, Script};
use crate::shell_tool;

/// How often each rule has replied, by its name.
pub(crate) type ReplyCounts = BTreeMap<String, u64>;

pub(crate) fn choose<'a>(
    script: &'a Script,
    counts: &ReplyCounts,
    question: &Question,
) -> Option<(&'a Rule, &'a Reply)> {
    script.rules.iter().filter(|rule| matches(rule, question)).find_map(|rule| {
        let reply = next_reply(rule, counts.get(&rule.name).copied().unwrap_or(0))?;
        // Agents also send requests without tools; a command cannot answer those.
        let is_possible = match &reply.kind {
            ReplyKind::Shell { command, .. } => shell_tool::call_for(command, &question.tools).is_some(),
            ReplyKind::Json(_) | ReplyKind::Text(_) | ReplyKind::ToolCalls { .. } | ReplyKind::Fault(_) => {
                true
            }
        };
        is_possible.then_some((rule, reply))
    })
}

fn matches(rule: &Rule, question: &Question) -> bool {
    let somewhere = |text: &String| question.texts.iter().any(|other| other.contains(text.as_str()));
    rule.form.as_ref().is_none_or(|form| question.form.as_ref() == Some(form))
        && rule.turn.is_none_or(|turn| question.tool_results == turn)
        && rule.contains.iter().all(somewhere)
        && rule.last_contains.iter().all(|text| question.last.contains(text.as_str()))
}

fn next_reply(rule: &Rule, count: u64) -> Option<&Reply> {
    let next = usize::try_from(count).ok().and_then(|count| rule.replies.get(count));
    match rule.after {
        AfterLast::Repeat => next.or(rule.replies.last()),
        AfterLast::Fail => next,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::question::{Protocol, parse};

    fn question(system: &str, user: &str, result: Option<&str>) -> Question {
        let mut messages =
            vec![json!({"role": "system", "content": system}), json!({"role": "user", "content": user})];
        messages.extend(result.map(|result| json!({"role": "tool", "content": result})));
        parse(
            Protocol::Chat,
            &json!({"messages": messages, "response_format":
            {"type": "json_schema", "json_schema": {"name": "judgement"}}}),
        )
    }

    fn answers(rule: Rule, question: &Question) -> bool {
        choose(&Script::new().rule(rule.reply(Reply::text("yes"))), &ReplyCounts::new(), question).is_some()
    }

    #[test]
    fn every_condition_must_hold() {
        let asked = question("be spec", "judge the plan", Some("found"));
        let rule = || Rule::new("r");
        let table = [
            (rule(), true),
            (rule().form("judgement"), true),
            (rule().form("judgemen"), false),
            (rule().contains("spec").contains("the plan"), true),
            (rule().contains("spec").contains("another plan"), false),
            // A text must occur in one message, not across two.
            (rule().contains("spec\njudge"), false),
            (rule().last_contains("found"), true),
            (rule().last_contains("judge"), false),
            (rule().turn(1), true),
            (rule().turn(0), false),
        ];
        for (rule, expected) in table {
            assert_eq!(answers(rule.clone(), &asked), expected, "{rule:?}");
        }
    }

    #[test]
    fn replies_come_in_order_and_then_repeat_or_end() {
        let rules = |after: fn(Rule) -> Rule| {
            let first = Rule::new("first").reply(Reply::text("a")).reply(Reply::text("b"));
            Script::new().rule(after(first)).rule(Rule::new("later").reply(Reply::text("c")))
        };
        let replies = |script: &Script| -> Vec<String> {
            let (mut counts, asked) = (ReplyCounts::new(), question("", "", None));
            let mut texts = Vec::new();
            for _ in 0..4 {
                let (rule, reply) = choose(script, &counts, &asked).unwrap();
                *counts.entry(rule.name.clone()).or_default() += 1;
                let ReplyKind::Text(text) = &reply.kind else { panic!("{reply:?}") };
                texts.push(text.clone());
            }
            texts
        };
        assert_eq!(replies(&rules(|rule| rule)), ["a", "b", "b", "b"]);
        assert_eq!(replies(&rules(Rule::then_fail)), ["a", "b", "c", "c"]);
    }

    #[test]
    fn a_command_does_not_answer_a_request_without_a_shell_tool() {
        let script = Script::new()
            .rule(Rule::new("work").reply(Reply::shell("true")))
            .rule(Rule::new("other").reply(Reply::text("a title")));
        let mut asked = question("", "", None);
        let chosen =
            |asked: &Question| choose(&script, &ReplyCounts::new(), asked).map(|(rule, _)| rule.name.clone());
        assert_eq!(chosen(&asked).as_deref(), Some("other"));
        asked.tools.push(crate::question::OfferedTool {
            name: "Bash".to_string(),
            parameters: json!({"properties": {"command": {}}}),
        });
        assert_eq!(chosen(&asked).as_deref(), Some("work"));
    }
}
