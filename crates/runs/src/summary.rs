//! A run in one object: what `--json` prints and what people are shown.

use std::collections::BTreeSet;

use fixpoint_decide::goals::Proof;
use fixpoint_decide::progress::ProgressKind;
use fixpoint_decide::run::RunStatus;
use fixpoint_decide::task_run::Step;
use fixpoint_engine::JournalHeader;
use fixpoint_vocabulary::brief::Delivery;
use fixpoint_vocabulary::usage::{MicroUsd, Usage};
use fixpoint_vocabulary::work::{AgentEnd, ReportedFailure};
use fixpoint_vocabulary::{Cause, Lang, Text, counted};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::diagnosis::Diagnosis;
use crate::directory::RunDirectory;
use crate::history::{Iteration, TaskHistory};
use crate::phase_time::PhaseTime;
use crate::plan_summary::{PlanLine, TaskLine, plan_line, task_lines};
use crate::view::{RunView, TaskView};

/// How a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// A process works on it.
    Running,
    /// It waits for somebody; `resume` goes on.
    Paused,
    /// Its process is gone in the middle of the work; `resume` goes on.
    Interrupted,
    /// Everything asked for was done and shown.
    Done,
    /// It ended without that.
    Failed,
}

impl Status {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Interrupted => "interrupted",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }

    /// How a run stands, and whether somebody works on it.
    pub const fn of(standing: RunStatus, holder: Option<u32>) -> Self {
        match (standing, holder) {
            (RunStatus::Ended { cause: Cause::Done | Cause::AlreadySatisfied }, _) => Self::Done,
            (RunStatus::Ended { .. }, _) => Self::Failed,
            (RunStatus::Paused { .. }, None) => Self::Paused,
            (RunStatus::New | RunStatus::Working, None) => Self::Interrupted,
            (RunStatus::Paused { .. } | RunStatus::New | RunStatus::Working, Some(_)) => Self::Running,
        }
    }

    /// How one task stands.
    pub const fn of_task(step: Step) -> Self {
        match step {
            Step::Ended { cause: Cause::Done | Cause::AlreadySatisfied } => Self::Done,
            Step::Ended { .. } => Self::Failed,
            Step::Paused { .. } => Self::Paused,
            Step::New | Step::Working { .. } => Self::Interrupted,
        }
    }
}

/// A failure, for people and programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailureLine {
    /// What makes it the same from attempt to attempt.
    pub fingerprint: String,
    /// The test, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// What it said.
    pub message: String,
    /// Where, as `file:line`.
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

/// A path or a limit outside the scope.
pub type Violation = String;

/// One attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IterationLine {
    /// Its number, from 1.
    pub n: u32,
    /// The task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The stage it was made at.
    pub stage: u32,
    /// What it came to.
    pub progress: ProgressKind,
    /// Why that, in words.
    pub reason: String,
    /// What still stands in the way.
    pub new_failures: Vec<FailureLine>,
    /// What it changed outside the scope.
    pub scope_violations: Vec<Violation>,
    /// Failed before and fails now: tolerated.
    pub known: BTreeSet<String>,
    /// Known to fail sometimes: tolerated.
    pub flaky: BTreeSet<String>,
    /// Fails sometimes and never did before.
    pub newly_flaky: BTreeSet<String>,
    /// Passed before and is no longer run.
    pub vanished: BTreeSet<String>,
    /// The commit it came to.
    pub commit: String,
    /// Its tree.
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
    /// The agent's last words, which are no evidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_words: Option<String>,
    /// Tokens the agent says it used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Milliseconds the agent took.
    pub agent_ms: u64,
    /// Milliseconds the checks took.
    pub checks_ms: u64,
}

