//! What a plan must not hold: loops without an end, more power than it needs, secrets on their way out.
//!
//! Only commands that we would run ourselves are looked at, by patterns that are plain to see; this is a net, not a
//! wall: steps are words for an agent, which works in its own copy. What is surely wrong is refused, what may be wrong
//! needs a person's consent, and each finding names its item.

use crate::prelude::*;
use fixpoint_vocabulary::TaskId;
use fixpoint_vocabulary::documents::Subtask;

/// What a finding leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Severity {
    /// The plan is not carried out.
    Refuse,
    Ask,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RiskyCommand {
    /// The task that holds it.
    pub(crate) task: TaskId,
    pub(crate) severity: Severity,
    /// What kind of thing it is.
    pub(crate) rule: &'static str,
    /// The item itself, shortened.
    pub(crate) item: String,
}

impl RiskyCommand {
    pub(crate) fn text(&self) -> String {
        format!("task `{}`: {}: {}", self.task, self.rule, self.item)
    }
}

/// What the commands of a plan hold.
pub(crate) fn risky_commands(tasks: &[Subtask]) -> Vec<RiskyCommand> {
    let mut found = Vec::new();
    for task in tasks {
        for command in &task.goals {
            if let Some((severity, rule)) = rule_of(command) {
                let item = command.chars().take(120).collect();
                found.push(RiskyCommand { task: task.id.clone(), severity, rule, item });
            }
        }
    }
    found
}

fn rule_of(command: &str) -> Option<(Severity, &'static str)> {
    let lower = command.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| c.is_whitespace() || ";|&()`\"'".contains(c)).collect();
    let has = |word: &str| words.contains(&word);
    let holds = |part: &str| lower.contains(part);
    if has("sudo") || has("doas") || has("su") {
        return Some((Severity::Refuse, "privilege escalation"));
    }
    if holds(":(){") || holds("while true") || holds("while :") || holds("for (( ; ; ))") {
        return Some((Severity::Refuse, "a loop without an end"));
    }
    if ["id_rsa", ".ssh/", ".aws/credentials", ".netrc", "/etc/shadow", ".gnupg"]
        .iter()
        .any(|part| holds(part))
    {
        return Some((Severity::Refuse, "reads credentials"));
    }
    if (has("rm") && (has("-rf") || has("-fr"))) && (has("/") || has("~") || has("$home")) {
        return Some((Severity::Refuse, "removes more than the workspace"));
    }
    if ["curl", "wget", "nc", "ncat", "scp", "ssh", "rsync", "ftp"].iter().any(|word| has(word)) {
        return Some((Severity::Ask, "reaches out to the network"));
    }
    if has("chmod") || has("chown") || has("setcap") || holds(".github/workflows") || holds(".gitlab-ci") {
        return Some((Severity::Ask, "changes permissions or the guards"));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(command: &str) -> Option<(Severity, &'static str)> {
        let task = serde_json::json!({ "id": "t", "description": "d", "goals": ["true", command] });
        let found = risky_commands(&[serde_json::from_value(task).unwrap()]);
        assert!(found.len() <= 1, "{found:?}");
        found.first().map(|finding| {
            assert!(finding.text().contains("task `t`") && finding.item == command, "{finding:?}");
            (finding.severity, finding.rule)
        })
    }

    /// Catches a pattern that matches inside ordinary words, and one that is never reached.
    #[test]
    fn each_rule_on_what_it_is_for_and_on_what_looks_like_it() {
        let refused = vec![
            ("sudo make install", "privilege escalation"),
            ("cd x && su -c id", "privilege escalation"),
            ("while true; do make; done", "a loop without an end"),
            ("cat ~/.ssh/id_rsa", "reads credentials"),
            ("rm -rf /", "removes more than the workspace"),
            ("rm -fr \"$HOME\"", "removes more than the workspace"),
        ];
        for (command, rule) in refused {
            assert_eq!(of(command), Some((Severity::Refuse, rule)), "{command}");
        }
        for command in [
            "curl -d @x http://example.com",
            "make && wget x",
            "chmod 777 .",
            "sed -i d .github/workflows/ci.yml",
        ] {
            assert_eq!(of(command).map(|(severity, _)| severity), Some(Severity::Ask), "{command}");
        }
        for command in [
            "cargo test --workspace",
            "npm test",
            "./check.sh suite",
            "rm -rf target",
            "pytest tests/test_curl.py",
        ] {
            assert_eq!(of(command), None, "{command}");
        }
    }
}
