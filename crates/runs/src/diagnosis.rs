//! Why a run did not succeed: the cause, the failures, the attempts, and what to do next.

use std::collections::BTreeMap;

use fixpoint_decide::progress::ProgressKind;
use fixpoint_decide::run::Run;
use fixpoint_vocabulary::work::Fingerprint;
use fixpoint_vocabulary::{Cause, Lang, counted};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::explanation::explain_task;
use crate::history::TaskHistory;
use crate::run_explanation::explain;
use crate::view::{RunView, TaskView};
use crate::words::{cause_name, progress_words, say};

/// A failure that several attempts did not fix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PersistentFailure {
    /// Identifies the same failure in different attempts.
    pub fingerprint: String,
    /// The name of the test, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// The number of attempts that had it.
    pub seen: u32,
    /// The number of attempts in a row that had it, up to the last one.
    pub in_a_row: u32,
    /// Its last message.
    pub message: String,
    /// Its location, as `file:line`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

/// One attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TriedAttempt {
    /// The number of the attempt, from 1.
    pub n: u32,
    /// The stage of the convergence controller during the attempt.
    pub stage: u32,
    /// How it compares with the attempts before it.
    pub progress: ProgressKind,
    /// The number of failures after it.
    pub failures: usize,
    /// The number of changed files.
    pub changed_files: u64,
    /// The decision after it, in words.
    pub verdict: String,
}

/// Why a task failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Diagnosis {
    /// The cause, as in the exit codes.
    pub cause: Cause,
    /// The cause in words.
    pub what: String,
    /// The failures that were not fixed, the most frequent first.
    pub fingerprints: Vec<PersistentFailure>,
    /// What the last attempt changed out of scope.
    pub scope_violations: Vec<String>,
    /// All attempts.
    pub tried: Vec<TriedAttempt>,
    /// The evidence for the cause.
    pub evidence: Vec<String>,
    /// What to do next.
    pub next: Vec<String>,
}

impl Diagnosis {
    /// Of a run that ended before its first task, because its checks cannot be used at the base.
    pub(crate) fn of_base(view: RunView<'_>, lang: Lang) -> Option<Self> {
        let cause = view.cause().filter(|cause| *cause == Cause::BaselineUnusable)?;
        if view.first().is_some() {
            return None;
        }
        let explanation = explain(view, lang);
        Some(Self {
            cause,
            what: explanation.what,
            fingerprints: Vec::new(),
            scope_violations: Vec::new(),
            tried: Vec::new(),
            evidence: explanation.evidence,
            next: explanation.next,
        })
    }

    pub fn of(run: &Run, task: TaskView<'_>, lang: Lang) -> Self {
        let explanation = explain_task(run, task, lang);
        let iterations = &task.history.iterations;
        let last = iterations.last();
        Self {
            cause: task.cause().unwrap_or(Cause::Stopped),
            what: explanation.what,
            fingerprints: persistent_failures(task.history),
            scope_violations: last.map(|last| last.judged.outside.clone()).unwrap_or_default(),
            tried: iterations
                .iter()
                .map(|iteration| TriedAttempt {
                    n: iteration.number,
                    stage: iteration.judged.stage,
                    progress: iteration.judged.verdict.progress,
                    failures: iteration.judged.failures.len(),
                    changed_files: iteration.attempt.as_ref().map_or(0, |made| made.result.changed_files),
                    verdict: iteration.judged.verdict.reason.text.in_lang(lang).to_string(),
                })
                .collect(),
            evidence: explanation.evidence,
            next: explanation.next,
        }
    }
}

