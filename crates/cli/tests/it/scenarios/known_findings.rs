//! Guards that run no tests and fail before any change: linters, compilers, and tools that nobody knows. What they find at
//! the base is known; only what is new counts.

use super::lab::{Lab, Outcome, both};
use crate::process::has;

/// A linter: `path:line: message` for every bad line of a file of `src`.
const LINTER: &str = "\
#!/bin/sh
grep -Hn bad src/* | sed 's/:bad/: W100 this line is bad/' | grep W100 && exit 1
exit 0
";

/// A tool without a reader: one line for each record that is bad.
const RECORDS: &str = "\
#!/bin/sh
[ -f src/crash ] && exit 1
[ -f src/mute ] && { echo 'Error: some checks failed'; exit 1; }
[ -f src/usage ] && { echo 'usage: records FILE'; exit 2; }
awk '$2 == \"bad\" { print \"problem with field width in record \" $1; n++ } END { exit n > 0 }' src/records
";

/// What `fixpoint explain` says, without its line breaks.
fn explained(lab: &Lab, outcome: &Outcome) -> String {
    lab.explained(outcome).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn looping(lab: &Lab, check: &str, agent: &str) -> Outcome {
    let checks = ["--until", "sh ./goal.sh", "--check", check, "--max-iterations", "2"];
    lab.looping(&checks, agent)
}

const REFUSED: (i32, &str, &str) = (3, "failed", "max_iterations");

#[test]
fn a_linter_with_known_findings_is_a_guard() {
    both(|lab| {
        lab.put("lint.sh", LINTER);
        lab.put("src/a", "good\nbad\nbad\n");
        lab.goal();
        let lint = |agent: &str| looping(lab, "sh ./lint.sh", agent);
        let outcome = lint("echo ok > goal");
        assert_eq!(outcome.end(), (0, "done", "done"), "{:?}", outcome.json);
        assert_eq!(outcome.last("known").len(), 2);
        let explained = explained(lab, &outcome);
        assert!(
            explained.contains("fails at the base with 2 known findings; only new findings count"),
            "{explained}"
        );
        for (row, agent, end) in [
            ("moves them", "echo ok > goal; sed -i '1i first' src/a", (0, "done", "done")),
            ("fixes one", "echo ok > goal; sed -i '2d' src/a", (0, "done", "done")),
            ("fixes all", "echo ok > goal; echo good > src/a", (0, "done", "done")),
            ("one more of the same", "echo ok > goal; echo bad >> src/a", REFUSED),
            ("another file", "echo ok > goal; echo bad > src/b", REFUSED),
        ] {
            let outcome = lint(agent);
            assert_eq!(outcome.end(), end, "{row}: {:?}", outcome.json);
        }
    });
}

#[test]
fn a_tool_that_nobody_knows_is_a_guard() {
    both(|lab| {
        lab.put("check.sh", RECORDS);
        lab.put("src/records", "alpha bad\nbravo ok\n");
        lab.goal();
        for (row, agent, end) in [
            ("something else", "echo ok > goal", (0, "done", "done")),
            ("fixes it", "echo ok > goal; echo 'alpha ok' > src/records", (0, "done", "done")),
            ("a new problem", "echo ok > goal; echo 'charlie bad' >> src/records", REFUSED),
            ("no output", "echo ok > goal; touch src/crash", REFUSED),
            ("no findings any more", "echo ok > goal; touch src/mute", REFUSED),
            ("a usage error", "echo ok > goal; touch src/usage", REFUSED),
        ] {
            let outcome = looping(lab, "sh ./check.sh", agent);
            assert_eq!(outcome.end(), end, "{row}: {:?}", outcome.json);
        }
    });
}

#[test]
fn what_may_hide_others_is_no_guard() {
    both(|lab| {
        lab.goal();
        for (row, script) in [
            ("a usage error", "echo 'lint: unknown option --strict'; echo 'usage: lint FILE'; exit 2"),
            ("no settings", "echo 'error: config file lint.toml not found'; exit 1"),
            ("nothing specific", "echo 'Error: some checks failed'; exit 1"),
            (
                "a step that hides others",
                "printf 'a.py:3: bad name\\nmake: *** [Makefile:2: lint] Error 1\\n'; exit 2",
            ),
            ("a syntax error", "echo 'a.py:3:1: E999 SyntaxError: invalid syntax'; exit 1"),
        ] {
            lab.put("check.sh", script);
            let outcome = looping(lab, "sh ./check.sh", "echo ok > goal");
            assert_eq!(outcome.end(), (7, "failed", "baseline_unusable"), "{row}: {:?}", outcome.json);
        }
        let explained = explained(lab, &looping(lab, "sh ./check.sh", "echo ok > goal"));
        assert!(explained.contains("none of them hides others"), "{explained}");
    });
}

#[test]
fn a_compiler_alone_is_a_guard_and_hides_tests_otherwise() {
    if !has("gcc") {
        return;
    }
    both(|lab| {
        lab.put("a.c", "void a(void) { missing = 1; }\n");
        lab.goal();
        let outcome = looping(lab, "gcc -c -o /dev/null a.c", "echo ok > goal");
        assert_eq!(outcome.end(), (0, "done", "done"), "{:?}", outcome.json);
        let breaks = "echo ok > goal; echo 'void b(void) { other = 1; }' >> a.c";
        let outcome = looping(lab, "gcc -c -o /dev/null a.c", breaks);
        assert_eq!(outcome.end(), REFUSED, "{:?}", outcome.json);
        let outcome = looping(lab, "gcc -o a a.c && ./a", "echo ok > goal");
        assert_eq!(outcome.end(), (7, "failed", "baseline_unusable"), "{:?}", outcome.json);
    });
}
