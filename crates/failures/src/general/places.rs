//! Findings that begin with a place: `path:line:column: message`, `path(line,column): message`, `path:[line,column] message`,
//! and `line:column  message` below a line with the path.
//!
//! Owns what counts as a path: a name with an ending or a directory, without blanks. A time of day is none.

use super::super::runners::place;
use crate::search::Search;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Severity {
    Error,
    /// Counts only if there is nothing worse.
    Warning,
    /// Explains another finding.
    Note,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Finding<'a> {
    pub(super) file: &'a str,
    pub(super) line: u32,
    pub(super) column: u32,
    pub(super) severity: Severity,
    pub(super) message: &'a str,
}

/// Levels that build tools print before a finding.
const LEVELS: [&str; 8] =
    ["[ERROR] ", "[error] ", "[WARNING] ", "[warn] ", "ERROR: ", "Error: ", "e: ", "w: "];

/// The finding in a line. `above` is the path that stood above it.
pub(super) fn read<'a>(line: &'a str, above: Option<&'a str>) -> Option<Finding<'a>> {
    let text = line.trim_start();
    if let Some(file) = above
        && let Some(finding) = below_file(text, file)
    {
        return Some(finding);
    }
    let has_level = text.starts_with(['[', 'E', 'e', 'w']);
    let level = LEVELS.iter().find(|level| has_level && text.starts_with(**level));
    let text = level.map_or(text, |level| text.get(level.len()..).unwrap_or(text));
    let text = text.strip_prefix("file://").unwrap_or(text);
    let finding = with_colons(text)
        .or_else(|| in_brackets(text))
        .or_else(|| workflow(text))
        .or_else(|| on_line(text))?;
    let is_warning = level.is_some_and(|level| level.to_ascii_lowercase().contains('w'));
    Some(Finding { severity: if is_warning { Severity::Warning } else { finding.severity }, ..finding })
}

/// `path:line[:column]: message`, also without the last colon.
fn with_colons(text: &str) -> Option<Finding<'_>> {
    let colon = memchr::memchr(b':', text.as_bytes())?;
    let next = *text.as_bytes().get(colon + 1)?;
    // `C:\x`
    let is_drive = colon == 1 && matches!(next, b'\\' | b'/');
    if !(next.is_ascii_digit() || is_drive) {
        return None;
    }
    let (file, line, rest) = place(text)?;
    let behind = text.get(file.len() + 1..)?;
    let column = behind.split(':').nth(1).map(leading_number).unwrap_or_default();
    if !is_path(file) || !rest.starts_with([':', ' ', '-', '\t']) && !rest.is_empty() {
        return None;
    }
    let (severity, message) = severity_of(rest.trim_start_matches([':', ' ', '-', '\t']));
    // `a.py:3: in test_a` and `a.cmake:3 (find_package)` are lines of tracebacks.
    let is_frame = message.starts_with("in ") || message.starts_with('(') && message.ends_with(')');
    (!rest.is_empty() && !is_frame).then_some(Finding { file, line, column, severity, message })
}

/// `path(line,column): message` and `path:[line,column] message`
fn in_brackets(text: &str) -> Option<Finding<'_>> {
    let open = memchr::memchr2(b'(', b'[', text.as_bytes())?;
    let file = text.get(..open)?;
    let file = file.strip_suffix(':').unwrap_or(file);
    let inside = text.get(open + 1..)?;
    if !inside.starts_with(|letter: char| letter.is_ascii_digit()) || !is_path(file) {
        return None;
    }
    let (position, rest) = inside.split_once([')', ']'])?;
    let (line, column) = position.split_once(',').unwrap_or((position, "0"));
    let (line, column) = (line.parse().ok()?, leading_number(column));
    let rest = rest.trim_start_matches([':', ' ']);
    let (severity, message) = severity_of(rest);
    (!rest.is_empty()).then_some(Finding { file, line, column, severity, message })
}

