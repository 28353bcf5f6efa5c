//! Programs called as the agents are, which print what the real ones once printed. They note how they were called.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::scenarios::lab::{Lab, Outcome, Place};

const RECORDINGS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../adapters/agents/fixtures");
const UNTIL: [&str; 2] = ["--until", "sh ./goal.sh"];

/// A repository with a goal, and a program of this name before all others on the `PATH`.
fn stage(name: &str, script: &str) -> Lab {
    let lab = Lab::new(Place::Root);
    lab.goal();
    install(&lab, name, script);
    lab
}

/// Puts a program of this name beside a repository; `play NAME` in its script prints a recording.
pub(crate) fn install(lab: &Lab, name: &str, script: &str) {
    let bin = lab.beside("bin");
    fs::create_dir_all(&bin).expect("made");
    let calls = lab.beside("calls");
    let path = bin.join(name);
    let version = if name == "claude" { "2.1.197" } else { "0.166.0" };
    let script = format!(
        "#!/bin/sh\nprintf '%s\\n' \"$*\" >> '{}'\ncat > /dev/null\n\
         play() {{ cat '{RECORDINGS}/{name}/{version}'/$1.jsonl; }}\n{script}\n",
        calls.display()
    );
    fs::write(&path, script).expect("written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("executable");
}

fn on_path(lab: &Lab, arguments: &[&str]) -> Command {
    with_installed(lab, lab.binary(arguments))
}

/// A command with those programs in reach.
pub(crate) fn with_installed(lab: &Lab, mut command: Command) -> Command {
    let path = std::env::var_os("PATH").expect("a PATH");
    let paths = std::iter::once(lab.beside("bin")).chain(std::env::split_paths(&path));
    command.env("PATH", std::env::join_paths(paths).expect("a PATH"));
    command
}

fn looping(lab: &Lab, arguments: &[&str], agent: &[&str]) -> Outcome {
    let mut whole = vec!["loop", "--json"];
    whole.extend(UNTIL.iter().chain(arguments).copied());
    if !agent.is_empty() {
        whole.push("--");
        whole.extend(agent);
    }
    lab.outcome(&mut on_path(lab, &whole), b"")
}

fn calls(lab: &Lab) -> Vec<String> {
    let text = fs::read_to_string(lab.beside("calls")).unwrap_or_default();
    text.lines().map(ToString::to_string).collect()
}

#[test]
fn claude_is_known_by_its_name_and_completed() {
    let lab = stage("claude", "play tool-call; echo ok > goal");
    let done = looping(&lab, &[], &["claude", "--add-dir", "x"]);
    assert_eq!(done.end(), (0, "done", "done"), "{}", done.stderr);
    let expected = "-p --output-format stream-json --verbose --permission-mode acceptEdits \
                    --allowedTools=Bash(sh ./goal.sh:*) --add-dir x";
    assert_eq!(calls(&lab), [expected]);
    let line = &done.iterations()[0];
    assert_eq!(line["agent_end"], "exited");
    assert!(line["last_words"].as_str().is_some_and(|words| !words.is_empty()), "{line}");
    assert_eq!(line["tokens"], done.json["cost"]["tokens"]);
    assert!(done.json["cost"]["tokens"].as_u64().is_some_and(|tokens| tokens > 0), "{}", done.json["cost"]);
    assert!(done.json["cost"]["usd"].as_f64().is_some_and(|usd| usd > 0.0), "{}", done.json["cost"]);
    assert!(lab.explained(&done).contains("· Used: "), "{}", lab.explained(&done));
}

#[test]
fn settings_name_kind_program_model_and_money() {
    let lab = stage("wrapper", "");
    let program = lab.beside("bin/wrapper");
    let script = fs::read_to_string(&program).expect("read").replace("/wrapper/0.166.0", "/claude/2.1.197");
    fs::write(&program, format!("{script}play tool-call; echo ok > goal\n")).expect("written");
    lab.configure(&format!(
        "agent: {{kind: claude, command: [{}, --effort, low], model: opus}}\nbudget: {{usd: 2.5}}\n",
        program.display()
    ));
    lab.commit("configuration");
    let done = looping(&lab, &[], &[]);
    assert_eq!(done.end(), (0, "done", "done"), "{}", done.stderr);
    let call = calls(&lab).pop().expect("a call");
    assert!(call.ends_with(" --model opus --max-budget-usd 2.500000 --effort low"), "{call}");
}

#[test]
fn a_session_goes_on_and_begins_anew_when_it_is_gone() {
    let script = "case \"$*\" in *--resume*) play session-gone; exit 1;; esac\n\
                  play tool-call; if [ $FIXPOINT_ATTEMPT = 2 ]; then echo ok > goal; else echo almost > goal; fi";
    let lab = stage("claude", script);
    let done = looping(&lab, &[], &["claude"]);
    assert_eq!(done.end(), (0, "done", "done"), "{}", done.stderr);
    assert_eq!(done.iterations().len(), 2);
    let resumed: Vec<bool> = calls(&lab)
        .iter()
        .map(|call| call.contains("--resume cbe8d863-e053-43cb-a234-4a46b91dca9e"))
        .collect();
    assert_eq!(resumed, [false, true, false], "{:?}", calls(&lab));
    assert_eq!(done.json["cost"]["attempts"], 2);
}

#[test]
fn codex_tells_the_sum_of_its_session_and_it_is_counted_once() {
    let script = "case \"$*\" in *resume*) play resumed; echo ok > goal;; *) play tool-call; echo almost > goal;; esac";
    let lab = stage("codex", script);
    let done = looping(&lab, &[], &["codex"]);
    assert_eq!(done.end(), (0, "done", "done"), "{}", done.stderr);
    let calls = calls(&lab);
    assert_eq!(calls[0], "exec --json --skip-git-repo-check --sandbox workspace-write -");
    assert!(calls[1].starts_with("exec --json --skip-git-repo-check --sandbox workspace-write resume "));
    let tokens = |n: usize| done.iterations()[n]["tokens"].as_u64().expect("tokens");
    assert_eq!(Some(tokens(0) + tokens(1)), done.json["cost"]["tokens"].as_u64());
    let told = told_by_codex("resumed");
    assert_eq!(tokens(0) + tokens(1), told, "what the session told last is all there was");
}

/// The tokens of the whole session, as a recording tells them.
fn told_by_codex(name: &str) -> u64 {
    let text = fs::read_to_string(format!("{RECORDINGS}/codex/0.166.0/{name}.jsonl")).expect("read");
    let events = text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let usage =
        events.rev().find(|event| event["type"] == "turn.completed").expect("an end")["usage"].clone();
    let count = |name: &str| usage[name].as_u64().unwrap_or_default();
    count("input_tokens") + count("output_tokens")
}

#[test]
fn a_refusal_pauses_and_is_no_attempt_of_the_task() {
    for (agent, recording) in [
        ("claude", "not-signed-in"),
        ("claude", "rate-limited"),
        ("codex", "bad-key"),
        ("codex", "rate-limited"),
    ] {
        let script =
            format!("if [ -f \"$HOME/signed-in\" ]; then echo ok > goal; else play {recording}; exit 1; fi");
        let lab = stage(agent, &script);
        let paused = looping(&lab, &[], &[agent]);
        assert_eq!(
            paused.end(),
            (7, "paused", "agent_unavailable"),
            "{agent} {recording}: {}",
            paused.stderr
        );
        assert_eq!(paused.iterations().len(), 0);
        assert_eq!(calls(&lab).len(), 1);
        let told = lab.explained(&paused).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains("provider refused") && told.contains("Last message of the agent"), "{told}");
        assert!(told.contains("`fixpoint resume`"), "{told}");
        fs::write(lab.beside("home/signed-in"), "").expect("written");
        let done = lab.outcome(&mut on_path(&lab, &["resume", "--json"]), b"");
        assert_eq!((done.end(), done.iterations().len()), ((0, "done", "done"), 1), "{}", done.stderr);
    }
}

