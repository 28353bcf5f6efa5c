//! What people see while a run goes on: lines that stay, and in a terminal a few that are drawn anew.
//!
//! Owns standard error while a run goes on. Refuses colours that mean something no word says.

mod board;
mod drawing;
mod run_lines;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use fixpoint_consult::AskProgress;
use fixpoint_decide::progress::ProgressKind;
use fixpoint_decide::run::{Move, TaskSource};
use fixpoint_decide::task_run::{Decision, Step, Work};
use fixpoint_engine::Record;
use fixpoint_execute::{Progress, Watcher};
use fixpoint_runs::{Iteration, Story, TaskStory};
use fixpoint_vocabulary::work::Command;
use fixpoint_vocabulary::{Lang, TaskId};

use self::board::Board;
use self::drawing::{Drawing, clock};
pub(crate) use self::run_lines::score_words;
use crate::output::harmless;
use crate::surroundings::{Paint, Screen};

/// How often the time that passed is drawn anew.
const TICK: Duration = Duration::from_millis(250);

/// Which lines stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Telling {
    /// All that happens.
    Everything,
    /// Only what a person would not expect: what is compared is told at the end.
    Notices,
}

/// Speaks to the person while a run goes on.
#[derive(Debug, Clone)]
pub(crate) struct Speaker(Arc<Mutex<Drawing>>);

impl Speaker {
    /// A line that stays, whatever else is shown.
    pub(crate) fn say(&self, line: &str) {
        lock(&self.0).notice(line);
    }
}

/// Shows a run.
#[derive(Debug)]
pub(crate) struct Display {
    lang: Lang,
    title: String,
    drawing: Arc<Mutex<Drawing>>,
    ended: Arc<AtomicBool>,
    ticker: Option<JoinHandle<()>>,
}

impl Display {
    /// Shows nothing yet.
    pub(crate) fn new(
        (screen, lang): (Screen, Lang),
        telling: Telling,
        title: &str,
        max_iterations: u32,
    ) -> Self {
        let drawing = Arc::new(Mutex::new(Drawing::new(screen, telling, title, max_iterations)));
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
        Self { lang, title: title.to_string(), drawing, ended, ticker }
    }

    /// Who sees what executors do.
    pub(crate) fn watcher(&self) -> Arc<dyn Watcher> {
        Arc::new(Watching { drawing: Arc::clone(&self.drawing), task: None })
    }

    /// Shows what was just recorded; `story` includes it.
    pub(crate) fn record(&self, record: &Record, story: &Story) {
        let mut drawing = lock(&self.drawing);
        let is_planned = matches!(story.run.order().tasks, TaskSource::Planned(_));
        if is_planned {
            self.record_of_plan(&mut drawing, record, story);
            return;
        }
        for (id, decision) in record.decision.of_tasks() {
            if let Some(task) = story.tasks.iter().find(|task| task.id == *id) {
                show_task(&mut drawing, task, decision);
            }
        }
    }

    /// A record of a run of several tasks: lines that name the task, and the board below.
    fn record_of_plan(&self, drawing: &mut Drawing, record: &Record, story: &Story) {
        for step in &record.decision.moves {
            if let Move::Task { task, decision, .. } = step {
                let told = story.tasks.iter().find(|told| told.id == *task);
                let iteration = told.and_then(|told| told.iterations.last());
                if let (Some(iteration), Some(_)) = (iteration, &decision.judged) {
                    let line = iteration_line(iteration, drawing.paint());
                    drawing.line(&format!("[{task}] {line}"));
                    failure_lines(iteration).iter().for_each(|line| drawing.line(line));
                }
            }
            run_lines::lines_of(step, story, self.lang).iter().for_each(|line| drawing.line(line));
        }
        for (_, owner, command) in record.decision.commands() {
            if let Some(doing) = run_lines::doing(&owner, command) {
                drawing.doing(&doing);
            }
        }
        let mut under_way = story.run.under_way();
        if !under_way.any(|(_, owner, command)| run_lines::doing(owner, command).is_some()) {
            drawing.rest();
        }
        drawing.set_board(Board::of(&self.title, story, self.lang));
    }

    /// Says what is asked of a model.
    pub(crate) fn ask_progress(&self) -> Box<dyn Fn(AskProgress<'_>) + Send + Sync> {
        let drawing = Arc::clone(&self.drawing);
        Box::new(move |progress| match progress {
            AskProgress::Started(asked) => {
                let words = run_lines::asked(asked.about, asked.model, asked.tokens);
                let mut drawing = lock(&drawing);
                drawing.doing(&words);
                drawing.plain_line(&words);
                for omission in asked.omissions {
                    drawing.plain_line(&format!("  left out of the prompt: {omission}"));
                }
            }
            AskProgress::Text(words) => lock(&drawing).last_line(words),
        })
    }

    /// Whoever speaks to the person while a run goes on.
    pub(crate) fn speaker(&self) -> Speaker {
        Speaker(Arc::clone(&self.drawing))
    }

    /// What a demonstration says beside what happens.
    pub(crate) fn comment(&self, line: &str) {
        let mut drawing = lock(&self.drawing);
        match drawing.paint() {
            Paint::Colours => drawing.line(&format!("\u{1b}[36m{line}\u{1b}[0m")),
            Paint::Plain => drawing.line(line),
        }
    }

