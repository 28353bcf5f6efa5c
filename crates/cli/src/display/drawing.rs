//! The lines at the bottom of the terminal, and those that scroll past above them.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Instant;

use fixpoint_decide::progress::ProgressKind;
use fixpoint_decide::task_run::BaselineComparison;
use fixpoint_vocabulary::usage::Usage;
use fixpoint_vocabulary::{TaskId, counted};

use super::Verbosity;
use super::board::Board;
use super::words::{Words, clock};
use crate::app_context::{Paint, Screen};
use crate::terminal_text::printable;
use crate::text_layout::fit;

/// Attempts whose failures are shown.
const TRAIL: usize = 12;
/// If the terminal does not say how large it is.
const USUAL_SIZE: (usize, usize) = (80, 24);

#[derive(Debug)]
pub(super) struct Drawing {
    screen: Screen,
    words: Words,
    verbosity: Verbosity,
    title: String,
    max_iterations: u32,
    began: Instant,
    attempt: u32,
    stage: u32,
    /// What is being done for the run itself.
    doing: Doing,
    trail: Vec<usize>,
    comparison: BaselineComparison,
    progress: Option<ProgressKind>,
    /// Empty in a run of one task.
    board: Board,
    /// What is being done for each running task.
    tasks: BTreeMap<TaskId, Doing>,
    /// Lines on the screen that the next drawing replaces.
    drawn: Vec<String>,
}

/// What is being done for a task.
#[derive(Debug)]
struct Doing {
    what: String,
    since: Instant,
    last_line: String,
    used: Usage,
}

impl Doing {
    fn new(what: &str) -> Self {
        let (what, last_line) = (what.to_string(), String::new());
        Self { what, since: Instant::now(), last_line, used: Usage::default() }
    }

    fn line(&self, words: Words) -> String {
        let said = if self.last_line.is_empty() { String::new() } else { format!(" > {}", self.last_line) };
        format!("     {} · {}{}{said}", self.what, clock(self.since.elapsed()), spent(self.used, words))
    }
}

impl Drawing {
    pub(super) fn new(
        screen: Screen,
        words: Words,
        verbosity: Verbosity,
        title: &str,
        max_iterations: u32,
    ) -> Self {
        Self {
            screen,
            words,
            verbosity,
            title: title.to_string(),
            max_iterations,
            began: Instant::now(),
            attempt: 0,
            stage: 1,
            doing: Doing::new(&words.say("starting", "開始中")),
            trail: Vec::new(),
            comparison: BaselineComparison::default(),
            progress: None,
            board: Board::default(),
            tasks: BTreeMap::new(),
            drawn: Vec::new(),
        }
    }

    pub(super) fn paint(&self) -> Paint {
        match self.screen {
            Screen::Silent => Paint::Plain,
            Screen::Lines(paint) | Screen::Live(paint) => paint,
        }
    }

    /// A line that stays on the screen.
    pub(super) fn line(&mut self, line: &str) {
        match self.verbosity {
            Verbosity::Everything | Verbosity::Details => self.notice(line),
            Verbosity::Notices => {}
        }
    }

    /// A line that stays on the screen, whatever the verbosity.
    pub(super) fn notice(&mut self, line: &str) {
        match self.screen {
            Screen::Silent => {}
            Screen::Lines(_) => write(&format!("{line}\n")),
            Screen::Live(_) => {
                let erased = self.erased();
                self.drawn.clear();
                write(&format!("{erased}{line}\n"));
                self.draw();
            }
        }
    }

    /// A line that says what the live view shows anyway.
    pub(super) fn plain_line(&mut self, line: &str) {
        match self.screen {
            Screen::Lines(_) => self.line(line),
            Screen::Silent | Screen::Live(_) => {}
        }
    }

    pub(super) fn doing(&mut self, what: &str) {
        if self.doing.what != what {
            what.clone_into(&mut self.doing.what);
            self.doing.since = Instant::now();
        }
        self.draw();
    }

    /// Only tasks are at work, and they have rows of their own.
    pub(super) fn rest(&mut self) {
        self.doing.what.clear();
        self.doing.last_line.clear();
    }

    pub(super) fn attempt(&mut self, number: u32, stage: u32) {
        (self.attempt, self.stage) = (number, stage);
        self.doing.last_line.clear();
        self.doing.used = Usage::default();
        self.doing(&self.words.say("preparing a workspace", "作業領域を準備中"));
    }

    pub(super) fn judged(
        &mut self,
        progress: ProgressKind,
        failures: usize,
        comparison: &BaselineComparison,
    ) {
        self.progress = Some(progress);
        self.trail.push(failures);
        self.comparison = comparison.clone();
    }

    /// `None` in a run of one task.
    pub(super) fn doing_for(&mut self, task: Option<&TaskId>, what: &str) {
        match task {
            Some(task) if self.tasks.get(task).is_none_or(|doing| doing.what != what) => {
                self.tasks.insert(task.clone(), Doing::new(what));
                self.draw();
            }
            Some(_) => {}
            None => self.doing(what),
        }
    }

