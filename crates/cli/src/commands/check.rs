//! `fixpoint check`: the working tree beside a commit, judged as an attempt would be, without an agent.

use std::sync::Arc;

use fixpoint_decide::convergence::AttemptOutcome;
use fixpoint_decide::run::RunOrder;
use fixpoint_decide::task_run::{ImpliedGoals, TestEdits};
use fixpoint_engine::{Engine, EngineDeps, FORMAT, JournalHeader};
use fixpoint_journal::{FaultyDisk, MemoryBlobs, StoredJournal};
use fixpoint_ports::{Blobs, Clock};
use fixpoint_runs::{FailureLine, FoldedRun, RunView, TaskView, explain, texts};
use fixpoint_vocabulary::Cause;
use fixpoint_vocabulary::brief::{BaseOrder, Brief, Delivery};
use fixpoint_vocabulary::settings::{CheckKind, Settings};
use fixpoint_vocabulary::work::{FailureId, ReportedFailure};
use serde::Serialize;

use super::outcome::exit_code;
use crate::app_context::AppContext;
use crate::arguments::CheckArguments;
use crate::evidence::{Evidence, settings_with};
use crate::failure::Failure;
use crate::output::{Form, Output};
use crate::repository::Repository;
use crate::session::{RunStart, RunStorage, SessionContext, WallClock};

/// The exit code where something is new.
const SOMETHING_NEW: u8 = 3;

/// What a comparison came to.
#[derive(Debug, Serialize)]
struct Compared {
    base: String,
    /// Whether nothing stands in the way.
    ok: bool,
    /// Why it could not be told, if it could not.
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<Cause>,
    new: Vec<FailureLine>,
    known: Vec<String>,
    flaky: Vec<String>,
    newly_flaky: Vec<String>,
    vanished: Vec<String>,
    scope_violations: Vec<String>,
    /// Whether the tree differs from the base at all.
    changed: bool,
}

pub(crate) fn run(arguments: &CheckArguments, app: &AppContext, output: &mut Output) -> Result<u8, Failure> {
    let loaded = app.configuration(&arguments.evidence.set)?;
    let mut settings = settings_with(loaded.settings, &arguments.evidence);
    settings.convergence.max_iterations = 1;
    let repository = Repository::open(app, &settings)?;
    repository.workspaces.require_base(Some(&arguments.base))?;
    let evidence = evidence(arguments, &mut settings, &repository, app)?;
    let test_edits = if arguments.allow_test_edits { TestEdits::Allowed } else { TestEdits::Checked };
    let order = evidence.order(&settings, test_edits);
    let brief = Brief {
        version: env!("CARGO_PKG_VERSION").to_string(),
        repository: repository.root().to_string_lossy().into_owned(),
        directory: repository.directory.clone(),
        goal: fixpoint_vocabulary::Redacted::default(),
        agent: Vec::new(),
        checks: evidence.checks,
        base: BaseOrder::Revision(arguments.base.clone()),
        settings,
        delivery: Delivery::Nothing,
    };
    let opening = JournalHeader {
        format: FORMAT,
        at: WallClock.now_ms(),
        order: RunOrder::given(order),
        brief: Some(brief),
    };
    let folded = compare(opening, &repository, app)?;
    tell(arguments, folded.view(), app, output)
}

/// Every check is a guard here: it is compared, not demanded.
fn evidence(
    arguments: &CheckArguments,
    settings: &mut Settings,
    repository: &Repository,
    app: &AppContext,
) -> Result<Evidence, Failure> {
    let typed = Evidence::typed(&[], &arguments.evidence, &repository.directory)?;
    let mut evidence = match typed.or_else(|| Evidence::configured(settings)) {
        Some(evidence) => evidence,
        None => Evidence::found(repository, settings, app.notices)?,
    };
    evidence.implied_goals = ImpliedGoals::None;
    for placed in &mut evidence.checks {
        placed.check.kind = CheckKind::Guard;
    }
    Ok(evidence)
}

/// Judges the working tree as the one attempt of a task that nobody will resume.
fn compare(header: JournalHeader, repository: &Repository, app: &AppContext) -> Result<FoldedRun, Failure> {
    let session = SessionContext { app, repository, screen: app.screen };
    let journal = StoredJournal::begin(FaultyDisk::new())
        .map_err(|error| Failure::Internal(format!("a journal in memory: {error}")))?;
    let blobs: Arc<dyn Blobs> = Arc::new(MemoryBlobs::default());
    let storage = RunStorage { run: None, blobs: Arc::clone(&blobs) };
    let start = RunStart { header: header.clone(), history: None, artifacts: None };
    let outcome = session.drive(&storage, start, |executor| {
        let deps = EngineDeps { journal, blobs, clock: Arc::new(WallClock) };
        Engine::begin(deps, executor, header)
    });
    let forgotten = storage.forget(repository);
    let outcome = outcome?;
    forgotten.map(|()| outcome.folded)
}

