//! Tests that stand in the file they test, as in Rust: taken out of one version of a file and put into another.
//!
//! Owns where such tests begin and end: an attribute that says test, then a module or a function at the left margin,
//! up to the brace at the left margin that closes it, as formatted sources have it. Refuses to guess: what does not
//! look like that is no test here. Pure.

/// One test, or one module of them.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Item {
    /// `mod tests` or `fn adds`.
    name: String,
    /// Its lines, attributes included.
    lines: std::ops::Range<usize>,
}

/// The file as it is now with the tests it had before; `None` where these are the same.
pub(crate) fn with_tests_of(before: &str, now: &str) -> Option<String> {
    let (before_lines, now_lines): (Vec<&str>, Vec<&str>) = (before.lines().collect(), now.lines().collect());
    let (wanted, present) = (items(&before_lines), items(&now_lines));
    let text = |lines: &[&str], item: &Item| -> String {
        lines.get(item.lines.clone()).unwrap_or_default().iter().map(|line| format!("{line}\n")).collect()
    };
    let is_kept = |item: &Item| {
        let now = present.iter().find(|other| other.name == item.name);
        now.is_some_and(|now| text(&now_lines, now) == text(&before_lines, item))
    };
    if wanted.iter().all(is_kept) {
        return None;
    }
    let mut whole = String::new();
    let mut line = 0;
    for item in &present {
        // A test that is new may stand on what is new; one that was there is put back below.
        if wanted.iter().any(|other| other.name == item.name) {
            whole.extend(
                now_lines
                    .get(line..item.lines.start)
                    .unwrap_or_default()
                    .iter()
                    .map(|line| format!("{line}\n")),
            );
            line = item.lines.end;
        }
    }
    whole.extend(now_lines.get(line..).unwrap_or_default().iter().map(|line| format!("{line}\n")));
    for item in &wanted {
        whole.push('\n');
        whole.push_str(&text(&before_lines, item));
    }
    Some(whole)
}

fn items(lines: &[&str]) -> Vec<Item> {
    let mut items = Vec::new();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let found = if is_test_attribute(line) { item(lines, at) } else { None };
        match found {
            Some(item) => {
                at = item.lines.end;
                items.push(item);
            }
            None => at += 1,
        }
    }
    items
}

/// `#[test]`, `#[tokio::test]`, `#[cfg(test)]` and their like, at the left margin.
fn is_test_attribute(line: &str) -> bool {
    let Some(inner) = line.strip_prefix("#[") else { return false };
    let name = inner.split(['(', ']']).next().unwrap_or_default();
    name.rsplit("::").next() == Some("test") || inner.starts_with("cfg(test)")
}

/// The item that follows an attribute.
fn item(lines: &[&str], from: usize) -> Option<Item> {
    let rest = lines.get(from..)?;
    let header = rest.iter().position(|line| !line.starts_with("#[") && !line.starts_with("//"))?;
    let line = rest.get(header)?;
    let name = name_of(line)?;
    let opens = line.matches('{').count();
    if opens == 0 && line.contains(';') {
        // A module in a file of its own: what follows here is no part of it.
        return None;
    }
    let is_one_line = opens > 0 && line.matches('}').count() == opens;
    let length = if is_one_line { 0 } else { rest.iter().skip(header).position(|line| *line == "}")? };
    Some(Item { name, lines: from..from + header + length + 1 })
}

fn name_of(line: &str) -> Option<String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let at = words.iter().position(|word| matches!(*word, "mod" | "fn"))?;
    let is_header = words
        .iter()
        .take(at)
        .all(|word| matches!(*word, "pub" | "async" | "pub(crate)" | "unsafe" | "const"));
    let name = words.get(at + 1)?.split(['(', '{', '<', ';']).next()?;
    (is_header && !name.is_empty()).then(|| format!("{} {name}", words.get(at).copied().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "pub fn add(a: u8, b: u8) -> u8 {\n    a - b\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    \
         #[test]\n    fn adds() {\n        assert_eq!(add(1, 1), 2);\n    }\n}\n";

    #[test]
    fn a_fix_stays_and_a_bent_test_is_put_back() {
        let fixed = BEFORE.replace("a - b", "a + b");
        assert_eq!(with_tests_of(BEFORE, &fixed), None, "the tests are as they were");
        let bent = BEFORE.replace("add(1, 1), 2", "add(1, 1), 0");
        let restored = with_tests_of(BEFORE, &bent).unwrap();
        assert!(restored.contains("a - b") && restored.contains("add(1, 1), 2") && !restored.contains(", 0"));
        let removed = "pub fn add(a: u8, b: u8) -> u8 {\n    a - b\n}\n";
        assert!(with_tests_of(BEFORE, removed).unwrap().contains("fn adds"));
    }

    #[test]
    fn single_tests_and_new_ones() {
        let before = "#[test]\nfn sums() { assert_eq!(1 + 1, 3); }\n";
        let now = "#[test]\nfn sums() { assert_eq!(1 + 1, 2); }\n#[tokio::test]\nasync fn new() {\n    new().await;\n}\n";
        let restored = with_tests_of(before, now).unwrap();
        assert!(
            restored.contains("1 + 1, 3")
                && !restored.contains("1 + 1, 2")
                && restored.contains("async fn new")
        );
        let with_more = format!("{before}#[test]\nfn other() {{\n}}\n");
        assert_eq!(with_tests_of(before, &with_more), None, "a new test bends none");
    }

    #[test]
    fn what_is_no_test_is_left_alone() {
        for (before, now) in [
            ("fn a() {}\n", "fn b() {}\n"),
            ("#[cfg(test)]\nuse x;\n", "#[cfg(test)]\nuse y;\n"),
            ("#[test_case(1)]\nfn a() {\n}\n", ""),
            ("", "#[test]\nfn a() {\n}\n"),
            ("#[cfg(test)]\nmod tests;\n", "#[cfg(test)]\nmod tests;\nfn x() {}\n"),
            (
                "#[cfg(test)]\nmod tests;\nfn a() {\n    1\n}\n",
                "#[cfg(test)]\nmod tests;\nfn a() {\n    2\n}\n",
            ),
        ] {
            assert_eq!(with_tests_of(before, now), None, "{before}");
        }
    }
}