    fn of_task(&mut self, task: Option<&TaskId>) -> &mut Doing {
        task.and_then(|task| self.tasks.get_mut(task)).unwrap_or(&mut self.doing)
    }

    /// Drawn with the next tick: a program may print faster than a person can read.
    pub(super) fn last_line(&mut self, task: Option<&TaskId>, line: &str) {
        self.of_task(task).last_line = printable(line);
    }

    /// In this attempt so far.
    pub(super) fn used(&mut self, task: Option<&TaskId>, usage: Usage) {
        self.of_task(task).used = usage;
    }

    pub(super) fn draw(&mut self) {
        if !matches!(self.screen, Screen::Live(_)) {
            return;
        }
        let (width, height) = terminal_size::terminal_size_of(io::stderr())
            .map_or(USUAL_SIZE, |(width, height)| (usize::from(width.0), usize::from(height.0)));
        // What has scrolled out at the top cannot be drawn over.
        let rows = self.lines().into_iter().take(height.saturating_sub(1));
        let lines: Vec<String> = rows.map(|line| fit(&line, width.saturating_sub(1)).to_string()).collect();
        if lines != self.drawn {
            write(&format!("{}{}\n", self.erased(), lines.join("\n")));
            self.drawn = lines;
        }
    }

    /// Removes the lines at the bottom.
    pub(super) fn clear(&mut self) {
        if matches!(self.screen, Screen::Live(_)) {
            write(&self.erased());
            self.drawn.clear();
        }
    }

    fn erased(&self) -> String {
        // To the first column first: a terminal echoes ^C there.
        if self.drawn.is_empty() { String::new() } else { format!("\r\u{1b}[{}A\u{1b}[J", self.drawn.len()) }
    }

    pub(super) fn set_board(&mut self, board: Board) {
        self.tasks.retain(|task, _| board.rows.iter().any(|row| row.task.as_ref() == Some(task)));
        self.board = board;
        self.draw();
    }

    fn lines(&self) -> Vec<String> {
        if !self.board.is_empty() {
            let Doing { what, since, last_line, .. } = &self.doing;
            let doing = (!what.is_empty()).then(|| format!("   {what} · {}", clock(since.elapsed())));
            let last = (!last_line.is_empty()).then(|| format!("   {last_line}"));
            let mut lines = vec![self.board.head_at(self.began.elapsed())];
            for row in &self.board.rows {
                let done_for = row.task.as_ref().and_then(|task| self.tasks.get(task));
                lines.push(row.text.clone());
                lines.extend(done_for.map(|doing| doing.line(self.words)));
            }
            return lines.into_iter().chain(doing).chain(last).collect();
        }
        let attempt = match self.attempt {
            0 => String::new(),
            number => {
                format!(" · {}", self.words.attempt_at_stage(number, Some(self.max_iterations), self.stage))
            }
        };
        let mut lines = vec![format!("── {}{attempt} · {}", self.title, clock(self.began.elapsed()))];
        if !self.trail.is_empty() {
            let last = self.progress.map(|progress| self.words.progress(progress)).unwrap_or_default();
            lines.push(format!(
                "   {} ({last}) · {} · {}",
                self.words.failure_trail(&self.trail, TRAIL),
                self.words.known(self.comparison.known.len()),
                self.words.flaky(self.comparison.flaky.len() + self.comparison.newly_flaky.len())
            ));
        }
        let Doing { what, since, last_line, used } = &self.doing;
        lines.push(format!("   {what} · {}{}", clock(since.elapsed()), spent(*used, self.words)));
        if !last_line.is_empty() {
            lines.push(format!("   > {last_line}"));
        }
        lines
    }
}

/// What an agent used, as the end of a line.
fn spent(used: Usage, words: Words) -> String {
    let number = match used.tokens() {
        few @ 0..=9999 => few.to_string(),
        many => format!("{}k", many / 1000),
    };
    let tokens = match used.tokens() {
        0 => String::new(),
        _ => format!(" · {}", words.say(counted(&number, "token"), format!("{number}トークン"))),
    };
    let cost = used.cost.map(|cost| format!(" · ${:.2}", cost.usd())).unwrap_or_default();
    tokens + &cost
}

/// Errors are ignored: if standard error is closed, there is no reader.
fn write(text: &str) {
    let mut stderr = io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use fixpoint_vocabulary::Lang;
    use fixpoint_vocabulary::usage::MicroUsd;

    use super::*;

    #[test]
    fn times_and_lines_fit() {
        let words = Words(Lang::En);
        assert_eq!(clock(Duration::from_secs(59)), "0:59");
        assert_eq!(clock(Duration::from_secs(3661)), "1:01:01");
        assert_eq!(spent(Usage::default(), words), "");
        assert_eq!(spent(Usage { input_tokens: 1, ..Usage::default() }, words), " · 1 token");
        let used = Usage { input_tokens: 90_000, output_tokens: 1999, ..Usage::default() };
        assert_eq!(spent(Usage { cost: Some(MicroUsd(125_000)), ..used }, words), " · 91k tokens · $0.12");
    }
}
