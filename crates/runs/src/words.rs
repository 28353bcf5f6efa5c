//! The words that people are shown for a state, in both languages. Programs get the names that JSON has.

use fixpoint_decide::progress::ProgressKind;
use fixpoint_vocabulary::{Cause, Lang, TaskState};
use serde::Serialize;

use crate::summary::Status;

/// The state of a task.
pub const fn state_words(state: TaskState, lang: Lang) -> &'static str {
    let (en, ja) = match state {
        TaskState::Ready => ("waiting", "待機"),
        TaskState::Running => ("running", "実行中"),
        TaskState::NeedsContinuation => ("to be continued", "継続待ち"),
        TaskState::Done => ("done", "完了"),
        TaskState::Blocked => ("blocked", "ブロック"),
        TaskState::Cancelled => ("cancelled", "中止"),
        TaskState::ReplacedByReplan => ("replaced", "置き換え済み"),
    };
    in_lang(en, ja, lang)
}

/// The state of a run.
pub const fn status_words(status: Status, lang: Lang) -> &'static str {
    let ja = match status {
        Status::Running => "実行中",
        Status::Paused => "一時停止",
        Status::Interrupted => "中断",
        Status::Done => "完了",
        Status::Failed => "失敗",
        Status::Damaged => "破損",
    };
    in_lang(status.name(), ja, lang)
}

/// What an attempt achieved, compared with those before it.
pub const fn progress_words(progress: ProgressKind, lang: Lang) -> &'static str {
    let (en, ja) = match progress {
        ProgressKind::Rerun => ("checked again", "再チェック"),
        ProgressKind::Infra => ("checks could not run", "チェック実行不可"),
        ProgressKind::Waiting => ("waiting", "待機"),
        ProgressKind::Complete => ("complete", "完了"),
        ProgressKind::First => ("first result", "初回"),
        ProgressKind::NoChange => ("no change", "変更なし"),
        ProgressKind::Progress => ("progress", "改善"),
        ProgressKind::Repeated => ("repeated", "同じ失敗"),
        ProgressKind::Oscillating => ("oscillating", "逆戻り"),
        ProgressKind::Regressed => ("regressed", "悪化"),
        ProgressKind::Changed => ("other failures", "別の失敗"),
    };
    in_lang(en, ja, lang)
}

/// A sentence in one of the two languages.
pub fn say(lang: Lang, en: impl Into<String>, ja: impl Into<String>) -> String {
    match lang {
        Lang::En => en.into(),
        Lang::Ja => ja.into(),
    }
}

/// The beginning of a text, on one line: at most so many characters.
pub fn beginning(text: &str, longest: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut: String = line.chars().take(longest).collect();
    if cut.len() < line.len() { format!("{cut}…") } else { line }
}

/// The name of a cause, as in JSON.
pub fn cause_name(cause: Cause) -> String {
    json_name(&cause)
}

/// A value without fields as JSON writes it, without its quotes.
pub(crate) fn json_name(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default().trim_matches('"').to_string()
}

const fn in_lang(en: &'static str, ja: &'static str, lang: Lang) -> &'static str {
    match lang {
        Lang::En => en,
        Lang::Ja => ja,
    }
}
