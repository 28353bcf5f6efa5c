//! A run in one object, as `--json` prints it.

use std::collections::BTreeSet;

use fixpoint_decide::goals::Proof;
use fixpoint_decide::progress::ProgressKind;
use fixpoint_decide::run::RunStatus;
use fixpoint_decide::task_run::{TaskStatus, described};
use fixpoint_vocabulary::usage::{MicroUsd, Usage};
use fixpoint_vocabulary::work::ReportedFailure;
use fixpoint_vocabulary::{Cause, Lang, counted, grouped};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base_report::implied_goals;
use crate::damage::RunDamage;
use crate::diagnosis::Diagnosis;
use crate::directory::RunDirectory;
use crate::history::{Iteration, TaskHistory};
use crate::phase_time::PhaseTime;
use crate::plan_summary::{PlanLine, TaskLine, plan_line, task_lines};
use crate::view::RunView;
use crate::words::{json_name, say};

/// The state of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// A process is working on it.
    Running,
    /// It waits for a person; `resume` continues it.
    Paused,
    /// Its process died in the middle of the work; `resume` continues it.
    Interrupted,
    /// Done, with proof, or there was nothing to do.
    Done,
    /// It ended without a proven result; the cause says why.
    Failed,
    /// Records are not what was written, so how it ended is not known.
    Damaged,
}

impl Status {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Interrupted => "interrupted",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Damaged => "damaged",
        }
    }

    /// `holder` is the process that works on the run.
    pub const fn of(status: RunStatus, holder: Option<u32>) -> Self {
        match (status, holder) {
            (RunStatus::Ended { cause: Cause::Done | Cause::AlreadySatisfied }, _) => Self::Done,
            (RunStatus::Ended { .. }, _) => Self::Failed,
            (RunStatus::Paused { .. }, None) => Self::Paused,
            (RunStatus::New | RunStatus::Working, None) => Self::Interrupted,
            (RunStatus::Paused { .. } | RunStatus::New | RunStatus::Working, Some(_)) => Self::Running,
        }
    }

    /// A task that is neither paused nor over counts as interrupted: whether a process works on it is not known here.
    pub const fn of_task(status: TaskStatus) -> Self {
        match status {
            TaskStatus::Ended { cause: Cause::Done | Cause::AlreadySatisfied } => Self::Done,
            TaskStatus::Ended { .. } => Self::Failed,
            TaskStatus::Paused { .. } => Self::Paused,
            TaskStatus::New | TaskStatus::Working { .. } => Self::Interrupted,
        }
    }
}

/// One failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailureLine {
    /// Identifies the same failure in different attempts.
    pub fingerprint: String,
    /// The name of the test, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// The message.
    pub message: String,
    /// Its location, as `file:line`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

impl From<&ReportedFailure> for FailureLine {
    fn from(failure: &ReportedFailure) -> Self {
        Self {
            fingerprint: failure.fingerprint().to_string(),
            test: failure.test().map(ToString::to_string),
            message: failure.message.to_string(),
            place: failure.place.clone(),
        }
    }
}

/// Names as they are published, sorted.
pub fn texts<T: ToString>(names: impl IntoIterator<Item = T>) -> BTreeSet<String> {
    names.into_iter().map(|name| name.to_string()).collect()
}

/// One attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IterationLine {
    /// The number of the attempt in its task, from 1.
    pub n: u32,
    /// The id of the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The stage of the convergence controller during the attempt.
    pub stage: u32,
    /// How it compares with the attempts before it.
    pub progress: ProgressKind,
    /// The reason for the decision after it, in words.
    pub reason: String,
    /// Failures that must be gone before the task is done.
    pub new_failures: Vec<FailureLine>,
    /// Changed paths and exceeded limits out of scope.
    pub scope_violations: Vec<String>,
    /// Failed at the base and still fail; tolerated.
    pub known: BTreeSet<String>,
    /// Failed at the base sometimes; tolerated.
    pub flaky: BTreeSet<String>,
    /// Fail sometimes, and never did at the base.
    pub newly_flaky: BTreeSet<String>,
    /// Passed at the base and are no longer run.
    pub vanished: BTreeSet<String>,
    /// The commit with its changes.
    pub commit: String,
    /// The tree of that commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    /// Files that differ from the base.
    pub changed_files: u64,
    /// Lines that differ from the base.
    pub changed_lines: u64,
    /// How the agent ended: `exited`, `timed_out`, `could_not_start`, `unavailable`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_end: Option<String>,
    /// The agent's exit code, if it ended by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Tests, and files that decide what the checks do, that the attempt changed: `conftest.py (added)`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub protected_changes: Vec<String>,
    /// The last message of the agent; it is not evidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_words: Option<String>,
    /// Tokens, as the agent reports them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Milliseconds that the agent ran.
    pub agent_ms: u64,
    /// Milliseconds that the checks ran.
    pub checks_ms: u64,
}

