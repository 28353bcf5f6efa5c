//! What is left of two sides after an agent brought them together: all of it, or what is lost is named.

use std::fs;

use fixpoint_ports::{Invocation, Stdin, Workspaces};
use fixpoint_vocabulary::prepared::PreparedAttempt;
use fixpoint_vocabulary::work::{
    AttemptCommand, AttemptResult, CommitId, Conflict, FailureId, ReportedFailure, Side,
};

use crate::played::{Playing, Scene, git};

const LINES: usize = 14;
const FILES: usize = 20;
const ROUNDS: u64 = 10;

struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// What a side did to a line of the base.
#[derive(Debug, Clone, PartialEq)]
enum Edit {
    Keep,
    Delete,
    Replace(String),
    Behind(String),
}

fn edits(dice: &mut Dice, side: &str, file: usize) -> Vec<Edit> {
    let edit = |line: usize| match dice.below(10) {
        0 => Edit::Delete,
        1 => Edit::Replace(format!("{side} writes {line} of {file} anew {}", dice.below(1 << 30))),
        2 => Edit::Behind(format!("{side} adds behind {line} of {file} {}", dice.below(1 << 30))),
        _ => Edit::Keep,
    };
    (0..LINES).map(edit).collect()
}

fn base_line(file: usize, line: usize) -> String {
    format!("line {line} of file {file}")
}

/// A file with the edits of none, one or both sides.
fn file_with(file: usize, sides: &[&[Edit]]) -> String {
    let mut text = String::new();
    for line in 0..LINES {
        let here: Vec<&Edit> = sides.iter().map(|edits| &edits[line]).collect();
        let new = |edit: &&Edit| match edit {
            Edit::Replace(text) => Some(format!("{text}\n")),
            Edit::Keep | Edit::Delete | Edit::Behind(_) => None,
        };
        let is_kept = here.iter().all(|edit| matches!(edit, Edit::Keep | Edit::Behind(_)));
        if is_kept {
            text.push_str(&format!("{}\n", base_line(file, line)));
        }
        text.extend(here.iter().filter_map(new));
        text.extend(here.iter().filter_map(|edit| match edit {
            Edit::Behind(text) => Some(format!("{text}\n")),
            Edit::Keep | Edit::Delete | Edit::Replace(_) => None,
        }));
    }
    text
}

/// Whether a file has everything a side wrote, and nothing it removed that the other did not write about.
fn holds(text: &str, file: usize, mine: &[Edit], others: &[Edit]) -> bool {
    let has = |line: &str| text.lines().any(|other| other == line);
    (0..LINES).all(|line| match &mine[line] {
        Edit::Keep => true,
        Edit::Replace(new) => has(new) && !has(&base_line(file, line)),
        Edit::Behind(new) => has(new),
        Edit::Delete => others[line] != Edit::Keep || !has(&base_line(file, line)),
    })
}

/// What an agent does with a file.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    KeepsBoth,
    LeavesIt,
    TakesOurs,
    TakesTheirs,
    ForgetsAnEdit,
}

const WAYS: [Way; 5] = [Way::KeepsBoth, Way::LeavesIt, Way::TakesOurs, Way::TakesTheirs, Way::ForgetsAnEdit];

fn name(file: usize) -> String {
    format!("src/file {file}.txt")
}

fn resolved(dice: &mut Dice, way: Way, file: usize, ours: &[Edit], theirs: &[Edit]) -> Option<String> {
    match way {
        Way::KeepsBoth => Some(file_with(file, &[ours, theirs])),
        Way::LeavesIt => None,
        Way::TakesOurs => Some(file_with(file, &[ours])),
        Way::TakesTheirs => Some(file_with(file, &[theirs])),
        Way::ForgetsAnEdit => {
            let mut less = ours.to_vec();
            less[dice.below(LINES as u64) as usize] = Edit::Keep;
            Some(file_with(file, &[&less, theirs]))
        }
    }
}

fn named(result: &AttemptResult, side: Side, path: &str) -> bool {
    result.unresolved.iter().any(|failure| {
        if let FailureId::LostChange { side: lost, path: file, .. } = failure.id() {
            *lost == side && file == path
        } else if let FailureId::Conflict(file) = failure.id() {
            file == path
        } else {
            panic!("a merge finds no {:?}", failure.id())
        }
    })
}

fn order(scene: &Scene, base: &CommitId, ours: &CommitId, theirs: &CommitId) -> PreparedAttempt {
    let merged = scene.workspaces.merge(ours, theirs, "merged").unwrap();
    let paths = merged.conflicts.iter().map(|path| String::from_utf8(path.clone()).unwrap()).collect();
    let conflict = Conflict { ours: ours.clone(), theirs: theirs.clone(), paths };
    let (base, origin) = (merged.commit, base.clone());
    let command = AttemptCommand { number: 1, base, origin, stage: 1, session: None };
    PreparedAttempt { merge: Some(conflict), ..PreparedAttempt::new(command) }
}

