//! Patterns mean here what they mean to git: the installed git is asked about the same patterns and paths.
//!
//! One tree of files is really made; for each pattern list one git process answers for all of them, naming the
//! deciding pattern. Git is a requirement of Fixpoint, so without it these tests fail.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Stdio};

use fixpoint_decide::glob::{Coverage, PatternSet};
use proptest::collection::vec;

use crate::glob_cases::{Source, path, pattern};

const PATHS: usize = 250;
const LISTS: usize = 200;

/// A git that reads no settings but those given here.
fn git(root: &Path) -> Command {
    let mut command = Command::new("git");
    command
        .current_dir(root)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", root)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .args(["-c", "core.excludesFile=", "-c", "core.ignoreCase=false"]);
    command
}

/// A repository with no settings and no patterns of its own.
fn repository() -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a temporary directory");
    let made = git(root.path()).args(["init", "--quiet", "--template="]).status();
    let made = made.expect("git is a requirement of Fixpoint and must be installed");
    assert!(made.success(), "git could not make a repository");
    root
}

/// Makes the files that can exist side by side, and says which those are.
fn make_files(root: &Path, wanted: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    let make = |path: &Vec<u8>| -> std::io::Result<()> {
        let place = root.join(OsStr::from_bytes(path));
        fs::create_dir_all(place.parent().unwrap_or(root))?;
        // A path may turn out to be a directory made for another path; it is then left out.
        File::create_new(place).map(drop)
    };
    wanted.into_iter().filter(|path| make(path).is_ok()).collect()
}

/// What git says about each path of the list in `asked`.
fn ask_git(root: &Path, patterns: &[Vec<u8>], asked: &Path) -> Vec<Coverage> {
    fs::write(root.join(".gitignore"), [patterns.join(b"\n".as_slice()), b"\n".to_vec()].concat())
        .expect("the patterns are written");
    let output = git(root)
        .args(["check-ignore", "--no-index", "--stdin", "-z", "--verbose", "--non-matching"])
        .stdin(Stdio::from(File::open(asked).expect("the list of paths")))
        .output()
        .expect("git runs");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(complaint.is_empty(), "git complains: {complaint}");
    let fields: Vec<&[u8]> = output.stdout.split(|&byte| byte == 0).collect();
    fields.chunks_exact(4).map(read_answer).collect()
}

/// Reads source, line, pattern and path as git prints them; the first three are empty when nothing matches.
fn read_answer(fields: &[&[u8]]) -> Coverage {
    let line = std::str::from_utf8(fields[1]).expect("a line number");
    match line.parse::<usize>() {
        Err(_) => Coverage::Untouched,
        Ok(line) if fields[2].starts_with(b"!") => Coverage::Exempt(line - 1),
        Ok(line) => Coverage::Covered(line - 1),
    }
}

/// Git up to 2.47 at least forgets what stands before the first wildcard, so that `a/b**/c` matches `a/bc`, which
/// its own manual denies. We do as git does; should the git at hand follow the manual, such patterns are left out.
fn departs_from_manual(pattern: &[u8]) -> bool {
    let pattern = pattern.strip_prefix(b"!").unwrap_or(pattern);
    let first_wildcard = pattern.iter().position(|byte| b"*?[\\".contains(byte)).unwrap_or(pattern.len());
    let (plain, rest) = pattern.split_at(first_wildcard);
    rest.starts_with(b"**") && !matches!(plain.last(), None | Some(b'/'))
}

fn show(bytes: &[u8]) -> String {
    format!("\"{}\"", bytes.escape_ascii())
}

/// Caught: letting a later `!` take a file out of a covered directory, letting `*` cross a slash,
/// letting `**/` need at least one directory, anchoring patterns without a slash.
#[test]
fn patterns_mean_what_they_mean_to_git() {
    let mut source = Source::new();
    let root = repository();
    let paths = make_files(root.path(), source.draw(&vec(path(), PATHS * 3)));
    assert!(paths.len() >= PATHS, "only {} paths", paths.len());
    let asked = root.path().join(".git/asked");
    fs::write(&asked, paths.join(b"\0".as_slice())).expect("the list of paths is written");

    let probe = root.path().join(".git/probe");
    fs::write(&probe, b"a/bc").expect("the probe is written");
    let departs = ask_git(root.path(), &[b"a/b**/c".to_vec()], &probe) == [Coverage::Covered(0)];
    let lists = vec(pattern(&paths), 1..5);
    let (mut compared, mut covered, mut exempt) = (0, 0, 0);
    for _ in 0..LISTS {
        let mut patterns = source.draw(&lists);
        patterns.retain(|pattern| departs || !departs_from_manual(pattern));
        let set = PatternSet::new(&patterns);
        let answers = ask_git(root.path(), &patterns, &asked);
        assert_eq!(answers.len(), paths.len(), "git did not answer for every path");
        for (path, expected) in paths.iter().zip(answers) {
            let found = set.matches_file(path);
            assert_eq!(
                found,
                expected,
                "patterns {:?}, path {}: left is ours, right is git's",
                patterns.iter().map(|pattern| show(pattern)).collect::<Vec<_>>(),
                show(path)
            );
            compared += 1;
            match expected {
                Coverage::Covered(_) => covered += 1,
                Coverage::Exempt(_) => exempt += 1,
                Coverage::Untouched => {}
            }
        }
    }
    // A comparison of nothing with nothing would prove little.
    assert!(
        compared >= 20_000 && covered >= 5_000 && exempt >= 500,
        "{compared} compared, {covered} covered, {exempt} exempt"
    );
}
