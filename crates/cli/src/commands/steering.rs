//! `fixpoint resume` and `fixpoint stop`.

use std::time::{Duration, Instant};

use fixpoint_engine::Return;
use fixpoint_journal::OpenMode;
use fixpoint_ports::{Urgency, Workspaces};
use fixpoint_runs::{RunDirectory, Status};
use fixpoint_vocabulary::ask::Remark;
use fixpoint_vocabulary::work::Allowance;
use fixpoint_vocabulary::{Redacted, TaskId, TaskState};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use crate::arguments::{ResumeArguments, StopArguments};
use crate::commands::outcome::tell;
use crate::failure::Failure;
use crate::output::{Form, Output};
use crate::repository::Repository;
use crate::session::Around;
use crate::surroundings::Surroundings;
use crate::{allowance, environment};

/// How long a run may take to end in good order before we say that it is still at it.
const PATIENCE: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(50);
const AGAIN: Duration = Duration::from_millis(500);

pub(crate) fn resume(
    arguments: &ResumeArguments,
    surroundings: &Surroundings,
    output: &mut Output,
) -> Result<u8, Failure> {
    let run = Repository::look(surroundings)?.find(&arguments.run)?;
    // As many workspaces as the run began with. Where its journal must be repaired first, the usual number does.
    let brief = run.read().ok().and_then(|opened| opened.recorded.opening.brief);
    let settings = brief.map(|brief| brief.settings).unwrap_or_default();
    let repository = Repository::open(surroundings, &settings)?;
    let more = arguments.budget.as_deref().map_or(Ok(Allowance::default()), allowance::read)?;
    let mode = if arguments.repair { OpenMode::Repair } else { OpenMode::Continue };
    let around = Around { surroundings, repository: &repository, screen: surroundings.screen };
    // Before anything is done in a workspace, what a dead process left in one is kept.
    let lock = run.lock()?;
    let recovery = repository.workspaces.recover()?;
    drop(lock);
    for kept in &recovery.recovered {
        surroundings
            .notices
            .say(&format!("kept what an interrupted agent left: refs/fixpoint/{}", kept.reference));
    }
    for lost in &recovery.unrecovered {
        let notice = format!(
            "a workspace could not be read ({}); its files are in {}",
            lost.reason,
            lost.directory.display()
        );
        surroundings.notices.say(&notice);
    }
    let redactor = environment::redactor(surroundings.environment(), &settings.models);
    let remark = |text: &String| Remark { by: Redacted::ours("the user"), text: redactor.redact(text) };
    let back = Return {
        more,
        unblocked: unblocked(&run, &arguments.tasks)?,
        said: arguments.said.iter().map(remark).collect(),
    };
    let driven = around.resume(&run, mode, back)?;
    tell(&run, &driven, &around, arguments.json.into(), output)
}

/// The tasks that may try again, which must be there and blocked.
fn unblocked(run: &RunDirectory, names: &[String]) -> Result<Vec<TaskId>, Failure> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let state = run.read()?.recorded.run();
    let blocked: Vec<&TaskId> =
        state.tasks().filter(|node| node.state == TaskState::Blocked).map(|node| node.id()).collect();
    let wanted = |name: &String| {
        let found = blocked.iter().find(|id| id.as_str() == name).map(|id| (*id).clone());
        let known: Vec<&str> = blocked.iter().map(|id| id.as_str()).collect();
        found.ok_or_else(|| {
            let known = if known.is_empty() { "none".to_string() } else { known.join(", ") };
            Failure::BadInput(format!("--task `{name}`: no task of that name is blocked; blocked: {known}"))
        })
    };
    names.iter().map(wanted).collect()
}

pub(crate) fn stop(
    arguments: &StopArguments,
    surroundings: &Surroundings,
    output: &mut Output,
) -> Result<u8, Failure> {
    let repository = Repository::look(surroundings)?;
    let run = repository.find(&arguments.run)?;
    let stopped = match run.holder() {
        None => Stopped::NotRunning,
        Some(pid) => ask(&run, pid, if arguments.now { Urgency::Now } else { Urgency::Soon })?,
    };
    let status = Status::of(run.read()?.recorded.run().standing(), run.holder());
    let words = match stopped {
        Stopped::NotRunning => format!("{} is not under way ({})", run.id, status.name()),
        Stopped::Ended => {
            format!("{} is stopped ({}); `fixpoint resume {}` goes on", run.id, status.name(), run.id)
        }
        Stopped::StillAtIt(pid) => {
            format!("{}: process {pid} is still ending; `--now` ends it at once", run.id)
        }
    };
    match Form::from(arguments.json) {
        Form::Json => output.json(&json!({ "run": run.id.0, "status": status, "message": words }))?,
        Form::Text => output.line(&words)?,
    }
    Ok(match stopped {
        Stopped::NotRunning | Stopped::Ended => 0,
        Stopped::StillAtIt(_) => 7,
    })
}

enum Stopped {
    NotRunning,
    Ended,
    StillAtIt(u32),
}

/// Asks the process that holds a run to stop, and waits until the run is free.
fn ask(run: &RunDirectory, pid: u32, urgency: Urgency) -> Result<Stopped, Failure> {
    let Some(target) = i32::try_from(pid).ok().filter(|pid| *pid > 1) else {
        return Err(Failure::Unavailable(format!("{} is held by a process that cannot be told", run.id)));
    };
    let ask = || {
        // Another process may have the number by now, and that it has ended is what was wanted.
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
        // Two signals in quick succession may arrive as one, so the second is repeated.
        if urgency == Urgency::Now && Instant::now() >= asked_again {
            ask();
            asked_again = Instant::now() + AGAIN;
        }
        std::thread::sleep(POLL);
    }
    Ok(Stopped::StillAtIt(pid))
}