fn writing(files: Vec<(String, Option<String>)>) -> Box<Playing> {
    Box::new(move |invocation: &Invocation| {
        for (path, content) in &files {
            if let Some(content) = content {
                fs::write(invocation.directory.join(path), content).unwrap();
            }
        }
    })
}

/// Two hundred files with random changes of two sides, twenty to a merge. Catches a file that is only looked at where it
/// conflicted, a side that is compared with the wrong base, and an agent that was right and is blamed.
#[test]
fn every_hunk_is_there_or_its_loss_is_named() {
    let scene = Scene::new();
    let blank = vec![Edit::Keep; LINES];
    let before: Vec<_> = (0..FILES).map(|file| (name(file), file_with(file, &[&blank]))).collect();
    let base = scene.commit(&scene.first, &before, "base");
    let (mut right, mut wrong) = (0, 0);
    for round in 0..ROUNDS {
        let mut dice = Dice(round);
        let works: Vec<[Vec<Edit>; 2]> =
            (0..FILES).map(|file| ["ours", "theirs"].map(|side| edits(&mut dice, side, file))).collect();
        let side = |which: usize| -> Vec<(String, String)> {
            works
                .iter()
                .enumerate()
                .map(|(file, work)| (name(file), file_with(file, &[&work[which]])))
                .collect()
        };
        let ours = scene.commit(&base, &side(0), "ours");
        let theirs = scene.commit(&base, &side(1), "theirs");
        let ways: Vec<Way> = (0..FILES).map(|_| WAYS[dice.below(5) as usize]).collect();
        let files = works.iter().zip(&ways).enumerate();
        let files = files
            .map(|(file, (work, way))| (name(file), resolved(&mut dice, *way, file, &work[0], &work[1])));
        let playing = writing(files.collect());
        let result = scene.attempt(order(&scene, &base, &ours, &theirs), playing);
        for (file, ([ours, theirs], way)) in works.iter().zip(&ways).enumerate() {
            let text = scene.content(&result.commit, &name(file));
            for (side, mine, others) in [(Side::Ours, ours, theirs), (Side::Theirs, theirs, ours)] {
                let is_there = holds(&text, file, mine, others) && !text.contains("<<<<<<<");
                let is_named = named(&result, side, &name(file));
                assert!(is_there || is_named, "round {round}, {side:?} of file {file}, {way:?}: {result:?}");
                assert!(
                    *way != Way::KeepsBoth || !is_named,
                    "round {round}, file {file}: {:?}",
                    result.unresolved
                );
                (right, wrong) = (right + u32::from(is_there), wrong + u32::from(is_named));
            }
        }
    }
    assert!(right > 100 && wrong > 100, "{right} kept, {wrong} named");
}

#[test]
fn an_agent_sees_both_sides_and_can_ask_git_for_them() {
    let scene = Scene::new();
    let file = |content: &str| vec![("a".to_string(), content.to_string())];
    let base = scene.commit(&scene.first, &file("one\ntwo\n"), "base");
    let ours = scene.commit(&base, &file("one\nours\n"), "ours");
    let theirs = scene.commit(&base, &file("one\ntheirs\n"), "theirs");
    let since = format!("{theirs}...{ours}");
    let playing: Box<Playing> = Box::new(move |invocation| {
        let Stdin::Bytes(told) = &invocation.stdin else { panic!("it is told by its input") };
        let told = String::from_utf8(told.clone()).unwrap();
        for part in [
            "# What `ours` changed in these files",
            "-two\n+ours",
            "# What `theirs` changed in these files",
            "-two\n+theirs",
        ] {
            assert!(told.contains(part), "{part}: {told}");
        }
        assert!(told.contains(&format!("git diff {since}")), "{told}");
        assert!(git(&invocation.directory, &["diff", &since]).ends_with("-two\n+ours"));
    });
    let result = scene.attempt(order(&scene, &base, &ours, &theirs), playing);
    let found: Vec<&FailureId> = result.unresolved.iter().map(ReportedFailure::id).collect();
    assert_eq!(found, [&FailureId::Conflict("a".into())]);
}

#[test]
fn a_file_that_one_side_renamed_keeps_what_the_other_changed() {
    let scene = Scene::new();
    let lines: String = (0..9).map(|line| format!("line {line}\n")).collect();
    let base = scene.commit(&scene.first, &[("old".to_string(), lines.clone())], "base");
    let user = scene.user();
    git(&user, &["checkout", "-q", "-b", "renaming", &base.0]);
    git(&user, &["mv", "old", "new"]);
    git(&user, &["commit", "-q", "-m", "renamed"]);
    let ours = CommitId(git(&user, &["rev-parse", "HEAD"]));
    let theirs = scene.commit(&base, &[("old".to_string(), lines.replace("line 4", "theirs"))], "theirs");
    let order = order(&scene, &base, &ours, &theirs);
    let kept = scene.attempt(order.clone(), writing(Vec::new()));
    assert_eq!(kept.unresolved, []);
    let lost = scene.attempt(order, writing(vec![("new".to_string(), Some(lines))]));
    let identities: Vec<String> = lost.unresolved.iter().map(|failure| failure.id().to_string()).collect();
    assert_eq!(identities, ["lost:theirs:new#1"]);
}