fn tell(
    arguments: &CheckArguments,
    view: RunView<'_>,
    app: &AppContext,
    output: &mut Output,
) -> Result<u8, Failure> {
    let Some((task, last)) = view.iterations().last() else {
        let told = explain(view, app.lang);
        let cause = view.cause().unwrap_or(Cause::Stopped);
        if Form::from(arguments.json) == Form::Json {
            output.json(&serde_json::json!({ "ok": false, "cause": cause, "what": told.what,
                "evidence": told.evidence, "next": told.next }))?;
        } else {
            // What to do next speaks of runs, and this is none.
            for line in std::iter::once(&told.what).chain(&told.evidence).chain(told.next.first()) {
                output.line(line)?;
            }
        }
        return Ok(exit_code(cause));
    };
    let judged = &last.judged;
    if judged.attempt.outcome == AttemptOutcome::Infra {
        output.line(
            "the checks could not run: is there space, is a lock of theirs taken, are the services up?",
        )?;
        return Ok(exit_code(Cause::Infrastructure));
    }
    let base_tree = view.base().map(|base| &base.tree.0);
    let changed = judged.attempt.tree.as_ref() != base_tree;
    let (known, flaky) = if changed {
        (judged.comparison.known.clone(), judged.comparison.flaky.clone())
    } else {
        // Nothing was compared: what fails is what failed.
        view.task(&task.id).map(TaskView::known_at_base).unwrap_or_default()
    };
    // Vanished and newly flaky tests are listed by themselves.
    let is_new = |failure: &&ReportedFailure| {
        !matches!(failure.id(), FailureId::Vanished(_))
            && !judged.comparison.newly_flaky.contains(failure.id())
    };
    let listed = |names| texts(names).into_iter().collect::<Vec<String>>();
    let compared = Compared {
        base: arguments.base.clone(),
        ok: !changed || view.cause() == Some(Cause::Done),
        cause: view
            .cause()
            .filter(|cause| !matches!(cause, Cause::Done | Cause::MaxIterations | Cause::NotConverging)),
        new: if changed {
            judged.failures.iter().filter(is_new).map(FailureLine::from).collect()
        } else {
            Vec::new()
        },
        known: listed(&known),
        flaky: listed(&flaky),
        newly_flaky: listed(&judged.comparison.newly_flaky),
        vanished: texts(&judged.comparison.vanished).into_iter().collect(),
        scope_violations: judged.outside.clone(),
        changed,
    };
    match Form::from(arguments.json) {
        Form::Json => output.json(&compared)?,
        Form::Text => lines(&compared, output)?,
    }
    Ok(match (compared.ok, compared.cause) {
        (true, _) => 0,
        (false, Some(cause)) => exit_code(cause),
        (false, None) => SOMETHING_NEW,
    })
}

fn lines(compared: &Compared, output: &mut Output) -> Result<(), Failure> {
    output.line(&format!(
        "{} new, {} known, {} flaky, {} vanished (beside {})",
        compared.new.len(),
        compared.known.len(),
        compared.flaky.len() + compared.newly_flaky.len(),
        compared.vanished.len(),
        compared.base
    ))?;
    if !compared.changed {
        output.line(&format!(
            "the tree is as at {}; name another commit to compare with: --base",
            compared.base
        ))?;
    }
    for failure in &compared.new {
        let name = failure.test.as_deref().unwrap_or(&failure.fingerprint);
        let place = failure.place.as_ref().map(|place| format!(" at {place}")).unwrap_or_default();
        let said = failure.message.lines().next().unwrap_or_default();
        output.line(&format!("new: {name}{place}: {said}"))?;
    }
    for (names, word) in [
        (&compared.newly_flaky, "newly flaky, which blocks"),
        (&compared.vanished, "vanished"),
        (&compared.scope_violations, "outside the scope"),
        (&compared.flaky, "flaky"),
        (&compared.known, "known"),
    ] {
        names.iter().try_for_each(|name| output.line(&format!("{word}: {name}")))?;
    }
    Ok(())
}
