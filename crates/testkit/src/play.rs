//! Which rule answers a request, and with which of its replies.
//!
//! Owns matching and what "used up" means. Refuses input and output: the numbers of replies played are handed in.
//! Invariant: the first rule that matches and has a reply left is chosen.

use std::collections::BTreeMap;

use crate::asked::Asked;
use crate::script::{After, Reply, Rule, Say, Script};
use crate::shell_tool;

/// How often each rule has answered, by its name.
pub(crate) type Played = BTreeMap<String, u64>;

/// The rule that answers, and its reply.
pub(crate) fn choose<'a>(
    script: &'a Script,
    played: &Played,
    asked: &Asked,
) -> Option<(&'a Rule, &'a Reply)> {
    script.rules.iter().filter(|rule| matches(rule, asked)).find_map(|rule| {
        let reply = next_reply(rule, played.get(&rule.name).copied().unwrap_or(0))?;
        // Agents make requests besides, without any tool; a command is not meant for those.
        let playable = match &reply.say {
            Say::Shell { command, .. } => shell_tool::call_for(command, &asked.tools).is_some(),
            Say::Json(_) | Say::Text(_) | Say::ToolCalls { .. } | Say::Fault(_) => true,
        };
        playable.then_some((rule, reply))
    })
}

fn matches(rule: &Rule, asked: &Asked) -> bool {
    let somewhere = |text: &String| asked.texts.iter().any(|other| other.contains(text.as_str()));
    rule.form.as_ref().is_none_or(|form| asked.form.as_ref() == Some(form))
        && rule.turn.is_none_or(|turn| asked.tool_results == turn)
        && rule.contains.iter().all(somewhere)
        && rule.last_contains.iter().all(|text| asked.last.contains(text.as_str()))
}

fn next_reply(rule: &Rule, played: u64) -> Option<&Reply> {
    let next = usize::try_from(played).ok().and_then(|played| rule.replies.get(played));
    match rule.after {
        After::Repeat => next.or(rule.replies.last()),
        After::Fail => next,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::asked::{Protocol, asked};

    fn question(system: &str, user: &str, result: Option<&str>) -> Asked {
        let mut messages =
            vec![json!({"role": "system", "content": system}), json!({"role": "user", "content": user})];
        messages.extend(result.map(|result| json!({"role": "tool", "content": result})));
        asked(
            Protocol::Chat,
            &json!({"messages": messages, "response_format":
            {"type": "json_schema", "json_schema": {"name": "judgement"}}}),
        )
    }

    fn answers(rule: Rule, asked: &Asked) -> bool {
        choose(&Script::new().rule(rule.reply(Reply::text("yes"))), &Played::new(), asked).is_some()
    }

    #[test]
    fn every_condition_must_hold() {
        let asked = question("be brief", "judge the plan", Some("found"));
        let rule = || Rule::new("r");
        let table = [
            (rule(), true),
            (rule().form("judgement"), true),
            (rule().form("judgemen"), false),
            (rule().contains("brief").contains("the plan"), true),
            (rule().contains("brief").contains("another plan"), false),
            // Each text is looked for in each message alone, not across two.
            (rule().contains("brief\njudge"), false),
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
    fn replies_are_played_in_order_and_then_repeat_or_end() {
        let rules = |after: fn(Rule) -> Rule| {
            let first = Rule::new("first").reply(Reply::text("a")).reply(Reply::text("b"));
            Script::new().rule(after(first)).rule(Rule::new("later").reply(Reply::text("c")))
        };
        let said = |script: &Script| -> Vec<String> {
            let (mut played, asked) = (Played::new(), question("", "", None));
            let mut texts = Vec::new();
            for _ in 0..4 {
                let (rule, reply) = choose(script, &played, &asked).unwrap();
                *played.entry(rule.name.clone()).or_default() += 1;
                let Say::Text(text) = &reply.say else { panic!("{reply:?}") };
                texts.push(text.clone());
            }
            texts
        };
        assert_eq!(said(&rules(|rule| rule)), ["a", "b", "b", "b"]);
        assert_eq!(said(&rules(Rule::then_fail)), ["a", "b", "c", "c"]);
    }

    #[test]
    fn a_command_is_not_for_a_request_without_a_tool_for_it() {
        let script = Script::new()
            .rule(Rule::new("work").reply(Reply::shell("true")))
            .rule(Rule::new("besides").reply(Reply::text("a title")));
        let mut asked = question("", "", None);
        let chosen =
            |asked: &Asked| choose(&script, &Played::new(), asked).map(|(rule, _)| rule.name.clone());
        assert_eq!(chosen(&asked).as_deref(), Some("besides"));
        asked.tools.push(crate::asked::Offered {
            name: "Bash".to_string(),
            parameters: json!({"properties": {"command": {}}}),
        });
        assert_eq!(chosen(&asked).as_deref(), Some("work"));
    }
}
