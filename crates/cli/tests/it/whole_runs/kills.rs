//! Fifty times the process is killed at a random moment of a whole run, and the run is taken up again: the same result,
//! and nothing that was answered is asked again. And Ctrl-C.

use std::collections::BTreeMap;
use std::fs::File;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use fixpoint_engine::RecordedRun;
use fixpoint_simulate::Random;
use fixpoint_testkit::{Reply, Script};
use fixpoint_vocabulary::work::Command as Work;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::stage::{Stage, answers};
use super::words::{holds, named, plan, says, task, with_yeses, writes};
use crate::process::Ended;
use crate::scenarios::lab::wait_for;
use crate::scenarios::unchanged::{Allowed, Picture};

/// Another seed can be named in this variable.
const SEED_VARIABLE: &str = "FIXPOINT_CRASH_SEED";
const SEED: u64 = 20_260_202;
const LANES: u64 = 2;
const KILLS_PER_LANE: u32 = 25;
/// A process lives so long at most before it is killed.
const LONGEST_LIFE: u64 = 900;
/// They run on the base, before a model is asked, and on every result.
const CHECKS: [&str; 2] = ["--check", "test -d src"];
const LONG: Duration = Duration::from_secs(60);

/// Two tasks side by side, one on top of both, and every answer takes a moment.
fn script() -> Script {
    let last = task("c", "cat src/a src/b > src/c").within(&["src/c"]).until(&holds("c", "two"));
    let tasks = [writes("a"), writes("b"), last.after(&["a", "b"])];
    with_yeses(Script::new().rule(says("plan", plan(&tasks)))).delay_ms(40)
}

/// The binary at work, with its output in files: a pipe would end with whoever holds it.
struct Running {
    child: Child,
    output: std::path::PathBuf,
}

impl Stage {
    fn start(&self, words: &[String]) -> Running {
        let output = tempfile::Builder::new().tempfile_in(self.lab.beside("tmp")).expect("a file");
        let output = output.into_temp_path().keep().expect("kept");
        let mut command = self.command(&words.iter().map(String::as_str).collect::<Vec<_>>());
        command.stdin(Stdio::null()).stdout(File::create(&output).expect("made"));
        command.stderr(File::create(output.with_extension("err")).expect("made"));
        Running { child: command.spawn().expect("it starts"), output }
    }
}

impl Running {
    fn ends_within(&mut self, bound: Duration) -> Option<Ended> {
        let until = Instant::now() + bound;
        loop {
            if let Some(status) = self.child.try_wait().expect("it is ours") {
                let text = |path: &std::path::Path| std::fs::read_to_string(path).expect("text");
                let stderr = text(&self.output.with_extension("err"));
                return Some(Ended { code: status.code().unwrap_or(-1), stdout: text(&self.output), stderr });
            }
            if Instant::now() >= until {
                return None;
            }
            std::thread::park_timeout(Duration::from_millis(2));
        }
    }

    fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id().try_into().expect("an id")), signal).expect("sent");
    }
}

/// Kills and resumes until the run is done.
fn torture(stage: &Stage, random: &mut Random, kills: &mut u32) -> Ended {
    let resuming: Vec<String> = ["resume", "--json"].map(ToString::to_string).to_vec();
    let mut running = stage.start(&stage.running(&CHECKS));
    let mut story = Vec::new();
    loop {
        let life = if *kills < KILLS_PER_LANE {
            Duration::from_millis(random.next_u64() % LONGEST_LIFE)
        } else {
            LONG
        };
        let Some(ended) = running.ends_within(life) else {
            assert!(life < LONG, "it hangs: {story:#?}");
            running.child.kill().expect("killed");
            running.child.wait().expect("gone");
            *kills += 1;
            story.push(format!("killed after {life:?}"));
            running = stage.start(&resuming);
            continue;
        };
        if ended.code == 0 {
            return ended;
        }
        story.push(format!("ended with {}: {} {}", ended.code, ended.stderr, ended.stdout));
        let never_began = ended.stderr.contains("no runs yet") || ended.stderr.contains("never began");
        let too_often = ended.code == 7 && ended.stdout.contains("\"infrastructure\"");
        assert!(never_began || too_often, "{story:#?}");
        running = if never_began { stage.start(&stage.running(&CHECKS)) } else { stage.start(&resuming) };
    }
}

/// Questions that were begun and have no answer on record: each was put once at most.
fn lost_questions(recorded: &RecordedRun) -> u64 {
    let commands = recorded.records.iter().flat_map(|record| record.decision.commands(0));
    let begun = commands.filter(|(_, _, command)| matches!(command, Work::Ask(_))).count();
    begun.saturating_sub(answers(recorded).len()) as u64
}

