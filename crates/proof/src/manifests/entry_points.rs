//! Members of manifests that say which file is loaded for a name: `main`, `exports`, `imports`, `autoload`.
//!
//! A test may load the product by such a name. Owns when a new version leads a name that was there to another file. A new
//! name is product, unless it takes a part of what an old one stood for. Refuses to look at files.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// Members of `package.json` by which a file is found.
pub(super) const MEMBERS: [&str; 9] =
    ["main", "browser", "module", "exports", "imports", "bin", "types", "typings", "typesVersions"];

/// Whether a name that the base has leads elsewhere, or nowhere.
pub(super) fn is_redirected(base: Option<&str>, now: Option<&str>) -> bool {
    let Some(base) = base else { return false };
    let Some(now) = now else { return true };
    let parsed = |text: &str| serde_json::from_str::<Value>(text).ok();
    match (parsed(base), parsed(now)) {
        (Some(base), Some(now)) => leads_elsewhere(&base, &now),
        (_, _) => base.trim() != now.trim(),
    }
}

fn leads_elsewhere(base: &Value, now: &Value) -> bool {
    let (Some(before), Some(after)) = (names(base), names(now)) else {
        return without_dot(base) != without_dot(now);
    };
    let is_kept = |(name, target): (&String, &Value)| after.get(name).is_some_and(|other| other == target);
    let mut added = after.keys().filter(|name| !before.contains_key(*name));
    !before.iter().all(is_kept) || added.any(|name| before.keys().any(|old| covers(old, name)))
}

/// The targets by name; `exports` may have one target for the package itself. Nothing for conditions such as `import`.
fn names(value: &Value) -> Option<Map<String, Value>> {
    match value {
        Value::String(_) => Some(Map::from_iter([(".".to_string(), Value::String(without_dot(value)))])),
        Value::Object(members) => {
            let is_name = |key: &String| {
                key.starts_with(['.', '#', '@']) || key.contains(['\\', '*']) || key.is_empty()
            };
            let is_plain = members.values().all(Value::is_string) && !is_condition(members);
            (members.keys().all(is_name) || is_plain).then(|| {
                let target = |(key, value): (&String, &Value)| {
                    let is_text = value.is_string();
                    let target = if is_text { Value::String(without_dot(value)) } else { value.clone() };
                    (key.clone(), target)
                };
                members.iter().map(target).collect()
            })
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
    }
}

fn is_condition(members: &Map<String, Value>) -> bool {
    let known =
        ["import", "require", "node", "default", "types", "browser", "development", "production", "module"];
    members.keys().any(|key| known.contains(&key.as_str()))
}

/// A target as text: `./lib/a.js` and `lib/a.js` are the same file.
fn without_dot(value: &Value) -> String {
    match value.as_str() {
        Some(text) => text.trim_start_matches("./").to_string(),
        None => value.to_string(),
    }
}

/// Whether an old name stands for a new one, too: `#lib/*` for `#lib/a`, `App\` for `App\Calc\`.
fn covers(old: &str, new: &str) -> bool {
    match old.split_once('*') {
        Some((before, after)) => new.starts_with(before) && new.ends_with(after),
        None => (old.ends_with(['/', '\\']) || old.is_empty()) && new.starts_with(old),
    }
}

/// How the entry points of a package changed, with regard to the files there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EntryChange {
    /// The files they led to are gone: the package was rebuilt, and nothing else is loaded for a name than before.
    Moved,
    /// A file that was loaded by default is hidden by a new member.
    Hidden(&'static str),
}

/// What is not seen member by member. `was_there` and `is_there` tell whether the package has a file.
pub(crate) fn entry_change(
    base: &str,
    now: &str,
    was_there: &dyn Fn(&str) -> bool,
    is_there: &dyn Fn(&str) -> bool,
) -> Option<EntryChange> {
    let parsed = |text: &str| serde_json::from_str::<Map<String, Value>>(text).ok();
    let (before, after) = (parsed(base)?, parsed(now)?);
    let gained = |member: &str| !before.contains_key(member) && after.contains_key(member);
    let leads_to = |member: &str| after.get(member).map(targets).unwrap_or_default();
    let forms = |target: &str| [target.to_string(), format!("{target}.js"), format!("{target}/index.js")];
    if gained("main")
        && was_there("index.js")
        && !leads_to("main").iter().any(|target| target.starts_with("index"))
    {
        return Some(EntryChange::Hidden("main"));
    }
    let own = before.get("main").map(targets).unwrap_or_default();
    let is_own = |target: &String| own.iter().any(|own| forms(own).contains(target));
    if gained("exports")
        && !own.is_empty()
        && !leads_to("exports").iter().any(is_own)
        && own.iter().any(|target| forms(target).iter().any(|form| is_there(form)))
    {
        return Some(EntryChange::Hidden("exports"));
    }
    let mut redirected = MEMBERS
        .iter()
        .filter_map(|member| {
            let (old, new) = (before.get(*member)?, after.get(*member));
            new.is_none_or(|new| leads_elsewhere(old, new)).then(|| {
                targets(old).difference(&new.map(targets).unwrap_or_default()).cloned().collect::<Vec<_>>()
            })
        })
        .peekable();
    redirected.peek()?;
    let is_gone = |target: &String| !target.contains('*') && !forms(target).iter().any(|form| is_there(form));
    redirected.all(|targets| !targets.is_empty() && targets.iter().all(is_gone)).then_some(EntryChange::Moved)
}

/// Whether a change that is told of is one of an entry point: `imports`, `exports`.
pub(crate) fn is_entry_point(changed: &str) -> bool {
    MEMBERS.contains(&changed)
}

/// The files that a member leads to, without a leading `./`.
fn targets(value: &Value) -> BTreeSet<String> {
    match value {
        Value::String(_) => BTreeSet::from([without_dot(value)]),
        Value::Array(values) => values.iter().flat_map(targets).collect(),
        Value::Object(members) => members.values().flat_map(targets).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => BTreeSet::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_elsewhere() {
        for (base, now, expected) in [
            (r#""lib/a.js""#, r#""./lib/a.js""#, false),
            (r#""lib/a.js""#, r#""lib/b.js""#, true),
            (r##"{"#a": "./a.js"}"##, r##"{"#a": "./b.js"}"##, true),
            (r##"{"#a": "./a.js"}"##, r##"{"#a": "./a.js", "#b": "./b.js"}"##, false),
            (r##"{"#l/*": "./l/*.js"}"##, r##"{"#l/*": "./l/*.js", "#l/a": "./b.js"}"##, true),
            (r#"{"App\\": "src/"}"#, r#"{"App\\": "src/", "App\\Calc\\": "old/"}"#, true),
            (r#"{"App\\": "src/"}"#, r#"{"App\\": "src/", "Other\\": "other/"}"#, false),
            (r#""./a.js""#, r#"{".": "./a.js", "./b": "./b.js"}"#, false),
            (r#""./a.js""#, r#"{".": "./b.js"}"#, true),
            (r#"{"require": "./a.js"}"#, r#"{"node": "./b.js", "require": "./a.js"}"#, true),
            (r#"{".": {"require": "./a.js"}}"#, r#"{".": {"require": "./a.js"}, "./b": "./b.js"}"#, false),
            (r#"{"calc": "bin/a.js"}"#, r#"{"calc": "bin/a.js", "sums": "bin/b.js"}"#, false),
        ] {
            assert_eq!(is_redirected(Some(base), Some(now)), expected, "{base} {now}");
        }
        assert!(!is_redirected(None, Some("\"a.js\"")) && is_redirected(Some("\"a.js\""), None));
    }
}
