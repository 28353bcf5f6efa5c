//! The template language: `{{name}}` inserts a value, `{{#name}}…{{/name}}` is kept only where the value is present.
//!
//! Owns parsing and filling. Refuses logic, loops and escapes. Placeholders inside a value are not expanded.
//!
//! Invariant: tests find a broken template; at run time, what cannot be parsed is text.

use std::collections::BTreeMap;

pub(crate) type Values = BTreeMap<&'static str, String>;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token<'t> {
    Text(&'t str),
    Value(&'t str),
    Open(&'t str),
    Close(&'t str),
}

fn tokens(template: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((name, after)) = after.split_once("}}") else { break };
        found.push(Token::Text(before));
        found.push(match name.split_at_checked(1) {
            Some(("#", name)) => Token::Open(name),
            Some(("/", name)) => Token::Close(name),
            Some(_) | None => Token::Value(name),
        });
        rest = after;
    }
    found.push(Token::Text(rest));
    found
}

/// A template with its values. A value that is missing or blank is absent: its sections are left out.
pub(crate) fn fill(template: &str, values: &Values) -> String {
    let value = |name: &str| values.get(name).map(String::as_str).filter(|value| !value.trim().is_empty());
    let mut filled = String::with_capacity(template.len());
    // The open sections, and whether each is shown.
    let mut open: Vec<bool> = Vec::new();
    for token in tokens(template) {
        let shown = open.iter().all(|shown| *shown);
        match token {
            Token::Text(text) if shown => filled.push_str(text),
            Token::Value(name) if shown => filled.push_str(value(name).unwrap_or_default()),
            Token::Text(_) | Token::Value(_) => {}
            Token::Open(name) => open.push(value(name).is_some()),
            Token::Close(_) => {
                open.pop();
            }
        }
    }
    filled
}

/// The names a template uses, or what is wrong with its sections.
#[cfg(test)]
pub(crate) fn names(template: &str) -> Result<std::collections::BTreeSet<String>, String> {
    let mut used = std::collections::BTreeSet::new();
    let mut open = Vec::new();
    for token in tokens(template) {
        match token {
            Token::Text(text) if text.contains("{{") => {
                return Err(format!("an unfinished placeholder in {text:?}"));
            }
            Token::Text(_) => {}
            Token::Value(name) => {
                used.insert(name.to_string());
            }
            Token::Open(name) => {
                used.insert(name.to_string());
                open.push(name);
            }
            Token::Close(name) if open.pop() == Some(name) => {}
            Token::Close(name) => return Err(format!("{name} is closed and was not open")),
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
            assert_eq!(fill(template, &values), filled, "{template}");
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
