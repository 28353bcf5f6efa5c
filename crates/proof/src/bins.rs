//! Programs that a package of the repository brings along: its `bin` is found before the program of that name.
//!
//! Owns what a `package.json` says about programs. Refuses packages that are fetched. Invariant: a name that the package had at
//! the base is product.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::paths::{directory, join, name};
use crate::reach::Reach;
use crate::tables::is_test_package;
use crate::tree::{Tree, below, text};

/// Programs that checks start without saying so, as the first line of a script does.
const UNSAID: [&str; 14] = [
    "node", "npm", "npx", "sh", "bash", "env", "python", "python3", "git", "make", "yarn", "pnpm", "ruby",
    "diff",
];

/// The program of the checks whose place a package takes that it did not take at the base.
pub(crate) fn taken_program(path: &str, base: &dyn Tree, result: &dyn Tree, reach: &Reach) -> Option<String> {
    if name(path) != "package.json" || path.split('/').any(|part| part == "node_modules") {
        return None;
    }
    let known = programs(base, path);
    let is_used = |program: &String| {
        reach.programs.contains(program)
            || UNSAID.contains(&program.as_str())
            || is_test_package("node", program) && reach.mentions(program)
    };
    programs(result, path).into_iter().find(|program| !known.contains(program) && is_used(program))
}

/// The names of the programs of a package.
fn programs(tree: &dyn Tree, path: &str) -> BTreeSet<String> {
    let read = text(tree, path).and_then(|text| serde_json::from_str::<Value>(&text).ok());
    let Some(package) = read else { return BTreeSet::new() };
    let mut names = BTreeSet::new();
    match package.get("bin") {
        Some(Value::Object(programs)) => names.extend(programs.keys().map(|key| name(key).to_string())),
        Some(Value::String(_)) => {
            let own = package.get("name").and_then(Value::as_str).map(name);
            names.extend(own.map(str::to_string));
        }
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_)) | None => {}
    }
    let place = package.get("directories").and_then(|places| places.get("bin")).and_then(Value::as_str);
    if let Some(place) = place.and_then(|place| join(directory(path), place)) {
        names.extend(below(tree, &place).map(|file| name(file).to_string()));
    }
    names
}
