//! `fixpoint logs --follow`, `fixpoint rm`, `--verbose`, and hints about a command line.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use super::lab::{Lab, Place, wait_for};

/// A loop in the background whose agent says something and waits until a file `go` is there.
fn waiting_loop(lab: &Lab) -> Child {
    let (said, go) = (lab.beside("said"), lab.beside("go"));
    let script = format!(
        "echo the first words; echo token ghp_0123456789abcdefABCD; : > '{}'; while [ ! -e '{}' ]; do sleep 0.05; done; \
         echo the last words; echo ok > src/a",
        said.display(),
        go.display()
    );
    let agent = lab.agent(&script);
    let mut command = lab.binary(&["-q", "loop", "--until", "sh ./check.sh", "--", agent.as_str()]);
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    wait_for("the agent", || said.exists());
    child
}

fn follower(lab: &Lab, arguments: &[&str]) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut command = lab.binary(&[&["logs", "-f"], arguments].concat());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
    let reader = BufReader::new(child.stdout.take().expect("piped"));
    (child, reader)
}

fn read_until(reader: &mut impl BufRead, words: &str) -> String {
    let mut text = String::new();
    while !text.contains(words) {
        assert!(reader.read_line(&mut text).expect("text") > 0, "ended without {words}:\n{text}");
    }
    text
}

/// Catches a follower that shows only finished output, that shows credentials, that never ends, or that ends the run.
#[test]
fn output_is_followed_until_the_run_ends() {
    let lab = Lab::new(Place::Root);
    lab.sources(&[("a", "broken")]);
    let mut run = waiting_loop(&lab);
    let (mut left, mut reader) = follower(&lab, &[]);
    read_until(&mut reader, "the first words\n");
    // Not SIGINT: it is ignored where a shell runs the tests in the background.
    kill(Pid::from_raw(i32::try_from(left.id()).expect("a number")), Signal::SIGTERM).expect("sent");
    left.wait().expect("it ends");
    let (mut child, mut reader) = follower(&lab, &[]);
    let (mut json, mut lines) = follower(&lab, &["--json", "--agent"]);
    let begun = read_until(&mut reader, "token ");
    assert!(!begun.contains("the last words") && !begun.contains("ghp_"), "{begun}");
    read_until(&mut lines, "the first words");
    std::fs::write(lab.beside("go"), "").expect("written");
    let rest = read_until(&mut reader, "the last words\n");
    assert!(!rest.contains("the first words"), "a line is printed once: {rest}");
    assert!(run.wait().expect("it ends").success(), "nobody who left stopped it");
    let checked = read_until(&mut reader, "ok 1 - a\n");
    assert!(checked.contains("== attempt 1: sh ./check.sh"), "{checked}");
    let last = lines.lines().map_while(Result::ok).last().expect("a line");
    let last: Value = serde_json::from_str(&last).expect("JSON");
    assert_eq!(
        (&last["attempt"], &last["of"], &last["line"]),
        (&1.into(), &"agent".into(), &"the last words".into())
    );
    assert!(child.wait().expect("it ends").success() && json.wait().expect("it ends").success());
    let over = lab.call(&["logs", "-f"]);
    assert!(
        over.stdout.contains("the first words") && over.stdout.contains("the last words"),
        "{}",
        over.stdout
    );
}

#[test]
fn a_run_is_deleted_only_when_nothing_is_lost() {
    let lab = Lab::new(Place::Root);
    lab.sources(&[("a", "broken")]);
    let mut run = waiting_loop(&lab);
    let active = lab.call(&["rm", "latest", "--yes", "--force"]);
    assert!(active.code == 2 && active.stderr.contains("fixpoint stop"), "{}", active.stderr);
    std::fs::write(lab.beside("go"), "").expect("written");
    assert!(run.wait().expect("it ends").success());
    let done: Value = lab.json(0, &["show", "--json"]);
    let name = done["run"].as_str().expect("a run");
    let unasked = lab.call(&["rm", name]);
    assert!(unasked.code == 2 && unasked.stderr.contains("--yes"), "{}", unasked.stderr);
    let mut command = lab.binary(&["rm", name, "--yes", "--json"]);
    let ended = crate::process::run(&mut command, b"");
    let removed: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    let branch = format!("fixpoint/{name}");
    assert_eq!(
        (&removed["removed"], &removed["branch"]),
        (&true.into(), &branch.as_str().into()),
        "{removed}"
    );
    assert_eq!(lab.git(&["branch", "--list", &branch]).trim(), branch, "the branch stays");
    assert_eq!(lab.git(&["for-each-ref", &format!("refs/fixpoint/{name}")]), "");
    assert_eq!(lab.call(&["list"]).stdout, "");
    let state = lab.beside("home/state/fixpoint");
    let left = std::process::Command::new("find").arg(&state).args(["-name", &format!("*{name}*")]).output();
    assert_eq!(String::from_utf8_lossy(&left.expect("found").stdout), "", "nothing is left");
}