impl IterationLine {
    fn of(task: &TaskHistory, iteration: &Iteration, lang: Lang) -> Self {
        let judged = &iteration.judged;
        let attempt = iteration.attempt.as_ref();
        Self {
            n: iteration.number,
            task: Some(task.id.to_string()),
            stage: judged.stage,
            progress: judged.verdict.progress,
            reason: judged.verdict.reason.text.in_lang(lang).to_string(),
            new_failures: judged.failures.iter().map(FailureLine::from).collect(),
            scope_violations: judged.outside.clone(),
            protected_changes: attempt
                .iter()
                .flat_map(|made| &made.result.protected)
                .map(described)
                .collect(),
            known: texts(&judged.comparison.known),
            flaky: texts(&judged.comparison.flaky),
            newly_flaky: texts(&judged.comparison.newly_flaky),
            vanished: texts(&judged.comparison.vanished),
            commit: judged.commit.to_string(),
            tree: judged.attempt.tree.clone(),
            changed_files: attempt.map_or(0, |made| made.result.changed_files),
            changed_lines: attempt.map_or(0, |made| made.result.changed_lines),
            agent_end: attempt.map(|made| json_name(&made.result.end)),
            exit_code: attempt.and_then(|made| made.result.exit_code),
            last_words: attempt.and_then(|made| made.result.last_words.as_ref().map(ToString::to_string)),
            tokens: attempt.and_then(|made| made.result.usage).map(|usage| usage.tokens()),
            agent_ms: attempt.map_or(0, |made| made.took_ms),
            checks_ms: iteration.checks.iter().map(|made| made.took_ms).sum(),
        }
    }
}

/// What a run used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cost {
    /// Attempts started, including interrupted ones.
    pub attempts: u64,
    /// Commands that a crash or a stop interrupted.
    pub interruptions: u32,
    /// Check runs, including partial ones.
    pub check_runs: u64,
    /// Seconds of work.
    pub seconds: u64,
    /// Tokens of agents and models, including cached ones, as far as they are reported.
    #[serde(default)]
    pub tokens: u64,
    /// US dollars of agents and models, where a price is known; a lower bound where only one of them has a price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
    /// Usage by agents.
    #[serde(default)]
    pub agents: UsageLine,
    /// Usage by the models that plan and judge.
    #[serde(default)]
    pub models: UsageLine,
}

/// Tokens and money, as far as they are reported.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct UsageLine {
    /// Tokens, including cached ones.
    pub tokens: u64,
    /// US dollars, where a price is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
}

impl UsageLine {
    fn of(usage: Usage) -> Self {
        Self { tokens: usage.tokens(), usd: usage.cost.map(MicroUsd::usd) }
    }

    /// Whether tokens were used whose price is unknown.
    const fn has_unknown_price(self) -> bool {
        self.tokens > 0 && self.usd.is_none()
    }
}

impl Cost {
    pub fn of(view: RunView<'_>) -> Self {
        let ledger = view.run.ledger();
        let used = ledger.models + ledger.agents;
        let (agents, models) = (UsageLine::of(ledger.agents), UsageLine::of(ledger.models));
        // If one part is free and the price of the other is unknown, the price of both is unknown.
        let is_known =
            |cost: &MicroUsd| cost.0 > 0 || !(agents.has_unknown_price() || models.has_unknown_price());
        Self {
            agents,
            models,
            attempts: ledger.spent().attempts,
            interruptions: view.history.interruptions,
            check_runs: view.history.check_runs,
            seconds: ledger.seconds(),
            tokens: used.tokens(),
            usd: used.cost.filter(is_known).map(MicroUsd::usd),
        }
    }

    /// In words; `None` where neither tokens nor a price are known.
    pub fn used(&self, lang: Lang) -> Option<String> {
        let tokens = (self.tokens > 0).then(|| grouped(self.tokens));
        // A few cents are worth their digits.
        let is_small = |usd: f64| usd > 0.0 && usd < 0.1;
        let usd = self.usd.map(|usd| if is_small(usd) { format!("${usd:.4}") } else { format!("${usd:.2}") });
        let is_partial = self.agents.has_unknown_price() || self.models.has_unknown_price();
        let parts = |of_tokens: fn(&str) -> String, at_least: &str, between: &str| {
            let tokens = tokens.iter().map(|tokens| of_tokens(tokens));
            let usd = usd.iter().map(|usd| if is_partial { format!("{at_least}{usd}") } else { usd.clone() });
            tokens.chain(usd).collect::<Vec<_>>().join(between)
        };
        let en = parts(|tokens| counted(tokens, "token"), "at least ", ", ");
        let ja = parts(|tokens| format!("{tokens}トークン"), "少なくとも", "、");
        (tokens.is_some() || usd.is_some()).then(|| say(lang, format!("Used: {en}"), format!("使用: {ja}")))
    }
}

