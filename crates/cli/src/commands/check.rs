//! `fixpoint check`: the working tree compared with a commit, judged like the attempt of an agent.

use std::sync::Arc;

use fixpoint_decide::convergence::Outcome;
use fixpoint_decide::run::RunOrder;
use fixpoint_decide::task_run::{ImpliedGoals, TestEdits};
use fixpoint_engine::{Desk, Engine, FORMAT, Opening, Recorded};
use fixpoint_journal::{FaultyDisk, MemoryBlobs, StoredJournal};
use fixpoint_ports::{Blobs, Clock};
use fixpoint_runs::{FailureLine, Story, explain};
use fixpoint_vocabulary::brief::{BaseOrder, Brief, Delivery};
use fixpoint_vocabulary::settings::{CheckKind, Settings};
use fixpoint_vocabulary::{Cause, Lang};
use serde::Serialize;

use super::outcome::exit_code;
use crate::app_context::AppContext;
use crate::arguments::CheckArguments;
use crate::failure::Failure;
use crate::language::say;
use crate::output::{Form, Output};
use crate::repository::Repository;
use crate::selected_checks::{self, SelectedChecks};
use crate::session::{RunStorage, SessionContext, WallClock};

/// The exit code if there are new failures.
const NEW_FAILURES: u8 = 3;

#[derive(Debug, Serialize)]
struct Comparison {
    base: String,
    ok: bool,
    /// Why the checks could not be compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<Cause>,
    new: Vec<FailureLine>,
    known: Vec<String>,
    flaky: Vec<String>,
    newly_flaky: Vec<String>,
    vanished: Vec<String>,
    scope_violations: Vec<String>,
    /// Whether the working tree differs from the base.
    changed: bool,
}

pub(crate) fn run(arguments: &CheckArguments, app: &AppContext, output: &mut Output) -> Result<u8, Failure> {
    let loaded = app.configuration(&arguments.evidence.set)?;
    let mut settings = selected_checks::with_options(loaded.settings, &arguments.evidence);
    settings.convergence.max_iterations = 1;
    let repository = Repository::open(app, &settings)?;
    repository.workspaces.require_base(Some(&arguments.base))?;
    let selected = select_checks(arguments, &mut settings, &repository, app)?;
    let test_edits = if arguments.allow_test_edits { TestEdits::Allowed } else { TestEdits::Checked };
    let order = selected.order(&settings, test_edits);
    let brief = Brief {
        version: env!("CARGO_PKG_VERSION").to_string(),
        repository: repository.root().to_string_lossy().into_owned(),
        directory: repository.directory.clone(),
        goal: fixpoint_vocabulary::Redacted::default(),
        agent: Vec::new(),
        checks: selected.checks,
        base: BaseOrder::Revision(arguments.base.clone()),
        settings,
        delivery: Delivery::Branch,
    };
    let opening =
        Opening { format: FORMAT, at: WallClock.now_ms(), order: RunOrder::given(order), brief: Some(brief) };
    let recorded = compare(opening, &repository, app)?;
    tell(arguments, &recorded, app, output)
}

/// Every check is a guard here: it is compared, and need not pass.
fn select_checks(
    arguments: &CheckArguments,
    settings: &mut Settings,
    repository: &Repository,
    app: &AppContext,
) -> Result<SelectedChecks, Failure> {
    let selected = SelectedChecks::select(&[], &arguments.evidence, settings, repository, app)?;
    let mut selected = selected.ok_or_else(selected_checks::no_checks)?;
    selected.implied_goals = ImpliedGoals::None;
    for placed in &mut selected.checks {
        placed.check.kind = CheckKind::Guard;
    }
    Ok(selected)
}

/// Judges the working tree as the only attempt of a task that is not stored.
fn compare(opening: Opening, repository: &Repository, app: &AppContext) -> Result<Recorded, Failure> {
    let session = SessionContext { app, repository, screen: app.screen };
    let journal = StoredJournal::begin(FaultyDisk::new())
        .map_err(|error| Failure::Internal(format!("cannot create a journal in memory: {error}")))?;
    let blobs: Arc<dyn Blobs> = Arc::new(MemoryBlobs::default());
    let storage = RunStorage { run: None, blobs: Arc::clone(&blobs) };
    let recorded = Recorded { opening: opening.clone(), records: Vec::new() };
    let outcome = session.drive(&storage, recorded, |executor| {
        let desk = Desk { journal, blobs, clock: Arc::new(WallClock) };
        Engine::begin(desk, executor, opening)
    });
    let forgotten = storage.forget(repository);
    let outcome = outcome?;
    forgotten.map(|()| outcome.recorded)
}