#[test]
fn claims_without_a_change_are_no_change_and_the_hint_says_where_to_look() {
    let lab = stage("claude", "play tool-call");
    let stopped = looping(&lab, &[], &["claude"]);
    assert_eq!(stopped.end(), (3, "failed", "not_converging"), "{}", stopped.stderr);
    assert_eq!(stopped.progress(), ["no_change"; 4]);
    let told = lab.explained(&stopped).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        told.contains("Last message of the agent") && told.contains("may lack permission to edit"),
        "{told}"
    );
    let sessions: Vec<bool> = calls(&lab).iter().map(|call| call.contains("--resume")).collect();
    assert_eq!(sessions, [false, true, false, false], "only stage 1 goes on");
}

#[test]
fn no_attempt_begins_once_the_money_is_used_up() {
    let lab = stage("claude", "play tool-call; echo $FIXPOINT_ATTEMPT > goal");
    lab.configure("budget: {usd: 0.000001}\n");
    lab.commit("configuration");
    let paused = looping(&lab, &[], &["claude"]);
    assert_eq!(paused.end(), (6, "paused", "budget"), "{}", paused.stderr);
    assert_eq!((paused.iterations().len(), calls(&lab).len()), (1, 1));
}

#[test]
fn chosen_modes_are_left_alone() {
    let lab = stage("claude", "echo words; echo ok > goal");
    let done = looping(&lab, &[], &["claude", "-p", "{prompt_file}"]);
    assert_eq!(done.end(), (0, "done", "done"), "{}", done.stderr);
    assert!(calls(&lab)[0].starts_with("-p /") && calls(&lab)[0].ends_with(".md"), "{:?}", calls(&lab));
    assert_eq!(done.iterations()[0]["last_words"], "words");
    assert_eq!(done.json["cost"]["tokens"], 0);
}
