//! What is said while a run goes on, in both languages. Only words: what they are about is decided elsewhere.

use std::time::Duration;

use fixpoint_decide::progress::ProgressKind;
use fixpoint_decide::run::Owner;
use fixpoint_runs::{cause_name, progress_words, state_words};
use fixpoint_vocabulary::ask::{QuestionKind, Role};
use fixpoint_vocabulary::{Cause, Lang, TaskState, counted};

use crate::language::say;

/// The words of one language.
#[derive(Debug, Clone, Copy)]
pub(super) struct Words(pub(super) Lang);

impl Words {
    pub(super) fn say(self, en: impl Into<String>, ja: impl Into<String>) -> String {
        say(self.0, en, ja)
    }

    pub(super) fn stopping(self) -> String {
        self.say(
            "stopping; press Ctrl-C again to stop immediately",
            "停止しています。もう一度 Ctrl-C を押すと直ちに終了します",
        )
    }

    pub(super) fn starting(self) -> String {
        self.say("starting", "開始中")
    }

    pub(super) fn uncommitted_work(self) -> String {
        self.say(
            "starting from your working tree, including uncommitted changes",
            "未コミットの変更を含む作業ツリーから開始します",
        )
    }

    pub(super) fn submodules_left_out(self, paths: &str) -> String {
        self.say(
            format!("submodules are not copied into workspaces: {paths}"),
            format!("サブモジュールはワークスペースにコピーされません: {paths}"),
        )
    }

    pub(super) fn nested_repositories_left_out(self, paths: &str) -> String {
        self.say(
            format!("untracked repositories are not copied into workspaces: {paths}"),
            format!("未追跡のリポジトリはワークスペースにコピーされません: {paths}"),
        )
    }

    pub(super) fn setting_up(self, command: &str) -> String {
        self.say(format!("setup: {command}"), format!("セットアップ: {command}"))
    }

    pub(super) fn checking(self, name: &str) -> String {
        self.say(format!("running check: {name}"), format!("チェックを実行中: {name}"))
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

    pub(super) fn agent_works(self) -> String {
        self.say("agent working", "エージェント作業中")
    }

    pub(super) fn preparing_workspace(self) -> String {
        self.say("preparing a workspace", "作業領域を準備中")
    }

    pub(super) fn taking_snapshot(self) -> String {
        self.say("taking a snapshot of the base", "ベースのスナップショットを作成中")
    }

    pub(super) fn checking_base(self) -> String {
        self.say("running the checks on the base", "ベースでチェックを実行中")
    }

    pub(super) fn checking_attempt(self) -> String {
        self.say("running the checks", "チェックを実行中")
    }

    pub(super) fn restoring_files(self) -> String {
        self.say("restoring files", "ファイルを復元中")
    }

    pub(super) fn merging(self) -> String {
        self.say("merging results", "結果をマージ中")
    }

    pub(super) fn asking(self, role: Role) -> String {
        let (en, ja) = role_words(role);
        self.say(format!("asking the {en}"), format!("{ja}に問い合わせ中"))
    }

    pub(super) fn waiting_for_person(self) -> String {
        self.say("waiting for your answer", "あなたの回答を待っています")
    }

    pub(super) fn left_out_of_prompt(self, omission: &str) -> String {
        self.say(format!("  left out of the prompt: {omission}"), format!("  プロンプトから省略: {omission}"))
    }

    pub(super) fn delivering(self) -> String {
        self.say("creating the branch", "ブランチを作成中")
    }

    pub(super) fn looking_for_plan(self) -> String {
        self.say("looking for a cached plan", "キャッシュされた計画を検索中")
    }

    pub(super) fn baseline(self, failing: usize, flaky: usize, passing: u64) -> String {
        self.say(
            format!("baseline: {failing} failing, {flaky} flaky, {passing} passing"),
            format!("ベースライン: 失敗{failing}件、不安定{flaky}件、成功{passing}件"),
        )
    }

    pub(super) fn attempt_started(self, number: u32, stage: u32) -> String {
        self.say(
            format!("attempt {number} started (stage {stage})"),
            format!("試行{number}を開始（ステージ{stage}）"),
        )
    }

    /// Which attempt is under way.
    pub(super) fn attempt_at_stage(self, number: u32, most: Option<u32>, stage: u32) -> String {
        let (of, ja_of) = most.map(|most| (format!(" of {most}"), format!("/{most}"))).unwrap_or_default();
        self.say(
            format!("attempt {number}{of}, stage {stage}"),
            format!("試行{number}{ja_of}、ステージ{stage}"),
        )
    }

    pub(super) fn attempts(self, number: u32) -> String {
        self.say(counted(number, "attempt"), format!("試行{number}回"))
    }

    /// An attempt and what it achieved; `progress` may be coloured.
    pub(super) fn attempt_ended(self, number: u32, progress: &str, parts: &[String]) -> String {
        self.say(
            format!("attempt {number}: {progress}; {}", parts.join(", ")),
            format!("試行{number}: {progress}、{}", parts.join("、")),
        )
    }

    pub(super) fn progress(self, progress: ProgressKind) -> &'static str {
        progress_words(progress, self.0)
    }

