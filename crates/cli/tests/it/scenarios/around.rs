//! What a run begins with: the checks of the project, another commit, uncommitted work, a workspace made ready.

use std::fs;

use super::lab::{Lab, Place, both};

const MANIFEST: &str = "[package]\nname = \"calc\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n";

/// The project is looked at from the root, wherever one stands.
#[test]
fn without_checks_what_fails_is_the_goal() {
    both(|lab| {
        let put = |path: &str, content: &str| {
            let path = lab.root().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            fs::write(path, content).expect("written");
        };
        put("Cargo.toml", MANIFEST);
        let tests = "#[test]\nfn sums() { assert_eq!(sum(), 2); }\n#[test]\nfn fine() {}\n";
        put("src/lib.rs", &["pub fn sum() -> i32 { 3 }\n", tests].concat());
        put(".gitignore", "target\n");
        put("Cargo.lock", "version = 4\n\n[[package]]\nname = \"calc\"\nversion = \"0.1.0\"\n");
        lab.put("keep", "x");
        lab.commit("a crate");
        // A goal that nobody named is not reached by bending its test either.
        let root = "cd \"$(git rev-parse --show-toplevel)\" &&";
        let bent =
            lab.looping(&["--max-iterations", "1"], &format!("{root} sed -i 's/, 2)/, 3)/' src/lib.rs"));
        assert_eq!(bent.end(), (3, "failed", "max_iterations"), "{:?}", bent.json);
        assert_eq!(bent.failures(1, "fingerprint"), ["weakened:calc sums"]);
        let agent = &format!("{root} sed -i 's/ 3 / 2 /' src/lib.rs");
        let outcome = lab.looping(&[], agent);
        assert_eq!(outcome.end(), (0, "done", "done"), "{:?}", outcome.json);
        for said in [
            "no --until given: the goal is to fix what fails now",
            "detected check: `cargo test",
            "Cargo.toml",
        ] {
            assert!(outcome.stderr.contains(said), "{said}: {}", outcome.stderr);
        }
        // Once applied nothing fails, and without a task there is nothing to do.
        lab.git(&["merge", "-q", "--ff-only", &format!("fixpoint/{}", outcome.run())]);
        let outcome = lab.looping(&[], agent);
        assert_eq!(outcome.end(), (0, "done", "already_satisfied"), "{:?}", outcome.json);
    });
}

/// A project may have no other test than the one that fails.
#[test]
fn the_only_test_fails() {
    both(|lab| {
        lab.put("Cargo.toml", MANIFEST);
        lab.put("src/lib.rs", "pub fn sum() -> i32 { 3 }\n#[test]\nfn sums() { assert_eq!(sum(), 2); }\n");
        lab.put(".gitignore", "target\nCargo.lock\n");
        lab.commit("a crate");
        let agent = "sed -i 's/ 3 / 2 /' src/lib.rs; echo > notes";
        let set = ["--set", "checks=[{name: all, command: cargo test --offline}]"];
        if lab.place == Place::Root {
            let outcome = lab.looping(&set, agent);
            assert_eq!(outcome.end(), (0, "done", "done"), "{:?}", outcome.json);
            assert_eq!(outcome.json["proof"], "goals");
        }
        // As a guard it shows nothing that passes, so nothing it shows later would prove anything.
        let outcome =
            lab.looping(&["--until", "test -f notes", "--check", "cargo test --offline"], "echo > notes");
        assert_eq!(outcome.end(), (7, "failed", "baseline_unusable"), "{:?}", outcome.json);
    });
}

#[test]
fn from_another_commit() {
    both(|lab| {
        lab.sources(&[("a", "broken"), ("b", "ok")]);
        let base = lab.git(&["rev-parse", "HEAD"]).trim().to_string();
        lab.put("src/b", "broken by the next commit\n");
        lab.commit("worse");
        lab.put("src/c", "broken and not committed\n");
        for revision in [base.as_str(), "HEAD~1", "main~1"] {
            let outcome = lab.looping(&["--until", "sh ./check.sh", "--base", revision], "echo ok > src/a");
            assert_eq!(outcome.end(), (0, "done", "done"), "{:?}", outcome.json);
            assert_eq!(outcome.json["base"], base.as_str());
            let parent = lab.git(&["rev-parse", &format!("fixpoint/{}~1", outcome.run())]);
            assert_eq!(parent.trim(), base);
        }
        let ended = lab.call(&["loop", "--until", "true", "--base", "no-such", "--", "true"]);
        assert_eq!((ended.code, ended.stderr.contains("no-such")), (2, true), "{}", ended.stderr);
    });
}

