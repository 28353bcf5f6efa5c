//! What is written about a task while it goes on, for people and programs: current files, and a copy per iteration.
//!
//! Everything here can be made again from the journal. Invariant: a file is there whole or as it was before.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::Path;

use fixpoint_decide::progress::ProgressKind;
use fixpoint_decide::run::TaskSource;
use fixpoint_engine::Recorded;
use fixpoint_vocabulary::work::FailureId;
use fixpoint_vocabulary::{Cause, Lang};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::diagnosis::{Diagnosis, diagnosis_markdown};
use crate::directory::{RunDirectory, RunError};
use crate::planning_history::planning_history;
use crate::story::{Iteration, Story, TaskStory};
use crate::summary::{FailureLine, Status, texts};

/// `baseline_failures.json`: what failed before the work began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BaselineFailures {
    /// The commit.
    pub base: Option<String>,
    /// The checks.
    pub checks: Vec<BaselineCheck>,
}

/// One check at the base.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BaselineCheck {
    /// Its name.
    pub name: String,
    /// How many times it ran there.
    pub runs: usize,
    /// Failed every time.
    pub known: Vec<String>,
    /// Failed sometimes.
    pub flaky: Vec<String>,
    /// What it said the first time.
    pub failures: Vec<FailureLine>,
    /// How many tests are known to have passed.
    pub passed: u64,
    /// Whether it was cut short.
    pub masked: bool,
}

/// `current_failures.json`: what stands in the way after the last attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CurrentFailures {
    /// The attempt.
    pub iteration: u32,
    /// What stands in the way.
    pub failures: Vec<FailureLine>,
    /// What was changed outside the scope.
    pub scope_violations: Vec<String>,
    /// Whether the checks were cut short.
    pub masked: bool,
}

/// `failure_fingerprint_history.json`: every attempt with its failures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FingerprintHistory {
    /// One entry an attempt.
    pub iterations: Vec<HistoryEntry>,
}

/// One attempt in the history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryEntry {
    /// The attempt.
    pub iteration: u32,
    /// The stage it was made at.
    pub stage: u32,
    /// What it came to.
    pub progress: ProgressKind,
    /// The failures, each with the number of attempts in a row that had it.
    pub fingerprints: BTreeMap<String, u32>,
    /// The same for two attempts with the same failures.
    pub failure_set: String,
    /// The tree it left.
    pub tree: Option<String>,
    /// The same for two attempts that differ from the base in the same way.
    pub diff: String,
}

/// `completion_reasons.json`: why the task is done, or is not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompletionReasons {
    /// How it stands.
    pub status: Status,
    /// Why it ended or waits.
    pub cause: Option<Cause>,
    /// The controller's words on each attempt, and those of the checks on the last.
    pub reasons: Vec<String>,
}

/// Writes what is known now. Call it after each record that judged an attempt or ended the task.
pub fn write_artifacts(run: &RunDirectory, recorded: &Recorded, lang: Lang) -> Result<(), RunError> {
    let story = Story::of(recorded);
    story.tasks.iter().try_for_each(|task| write_task(run, recorded, task, lang))?;
    if matches!(story.run.order().tasks, TaskSource::Planned(_)) {
        let mut text = Vec::new();
        for line in planning_history(recorded, lang) {
            text.extend(serde_json::to_vec(&line).unwrap_or_default());
            text.push(b'\n');
        }
        write(&run.planning_history(), &text)?;
    }
    Ok(())
}

fn write_task(
    run: &RunDirectory,
    recorded: &Recorded,
    story: &TaskStory,
    lang: Lang,
) -> Result<(), RunError> {
    let context = run.context(story.id.as_str());
    let mut files: Vec<(&str, Vec<u8>)> = vec![
        ("baseline_failures.json", json(&baseline(recorded, story))),
        ("failure_fingerprint_history.json", json(&history(story))),
        ("completion_reasons.json", json(&reasons(story, lang))),
    ];
    if let Some(last) = story.iterations.last() {
        files.push(("current_failures.json", json(&current(last))));
    }
    if Status::of_task(story.task.step()) == Status::Failed {
        let diagnosis = Diagnosis::of(recorded, story, lang);
        files.push(("diagnosis.json", json(&diagnosis)));
        files.push(("diagnosis.md", diagnosis_markdown(&diagnosis, &run.id.0).into_bytes()));
    }
    let of_iteration =
        story.iterations.last().map(|last| context.join("iterations").join(last.number.to_string()));
    for (name, content) in files {
        write(&context.join(name), &content)?;
        if let Some(directory) = &of_iteration {
            write(&directory.join(name), &content)?;
        }
    }
    Ok(())
}