/// Failures of the attempts, with how often they were seen; those of the last attempt first.
pub(crate) fn persistent_failures(task: &TaskHistory) -> Vec<PersistentFailure> {
    let mut all: BTreeMap<&Fingerprint, PersistentFailure> = BTreeMap::new();
    for iteration in &task.iterations {
        for failure in &iteration.judged.failures {
            let entry = all.entry(failure.fingerprint()).or_insert_with(|| PersistentFailure {
                fingerprint: failure.fingerprint().to_string(),
                test: None,
                seen: 0,
                in_a_row: 0,
                message: String::new(),
                place: None,
            });
            entry.seen += 1;
            entry.in_a_row += 1;
            entry.test = failure.test().map(ToString::to_string);
            entry.message = failure.message.to_string();
            entry.place.clone_from(&failure.place);
        }
        for (fingerprint, entry) in &mut all {
            if !iteration.judged.failures.iter().any(|failure| failure.fingerprint() == *fingerprint) {
                entry.in_a_row = 0;
            }
        }
    }
    let mut persistent: Vec<PersistentFailure> = all.into_values().collect();
    persistent.sort_by(|a, b| {
        (b.in_a_row, b.seen).cmp(&(a.in_a_row, a.seen)).then_with(|| a.fingerprint.cmp(&b.fingerprint))
    });
    persistent
}

/// The diagnosis as a Markdown document.
pub fn diagnosis_markdown(diagnosis: &Diagnosis, run: &str, lang: Lang) -> String {
    let say = |en: &'static str, ja: &'static str| say(lang, en, ja);
    let mut text = format!("# {} — {}\n\n{}\n", run, cause_name(diagnosis.cause), diagnosis.what);
    let mut section = |title: String, lines: Vec<String>| {
        if !lines.is_empty() {
            text.push_str(&format!("\n## {title}\n\n{}\n", lines.join("\n")));
        }
    };
    let failures = diagnosis.fingerprints.iter().map(|failure| {
        let name = failure.test.clone().unwrap_or_else(|| say("(no test name)", "（テスト名なし）"));
        let place = match (&failure.place, lang) {
            (Some(place), Lang::En) => format!(" at {place}"),
            (Some(place), Lang::Ja) => format!("（{place}）"),
            (None, Lang::En | Lang::Ja) => String::new(),
        };
        let times = times_seen(failure, lang);
        format!("- `{}` {name}{place}: {times}\n\n{}\n", failure.fingerprint, indented(&failure.message))
    });
    section(say("Failures", "失敗"), failures.collect());
    section(
        say("Changes out of scope", "範囲外の変更"),
        diagnosis.scope_violations.iter().map(|path| format!("- `{path}`")).collect(),
    );
    let tried = diagnosis.tried.iter().map(|tried| {
        format!(
            "| {} | {} | {} | {} | {} | {} |",
            tried.n,
            tried.stage,
            progress_words(tried.progress, lang),
            tried.failures,
            tried.changed_files,
            tried.verdict
        )
    });
    let head = [
        say(
            "| attempt | stage | result | failures | changed files | verdict |",
            "| 試行 | ステージ | 結果 | 失敗 | 変更ファイル | 判定 |",
        ),
        "|---|---|---|---|---|---|".to_string(),
    ];
    let table: Vec<String> = head.into_iter().chain(tried).collect();
    section(say("Attempts", "試行"), if diagnosis.tried.is_empty() { Vec::new() } else { table });
    let bullets = |lines: &[String]| lines.iter().map(|line| format!("- {line}")).collect();
    section(say("Evidence", "根拠"), bullets(&diagnosis.evidence));
    section(say("Next steps", "次の手順"), bullets(&diagnosis.next));
    text
}

/// In how many attempts a failure was seen, and whether the last was one of them.
fn times_seen(failure: &PersistentFailure, lang: Lang) -> String {
    let attempts = counted(failure.seen, "attempt");
    let (en, ja) = match failure.in_a_row {
        0 => (format!("in {attempts}, not in the last one"), "（最後の試行では発生せず）".to_string()),
        1 => (format!("in {attempts}, including the last one"), "（最後の試行を含む）".to_string()),
        row => (format!("in {attempts}, including the last {row}"), format!("（直近{row}回を含む）")),
    };
    say(lang, en, format!("{}回の試行で発生{ja}", failure.seen))
}

/// Text of others as an indented block, which it cannot end.
fn indented(text: &str) -> String {
    text.lines().map(|line| format!("      {line}")).collect::<Vec<_>>().join("\n")
}
