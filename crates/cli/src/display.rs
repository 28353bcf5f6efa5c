//! Progress on standard error: lines that stay, and in a terminal a live view of a few lines that are redrawn.
//!
//! Owns standard error while a run goes on. A colour never means anything that no word says.

mod board;
mod details;
mod drawing;
mod run_lines;
mod words;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use fixpoint_consult::AskProgress;
use fixpoint_decide::progress::ProgressKind;
use fixpoint_decide::run::{Change, PlanReviewChange, Run, TaskSource};
use fixpoint_decide::task_run::{Decision, TaskActivity, TaskStatus};
use fixpoint_engine::Record;
use fixpoint_execute::{Progress, ProgressListener};
use fixpoint_runs::{FailureWords, Iteration, RunView, TaskView, scope_words};
use fixpoint_vocabulary::work::{Command, Event};
use fixpoint_vocabulary::{Lang, TaskId, counted};

use self::board::Board;
use self::drawing::Drawing;
pub(crate) use self::run_lines::{dependency_words, score_words};
use self::words::{Words, clock};
use crate::app_context::{Paint, Screen};
use crate::cost::Forecast;
use crate::terminal_text::harmless;

/// How often the live view is redrawn.
const TICK: Duration = Duration::from_millis(250);

/// Which lines are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verbosity {
    Everything,
    /// Only what a person would not expect: `fixpoint check` prints its result at the end.
    Notices,
    /// `--verbose`: everything, and each command, how long it took, and why the next one follows.
    Details,
}

#[derive(Debug, Clone)]
pub(crate) struct Speaker(Arc<Mutex<Drawing>>);

impl Speaker {
    pub(crate) fn say(&self, line: &str) {
        lock(&self.0).notice(line);
    }
}

#[derive(Debug)]
pub(crate) struct Display {
    words: Words,
    verbosity: Verbosity,
    title: String,
    forecast: Option<Forecast>,
    drawing: Arc<Mutex<Drawing>>,
    ended: Arc<AtomicBool>,
    ticker: Option<JoinHandle<()>>,
}

impl Display {
    pub(crate) fn new(
        (screen, lang): (Screen, Lang),
        verbosity: Verbosity,
        title: &str,
        max_iterations: u32,
    ) -> Self {
        let words = Words(lang);
        let drawing = Arc::new(Mutex::new(Drawing::new(screen, words, verbosity, title, max_iterations)));
        let ended = Arc::new(AtomicBool::new(false));
        let ticker = matches!(screen, Screen::Live(_)).then(|| {
            let (drawing, ended) = (Arc::clone(&drawing), Arc::clone(&ended));
            std::thread::spawn(move || {
                while !ended.load(Ordering::Acquire) {
                    std::thread::park_timeout(TICK);
                    lock(&drawing).draw();
                }
            })
        });
        Self { words, verbosity, title: title.to_string(), forecast: None, drawing, ended, ticker }
    }

    /// Shows what a run is expected to use as soon as its plan is known.
    pub(crate) fn with_forecast(mut self, forecast: Option<Forecast>) -> Self {
        self.forecast = forecast;
        self
    }

    pub(crate) fn progress_listener(&self) -> Arc<dyn ProgressListener> {
        Arc::new(ExecutorProgress { drawing: Arc::clone(&self.drawing), words: self.words, task: None })
    }

    /// Shows what was just recorded; `view` is the run after it.
    pub(crate) fn record(&self, record: &Record, view: RunView<'_>) {
        let mut drawing = lock(&self.drawing);
        if matches!(record.event, Event::StopRequested) {
            drawing.notice(&self.words.say(
                "stopping; press Ctrl-C again to stop immediately",
                "停止しています。もう一度 Ctrl-C を押すと直ちに終了します",
            ));
        }
        if self.verbosity == Verbosity::Details {
            details::lines(record, view, self.words.0).iter().for_each(|line| drawing.line(line));
        }
        let is_planned = matches!(view.run.options().tasks, TaskSource::Planned(_));
        if is_planned {
            self.record_of_plan(&mut drawing, record, view);
            return;
        }
        for (id, decision) in record.decision.task_decisions() {
            if let Some(task) = view.task(id) {
                show_task(&mut drawing, view.run, task, decision, self.words);
            }
        }
    }

    /// In a run of several tasks every line names its task, and the board is below.
    fn record_of_plan(&self, drawing: &mut Drawing, record: &Record, view: RunView<'_>) {
        for change in &record.decision.changes {
            if let Some((task, decision)) = change.task_decision() {
                let iteration = view.history.task(task).and_then(|task| task.iterations.last());
                if let (Some(iteration), Some(_)) = (iteration, &decision.judged) {
                    let line = iteration_line(iteration, drawing.paint(), self.words);
                    drawing.line(&format!("[{task}] {line}"));
                    failure_lines(iteration, view.run, self.words).iter().for_each(|line| drawing.line(line));
                }
            }
            run_lines::lines_of(change, view, self.words).iter().for_each(|line| drawing.line(line));
            if let Change::PlanReview(PlanReviewChange::Accepted { .. }) = change {
                let forecast = self.forecast.as_ref();
                let line = forecast.and_then(|forecast| forecast.line_with_plan(view.run, self.words.0));
                line.iter().for_each(|line| drawing.line(line));
            }
        }
        for (_, owner, command) in record.decision.commands(0) {
            if let Some(doing) = run_lines::doing(&owner, command, self.words) {
                drawing.doing(&doing);
            }
        }
        let mut in_flight = view.run.in_flight();
        if !in_flight.any(|(_, owner, command)| run_lines::doing(owner, command, self.words).is_some()) {
            drawing.rest();
        }
        drawing.set_board(Board::of(&self.title, view, self.words));
    }