fn json(value: &impl Serialize) -> Vec<u8> {
    let mut text = serde_json::to_vec_pretty(value).unwrap_or_default();
    text.push(b'\n');
    text
}

fn write(path: &Path, content: &[u8]) -> Result<(), RunError> {
    let refused = |source| RunError::Io { path: path.to_path_buf(), source };
    let directory = path.parent().unwrap_or(path);
    fs::create_dir_all(directory).map_err(refused)?;
    let mut unfinished = tempfile::NamedTempFile::new_in(directory).map_err(refused)?;
    unfinished.write_all(content).map_err(refused)?;
    unfinished.persist(path).map(drop).map_err(|error| refused(error.error))
}

fn baseline(recorded: &Recorded, story: &TaskStory) -> BaselineFailures {
    let name = |number: &u32| {
        let check = recorded.opening.brief.as_ref().and_then(|brief| brief.checks.get(*number as usize));
        check.map_or_else(|| number.to_string(), |placed| placed.check.name.clone())
    };
    let checks = story.task.ground().checks.iter().map(|(number, check)| {
        let in_every_run = |id: &&FailureId| check.failing.iter().all(|run| run.contains(*id));
        let all: BTreeSet<&FailureId> = check.failing.iter().flatten().collect();
        BaselineCheck {
            name: name(number),
            runs: check.failing.len(),
            known: texts(all.iter().copied().filter(in_every_run)).into_iter().collect(),
            flaky: texts(all.iter().copied().filter(|id| !in_every_run(id))).into_iter().collect(),
            failures: check.failures.iter().map(FailureLine::from).collect(),
            passed: check.counted,
            masked: check.masked,
        }
    });
    BaselineFailures {
        base: story.base.as_ref().map(|base| base.commit.to_string()),
        checks: checks.collect(),
    }
}

fn current(last: &Iteration) -> CurrentFailures {
    CurrentFailures {
        iteration: last.number,
        failures: last.judged.failures.iter().map(FailureLine::from).collect(),
        scope_violations: last.judged.outside.clone(),
        masked: last.judged.attempt.masked,
    }
}

/// The history of all attempts.
fn history(story: &TaskStory) -> FingerprintHistory {
    let mut in_a_row: BTreeMap<String, u32> = BTreeMap::new();
    let base = story.base.as_ref().map(|base| base.tree.to_string()).unwrap_or_default();
    let entry = |iteration: &Iteration| {
        let attempt = &iteration.judged.attempt;
        let failing = attempt.fingerprints.iter().flatten().map(ToString::to_string);
        let outside = attempt.scope_violations.iter().cloned().map(FailureId::OutOfScope);
        let violations = outside.map(|failure| failure.to_string());
        let before = std::mem::take(&mut in_a_row);
        in_a_row = failing
            .chain(violations)
            .map(|print| (print.clone(), before.get(&print).copied().unwrap_or(0) + 1))
            .collect();
        let set: Vec<&str> = in_a_row.keys().map(String::as_str).collect();
        HistoryEntry {
            iteration: iteration.number,
            stage: iteration.judged.stage,
            progress: iteration.judged.verdict.progress,
            failure_set: short_hash(&set.join("\n")),
            fingerprints: in_a_row.clone(),
            tree: attempt.tree.clone(),
            diff: short_hash(&format!("{base} {}", attempt.tree.clone().unwrap_or_default())),
        }
    };
    FingerprintHistory { iterations: story.iterations.iter().map(entry).collect() }
}

fn reasons(story: &TaskStory, lang: Lang) -> CompletionReasons {
    let words = |iteration: &Iteration| {
        format!("{}: {}", iteration.number, iteration.judged.verdict.reason.text.in_lang(lang))
    };
    let of_checks = story.iterations.last().into_iter().flat_map(|last| {
        last.checks.iter().flat_map(|made| made.reports.iter().flat_map(|report| &report.reasons))
    });
    CompletionReasons {
        status: Status::of_task(story.task.step()),
        cause: story.cause(),
        reasons: story.iterations.iter().map(words).chain(of_checks.map(ToString::to_string)).collect(),
    }
}

fn short_hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().chars().take(16).collect()
}
