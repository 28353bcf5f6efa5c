//! What a Rust item is by its attributes and header: a test, a module of them, a macro that shadows an assertion.
//!
//! Owns the attributes that say test. Refuses to expand macros.

use super::rust_scan::Item;

/// Attributes by their last word. Those that end in `test`, or begin with it, count as well.
const TEST_ATTRIBUTES: [&str; 10] = [
    "test",
    "rstest",
    "bench",
    "quickcheck",
    "proptest",
    "should_panic",
    "test_case",
    "gtest",
    "traced_test",
    "fixture",
];
/// Macros that hold tests.
const TEST_MACROS: [&str; 5] = ["proptest", "quickcheck", "rusty_fork_test", "speculate", "test_suite"];
/// Macros that tests judge with.
const JUDGES: [&str; 13] = [
    "assert",
    "assert_eq",
    "assert_ne",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "panic",
    "unreachable",
    "todo",
    "unimplemented",
    "matches",
    "assert_matches",
    "test",
];

/// Whether an item is there only for tests, or decides what they do.
pub(crate) fn is_test(item: &Item) -> bool {
    item.attributes.iter().any(|attribute| is_test_attribute(attribute))
        || is_test_macro(item)
        || is_judge(item)
}

fn is_test_attribute(attribute: &str) -> bool {
    if let Some(condition) = attribute.strip_prefix("cfg(") {
        return is_for_tests(condition);
    }
    let path = attribute.split(['(', '=', ' ']).next().unwrap_or_default();
    let name = path.rsplit("::").next().unwrap_or_default();
    TEST_ATTRIBUTES.contains(&name) || name.ends_with("_test") || name.starts_with("test_")
}

/// Whether a condition holds only, or also, under test.
pub(crate) fn is_for_tests(condition: &str) -> bool {
    let mut rest = condition;
    let mut plain = String::new();
    while let Some((before, inside)) = rest.split_once("not(") {
        plain.push_str(before);
        let mut depth = 1_usize;
        let end = inside.char_indices().find(|(_, letter)| {
            match letter {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        rest = end.and_then(|(end, _)| inside.get(end + 1..)).unwrap_or_default();
    }
    plain.push_str(rest);
    // A feature may be called test, too.
    let plain: String = plain.split('"').step_by(2).collect();
    plain.split(|letter: char| !letter.is_alphanumeric() && letter != '_').any(|word| word == "test")
}

fn is_test_macro(item: &Item) -> bool {
    let name = item.header.split(" !").next().unwrap_or_default();
    item.header.contains(" !") && TEST_MACROS.iter().any(|known| name.rsplit(": ").next() == Some(known))
}

/// A macro that takes the place of one that tests judge with.
fn is_judge(item: &Item) -> bool {
    let words: Vec<&str> = item.header.split(' ').collect();
    let name = match words.as_slice() {
        ["macro_rules", "!", name, ..] | ["macro", name, ..] | ["pub", "macro", name, ..] => name,
        _ => return false,
    };
    JUDGES.contains(name)
}

/// What tells an item from its neighbours: `fn adds`, `mod tests`, or the whole header.
pub(crate) fn key(item: &Item) -> String {
    const KINDS: [&str; 11] =
        ["fn", "mod", "struct", "enum", "trait", "union", "type", "const", "static", "macro", "macro_rules"];
    let words: Vec<&str> = item.header.split(' ').collect();
    let is_modifier = |word: &&&str| {
        matches!(
            **word,
            "pub" | "(" | ")" | "crate" | "super" | "in" | "self" | "async" | "unsafe" | "default" | "extern"
        ) || word.starts_with('"')
    };
    let mut rest = words.iter().skip_while(is_modifier).filter(|word| **word != "!").peekable();
    match (rest.next(), rest.peek()) {
        (Some(&"const"), Some(&&"fn")) => {
            rest.next();
            format!("fn {}", rest.next().copied().unwrap_or_default())
        }
        (Some(kind), Some(name)) if KINDS.contains(kind) => format!("{kind} {name}"),
        _ => item.header.clone(),
    }
}

/// Whether an item holds others: a module, an implementation, a trait.
pub(crate) fn is_container(item: &Item) -> bool {
    let has = |word: &str| item.header.split(' ').any(|other| other == word);
    item.body.is_some()
        && !has("fn")
        && !item.header.contains('!')
        && (has("mod") || has("impl") || has("trait"))
}
