//! `fixpoint logs`: what agents and checks printed; with `--follow` also what they are printing.
//!
//! Output of finished programs has no credentials in it. That of a running one may, so it is redacted line by line. What a
//! terminal would obey is printed only with `--raw`, and never to a terminal.

mod follow;

use std::path::PathBuf;

use fixpoint_decide::run::{Owner, TaskSource};
use fixpoint_decide::task_run::{TaskActivity, TaskStatus};
use fixpoint_execute::{LogState, agent_log, check_log};
use fixpoint_runs::{FinishedChecks, LoadedRun};
use fixpoint_vocabulary::work::{CheckReport, Command, CommandId};
use fixpoint_vocabulary::{Lang, TaskId};
use serde_json::{Value, json};

use super::results::find;
use crate::app_context::AppContext;
use crate::arguments::LogsArguments;
use crate::failure::Failure;
use crate::language::say;
use crate::output::{Form, Output};
use crate::terminal_text::harmless_output;

/// A file with output.
#[derive(Debug, Clone)]
struct Log {
    /// Only in a run with a plan.
    task: Option<TaskId>,
    /// 0 for the checks at the base.
    attempt: u32,
    /// The name of the check; `None` for the agent.
    check: Option<String>,
    path: PathBuf,
}

impl Log {
    fn name(&self) -> &str {
        self.check.as_deref().unwrap_or("agent")
    }

    fn is_wanted(&self, arguments: &LogsArguments) -> bool {
        let of_kind = match (arguments.agent, arguments.checks) {
            (true, _) => self.check.is_none(),
            (false, true) => self.check.is_some(),
            (false, false) => true,
        };
        of_kind && arguments.attempt.is_none_or(|attempt| attempt == self.attempt)
    }

    fn heading(&self, lang: Lang) -> String {
        let task = self.task.as_ref().map(|task| format!("[{task}] ")).unwrap_or_default();
        let (attempt, name) = (self.attempt, self.name());
        say(lang, format!("== {task}attempt {attempt}: {name}"), format!("== {task}試行{attempt}: {name}"))
    }
}

pub(crate) fn run(arguments: &LogsArguments, app: &AppContext, output: &mut Output) -> Result<(), Failure> {
    if arguments.raw && output.is_terminal() {
        return Err(Failure::BadInput(
            "--raw prints control sequences, which could change your terminal; write to a file: fixpoint logs --raw > FILE"
                .into(),
        ));
    }
    let found = find(&arguments.target.run, app)?;
    if arguments.follow {
        return follow::follow(&found.run, arguments, app, output);
    }
    let all = finished_logs(&found.run);
    let last = all.iter().map(|log| log.attempt).max().unwrap_or(0).max(found.last_attempt());
    if let Some(number) = arguments.attempt.filter(|number| *number > last) {
        return Err(found.no_attempt(number));
    }
    let wanted: Vec<&Log> = all.iter().filter(|log| log.is_wanted(arguments)).collect();
    if wanted.is_empty() {
        explain_nothing(&found.run, arguments, app);
    }
    for log in &wanted {
        let state = log.state()?;
        match Form::from(arguments.target.json) {
            Form::Json => output.json(&log.as_json(state))?,
            Form::Text => log.print(state, arguments, app, output)?,
        }
    }
    found.run.require_whole()?;
    require_intact(wanted)
}

/// Fails if output is not what was written, and names the files.
fn require_intact<'a>(logs: impl IntoIterator<Item = &'a Log>) -> Result<(), Failure> {
    let mut damaged = Vec::new();
    for log in logs {
        let path = log.path.display().to_string();
        damaged.extend((log.state()? == LogState::Damaged).then_some(path));
    }
    match damaged.as_slice() {
        [] => Ok(()),
        paths => Err(Failure::Damaged(format!("damaged output: {}", paths.join(", ")))),
    }
}

impl Log {
    fn state(&self) -> Result<LogState, Failure> {
        LogState::of(&self.path).map_err(|source| Failure::Unreadable { path: self.path.clone(), source })
    }

    fn as_json(&self, state: LogState) -> Value {
        let mut line = json!({
            "attempt": self.attempt,
            "of": self.name(),
            "path": self.path.to_string_lossy(),
            "damaged": state == LogState::Damaged,
        });
        if let (Some(task), Some(line)) = (&self.task, line.as_object_mut()) {
            line.insert("task".to_string(), task.as_str().into());
        }
        line
    }

    fn print(
        &self,
        state: LogState,
        arguments: &LogsArguments,
        app: &AppContext,
        output: &mut Output,
    ) -> Result<(), Failure> {
        let content = std::fs::read(&self.path)
            .map_err(|source| Failure::Unreadable { path: self.path.clone(), source })?;
        if arguments.raw {
            return output.bytes(&content);
        }
        output.line(&self.heading(app.lang))?;
        match state {
            LogState::Intact => {}
            LogState::Unfinished => app.notice(
                "this output has no checksum, because its program was interrupted; damage would not be noticed",
                "この出力は、プログラムが中断されたためチェックサムがありません。破損していても検出できません",
            ),
            LogState::Damaged => output.line(&say(
                app.lang,
                "(damaged: this is not what was written)",
                "（破損: 書き込まれた内容と異なります）",
            ))?,
        }
        let text = harmless_output(&content);
        output.text(&text)?;
        if text.ends_with('\n') { Ok(()) } else { output.line("") }
    }
}

