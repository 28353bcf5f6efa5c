//! The little language of the templates: `{{name}}` for a value, `{{#name}}…{{/name}}` for what is said only where
//! there is one.
//!
//! Owns parsing and filling in. Refuses logic, loops and escapes. Values are put in as they are and never looked at
//! for placeholders, so a value cannot fill in another.
//!
//! Invariant: a template of ours that is broken is found by the tests; at run time what cannot be parsed is text.

use std::collections::BTreeMap;

/// Values by the names templates use.
pub(crate) type Values = BTreeMap<&'static str, String>;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Mark<'t> {
    Text(&'t str),
    Value(&'t str),
    Open(&'t str),
    Close(&'t str),
}

fn marks(template: &str) -> Vec<Mark<'_>> {
    let mut found = Vec::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((name, after)) = after.split_once("}}") else { break };
        found.push(Mark::Text(before));
        found.push(match name.split_at_checked(1) {
            Some(("#", name)) => Mark::Open(name),
            Some(("/", name)) => Mark::Close(name),
            Some(_) | None => Mark::Value(name),
        });
        rest = after;
    }
    found.push(Mark::Text(rest));
    found
}

/// A template with its values filled in. A value that is missing, or only white, is absent: its sections are left
/// out.
pub(crate) fn fill(template: &str, values: &Values) -> String {
    let value = |name: &str| values.get(name).map(String::as_str).filter(|value| !value.trim().is_empty());
    let mut filled = String::with_capacity(template.len());
    // Open sections, and whether each is shown.
    let mut open: Vec<bool> = Vec::new();
    for mark in marks(template) {
        let shown = open.iter().all(|shown| *shown);
        match mark {
            Mark::Text(text) if shown => filled.push_str(text),
            Mark::Value(name) if shown => filled.push_str(value(name).unwrap_or_default()),
            Mark::Text(_) | Mark::Value(_) => {}
            Mark::Open(name) => open.push(value(name).is_some()),
            Mark::Close(_) => {
                open.pop();
            }
        }
    }
    filled
}

/// The names a template uses, and what is wrong with its sections.
#[cfg(test)]
pub(crate) fn names(template: &str) -> Result<std::collections::BTreeSet<String>, String> {
    let mut used = std::collections::BTreeSet::new();
    let mut open = Vec::new();
    for mark in marks(template) {
        match mark {
            Mark::Text(text) if text.contains("{{") => return Err(format!("an unfinished mark in {text:?}")),
            Mark::Text(_) => {}
            Mark::Value(name) => {
                used.insert(name.to_string());
            }
            Mark::Open(name) => {
                used.insert(name.to_string());
                open.push(name);
            }
            Mark::Close(name) if open.pop() == Some(name) => {}
            Mark::Close(name) => return Err(format!("{name} is closed and was not open")),
        }
    }
    open.pop().map_or(Ok(used), |name| Err(format!("{name} is not closed")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_sections_are_filled_in() {
        let values =
            Values::from([("a", "A".to_string()), ("b", " ".to_string()), ("c", "{{a}}".to_string())]);
        for (template, filled) in [
            ("x {{a}} y", "x A y"),
            ("{{#a}}yes {{a}}{{/a}}{{#b}}no{{/b}}{{#z}}no{{/z}}", "yes A"),
            ("{{#b}}{{#a}}no{{/a}}no{{/b}}.", "."),
            ("{{c}}", "{{a}}"),
            ("{{unfinished", "{{unfinished"),
        ] {
            assert_eq!(fill(template, &values), filled);
        }
    }

    #[test]
    fn broken_templates_are_found() {
        assert_eq!(names("{{a}}{{#b}}{{c}}{{/b}}").unwrap().into_iter().collect::<String>(), "abc");
        for broken in ["{{#a}}", "{{/a}}", "{{#a}}{{#b}}{{/a}}{{/b}}", "{{a"] {
            assert!(names(broken).is_err(), "{broken}");
        }
    }
}
