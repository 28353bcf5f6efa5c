//! The repository as a planner is shown it: its tree, its key files, the rules for agents, the recent commits.
//!
//! Bounded by a number of tokens: rules first, then what kind of project it is, then names. What is left out is said.

use std::collections::BTreeMap;

use fixpoint_ports::{CommitId, Workspaces};
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

/// The repository at a commit, in about so many tokens. What cannot be read is left out.
pub fn repository_context(workspaces: &dyn Workspaces, at: &CommitId, tokens: u64) -> String {
    let known: Vec<&[u8]> = RULES.iter().chain(&KEY_FILES).map(|name| name.as_bytes()).collect();
    // Three looks at the repository, none of which needs another, and a planner waits for all of them.
    let (files, recent, contents) = std::thread::scope(|scope| {
        let files = scope.spawn(|| workspaces.files(at).unwrap_or_default());
        let recent = scope.spawn(|| workspaces.recent(at, COMMITS).unwrap_or_default());
        let contents = workspaces.read_files(at, &known, LARGEST_FILE).unwrap_or_default();
        (files.join().unwrap_or_default(), recent.join().unwrap_or_default(), contents)
    });
    let names: Vec<String> = files.iter().map(|path| String::from_utf8_lossy(path).into_owned()).collect();
    let mut page = Page { text: String::new(), left: tokens };
    let shares = RULES.iter().map(|_| tokens / 5).chain(KEY_FILES.iter().map(|_| tokens / 8));
    for ((name, content), most) in RULES.iter().chain(&KEY_FILES).zip(contents).zip(shares) {
        if let Some(content) = content {
            page.section(name, &String::from_utf8_lossy(&content), most);
        }
    }
    if !recent.is_empty() {
        page.section("Recent commits", &recent.join("\n"), tokens / 20);
    }
    let left = page.left;
    page.section(&format!("Files ({})", names.len()), &tree(&names, left), left);
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
