//! The state of a task in words: the cause, the evidence, and what to do next. It fits on one screen.

mod agent;
mod conduct;

use std::collections::BTreeSet;

use fixpoint_decide::progress::ProgressKind;
use fixpoint_decide::run::Run;
use fixpoint_decide::task_run::{TaskActivity, TaskStatus, described};
use fixpoint_vocabulary::work::{FailureId, ProtectedRole};
use fixpoint_vocabulary::{Cause, Lang, counted};

use crate::base_report::{environment_lines, known_finding_lines, unusable_hints, unusable_lines};
use crate::diagnosis::{PersistentFailure, persistent_failures};
use crate::failure_words::{FailureWords, scope_words};
use crate::history::Iteration;
use crate::reached_limits::reached_limits;
use crate::summary::texts;
use crate::view::TaskView;
use crate::words::{beginning, cause_name, progress_words, say};

/// Failures that are shown.
const MOST_FAILURES: usize = 3;
/// Attempts of the trail that are shown.
const MOST_ATTEMPTS: usize = 12;
/// Characters of a foreign message that are shown.
const LONGEST: usize = 200;

/// The state of a run or a task, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// What happened, in a sentence or two.
    pub what: String,
    /// The evidence for it.
    pub evidence: Vec<String>,
    /// What to do next.
    pub next: Vec<String>,
}

pub(crate) fn explain_task(run: &Run, task: TaskView<'_>, lang: Lang) -> Explanation {
    let explainer = TaskExplainer { run, task, lang };
    let what = match task.cause() {
        Some(cause) => explainer.what(cause),
        None => match task.task.status() {
            TaskStatus::Working { activity } => explainer.working(activity),
            TaskStatus::New | TaskStatus::Paused { .. } | TaskStatus::Ended { .. } => {
                explainer.say("Not started yet.", "まだ開始していません。")
            }
        },
    };
    let mut evidence: Vec<String> = explainer.obstacle().into_iter().chain(explainer.refusal()).collect();
    evidence.extend(explainer.unusable_checks());
    let lacking = explainer.lacking();
    evidence.extend(explainer.trail());
    evidence.extend(if lacking.is_empty() { explainer.failures() } else { lacking });
    evidence.extend(explainer.not_replanned());
    evidence.extend(explainer.tolerated());
    evidence.extend(known_finding_lines(run, task.task.guards_with_known_findings(), lang));
    Explanation { what, evidence, next: explainer.next() }
}

/// What to look at where the agent reported success and changed nothing.
pub(crate) fn idle_hint(run: &Run, task: TaskView<'_>, lang: Lang) -> Option<String> {
    TaskExplainer { run, task, lang }.idle_hint()
}

struct TaskExplainer<'a> {
    run: &'a Run,
    task: TaskView<'a>,
    lang: Lang,
}

