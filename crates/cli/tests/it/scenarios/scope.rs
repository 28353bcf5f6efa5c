//! What may change: paths, however they are changed and whatever they are called.

use super::lab::{Lab, Outcome, both};

fn within_src(lab: &Lab, more: &[&str], agent: &str) -> Outcome {
    let allowed = lab.path("src/**");
    let mut arguments = vec!["--until", "sh ./check.sh", "--allow", allowed.as_str()];
    arguments.extend(more);
    lab.looping(&arguments, agent)
}

#[test]
fn edits_outside_are_named_and_at_stage_two_taken_back() {
    both(|lab| {
        lab.sources(&[("a", "broken")]);
        lab.put("other", "as it was\n");
        lab.commit("another file");
        let outcome = within_src(lab, &[], "echo ok > src/a; echo \"$FIXPOINT_ATTEMPT\" > other");
        assert_eq!(outcome.end(), (0, "done", "done"), "{:?}", outcome.json);
        let (stages, progress) = (outcome.stages(), outcome.progress());
        assert_eq!(stages.last(), Some(&2), "{stages:?} {progress:?}");
        assert_eq!(outcome.iterations()[0]["scope_violations"][0], lab.path("other"));
        assert_eq!(outcome.last("scope_violations"), [lab.path("other")]);
        let diff = lab.call(&["diff"]).stdout;
        assert!(diff.contains("src/a") && !diff.contains("other"), "{diff}");
    });
}

#[test]
fn reverting_at_once() {
    both(|lab| {
        lab.sources(&[("a", "broken")]);
        let set = ["--set", "scope.on_violation=revert"];
        let outcome = within_src(lab, &set, "echo ok > src/a; echo x > new; rm check.sh");
        assert_eq!(outcome.end(), (0, "done", "done"), "{:?}", outcome.json);
        assert_eq!(outcome.progress(), ["complete"]);
        assert_eq!(lab.json(0, &["diff", "--json"])["files"][0]["path"], lab.path("src/a"));
    });
}

#[test]
fn blocking() {
    both(|lab| {
        lab.sources(&[("a", "broken")]);
        let set = ["--set", "scope.on_violation=block"];
        let outcome = within_src(lab, &set, "echo ok > src/a; echo x > new");
        assert_eq!(outcome.end(), (3, "failed", "scope_violation"), "{:?}", outcome.json);
        let told = lab.explained(&outcome);
        assert!(told.contains(&lab.path("new")), "the path is not named:\n{told}");
    });
}

/// Whatever an agent does to its own repository, what it changed is found.
#[test]
fn git_hides_nothing() {
    let git = "git -c user.name=a -c user.email=a@b";
    let tricks = [
        format!("echo $FIXPOINT_ATTEMPT > new; {git} add -A; {git} commit -qm mine"),
        format!("echo $FIXPOINT_ATTEMPT > new; {git} add -A; {git} commit -q --amend -m mine"),
        format!(
            "echo x > new; {git} add -A; {git} commit -qm 1; {git} checkout -q -b else; {git} rebase -q --root"
        ),
        format!("echo x > new; {git} add -A; {git} stash -q; {git} stash apply -q"),
        "echo x > new; rm -rf \"$(git rev-parse --show-toplevel)/.git\"".to_string(),
        "echo x > new; echo new > \"$(git rev-parse --git-dir)/info/exclude\"".to_string(),
        "echo x > new; git config core.excludesFile \"$PWD/src/x\"; echo new > src/x".to_string(),
        format!(
            "echo x > new; {git} add -A; {git} update-index --assume-unchanged new; {git} checkout -q --orphan o"
        ),
    ];
    both(|lab| {
        lab.sources(&[("a", "broken")]);
        for trick in &tricks {
            let agent = format!("echo ok > src/a\n{trick}");
            let outcome = within_src(lab, &["--max-iterations", "1"], &agent);
            assert_eq!(outcome.end(), (3, "failed", "max_iterations"), "{trick}: {:?}", outcome.json);
            let named = outcome.last("scope_violations");
            assert!(named.iter().any(|path| *path == lab.path("new")), "{trick}: {named:?}");
        }
    });
}

