//! Python sources: the attempt's product with the base's test functions, test classes and doctests.
//!
//! Owns where a statement at the left margin begins and ends, and where documentation strings are. Refuses to parse
//! expressions. Only files in which tests were observed come here: elsewhere `def test_connection` may be product.

use std::ops::Range;

use crate::Mix;

/// A statement at the left margin, with the comments and decorators above it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Statement {
    /// `def name`, `class name`, or the first line.
    name: String,
    text: String,
    is_test: bool,
}

pub(crate) fn mixed(base: &str, now: &str) -> Mix {
    let (old, new) = (statements(base), statements(now));
    let mut changed = Vec::new();
    let mut text = String::new();
    for statement in &new {
        if !statement.is_test {
            text.push_str(&statement.text);
            continue;
        }
        match old.iter().find(|other| other.name == statement.name && other.is_test) {
            Some(other) if other.text.trim() == statement.text.trim() => text.push_str(&statement.text),
            Some(other) => {
                changed.push(format!("`{}` was edited", statement.name));
                push(&mut text, &other.text);
            }
            None => changed.push(format!("`{}` was added", statement.name)),
        }
    }
    for statement in old.iter().filter(|statement| statement.is_test) {
        if !new.iter().any(|other| other.name == statement.name && other.is_test) {
            changed.push(format!("`{}` was removed", statement.name));
            push(&mut text, &statement.text);
        }
    }
    let text = with_doctests(base, text, &mut changed);
    if changed.is_empty() { Mix::Product } else { Mix::Parts { text: text.into_bytes(), changed } }
}

fn push(text: &mut String, piece: &str) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(piece);
}

/// Whether a source has code besides tests that its tests may be about: functions or classes, and no import of a module
/// for which `is_module` holds.
pub(crate) fn holds_product(text: &str, is_module: &dyn Fn(&str) -> bool) -> bool {
    let statements = statements(text);
    let is_code = |statement: &Statement| {
        !statement.is_test && (statement.name.starts_with("def ") || statement.name.starts_with("class "))
    };
    statements.iter().any(is_code) && !imports(text).iter().any(|module| is_module(module))
}

/// The modules that a source imports at the left margin.
pub(crate) fn imports(text: &str) -> Vec<String> {
    let mut modules = Vec::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("import ") {
            modules.extend(
                rest.split(',').filter_map(|part| part.split_whitespace().next()).map(str::to_string),
            );
        } else if let Some(rest) = line.strip_prefix("from ") {
            modules.extend(rest.split_whitespace().next().map(str::to_string));
        }
    }
    modules
}

fn statements(text: &str) -> Vec<Statement> {
    let mut statements: Vec<Statement> = Vec::new();
    let mut lead = String::new();
    let mut state = Nesting::default();
    for line in text.split_inclusive('\n') {
        let is_inside = state.is_inside();
        state.read(line);
        let trimmed = line.trim_end();
        let goes_on = is_inside
            || line.starts_with([' ', '\t'])
            || trimmed.starts_with([')', ']', '}'])
            || ["else", "elif ", "except", "finally"].iter().any(|word| trimmed.starts_with(word));
        if !is_inside && (trimmed.trim().is_empty() || trimmed.starts_with(['#', '@'])) {
            lead.push_str(line);
        } else if let (true, Some(last)) = (goes_on, statements.last_mut()) {
            last.text.push_str(&std::mem::take(&mut lead));
            last.text.push_str(line);
        } else {
            let text = format!("{}{line}", std::mem::take(&mut lead));
            statements.push(Statement { name: name(trimmed), text, is_test: false });
        }
    }
    match statements.last_mut() {
        Some(last) => last.text.push_str(&lead),
        None if !lead.is_empty() => {
            statements.push(Statement { name: String::new(), text: lead, is_test: false });
        }
        None => {}
    }
    for statement in &mut statements {
        statement.is_test = is_test(statement);
    }
    statements
}

/// `def name` and `class name` for definitions, the line for others.
fn name(line: &str) -> String {
    let line = line.strip_prefix("async ").unwrap_or(line);
    let is_end = |letter: char| matches!(letter, '(' | ':' | '[') || letter.is_whitespace();
    for kind in ["def ", "class "] {
        if let Some(rest) = line.strip_prefix(kind) {
            return format!("{kind}{}", rest.trim_start().split(is_end).next().unwrap_or_default());
        }
    }
    line.trim().to_string()
}

fn is_test(statement: &Statement) -> bool {
    let hooks =
        ["setUpModule", "tearDownModule", "setup_module", "teardown_module", "load_tests", "setup_function"];
    if let Some(name) = statement.name.strip_prefix("def ") {
        let is_fixture =
            statement.text.contains("pytest.fixture") || statement.text.trim_start().starts_with("@fixture");
        return name.starts_with("test") || name.starts_with("assert") || hooks.contains(&name) || is_fixture;
    }
    if let Some(name) = statement.name.strip_prefix("class ") {
        let header = statement.text.lines().find(|line| line.starts_with("class ")).unwrap_or_default();
        return name.starts_with("Test") || header.contains("TestCase");
    }
    let runs_tests = ["unittest.main", "pytest.main", "doctest.testmod", "doctest.testfile"];
    statement.name.starts_with("if __name__") && runs_tests.iter().any(|word| statement.text.contains(word))
        || statement.name.starts_with("pytestmark")
        || statement.name.starts_with("__test__")
        || runs_tests.iter().any(|word| statement.name.contains(word))
}

