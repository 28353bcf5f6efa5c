//! How a run stands, in words: the cause, what speaks for it, and what to do next. It fits on one screen.

mod agent;

use std::collections::BTreeSet;

use fixpoint_decide::progress::ProgressKind;
use fixpoint_decide::task_run::{Step, Work};
use fixpoint_engine::Recorded;
use fixpoint_vocabulary::work::{CheckEnd, CheckReport, FailureId};
use fixpoint_vocabulary::{Cause, Lang, Text};

use crate::diagnosis::{Persistent, persistent};
use crate::story::TaskStory;
use crate::summary::texts;

/// Failures that are shown.
const MOST_FAILURES: usize = 3;
/// Attempts of the trail that are shown.
const MOST_ATTEMPTS: usize = 12;
/// Characters of a foreign message that are shown.
const LONGEST: usize = 200;

/// How a run stands, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// What happened, in a sentence or two.
    pub what: String,
    /// What speaks for it.
    pub evidence: Vec<String>,
    /// What a person can do.
    pub next: Vec<String>,
}

/// Explains how one task stands.
pub fn explain_task(recorded: &Recorded, story: &TaskStory, lang: Lang) -> Explanation {
    let speak = |en: &str, ja: &str| Text::new(en.to_string(), ja.to_string()).in_lang(lang).to_string();
    let teller = Teller { recorded, story, lang };
    let what = match story.cause() {
        Some(cause) => teller.what(cause),
        None => match story.task.step() {
            Step::Working { work } => teller.working(work),
            Step::New | Step::Paused { .. } | Step::Ended { .. } => {
                speak("It has not begun.", "まだ始まっていません。")
            }
        },
    };
    let mut evidence = Vec::new();
    evidence.extend(teller.obstacle());
    evidence.extend(teller.refusal());
    evidence.extend(teller.unusable_checks());
    evidence.extend(teller.trail());
    evidence.extend(teller.failures());
    evidence.extend(teller.not_replanned());
    evidence.extend(teller.tolerated());
    Explanation { what, evidence, next: teller.next() }
}

/// What to look at where a task's last attempt ended as if all were well and had changed nothing.
pub(crate) fn idle_hint(recorded: &Recorded, story: &TaskStory, lang: Lang) -> Option<String> {
    Teller { recorded, story, lang }.idle_hint()
}

struct Teller<'a> {
    recorded: &'a Recorded,
    story: &'a TaskStory,
    lang: Lang,
}