/// A run in one object.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// The name of the run.
    pub run: String,
    /// The state of the run.
    pub status: Status,
    /// What is wrong with the records. Everything else is from those before the damage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damage: Option<RunDamage>,
    /// Why it ended or is paused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// The process that works on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// When it started, in milliseconds since 1970.
    pub began_ms: u64,
    /// When the last record was written, in milliseconds since 1970.
    pub latest_ms: u64,
    /// What proves the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
    /// The tests, and the files that decide what the checks do, that the result changes with permission.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub permitted_changes: Vec<String>,
    /// The commit that all attempts are compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The commit of the result, or of the best attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// The branch with the result.
    pub branch: Option<String>,
    /// Failures that occurred in every run at the base.
    pub known_at_base: BTreeSet<String>,
    /// Failures that occurred in some runs at the base.
    pub flaky_at_base: BTreeSet<String>,
    /// The checks that are the goal of `run`, because no goal was given and every test of theirs fails at the base.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub implied_goals: Vec<String>,
    /// The plan, of `run` and `plan`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanLine>,
    /// The tasks of the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<TaskLine>,
    /// All judged attempts.
    pub iterations: Vec<IterationLine>,
    /// The error of the last command that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub obstacle: Option<String>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diagnosis: Option<Diagnosis>,
    /// What it used.
    pub cost: Cost,
    /// How long each phase took.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<PhaseTime>,
    /// The directory with its files.
    pub directory: String,
}

impl Summary {
    /// `holder` is the process that works on the run.
    pub fn of(directory: &RunDirectory, view: RunView<'_>, holder: Option<u32>, lang: Lang) -> Self {
        let (known_at_base, flaky_at_base) = view.known_at_base();
        let status = Status::of(view.run.status(), holder);
        let iterations = view.iterations().map(|(task, iteration)| IterationLine::of(task, iteration, lang));
        let diagnosed = view.stopped().filter(|_| status == Status::Failed);
        Self {
            run: directory.id.to_string(),
            status,
            damage: None,
            cause: view.cause(),
            pid: holder,
            began_ms: view.history.began,
            latest_ms: view.history.latest,
            proof: view.proof(),
            permitted_changes: view.permitted_changes(),
            base: view.base().map(|base| base.commit.to_string()),
            result: view.result().map(|commit| commit.to_string()),
            branch: view.run.delivered().and_then(|delivered| Some(delivered.branch.as_ref()?.name.clone())),
            known_at_base: texts(&known_at_base),
            flaky_at_base: texts(&flaky_at_base),
            implied_goals: implied_goals(view.run),
            iterations: iterations.collect(),
            plan: plan_line(view.run, lang),
            tasks: task_lines(view),
            obstacle: view.history.last_error.clone(),
            diagnosis: diagnosed.map_or_else(
                || Diagnosis::of_base(view, lang),
                |task| Some(Diagnosis::of(view.run, task, lang)),
            ),
            cost: Cost::of(view),
            phases: view.history.times.lines(),
            directory: directory.path.to_string_lossy().into_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_in_words() {
        let (agents, models) = (UsageLine::default(), UsageLine::default());
        let cost = Cost {
            attempts: 1,
            interruptions: 0,
            check_runs: 0,
            seconds: 0,
            tokens: 0,
            usd: None,
            agents,
            models,
        };
        let table = [
            ("nothing known", 0, None, Lang::En, None),
            ("tokens", 999, None, Lang::En, Some("Used: 999 tokens")),
            ("one token", 1, Some(0.0), Lang::En, Some("Used: 1 token, $0.00")),
            ("large numbers", 1_234_567, Some(0.125), Lang::En, Some("Used: 1,234,567 tokens, $0.12")),
            ("money", 0, Some(2.0), Lang::Ja, Some("使用: $2.00")),
            ("a few cents", 0, Some(0.0123), Lang::En, Some("Used: $0.0123")),
            ("tokens in Japanese", 1000, None, Lang::Ja, Some("使用: 1,000トークン")),
        ];
        for (name, tokens, usd, lang, expected) in table {
            let words = Cost { tokens, usd, ..cost.clone() }.used(lang);
            assert_eq!(words.as_deref(), expected, "{name}");
        }
        // An agent that reports no price may have cost anything.
        let agents = UsageLine { tokens: 5, usd: None };
        let partial = Cost { tokens: 9, usd: Some(0.5), agents, ..cost };
        assert_eq!(partial.used(Lang::En).as_deref(), Some("Used: 9 tokens, at least $0.50"));
        assert_eq!(partial.used(Lang::Ja).as_deref(), Some("使用: 9トークン、少なくとも$0.50"));
    }
}
