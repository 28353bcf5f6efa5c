//! A person at a terminal: asked when the goal is unclear or something needs consent, heard, and free to go.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use fixpoint_testkit::{Reply, Script};

use super::stage::{GOAL, Stage};
use super::words::{agreeing, plan, says_in_turn, task, unclear, undecomposed, with_yeses, writes};
use crate::process::skipped;

/// How long something may take to appear. Generous: it only bounds a test that fails.
const LONGEST: Duration = Duration::from_secs(120);

/// Somebody at a terminal of their own, made by `script`.
pub(crate) struct Person {
    child: Child,
    shown: Receiver<Vec<u8>>,
    seen: String,
}

impl Person {
    /// Nothing where no terminal can be made.
    fn starts(stage: &Stage, arguments: &[&str]) -> Option<Self> {
        Self::at(stage, arguments, "dumb")
    }

    /// The same at a terminal of a kind.
    fn at(stage: &Stage, arguments: &[&str], kind: &str) -> Option<Self> {
        Self::of(&stage.command(arguments), kind)
    }

    /// Somebody who typed this command.
    pub(crate) fn of(inner: &Command, kind: &str) -> Option<Self> {
        let words = std::iter::once(inner.get_program()).chain(inner.get_args());
        let line = shlex::try_join(words.map(|word| word.to_str().expect("text"))).expect("no NUL");
        let mut command = Command::new("script");
        command.args(["-qefc", &format!("exec {line}"), "/dev/null"]).env_clear();
        command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.env("SHELL", "/bin/sh").env("TERM", kind).env("USER", "ada");
        command.current_dir(inner.get_current_dir().expect("a place"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => {
                assert!(std::env::var_os("NO_SKIPPED_TESTS").is_none(), "script: {error}");
                skipped("this test makes a terminal with `script` of util-linux, which is not there");
                return None;
            }
        };
        let mut output = child.stdout.take().expect("piped");
        let (sender, shown) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(length @ 1..) = output.read(&mut buffer) {
                if sender.send(buffer[..length].to_vec()).is_err() {
                    return;
                }
            }
        });
        Some(Self { child, shown, seen: String::new() })
    }

    /// Waits until something new is shown.
    pub(crate) fn sees(&mut self, text: &str) {
        let mut new = String::new();
        while !new.contains(text) {
            let more = self.shown.recv_timeout(LONGEST);
            let more = more.unwrap_or_else(|_| panic!("`{text}` never came after:\n{}{new}", self.seen));
            new.push_str(&String::from_utf8_lossy(&more));
        }
        self.seen.push_str(&new);
    }

    pub(crate) fn types(&mut self, keys: &str) {
        let input = self.child.stdin.as_mut().expect("piped");
        input.write_all(keys.as_bytes()).and_then(|()| input.flush()).expect("typed");
    }

    /// The exit code, and everything that was shown.
    pub(crate) fn leaves(mut self) -> (i32, String) {
        while let Ok(more) = self.shown.recv_timeout(LONGEST) {
            self.seen.push_str(&String::from_utf8_lossy(&more));
        }
        (self.child.wait().expect("ended").code().expect("a code"), self.seen)
    }
}

fn planning(documents: Vec<serde_json::Value>) -> Script {
    with_yeses(Script::new().rule(says_in_turn("plan", documents.into_iter().map(Reply::json))))
}

#[test]
fn an_answer_typed_at_the_terminal_reaches_the_planner() {
    let stage = Stage::new(&planning(vec![unclear(), plan(&[writes("a")])]));
    let Some(mut person) = Person::starts(&stage, &["plan", GOAL]) else { return };
    person.sees("Which files?");
    person.types("only src/a\n");
    let (code, shown) = person.leaves();
    assert_eq!(code, 0, "{shown}");
    let asked = stage.asked("plan");
    assert_eq!(asked.len(), 2);
    assert!(asked[1].contains("only src/a") && asked[1].contains("ada"), "{}", asked[1]);
}

/// Catches a second question whose answer goes to a reader that the first one left behind.
#[test]
fn two_questions_one_after_the_other_are_both_answered() {
    let level = ["--set", "planning.decomposition_level=moderate"];
    let script = planning(vec![unclear(), undecomposed(&[]), undecomposed(&[writes("a")])]);
    for (typed, expected) in [("y\n", 0), ("no\n", 5)] {
        let stage = Stage::new(&script);
        let arguments = [&["plan", GOAL][..], &level].concat();
        let Some(mut person) = Person::starts(&stage, &arguments) else { return };
        person.sees("Which files?");
        person.types("only src/a\n");
        person.sees("Do you agree? [y/N]");
        person.types(typed);
        let (code, shown) = person.leaves();
        assert_eq!(code, expected, "{shown}");
    }
}

#[test]
fn ctrl_c_at_a_question_leaves_a_run_that_goes_on_there() {
    let stage = Stage::new(&planning(vec![unclear(), plan(&[writes("a")])]));
    let Some(mut person) = Person::starts(&stage, &["plan", GOAL]) else { return };
    person.sees("Which files?");
    person.types("\u{3}");
    let (code, shown) = person.leaves();
    assert_eq!(code, 130, "{shown}");
    let Some(mut person) = Person::starts(&stage, &["resume"]) else { return };
    person.sees("Which files?");
    person.types("only src/a\n");
    assert_eq!(person.leaves().0, 0);
    assert_eq!(stage.asked("plan").len(), 2, "the planner is not asked again before the person has answered");
}

/// Catches a view that does not say what the budget allows, how sure a score is, or which agent says what.
#[test]
fn a_live_run_shows_phase_score_budget_attempts_and_the_last_line_of_each_agent() {
    // Each waits until both are at work, so that both are on the screen.
    let both =
        "n=0; while [ ! -e $0.a -o ! -e $0.b ] && [ $n -lt 500 ]; do n=$((n + 1)); sleep 0.02; done; sleep 1";
    let at_work = |name: &str| {
        let work = format!("echo {name} speaks; : > $0.{name}; {both}; echo two > src/{name}");
        task(name, &work).within(&[&format!("src/{name}")])
    };
    let stage = Stage::new(&agreeing(&[at_work("a"), at_work("b")]));
    let arguments = stage.running(&["--budget", "attempts=9,tokens=900000", "--check", "true"]);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let Some(person) = Person::at(&stage, &arguments, "xterm") else { return };
    let (code, shown) = person.leaves();
    assert_eq!(code, 0, "{shown}");
    for part in [
        "executing",
        "reviewing the plan",
        "plan 84 ± ",
        "2 of 9 attempts",
        "of 900000 tokens",
        "▶ a · running · attempt 1, stage 1",
        "     agent working · ",
        " > a speaks",
        " > b speaks",
        "✓ a · done · 1 attempt · failures 0",
    ] {
        assert!(shown.contains(part), "`{part}` is not in\n{shown}");
    }
}