    /// Shows questions to models and the words of their answers.
    pub(crate) fn ask_progress(&self) -> Box<dyn Fn(AskProgress<'_>) + Send + Sync> {
        let (drawing, words) = (Arc::clone(&self.drawing), self.words);
        Box::new(move |progress| match progress {
            AskProgress::Started(asked) => {
                let line = harmless(&words.question(asked.about, asked.model, asked.tokens)).into_owned();
                let mut drawing = lock(&drawing);
                drawing.doing(&line);
                drawing.plain_line(&line);
                for omission in asked.omissions {
                    drawing.plain_line(&harmless(&words.omission(omission)));
                }
            }
            AskProgress::Text(text) => lock(&drawing).last_line(None, text),
        })
    }

    pub(crate) fn speaker(&self) -> Speaker {
        Speaker(Arc::clone(&self.drawing))
    }

    /// What the demo explains.
    pub(crate) fn comment(&self, line: &str) {
        let mut drawing = lock(&self.drawing);
        match drawing.paint() {
            Paint::Colors => drawing.line(&format!("\u{1b}[36m{line}\u{1b}[0m")),
            Paint::Plain => drawing.line(line),
        }
    }

    pub(crate) fn line(&self, line: &str) {
        lock(&self.drawing).line(&harmless(line));
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Release);
        if let Some(ticker) = self.ticker.take() {
            ticker.thread().unpark();
            drop(ticker.join());
        }
        lock(&self.drawing).clear();
    }
}

fn lock(drawing: &Mutex<Drawing>) -> MutexGuard<'_, Drawing> {
    drawing.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Debug)]
struct ExecutorProgress {
    drawing: Arc<Mutex<Drawing>>,
    words: Words,
    /// `None` in a run of one task.
    task: Option<TaskId>,
}

impl ProgressListener for ExecutorProgress {
    fn for_task(&self, task: &TaskId) -> Option<Arc<dyn ProgressListener>> {
        Some(Arc::new(Self {
            drawing: Arc::clone(&self.drawing),
            words: self.words,
            task: Some(task.clone()),
        }))
    }

    fn report(&self, progress: Progress<'_>) {
        let mut drawing = lock(&self.drawing);
        let (task, words) = (self.task.as_ref(), self.words);
        match progress {
            Progress::UncommittedWork => drawing.line(&words.say(
                "starting from your working tree, including uncommitted changes",
                "未コミットの変更を含む作業ツリーから開始します",
            )),
            Progress::SubmodulesLeftOut(paths) => drawing.line(&words.label(
                "submodules are not copied into workspaces",
                "サブモジュールはワークスペースにコピーされません",
                harmless(paths),
            )),
            Progress::NestedRepositoriesLeftOut(paths) => drawing.line(&words.label(
                "untracked repositories are not copied into workspaces",
                "未追跡のリポジトリはワークスペースにコピーされません",
                harmless(paths),
            )),
            Progress::SettingUp(command) => {
                drawing.line(&words.label("setup", "セットアップ", harmless(command)))
            }
            Progress::Checking(name) => {
                drawing.doing_for(task, &words.label("running check", "チェックを実行中", harmless(name)));
            }
            Progress::CachedBaseline { check, age } => {
                drawing.line(&words.cached_baseline(&harmless(check), age));
            }
            Progress::AgentStarts => {
                drawing.doing_for(task, &words.say("agent working", "エージェント作業中"));
            }
            Progress::Line(line) => drawing.last_line(task, line),
            Progress::Usage(usage) => drawing.used(task, usage),
            Progress::Notice(notice) => drawing.notice(&harmless(notice.in_lang(words.0))),
            Progress::AgentNotice(notice) => {
                drawing.notice(&words.label("agent", "エージェント", harmless(notice)));
            }
        }
    }
}