/// What is put away is no part of the result, and what is reset did not happen.
#[test]
fn work_that_is_stashed_away_is_not_there() {
    both(|lab| {
        lab.sources(&[("a", "broken")]);
        let agent = "echo ok > src/a; git -c user.name=a -c user.email=a@b stash -q";
        let outcome = within_src(lab, &["--max-iterations", "1"], agent);
        assert_eq!(outcome.progress(), ["no_change"]);
    });
}

#[test]
fn its_own_configuration_is_never_in_scope() {
    both(|lab| {
        lab.sources(&[("a", "broken")]);
        let root = "root=$(git rev-parse --show-toplevel)";
        let agent = format!(
            "{root}; echo ok > src/a; mkdir -p \"$root/.fixpoint\"; echo '{{}}' > \"$root/.fixpoint/config.yaml\""
        );
        let outcome = lab.looping(&["--until", "sh ./check.sh", "--max-iterations", "1"], &agent);
        assert_eq!(outcome.end(), (3, "failed", "max_iterations"), "{:?}", outcome.json);
        assert_eq!(outcome.last("scope_violations"), [".fixpoint/config.yaml"]);
    });
}

#[test]
fn odd_names_inside_are_inside() {
    both(|lab| {
        lab.sources(&[("a", "broken")]);
        let agent = r#"echo ok > src/a; mkdir src/odd; cd src/odd
            echo x > 'new
line'; echo x > "quo\"te's"; echo x > ./-dash; echo x > 日本語; echo x > "$(printf 'not\377utf8')"
            echo x > ' space '; echo x > 'a\b'; echo x > '[x]*'; mkdir './-d'; echo x > ./-d/-"#;
        let outcome = within_src(lab, &[], agent);
        assert_eq!(outcome.end(), (0, "done", "done"), "{:?}", outcome.json);
        assert_eq!(outcome.iterations()[0]["changed_files"], 10);
        assert!(outcome.last("scope_violations").is_empty());
        // The same names outside are named, each on its own, and taken back whatever they are.
        let agent = r#"echo ok > src/a; echo x > 'new
line'; echo x > "$(printf 'not\377utf8')"; echo x > ./-dash"#;
        let outcome = within_src(lab, &["--set", "scope.on_violation=revert"], agent);
        assert_eq!(outcome.end(), (0, "done", "done"), "{:?}", outcome.json);
        assert_eq!(outcome.last("scope_violations").len(), 3);
    });
}

#[test]
fn so_many_files_and_lines() {
    both(|lab| {
        lab.sources(&[("a", "broken")]);
        for (flag, name) in
            [("--max-changed-files", "max_changed_files"), ("--max-changed-lines", "max_changed_lines")]
        {
            let limits = [flag, "2", "--max-iterations", "1"];
            let agent = "echo ok > src/a; for n in 1 2 3; do echo ok > src/n$n; done";
            let outcome = within_src(lab, &limits, agent);
            assert_eq!(outcome.end(), (3, "failed", "max_iterations"), "{:?}", outcome.json);
            assert_eq!(outcome.last("scope_violations"), [name]);
        }
    });
}

#[test]
fn denied_files_that_git_ignores_are_watched() {
    both(|lab| {
        lab.put(".gitignore", "secret.env\n");
        lab.sources(&[("a", "broken")]);
        let denied = lab.path("secret.env");
        let arguments = ["--until", "sh ./check.sh", "--deny", &denied, "--max-iterations", "1"];
        let outcome = lab.looping(&arguments, "echo ok > src/a; echo KEY=1 > secret.env");
        assert_eq!(outcome.end(), (3, "failed", "max_iterations"), "{:?}", outcome.json);
        assert_eq!(outcome.last("scope_violations"), [denied.as_str()]);
    });
}
