//! Single bits of the files of a run that change: every command that reads the run reports damage, or shows exactly what it
//! showed before, and `gc` deletes nothing that was not delivered.
//!
//! `FIXPOINT_BIT_FLIPS` is the number of bits (`scripts/bit-flips` tries 1,000), `FIXPOINT_BIT_SEED` selects them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::scene::{Scene, name_in};
use crate::process::Ended;

const USUAL_FLIPS: u64 = 60;

/// Read with every flip.
const ALWAYS: [&[&str]; 2] = [&["list", "--json"], &["show", "--json"]];
/// Read in turn.
const IN_TURN: [&[&str]; 10] = [
    &["logs"],
    &["status", "--json"],
    &["logs", "--json"],
    &["explain"],
    &["history", "--json"],
    &["logs", "--raw"],
    &["replay", "--json"],
    &["diff"],
    &["logs", "-f"],
    &["gc", "--dry-run", "--days", "0", "--json"],
];

/// Numbers that look random and are the same for a seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % bound as u64).expect("a small number")
    }
}

fn number_of(variable: &str, usual: u64) -> u64 {
    std::env::var(variable).ok().and_then(|value| value.parse().ok()).unwrap_or(usual)
}

fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).expect("readable").flatten() {
        match entry.path() {
            path if path.is_dir() => files.extend(files_below(&path)),
            path if fs::metadata(&path).is_ok_and(|found| found.len() > 0) => files.push(path),
            _ => {}
        }
    }
    files.sort();
    files
}

/// A run that is done, and one that used up its budget and has work that was not delivered.
struct Runs {
    scene: Scene,
    names: [String; 2],
    before: BTreeMap<(String, Vec<String>), (i32, String, String)>,
}

fn words_for(words: &[&str], run: &str) -> Vec<String> {
    let is_of_run = !matches!(words[0], "list" | "gc");
    words.iter().copied().chain(is_of_run.then_some(run)).map(ToString::to_string).collect()
}

impl Runs {
    fn new() -> Self {
        let scene = Scene::new();
        let done = scene.looped();
        let mut words = scene.looping();
        words.splice(1..1, ["--budget".to_string(), "attempts=1".to_string()]);
        let paused = scene.run(&words);
        assert_eq!(paused.code, 6, "{paused:?}");
        let mut runs = Self { names: [done, name_in(&paused)], scene, before: BTreeMap::new() };
        for run in runs.names.clone() {
            for words in ALWAYS.iter().chain(&IN_TURN) {
                let words = words_for(words, &run);
                let Ended { code, stdout, stderr } = runs.scene.run(&words);
                assert_eq!(code, 0, "{words:?}: {stderr}");
                runs.before.insert((run.clone(), words), (code, stdout, stderr));
            }
        }
        runs
    }

    /// What is wrong with the answer of a command while a bit of a run is flipped; `None` if it is right.
    fn wrong(&self, run: &str, words: &[&str]) -> Option<String> {
        let words = words_for(words, run);
        let ended = self.scene.run(&words);
        let (_, stdout, stderr) = &self.before[&(run.to_string(), words.clone())];
        if ended.code == 0 && ended.stdout == *stdout && ended.stderr == *stderr {
            return None;
        }
        let of_many = matches!(words[0].as_str(), "list" | "gc");
        let said = if of_many { ended.stdout.clone() } else { format!("{}{}", ended.stdout, ended.stderr) };
        let is_told = said.contains("damaged") && ended.code == i32::from(!of_many);
        let is_removed = words[0] == "gc" && ended.stdout.contains(&format!("\"removed\":[\"{run}\""));
        (!is_told || is_removed).then(|| format!("{words:?}: {ended:?}"))
    }
}

#[test]
fn a_flipped_bit_is_damage_or_makes_no_difference() {
    let runs = Runs::new();
    let (flips, seed) = (number_of("FIXPOINT_BIT_FLIPS", USUAL_FLIPS), number_of("FIXPOINT_BIT_SEED", 1));
    let mut numbers = Numbers(seed);
    let (mut reported, mut wrong) = (0_u64, Vec::new());
    let mut by_kind: BTreeMap<String, u64> = BTreeMap::new();
    for flip in 0..flips {
        let run = &runs.names[numbers.below(2)];
        let directory = runs.scene.state_of(run);
        let files = files_below(&directory);
        // Every second bit is one of a record.
        let journal = directory.join(fixpoint_journal::JOURNAL_FILE);
        let file = if flip % 2 == 0 { &journal } else { &files[numbers.below(files.len())] };
        let original = fs::read(file).expect("readable");
        let bit = numbers.below(original.len() * 8);
        let mut changed = original.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        fs::write(file, &changed).expect("written");
        let in_turn = IN_TURN[usize::try_from(flip / 2).expect("small") % IN_TURN.len()];
        let found: Vec<String> =
            ALWAYS.iter().chain([&in_turn]).filter_map(|words| runs.wrong(run, words)).collect();
        let shown = runs.scene.run(&["show", run, "--json"]);
        reported += u64::from(shown.code == 1);
        fs::write(file, &original).expect("written");
        let name = file.strip_prefix(&directory).expect("below").to_string_lossy().into_owned();
        *by_kind.entry(name.split('/').next().unwrap_or_default().to_string()).or_default() += 1;
        wrong.extend(found.into_iter().map(|found| format!("seed {seed}, bit {bit} of {name}: {found}")));
    }
    println!(
        "{flips} bits, {} wrong answers, {reported} reported by `show`; by file: {by_kind:?}",
        wrong.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(reported > flips / 4, "half of the bits are of records: {reported} of {flips}");
}

/// With a damaged journal nobody knows what a run holds, so nothing of it is deleted, with `--force` neither.
#[test]
fn gc_keeps_work_of_a_run_with_a_flipped_bit() {
    let runs = Runs::new();
    let run = &runs.names[1];
    let journal = runs.scene.state_of(run).join(fixpoint_journal::JOURNAL_FILE);
    let refs = || runs.scene.git(&["for-each-ref", &format!("refs/fixpoint/{run}")]);
    let before = refs();
    let original = fs::read(&journal).expect("readable");
    let collected = runs.scene.run(&["gc", "--days", "0"]);
    assert!(collected.stdout.contains(&format!("kept {run}")), "not delivered: {collected:?}");
    for place in [20, original.len() / 2, original.len() - 3] {
        let mut changed = original.clone();
        changed[place] ^= 1;
        fs::write(&journal, &changed).expect("written");
        for words in [&["gc", "--days", "0"][..], &["gc", "--days", "0", "--force"]] {
            let collected = runs.scene.run(words);
            assert!(collected.stdout.contains("damaged"), "{collected:?}");
            assert_eq!((fs::read(&journal).expect("there"), refs()), (changed.clone(), before.clone()));
        }
    }
    fs::write(&journal, &original).expect("written");
    assert_eq!(runs.scene.run(&["resume", run, "--budget", "attempts=+1", "--json"]).code, 0);
}
