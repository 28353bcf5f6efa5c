//! A diff shortened to its most relevant hunks.
//!
//! Owns the order of files: those that failures and the acceptance criteria name, then those in scope, sources and tests
//! before documents, lock files and generated files last. Hunks stay whole; files that are left out are named. Refuses to
//! interpret the changes.

use crate::tokens::{TokenMeter, estimate_tokens, prefix_within};

/// Which files matter.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hints {
    /// Paths, or the ends of paths, that failures and acceptance criteria mention.
    pub(crate) named: Vec<String>,
    pub(crate) scope: Vec<String>,
}

impl Hints {
    /// Adds everything in a text that looks like a path.
    pub(crate) fn add_paths_in(&mut self, text: &str) {
        let is_separator = |letter: char| letter.is_whitespace() || "`'\"()[]{}<>,;:".contains(letter);
        // `src/a`, `a.rs` and `main.c` are paths; `e.g.` and `3.5` are not.
        let looks_like_path = |word: &&str| {
            let is_file = |(name, kind): (&str, &str)| name.len() + kind.len() > 2 && is_suffix(kind);
            word.len() > 2 && (word.contains('/') || word.rsplit_once('.').is_some_and(is_file))
        };
        let words = text.split(is_separator).map(|word| word.trim_matches('.')).filter(looks_like_path);
        self.named.extend(words.map(str::to_string));
    }

    fn names(&self, path: &str) -> bool {
        self.named.iter().any(|named| {
            let named = named.trim_start_matches("./");
            path.strip_suffix(named).is_some_and(|before| before.is_empty() || before.ends_with('/'))
                || named.strip_suffix('/').is_some_and(|directory| is_below(path, directory))
        })
    }

    /// Whether a glob of the scope probably covers the path; good enough for sorting.
    fn covers(&self, path: &str) -> bool {
        self.scope.iter().any(|glob| {
            let literal = glob.split(['*', '?', '[']).next().unwrap_or_default();
            let ending = glob.rsplit(['*', '?', ']']).next().unwrap_or_default();
            path.starts_with(literal) && path.ends_with(ending)
        })
    }
}

fn is_suffix(kind: &str) -> bool {
    (1..=5).contains(&kind.len())
        && kind.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && kind.chars().all(|letter| letter.is_ascii_alphanumeric())
}

fn is_below(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
}

/// One file of a diff.
#[derive(Debug, Default)]
struct FileDiff<'d> {
    path: &'d str,
    header: String,
    hunks: Vec<String>,
}

fn files(diff: &str) -> Vec<FileDiff<'_>> {
    let mut files: Vec<FileDiff<'_>> = Vec::new();
    for line in diff.split_inclusive('\n') {
        if let Some(names) = line.strip_prefix("diff --git ") {
            let path = names.rsplit_once(" b/").map_or(names, |(_, path)| path).trim_end();
            files.push(FileDiff { path: path.trim_matches('"'), ..FileDiff::default() });
        } else if files.is_empty() {
            files.push(FileDiff::default());
        }
        let Some(file) = files.last_mut() else { continue };
        match file.hunks.last_mut() {
            _ if line.starts_with("@@") => file.hunks.push(line.to_string()),
            Some(hunk) => hunk.push_str(line),
            None => file.header.push_str(line),
        }
    }
    files
}

/// Lower is more relevant.
fn rank(file: &FileDiff<'_>, hints: &Hints) -> u8 {
    let path = file.path;
    let name = path.rsplit('/').next().unwrap_or(path);
    let kind = name.rsplit_once('.').map_or("", |(_, kind)| kind);
    let lock = name.ends_with(".lock") || name.ends_with("-lock.json") || name.ends_with("-lock.yaml");
    let generated = lock
        || name == "go.sum"
        || name.contains(".min.")
        || ["map", "svg", "snap", "csv", "bin", "png", "jpg"].contains(&kind)
        || ["dist/", "build/", "node_modules/", "vendor/", "target/", "generated/"]
            .iter()
            .any(|directory| path.starts_with(directory) || path.contains(&format!("/{directory}")));
    let prose =
        ["md", "txt", "rst", "adoc", "json", "yaml", "yml", "toml", "xml", "ini", "cfg"].contains(&kind);
    match (hints.names(path), generated, hints.covers(path), prose) {
        (true, _, _, _) => 0,
        (false, true, _, _) => 5,
        (false, false, true, false) => 1,
        (false, false, true, true) => 2,
        (false, false, false, false) => 3,
        (false, false, false, true) => 4,
    }
}

