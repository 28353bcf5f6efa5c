//! Words for progress messages, in both languages, that several places need.

use std::time::Duration;

use fixpoint_decide::progress::ProgressKind;
use fixpoint_decide::run::Owner;
use fixpoint_prompts::{Omission, Unit};
use fixpoint_runs::{cause_name, progress_words, state_words};
use fixpoint_vocabulary::ask::{QuestionKind, Role};
use fixpoint_vocabulary::{Cause, Lang, TaskState, counted, grouped};

use crate::language::say;

/// The words of one language.
#[derive(Debug, Clone, Copy)]
pub(super) struct Words(pub(super) Lang);

impl Words {
    pub(super) fn say(self, en: impl Into<String>, ja: impl Into<String>) -> String {
        say(self.0, en, ja)
    }

    /// `label: text`.
    pub(super) fn label(self, en: &str, ja: &str, text: impl std::fmt::Display) -> String {
        format!("{}: {text}", self.say(en, ja))
    }

    pub(super) fn cached_baseline(self, check: &str, age: Duration) -> String {
        let (en, ja) = match (age.as_secs() / 3600, age.as_secs() / 60) {
            (0, 0) => ("less than 1 min old".to_string(), "1分未満前".to_string()),
            (0, minutes) => (format!("{minutes} min old"), format!("{minutes}分前")),
            (hours, _) => (format!("{hours} h old"), format!("{hours}時間前")),
        };
        self.say(
            format!("using cached baseline ({en}): {check}"),
            format!("保存済みのベースラインを使用（{ja}）: {check}"),
        )
    }

    /// What was left out of a prompt.
    pub(super) fn omission(self, omission: &Omission) -> String {
        let Omission { heading, count, unit } = omission;
        let ja_unit = match unit {
            Unit::Lines => "行",
            Unit::Characters => "文字",
        };
        self.say(
            format!("  left out of the prompt: {omission}"),
            format!("  プロンプトから省略: \"{heading}\" の{}{ja_unit}", grouped(*count)),
        )
    }

    pub(super) fn checking_base(self) -> String {
        self.say("running the checks on the base", "ベースでチェックを実行中")
    }

    /// What the checks showed on the base.
    pub(super) fn baseline(self, failing: usize, flaky: usize, passed: u64) -> String {
        self.say(
            format!("baseline: {failing} failing, {flaky} flaky, {passed} passing"),
            format!("ベースライン: 失敗{failing}件、不安定{flaky}件、成功{passed}件"),
        )
    }

    pub(super) fn taking_snapshot(self) -> String {
        self.say("taking a snapshot of the base", "ベースのスナップショットを作成中")
    }

    pub(super) fn asking(self, role: Role) -> String {
        let (en, ja) = role_words(role);
        self.say(format!("asking the {en}"), format!("{ja}に問い合わせ中"))
    }

    /// Which attempt is under way.
    pub(super) fn attempt_at_stage(self, number: u32, most: Option<u32>, stage: u32) -> String {
        let (of, ja_of) = most.map(|most| (format!(" of {most}"), format!("/{most}"))).unwrap_or_default();
        self.say(
            format!("attempt {number}{of}, stage {stage}"),
            format!("試行{number}{ja_of}、ステージ{stage}"),
        )
    }