    pub(super) fn failures(self, number: usize) -> String {
        let en = if number == 0 { "no failures".to_string() } else { counted(number, "failure") };
        let ja = if number == 0 { "失敗なし".to_string() } else { format!("失敗{number}件") };
        self.say(en, ja)
    }

    pub(super) fn known(self, number: usize) -> String {
        self.say(format!("{number} known"), format!("既知{number}件"))
    }

    pub(super) fn flaky(self, number: usize) -> String {
        self.say(format!("{number} flaky"), format!("不安定{number}件"))
    }

    pub(super) fn newly_flaky(self, number: usize) -> String {
        self.say(format!("{number} newly flaky"), format!("新たに不安定{number}件"))
    }

    pub(super) fn out_of_scope(self, number: usize) -> String {
        self.say(format!("{number} out of scope"), format!("範囲外{number}件"))
    }

    pub(super) fn files_changed(self, number: u64) -> String {
        let en = if number == 0 { "no files".to_string() } else { counted(number, "file") };
        let ja = if number == 0 {
            "ファイルの変更なし".to_string()
        } else {
            format!("変更{number}ファイル")
        };
        self.say(format!("{en} changed"), ja)
    }

    pub(super) fn agent_took(self, time: Duration) -> String {
        let time = clock(time);
        self.say(format!("agent {time}"), format!("エージェント {time}"))
    }

    pub(super) fn checks_took(self, time: Duration) -> String {
        let time = clock(time);
        self.say(format!("checks {time}"), format!("チェック {time}"))
    }

    pub(super) fn and_more(self, number: usize) -> String {
        self.say(format!("  … and {number} more"), format!("  … 他{number}件"))
    }

    pub(super) fn path_out_of_scope(self, path: &str) -> String {
        self.say(format!("  ✗ out of scope: {path}"), format!("  ✗ 範囲外: {path}"))
    }

    /// How many failures the last attempts left.
    pub(super) fn failure_trail(self, trail: &str) -> String {
        self.say(format!("failures {trail}"), format!("失敗数 {trail}"))
    }

    pub(super) fn more_tasks(self, number: usize) -> String {
        self.say(format!("and {} more", counted(number, "task")), format!("他{number}タスク"))
    }

    pub(super) fn plan_score(self, score: &str) -> String {
        self.say(format!("plan {score}"), format!("計画 {score}"))
    }