#[test]
fn uncommitted_work_is_included_and_said_so() {
    both(|lab| {
        lab.sources(&[("a", "broken"), ("b", "ok")]);
        lab.put(".gitignore", "ignored\n");
        lab.commit("ignoring");
        lab.put("src/b", "broken here\n");
        lab.put("src/new", "broken and untracked\n");
        lab.put("src/staged", "broken and staged\n");
        lab.put("ignored", "x");
        lab.git(&["add", &lab.path("src/staged")]);
        let agent = "for f in src/*; do grep -qx ok $f || { echo ok > $f; ls > listing; exit; }; done";
        let outcome = lab.until_checked(agent);
        assert_eq!(outcome.end(), (0, "done", "done"), "{:?}", outcome.json);
        assert_eq!(outcome.iterations().len(), 4);
        assert!(outcome.stderr.contains("including uncommitted changes"), "{}", outcome.stderr);
        let status = lab.git(&["status", "--porcelain"]);
        assert_eq!(status.lines().count(), 3, "{status}");
        let diff = lab.call(&["diff", "--stat"]).stdout;
        assert!(diff.contains("src/new") && diff.contains("src/staged"), "{diff}");
    });
}

fn with_config(lab: &Lab, config: &str) {
    lab.configure(config);
    lab.put(".gitignore", ".env\nnode_modules\nprivate/\n");
    lab.commit("configured");
    fs::write(lab.root().join(".env"), "KEY=1\n").expect("written");
    fs::create_dir_all(lab.root().join("private/deep")).expect("made");
    fs::write(lab.root().join("private/deep/file"), "p\n").expect("written");
}

#[test]
fn a_workspace_is_made_ready() {
    both(|lab| {
        fs::write(lab.root().join(".gitignore"), ".env\nnode_modules\nprivate/\n").expect("written");
        let setups = lab.beside("setups");
        let setup = format!(
            "mkdir -p node_modules && echo tool > node_modules/tool && echo x >> '{}'",
            setups.display()
        );
        with_config(lab, &format!("workspace:\n  copy: [.env, 'private/**']\n  setup: [\"{setup}\"]\n"));
        lab.put(
            "ready.sh",
            "top=$(git rev-parse --show-toplevel) && grep -q KEY \"$top/.env\" && [ -f \"$top/private/deep/file\" ] \
             && [ -f \"$top/node_modules/tool\" ] || { echo not ready; exit 1; }\ngrep -qx ok goal",
        );
        lab.put("goal", "not yet\n");
        lab.commit("needs things");
        let agent =
            "sh ./ready.sh; [ -f \"$(git rev-parse --show-toplevel)/node_modules/tool\" ] && echo ok > goal";
        let outcome = lab.looping(&["--until", "sh ./ready.sh"], agent);
        assert_eq!(outcome.end(), (0, "done", "done"), "{:?}", outcome.json);
        // Once for a workspace, not for each use of it.
        assert!(lab.count("setups") <= 3, "{}", lab.count("setups"));
        let files = lab.json(0, &["diff", "--json"])["files"].clone();
        assert_eq!(files.as_array().map(Vec::len), Some(1), "{files}");
    });
}

#[test]
fn a_set_up_that_fails() {
    both(|lab| {
        lab.configure("workspace:\n  setup: ['echo cannot install >&2; exit 9']\n");
        lab.sources(&[("a", "broken")]);
        let outcome = lab.until_checked("echo ok > src/a");
        assert_eq!(outcome.end(), (7, "paused", "infrastructure"), "{:?}", outcome.json);
        let told = lab.explained(&outcome);
        // The lines of a screen are wrapped anywhere.
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains("failed with exit code 9"), "{told}");
    });
}
