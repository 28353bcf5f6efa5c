//! The reference of all settings as Markdown, made from the schema that is enforced.
//!
//! Owns the layout; every description is the setting's own.
//!
//! Invariant: every key that is accepted is listed exactly once, and every key or value that is refused as not available
//! yet is listed as such.

use core::fmt::Write as _;

use fixpoint_vocabulary::settings::Settings;
use serde_json::Value;

use crate::schema::Schema;
use crate::schema::rule::{Choice, Nullability, Presence, Rule, ValueType};
use crate::tree::Node;

const INTRODUCTION: &str = "\
Every key in its canonical spelling; files may also use the camelCase spelling. The environment variable of a key is
`FIXPOINT_` and the key in capitals with `__` between levels, such as `FIXPOINT_PLANNING__CACHE__TTL`; on the command
line, write `--set planning.cache.ttl=60`. `[]` stands for each item of a list, `<name>` for a name that you choose.
";

const UNAVAILABLE: &str = "\
These keys and values are planned and do nothing yet. Fixpoint refuses them, so that no configuration relies on them.
";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReferenceKey {
    /// Such as `checks[].name` or `models.prices.<name>.per_attempt`.
    pub path: String,
    /// All values, if the key takes only certain ones.
    pub choices: Vec<String>,
}

/// A key, or a value of a key, that is planned and refused until it is implemented.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnavailableKey {
    pub path: String,
    /// The value; nothing if the whole key is not available.
    pub value: Option<String>,
    /// What to do instead.
    pub instead: String,
}

pub fn reference_keys() -> Vec<ReferenceKey> {
    let mut keys = Vec::new();
    walk(Schema::of::<Settings>().rule(), "", &mut |path, rule, _| {
        let choices = if let ValueType::Choice(choices) = &rule.kind { choices.as_slice() } else { &[] };
        let choices = choices.iter().map(|choice| choice.spelling.clone()).collect();
        keys.push(ReferenceKey { path: path.to_owned(), choices });
    });
    keys
}

/// All keys and values that are refused as not available yet.
pub fn unavailable_keys() -> Vec<UnavailableKey> {
    let mut found = Vec::new();
    collect_unavailable(Schema::of::<Settings>().rule(), "", &mut found);
    found.sort_by(|one, other| (&one.path, &one.value).cmp(&(&other.path, &other.value)));
    found
}

pub fn reference_markdown() -> String {
    let schema = Schema::of::<Settings>();
    let mut page = format!("# Settings\n\n{INTRODUCTION}");
    let ValueType::Record(record) = &schema.rule().kind else { return page };
    let is_section =
        |rule: &Rule| matches!(rule.kind, ValueType::Record(_) | ValueType::List(..) | ValueType::Map(_));
    let mut general = Vec::new();
    let mut sections = Vec::new();
    for (name, field) in &record.fields {
        let mut rows = Vec::new();
        visit(&field.rule, name, field.presence, &mut |path, rule, presence| {
            rows.push(row(rule, path, presence));
        });
        if is_section(&field.rule) {
            sections.push((name, &field.rule.description, rows));
        } else {
            general.extend(rows);
        }
    }
    write_table(&mut page, "General", "", &general);
    for (name, description, rows) in sections {
        write_table(&mut page, &format!("`{name}`"), description, &rows);
    }
    write_unavailable(&mut page);
    page
}

fn write_table(page: &mut String, title: &str, description: &str, rows: &[String]) {
    let _ = write!(page, "\n## {title}\n\n");
    if !description.is_empty() {
        let _ = write!(page, "{}\n\n", one_line(description));
    }
    page.push_str("| key | value | default | meaning |\n|---|---|---|---|\n");
    rows.iter().for_each(|row| page.push_str(row));
}

fn write_unavailable(page: &mut String) {
    let _ = write!(page, "\n## Not available yet\n\n{UNAVAILABLE}\n| key | what to do |\n|---|---|\n");
    for UnavailableKey { path, value, instead } in unavailable_keys() {
        let key = value.map_or_else(|| path.clone(), |value| format!("{path}: {value}"));
        let _ = writeln!(page, "| `{key}` | {instead} |");
    }
}

fn walk(rule: &Rule, path: &str, each: &mut dyn FnMut(&str, &Rule, Presence)) {
    match &rule.kind {
        ValueType::Record(record) => {
            for (name, field) in &record.fields {
                let key = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                visit(&field.rule, &key, field.presence, each);
            }
        }
        ValueType::List(items, _) => walk(items, &format!("{path}[]"), each),
        ValueType::Map(values) => walk(values, &format!("{path}.<name>"), each),
        ValueType::Either(rules) => rules.iter().for_each(|rule| walk(rule, path, each)),
        ValueType::Anything
        | ValueType::Bool
        | ValueType::Integer(_)
        | ValueType::Number(_)
        | ValueType::Text(_)
        | ValueType::Choice(_)
        | ValueType::Exactly(_) => {}
    }
}

/// Calls `each` with a key and every key below it. A section is not a key of its own.
fn visit(rule: &Rule, key: &str, presence: Presence, each: &mut dyn FnMut(&str, &Rule, Presence)) {
    if !matches!(rule.kind, ValueType::Record(_)) {
        each(key, rule, presence);
    }
    walk(rule, key, each);
}

