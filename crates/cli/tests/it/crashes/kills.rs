//! A hundred times the process is killed at a random moment, and the run is taken up again.

use std::collections::BTreeMap;
use std::time::Duration;

use fixpoint_runs::StateDirectory;
use fixpoint_simulate::Random;
use nix::sys::signal::{Signal, kill};

use super::scene::{LONG, Outcome, Running, Scene, name_in, wait_for};
use crate::process::Ended;

/// Another seed can be named in this variable.
const SEED_VARIABLE: &str = "FIXPOINT_CRASH_SEED";
const SEED: u64 = 20_260_101;
/// Each lane is a thread with runs of its own.
const LANES: u64 = 4;
const KILLS_PER_LANE: u32 = 25;
/// A process lives so long at most before it is killed.
const LONGEST_LIFE: u64 = 900;
/// Now and then it is killed right at its beginning.
const SHORT_LIFE: u64 = 60;

/// One run that is killed until it ends, or until enough kills were made.
struct Torture<'a> {
    scene: &'a Scene,
    random: &'a mut Random,
    kills: u32,
    /// What was being done when the kills came.
    hits: BTreeMap<String, u32>,
    story: Vec<String>,
}

impl Torture<'_> {
    fn life(&mut self) -> Duration {
        let drawn = self.random.next_u64();
        let longest = if drawn.is_multiple_of(5) { SHORT_LIFE } else { LONGEST_LIFE };
        Duration::from_millis((drawn >> 8) % longest)
    }

    /// Kills and resumes until the run is done, and answers its name.
    fn torture(&mut self, most: u32) -> String {
        let mut running = self.scene.start(&self.scene.looping());
        loop {
            let life = if self.kills < most { self.life() } else { LONG };
            match running.ends_within(life) {
                Some(ended) if ended.code == 0 => return name_in(&ended),
                Some(ended) => running = self.after(&ended),
                None => {
                    assert!(life < LONG, "it hangs; {:#?}", self.story);
                    let with_it = self.kill(running);
                    let doing = self.scene.doing();
                    self.story.push(format!("killed after {life:?}{with_it}: {doing}"));
                    *self.hits.entry(doing).or_default() += 1;
                    self.kills += 1;
                    running = self.scene.start(&["resume", "--json"]);
                }
            }
        }
    }

    /// Kills the process, and sometimes everything it started with it: agents, checks and git.
    fn kill(&mut self, running: Running) -> &'static str {
        running.kill();
        if !self.random.next_u64().is_multiple_of(3) {
            return "";
        }
        for pid in self.scene.stray_pids() {
            let _ = kill(pid, Signal::SIGKILL);
        }
        " with all it started"
    }

    /// What follows an end that is not the run's.
    fn after(&mut self, ended: &Ended) -> Running {
        self.story.push(format!("ended with {}: {} {}", ended.code, ended.stderr, ended.stdout));
        let never_began = ended.stderr.contains("no runs yet") || ended.stderr.contains("never began");
        let too_often = ended.code == 7 && ended.stdout.contains("\"infrastructure\"");
        assert!(never_began || too_often, "{:#?}", self.story);
        if never_began {
            return self.scene.start(&self.scene.looping());
        }
        self.scene.start(&["resume", "--json"])
    }
}

fn assert_all_is_well(scene: &Scene, run: &str, expected: &Outcome) {
    assert_eq!(&scene.outcome(run), expected);
    let replayed = scene.run(&["replay", run, "--json"]);
    assert!(replayed.code == 0 && replayed.stdout.contains("\"identical\":true"), "{replayed:?}");
    scene.assert_no_strays();
    scene.assert_nothing_lost(run);
    scene.assert_unmixed(run);
    scene.assert_artifacts(run);
}

impl Scene {
    /// What the record says is being done.
    fn doing(&self) -> String {
        let states = std::fs::read_dir(self.state.join("fixpoint")).into_iter().flatten().flatten();
        let homes = states.map(|state| {
            StateDirectory::new(&self.state.join("fixpoint"), &state.file_name().to_string_lossy())
        });
        let run = homes.filter_map(|home| home.find("latest").ok()).next();
        let recorded = run.and_then(|run| run.read_whole().ok());
        recorded.map_or("nothing yet".to_string(), |recorded| format!("{:?}", recorded.run().status()))
    }