#[test]
fn undelivered_work_is_named_before_it_is_deleted() {
    let lab = Lab::new(Place::Root);
    lab.sources(&[("a", "broken")]);
    let failed = lab.looping(&["--until", "sh ./check.sh", "--max-iterations", "1"], "echo almost > src/a");
    let refused = lab.call(&["rm", failed.run(), "--yes"]);
    assert_eq!(refused.code, 2);
    for words in ["1 attempt with changes", "fixpoint diff", "--force"] {
        assert!(refused.stderr.contains(words), "{words}: {}", refused.stderr);
    }
    let mut command = lab.binary(&["rm", failed.run(), "--yes", "--force"]);
    assert_eq!(crate::process::run(&mut command, b"").code, 0);
    assert_eq!(lab.call(&["list"]).stdout, "");
    let arguments = ["--until", "sh ./check.sh", "--budget", "attempts=0"];
    let paused = lab.looping(&arguments, "true");
    let refused = lab.call(&["rm", paused.run(), "--yes"]);
    assert!(
        refused.stderr.contains("fixpoint resume") && refused.stderr.contains("1 task"),
        "{}",
        refused.stderr
    );
}

#[test]
fn verbose_output_names_commands_times_and_reasons() {
    let lab = Lab::new(Place::Root);
    lab.sources(&[("a", "broken")]);
    let agent = lab.agent("echo ok > src/a");
    let quiet = lab.call(&["loop", "--json", "--until", "sh ./check.sh", "--base", "HEAD", "--", &agent]);
    assert!(!quiet.stderr.contains("$ ") && quiet.stderr.contains("expected: "), "{}", quiet.stderr);
    let verbose =
        lab.call(&["loop", "-v", "--json", "--until", "sh ./check.sh", "--base", "HEAD", "--", &agent]);
    for words in ["  $ sh ./check.sh", &format!("  $ {agent}"), " s)", "→ ", "worst case"] {
        assert!(verbose.stderr.contains(words), "{words}: {}", verbose.stderr);
    }
    for command in ["list", "status", "show", "explain", "history", "logs", "doctor"] {
        assert_eq!(lab.call(&[command, "--verbose"]).code, 0, "{command}");
    }
    assert_eq!(lab.call(&["-v", "-q", "list"]).code, 2);
}

#[test]
fn an_agent_without_dashes_gets_the_corrected_line() {
    let lab = Lab::new(Place::Root);
    let wrong = lab.call(&["loop", "--until", "cargo test", "claude", "-p", "fix it"]);
    assert_eq!((wrong.code, wrong.stdout.as_str()), (2, ""));
    assert!(
        wrong.stderr.ends_with("\n  fixpoint loop --until 'cargo test' -- claude -p 'fix it'\n"),
        "{}",
        wrong.stderr
    );
    let wrong = lab.call(&["--lang", "ja", "run", "make", "it", "better"]);
    assert!(wrong.code == 2 && wrong.stderr.contains("引用符"), "{}", wrong.stderr);
}

#[test]
fn an_unchanged_tree_says_how_many_tests_pass() {
    let lab = Lab::new(Place::Root);
    lab.sources(&[("a", "ok"), ("b", "ok"), ("c", "broken")]);
    let told = lab.call(&["check", "--check", "sh ./check.sh"]);
    assert!(told.stdout.contains("no changes since HEAD: 2 tests pass; "), "{}", told.stdout);
    lab.put("src/d", "ok\n");
    let told = lab.json(0, &["check", "--json", "--check", "sh ./check.sh"]);
    assert_eq!((&told["passed"], &told["changed"]), (&3.into(), &true.into()));
}

#[test]
fn in_a_subdirectory_the_agent_is_told_where_the_root_is() {
    let lab = Lab::new(Place::Below);
    lab.sources(&[("a", "broken")]);
    let outcome = lab.until_checked(
        "grep -o 'The root of the repository is `[^`]*`' \"$FIXPOINT_PROMPT_FILE\"; echo ok > src/a",
    );
    assert_eq!(outcome.end(), (0, "done", "done"));
    let said = lab.call(&["logs", "--agent"]).stdout;
    assert!(said.contains("The root of the repository is `../..`"), "{said}");
}
