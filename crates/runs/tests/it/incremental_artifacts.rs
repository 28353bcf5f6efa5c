//! The files about a run are written as it goes on: each record only those it changes, and after a crash what is missing.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use fixpoint_engine::{EngineExit, RecordedRun};
use fixpoint_runs::{ArtifactWriter, FoldedRun, RunDirectory, RunId, RunView, StateDirectory};
use fixpoint_vocabulary::{Cause, Lang};

use super::planned_run::{HOPELESS, carry_out, opening};

fn home() -> (tempfile::TempDir, RunDirectory) {
    let directory = tempfile::tempdir().unwrap();
    let run = StateDirectory::new(directory.path(), "r").run(&RunId("20260101-000000-aaaaa".into()));
    (directory, run)
}

/// Runs a plan of so many tasks; the process that writes its files dies after each of these records, before it writes
/// anything about it; `damage` is done to the planning history, and another process takes over.
fn written(tasks: usize, deaths: &[u64], damage: Damage) -> (BTreeMap<PathBuf, String>, u64) {
    let (directory, run) = home();
    let mut recorded = RecordedRun { header: opening(), records: Vec::new() };
    let mut artifacts = ArtifactWriter::new(&run, Lang::En);
    let FoldedRun { mut history, .. } = FoldedRun::new(&recorded.header);
    let ending = carry_out(tasks, &mut |records, state| {
        for record in records {
            let changed = history.add(record, state);
            recorded.records.push(record.clone());
            if deaths.contains(&history.seq()) {
                damage(&run.planning_history());
                artifacts = ArtifactWriter::new(&run, Lang::En);
                let folded = FoldedRun::watched(&recorded, |record, view| artifacts.note(record, view));
                artifacts.catch_up(folded.view()).unwrap();
            } else {
                artifacts.record(record, RunView { run: state, history: &history }, &changed).unwrap();
            }
        }
        history.forget_ended(state);
    });
    assert_eq!(ending, EngineExit::Ended(Cause::Partial));
    let below = directory.path();
    let is_artifact = |path: &PathBuf| {
        path.starts_with(run.context("")) || path.starts_with(run.planning_history().parent().unwrap())
    };
    let content = |path: PathBuf| {
        let content = fs::read_to_string(&path).unwrap();
        (path.strip_prefix(below).unwrap().to_path_buf(), content)
    };
    (files_below(below).into_iter().filter(is_artifact).map(content).collect(), artifacts.files_written())
}

fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap().flatten() {
        if entry.path().is_dir() {
            found.extend(files_below(&entry.path()));
        } else {
            found.push(entry.path());
        }
    }
    found
}

/// What happens to the planning history while no process works on the run.
type Damage = fn(&Path);

fn nothing(_: &Path) {}

/// Catches files of other tasks that are written again, and the history being written as a whole.
#[test]
fn files_written_per_task_do_not_grow_with_the_plan() {
    let count = |tasks: usize| {
        let (files, count) = written(tasks, &[], nothing);
        let expected = files.len() as u64 - 1;
        assert!(count >= expected, "{count} files were written, {expected} are there");
        // Only the reasons of a task may change once more after its last attempt, when it ends.
        assert!(count <= expected + 4 * tasks as u64, "{count} writes for {expected} files");
        count as f64 / tasks as f64
    };
    let (few, many) = (count(5), count(50));
    assert!(many <= 1.2 * few, "{few} files a task of 5, {many} a task of 50");
}

/// Catches artifacts and lines of the history that a crash loses or doubles, at any moment of a run.
#[test]
fn a_crash_after_any_record_leaves_nothing_missing() {
    let (whole, _) = written(2, &[], nothing);
    let names: Vec<String> = whole.keys().map(|path| path.to_string_lossy().into_owned()).collect();
    assert!(names.iter().any(|name| name.contains(&format!("{HOPELESS}/diagnosis.md"))), "{names:#?}");
    assert!(names.iter().any(|name| name.ends_with(".jsonl")), "{names:#?}");
    let records = {
        let mut records = 0;
        carry_out(2, &mut |_, _| records += 1);
        records
    };
    let damages: [(&str, Damage); 4] = [
        ("the history is as it was", nothing),
        ("its last line is cut short", |path| {
            if let Ok(content) = fs::read(path) {
                fs::write(path, &content[..content.len() - content.len().min(7)]).unwrap();
            }
        }),
        ("it holds a line of a record that is lost", |path| {
            if let Ok(content) = fs::read_to_string(path) {
                fs::write(path, content + "{\"type\":\"task\"}\n").unwrap();
            }
        }),
        ("it is gone", |path| drop(fs::remove_file(path))),
    ];
    for (name, damage) in damages {
        for death in (1..=records).step_by(5) {
            let (files, _) = written(2, &[death], damage);
            assert_eq!(files, whole, "died after record {death}: {name}");
        }
        let every: Vec<u64> = (1..=records).collect();
        assert_eq!(written(2, &every, damage).0, whole, "died after every record: {name}");
    }
}
