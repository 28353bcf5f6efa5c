//! `fixpoint resume`.

use fixpoint_decide::run::RunStatus;
use fixpoint_engine::{RecordedRun, ResumeRequest};
use fixpoint_journal::OpenMode;
use fixpoint_ports::Workspaces;
use fixpoint_runs::{RunDirectory, RunError};
use fixpoint_vocabulary::ask::Remark;
use fixpoint_vocabulary::work::Allowance;
use fixpoint_vocabulary::{Redacted, TaskId, TaskState};

use crate::app_context::AppContext;
use crate::arguments::ResumeArguments;
use crate::commands::outcome::tell;
use crate::failure::Failure;
use crate::output::Output;
use crate::repository::Repository;
use crate::session::SessionContext;
use crate::trust::Consent;
use crate::{allowance, delivery_target, environment, prompt_text};

pub(crate) fn run(arguments: &ResumeArguments, app: &AppContext, output: &mut Output) -> Result<u8, Failure> {
    let run = Repository::look(app)?.find(&arguments.target.run)?;
    // With the settings the run was started with. If its journal must be repaired first, the defaults will do.
    let recorded = match run.read() {
        Err(error @ RunError::NeverBegan { .. }) => return Err(error.into()),
        read => read.ok().filter(|read| read.damage.is_none()).map(|read| read.recorded),
    };
    if let Some(recorded) = &recorded {
        let state = recorded.run();
        let is_over = matches!(state.status(), RunStatus::Ended { .. }) && arguments.tasks.is_empty();
        if is_over && (arguments.budget.is_some() || !arguments.said.is_empty()) {
            return Err(Failure::BadInput(format!(
                "{} has ended, so --budget and --say have no effect; retry a blocked task with --task, or start a \
                 new run",
                run.id
            )));
        }
        prompt_text::check_remarks(&state.planning().remarks, &arguments.said)?;
    }
    let is_over = |recorded: &RecordedRun| matches!(recorded.run().status(), RunStatus::Ended { .. });
    let ends_here = recorded.as_ref().is_some_and(is_over) && arguments.tasks.is_empty();
    let spec = recorded.and_then(|recorded| recorded.header.spec);
    let delivery = spec.as_ref().map(|spec| spec.delivery.clone()).filter(|_| !ends_here);
    let settings = spec.map(|spec| spec.settings).unwrap_or_default();
    let repository = Repository::open(app, &settings)?;
    if let Some(delivery) = &delivery {
        delivery_target::check_resumed(delivery, &run.id, &repository)?;
    }
    let more = arguments.budget.as_deref().map_or(Ok(Allowance::default()), allowance::parse)?;
    let mode = if arguments.repair { OpenMode::Repair } else { OpenMode::Continue };
    let consent = Consent::of_recorded_run();
    let session = SessionContext::new(app, &repository, consent);
    // Before a workspace is used again, the changes that a dead process left in it are saved.
    let lock = run.lock()?;
    let recovery = repository.workspaces.recover()?;
    drop(lock);
    for kept in &recovery.recovered {
        app.notice(
            format!("saved the changes of an interrupted agent: refs/fixpoint/{}", kept.reference),
            format!("中断されたエージェントの変更を保存しました: refs/fixpoint/{}", kept.reference),
        );
    }
    for lost in &recovery.unrecovered {
        let (why, directory) = (&lost.reason, lost.directory.display());
        app.notice(
            format!("cannot read a workspace ({why}); its files are in {directory}"),
            format!("作業領域を読み取れません（{why}）。ファイルは {directory} にあります"),
        );
    }
    let redactor = environment::redactor(app.environment(), &settings.models);
    let remark = |text: &String| Remark { by: Redacted::ours("the user"), text: redactor.redact(text) };
    let request = ResumeRequest {
        more,
        unblocked: unblocked(&run, &arguments.tasks)?,
        said: arguments.said.iter().map(remark).collect(),
    };
    let outcome = session.resume(&run, mode, request)?;
    tell(&run, &outcome, &session, arguments.target.json.into(), output)
}

/// The tasks to retry, which must exist and be blocked.
fn unblocked(run: &RunDirectory, names: &[String]) -> Result<Vec<TaskId>, Failure> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let state = run.read_whole()?.run();
    let blocked: Vec<&TaskId> =
        state.tasks().filter(|node| node.state == TaskState::Blocked).map(|node| node.id()).collect();
    let wanted = |name: &String| {
        let found = blocked.iter().find(|id| id.as_str() == name).map(|id| (*id).clone());
        let known: Vec<&str> = blocked.iter().map(|id| id.as_str()).collect();
        found.ok_or_else(|| {
            let known = if known.is_empty() { "none".to_string() } else { known.join(", ") };
            Failure::BadInput(format!(
                "--task `{name}`: no blocked task has this name; blocked tasks: {known}"
            ))
        })
    };
    names.iter().map(wanted).collect()
}