impl TaskExplainer<'_> {
    fn say(&self, en: impl Into<String>, ja: impl Into<String>) -> String {
        say(self.lang, en, ja)
    }

    fn what(&self, cause: Cause) -> String {
        let attempts = self.task.history.iterations.len();
        match cause {
            Cause::Done => self.say(
                format!("Done after {}: {}.", counted(attempts, "attempt"), self.proof_words()),
                format!("{attempts}回の試行で完了: {}。", self.proof_words()),
            ),
            Cause::AlreadySatisfied => self.say(
                "Nothing to do: the goals pass already, so no agent was started.",
                "目標はすでに達成されているため、エージェントは起動していません。",
            ),
            Cause::NotConverging => self.say(
                format!(
                    "Stopped after {}: the agent {}.",
                    counted(attempts, "attempt"),
                    self.conduct_words()
                ),
                format!("{attempts}回の試行で停止: エージェントは{}。", self.conduct_words()),
            ),
            Cause::MaxIterations => self.after_last_attempt(attempts),
            Cause::ScopeViolation => self.say(
                "Stopped: files out of scope were changed, and `scope.on_violation` is `block`.",
                "停止: 範囲外のファイルが変更されました（`scope.on_violation` は `block`）。",
            ),
            Cause::Waiting => self.say(
                "Paused: a check is waiting for a person or an external service.",
                "一時停止: チェックが人または外部サービスを待っています。",
            ),
            Cause::Budget => {
                let limits = reached_limits(self.run, self.lang).limits;
                self.say(
                    format!("Paused: the budget ({limits}) does not allow another attempt."),
                    format!("一時停止: 予算（{limits}）が足りず、次の試行を開始できません。"),
                )
            }
            Cause::AgentUnavailable => self.unavailable(),
            Cause::Infrastructure => self.say(
                "The environment failed, not the agent.",
                "環境の問題で続行できません（エージェントの問題ではありません）。",
            ),
            Cause::BaselineUnusable => self.say(
                "Cannot start: a check does not work on the base, before any change.",
                "開始できません: 変更前のベースでチェックが正しく動きません。",
            ),
            Cause::Stopped => {
                self.say("Stopped by the user. It can be resumed.", "ユーザーが停止しました。再開できます。")
            }
            Cause::MaxReplans
            | Cause::JudgeGaveUp
            | Cause::ReplanningDisabled
            | Cause::PlanRejected
            | Cause::PlanRefused
            | Cause::NeedsClarification
            | Cause::RequiresHumanIntervention
            | Cause::ApprovalRefused
            | Cause::ApprovalTimeout
            | Cause::Conflict
            | Cause::ModelUnavailable
            | Cause::JudgeUnavailable
            | Cause::Dependency
            | Cause::Partial => {
                let name = cause_name(cause);
                self.say(format!("Ended: {name}."), format!("終了: {name}。"))
            }
        }
    }

    fn after_last_attempt(&self, attempts: usize) -> String {
        let conduct = self.conduct_sentence().unwrap_or_default();
        self.say(
            format!("Stopped after {}, the maximum.{conduct}", counted(attempts, "attempt")),
            format!("上限の{attempts}回の試行に達したため停止しました。{conduct}"),
        )
    }

    fn working(&self, activity: TaskActivity) -> String {
        let attempt = self.task.history.iterations.len() + 1;
        match activity {
            TaskActivity::TakingBase => {
                self.say("Taking a snapshot of the base.", "ベースのスナップショットを作成中です。")
            }
            TaskActivity::Baseline => {
                self.say("Running the checks on the base.", "ベースでチェックを実行中です。")
            }
            TaskActivity::Attempting => self.say(
                format!("Attempt {attempt}: the agent is working."),
                format!("試行{attempt}: エージェントが作業中です。"),
            ),
            TaskActivity::Reverting
            | TaskActivity::Goals
            | TaskActivity::BuildingProofTree
            | TaskActivity::ProofGoals
            | TaskActivity::ProofGuards
            | TaskActivity::Guards
            | TaskActivity::SuspectsAtBase
            | TaskActivity::FlakyAtBase
            | TaskActivity::Confirming => self.say(
                format!("Attempt {attempt}: running the checks."),
                format!("試行{attempt}: チェックを実行中です。"),
            ),
            TaskActivity::Judging => self.say(
                format!("Attempt {attempt}: asking the judge."),
                format!("試行{attempt}: 判定者に問い合わせ中です。"),
            ),
        }
    }

    /// What shows that it is done, and which tests were changed with permission.
    fn proof_words(&self) -> String {
        let changes = self.task.permitted_changes();
        let permitted = match changes.as_slice() {
            [] => String::new(),
            some => {
                let files = some.join(", ");
                self.say(format!("; changed with permission: {files}"), format!("。許可された変更: {files}"))
            }
        };
        format!("{}{permitted}", self.task.task.proof().text().in_lang(self.lang))
    }

    fn obstacle(&self) -> Option<String> {
        let is_relevant = matches!(self.task.cause(), Some(Cause::Infrastructure));
        self.task.history.last_error.as_ref().filter(|_| is_relevant).map(|said| short(said))
    }

    /// Why the planner did not split the task.
    fn not_replanned(&self) -> Option<String> {
        let said = short(self.task.history.replan_refusal.as_ref()?);
        Some(self.say(
            format!("Not split into smaller tasks: {said}"),
            format!("小さなタスクには分割されませんでした: {said}"),
        ))
    }

    /// What the environment of the last checks lacks.
    fn lacking(&self) -> Vec<String> {
        if self.task.cause() != Some(Cause::Infrastructure) {
            return Vec::new();
        }
        let last = self.task.history.iterations.last();
        let reports = last.iter().flat_map(|last| &last.checks).flat_map(|made| &made.reports);
        let mut lines = environment_lines(self.run, reports, self.lang);
        lines.dedup();
        lines
    }

    /// The checks that make the baseline unusable, and why.
    fn unusable_checks(&self) -> Vec<String> {
        if self.task.cause() != Some(Cause::BaselineUnusable) {
            return Vec::new();
        }
        let first = self.task.history.baseline.first();
        let reports = first.map(|made| made.reports.as_slice()).unwrap_or_default();
        let task = &self.task.task;
        unusable_lines(self.run, reports, &task.options().guards, task.baseline(), self.lang)
    }

    /// The result of each attempt, on one line.
    fn trail(&self) -> Option<String> {
        let iterations = &self.task.history.iterations;
        if iterations.is_empty() {
            return None;
        }
        let word = |iteration: &Iteration| {
            let judged = &iteration.judged;
            let stage = match judged.stage {
                0 | 1 => String::new(),
                stage => self.say(format!(" (stage {stage})"), format!("（ステージ{stage}）")),
            };
            let is_reverted =
                judged.verdict.progress == ProgressKind::NoChange && !conduct::changed_nothing(iteration);
            let word = if is_reverted {
                self.say("changes out of scope only", "範囲外の変更のみ")
            } else {
                progress_words(judged.verdict.progress, self.lang).to_string()
            };
            let number = iteration.number;
            self.say(format!("Attempt {number}: {word}{stage}."), format!("試行{number}: {word}{stage}。"))
        };
        let skipped = iterations.len().saturating_sub(MOST_ATTEMPTS);
        let words: Vec<String> = iterations.iter().skip(skipped).map(word).collect();
        let dots = if skipped > 0 { "… " } else { "" };
        Some(format!("{dots}{}", words.join(&self.say(" ", ""))))
    }

    fn failures(&self) -> Vec<String> {
        let Some(last) = self.task.history.iterations.last() else { return Vec::new() };
        let all = persistent_failures(self.task.history);
        let current: Vec<&PersistentFailure> = all.iter().filter(|failure| failure.in_a_row > 0).collect();
        let mut lines: Vec<String> =
            current.iter().take(MOST_FAILURES).map(|failure| self.failure(failure, last)).collect();
        if current.len() > MOST_FAILURES {
            let more = current.len() - MOST_FAILURES;
            lines.push(self.say(format!("… and {more} more"), format!("… 他{more}件")));
        }
        if !last.judged.outside.is_empty() && self.task.cause() != Some(Cause::Done) {
            let outside = last.judged.outside.iter().take(5);
            let paths: Vec<String> =
                outside.map(|entry| scope_words(entry, last, self.run, self.lang)).collect();
            let paths = paths.join(", ");
            lines.push(self.say(format!("Out of scope: {paths}"), format!("範囲外: {paths}")));
        }
        lines.extend(self.protected_lines(last));
        lines.extend(self.agent_lines(last));
        lines
    }

    /// The tests, and what decides what the checks do, that the last attempt changed.
    fn protected_lines(&self, last: &Iteration) -> Vec<String> {
        let changes = last.attempt.iter().flat_map(|made| &made.result.protected);
        let of = |role: ProtectedRole| -> Option<String> {
            let of_role: Vec<String> =
                changes.clone().filter(|change| change.role == role).map(described).collect();
            let more = of_role.len().saturating_sub(MOST_FAILURES);
            let shown = of_role.iter().take(MOST_FAILURES).map(String::as_str).collect::<Vec<_>>().join(", ");
            let more = if more > 0 { format!(" (+{more})") } else { String::new() };
            (!of_role.is_empty()).then(|| format!("{shown}{more}"))
        };
        let roles = [
            (ProtectedRole::Test, "The agent changed tests", "エージェントがテストを変更"),
            (
                ProtectedRole::Definition,
                "The agent changed what decides what the checks do",
                "エージェントがチェックの動作を決めるファイルを変更",
            ),
            (
                ProtectedRole::Interference,
                "The agent wrote product code that changes or silences a check",
                "エージェントがチェックの動作や結果を変えるコードを製品に追加",
            ),
            (
                ProtectedRole::LeftOut,
                "Not in the result, although the agent's changes name it",
                "エージェントの変更が参照していますが、成果物に含まれません",
            ),
        ];
        let line = |(role, en, ja)| Some(format!("{}: {}", self.say(en, ja), of(role)?));
        roles.into_iter().filter_map(line).collect()
    }

    fn failure(&self, failure: &PersistentFailure, last: &Iteration) -> String {
        let mut reported = last.judged.failures.iter();
        let reported = reported.find(|reported| reported.fingerprint().to_string() == failure.fingerprint);
        let words = reported.map(|reported| FailureWords::of(reported, self.run, self.lang));
        let words = words.unwrap_or_else(|| FailureWords {
            subject: failure.fingerprint.clone(),
            said: failure.message.clone(),
        });
        let print =
            if failure.test.is_some() { format!(" [{}]", failure.fingerprint) } else { String::new() };
        // What is weakened names its files by itself.
        let is_weakened = reported.is_some_and(|reported| matches!(reported.id(), FailureId::Weakened(_)));
        let place = failure.place.as_ref().filter(|_| !is_weakened);
        let place = place.map(|place| format!(" at {place}")).unwrap_or_default();
        let last = match failure.in_a_row {
            0 | 1 => self.say(", in the last attempt", "、最後の試行で発生"),
            several => self
                .say(format!(", in the last {several} attempts"), format!("、直近{several}回の試行で連続")),
        };
        let subject = format!("{}{print}{place}{last}", words.subject);
        FailureWords { subject, said: short(&words.said) }.line()
    }

    fn tolerated(&self) -> Option<String> {
        let comparison = &self.task.history.iterations.last()?.judged.comparison;
        // Findings that are known one by one have a line of their own.
        let listed: BTreeSet<&FailureId> = self
            .task
            .task
            .guards_with_known_findings()
            .flat_map(|(_, check)| check.failing.iter().flatten())
            .collect();
        let known: Vec<FailureId> =
            comparison.known.iter().filter(|id| !listed.contains(id)).cloned().collect();
        let list = |names: &BTreeSet<String>| {
            let shown: Vec<&str> = names.iter().take(5).map(String::as_str).collect();
            let dots = if names.len() > 5 { ", …" } else { "" };
            format!("({}{dots})", shown.join(", "))
        };
        let mut parts = Vec::new();
        for (names, en, ja) in [
            (&texts(&known), "known", "既知"),
            (&texts(&comparison.flaky), "flaky", "不安定"),
            (&texts(&comparison.newly_flaky), "newly flaky", "新たに不安定"),
            (&texts(&comparison.vanished), "vanished", "消失"),
        ] {
            if !names.is_empty() {
                let (number, names) = (names.len(), list(names));
                parts.push(self.say(format!("{number} {en} {names}"), format!("{ja}{number}件 {names}")));
            }
        }
        (!parts.is_empty()).then(|| {
            self.say(
                format!("Other tests: {}", parts.join("; ")),
                format!("その他のテスト: {}", parts.join("、")),
            )
        })
    }

    /// Whether a goal passes only with the changed tests.
    fn is_weakened(&self) -> bool {
        let last = self.task.history.iterations.last();
        last.is_some_and(|last| {
            last.judged.failures.iter().any(|failure| matches!(failure.id(), FailureId::Weakened(_)))
        })
    }

    /// Whether every attempt changed nothing and ended with an error.
    fn agent_failed(&self) -> bool {
        self.task.history.iterations.iter().all(|iteration| {
            let code = iteration.attempt.as_ref().and_then(|made| made.result.exit_code);
            conduct::changed_nothing(iteration) && code != Some(0)
        })
    }

    fn after_no_progress(&self) -> Vec<String> {
        let read = [
            self.say("`fixpoint show` prints the diagnosis.", "`fixpoint show` で診断を表示します。"),
            self.say(
                "`fixpoint diff` prints the best attempt.",
                "`fixpoint diff` で最良の試行を表示します。",
            ),
        ];
        let then = self.say(
            "Give more detail in the prompt, split the goal, or extend --allow, and start again.",
            "プロンプトを詳しくする、目標を分割する、--allow を広げるなどして、もう一度実行してください。",
        );
        let hint = self.idle_hint().into_iter();
        hint.chain(read).chain([then]).chain(self.permissions()).collect()
    }

    /// How to permit what the last attempt changed of tests and of what decides what the checks do.
    fn permissions(&self) -> Vec<String> {
        let last = self.task.history.iterations.last().filter(|_| self.is_weakened());
        let changes =
            last.and_then(|last| last.attempt.as_ref()).map(|made| made.result.protected.as_slice());
        let changes = changes.unwrap_or_default().iter().filter(|change| !change.is_permitted);
        let (tests, others): (Vec<_>, Vec<_>) =
            changes.partition(|change| change.role == ProtectedRole::Test);
        let edits = self.say(
            "If the tests are supposed to change: --allow-test-edits.",
            "テストの変更が目的なら --allow-test-edits を付けてください。",
        );
        let files: Vec<String> =
            others.iter().take(3).map(|change| format!("\"{}\"", change.path.path())).collect();
        let files = files.join(", ");
        let definitions = self.say(
            format!("If a file that decides what a check does is the work itself, permit it: `scope.definitions: [{files}]`."),
            format!("チェックの動作を決めるファイルの変更が目的なら、`scope.definitions: [{files}]` で許可してください。"),
        );
        let of_tests = (!tests.is_empty() || last.is_some() && others.is_empty()).then_some(edits);
        of_tests.into_iter().chain((!others.is_empty()).then_some(definitions)).collect()
    }

    fn next(&self) -> Vec<String> {
        let Some(cause) = self.task.cause() else { return Vec::new() };
        match cause {
            Cause::Done => vec![self.say(
                "`fixpoint diff` shows the result, `fixpoint apply` applies it to the working tree.",
                "`fixpoint diff` で結果を表示、`fixpoint apply` で作業ツリーに反映します。",
            )],
            Cause::AlreadySatisfied => vec![self.say(
                "If there is more to do, give a command that fails until it is done: --until CMD.",
                "まだ作業が残っている場合は、完了するまで失敗するコマンドを --until で指定してください。",
            )],
            Cause::BaselineUnusable => unusable_hints(self.lang),
            Cause::NotConverging if self.agent_failed() => vec![self.say(
                "The agent itself failed: see `fixpoint logs --agent`. Is it signed in, and may it edit files without \
                 asking?",
                "エージェント自体が失敗しています。`fixpoint logs --agent` を確認してください。サインイン済みで、確認なしに\
                 ファイルを編集できる設定ですか。",
            )],
            Cause::NotConverging | Cause::MaxIterations | Cause::ScopeViolation => self.after_no_progress(),
            Cause::AgentUnavailable => vec![self.after_unavailable()],
            Cause::Budget => {
                let more = reached_limits(self.run, self.lang).more;
                vec![self.say(
                    format!("To continue: `fixpoint resume --budget {more}`."),
                    format!("続行するには `fixpoint resume --budget {more}`。"),
                )]
            }
            Cause::Stopped => vec![
                self.say("`fixpoint resume` continues the run.", "`fixpoint resume` で再開します。"),
            ],
            Cause::Waiting | Cause::Infrastructure => vec![self.say(
                "When the cause is fixed, `fixpoint resume` continues the run.",
                "原因を解消してから `fixpoint resume` で再開してください。",
            )],
            Cause::MaxReplans
            | Cause::JudgeGaveUp
            | Cause::ReplanningDisabled
            | Cause::PlanRejected
            | Cause::PlanRefused
            | Cause::NeedsClarification
            | Cause::RequiresHumanIntervention
            | Cause::ApprovalRefused
            | Cause::ApprovalTimeout
            | Cause::Conflict
            | Cause::ModelUnavailable
            | Cause::JudgeUnavailable
            | Cause::Dependency
            | Cause::Partial => Vec::new(),
        }
    }
}

/// The beginning of a foreign message.
pub(crate) fn short(text: &str) -> String {
    beginning(text, LONGEST)
}
