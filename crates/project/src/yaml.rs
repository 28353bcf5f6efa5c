//! Writes what was detected as a configuration file that a person can read and change.
//!
//! Invariant: the text is valid YAML with exactly what was detected, under `checks` and `workspace`. Defaults are left out.

use fixpoint_vocabulary::Lang;
use fixpoint_vocabulary::settings::{Check, CheckKind, CheckVerdict};
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

use crate::detected::{DetectedProject, Skipped, UnusableCheck};

/// The width of comments, in columns.
const COMMENT_WIDTH: usize = 100;

/// The text of `.fixpoint/config.yaml`. `schema` is where editors find the JSON Schema: a path from the file, or an
/// address. `lang` is the language of the notes.
pub fn config_yaml(project: &DetectedProject, schema: &str, lang: Lang) -> String {
    let mut lines = vec![format!("# yaml-language-server: $schema={}", one_line(schema)), String::new()];
    write_checks(project, &mut lines);
    write_unusable(project, lang, &mut lines);
    write_workspace(project, &mut lines);
    if !project.notes.is_empty() || !project.skipped.is_empty() {
        lines.push(String::new());
    }
    for Skipped { what, why } in &project.skipped {
        lines.extend(comment(&format!("Not used: {what}: {}.", why.in_lang(lang))));
    }
    for note in &project.notes {
        lines.extend(comment(note.in_lang(lang)));
    }
    lines.push(String::new());
    lines.join("\n")
}

fn write_checks(project: &DetectedProject, lines: &mut Vec<String>) {
    lines.extend(comment(
        "Commands that test the project, run by `sh -c`. A `guard` must show no failure that was not there before; a \
         `goal` must pass.",
    ));
    if project.checks.is_empty() {
        lines.push("checks: []".to_string());
        lines.extend(["# - name: test", "#   command: ./run-tests.sh"].map(str::to_string));
        return;
    }
    lines.push("checks:".to_string());
    for detected in &project.checks {
        lines.push(format!("  # from {}", one_line(&detected.because)));
        write_check(&detected.check, lines);
    }
}

/// Checks that were tried and cannot be used stay as comments, for somebody to correct.
fn write_unusable(project: &DetectedProject, lang: Lang, lines: &mut Vec<String>) {
    for UnusableCheck { detected, why } in &project.unusable {
        lines.extend(comment(&format!("Not usable: {}", why.in_lang(lang))));
        let mut written = vec![format!("  # from {}", one_line(&detected.because))];
        write_check(&detected.check, &mut written);
        lines.extend(written.iter().map(|line| format!("#{line}")));
    }
}

fn write_check(check: &Check, lines: &mut Vec<String>) {
    lines.push(format!("  - name: {}", scalar(&check.name)));
    lines.push(format!("    command: {}", scalar(&check.command)));
    let kind = match check.kind {
        CheckKind::Goal => "goal",
        CheckKind::Guard => "guard",
    };
    lines.push(format!("    kind: {kind}"));
    if check.runner != "auto" {
        lines.push(format!("    runner: {}", scalar(&check.runner)));
    }
    if let Some(lock) = &check.lock {
        lines.push(format!("    lock: {}", scalar(lock)));
    }
    match check.verdict {
        CheckVerdict::Auto => {}
        CheckVerdict::File => lines.push("    verdict: file".to_string()),
        CheckVerdict::Text => lines.push("    verdict: text".to_string()),
    }
    if check.timeout != Check::new("", "", check.kind).timeout {
        lines.push(format!("    timeout: {}", check.timeout));
    }
}

fn write_workspace(project: &DetectedProject, lines: &mut Vec<String>) {
    if project.setup.is_empty() && project.copy.is_empty() {
        return;
    }
    lines.push(String::new());
    lines.extend(comment("How the private copies of the repository are prepared."));
    lines.push("workspace:".to_string());
    write_list("setup", "Run once in a new workspace.", &project.setup, lines);
    write_list(
        "copy",
        "Files to copy although git ignores them; agents can read them.",
        &project.copy,
        lines,
    );
}

fn write_list(key: &str, meaning: &str, items: &[String], lines: &mut Vec<String>) {
    if items.is_empty() {
        return;
    }
    lines.push(format!("  # {meaning}"));
    lines.push(format!("  {key}:"));
    lines.extend(items.iter().map(|item| format!("    - {}", scalar(item))));
}

/// A text as YAML: plain if it cannot be read as anything else, in double quotes otherwise.
fn scalar(text: &str) -> String {
    // A dot before a digit would begin a number.
    let after_dot = text.strip_prefix('.').unwrap_or(text);
    let begins_plainly = after_dot.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/');
    let is_plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.' | '/' | '+' | '=' | '&');
    let lower = text.to_ascii_lowercase();
    let is_word =
        matches!(lower.as_str(), "true" | "false" | "yes" | "no" | "on" | "off" | "null" | "y" | "n")
            || matches!(lower.as_str(), ".inf" | ".nan");
    if begins_plainly && !is_word && text.chars().all(is_plain) && !text.ends_with(' ') {
        return text.to_string();
    }
    let quoted: String = text.chars().map(escaped).collect();
    format!("\"{quoted}\"")
}

/// A character within double quotes. Line breaks would be folded, and some characters are not allowed unescaped.
fn escaped(c: char) -> String {
    match c {
        '"' => "\\\"".to_string(),
        '\\' => "\\\\".to_string(),
        '\n' => "\\n".to_string(),
        '\t' => "\\t".to_string(),
        ' '..='~' => c.to_string(),
        _ if is_shown(c) => c.to_string(),
        _ => format!("\\U{:08X}", u32::from(c)),
    }
}

/// Whether a character beyond ASCII can be written unescaped, in YAML and in a comment.
fn is_shown(c: char) -> bool {
    // Line ends, byte order marks, and marks that change the direction of text.
    let is_treacherous = matches!(
        c,
        '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{e000}'..='\u{f8ff}' | '\u{feff}' | '\u{fff0}'..
    );
    // Characters beyond the first plane are escaped as well: they are rare, and not every font has them.
    c >= '\u{a1}' && !is_treacherous
}

/// A comment, wrapped between words only: a path or a command stays whole.
fn comment(text: &str) -> Vec<String> {
    let options = Options::new(COMMENT_WIDTH)
        .initial_indent("# ")
        .subsequent_indent("# ")
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit)
        .break_words(false);
    let text = one_line(text).split_whitespace().collect::<Vec<_>>().join(" ");
    textwrap::wrap(&text, options).into_iter().map(|line| line.trim_end().to_string()).collect()
}

/// The text without anything that would end a comment.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if matches!(c, ' '..='~') || is_shown(c) { c } else { ' ' }).collect()
}
