//! The reference of all settings, as Markdown, made from the schema that is enforced.
//!
//! Owns the layout. Refuses to describe anything itself: every word about a setting is the setting's own.
//!
//! Invariant: every key that is accepted is listed, once.

use core::fmt::Write as _;

use fixpoint_vocabulary::settings::Settings;
use serde_json::Value;

use crate::shape::Shape;
use crate::shape::rule::{Choice, Kind, Nullability, Presence, Rule};

const INTRODUCTION: &str = "\
Every key in its canonical spelling. Files also accept the camelCase spelling. An environment variable is
`FIXPOINT_` and the key in capitals with `__` between levels (`FIXPOINT_PLANNING__CACHE__TTL`), and the
command line takes any key as `--set planning.cache.ttl=60`. `[]` stands for each item of a list, `<name>` for
a key of your own.
";

/// The reference of all settings.
pub fn reference_markdown() -> String {
    let shape = Shape::of::<Settings>();
    let mut page = format!("# Settings\n\n{INTRODUCTION}");
    let Kind::Record(record) = &shape.rule().kind else { return page };
    let (sections, single): (Vec<_>, Vec<_>) =
        record.fields.iter().partition(|(_, field)| !rows(&field.rule, "").is_empty());
    table(
        &mut page,
        "General",
        "",
        single.into_iter().map(|(name, field)| row(&field.rule, name, field.presence)),
    );
    for (name, field) in sections {
        let own = matches!(field.rule.kind, Kind::List(..) | Kind::Map(_))
            .then(|| row(&field.rule, name, field.presence));
        let rows = own.into_iter().chain(rows(&field.rule, name));
        table(&mut page, &format!("`{name}`"), &field.rule.description, rows);
    }
    page
}

fn table(page: &mut String, title: &str, description: &str, rows: impl Iterator<Item = String>) {
    let _ = write!(page, "\n## {title}\n\n");
    if !description.is_empty() {
        let _ = write!(page, "{description}\n\n");
    }
    page.push_str("| key | value | default | meaning |\n|---|---|---|---|\n");
    rows.for_each(|row| page.push_str(&row));
}

/// The rows of everything below a rule.
fn rows(rule: &Rule, path: &str) -> Vec<String> {
    match &rule.kind {
        Kind::Record(record) => {
            let mut all = Vec::new();
            for (name, field) in &record.fields {
                let key = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                let below = rows(&field.rule, &key);
                if below.is_empty() || !matches!(field.rule.kind, Kind::Record(_)) {
                    all.push(row(&field.rule, &key, field.presence));
                }
                all.extend(below);
            }
            all
        }
        Kind::List(items, _) => rows(items, &format!("{path}[]")),
        Kind::Map(values) => rows(values, &format!("{path}.<name>")),
        Kind::Either(rules) => rules.iter().flat_map(|rule| rows(rule, path)).collect(),
        Kind::Anything
        | Kind::Bool
        | Kind::Integer(_)
        | Kind::Number(_)
        | Kind::Text(_)
        | Kind::Choice(_)
        | Kind::Exactly(_) => Vec::new(),
    }
}

fn row(rule: &Rule, path: &str, presence: Presence) -> String {
    let default = match (&rule.default, presence) {
        (_, Presence::Required) => "required".to_owned(),
        (Some(Value::Null), _) => "none".to_owned(),
        (Some(value), _) => format!("`{}`", Value::from(&crate::tree::Node::from(value.clone()))),
        (None, Presence::Optional) => "none".to_owned(),
    };
    let cells = [format!("`{path}`"), values(rule), default, meaning(rule)];
    let cells = cells.map(|cell| cell.replace('|', "\\|").replace('\n', " "));
    format!("| {} |\n", cells.join(" | "))
}

/// What values a key takes.
fn values(rule: &Rule) -> String {
    let plain = match &rule.kind {
        Kind::Integer(range) => range.describe("an integer"),
        Kind::Number(range) => range.describe("a number"),
        Kind::Text(length) if *length != Default::default() => {
            format!("text of {}", length.describe("characters"))
        }
        Kind::List(items, length) if *length != Default::default() => {
            format!("a list of {}, each {}", length.describe("items"), values(items))
        }
        Kind::List(items, _) => format!("a list, each item {}", values(items)),
        Kind::Map(items) => format!("a map, each value {}", values(items)),
        Kind::Anything
        | Kind::Bool
        | Kind::Text(_)
        | Kind::Choice(_)
        | Kind::Exactly(_)
        | Kind::Record(_)
        | Kind::Either(_) => rule.type_name(),
    };
    match rule.nullability {
        Nullability::Nullable if rule.kind != Kind::Anything => format!("{plain}, or null"),
        Nullability::Nullable | Nullability::NotNull => plain,
    }
}

/// The description of a key, and of each choice it has.
fn meaning(rule: &Rule) -> String {
    let Kind::Choice(choices) = &rule.kind else { return rule.description.clone() };
    let described = |choice: &Choice| format!(" `{}`: {}", choice.spelling, choice.description);
    choices.iter().filter(|choice| !choice.description.is_empty()).map(described).fold(
        rule.description.clone(),
        |mut text, choice| {
            text.push_str(&choice);
            text
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_say_what_is_accepted() {
        let page = reference_markdown();
        for (key, values, default, meaning) in [
            (
                "refinement.noise_threshold",
                "a number from 1 to 10",
                "`3`",
                "A score difference below this is noise: the plans count as equal.",
            ),
            (
                "max_workers",
                "an integer from 1 to 64",
                "`3`",
                "How many agents work at the same time, at most.",
            ),
            (
                "checks[].name",
                "text of at least 1 character",
                "required",
                "How the check is called in reports.",
            ),
            (
                "budget.tokens",
                "an integer from 0 to 1000000000000, or null",
                "none",
                "Tokens of models, in and out together.",
            ),
            ("mcp_servers.<name>.args", "a list, each item text", "`[]`", "Its arguments."),
            (
                "sandbox",
                "one of `auto`, `required`, `off`",
                "`\"auto\"`",
                "Whether agents are confined by the kernel. `auto`: Where the kernel offers it. \
                 `required`: Refuse to run without. `off`: Never.",
            ),
            (
                "planning.security.require_approval[].when.branch",
                "one of `default`",
                "required",
                "The kind of branch the tool would change. `default`: The repository's default branch.",
            ),
        ] {
            let row = format!("| `{key}` | {values} | {default} | {meaning} |");
            assert!(page.lines().any(|line| line == row), "{row}\nis not in\n{page}");
        }
    }

    #[test]
    fn every_key_is_listed_once() {
        let page = reference_markdown();
        let keys: Vec<&str> =
            page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
        let mut unique = keys.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), keys.len());
        let loaded = crate::load(&crate::Sources::default()).unwrap();
        for path in loaded.origins.keys() {
            assert!(keys.contains(&path.as_str()), "{path}");
        }
    }
}
