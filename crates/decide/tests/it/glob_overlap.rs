//! Overlap agrees with matching: it never calls disjoint what some path is common to, and never calls
//! overlapping, without negated patterns, what no path is common to.

use fixpoint_decide::glob::{PatternSet, is_tree_path, overlap};
use proptest::collection::vec;

use crate::glob_cases::{Source, path, pattern};

fn covers(set: &PatternSet, path: &[u8]) -> bool {
    set.is_empty() || set.matches_file(path).covering().is_some()
}

/// Every row of up to `longest` of the given pieces.
fn rows(pieces: &[&str], longest: usize) -> Vec<String> {
    let mut all: Vec<String> = vec![String::new()];
    let mut last = all.clone();
    for _ in 0..longest {
        last = last.iter().flat_map(|row| pieces.iter().map(move |piece| format!("{row}{piece}"))).collect();
        all.extend(last.iter().cloned());
    }
    all
}

/// Caught: forgetting that a pattern also covers what lies below what it matches.
#[test]
fn a_common_path_means_overlapping() {
    let mut source = Source::new();
    let paths = source.draw(&vec(path(), 60));
    let lists = vec(pattern(&paths), 0..4);
    let mut common = 0;
    for _ in 0..1_500 {
        let (one, other) = (source.draw(&lists), source.draw(&lists));
        let (left, right) = (PatternSet::new(&one), PatternSet::new(&other));
        if let Some(path) = paths.iter().find(|path| covers(&left, path) && covers(&right, path)) {
            common += 1;
            assert!(overlap(&left, &right), "{one:?} and {other:?} have {path:?} in common");
        }
    }
    assert!(common >= 300, "only {common} pairs have a path in common");
}

/// Caught: asking only one of two patterns whether it takes a byte.
#[test]
fn overlapping_means_a_common_path() {
    let paths: Vec<String> =
        rows(&["a", "b", "/"], 8).into_iter().filter(|path| is_tree_path(path.as_bytes())).collect();
    let sets: Vec<(String, PatternSet, Vec<bool>)> = rows(&["a", "?", "*", "**", "/"], 3)
        .into_iter()
        .map(|pattern| {
            let set = PatternSet::new([&pattern]);
            let covered = paths.iter().map(|path| covers(&set, path.as_bytes())).collect();
            (pattern, set, covered)
        })
        .collect();
    for (index, (one, left, by_left)) in sets.iter().enumerate() {
        for (other, right, by_right) in &sets[..=index] {
            let witness = by_left.iter().zip(by_right).position(|(left, right)| *left && *right);
            let witness = witness.map(|index| &paths[index]);
            assert_eq!(overlap(left, right), witness.is_some(), "{one:?} and {other:?}: {witness:?}");
        }
    }
}