/// The most relevant hunks that fit, the names of the files that are incomplete, and the number of lines left out.
pub(crate) fn shorten_diff(diff: &str, hints: &Hints, tokens: u64) -> (String, u64) {
    let mut files = files(diff);
    files.sort_by_key(|file| rank(file, hints));
    // The names get a tenth of the room: without them the reader could not know what is missing.
    let for_names = tokens / 10;
    let mut room = tokens - for_names;
    let (mut kept, mut incomplete) = (String::new(), Vec::new());
    for file in &files {
        let mut taken = 0;
        let header = estimate_tokens(&file.header);
        for hunk in &file.hunks {
            let cost = estimate_tokens(hunk) + if taken == 0 { header } else { 0 };
            if cost <= room {
                if taken == 0 {
                    kept.push_str(&file.header);
                }
                kept.push_str(hunk);
                room -= cost;
                taken += 1;
            }
        }
        if file.hunks.is_empty() && header <= room {
            kept.push_str(&file.header);
            room -= header;
        } else if taken < file.hunks.len() || file.hunks.is_empty() {
            incomplete.push(format!(
                "{} ({} of {} hunks)",
                file.path,
                file.hunks.len() - taken,
                file.hunks.len()
            ));
        }
    }
    if kept.is_empty() {
        // One hunk is larger than all the room: its start says more than nothing.
        let first =
            files.first().map(|file| format!("{}{}", file.header, file.hunks.concat())).unwrap_or_default();
        kept.push_str(prefix_within(&first, room));
    }
    let lines = |text: &str| text.lines().count() as u64;
    let omitted = lines(diff).saturating_sub(lines(&kept));
    (kept + &names_of(&incomplete, for_names), omitted)
}

fn names_of(incomplete: &[String], tokens: u64) -> String {
    let mut list = String::from("\n# left out:");
    let mut meter = TokenMeter::default();
    list.chars().for_each(|letter| meter.add(letter));
    for (at, name) in incomplete.iter().enumerate() {
        let line = format!(" {name};");
        let end = format!(" and {} more", incomplete.len() - at);
        let mut longer = meter.clone();
        line.chars().for_each(|letter| longer.add(letter));
        if longer.tokens() + estimate_tokens(&end) > tokens {
            list.push_str(&end);
            break;
        }
        meter = longer;
        list.push_str(&line);
    }
    if incomplete.is_empty() || estimate_tokens(&list) > tokens { String::new() } else { list }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn change(path: &str, hunks: usize, lines: usize) -> String {
        let body: String = (0..lines).map(|n| format!("+{path} {n}\n")).collect();
        let hunk = format!("@@ -1 +1,{lines} @@\n{body}");
        format!("diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n{}", hunk.repeat(hunks))
    }

    fn order(hints: &Hints, paths: &[&str]) -> Vec<String> {
        let diff: String = paths.iter().map(|path| change(path, 1, 1)).collect();
        let mut files = files(&diff);
        files.sort_by_key(|file| rank(file, hints));
        files.iter().map(|file| file.path.to_string()).collect()
    }

    #[test]
    fn files_are_sorted_by_relevance() {
        let mut hints = Hints { named: vec![], scope: vec!["src/**".into(), "**/*.py".into()] };
        hints.add_paths_in("A1: `parse` in lib/deep/parser.rs handles (see notes.md:12), e.g. 3.5 items");
        assert_eq!(hints.named, ["lib/deep/parser.rs", "notes.md"]);
        let paths = [
            "Cargo.lock",
            "dist/app.js",
            "docs/guide.md",
            "other/x.rs",
            "src/data.json",
            "src/a.rs",
            "notes.md",
            "lib/deep/parser.rs",
        ];
        let expected = [
            "notes.md",
            "lib/deep/parser.rs",
            "src/a.rs",
            "src/data.json",
            "other/x.rs",
            "docs/guide.md",
            "Cargo.lock",
            "dist/app.js",
        ];
        assert_eq!(order(&hints, &paths), expected);
    }

    #[test]
    fn whole_hunks_are_kept_and_incomplete_files_are_named() {
        let diff = change("Cargo.lock", 1, 200) + &change("src/a.rs", 3, 5) + &change("README.md", 1, 200);
        let (text, omitted) =
            shorten_diff(&diff, &Hints::default(), estimate_tokens(&change("src/a.rs", 3, 5)) * 2);
        assert!(text.starts_with(&change("src/a.rs", 3, 5)), "{text}");
        let named = "\n# left out: README.md (1 of 1 hunks); Cargo.lock (1 of 1 hunks);";
        assert!(text.ends_with(named), "{text}");
        assert_eq!(omitted, 2 * (3 + 1 + 200));
    }

    #[test]
    fn the_start_of_a_hunk_that_is_too_large_is_shown() {
        let (text, omitted) = shorten_diff(&change("src/a.rs", 1, 500), &Hints::default(), 100);
        assert!(text.starts_with("diff --git a/src/a.rs b/src/a.rs\n"), "{text}");
        assert!(omitted > 480, "{omitted}");
    }

    proptest! {
        /// Catches a header that is not paid for, and names beyond their tenth.
        #[test]
        fn a_shortened_diff_fits(
            shape in prop::collection::vec(("[a-z]{1,9}\\.(rs|md|lock)", 0_usize..4, 0_usize..30), 0..6),
            noise in "\\PC{0,40}",
            tokens in 0_u64..600,
        ) {
            let diff: String = shape.iter().map(|(path, hunks, lines)| change(path, *hunks, *lines)).collect();
            prop_assert!(estimate_tokens(&shorten_diff(&(diff + &noise), &Hints::default(), tokens).0) <= tokens);
        }
    }
}