/// `  3:1  error  message  rule`
fn below_file<'a>(text: &'a str, file: &'a str) -> Option<Finding<'a>> {
    let (position, rest) = text.split_once([' ', '\t'])?;
    if let (Ok(line), true) = (position.parse(), rest.starts_with("  ")) {
        let message = rest.trim_start();
        return Some(Finding { file, line, column: 0, severity: Severity::Error, message });
    }
    let (line, column) = position.trim_end_matches(':').split_once(':')?;
    let (line, column) = (line.parse().ok()?, column.parse().ok()?);
    let rest = rest.trim_start_matches([' ', '\t', '-', '✖', '×', '✗', '|']);
    let (severity, message) = severity_of(rest);
    (!rest.is_empty()).then_some(Finding { file, line, column, severity, message })
}

/// A line that is nothing but a path, possibly with a mark around it.
pub(super) fn file_alone(line: &str) -> Option<String> {
    let path = line.trim_end_matches(':');
    (is_path(path) && !path.starts_with("http")).then(|| path.to_string())
}

/// `::error file=a.py,line=3,col=5::message` of CI systems.
fn workflow(text: &str) -> Option<Finding<'_>> {
    let (level, rest) = text.strip_prefix("::")?.split_once(' ')?;
    let (fields, message) = rest.cut("::")?;
    let field =
        |name: &str| fields.split(',').find_map(|field| field.trim().strip_prefix(name)?.strip_prefix('='));
    let severity = match level {
        "error" => Severity::Error,
        "warning" => Severity::Warning,
        _ => return None,
    };
    let message = message.split("%0A").next().unwrap_or(message);
    let (line, column) = (field("line")?.parse().ok()?, field("col").map(leading_number).unwrap_or_default());
    Some(Finding { file: field("file")?, line, column, severity, message })
}

/// `PHP Parse error:  syntax error, unexpected token in /w/a.php on line 3`
fn on_line(text: &str) -> Option<Finding<'_>> {
    text.trim_end_matches('.').ends_with(|last: char| last.is_ascii_digit()).then_some(())?;
    let (rest, line) = text.cut_last(" on line ")?;
    let (message, file) = rest.cut_last(" in ")?;
    let line = line.trim_end_matches('.').parse().ok()?;
    let message = message.trim_start_matches("PHP ");
    let is_error = message.has("rror: ") || message.starts_with("Errors parsing");
    let severity = if is_error { Severity::Error } else { Severity::Warning };
    is_path(file).then_some(Finding { file, line, column: 0, severity, message })
}

/// The file that a table is about: `  Line   src/a.php`
pub(super) fn table_of(line: &str) -> Option<String> {
    let file = line.trim().strip_prefix("Line ")?.trim();
    is_path(file).then(|| file.to_string())
}

fn severity_of(text: &str) -> (Severity, &str) {
    // ShellCheck fails by any of its findings.
    if text.ends_with(']') && text.has(" [SC") {
        return (Severity::Error, text);
    }
    let word = text.trim_start_matches('[');
    let word = word.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default();
    let behind = |word: &str| text.get(word.len()..).unwrap_or_default().trim_start_matches([':', ' ', '\t']);
    match word.to_ascii_lowercase().as_str() {
        "error" | "fatal" => (Severity::Error, text),
        "warning" | "warn" => (Severity::Warning, text),
        "note" | "info" | "hint" | "help" | "remark" => (Severity::Note, behind(word)),
        other if other.ends_with("warning") => (Severity::Warning, text),
        _ => (Severity::Error, text),
    }
}

/// Whether a message is one of a linter: it begins with a severity or a code, or ends with a rule.
pub(crate) fn is_of_linter(message: &str) -> bool {
    let word = message.split([':', ' ', '[']).next().unwrap_or_default();
    let letters = word.bytes().take_while(u8::is_ascii_uppercase).count();
    let digits = word.get(letters..).unwrap_or_default();
    let is_code = (1..=6).contains(&letters)
        && (1..=6).contains(&digits.len())
        && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_code || matches!(word, "error" | "warning" | "fatal") || message.ends_with([']', ')'])
}

fn leading_number(text: &str) -> u32 {
    let digits = text.trim_start().bytes().take_while(u8::is_ascii_digit).count();
    text.trim_start().get(..digits).and_then(|digits| digits.parse().ok()).unwrap_or_default()
}

