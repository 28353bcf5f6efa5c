//! The repository as a planner sees it: rules for agents, key files, recent commits and the file tree.
//!
//! Owns what is shown within a number of tokens: rules first, then the kind of project, then file names. A section that is
//! shortened says how much was left out.

use std::collections::{BTreeMap, BTreeSet};
use std::thread::ScopedJoinHandle;

use fixpoint_ports::{CommitId, WorkspaceError, Workspaces};
use fixpoint_prompts::{TokenMeter, Unit, estimate_tokens, left_out};
use fixpoint_vocabulary::counted;

/// A larger file is not read, in bytes.
const MAX_FILE: u64 = 256 << 10;
/// How many recent commits are listed.
const COMMITS: u32 = 10;

/// Files that tell agents how to work in this repository.
const RULES: &str =
    "AGENTS.md CLAUDE.md GEMINI.md .github/copilot-instructions.md .cursorrules CONTRIBUTING.md";
/// Files that show what kind of project this is.
const KEY_FILES: &str = "README.md Cargo.toml package.json pyproject.toml go.mod pom.xml build.gradle Gemfile \
                         composer.json mix.exs Makefile docker-compose.yml";

/// Both lists, each file with the divisor of the tokens it may take.
fn known_files() -> impl Iterator<Item = (&'static str, u64)> {
    RULES.split(' ').map(|name| (name, 5)).chain(KEY_FILES.split(' ').map(|name| (name, 8)))
}

/// What was read from the repository, or why it could not be read.
struct Facts {
    /// In the order of `known_files`; `None` where a file does not exist or is too large.
    contents: Result<Vec<Option<Vec<u8>>>, String>,
    recent: Result<Vec<String>, String>,
    files: Result<Vec<Vec<u8>>, String>,
}

/// The repository at a commit, in about so many tokens. It says what could not be read: a planner that sees no rules must
/// not conclude that there are none.
pub fn repository_context(workspaces: &dyn Workspaces, at: &CommitId, tokens: u64) -> String {
    let known: Vec<&[u8]> = known_files().map(|(name, _)| name.as_bytes()).collect();
    // The three reads are independent, and the planner waits for all of them.
    let facts = std::thread::scope(|scope| {
        let files = scope.spawn(|| with_message(workspaces.files(at)));
        let recent = scope.spawn(|| with_message(workspaces.recent_subjects(at, COMMITS)));
        let contents = with_message(workspaces.read_files(at, &known, MAX_FILE));
        Facts { contents, recent: joined(recent), files: joined(files) }
    });
    describe(&facts, tokens)
}

fn with_message<T>(result: Result<T, WorkspaceError>) -> Result<T, String> {
    result.map_err(|error| error.to_string())
}

fn joined<T>(thread: ScopedJoinHandle<'_, Result<T, String>>) -> Result<T, String> {
    thread.join().unwrap_or_else(|_| Err("reading it failed".to_string()))
}

fn describe(facts: &Facts, tokens: u64) -> String {
    let mut page = Page { text: String::new(), left: tokens };
    let unreadable = |error: &String| format!("(cannot be read: {error})");
    let names: Vec<String> =
        facts.files.iter().flatten().map(|path| String::from_utf8_lossy(path).into_owned()).collect();
    let existing: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    match &facts.contents {
        Ok(contents) => {
            let too_large = format!("[… left out: larger than {} KiB …]", MAX_FILE >> 10);
            for ((name, divisor), content) in known_files().zip(contents) {
                match content {
                    Some(content) => {
                        page.section(name, &String::from_utf8_lossy(content), tokens / divisor);
                    }
                    None if existing.contains(name) => page.section(name, &too_large, tokens / divisor),
                    None => {}
                }
            }
        }
        Err(error) => page.section("Rules and key files", &unreadable(error), tokens / 5),
    }
    let recent = facts.recent.as_ref().map_or_else(unreadable, |recent| recent.join("\n"));
    page.section("Recent commits", &recent, tokens / 20);
    let left = page.left;
    match &facts.files {
        Ok(_) => page.section(&format!("Files ({})", names.len()), &tree(&names, left), left),
        Err(error) => page.section("Files", &unreadable(error), left),
    }
    page.text
}

/// A text of sections within a number of tokens.
struct Page {
    text: String,
    left: u64,
}