    /// The artifacts of every attempt are there, and tell of the end.
    fn assert_artifacts(&self, run: &str) {
        let context = self.directory(run).join("context/loop");
        let shown = self.shown(run);
        let attempts = shown["iterations"].as_array().expect("a list").len();
        for number in 1..=attempts {
            let file = context.join(format!("iterations/{number}/failure_fingerprint_history.json"));
            assert!(file.is_file(), "{} is missing", file.display());
        }
        let reasons = std::fs::read_to_string(context.join("completion_reasons.json")).expect("written");
        let reasons: serde_json::Value = serde_json::from_str(&reasons).expect("JSON");
        assert_eq!((&reasons["cause"], &reasons["status"]), (&shown["cause"], &"done".into()));
    }
}

fn lane(seed: u64, lane: u64, expected: &Outcome) -> BTreeMap<String, u32> {
    let mut random = Random::keyed(seed, &format!("lane {lane}"));
    let (mut kills, mut hits) = (0, BTreeMap::new());
    while kills < KILLS_PER_LANE {
        let scene = Scene::new().long();
        let before = scene.user_files();
        let mut torture = Torture { scene: &scene, random: &mut random, kills, hits, story: Vec::new() };
        let run = torture.torture(KILLS_PER_LANE);
        let story = std::mem::take(&mut torture.story);
        (kills, hits) = (torture.kills, torture.hits);
        let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            assert_all_is_well(&scene, &run, expected);
            assert_eq!(scene.user_files(), before);
        }));
        if let Err(panic) = checked {
            eprintln!("seed {seed}, lane {lane}, run {run}: {story:#?}");
            std::panic::resume_unwind(panic);
        }
    }
    hits
}

#[test]
fn a_hundred_kills_change_nothing() {
    let seed = std::env::var(SEED_VARIABLE).map_or(SEED, |seed| seed.parse().expect("a number"));
    let undisturbed = Scene::new().long();
    let before = undisturbed.user_files();
    let run = undisturbed.looped();
    let expected = undisturbed.outcome(&run);
    assert!(expected.attempts.len() >= 5, "{expected:?}");
    assert!(expected.attempts.iter().any(|(_, stage, _)| *stage != 1), "{expected:?}");
    assert_all_is_well(&undisturbed, &run, &expected);
    assert_eq!(undisturbed.user_files(), before);
    let lanes: Vec<BTreeMap<String, u32>> = std::thread::scope(|scope| {
        let one = |number| {
            let expected = &expected;
            scope.spawn(move || lane(seed, number, expected))
        };
        let threads: Vec<_> = (0..LANES).map(one).collect();
        threads.into_iter().map(|thread| thread.join().expect("all is well")).collect()
    });
    let kills: u32 = lanes.iter().flat_map(BTreeMap::values).sum();
    let mut hits: BTreeMap<&str, u32> = BTreeMap::new();
    for (doing, times) in lanes.iter().flatten() {
        *hits.entry(doing).or_default() += times;
    }
    println!("killed while: {hits:#?}");
    assert_eq!(u64::from(kills), LANES * u64::from(KILLS_PER_LANE));
}

#[test]
fn an_attempt_that_was_taken_and_is_not_on_record_is_kept() {
    let scene = Scene::new().long();
    let mut running = scene.start(&scene.looping());
    scene.await_steps(1);
    let run = scene.only_run();
    for number in 1..=6 {
        let reference = format!(".git/refs/fixpoint/{run}/loop/attempt-{number}");
        wait_for("a tree that was taken", LONG, || {
            scene.repository().join(&reference).exists().then_some(())
        });
        running.kill();
        running = scene.start(&["resume", "--json"]);
    }
    let ended = running.end();
    assert_eq!(ended.code, 0, "{ended:?}");
    scene.assert_nothing_lost(&run);
    scene.assert_unmixed(&run);
}