/// Shows a decision in a run of one task.
fn show_task(drawing: &mut Drawing, run: &Run, task: TaskView<'_>, decision: &Decision, words: Words) {
    if let (Some(judged), Some(iteration)) = (&decision.judged, task.history.iterations.last()) {
        drawing.judged(judged.verdict.progress, judged.failures.len(), &judged.comparison);
        let line = iteration_line(iteration, drawing.paint(), words);
        drawing.line(&line);
        failure_lines(iteration, run, words).iter().for_each(|line| drawing.line(line));
    }
    match &decision.command {
        Some(Command::TakeBase) => drawing.doing(&words.taking_snapshot()),
        Some(Command::RunChecks(_)) => drawing.doing(&match decision.status {
            TaskStatus::Working { activity: TaskActivity::Baseline } => words.checking_base(),
            TaskStatus::Working { .. }
            | TaskStatus::New
            | TaskStatus::Paused { .. }
            | TaskStatus::Ended { .. } => words.say("running the checks", "チェックを実行中"),
        }),
        Some(Command::RunAttempt(order)) => {
            if order.number == 1 && task.history.iterations.is_empty() {
                drawing.line(&baseline_line(task, words));
            }
            drawing.attempt(order.number, order.stage);
            let (number, stage) = (order.number, order.stage);
            drawing.plain_line(&words.say(
                format!("attempt {number} started (stage {stage})"),
                format!("試行{number}を開始（ステージ{stage}）"),
            ));
        }
        Some(Command::RestorePaths(_)) => drawing.doing(&words.say("restoring files", "ファイルを復元中")),
        Some(Command::Ask(ask)) => drawing.doing(&words.asking(ask.about.role())),
        Some(
            Command::Merge(_)
            | Command::FindProtected(_)
            | Command::AskPerson(_)
            | Command::FindCachedPlan
            | Command::StorePlan
            | Command::Deliver(_),
        )
        | None => {}
    }
}

fn baseline_line(task: TaskView<'_>, words: Words) -> String {
    let (known, flaky) = task.known_at_base();
    let passed: u64 = task.task.baseline().checks.values().map(|check| check.counted).sum();
    words.baseline(known.len(), flaky.len(), passed)
}

/// Failures that are listed after an attempt.
const MOST_NAMED: usize = 3;

fn failure_lines(iteration: &Iteration, run: &Run, words: Words) -> Vec<String> {
    let judged = &iteration.judged;
    let named = judged.failures.iter().take(MOST_NAMED).map(|failure| {
        let mut told = FailureWords::of(failure, run, words.0);
        told.said = told.said.chars().filter(|letter| !letter.is_control()).take(90).collect();
        format!("  ✗ {}", harmless(&told.line()))
    });
    let mut lines: Vec<String> = named.collect();
    if judged.failures.len() > MOST_NAMED {
        let more = judged.failures.len() - MOST_NAMED;
        lines.push(words.say(format!("  … and {more} more"), format!("  … 他{more}件")));
    }
    let outside = judged.outside.iter().take(MOST_NAMED);
    let outside = outside.map(|entry| scope_words(entry, iteration, run, words.0));
    let outside = outside.map(|entry| harmless(&entry).into_owned());
    lines.extend(outside.map(|entry| words.label("  ✗ out of scope", "  ✗ 範囲外", entry)));
    lines
}

fn iteration_line(iteration: &Iteration, paint: Paint, words: Words) -> String {
    let judged = &iteration.judged;
    let mut parts = vec![match judged.failures.len() {
        0 => words.say("no failures", "失敗なし"),
        number => words.say(counted(number, "failure"), format!("失敗{number}件")),
    }];
    let comparison = &judged.comparison;
    let (newly_flaky, outside) = (comparison.newly_flaky.len(), judged.outside.len());
    let counts = [
        (comparison.known.len(), words.known(comparison.known.len())),
        (comparison.flaky.len(), words.flaky(comparison.flaky.len())),
        (
            newly_flaky,
            words.say(format!("{newly_flaky} newly flaky"), format!("新たに不安定{newly_flaky}件")),
        ),
        (outside, words.say(format!("{outside} out of scope"), format!("範囲外{outside}件"))),
    ];
    parts.extend(counts.into_iter().filter(|(number, _)| *number > 0).map(|(_, part)| part));
    if let Some(made) = &iteration.attempt {
        parts.push(match made.result.changed_files {
            0 => words.say("no files changed", "ファイルの変更なし"),
            files => words.say(format!("{} changed", counted(files, "file")), format!("変更{files}ファイル")),
        });
        let time = clock(Duration::from_millis(made.took_ms));
        parts.push(format!("{} {time}", words.say("agent", "エージェント")));
    }
    let checks: u64 = iteration.checks.iter().map(|made| made.took_ms).sum();
    if checks > 0 {
        parts.push(format!("{} {}", words.say("checks", "チェック"), clock(Duration::from_millis(checks))));
    }
    let (number, progress) = (iteration.number, coloured(judged.verdict.progress, paint, words));
    words.say(
        format!("attempt {number}: {progress}; {}", parts.join(", ")),
        format!("試行{number}: {progress}、{}", parts.join("、")),
    )
}

fn coloured(progress: ProgressKind, paint: Paint, words: Words) -> String {
    let colour = match progress {
        ProgressKind::Complete | ProgressKind::Progress => "32",
        ProgressKind::NoChange
        | ProgressKind::Repeated
        | ProgressKind::Oscillating
        | ProgressKind::Regressed => "31",
        ProgressKind::First
        | ProgressKind::Changed
        | ProgressKind::Rerun
        | ProgressKind::Infra
        | ProgressKind::Waiting => "33",
    };
    match paint {
        Paint::Colors => format!("\u{1b}[{colour}m{}\u{1b}[0m", words.progress(progress)),
        Paint::Plain => words.progress(progress).to_string(),
    }
}