impl Page {
    /// Adds as many lines as fit; an empty section is skipped.
    fn section(&mut self, title: &str, content: &str, max: u64) {
        if content.trim().is_empty() {
            return;
        }
        let max = max.min(self.left);
        let mut kept = String::new();
        let mut meter = TokenMeter::default();
        let mut lines = content.lines();
        let mut omitted = 0;
        for line in lines.by_ref() {
            line.chars().chain(['\n']).for_each(|letter| meter.add(letter));
            if meter.tokens() > max {
                omitted = 1;
                break;
            }
            kept.push_str(line);
            kept.push('\n');
        }
        omitted += lines.count() as u64;
        if omitted > 0 {
            kept.push_str(&left_out(omitted, Unit::Lines));
            kept.push('\n');
        }
        let section = format!("## {title}\n\n{kept}\n");
        self.left = self.left.saturating_sub(estimate_tokens(&section));
        self.text.push_str(&section);
    }
}

/// One line per file if that fits, otherwise directories with the number of their files.
fn tree(names: &[String], tokens: u64) -> String {
    let all = names.join("\n");
    if estimate_tokens(&all) <= tokens {
        return all;
    }
    let deepest = names.iter().map(|name| name.matches('/').count()).max().unwrap_or(0);
    let by_depth = (1..=deepest).rev().map(|depth| directories(names, depth));
    by_depth.into_iter().find(|text| estimate_tokens(text) <= tokens).unwrap_or_else(|| directories(names, 1))
}

/// Directories down to a depth, each with the number of files below it.
fn directories(names: &[String], depth: usize) -> String {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for name in names {
        let parts: Vec<&str> = name.split('/').collect();
        let directory = parts.split_last().map(|(_, directories)| directories).unwrap_or_default();
        let kept = directory.iter().take(depth).copied().collect::<Vec<_>>().join("/");
        *counts.entry(kept).or_default() += 1;
    }
    let line = |(directory, count): (&String, &u64)| {
        let name = if directory.is_empty() { "." } else { directory.as_str() };
        format!("{name}/ ({})", counted(count, "file"))
    };
    counts.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(readme: Option<&[u8]>, files: &[&str]) -> Facts {
        let mut contents = vec![None; known_files().count()];
        contents[RULES.split(' ').count()] = readme.map(<[u8]>::to_vec);
        let files = files.iter().map(|name| name.as_bytes().to_vec()).collect();
        Facts { contents: Ok(contents), recent: Ok(Vec::new()), files: Ok(files) }
    }

    /// Catches a repository that looks empty, or without rules, because git failed.
    #[test]
    fn what_cannot_be_read_is_reported() {
        let broken = || "git: bad object".to_string();
        let facts = Facts { contents: Err(broken()), recent: Err(broken()), files: Err(broken()) };
        let text = describe(&facts, 4000);
        for title in ["## Rules and key files", "## Recent commits", "## Files"] {
            assert!(text.contains(&format!("{title}\n\n(cannot be read: git: bad object)")), "{text}");
        }
    }

    #[test]
    fn existing_files_are_shown_and_missing_ones_are_not_mentioned() {
        let text = describe(&facts(Some(b"be kind\n"), &["README.md"]), 4000);
        assert_eq!(text, "## README.md\n\nbe kind\n\n## Files (1)\n\nREADME.md\n\n");
    }

    /// Catches a file that is cut, or skipped for its size, without a word.
    #[test]
    fn what_is_left_out_is_counted() {
        let long: String = (0..2000).map(|n| format!("rule {n}\n")).collect();
        let text = describe(&facts(Some(long.as_bytes()), &["README.md"]), 800);
        let shown = text.lines().filter(|line| line.starts_with("rule ")).count();
        assert!(shown > 10, "{text}");
        assert!(text.contains(&left_out(2000 - shown as u64, Unit::Lines)), "{text}");
        let text = describe(&facts(None, &["README.md"]), 800);
        assert!(text.starts_with("## README.md\n\n[… left out: larger than 256 KiB …]\n"), "{text}");
        let one_line = "x".repeat(100_000);
        let text = describe(&facts(Some(one_line.as_bytes()), &["README.md"]), 800);
        assert!(text.starts_with("## README.md\n\n[… 1 line left out …]\n"), "{text}");
    }
}