impl Teller<'_> {
    fn say(&self, en: impl Into<String>, ja: impl Into<String>) -> String {
        Text::new(en.into(), ja.into()).in_lang(self.lang).to_string()
    }

    fn what(&self, cause: Cause) -> String {
        let attempts = self.story.iterations.len();
        match cause {
            Cause::Done => self.say(
                format!("Done after {}: {}.", counted(attempts, "attempt"), self.proof_words()),
                format!("{attempts}回の試行で完了: {}。", self.proof_words()),
            ),
            Cause::AlreadySatisfied => self.say(
                "The goals pass already. Nothing was run.",
                "目標はすでに満たされています。何も実行していません。",
            ),
            Cause::NotConverging => self.say(
                format!("Stopped after {}: they {}.", counted(attempts, "attempt"), self.circles().0),
                format!("{attempts}回の試行で停止: {}。", self.circles().1),
            ),
            Cause::MaxIterations => self.say(
                format!("Stopped after {}, which is all that were allowed.", counted(attempts, "attempt")),
                format!("許された{attempts}回の試行を使い切って停止しました。"),
            ),
            Cause::ScopeViolation => self.say(
                "Stopped: files outside the scope were changed, and the configuration says to block.",
                "停止: 範囲外のファイルが変更されました(on_violation: block)。",
            ),
            Cause::Waiting => self.say(
                "A check waits for a person or an outside thing.",
                "チェックが外部または人を待っています。",
            ),
            Cause::Budget => self.say(
                "Paused: the budget does not allow another attempt.",
                "一時停止: 予算が次の試行を許しません。",
            ),
            Cause::AgentUnavailable => self.unavailable(),
            Cause::Infrastructure => self.say(
                "Something needed could not be used, through no fault of the attempts.",
                "必要なものが使えませんでした(試行のせいではありません)。",
            ),
            Cause::BaselineUnusable => self.say(
                "Nothing can be proved: a check does not work on the tree as it was before any attempt.",
                "何も証明できません: 試行前のツリーでチェックが機能しません。",
            ),
            Cause::Stopped => {
                self.say("Stopped by a person. The state is kept.", "人が停止しました。状態は残っています。")
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
                let name = crate::diagnosis::cause_name(cause);
                self.say(format!("Ended: {name}."), format!("終了: {name}。"))
            }
        }
    }

    /// In which way the attempts got nowhere.
    fn circles(&self) -> (&'static str, &'static str) {
        let is_idle =
            |iteration: &crate::story::Iteration| iteration.judged.verdict.progress == ProgressKind::NoChange;
        if self.story.iterations.iter().all(is_idle) {
            ("changed nothing", "何も変更しませんでした")
        } else {
            ("go in circles", "同じところを回っています")
        }
    }

    fn working(&self, work: Work) -> String {
        let attempt = self.story.iterations.len() + 1;
        match work {
            Work::TakingBase => self.say("The base is being taken.", "基点を取得中です。"),
            Work::Baseline => self.say("The checks run at the base.", "基点でチェックを実行中です。"),
            Work::Attempting => self.say(
                format!("Attempt {attempt}: the agent works."),
                format!("試行{attempt}: エージェント作業中。"),
            ),
            Work::Reverting
            | Work::Goals
            | Work::RestoringTests
            | Work::GoalsWithBaseTests
            | Work::Guards
            | Work::SuspectsAtBase
            | Work::FlakyAtBase
            | Work::Confirming => {
                self.say(format!("Attempt {attempt} is being checked."), format!("試行{attempt}を検査中。"))
            }
            Work::Judging => {
                self.say(format!("Attempt {attempt} is being judged."), format!("試行{attempt}を判定中。"))
            }
        }
    }

    fn proof_words(&self) -> String {
        use fixpoint_decide::goals::Proof;
        match self.story.task.proof() {
            Proof::Goals => self.say(
                "what failed before was seen passing, and nothing new fails",
                "失敗していたテストの成功を確認、新たな失敗なし",
            ),
            Proof::GuardsOnly => self.say(
                "there was no goal; something changed and the guards show nothing new",
                "目標なし; 変更があり、ガードに新たな失敗なし",
            ),
            Proof::ExitCodeOnly => self.say(
                "the commands succeed; none of them names the tests it runs",
                "コマンドは成功(テスト名は示されていません)",
            ),
            Proof::JudgeOnly => self.say("the judge agreed twice", "判定者が二度同意"),
        }
    }

    fn obstacle(&self) -> Option<String> {
        let is_relevant = matches!(self.story.cause(), Some(Cause::Infrastructure));
        self.story.obstacle.as_ref().filter(|_| is_relevant).map(|said| short(said))
    }

    /// What the planner said when it was asked for smaller tasks.
    fn not_replanned(&self) -> Option<String> {
        let said = short(self.story.not_replanned.as_ref()?);
        Some(self.say(
            format!("No smaller tasks took its place: {said}"),
            format!("より小さなタスクに置き換えられませんでした: {said}"),
        ))
    }

    fn check_name(&self, number: u32) -> String {
        let brief = self.recorded.opening.brief.as_ref();
        let placed = brief.and_then(|brief| brief.checks.get(number as usize));
        placed.map_or_else(|| number.to_string(), |placed| placed.check.command.clone())
    }

    /// Which checks made the baseline useless, and how.
    fn unusable_checks(&self) -> Vec<String> {
        if self.story.cause() != Some(Cause::BaselineUnusable) {
            return Vec::new();
        }
        let reports = self.story.baseline.first().into_iter().flat_map(|made| &made.reports);
        let guards = &self.story.task.order().guards;
        let is_useless = |report: &&CheckReport| match report.end {
            CheckEnd::NotFound | CheckEnd::CouldNotRun => true,
            CheckEnd::Failed | CheckEnd::TimedOut | CheckEnd::Crashed => {
                report.counted == 0 && guards.contains(&report.check)
            }
            CheckEnd::Passed | CheckEnd::Waiting => false,
        };
        let describe = |report: &CheckReport| {
            let command = self.check_name(report.check);
            let said =
                report.failures.first().map(|failure| short(failure.message.as_str())).unwrap_or_default();
            match report.end {
                CheckEnd::NotFound => self.say(
                    format!("`{command}`: a command in it was not found. It said: {said}"),
                    format!("`{command}`: コマンドが見つかりません: {said}"),
                ),
                CheckEnd::CouldNotRun => {
                    let why: Vec<&str> =
                        report.reasons.iter().map(fixpoint_vocabulary::Redacted::as_str).collect();
                    self.say(
                        format!("`{command}` could not run: {}", why.join("; ")),
                        format!("`{command}` を実行できません: {}", why.join("; ")),
                    )
                }
                CheckEnd::Failed
                | CheckEnd::TimedOut
                | CheckEnd::Crashed
                | CheckEnd::Passed
                | CheckEnd::Waiting => self.say(
                    format!("`{command}` fails and shows nothing that passes. It said: {said}"),
                    format!("`{command}` は失敗し、成功するものを何も示しません: {said}"),
                ),
            }
        };
        reports.filter(is_useless).map(describe).collect()
    }

    /// What each attempt came to, on a line.
    fn trail(&self) -> Option<String> {
        let iterations = &self.story.iterations;
        if iterations.is_empty() {
            return None;
        }
        let word = |iteration: &crate::story::Iteration| {
            let judged = &iteration.judged;
            let stage = if judged.stage > 1 { format!(" (stage {})", judged.stage) } else { String::new() };
            format!("{} {}{stage}", iteration.number, judged.verdict.progress.name())
        };
        let skipped = iterations.len().saturating_sub(MOST_ATTEMPTS);
        let words: Vec<String> = iterations.iter().skip(skipped).map(word).collect();
        let dots = if skipped > 0 { "… " } else { "" };
        Some(self.say(
            format!("Attempts: {dots}{}", words.join(", ")),
            format!("試行: {dots}{}", words.join(", ")),
        ))
    }

    fn failures(&self) -> Vec<String> {
        let Some(last) = self.story.iterations.last() else { return Vec::new() };
        let all = persistent(self.story);
        let current: Vec<&Persistent> = all.iter().filter(|failure| failure.in_a_row > 0).collect();
        let mut lines: Vec<String> =
            current.iter().take(MOST_FAILURES).map(|failure| self.failure(failure)).collect();
        if current.len() > MOST_FAILURES {
            let more = current.len() - MOST_FAILURES;
            lines.push(self.say(format!("… and {more} more failures"), format!("… 他{more}件の失敗")));
        }
        if !last.judged.outside.is_empty() && self.story.cause() != Some(Cause::Done) {
            let paths: Vec<&str> = last.judged.outside.iter().take(5).map(String::as_str).collect();
            let paths = paths.join(", ");
            lines.push(
                self.say(format!("Changed outside the scope: {paths}"), format!("範囲外の変更: {paths}")),
            );
        }
        lines.extend(self.agent_lines(last));
        lines
    }

    fn failure(&self, failure: &Persistent) -> String {
        let name = failure.test.as_deref().unwrap_or(&failure.fingerprint);
        let print =
            if failure.test.is_some() { format!(" [{}]", failure.fingerprint) } else { String::new() };
        let place = failure.place.as_ref().map(|place| format!(" at {place}")).unwrap_or_default();
        let said = short(&failure.message);
        self.say(
            format!("{name}{print}{place}, {} in a row: {said}", counted(failure.in_a_row as usize, "time")),
            format!("{name}{print}{place} 連続{}回: {said}", failure.in_a_row),
        )
    }

    fn tolerated(&self) -> Option<String> {
        let seen = &self.story.iterations.last()?.judged.seen;
        let list = |names: &BTreeSet<String>| {
            let shown: Vec<&str> = names.iter().take(5).map(String::as_str).collect();
            let dots = if names.len() > 5 { ", …" } else { "" };
            format!("{} ({}{dots})", names.len(), shown.join(", "))
        };
        let mut parts = Vec::new();
        for (names, en, ja) in [
            (&texts(&seen.known), "known", "既知"),
            (&texts(&seen.flaky), "flaky", "不安定"),
            (&texts(&seen.newly_flaky), "newly flaky", "新たに不安定"),
            (&texts(&seen.vanished), "vanished", "消失"),
        ] {
            if !names.is_empty() {
                parts.push(format!("{} {}", self.say(en, ja), list(names)));
            }
        }
        (!parts.is_empty()).then(|| self.say(format!("Beside that: {}", parts.join("; ")), parts.join("; ")))
    }

    /// Whether something passes only with tests that were changed.
    fn is_weakened(&self) -> bool {
        let last = self.story.iterations.last();
        last.is_some_and(|last| {
            last.judged.failures.iter().any(|failure| matches!(failure.id(), FailureId::Weakened(_)))
        })
    }

    /// Whether every attempt changed nothing and ended with an error.
    fn agent_failed(&self) -> bool {
        self.story.iterations.iter().all(|iteration| {
            let code = iteration.attempt.as_ref().and_then(|made| made.result.exit_code);
            iteration.judged.verdict.progress == ProgressKind::NoChange && code != Some(0)
        })
    }

    fn next(&self) -> Vec<String> {
        let Some(cause) = self.story.cause() else { return Vec::new() };
        match cause {
            Cause::Done => vec![self.say(
                "`fixpoint diff` shows the result, `fixpoint apply` brings it into the working tree.",
                "`fixpoint diff` で結果を表示、`fixpoint apply` で作業ツリーに反映します。",
            )],
            Cause::AlreadySatisfied => vec![self.say(
                "If something is left to do, name a check that fails because of it with --until.",
                "残る仕事があれば、それで失敗するチェックを --until で指定してください。",
            )],
            Cause::BaselineUnusable => vec![
                self.say(
                    "Try the command in a fresh clone. Packages may be missing in the private workspace: \
                     `workspace.setup` installs them, `workspace.copy` brings ignored files such as .env; \
                     `fixpoint init` finds both.",
                    "新しいクローンで試してください。作業場所にパッケージがないなら `workspace.setup` で導入、\
                     無視ファイルは `workspace.copy`。`fixpoint init` が両方を見つけます。",
                ),
                self.say("`fixpoint logs` shows what the check printed.", "`fixpoint logs` でチェックの出力を表示。"),
            ],
            Cause::NotConverging if self.agent_failed() => vec![self.say(
                "The agent itself failed: `fixpoint logs --agent` shows what it said. Is it signed in, and may it edit \
                 files without asking?",
                "エージェント自体が失敗しています: `fixpoint logs --agent`。サインイン済みで、確認なしに編集できますか。",
            )],
            Cause::NotConverging | Cause::MaxIterations | Cause::ScopeViolation => {
                let read = self.say(
                    "Read the diagnosis (`fixpoint show`) and the best attempt (`fixpoint diff`).",
                    "診断 (`fixpoint show`) と最良の試行 (`fixpoint diff`) を見てください。",
                );
                let then = self.say(
                    "Then say more in the prompt, split the goal, or widen --allow, and begin again.",
                    "その上でプロンプトを詳しくする、目標を分ける、--allow を広げるなどして再開してください。",
                );
                let edits = self.say(
                    "If the tests, or what the goal runs, are meant to change: --allow-test-edits.",
                    "テストや目標の実行するファイルの変更が目的なら --allow-test-edits を付けてください。",
                );
                let hint = self.idle_hint().into_iter();
                hint.chain([read, then]).chain(self.is_weakened().then_some(edits)).collect()
            }
            Cause::AgentUnavailable => vec![self.after_unavailable()],
            Cause::Budget => vec![self.say(
                "`fixpoint resume --budget attempts=+3` goes on; so does `--budget time=+30m`.",
                "`fixpoint resume --budget attempts=+3` または `--budget time=+30m` で続行します。",
            )],
            Cause::Waiting | Cause::Infrastructure | Cause::Stopped => vec![self.say(
                "`fixpoint resume` goes on where it was, once the reason is gone.",
                "原因がなくなったら `fixpoint resume` で続行します。",
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

/// A number with its word, in the plural where it belongs.
pub fn counted(number: usize, word: &str) -> String {
    if number == 1 { format!("1 {word}") } else { format!("{number} {word}s") }
}

/// The beginning of what somebody said, on one line.
fn short(text: &str) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LONGEST {
        return line;
    }
    let cut: String = line.chars().take(LONGEST).collect();
    format!("{cut}…")
}