fn tell(
    arguments: &CheckArguments,
    recorded: &Recorded,
    app: &AppContext,
    output: &mut Output,
) -> Result<u8, Failure> {
    let story = Story::of(recorded);
    let Some((task, last)) = story.iterations().last() else {
        let told = explain(recorded, &story, app.lang);
        let cause = story.cause().unwrap_or(Cause::Stopped);
        if Form::from(arguments.json) == Form::Json {
            output.json(&serde_json::json!({ "ok": false, "cause": cause, "what": told.what,
                "evidence": told.evidence, "next": told.next }))?;
        } else {
            // Only the first next step: the others are about runs, and this is none.
            for line in std::iter::once(&told.what).chain(&told.evidence).chain(told.next.first()) {
                output.line(line)?;
            }
        }
        return Ok(exit_code(cause));
    };
    let judged = &last.judged;
    if judged.attempt.outcome == Outcome::Infra {
        output.line(&say(
            app.lang,
            "the checks could not run; check disk space, lock files and the services they need",
            "チェックを実行できません。ディスクの空き容量、ロックファイル、必要なサービスを確認してください",
        ))?;
        return Ok(exit_code(Cause::Infrastructure));
    }
    let base_tree = story.base().map(|base| &base.tree.0);
    let changed = judged.attempt.tree.as_ref() != base_tree;
    let (known, flaky) = if changed {
        (judged.seen.known.clone(), judged.seen.flaky.clone())
    } else {
        // Nothing was compared: everything that fails, failed before.
        task.known_at_base()
    };
    let name = |line: &FailureLine| line.test.clone().unwrap_or_else(|| line.fingerprint.clone());
    let is_new = |line: &&FailureLine| {
        !line.fingerprint.starts_with("vanished:") && !judged.seen.newly_flaky.contains(&name(line))
    };
    let all: Vec<FailureLine> = judged.failures.iter().map(FailureLine::from).collect();
    let comparison = Comparison {
        base: arguments.base.clone(),
        ok: !changed || story.cause() == Some(Cause::Done),
        cause: story
            .cause()
            .filter(|cause| !matches!(cause, Cause::Done | Cause::MaxIterations | Cause::NotConverging)),
        new: if changed { all.iter().filter(is_new).cloned().collect() } else { Vec::new() },
        known: known.into_iter().collect(),
        flaky: flaky.into_iter().collect(),
        newly_flaky: judged.seen.newly_flaky.iter().cloned().collect(),
        vanished: judged.seen.vanished.iter().cloned().collect(),
        scope_violations: judged.outside.clone(),
        changed,
    };
    match Form::from(arguments.json) {
        Form::Json => output.json(&comparison)?,
        Form::Text => lines(&comparison, app.lang).iter().try_for_each(|line| output.line(line))?,
    }
    Ok(match (comparison.ok, comparison.cause) {
        (true, _) => 0,
        (false, Some(cause)) => exit_code(cause),
        (false, None) => NEW_FAILURES,
    })
}

fn lines(comparison: &Comparison, lang: Lang) -> Vec<String> {
    let Comparison { base, new, known, flaky, newly_flaky, vanished, scope_violations, .. } = comparison;
    let (of_new, of_known, of_vanished) = (new.len(), known.len(), vanished.len());
    let of_flaky = flaky.len() + newly_flaky.len();
    let mut lines = vec![say(
        lang,
        format!(
            "{of_new} new, {of_known} known, {of_flaky} flaky, {of_vanished} vanished (compared with {base})"
        ),
        format!("新規{of_new}件、既知{of_known}件、不安定{of_flaky}件、消失{of_vanished}件（{base} と比較）"),
    )];
    if !comparison.changed {
        lines.push(say(
            lang,
            format!("no changes since {base}; --base compares with another commit"),
            format!("{base} からの変更はありません。別のコミットと比較するには --base を指定してください"),
        ));
    }
    lines.extend(new.iter().map(|failure| {
        let name = failure.test.as_deref().unwrap_or(&failure.fingerprint);
        let said = failure.message.lines().next().unwrap_or_default();
        let (at, ja_at) = failure
            .place
            .as_ref()
            .map(|place| (format!(" at {place}"), format!("（{place}）")))
            .unwrap_or_default();
        say(lang, format!("new: {name}{at}: {said}"), format!("新規: {name}{ja_at}: {said}"))
    }));
    for (names, en, ja) in [
        (newly_flaky, "newly flaky (counts as new)", "新たに不安定（新規扱い）"),
        (vanished, "vanished", "消失"),
        (scope_violations, "out of scope", "範囲外"),
        (flaky, "flaky", "不安定"),
        (known, "known", "既知"),
    ] {
        let word = say(lang, en, ja);
        lines.extend(names.iter().map(|name| format!("{word}: {name}")));
    }
    lines
}