    pub(super) fn progress(self, progress: ProgressKind) -> &'static str {
        progress_words(progress, self.0)
    }

    pub(super) fn known(self, number: usize) -> String {
        self.say(format!("{number} known"), format!("既知{number}件"))
    }

    pub(super) fn flaky(self, number: usize) -> String {
        self.say(format!("{number} flaky"), format!("不安定{number}件"))
    }

    /// The number of failures after each of the last `most` attempts.
    pub(super) fn failure_trail(self, failures: &[usize], most: usize) -> String {
        let last = failures.iter().skip(failures.len().saturating_sub(most));
        let trail = last.map(ToString::to_string).collect::<Vec<_>>().join(" → ");
        format!("{} {trail}", self.say("failures", "失敗数"))
    }

    /// What was used, of what is allowed.
    pub(super) fn used(self, used: u64, allowed: Option<u64>, what: Used) -> String {
        let (en, ja) = match what {
            Used::Calls => ("model call", "モデル呼び出し"),
            Used::Attempts => ("attempt", "試行"),
            Used::Tokens => ("token", "トークン"),
        };
        match allowed {
            Some(allowed) => {
                self.say(format!("{used} of {}", counted(allowed, en)), format!("{ja} {used}/{allowed}"))
            }
            None => self.say(counted(used, en), format!("{ja} {used}")),
        }
    }

    pub(super) fn state(self, state: TaskState, cause: Option<Cause>) -> String {
        let why = cause.map(|cause| format!(" ({})", cause_name(cause))).unwrap_or_default();
        format!("{}{why}", state_words(state, self.0))
    }

    /// What something is done for.
    pub(super) fn owner(self, owner: &Owner) -> String {
        match owner {
            Owner::Task(task) | Owner::Merge(task) => format!("[{task}]"),
            Owner::BaseChecks => self.say("baseline", "ベースライン"),
            Owner::Planning => self.say("planning", "計画"),
            Owner::PlanReview => self.say("plan review", "計画レビュー"),
            Owner::Replan(task) => self.say(format!("[{task}] replanning"), format!("[{task}] 再計画")),
            Owner::FinalProof => self.say("final check", "最終確認"),
            Owner::FinalReview => self.say("final review", "最終レビュー"),
            Owner::Reflection(task) => self.say(format!("[{task}] reflection"), format!("[{task}] 振り返り")),
            Owner::Delivery => self.say("delivery", "納品"),
        }
    }

    /// A question to a model, when it is put.
    pub(super) fn question(self, about: &QuestionKind, model: &str, tokens: u64) -> String {
        let (who, ja_who) = role_words(about.role());
        let what = match about {
            QuestionKind::Plan => self.say("make a plan", "計画の作成"),
            QuestionKind::Understand => self.say("understand the goal", "目標の理解"),
            QuestionKind::Decompose => self.say("split the goal into tasks", "タスクへの分割"),
            QuestionKind::Order => self.say("order the tasks", "作業順序の決定"),
            QuestionKind::JudgePlan { .. } => self.say("review the plan", "計画のレビュー"),
            QuestionKind::Refine { .. } => self.say("improve the plan", "計画の改善"),
            QuestionKind::JudgeTask { task, .. } => {
                self.say(format!("review task {task}"), format!("{task} のレビュー"))
            }
            QuestionKind::ReplanTask { task } => {
                self.say(format!("split task {task}"), format!("{task} の分割"))
            }
            QuestionKind::JudgeWhole { .. } => self.say("review the result", "成果全体のレビュー"),
            QuestionKind::Reflect { task } => {
                self.say(format!("reflect on task {task}"), format!("{task} の振り返り"))
            }
        };
        self.say(
            format!("asking the {who} ({model}) to {what}, about {}", counted(tokens, "token")),
            format!("{ja_who} ({model}) に依頼: {what}、約{tokens}トークン"),
        )
    }
}

/// What a budget limits by number.
#[derive(Debug, Clone, Copy)]
pub(super) enum Used {
    Calls,
    Attempts,
    Tokens,
}

fn role_words(role: Role) -> (&'static str, &'static str) {
    match role {
        Role::Planner => ("planner", "計画者"),
        Role::Judge => ("judge", "判定者"),
        Role::Worker => ("worker", "作業者"),
        Role::Reflector => ("reflector", "振り返り役"),
    }
}

/// A time as minutes and seconds, or with hours before them.
pub(super) fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_age_of_a_baseline_is_short() {
        let table = [
            ("seconds", 59, "using cached baseline (less than 1 min old): test"),
            ("minutes", 12 * 60 + 59, "using cached baseline (12 min old): test"),
            ("hours", 2 * 3600, "using cached baseline (2 h old): test"),
        ];
        for (name, seconds, expected) in table {
            let age = Duration::from_secs(seconds);
            assert_eq!(Words(Lang::En).cached_baseline("test", age), expected, "{name}");
        }
        let ja = Words(Lang::Ja).cached_baseline("test", Duration::from_secs(720));
        assert_eq!(ja, "保存済みのベースラインを使用（12分前）: test");
    }
}
