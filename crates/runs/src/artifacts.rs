//! What the files about a task say. Their doc comments are the descriptions in their JSON Schemas.
//!
//! Refuses to touch files: [`crate::ArtifactWriter`] does.

use std::collections::{BTreeMap, BTreeSet};

use fixpoint_decide::progress::ProgressKind;
use fixpoint_decide::run::Run;
use fixpoint_vocabulary::work::FailureId;
use fixpoint_vocabulary::{Cause, Lang};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::diagnosis::{Diagnosis, diagnosis_markdown};
use crate::history::{Iteration, TaskHistory};
use crate::summary::{FailureLine, Status, texts};
use crate::view::TaskView;

/// `baseline_failures.json`: what failed at the base.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BaselineFailures {
    /// The commit of the base.
    pub base: Option<String>,
    /// Every check at the base.
    pub checks: Vec<BaselineCheck>,
}

/// One check at the base.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BaselineCheck {
    /// The name of the check.
    pub name: String,
    /// How often it ran.
    pub runs: usize,
    /// Failures that occurred in every run.
    pub known: Vec<String>,
    /// Failures that occurred in some runs.
    pub flaky: Vec<String>,
    /// The failures of the first run.
    pub failures: Vec<FailureLine>,
    /// The number of tests that passed.
    pub passed: u64,
    /// Whether it stopped before all tests ran.
    pub masked: bool,
}

/// `current_failures.json`: the failures after the last attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CurrentFailures {
    /// The number of the attempt, from 1.
    pub iteration: u32,
    /// Failures that must be gone before the task is done.
    pub failures: Vec<FailureLine>,
    /// Changed paths and exceeded limits out of scope.
    pub scope_violations: Vec<String>,
    /// Whether the checks stopped before all tests ran.
    pub masked: bool,
}

/// `failure_fingerprint_history.json`: every attempt with its failures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FingerprintHistory {
    /// One entry per attempt.
    pub iterations: Vec<HistoryEntry>,
}

/// One attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryEntry {
    /// The number of the attempt, from 1.
    pub iteration: u32,
    /// The stage of the convergence controller during the attempt.
    pub stage: u32,
    /// How it compares with the attempts before it.
    pub progress: ProgressKind,
    /// The fingerprints of its failures, each with the number of attempts in a row that had it.
    pub fingerprints: BTreeMap<String, u32>,
    /// A hash of its failures.
    pub failure_set: String,
    /// The tree with its changes.
    pub tree: Option<String>,
    /// A hash of the base tree and its tree.
    pub diff: String,
}

/// `completion_reasons.json`: why the task is done, or is not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompletionReasons {
    /// The state of the task.
    pub status: Status,
    /// Why it ended or is paused.
    pub cause: Option<Cause>,
    /// The reason for the decision after each attempt, then what the checks said of the last one.
    pub reasons: Vec<String>,
}

/// The name and the content of each file about a task.
pub(crate) fn files(
    run_name: &str,
    run: &Run,
    task: TaskView<'_>,
    lang: Lang,
) -> Vec<(&'static str, Vec<u8>)> {
    let mut files = vec![
        ("baseline_failures.json", json(&baseline(run, task))),
        ("failure_fingerprint_history.json", json(&fingerprint_history(task))),
        ("completion_reasons.json", json(&completion_reasons(task, lang))),
    ];
    if let Some(last) = task.history.iterations.last() {
        files.push(("current_failures.json", json(&current_failures(last))));
    }
    if Status::of_task(task.task.status()) == Status::Failed {
        let diagnosis = Diagnosis::of(run, task, lang);
        files.push((DIAGNOSIS[0], json(&diagnosis)));
        files.push((DIAGNOSIS[1], diagnosis_markdown(&diagnosis, run_name, lang).into_bytes()));
    }
    files
}

/// The files that only a failed task has.
pub(crate) const DIAGNOSIS: [&str; 2] = ["diagnosis.json", "diagnosis.md"];

fn json(value: &impl Serialize) -> Vec<u8> {
    let mut text = serde_json::to_vec_pretty(value).unwrap_or_default();
    text.push(b'\n');
    text
}

fn baseline(run: &Run, task: TaskView<'_>) -> BaselineFailures {
    let name = |number: &u32| {
        let check = run.checks().get(*number as usize);
        check.map_or_else(|| number.to_string(), |placed| placed.check.name.clone())
    };
    let checks = task.task.baseline().checks.iter().map(|(number, check)| {
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
    BaselineFailures { base: task.base().map(|base| base.commit.to_string()), checks: checks.collect() }
}

fn current_failures(last: &Iteration) -> CurrentFailures {
    CurrentFailures {
        iteration: last.number,
        failures: last.judged.failures.iter().map(FailureLine::from).collect(),
        scope_violations: last.judged.outside.clone(),
        masked: last.judged.attempt.masked,
    }
}

fn fingerprint_history(task: TaskView<'_>) -> FingerprintHistory {
    let mut in_a_row: BTreeMap<String, u32> = BTreeMap::new();
    let base = task.base().map(|base| base.tree.to_string()).unwrap_or_default();
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
    FingerprintHistory { iterations: task.history.iterations.iter().map(entry).collect() }
}

fn completion_reasons(task: TaskView<'_>, lang: Lang) -> CompletionReasons {
    let TaskHistory { iterations, .. } = task.history;
    let words = |iteration: &Iteration| {
        format!("{}: {}", iteration.number, iteration.judged.verdict.reason.text.in_lang(lang))
    };
    let of_checks = iterations.last().into_iter().flat_map(|last| {
        last.checks.iter().flat_map(|checks| checks.reports.iter().flat_map(|report| &report.reasons))
    });
    CompletionReasons {
        status: Status::of_task(task.task.status()),
        cause: task.cause(),
        reasons: iterations.iter().map(words).chain(of_checks.map(ToString::to_string)).collect(),
    }
}

fn short_hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().chars().take(16).collect()
}
