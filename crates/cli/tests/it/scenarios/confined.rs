//! Runs in the sandbox: what agents and checks cannot reach, and what the user is told.

use std::fs;
use std::process::Command;

use super::lab::{Lab, Place};
use crate::process::{Ended, run};

/// The same as in other tests, but confined.
fn confined(lab: &Lab, arguments: &[&str], agent: &str) -> Command {
    let mut words = vec!["loop", "--json"];
    words.extend(arguments);
    let script = lab.agent(agent);
    words.extend(["--", "sh", script.as_str()]);
    let mut command = lab.binary(&words);
    command.env("FIXPOINT_SANDBOX", "required");
    command
}

/// Whether the kernel cannot confine programs here. In CI it must.
fn is_skipped(ended: &Ended) -> bool {
    let is_impossible = ended.stderr.contains("the kernel cannot confine programs here");
    assert!(!is_impossible || std::env::var_os("NO_SKIPPED_TESTS").is_none(), "{}", ended.stderr);
    if is_impossible {
        println!("SKIPPED: {}", ended.stderr);
    }
    is_impossible
}

#[test]
fn an_agent_does_its_work_and_reaches_nothing_else() {
    let lab = Lab::new(Place::Root);
    lab.goal();
    let secret = lab.beside("home").join("secret");
    fs::write(&secret, "do-not-tell\n").expect("a file");
    let before = lab.git(&["status", "--porcelain"]);
    let agent = format!(
        "cat {} ; echo x >> ~/.bashrc; echo x > {}/planted; rm -rf {}/.git; echo ok > goal",
        secret.display(),
        lab.root().display(),
        lab.root().display(),
    );
    let ended = run(&mut confined(&lab, &["--until", "sh goal.sh", "--max-iterations", "2"], &agent), b"");
    if is_skipped(&ended) {
        return;
    }
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(!ended.stdout.contains("do-not-tell") && !ended.stderr.contains("do-not-tell"));
    let told =
        format!("the sandbox refused: read {}; to permit it, add it to `sandbox.read`", secret.display());
    assert!(ended.stderr.contains(&told), "{}", ended.stderr);
    assert_eq!(lab.git(&["status", "--porcelain"]), before);
    assert!(!lab.beside("home").join(".bashrc").exists());
}

#[test]
fn a_check_sees_only_its_workspace() {
    let lab = Lab::new(Place::Root);
    lab.goal();
    // It passes only if the user's working tree is not there. Fixpoint refuses a script that names it plainly.
    let hidden = lab.root().to_string_lossy().replace('/', "#");
    let check = format!(
        "tree=$(echo '{hidden}' | tr '#' '/'); touch $tree/planted; test ! -e $tree/goal.sh && sh goal.sh"
    );
    lab.put("outer.sh", &check);
    lab.commit("a check");
    let ended = run(&mut confined(&lab, &["--until", "sh outer.sh"], "echo ok > goal"), b"");
    if is_skipped(&ended) {
        return;
    }
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(!lab.root().join("planted").exists());
}
