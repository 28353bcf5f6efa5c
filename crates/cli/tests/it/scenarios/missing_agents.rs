//! An agent that cannot be started is reported at once: no check runs, and no run is recorded.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::lab::{Lab, Place, both};
use crate::process::Ended;

/// The project with a check that leaves a trace when it runs.
fn prepare(lab: &Lab) -> String {
    lab.sources(&[("a", "broken")]);
    format!("echo ran >> '{}'; sh ./check.sh", lab.beside("checked").display())
}

/// Puts a program that does nothing on PATH, and only it and the system's directories.
fn with_installed(lab: &Lab, names: &[&str], arguments: &[&str]) -> Ended {
    let bin = lab.beside("bin");
    fs::create_dir_all(&bin).expect("made");
    for name in names {
        fs::write(bin.join(name), "#!/bin/sh\n").expect("written");
        fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).expect("executable");
    }
    let path = format!("{}:/usr/bin:/bin", bin.display());
    lab.run(lab.binary(arguments).env("PATH", path), b"")
}

/// Exit code 7 and one line with these words; nothing was run.
fn refused(lab: &Lab, ended: &Ended, words: &[&str]) {
    assert_eq!((ended.code, ended.stdout.as_str()), (7, ""), "{}", ended.stderr);
    let message = ended.stderr.lines().last().unwrap_or_default();
    for word in ["fixpoint: the agent `", "cannot be started"].iter().chain(words) {
        assert!(message.contains(word), "{word:?} is not in: {message}");
    }
    assert_eq!(lab.count("checked"), 0, "a check was run");
    assert!(lab.call(&["list"]).stdout.is_empty(), "a run was recorded");
}

#[test]
fn a_missing_agent_is_reported_before_anything_is_run() {
    both(|lab| {
        let check = prepare(lab);
        lab.put("script.sh", "echo ok > src/a\n");
        lab.put("directory/file", "x");
        for (name, content) in [("empty.sh", ""), ("lost.sh", "#!/no/such/interpreter -x\necho ok > src/a\n")]
        {
            lab.put(name, content);
            let path = lab.here().join(name);
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("executable");
        }
        for (agent, problem) in [
            ("no-such-agent", "it is not on PATH"),
            ("/no/such/agent", "it does not exist"),
            ("./no-such-agent", "it does not exist"),
            ("./script.sh", "it is not executable (`chmod +x`"),
            ("./directory", "it is a directory"),
            ("./empty.sh", "it is empty"),
            ("./lost.sh", "its interpreter /no/such/interpreter does not exist"),
        ] {
            let name = agent.trim_start_matches("./");
            for command in [
                vec!["loop", "--until", &check, "--", agent],
                vec!["run", "--no-plan", "--until", &check, "mend a", "--", agent],
            ] {
                let ended = with_installed(lab, &["codex", "goose"], &command);
                refused(lab, &ended, &[name, problem, "installed agents: codex, goose;", "`-- codex`"]);
                let is_installable = ended.stderr.contains("install `");
                assert_eq!(is_installable, agent == "no-such-agent", "{}", ended.stderr);
            }
        }
        let none = with_installed(lab, &[], &["loop", "--until", &check, "--", "no-such-agent"]);
        assert!(!none.stderr.contains("`-- `"), "{}", none.stderr);
    });
}

#[test]
fn a_missing_configured_agent_is_reported_before_anything_is_run() {
    both(|lab| {
        let check = prepare(lab);
        for (configuration, agent) in [
            ("agent:\n  kind: claude\n", "`claude` cannot be started: it is not on PATH"),
            ("agent:\n  command: [my-agent, --fast]\n", "`my-agent` cannot be started: it is not on PATH"),
            (
                "agent:\n  command: [/opt/nowhere/agent]\n",
                "`/opt/nowhere/agent` cannot be started: it does not exist",
            ),
        ] {
            lab.configure(configuration);
            let ended = with_installed(lab, &["codex"], &["loop", "--until", &check]);
            refused(lab, &ended, &[agent, "installed agents: codex;"]);
        }
    });
}

/// Catches rejecting an agent that only exists in the workspace: one that a setup command makes, or of another commit.
#[test]
fn an_agent_that_only_exists_in_the_workspace_is_run() {
    let lab = Lab::new(Place::Root);
    lab.sources(&[("a", "broken")]);
    let script = "#!/bin/sh\ncat > /dev/null; echo ok > src/a\n";
    lab.put("made.sh", script);
    lab.configure("workspace:\n  setup: ['cp made.sh made && chmod +x made']\n");
    lab.put(".gitignore", "made\n");
    lab.commit("setup");
    let made = lab.json(0, &["loop", "--json", "--until", "sh ./check.sh", "--", "./made"]);
    assert_eq!(made["cause"], "done");
    lab.put("agent", script);
    fs::set_permissions(lab.here().join("agent"), fs::Permissions::from_mode(0o755)).expect("executable");
    lab.commit("agent");
    lab.git(&["branch", "with-agent"]);
    lab.git(&["reset", "-q", "--hard", "HEAD~1"]);
    let command = ["loop", "--json", "--base", "with-agent", "--until", "sh ./check.sh", "--", "./agent"];
    assert_eq!(lab.json(0, &command)["cause"], "done");
}