fn assert_nothing_is_asked_twice(stage: &Stage) {
    let recorded = stage.recorded();
    let answered = answers(&recorded);
    let mut times: BTreeMap<String, u32> = BTreeMap::new();
    for (ask, _) in &answered {
        *times.entry(format!("{:?}", ask.about)).or_default() += 1;
    }
    assert!(times.values().all(|times| *times == 1), "answered twice: {times:#?}");
    let on_record: u64 = answered.iter().map(|(_, answer)| answer.usage.calls).sum();
    let (asked, lost) = (stage.server.calls().expect("counts").calls, lost_questions(&recorded));
    assert!(
        on_record <= asked && asked <= on_record + lost,
        "{asked} asked, {on_record} on record, {lost} lost"
    );
}

/// The files of the result with their contents.
fn result(stage: &Stage, ended: &Ended) -> String {
    let printed: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON");
    assert_eq!(printed["cause"], "done", "{printed}");
    stage.lab.git(&["ls-tree", "-r", printed["branch"].as_str().expect("a branch")])
}

fn lane(seed: u64, lane: u64, expected: &str) -> u32 {
    let mut random = Random::keyed(seed, &format!("whole run {lane}"));
    let mut kills = 0;
    while kills < KILLS_PER_LANE {
        let stage = Stage::new(&script());
        let before = Picture::of(&stage.lab.root());
        let ended = torture(&stage, &mut random, &mut kills);
        assert_eq!(result(&stage, &ended), expected, "seed {seed}, lane {lane}");
        assert_nothing_is_asked_twice(&stage);
        let printed: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON");
        let allowed = Allowed::Branch(printed["run"].as_str().expect("a run"));
        assert_eq!(before.differences(&Picture::of(&stage.lab.root()), allowed), [""; 0]);
        assert!(stage.told(&["replay", "--json"]).contains("\"identical\":true"), "seed {seed}, lane {lane}");
    }
    kills
}

#[test]
fn fifty_kills_change_nothing() {
    let seed = std::env::var(SEED_VARIABLE).map_or(SEED, |seed| seed.parse().expect("a number"));
    println!("seed {seed}");
    let undisturbed = Stage::new(&script());
    let ended = undisturbed.start(&undisturbed.running(&CHECKS)).ends_within(LONG).expect("it ends");
    let expected = result(&undisturbed, &ended);
    assert_nothing_is_asked_twice(&undisturbed);
    let kills: u32 = std::thread::scope(|scope| {
        let expected = &expected;
        let lanes: Vec<_> =
            (0..LANES).map(|number| scope.spawn(move || lane(seed, number, expected))).collect();
        lanes.into_iter().map(|lane| lane.join().expect("all is well")).sum()
    });
    assert_eq!(u64::from(kills), LANES * u64::from(KILLS_PER_LANE));
}

#[test]
fn ctrl_c_while_an_agent_works_and_while_a_model_is_asked() {
    let slow = |form: &str| {
        named(format!("slow {form}"), form).reply(Reply::text("late").delay_ms(60_000)).then_fail()
    };
    for form in [None, Some("plan"), Some("task_judgement")] {
        let mut script = Script::new();
        script.rules.extend(form.map(slow));
        let started = tempfile::tempdir().expect("a directory");
        let mark = started.path().join("started");
        let waits = form.is_none();
        let does = format!("[ -e {0} ] || {{ : > {0}; exec sleep 600; }}; echo two > src/a", mark.display());
        let works =
            if waits { task("a", &does).within(&["src/a"]).until(&holds("a", "two")) } else { writes("a") };
        let stage = Stage::new(&with_yeses(script.rule(says("plan", plan(&[works])))));
        let mut words = stage.running(&[]);
        words.retain(|word| word != "--json");
        let mut running = stage.start(&words);
        let is_there = || match form {
            None => mark.exists(),
            Some(form) => stage.server.calls().expect("counts").by_rule.contains_key(&format!("slow {form}")),
        };
        wait_for("something to be interrupted", is_there);
        running.signal(Signal::SIGINT);
        let ended = running.ends_within(Duration::from_secs(20)).expect("it ends soon");
        assert_eq!(ended.code, 130, "{ended:?}");
        assert!(
            ended.stdout.contains("Resume: fixpoint resume 2") && ended.stdout.contains("[stopped]"),
            "{ended:?}"
        );
        let resumed =
            stage.start(&["resume", "--json"].map(ToString::to_string)).ends_within(LONG).expect("it ends");
        assert_eq!(resumed.code, 0, "{resumed:?}");
        assert_nothing_is_asked_twice(&stage);
    }
}