    /// Something to be read once.
    pub(crate) fn line(&self, line: &str) {
        lock(&self.drawing).line(line);
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
struct Watching {
    drawing: Arc<Mutex<Drawing>>,
    /// The task that is seen, where there are several.
    task: Option<TaskId>,
}

impl Watcher for Watching {
    fn of(&self, task: &TaskId) -> Option<Arc<dyn Watcher>> {
        Some(Arc::new(Self { drawing: Arc::clone(&self.drawing), task: Some(task.clone()) }))
    }

    fn see(&self, progress: Progress<'_>) {
        let mut drawing = lock(&self.drawing);
        let task = self.task.as_ref();
        match progress {
            Progress::UncommittedWork => {
                drawing.line("the base is the working tree as it is, uncommitted work included")
            }
            Progress::SettingUp(command) => drawing.line(&format!("setting up: {}", harmless(command))),
            Progress::Checking(name) => drawing.doing_for(task, &format!("checking: {}", harmless(name))),
            Progress::KnownFromEarlier(name) => {
                drawing.line(&format!("known already: {}", harmless(name)));
            }
            Progress::AgentStarts => drawing.doing_for(task, "the agent works"),
            Progress::Line(line) => drawing.last_line_of(task, line),
            Progress::Used(usage) => drawing.used_for(task, usage),
            Progress::Notice(notice) => drawing.notice(&harmless(notice)),
        }
    }
}

/// Shows what a task decided.
fn show_task(drawing: &mut Drawing, story: &TaskStory, decision: &Decision) {
    if let (Some(judged), Some(iteration)) = (&decision.judged, story.iterations.last()) {
        drawing.judged(judged.verdict.progress, judged.failures.len(), &judged.seen);
        let line = iteration_line(iteration, drawing.paint());
        drawing.line(&line);
        failure_lines(iteration).iter().for_each(|line| drawing.line(line));
    }
    match &decision.command {
        Some(Command::TakeBase) => drawing.doing("taking the base"),
        Some(Command::RunChecks(_)) => drawing.doing(match decision.step {
            Step::Working { work: Work::Baseline } => "checking the base",
            Step::Working { .. } | Step::New | Step::Paused { .. } | Step::Ended { .. } => "checking",
        }),
        Some(Command::RunAttempt(order)) => {
            if order.number == 1 && story.iterations.is_empty() {
                let line = baseline_line(story);
                drawing.line(&line);
            }
            drawing.attempt(order.number, order.stage);
            drawing.plain_line(&format!("attempt {} begins (stage {})", order.number, order.stage));
        }
        Some(Command::Graft(_)) => drawing.doing("putting files back"),
        Some(Command::Ask(_)) => drawing.doing("asking the judge"),
        Some(Command::Merge(_) | Command::AskPerson(_) | Command::RecallPlan | Command::KeepPlan) | None => {}
    }
}

fn baseline_line(story: &TaskStory) -> String {
    let (known, flaky) = story.known_at_base();
    let passed: u64 = story.task.ground().checks.values().map(|check| check.counted).sum();
    format!("at the base: {} failing, {} flaky, {passed} passing", known.len(), flaky.len())
}

/// Failures that are named after an attempt.
const MOST_NAMED: usize = 3;

fn failure_lines(iteration: &Iteration) -> Vec<String> {
    let judged = &iteration.judged;
    let named = judged.failures.iter().take(MOST_NAMED).map(|failure| {
        let said = failure.message.as_str().lines().next().unwrap_or_default();
        let said: String = said.chars().filter(|letter| !letter.is_control()).take(90).collect();
        format!("  ✗ {}: {said}", harmless(&failure.identity))
    });
    let mut lines: Vec<String> = named.collect();
    if judged.failures.len() > MOST_NAMED {
        lines.push(format!("  … and {} more", judged.failures.len() - MOST_NAMED));
    }
    lines.extend(judged.outside.iter().take(MOST_NAMED).map(|path| format!("  ✗ outside the scope: {path}")));
    lines
}

fn iteration_line(iteration: &Iteration, paint: Paint) -> String {
    let judged = &iteration.judged;
    let mut parts = Vec::new();
    parts.push(match judged.failures.len() {
        0 => "no failures".to_string(),
        1 => "1 failure".to_string(),
        many => format!("{many} failures"),
    });
    for (names, word) in [
        (&judged.seen.known, "known"),
        (&judged.seen.flaky, "flaky"),
        (&judged.seen.newly_flaky, "newly flaky"),
    ] {
        if !names.is_empty() {
            parts.push(format!("{} {word}", names.len()));
        }
    }
    if !judged.outside.is_empty() {
        parts.push(format!("{} outside the scope", judged.outside.len()));
    }
    if let Some(made) = &iteration.attempt {
        parts.push(match made.result.changed_files {
            1 => "1 file changed".to_string(),
            many => format!("{many} files changed"),
        });
        parts.push(format!("agent {}", clock(Duration::from_millis(made.took_ms))));
    }
    let checks: u64 = iteration.checks.iter().map(|made| made.took_ms).sum();
    if checks > 0 {
        parts.push(format!("checks {}", clock(Duration::from_millis(checks))));
    }
    let word = coloured(judged.verdict.progress, paint);
    format!("attempt {}: {word}; {}", iteration.number, parts.join(", "))
}

fn coloured(progress: ProgressKind, paint: Paint) -> String {
    let colour = match progress {
        ProgressKind::Complete | ProgressKind::Progress => "32",
        ProgressKind::NoChange
        | ProgressKind::Repeated
        | ProgressKind::Oscillating
        | ProgressKind::Regressed => "31",
        ProgressKind::First | ProgressKind::Changed | ProgressKind::Infra | ProgressKind::Waiting => "33",
    };
    match paint {
        Paint::Colours => format!("\u{1b}[{colour}m{}\u{1b}[0m", progress.name()),
        Paint::Plain => progress.name().to_string(),
    }
}
