//! The repository as a planner is shown it: its tree, its key files, the rules for agents, the recent commits.
//!
//! Bounded by a number of tokens: rules first, then what kind of project it is, then names. What is left out is said.

use std::collections::BTreeMap;
use std::thread::ScopedJoinHandle;

use fixpoint_ports::{CommitId, WorkspaceError, Workspaces};
use fixpoint_prompts::{TokenMeter, estimate_tokens};

/// No file of a repository is shown beyond this.
const LARGEST_FILE: u64 = 256 << 10;
/// Commits that are shown.
const COMMITS: u32 = 10;

/// Files that tell agents how to work here, with the share of the budget each may take, in hundredths.
const RULES: [&str; 6] = [
    "AGENTS.md",
    "CLAUDE.md",
    "GEMINI.md",
    ".github/copilot-instructions.md",
    ".cursorrules",
    "CONTRIBUTING.md",
];
/// Files that tell what kind of project this is.
const KEY_FILES: [&str; 12] = [
    "README.md",
    "Cargo.toml",
    "package.json",
    "pyproject.toml",
    "go.mod",
    "pom.xml",
    "build.gradle",
    "Gemfile",
    "composer.json",
    "mix.exs",
    "Makefile",
    "docker-compose.yml",
];

/// What was seen of the repository, or why it was not.
struct Looks {
    /// Those of the known files that are there, in the order of `RULES` and `KEY_FILES`.
    contents: Result<Vec<Option<Vec<u8>>>, String>,
    recent: Result<Vec<String>, String>,
    files: Result<Vec<Vec<u8>>, String>,
}

/// The repository at a commit, in about so many tokens. What cannot be read is said: a planner that sees no rules must
/// not take it that there are none.
pub fn repository_context(workspaces: &dyn Workspaces, at: &CommitId, tokens: u64) -> String {
    let known: Vec<&[u8]> = RULES.iter().chain(&KEY_FILES).map(|name| name.as_bytes()).collect();
    // Three looks at the repository, none of which needs another, and a planner waits for all of them.
    let looks = std::thread::scope(|scope| {
        let files = scope.spawn(|| said(workspaces.files(at)));
        let recent = scope.spawn(|| said(workspaces.recent_subjects(at, COMMITS)));
        let contents = said(workspaces.read_files(at, &known, LARGEST_FILE));
        Looks { contents, recent: ended(recent), files: ended(files) }
    });
    described(looks, tokens)
}

fn said<T>(seen: Result<T, WorkspaceError>) -> Result<T, String> {
    seen.map_err(|error| error.to_string())
}

fn ended<T>(look: ScopedJoinHandle<'_, Result<T, String>>) -> Result<T, String> {
    look.join().unwrap_or_else(|_| Err("looking at it was cut short".to_string()))
}

fn described(looks: Looks, tokens: u64) -> String {
    let mut page = Page { text: String::new(), left: tokens };
    let unreadable = |error: &String| format!("(cannot be read: {error})");
    let shares = RULES.iter().map(|_| tokens / 5).chain(KEY_FILES.iter().map(|_| tokens / 8));
    match looks.contents {
        Ok(contents) => {
            for ((name, content), most) in RULES.iter().chain(&KEY_FILES).zip(contents).zip(shares) {
                if let Some(content) = content {
                    page.section(name, &String::from_utf8_lossy(&content), most);
                }
            }
        }
        Err(error) => page.section("Rules and key files", &unreadable(&error), tokens / 5),
    }
    let recent = looks.recent.map_or_else(|error| unreadable(&error), |recent| recent.join("\n"));
    page.section("Recent commits", &recent, tokens / 20);
    let left = page.left;
    match looks.files {
        Ok(files) => {
            let names: Vec<String> =
                files.iter().map(|path| String::from_utf8_lossy(path).into_owned()).collect();
            page.section(&format!("Files ({})", names.len()), &tree(&names, left), left);
        }
        Err(error) => page.section("Files", &unreadable(&error), left),
    }
    page.text
}

struct Page {
    text: String,
    left: u64,
}

impl Page {
    fn section(&mut self, title: &str, content: &str, most: u64) {
        let most = most.min(self.left);
        let mut kept = String::new();
        let mut meter = TokenMeter::default();
        for line in content.lines() {
            line.chars().chain(['\n']).for_each(|letter| meter.add(letter));
            if meter.tokens() > most {
                kept.push_str("[cut]\n");
                break;
            }
            kept.push_str(line);
            kept.push('\n');
        }
        if kept.trim().is_empty() || kept == "[cut]\n" {
            return;
        }
        let section = format!("## {title}\n\n{kept}\n");
        self.left = self.left.saturating_sub(estimate_tokens(&section));
        self.text.push_str(&section);
    }
}

/// The tree, a line a file while that fits; else directories with the number of their files.
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
        format!("{name}/ ({count} files)")
    };
    counts.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a repository that looks empty, or without rules, because git could not be asked.
    #[test]
    fn what_cannot_be_read_is_said() {
        let broken = || "git: bad object".to_string();
        let looks = Looks { contents: Err(broken()), recent: Err(broken()), files: Err(broken()) };
        let text = described(looks, 4000);
        for title in ["## Rules and key files", "## Recent commits", "## Files"] {
            assert!(text.contains(&format!("{title}\n\n(cannot be read: git: bad object)")), "{text}");
        }
    }

    #[test]
    fn what_is_there_is_shown_and_what_is_not_is_left_out() {
        let mut contents = vec![None; RULES.len() + KEY_FILES.len()];
        contents[0] = Some(b"be kind\n".to_vec());
        let looks = Looks { contents: Ok(contents), recent: Ok(Vec::new()), files: Ok(vec![b"a".to_vec()]) };
        assert_eq!(described(looks, 4000), format!("## {}\n\nbe kind\n\n## Files (1)\n\na\n\n", RULES[0]));
    }
}
