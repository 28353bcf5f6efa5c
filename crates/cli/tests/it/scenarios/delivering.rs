//! Where results go: targets that cannot work are refused before the work, and submodules are left alone.

use std::fs;

use super::lab::{Lab, Place, both};
use crate::process::{Ended, run};

fn refused(ended: &Ended, words: &[&str]) {
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{}", ended.stderr);
    for word in words {
        assert!(ended.stderr.contains(word), "{word}: {}", ended.stderr);
    }
}

#[test]
fn a_target_that_cannot_work_is_refused_before_the_work() {
    both(|lab| {
        lab.sources(&[("a", "broken")]);
        let agent = lab.agent("echo ran >> \"$BESIDE/ran\"");
        let running = |option: &str, value: &str| {
            let arguments =
                ["run", "Mend it.", "--no-plan", "--until", "sh ./check.sh", option, value, "--", &agent];
            lab.call(&arguments)
        };
        let existing = lab.beside("existing.patch");
        fs::write(&existing, "mine").expect("written");
        let missing = lab.beside("no/such/directory.patch");
        let rows = [
            (
                "--into",
                "no-such-branch",
                "there is no such branch; create it with `git branch no-such-branch`",
            ),
            ("--into", "refs/heads/missing", "git branch missing"),
            ("--into", "a..b", "not a valid name"),
            ("--patch", "-", "fixpoint diff"),
            ("--patch", ".", "is a directory"),
            ("--patch", &existing.to_string_lossy(), "exists; delete it"),
            ("--patch", &missing.to_string_lossy(), "its directory does not exist"),
        ];
        for (option, value, words) in rows {
            refused(&running(option, value), &[words]);
        }
        assert_eq!(fs::read_to_string(&existing).expect("there"), "mine");
        lab.git(&["branch", "fixpoint"]);
        let words = ["a branch `fixpoint`", "git branch -m fixpoint"];
        refused(&running("--into", "main"), &words);
        refused(&lab.call(&["loop", "--until", "sh ./check.sh", "--", &agent]), &words);
        assert!(lab.call(&["list"]).stdout.is_empty(), "nothing was begun");
    });
}

#[test]
fn a_binary_file_is_in_the_diff_as_git_applies_it() {
    let lab = Lab::new(Place::Root);
    lab.sources(&[("a", "broken")]);
    let outcome =
        lab.looping(&["--until", "sh ./check.sh"], "echo ok > src/a; printf '\\000\\001\\377' > picture");
    assert_eq!(outcome.end(), (0, "done", "done"), "{}", outcome.stderr);
    let patch = lab.beside("result.patch");
    fs::write(&patch, lab.call(&["diff"]).stdout).expect("written");
    lab.git(&["apply", &patch.to_string_lossy()]);
    assert_eq!(fs::read(lab.root().join("picture")).expect("there"), [0, 1, 255]);
}

#[test]
fn submodules_are_announced_and_changes_in_them_are_refused() {
    both(|lab| {
        lab.sources(&[("a", "broken")]);
        fs::create_dir(lab.root().join("sub")).expect("created");
        let head = lab.git(&["rev-parse", "HEAD"]);
        let root = lab.root();
        // Paths of `update-index` are relative to the working directory.
        let entry = format!("160000,{},sub", head.trim());
        lab.git(&["-C", &root.to_string_lossy(), "update-index", "--add", "--cacheinfo", &entry]);
        lab.git(&["commit", "-qm", "a submodule"]);
        let agent = "echo ok > src/a; echo x > \"$(git rev-parse --show-toplevel)/sub/x\"";
        let outcome = lab.looping(&["--until", "sh ./check.sh", "--set", "scope.on_violation=block"], agent);
        assert_eq!(outcome.end(), (3, "failed", "scope_violation"), "{}", outcome.stderr);
        assert_eq!(outcome.last("scope_violations"), ["sub", "sub/x"]);
        let notice = "submodules are not copied into workspaces: sub";
        assert!(outcome.stderr.contains(notice), "{}", outcome.stderr);
    });
}

#[test]
fn a_run_of_a_former_repository_at_this_path_is_explained() {
    let lab = Lab::new(Place::Root);
    lab.sources(&[("a", "broken")]);
    let outcome = lab.looping(&["--until", "sh ./check.sh"], "echo ok > src/a");
    assert_eq!(outcome.end(), (0, "done", "done"), "{}", outcome.stderr);
    fs::remove_dir_all(lab.root().join(".git")).expect("removed");
    lab.git(&["init", "-q", "."]);
    lab.commit("another repository");
    for command in ["apply", "diff"] {
        let ended = run(&mut lab.binary(&[command]), b"");
        refused(&ended, &["are no longer in this repository"]);
    }
}