fn collect_unavailable(rule: &Rule, path: &str, found: &mut Vec<UnavailableKey>) {
    for (name, instead) in &rule.unavailable_keys {
        let key = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        found.push(UnavailableKey { path: key, value: None, instead: instead.clone() });
    }
    for (value, instead) in &rule.unavailable_values {
        let (path, value) = (path.to_owned(), Some(value.clone()));
        found.push(UnavailableKey { path, value, instead: instead.clone() });
    }
    let ValueType::Record(record) = &rule.kind else { return };
    for (name, field) in &record.fields {
        let key = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        collect_unavailable(&field.rule, &key, found);
    }
}

fn row(rule: &Rule, path: &str, presence: Presence) -> String {
    let default = match (&rule.default, presence) {
        (_, Presence::Required) => "required".to_owned(),
        (Some(Value::Null), _) => "null".to_owned(),
        (Some(value), _) => format!("`{}`", Value::from(&Node::from(value.clone()))),
        (None, Presence::Optional) => "null".to_owned(),
    };
    let cells = [format!("`{path}`"), values(rule), default, meaning(rule)];
    format!("| {} |\n", cells.map(|cell| one_line(&cell).replace('|', "\\|")).join(" | "))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The values a key takes, in words.
fn values(rule: &Rule) -> String {
    let plain = match &rule.kind {
        ValueType::Integer(range) => range.describe("an integer"),
        ValueType::Number(range) => range.describe("a number"),
        ValueType::Text(length) if *length != Default::default() => {
            format!("text of {}", length.describe("characters"))
        }
        ValueType::List(items, length) if *length != Default::default() => {
            format!("a list of {}, each {}", length.describe("items"), values(items))
        }
        ValueType::List(items, _) => format!("a list, each item {}", values(items)),
        ValueType::Map(items) => format!("a map, each value {}", values(items)),
        ValueType::Anything
        | ValueType::Bool
        | ValueType::Text(_)
        | ValueType::Choice(_)
        | ValueType::Exactly(_)
        | ValueType::Record(_)
        | ValueType::Either(_) => rule.type_name(),
    };
    match rule.nullability {
        Nullability::Nullable if rule.kind != ValueType::Anything => format!("{plain}, or null"),
        Nullability::Nullable | Nullability::NotNull => plain,
    }
}

/// The description of a key, and of each of its choices.
fn meaning(rule: &Rule) -> String {
    let ValueType::Choice(choices) = &rule.kind else { return rule.description.clone() };
    let described = choices.iter().filter(|choice| !choice.description.is_empty());
    let choices = described.map(|Choice { spelling, description }| format!(" `{spelling}`: {description}"));
    core::iter::once(rule.description.clone()).chain(choices).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_describe_what_is_accepted() {
        let page = reference_markdown();
        for (key, values, default, meaning) in [
            (
                "refinement.delta_threshold",
                "a number from 0 to 50",
                "`5`",
                "An improvement of fewer points than this is too small to count.",
            ),
            (
                "max_workers",
                "an integer from 1 to 64",
                "`3`",
                "Tasks that run at the same time, at most. Each has an agent and a workspace of its own.",
            ),
            (
                "checks[].name",
                "text of at least 1 character",
                "required",
                "The name shown in reports. No two checks may have the same name.",
            ),
            (
                "budget.tokens",
                "an integer from 0 to 1000000000000, or null",
                "null",
                "Tokens that models read and write, together. What agents use is not counted.",
            ),
            ("workspace.setup", "a list, each item text", "`[]`", ""),
            (
                "planning.reflection.after",
                "one of `all`, `important`",
                "`\"all\"`",
                "Which tasks the regular review is for. Failed tasks are reviewed anyway, by `trigger_on_error`. \
                 `all`: Every task. `important`: Tasks that changed files.",
            ),
            (
                "models.prices.<name>.output_per_million",
                "a number from 0 to 100000",
                "`0`",
                "US dollars for a million output tokens.",
            ),
        ] {
            let row = format!("| `{key}` | {values} | {default} | {meaning}");
            assert!(page.lines().any(|line| line.starts_with(&row)), "{row}\nis not in\n{page}");
        }
    }

    #[test]
    fn every_key_is_listed_once() {
        let page = reference_markdown();
        let available = page.split("\n## Not available yet").next().unwrap();
        let rows: Vec<&str> =
            available.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
        let mut listed = rows.clone();
        listed.sort_unstable();
        listed.dedup();
        assert_eq!(listed.len(), rows.len(), "a key is listed twice");
        let mut keys: Vec<String> = reference_keys().into_iter().map(|key| key.path).collect();
        keys.sort_unstable();
        assert_eq!(keys, listed);
        let loaded = crate::load(&crate::Sources::default()).unwrap();
        for path in loaded.origins.keys() {
            assert!(keys.contains(path), "{path}");
        }
    }

    #[test]
    fn what_is_not_available_is_listed_with_what_to_do() {
        let page = reference_markdown();
        let (_, section) = page.split_once("\n## Not available yet").unwrap();
        for row in [
            "| `agent.kind: acp` | use `command` with `agent.command` instead |",
            "| `mcp_servers` | configure MCP servers in your coding agent instead |",
            "| `models.worker` | set the model of the coding agent with `agent.model` instead |",
        ] {
            assert!(section.lines().any(|line| line == row), "{row}\nis not in\n{section}");
        }
    }
}
