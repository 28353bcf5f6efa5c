//! With `--lang ja` every line of progress is Japanese; names, commands and the words of others stay as they are.

use super::lab::{Lab, Place};

/// Lines that consist of names, commands or words of others only.
fn is_quoted(line: &str, names: &[&str]) -> bool {
    let is_named = |name: &&str| line.starts_with(&format!("  {name}: "));
    line.trim().is_empty()
        || line.starts_with("  ✗ ")
        || line.starts_with("  $ ")
        || line.starts_with("目標: ")
        || names.iter().any(is_named)
}

fn is_japanese(letter: char) -> bool {
    matches!(letter, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}')
}

/// Fails for a line without a Japanese letter, and for one with an English sentence of ours in it.
pub(crate) fn assert_japanese(progress: &str, names: &[&str]) {
    assert!(progress.lines().count() > 1, "there is progress: {progress}");
    for line in progress.lines().filter(|line| !is_quoted(line, names)) {
        assert!(line.contains(is_japanese), "`{line}` in\n{progress}");
        for english in [" the ", " is ", " attempt ", " with ", " was "] {
            assert!(!line.contains(english), "`{line}` in\n{progress}");
        }
    }
}

#[test]
fn a_loop_speaks_japanese() {
    let lab = Lab::new(Place::Root);
    lab.sources(&[("a", "broken"), ("b", "broken")]);
    lab.put("src/c", "not committed\n");
    let agent =
        lab.agent("if grep -qx ok src/a; then echo ok > src/b; echo ok > src/c; else echo ok > src/a; fi");
    let until = ["--json", "--until", "sh ./check.sh"];
    for detail in ["--non-interactive", "-v"] {
        let whole = [&["--lang", "ja", detail, "loop"], until.as_slice(), &["--", agent.as_str()]].concat();
        let ended = lab.call(&whole);
        assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
        assert_japanese(&ended.stderr, &[]);
    }
    let detected = lab.call(&["--lang", "ja", "loop", "--check", "sh ./check.sh", "--", "true"]);
    assert_japanese(&detected.stderr, &[]);
}
