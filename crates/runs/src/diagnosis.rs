//! Why a run did not succeed: the cause, the failures, the attempts, and what to do next.

use std::collections::BTreeMap;

use fixpoint_decide::progress::ProgressKind;
use fixpoint_decide::run::Run;
use fixpoint_vocabulary::work::Fingerprint;
use fixpoint_vocabulary::{Cause, Lang, Text, counted};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::explanation::explain_task;
use crate::history::TaskHistory;
use crate::view::TaskView;
use crate::words::progress_words;

/// A failure that would not go away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Persistent {
    /// What makes it the same from attempt to attempt.
    pub fingerprint: String,
    /// The test, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// In how many attempts it was seen.
    pub seen: u32,
    /// In how many attempts in a row, up to the last.
    pub in_a_row: u32,
    /// What it said last.
    pub message: String,
    /// Where, as `file:line`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

/// One attempt, as far as the diagnosis needs it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tried {
    /// Its number.
    pub n: u32,
    /// The stage it was made at.
    pub stage: u32,
    /// What it came to.
    pub progress: ProgressKind,
    /// How many failures it left.
    pub failures: usize,
    /// How many files it changed.
    pub changed_files: u64,
    /// What the controller made of it.
    pub verdict: String,
}

/// Why a run did not get there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Diagnosis {
    /// The cause.
    pub cause: Cause,
    /// The cause in words.
    pub what: String,
    /// The failures that would not go away, the most stubborn first.
    pub fingerprints: Vec<Persistent>,
    /// What was changed outside the scope in the last attempt.
    pub scope_violations: Vec<String>,
    /// What was tried.
    pub tried: Vec<Tried>,
    /// What speaks for the cause.
    pub evidence: Vec<String>,
    /// What a person can do.
    pub next: Vec<String>,
}

impl Diagnosis {
    /// The diagnosis of a run that ended or waits.
    pub fn of(run: &Run, task: TaskView<'_>, lang: Lang) -> Self {
        let explanation = explain_task(run, task, lang);
        let iterations = &task.history.iterations;
        let last = iterations.last();
        Self {
            cause: task.cause().unwrap_or(Cause::Stopped),
            what: explanation.what,
            fingerprints: persistent(task.history),
            scope_violations: last.map(|last| last.judged.outside.clone()).unwrap_or_default(),
            tried: iterations
                .iter()
                .map(|iteration| Tried {
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
pub(crate) fn persistent(task: &TaskHistory) -> Vec<Persistent> {
    let mut all: BTreeMap<&Fingerprint, Persistent> = BTreeMap::new();
    for iteration in &task.iterations {
        for failure in &iteration.judged.failures {
            let entry = all.entry(failure.fingerprint()).or_insert_with(|| Persistent {
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
    let mut persistent: Vec<Persistent> = all.into_values().collect();
    persistent.sort_by(|a, b| {
        (b.in_a_row, b.seen).cmp(&(a.in_a_row, a.seen)).then_with(|| a.fingerprint.cmp(&b.fingerprint))
    });
    persistent
}

/// The diagnosis as a Markdown document.
pub fn diagnosis_markdown(diagnosis: &Diagnosis, run: &str, lang: Lang) -> String {
    let say = |en: &'static str, ja: &'static str| match lang {
        Lang::En => en,
        Lang::Ja => ja,
    };
    let mut text = format!("# {} — {}\n\n{}\n", run, cause_name(diagnosis.cause), diagnosis.what);
    let mut section = |title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            text.push_str(&format!("\n## {title}\n\n{}\n", lines.join("\n")));
        }
    };
    let failures = diagnosis.fingerprints.iter().map(|failure| {
        let name = failure.test.as_deref().unwrap_or(say("(no test name)", "（テスト名なし）"));
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
        )
        .to_string(),
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
fn times_seen(failure: &Persistent, lang: Lang) -> String {
    let attempts = counted(failure.seen, "attempt");
    let (en, ja) = match failure.in_a_row {
        0 => (format!("in {attempts}, not in the last one"), "（最後の試行では発生せず）".to_string()),
        1 => (format!("in {attempts}, including the last one"), "（最後の試行を含む）".to_string()),
        row => (format!("in {attempts}, including the last {row}"), format!("（直近{row}回を含む）")),
    };
    Text::new(en, format!("{}回の試行で発生{ja}", failure.seen)).in_lang(lang).to_string()
}

/// The name of a cause, as in JSON.
pub fn cause_name(cause: Cause) -> String {
    serde_json::to_value(cause)
        .ok()
        .and_then(|name| name.as_str().map(ToString::to_string))
        .unwrap_or_default()
}

/// Text of others as a block that cannot end itself.
fn indented(text: &str) -> String {
    text.lines().map(|line| format!("      {line}")).collect::<Vec<_>>().join("\n")
}