fn explain_nothing(run: &LoadedRun, arguments: &LogsArguments, app: &AppContext) {
    let history = run.view().history;
    let is_cached =
        !history.base_checks.is_empty() || history.tasks.iter().any(|task| !task.baseline.is_empty());
    if arguments.attempt == Some(0) && is_cached {
        app.notice(
            "no output: the baseline was cached, so the checks were not run before the first attempt",
            "出力はありません（保存済みのベースラインを使ったため、最初の試行の前にチェックを実行していません）",
        );
    } else {
        app.notice(
            "no output: nothing was printed, or the files were deleted",
            "出力はありません（何も出力されていないか、ファイルが削除されています）",
        );
    }
}

fn check_name(run: &LoadedRun, number: u32) -> String {
    let placed = run.view().run.checks().get(number as usize);
    placed.map_or_else(|| number.to_string(), |placed| placed.check.name.clone())
}

/// The task to name in a heading: none where there is only one.
fn named(run: &LoadedRun, task: &TaskId) -> Option<TaskId> {
    match run.view().run.options().tasks {
        TaskSource::Given(_) => None,
        TaskSource::Planned(_) => Some(task.clone()),
    }
}

/// Every log of a finished program that exists, in the order of the run.
fn finished_logs(run: &LoadedRun) -> Vec<Log> {
    let outputs = run.directory.outputs();
    let view = run.view();
    let of_checks = |task: Option<TaskId>, attempt: u32, checks: &FinishedChecks| -> Vec<Log> {
        let numbered = checks.reports.iter().enumerate();
        let log = |(call, report): (usize, &CheckReport)| Log {
            task: task.clone(),
            attempt,
            check: Some(check_name(run, report.check)),
            path: check_log(&outputs, checks.command, call),
        };
        numbered.map(log).collect()
    };
    let base_checks = view.history.base_checks.iter().flat_map(|checks| of_checks(None, 0, checks));
    let mut logs: Vec<Log> = base_checks.collect();
    for task in &view.history.tasks {
        let name = named(run, &task.id);
        let agent = |attempt: u32, command: CommandId| {
            let path = agent_log(&outputs, command);
            Log { task: name.clone(), attempt, check: None, path }
        };
        logs.extend(task.baseline.iter().flat_map(|checks| of_checks(name.clone(), 0, checks)));
        for made in &task.iterations {
            logs.extend(made.attempt.as_ref().map(|attempt| agent(made.number, attempt.command)));
            logs.extend(made.checks.iter().flat_map(|checks| of_checks(name.clone(), made.number, checks)));
        }
        logs.extend(
            task.open_attempt().map(|attempt| agent(next_attempt(task.iterations.len()), attempt.command)),
        );
    }
    logs.retain(|log| log.path.is_file());
    logs
}

fn next_attempt(judged: usize) -> u32 {
    u32::try_from(judged).unwrap_or(u32::MAX).saturating_add(1)
}

/// The logs of the programs that run now, as far as they have printed anything.
fn running_logs(run: &LoadedRun) -> Vec<Log> {
    let outputs = run.directory.outputs();
    let view = run.view();
    let mut logs = Vec::new();
    for (id, owner, command) in view.run.in_flight() {
        let task = match owner {
            Owner::Task(task) => Some(task),
            Owner::BaseChecks
            | Owner::Merge(_)
            | Owner::Planning
            | Owner::PlanReview
            | Owner::Replan(_)
            | Owner::FinalProof
            | Owner::FinalReview
            | Owner::Reflection(_)
            | Owner::Delivery => None,
        };
        let name = task.and_then(|task| named(run, task));
        if let Command::RunAttempt(order) = command {
            let path = agent_log(&outputs, id);
            logs.push(Log { task: name, attempt: order.number, check: None, path });
        } else if let Command::RunChecks(checks) = command {
            let attempt = task.map_or(0, |task| attempt_checked(run, task));
            let log = |(call, asked): (usize, &fixpoint_vocabulary::work::CheckCall)| Log {
                task: name.clone(),
                attempt,
                check: Some(check_name(run, asked.check)),
                path: check_log(&outputs, id, call),
            };
            logs.extend(checks.calls.iter().enumerate().map(log));
        }
    }
    logs.retain(|log| log.path.is_file());
    logs
}

/// The attempt whose checks run; 0 for those at the base.
fn attempt_checked(run: &LoadedRun, task: &TaskId) -> u32 {
    let view = run.view();
    let judged = view.history.task(task).map_or(0, |task| task.iterations.len());
    match view.run.task(task).map(|node| node.status()) {
        Some(TaskStatus::Working { activity: TaskActivity::TakingBase | TaskActivity::Baseline }) => 0,
        Some(_) | None => next_attempt(judged),
    }
}