impl IterationLine {
    fn of(task: &TaskHistory, iteration: &Iteration, lang: Lang) -> Self {
        let judged = &iteration.judged;
        let attempt = iteration.attempt.as_ref();
        let end = |end: AgentEnd| match end {
            AgentEnd::Exited => "exited",
            AgentEnd::TimedOut => "timed_out",
            AgentEnd::CouldNotStart => "could_not_start",
            AgentEnd::Unavailable => "unavailable",
        };
        Self {
            n: iteration.number,
            task: Some(task.id.to_string()),
            stage: judged.stage,
            progress: judged.verdict.progress,
            reason: judged.verdict.reason.text.in_lang(lang).to_string(),
            new_failures: judged.failures.iter().map(FailureLine::from).collect(),
            scope_violations: judged.outside.clone(),
            known: texts(&judged.seen.known),
            flaky: texts(&judged.seen.flaky),
            newly_flaky: texts(&judged.seen.newly_flaky),
            vanished: texts(&judged.seen.vanished),
            commit: judged.commit.to_string(),
            tree: judged.attempt.tree.clone(),
            changed_files: attempt.map_or(0, |made| made.result.changed_files),
            changed_lines: attempt.map_or(0, |made| made.result.changed_lines),
            agent_end: attempt.map(|made| end(made.result.end).to_string()),
            exit_code: attempt.and_then(|made| made.result.exit_code),
            last_words: attempt.and_then(|made| made.result.last_words.as_ref().map(ToString::to_string)),
            tokens: attempt.and_then(|made| made.result.usage).map(|usage| usage.tokens()),
            agent_ms: attempt.map_or(0, |made| made.took_ms),
            checks_ms: iteration.checks.iter().map(|made| made.took_ms).sum(),
        }
    }
}

/// What a run cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cost {
    /// Attempts begun, those cut short included.
    pub attempts: u64,
    /// Commands that were cut short.
    pub interruptions: u32,
    /// Checks that ran, whole or in part.
    pub check_runs: u64,
    /// Seconds of work.
    pub seconds: u64,
    /// Tokens of agents and models, those out of a cache included, as far as they were told.
    #[serde(default)]
    pub tokens: u64,
    /// US dollars of agents and models, where anybody told a price. At least so many where only one of them did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
    /// The part of the agents.
    #[serde(default)]
    pub agents: Used,
    /// The part of the models that plan and judge.
    #[serde(default)]
    pub models: Used,
}

/// What was used, as far as it was told.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Used {
    /// Tokens, those out of a cache included.
    pub tokens: u64,
    /// US dollars, where a price was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
}

impl Used {
    fn of(usage: Usage) -> Self {
        Self { tokens: usage.tokens(), usd: usage.cost.map(MicroUsd::usd) }
    }

    /// Whether something was used and nobody said what it costs.
    const fn is_priceless(self) -> bool {
        self.tokens > 0 && self.usd.is_none()
    }
}

impl Cost {
    /// What a run cost so far.
    pub fn of(view: RunView<'_>) -> Self {
        let ledger = view.run.ledger();
        let used = ledger.models + ledger.agents;
        let (agents, models) = (Used::of(ledger.agents), Used::of(ledger.models));
        // That the one part is free says nothing about the whole while nobody knows the price of the other.
        let is_known = |cost: &MicroUsd| cost.0 > 0 || !(agents.is_priceless() || models.is_priceless());
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

    /// What models were paid for, in words; nothing where nothing is known.
    pub fn used(&self, lang: Lang) -> Option<String> {
        let tokens = (self.tokens > 0).then(|| grouped(self.tokens));
        // A few cents are worth their digits.
        let is_small = |usd: f64| usd > 0.0 && usd < 0.1;
        let usd = self.usd.map(|usd| if is_small(usd) { format!("${usd:.4}") } else { format!("${usd:.2}") });
        let is_partial = self.agents.is_priceless() || self.models.is_priceless();
        let parts = |of_tokens: fn(&str) -> String, at_least: &str, between: &str| {
            let tokens = tokens.iter().map(|tokens| of_tokens(tokens));
            let usd = usd.iter().map(|usd| if is_partial { format!("{at_least}{usd}") } else { usd.clone() });
            tokens.chain(usd).collect::<Vec<_>>().join(between)
        };
        let en = parts(|tokens| counted(tokens, "token"), "at least ", ", ");
        let ja = parts(|tokens| format!("{tokens}トークン"), "少なくとも", "、");
        let text = Text::new(format!("Used: {en}"), format!("使用: {ja}"));
        (tokens.is_some() || usd.is_some()).then(|| text.in_lang(lang).to_string())
    }
}

/// A number that can be read: `12,345`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A run in one object.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Its name.
    pub run: String,
    /// How it stands.
    pub status: Status,
    /// Why it ended or waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// The process that works on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// When it began, in milliseconds since 1970.
    pub began_ms: u64,
    /// When something was recorded last.
    pub latest_ms: u64,
    /// What a result rests on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
    /// The commit all attempts are compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The commit that is the result, or the best attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// The branch that holds the result; only where it is done.
    pub branch: Option<String>,
    /// Failed at the base every time.
    pub known_at_base: BTreeSet<String>,
    /// Failed at the base sometimes.
    pub flaky_at_base: BTreeSet<String>,
    /// The plan, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanLine>,
    /// The tasks, where there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<TaskLine>,
    /// The attempts.
    pub iterations: Vec<IterationLine>,
    /// What stood in the way of a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub obstacle: Option<String>,
    /// Why it did not get there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diagnosis: Option<Diagnosis>,
    /// What it cost.
    pub cost: Cost,
    /// How long it was in each of its phases.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<PhaseTime>,
    /// Where its files are.
    pub directory: String,
}