    pub(super) fn tokens(self, number: impl std::fmt::Display) -> String {
        let ja = format!("{number}トークン");
        self.say(counted(number, "token"), ja)
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

    pub(super) fn money_of(self, used: f64, allowed: f64) -> String {
        self.say(format!("${used:.2} of ${allowed:.2}"), format!("${used:.2}/${allowed:.2}"))
    }

    pub(super) fn goal(self, goal: &str) -> String {
        self.say(format!("goal: {goal}"), format!("目標: {goal}"))
    }

    pub(super) fn assumption(self, text: &str) -> String {
        self.say(format!("  assumption: {text}"), format!("  仮定: {text}"))
    }

    pub(super) fn plan(self, number: usize, tasks: usize) -> String {
        self.say(
            format!("plan {number}: {}", counted(tasks, "task")),
            format!("計画{number}: タスク{tasks}件"),
        )
    }

    /// Behind a plan that was invalid and was completed with tasks of the one before.
    pub(super) fn repaired_plan(self) -> String {
        self.say(" (invalid; repaired with the previous plan)", "（不正なため前の計画で補修）")
    }

    /// Behind a plan that was invalid and is not used.
    pub(super) fn previous_plan(self) -> String {
        self.say(" (invalid; the previous plan is used)", "（不正なため前の計画を使用）")
    }

    pub(super) fn plan_reviewed(self, number: u32, score: Option<&str>, verdict: PlanVerdict) -> String {
        let (en, ja) = match verdict {
            PlanVerdict::Acceptable => ("acceptable", "合格"),
            PlanVerdict::NotAcceptable => ("not acceptable", "不合格"),
        };
        let (of_score, ja_of_score) = match score {
            Some(score) => (format!("score {score}"), format!("採点 {score}")),
            None => ("no score".to_string(), "採点なし".to_string()),
        };
        self.say(format!("plan {number}: {of_score}, {en}"), format!("計画{number}: {ja_of_score}、{ja}"))
    }

    pub(super) fn issue(self, text: &str) -> String {
        self.say(format!("  issue: {text}"), format!("  指摘: {text}"))
    }

    pub(super) fn plan_accepted(self, why: &str) -> String {
        self.say(format!("plan accepted: {why}"), format!("計画を承認: {why}"))
    }

    pub(super) fn plan_sent_back(self, why: &str) -> String {
        self.say(format!("plan sent back to the planner: {why}"), format!("計画を差し戻し: {why}"))
    }

    pub(super) fn plan_rejected(self, why: &str) -> String {
        self.say(format!("plan rejected: {why}"), format!("計画を却下: {why}"))
    }

    pub(super) fn plan_finding(self, finding: &str) -> String {
        self.say(format!("plan: {finding}"), format!("計画: {finding}"))
    }

    pub(super) fn cached_plan(self) -> String {
        self.say("found a cached plan", "キャッシュされた計画が見つかりました")
    }

    pub(super) fn unusable_answer(self, owner: &Owner, problem: &str) -> String {
        let whose = self.owner(owner);
        self.say(
            format!("{whose}: the model's answer cannot be used: {problem}"),
            format!("{whose}: モデルの回答を利用できません: {problem}"),
        )
    }

    pub(super) fn task_started(self, task: &str) -> String {
        self.say(format!("[{task}] started"), format!("[{task}] 開始"))
    }

    pub(super) fn state(self, state: TaskState, cause: Option<Cause>) -> String {
        let why = cause.map(|cause| format!(" ({})", cause_name(cause))).unwrap_or_default();
        format!("{}{why}", state_words(state, self.0))
    }

    pub(super) fn task_split(self, task: &str, names: &str) -> String {
        self.say(
            format!("[{task}] replaced by smaller tasks: {names}"),
            format!("[{task}] 小さなタスクに分割: {names}"),
        )
    }

    pub(super) fn reason(self, text: &str) -> String {
        self.say(format!("  reason: {text}"), format!("  理由: {text}"))
    }

    pub(super) fn planner_said(self, text: &str) -> String {
        self.say(format!("  planner: {text}"), format!("  計画者: {text}"))
    }

    pub(super) fn merged(self, task: &str) -> String {
        self.say(format!("[{task}] merged without conflicts"), format!("[{task}] 競合なくマージ"))
    }

    pub(super) fn merge_conflicts(self, task: &str, number: usize, paths: &str) -> String {
        self.say(
            format!("[{task}] merge conflicts in {}: {paths}", counted(number, "file")),
            format!("[{task}] {number}ファイルでマージ競合: {paths}"),
        )
    }

    pub(super) fn left_out(self, task: &str) -> String {
        self.say(
            format!("[{task}] left out of the result: it could not be merged with the others"),
            format!("[{task}] 他の結果とマージできないため、成果物に含めません"),
        )
    }

    pub(super) fn goal_reached(self) -> String {
        self.say("final review: the goal is reached", "最終レビュー: 目標を達成")
    }

    pub(super) fn goal_not_reached(self) -> String {
        self.say("final review: the goal is not reached", "最終レビュー: 目標は未達成")
    }

    pub(super) fn missing(self, text: &str) -> String {
        self.say(format!("  missing: {text}"), format!("  不足: {text}"))
    }

    pub(super) fn plan_revised(self, error: &str) -> String {
        self.say(format!("remaining steps revised: {error}"), format!("残りの手順を修正: {error}"))
    }

    pub(super) fn deferred(self, owner: &Owner, cause: Cause) -> String {
        let (whose, why) = (self.owner(owner), cause_name(cause));
        self.say(format!("{whose}: paused ({why})"), format!("{whose}: 一時停止（{why}）"))
    }

    /// A task of a plan, with those it waits for.
    pub(super) fn subtask(self, id: &str, after: &[&str], description: &str) -> String {
        let after = match after {
            [] => String::new(),
            names => {
                self.say(format!(" (after {})", names.join(", ")), format!("（{} の後）", names.join(", ")))
            }
        };
        format!("  {id}{after}: {description}")
    }

    /// What something is done for.
    pub(super) fn owner(self, owner: &Owner) -> String {
        match owner {
            Owner::Task(task) | Owner::Merge(task) => format!("[{task}]"),
            Owner::Planning => self.say("planning", "計画"),
            Owner::PlanReview => self.say("plan review", "計画レビュー"),
            Owner::Replan(task) => self.say(format!("[{task}] replanning"), format!("[{task}] 再計画")),
            Owner::FinalReview => self.say("final review", "最終レビュー"),
            Owner::Reflection(task) => self.say(format!("[{task}] reflection"), format!("[{task}] 振り返り")),
            Owner::Delivery => self.say("delivery", "納品"),
        }
    }

    /// A question to a model, when it is put.
    pub(super) fn question(self, about: &QuestionKind, model: &str, tokens: u64) -> String {
        let (who, ja_who) = role_words(about.role());
        let (what, ja_what) = match about {
            QuestionKind::Plan => ("make a plan".to_string(), "計画の作成".to_string()),
            QuestionKind::Understand => ("understand the goal".to_string(), "目標の理解".to_string()),
            QuestionKind::Decompose => {
                ("split the goal into tasks".to_string(), "タスクへの分割".to_string())
            }
            QuestionKind::Order => ("order the tasks".to_string(), "作業順序の決定".to_string()),
            QuestionKind::JudgePlan { .. } => ("review the plan".to_string(), "計画のレビュー".to_string()),
            QuestionKind::Refine { .. } => ("improve the plan".to_string(), "計画の改善".to_string()),
            QuestionKind::JudgeTask { task, .. } => {
                (format!("review task {task}"), format!("{task} のレビュー"))
            }
            QuestionKind::ReplanTask { task } => (format!("split task {task}"), format!("{task} の分割")),
            QuestionKind::JudgeWhole { .. } => {
                ("review the result".to_string(), "成果全体のレビュー".to_string())
            }
            QuestionKind::Reflect { task } => {
                (format!("reflect on task {task}"), format!("{task} の振り返り"))
            }
        };
        self.say(
            format!("asking the {who} ({model}) to {what}, about {}", counted(tokens, "token")),
            format!("{ja_who} ({model}) に依頼: {ja_what}、約{tokens}トークン"),
        )
    }
}

/// Whether the judge would accept a plan.
#[derive(Debug, Clone, Copy)]
pub(super) enum PlanVerdict {
    Acceptable,
    NotAcceptable,
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
