//! `fixpoint stop`: asks the process of a run to stop, and waits until it has.

use std::time::{Duration, Instant};

use fixpoint_ports::Urgency;
use fixpoint_runs::{RunDirectory, status_words};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use crate::app_context::AppContext;
use crate::arguments::StopArguments;
use crate::failure::Failure;
use crate::language::say;
use crate::output::{Form, Output};
use crate::repository::Repository;

/// How long we wait for a run to stop before we report that it is still running.
const PATIENCE: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(50);
const AGAIN: Duration = Duration::from_millis(500);

pub(crate) fn run(arguments: &StopArguments, app: &AppContext, output: &mut Output) -> Result<u8, Failure> {
    let repository = Repository::look(app)?;
    let run = repository.find(&arguments.target.run)?;
    let stopped = match run.holder() {
        None => Stopped::NotRunning,
        Some(pid) => ask(&run, pid, if arguments.now { Urgency::Now } else { Urgency::Soon })?,
    };
    let loaded = run.load()?;
    let status = loaded.status();
    let (id, shown) = (&run.id, status_words(status, app.lang));
    let words = match stopped {
        Stopped::NotRunning => say(
            app.lang,
            format!("{id} is not running ({shown})"),
            format!("{id} は実行中ではありません（{shown}）"),
        ),
        Stopped::Ended => say(
            app.lang,
            format!("{id} stopped ({shown}); `fixpoint resume {id}` continues it"),
            format!("{id} を停止しました（{shown}）。再開するには `fixpoint resume {id}`"),
        ),
        Stopped::StillRunning(pid) => say(
            app.lang,
            format!("{id}: process {pid} is still shutting down; `--now` kills it"),
            format!("{id}: プロセス {pid} は終了処理中です。`--now` で強制終了します"),
        ),
    };
    match Form::from(arguments.target.json) {
        Form::Json => output.json(&json!({ "run": run.id.0, "status": status, "message": words }))?,
        Form::Text => output.line(&words)?,
    }
    loaded.require_whole()?;
    Ok(match stopped {
        Stopped::NotRunning | Stopped::Ended => 0,
        Stopped::StillRunning(_) => 7,
    })
}

enum Stopped {
    NotRunning,
    Ended,
    StillRunning(u32),
}

/// Asks the process that holds a run to stop, and waits until the run is free.
fn ask(run: &RunDirectory, pid: u32, urgency: Urgency) -> Result<Stopped, Failure> {
    let Some(target) = i32::try_from(pid).ok().filter(|pid| *pid > 1) else {
        return Err(Failure::Unavailable(format!(
            "{}: the process that runs it is not known; stop it yourself",
            run.id
        )));
    };
    let ask = || {
        // Only while the process still holds the run: its number may belong to another one by now.
        if run.holder() == Some(pid) {
            let _ = kill(Pid::from_raw(target), Signal::SIGTERM);
        }
    };
    ask();
    let deadline = Instant::now() + PATIENCE;
    let mut asked_again = Instant::now() + POLL;
    while Instant::now() < deadline {
        if run.holder().is_none() {
            return Ok(Stopped::Ended);
        }
        // Two signals in quick succession may arrive as one, so the second one is repeated.
        if urgency == Urgency::Now && Instant::now() >= asked_again {
            ask();
            asked_again = Instant::now() + AGAIN;
        }
        std::thread::sleep(POLL);
    }
    Ok(Stopped::StillRunning(pid))
}