fn is_path(text: &str) -> bool {
    if text.is_empty() || text.len() >= 400 || memchr::memchr(b' ', text.as_bytes()).is_some() {
        return false;
    }
    let name = text.rsplit(['/', '\\']).next().unwrap_or(text);
    let has_ending = name.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty()
            && (1..=10).contains(&ending.len())
            && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && ending.bytes().any(|byte| byte.is_ascii_alphabetic())
    });
    let has_letters = name.bytes().any(|byte| byte.is_ascii_alphabetic());
    !text.contains(['\t', '"', '\'', '<', '>', '|', '=', '(', ')', '{', '}', ','])
        && has_letters
        && (has_ending || text.contains('/') && !text.has("//") || name == "Dockerfile" || name == "Makefile")
}

#[cfg(test)]
mod tests {
    use super::*;

    type Expected<'a> = (&'a str, u32, u32, Severity, &'a str);

    #[test]
    fn places_of_many_tools_are_read() {
        let error = Severity::Error;
        let rows: [(&str, Option<Expected<'_>>); 20] = [
            ("calc.py:3:80: E501 line too long", Some(("calc.py", 3, 80, error, "E501 line too long"))),
            ("./a.go:3: x declared and not used", Some(("./a.go", 3, 0, error, "x declared and not used"))),
            ("a.ts(5,7): bad", Some(("a.ts", 5, 7, error, "bad"))),
            ("[ERROR] /w/A.java:[3,5] bad", Some(("/w/A.java", 3, 5, error, "bad"))),
            ("a.py:3: warning: old", Some(("a.py", 3, 0, Severity::Warning, "warning: old"))),
            (
                "a.py:3: DeprecationWarning: old",
                Some(("a.py", 3, 0, Severity::Warning, "DeprecationWarning: old")),
            ),
            ("a.py:3: note: see", Some(("a.py", 3, 0, Severity::Note, "see"))),
            ("Dockerfile:3 DL3008 pin it", Some(("Dockerfile", 3, 0, error, "DL3008 pin it"))),
            (
                "docs/a.md:7:1 MD022/blanks Headings",
                Some(("docs/a.md", 7, 1, error, "MD022/blanks Headings")),
            ),
            ("  /w/a.py:3:5 - error: bad", Some(("/w/a.py", 3, 5, error, "error: bad"))),
            ("e: file:///w/A.kt:3:5 bad", Some(("/w/A.kt", 3, 5, error, "bad"))),
            ("A.hs:3:5:", Some(("A.hs", 3, 5, error, ""))),
            ("C:\\w\\a.c:3: bad", Some(("C:\\w\\a.c", 3, 0, error, "bad"))),
            ("12:30:15 INFO started", None),
            ("2026-11-16T02:35:00Z INFO handled", None),
            ("http://localhost:3000/ is up", None),
            ("127.0.0.1:8080: refused", None),
            ("localhost:5432: refused", None),
            ("step 3: done", None),
            ("at run (a.js:3:5)", None),
        ];
        for (line, expected) in rows {
            let found = read(line, None);
            let found =
                found.map(|found| (found.file, found.line, found.column, found.severity, found.message));
            assert_eq!(found, expected, "{line}");
        }
    }

    #[test]
    fn positions_below_a_path_belong_to_it() {
        let rows = [
            (
                "  3:1       error    wrong indentation  (indentation)",
                Some((3, 1, "error    wrong indentation  (indentation)")),
            ),
            (
                "  12:4  ✖  Unexpected unit  unit-disallowed",
                Some((12, 4, "Unexpected unit  unit-disallowed")),
            ),
            ("  nothing", None),
        ];
        for (line, expected) in rows {
            let found = read(line, Some("a.yml")).map(|found| (found.line, found.column, found.message));
            assert_eq!(found, expected, "{line}");
        }
        assert_eq!(file_alone("src/a.css"), Some("src/a.css".to_string()));
        assert_eq!(file_alone("Running checks"), None);
    }

    #[test]
    fn codes_and_rules_are_those_of_linters() {
        for message in ["E501 line too long", "C0114: Missing docstring", "error: bad", "unused (deadcode)"] {
            assert!(is_of_linter(message), "{message}");
        }
        assert!(!is_of_linter("TODO write this"));
    }
}
