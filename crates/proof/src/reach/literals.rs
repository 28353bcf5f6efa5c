//! Paths that a source puts together out of constant parts: `join(here, "steps", name)`, `"steps/" + name + ".py"`.
//!
//! Owns how languages join and concatenate texts. Refuses variables: what is not constant is `*`. Which of the paths exist, and
//! what they are, others find out. Pure.

use std::ops::Range;

use crate::beside::with_stars;

/// The most parts that are put together.
const MOST_PARTS: usize = 5;

/// The paths that a text names, with `*` for what is put in when it runs.
pub(super) fn named(text: &str) -> Vec<String> {
    let mut paths = Vec::new();
    for line in text.lines().filter(|line| line.len() < 20_000) {
        let quoted = quoted(line);
        for first in 0..quoted.len() {
            paths.extend(joined(line, quoted.get(first..).unwrap_or_default()));
        }
    }
    paths.sort();
    paths.dedup();
    paths.retain(|path| path.len() > 1 && path.len() < 200 && !path.contains([' ', '\n', '\\']));
    paths
}

/// What stands in quotes in a line.
pub(super) fn quoted(line: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut open: Option<(usize, char)> = None;
    for (at, letter) in line.char_indices() {
        match open {
            Some((start, quote)) if quote == letter => {
                found.push(start..at);
                open = None;
            }
            None if matches!(letter, '"' | '\'' | '`') => open = Some((at + 1, letter)),
            Some(_) | None => {}
        }
    }
    found
}

/// The first text alone, and with what is put behind it.
fn joined(line: &str, quoted: &[Range<usize>]) -> Vec<String> {
    let mut paths = Vec::new();
    let mut whole = String::new();
    let mut end = None;
    for range in quoted.iter().take(MOST_PARTS) {
        let part = stars(line.get(range.clone()).unwrap_or_default());
        if let Some(end) = end {
            // The quotes themselves stand between.
            let between = line.get(end + 1..range.start.saturating_sub(1)).unwrap_or_default().trim();
            let Some(link) = link(between) else { break };
            whole.push_str(link);
        }
        whole.push_str(&part);
        end = Some(range.end);
        paths.push(whole.clone());
        let behind = line.get(range.end + 1..).unwrap_or_default().trim_start();
        paths.extend(open_end(behind).map(|rest| format!("{whole}{rest}")));
    }
    paths
}

/// What two texts have between them when they are put together.
fn link(between: &str) -> Option<&'static str> {
    let is_value = |text: &str| {
        let text = text.trim();
        !text.is_empty()
            && text
                .chars()
                .all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '.' | '$' | '[' | ']'))
    };
    let inside = |sign: char| between.strip_prefix(sign)?.strip_suffix(sign).filter(|text| is_value(text));
    match between {
        "," | "/" => Some("/"),
        "+" | "." | "" => Some(""),
        _ if inside('+').is_some() => Some("*"),
        _ if inside(',').is_some() || inside('/').is_some() => Some("/*/"),
        _ => None,
    }
}

/// What stands for the value behind a text: `"steps." + name`, `join("steps", name)`, `Path("steps") / name`.
fn open_end(behind: &str) -> Option<&'static str> {
    let is_value =
        |rest: &str| rest.trim_start().starts_with(|first: char| first.is_alphabetic() || first == '_');
    let behind = behind.trim_start_matches([')', ' ']);
    match behind.chars().next()? {
        '+' if is_value(behind.get(1..)?) => Some("*"),
        ',' | '/' if is_value(behind.get(1..)?) => Some("/*"),
        _ => None,
    }
}

/// A text with `*` for what a format puts in.
fn stars(text: &str) -> String {
    with_stars(text).replace("%s", "*").replace("%d", "*")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_put_together() {
        for (text, expected) in [
            ("run_path(os.path.join(here, \"cmp.py\"))", "cmp.py"),
            ("os.path.join(here, \"steps\", \"one.py\")", "steps/one.py"),
            ("run_path(join(here, \"cmp\" + \".py\"))", "cmp.py"),
            ("HERE / 'steps' / 'one.py'", "steps/one.py"),
            ("f'steps/{name}.py'", "steps/*.py"),
            ("await import(`./steps/${n}.mjs`)", "./steps/*.mjs"),
            ("require(path.join(__dirname, 'steps', f))", "steps/*"),
            ("importlib.import_module(\"rules.\" + f.stem)", "rules.*"),
            ("'steps/' + name + '.py'", "steps/*.py"),
            ("\"steps/%s.py\" % name", "steps/*.py"),
            ("Path('steps') / name", "steps/*"),
            ("require __DIR__ . '/inc/env.php';", "/inc/env.php"),
            ("join('steps', name, 'run.py')", "steps/*/run.py"),
        ] {
            assert!(named(text).iter().any(|path| path == expected), "{text}: {:?}", named(text));
        }
        assert!(!named("print('a') or 'b.py'").contains(&"a/b.py".to_string()));
    }
}