/// How deep in brackets and strings a line ends.
#[derive(Default)]
pub(crate) struct Nesting {
    depth: usize,
    quote: Option<&'static str>,
    is_continued: bool,
}

impl Nesting {
    pub(crate) fn is_inside(&self) -> bool {
        self.depth > 0 || self.quote.is_some() || self.is_continued
    }

    pub(crate) fn read(&mut self, line: &str) {
        let mut rest = line;
        self.is_continued = line.trim_end_matches(['\n', '\r']).ends_with('\\');
        while let Some(first) = rest.chars().next() {
            let mut step = first.len_utf8();
            match self.quote {
                Some(quote) if rest.starts_with(quote) => {
                    self.quote = None;
                    step = quote.len();
                }
                Some(_) if first == '\\' => step += rest.chars().nth(1).map_or(0, char::len_utf8),
                Some(quote) if first == '\n' && quote.len() == 1 => self.quote = None,
                Some(_) => {}
                None => {
                    let opened =
                        ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| rest.starts_with(quote));
                    self.quote = opened;
                    step = opened.map_or(step, str::len);
                    match first {
                        '#' => return,
                        '(' | '[' | '{' => self.depth += 1,
                        ')' | ']' | '}' => self.depth = self.depth.saturating_sub(1),
                        _ => {}
                    }
                }
            }
            rest = rest.get(step..).unwrap_or_default();
        }
    }
}

/// A documentation string: whose it is, and its place with the quotes.
struct Docstring {
    owner: String,
    range: Range<usize>,
}

fn docstrings(text: &str) -> Vec<Docstring> {
    let mut found = Vec::new();
    let mut owners: Vec<(usize, String)> = Vec::new();
    let mut expected = Some(String::new());
    let (mut state, mut at) = (Nesting::default(), 0);
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let was_inside = state.is_inside();
        state.read(line);
        let trimmed = line.trim();
        if was_inside || trimmed.is_empty() || trimmed.starts_with(['#', '@']) {
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        let header = name(trimmed);
        if header.starts_with("def ") || header.starts_with("class ") {
            owners.retain(|(depth, _)| *depth < indent);
            owners.push((indent, header.split(' ').nth(1).unwrap_or_default().to_string()));
            let names: Vec<&str> = owners.iter().map(|(_, name)| name.as_str()).collect();
            expected = Some(names.join("."));
            continue;
        }
        let Some(owner) = expected.take() else { continue };
        let body = trimmed.trim_start_matches(['r', 'R', 'u', 'U']);
        let Some(quote) = ["\"\"\"", "'''"].into_iter().find(|quote| body.starts_with(quote)) else {
            continue;
        };
        let open = start + line.find(quote).unwrap_or(0) + quote.len();
        if let Some(length) = text.get(open..).and_then(|rest| rest.find(quote)) {
            found.push(Docstring { owner, range: start + indent..open + length + quote.len() });
        }
    }
    found
}

/// A source with the base's examples in documentation strings.
fn with_doctests(base: &str, now: String, changed: &mut Vec<String>) -> String {
    let mut text = now;
    for old in docstrings(base) {
        let before = base.get(old.range.clone()).unwrap_or_default();
        if !before.contains(">>>") {
            continue;
        }
        let new = docstrings(&text).into_iter().find(|new| new.owner == old.owner);
        let title = if old.owner.is_empty() { "the module".to_string() } else { format!("`{}`", old.owner) };
        match new {
            Some(new) if text.get(new.range.clone()) == Some(before) => {}
            Some(new) => {
                changed.push(format!("the doctest of {title} was edited"));
                text.replace_range(new.range, before);
            }
            None => {
                changed.push(format!("the doctest of {title} was removed"));
                text = insert_docstring(&text, &old.owner, before);
            }
        }
    }
    text
}

/// A documentation string put below the header of the one it belongs to.
fn insert_docstring(text: &str, owner: &str, docstring: &str) -> String {
    if owner.is_empty() {
        return format!("{docstring}\n{text}");
    }
    let wanted = owner.rsplit('.').next().unwrap_or(owner);
    let mut result = String::new();
    let (mut state, mut is_due) = (Nesting::default(), false);
    let mut is_done = false;
    for line in text.split_inclusive('\n') {
        let was_inside = state.is_inside();
        state.read(line);
        result.push_str(line);
        let header = name(line.trim());
        let is_header =
            !was_inside && (header == format!("def {wanted}") || header == format!("class {wanted}"));
        is_due |= is_header && !is_done;
        if is_due && !state.is_inside() && line.trim_end().ends_with(':') {
            let indent = line.len() - line.trim_start().len() + 4;
            result.push_str(&format!("{}{docstring}\n", " ".repeat(indent)));
            (is_due, is_done) = (false, true);
        }
    }
    result
}