impl Summary {
    /// `holder` is the process that works on the run.
    pub fn of(
        directory: &RunDirectory,
        view: RunView<'_>,
        holder: Option<u32>,
        lang: Lang,
    ) -> Self {
        let (known_at_base, flaky_at_base) = view.first().map(TaskView::known_at_base).unwrap_or_default();
        let status = Status::of(view.run.status(), holder);
        let iterations = view.iterations().map(|(task, iteration)| IterationLine::of(task, iteration, lang));
        let diagnosed = view.stopped().filter(|_| status == Status::Failed);
        Self {
            run: directory.id.to_string(),
            status,
            cause: view.cause(),
            pid: holder,
            began_ms: view.history.began,
            latest_ms: view.history.latest,
            proof: view.proof(),
            base: view.base().map(|base| base.commit.to_string()),
            result: view.result().map(|commit| commit.to_string()),
            branch: view.run.delivered().and_then(|delivered| Some(delivered.branch.as_ref()?.name.clone())),
            known_at_base: texts(&known_at_base),
            flaky_at_base: texts(&flaky_at_base),
            iterations: iterations.collect(),
            plan: plan_line(view.run, lang),
            tasks: task_lines(view),
            obstacle: view.history.last_error.clone(),
            diagnosis: diagnosed.map(|task| Diagnosis::of(view.run, task, lang)),
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
    fn what_was_used_is_told_as_far_as_it_is_known() {
        let (agents, models) = (Used::default(), Used::default());
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
        let used = |tokens, usd, lang| Cost { tokens, usd, ..cost.clone() }.used(lang);
        assert_eq!(used(0, None, Lang::En), None);
        assert_eq!(used(999, None, Lang::En).as_deref(), Some("Used: 999 tokens"));
        assert_eq!(used(1_234_567, Some(0.125), Lang::En).as_deref(), Some("Used: 1,234,567 tokens, $0.12"));
        assert_eq!(used(0, Some(2.0), Lang::Ja).as_deref(), Some("使用: $2.00"));
        assert_eq!(used(1, Some(0.0), Lang::En).as_deref(), Some("Used: 1 token, $0.00"));
        assert_eq!(used(0, Some(0.0123), Lang::En).as_deref(), Some("Used: $0.0123"));
        assert_eq!(used(1000, None, Lang::Ja).as_deref(), Some("使用: 1,000トークン"));
        // An agent that tells no price may have cost anything.
        let agents = Used { tokens: 5, usd: None };
        let partial = Cost { tokens: 9, usd: Some(0.5), agents, ..cost };
        assert_eq!(partial.used(Lang::En).as_deref(), Some("Used: 9 tokens, at least $0.50"));
        assert_eq!(partial.used(Lang::Ja).as_deref(), Some("使用: 9トークン、少なくとも$0.50"));
    }
}
