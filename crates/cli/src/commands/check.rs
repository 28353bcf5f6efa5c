//! `fixpoint check`: the working tree compared with a commit, judged like the attempt of an agent.

use std::collections::BTreeMap;
use std::sync::Arc;

use fixpoint_decide::convergence::AttemptOutcome;
use fixpoint_decide::run::RunOptions;
use fixpoint_decide::task_run::ImpliedGoals;
use fixpoint_engine::{Engine, EngineDeps, FORMAT, JournalHeader};
use fixpoint_journal::{FaultyDisk, MemoryBlobs, StoredJournal};
use fixpoint_ports::{Blobs, Clock};
use fixpoint_runs::{
    Explanation, FailureLine, FailureWords, FoldedRun, Iteration, RunView, TaskHistory, TaskView,
    environment_lines, explain, scope_words, texts,
};
use fixpoint_vocabulary::settings::{CheckKind, Settings};
use fixpoint_vocabulary::work::{FailureId, ReportedFailure};
use fixpoint_vocabulary::{Cause, Lang};
use serde::Serialize;

use super::outcome::exit_code;
use crate::app_context::AppContext;
use crate::arguments::CheckArguments;
use crate::failure::Failure;
use crate::language::say;
use crate::output::{Form, Output};
use crate::repository::Repository;
use crate::selected_checks::{self, SelectedChecks, test_edits};
use crate::session::{RunStart, RunStorage, SessionContext, WallClock};
use crate::text_layout::wrap;
use crate::trust::AskedByProject;
use crate::usable_checks::{FailingCheck, Preflight, leave_out_unusable};

/// The exit code if there are new failures.
const NEW_FAILURES: u8 = 3;
/// Lines that are shown of the output of a set-up command that failed.
const MOST_LINES: usize = 10;

#[derive(Debug, Serialize)]
struct Comparison {
    base: String,
    ok: bool,
    /// Why the checks could not be compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<Cause>,
    new: Vec<FailureLine>,
    /// The new failures and what is out of scope, in words.
    #[serde(skip)]
    told: Vec<String>,
    known: Vec<String>,
    flaky: Vec<String>,
    newly_flaky: Vec<String>,
    vanished: Vec<String>,
    scope_violations: Vec<String>,
    /// Whether the working tree differs from the base.
    changed: bool,
    /// Tests that are known to pass, by name or by a summary.
    passed: u64,
}

pub(crate) fn run(arguments: &CheckArguments, app: &AppContext, output: &mut Output) -> Result<u8, Failure> {
    let loaded = app.configuration(&arguments.evidence.set)?;
    let asked = AskedByProject::of(&loaded);
    let mut settings = selected_checks::with_options(loaded.settings, &arguments.evidence);
    settings.convergence.max_iterations = 1;
    let repository = Repository::open(app, &settings)?;
    repository.workspaces.require_base(Some(&arguments.base))?;
    let mut selected = select_checks(arguments, &mut settings, &repository, app)?;
    let consent = asked.with_detected(&selected.detected).require(app)?;
    let session = SessionContext::new(app, &repository, consent);
    let (failing, base) = (FailingCheck::Compared, Some(arguments.base.as_str()));
    let Preflight::Done = leave_out_unusable(&mut selected, failing, base, &settings, &session)? else {
        return Ok(exit_code(Cause::Stopped));
    };
    let options = RunOptions::given(selected.options(&settings, test_edits(arguments.allow_test_edits)));
    let spec = Some(repository.run_spec(Some(&arguments.base), selected.checks, settings));
    let header = JournalHeader { format: FORMAT, at: WallClock.now_ms(), options, spec };
    let blobs: Arc<dyn Blobs> = Arc::new(MemoryBlobs::default());
    let storage = RunStorage { run: None, blobs };
    let told =
        compare(header, &storage, &session).and_then(|folded| tell(arguments, folded.view(), app, output));
    let forgotten = storage.forget(&repository);
    told.and_then(|code| forgotten.map(|()| code))
}

/// Every check is a guard here: it is compared, and need not pass.
fn select_checks(
    arguments: &CheckArguments,
    settings: &mut Settings,
    repository: &Repository,
    app: &AppContext,
) -> Result<SelectedChecks, Failure> {
    let selected = SelectedChecks::select(&[], &arguments.evidence, settings, repository, app)?;
    let mut selected = selected.ok_or_else(|| selected_checks::no_checks("--check"))?;
    selected.implied_goals = ImpliedGoals::None;
    for placed in &mut selected.checks {
        placed.check.kind = CheckKind::Guard;
    }
    Ok(selected)
}

/// Judges the working tree as the only attempt of a task that is not stored.
fn compare(
    header: JournalHeader,
    storage: &RunStorage<'_>,
    session: &SessionContext<'_>,
) -> Result<FoldedRun, Failure> {
    let journal = StoredJournal::begin(FaultyDisk::new())
        .map_err(|error| Failure::Internal(format!("cannot create a journal in memory: {error}")))?;
    let blobs = Arc::clone(&storage.blobs);
    let start = RunStart { header: header.clone(), history: None, artifacts: None, forecast: None };
    let outcome = session.drive(storage, start, |executor| {
        let deps = EngineDeps { journal, blobs, clock: Arc::new(WallClock) };
        Engine::begin(deps, executor, header)
    });
    outcome.map(|outcome| outcome.folded)
}

fn tell(
    arguments: &CheckArguments,
    view: RunView<'_>,
    app: &AppContext,
    output: &mut Output,
) -> Result<u8, Failure> {
    let Some((task, last)) = view.iterations().last() else {
        return not_compared(arguments, view, app, output);
    };
    match last.judged.attempt.outcome {
        AttemptOutcome::Infra => return could_not_run(arguments, Vec::new(), app, output),
        AttemptOutcome::Environment => {
            let reports = last.checks.iter().flat_map(|made| &made.reports);
            let lines = environment_lines(view.run, reports, app.lang);
            return could_not_run(arguments, lines, app, output);
        }
        AttemptOutcome::Complete | AttemptOutcome::Incomplete | AttemptOutcome::Waiting => {}
    }
    let comparison = compared(arguments, view, task, last, app.lang);
    match Form::from(arguments.json) {
        Form::Json => output.json(&comparison)?,
        Form::Text => output.lines(lines(&comparison, app.lang))?,
    }
    Ok(match (comparison.ok, comparison.cause) {
        (true, _) => 0,
        (false, Some(cause)) => exit_code(cause),
        (false, None) => NEW_FAILURES,
    })
}

/// The checks at the base could not be used, or the comparison was stopped. No run is stored, so no advice names one.
fn not_compared(
    arguments: &CheckArguments,
    view: RunView<'_>,
    app: &AppContext,
    output: &mut Output,
) -> Result<u8, Failure> {
    let Explanation { what, evidence, next } = explain(view, app.lang);
    let cause = view.cause().unwrap_or(Cause::Stopped);
    let evidence: Vec<String> = evidence.iter().map(|line| with_output(line)).collect();
    let (what, next) = if cause == Cause::Stopped {
        (say(app.lang, "Stopped; nothing was compared.", "停止しました。比較していません。"), None)
    } else if cause == Cause::BaselineUnusable {
        (what, next.into_iter().next())
    } else {
        let again = say(
            app.lang,
            "When the cause is fixed, run `fixpoint check` again.",
            "原因を解消してから `fixpoint check` をもう一度実行してください。",
        );
        (say(app.lang, "The checks could not run.", "チェックを実行できません。"), Some(again))
    };
    match Form::from(arguments.json) {
        Form::Json => {
            let next = Vec::from_iter(next);
            output.json(&serde_json::json!({ "ok": false, "cause": cause, "what": what,
                "evidence": evidence, "next": next }))?;
        }
        Form::Text => {
            let text = std::iter::once(what).chain(evidence).chain(next).collect::<Vec<_>>().join("\n");
            output.lines(text.lines().flat_map(|line| wrap(line, app.width(), "", "  ")))?;
        }
    }
    Ok(exit_code(cause))
}

/// An error with the last lines of the output it refers to: the file is deleted with everything else of this command.
fn with_output(line: &str) -> String {
    let named = line.split_once("; its output is in ");
    let Some((said, Ok(printed))) = named.map(|(said, path)| (said, std::fs::read(path))) else {
        return line.to_string();
    };
    let printed = String::from_utf8_lossy(&printed);
    let lines: Vec<&str> = printed.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines.iter().rev().take(MOST_LINES).rev().map(|line| format!("\n  {line}"));
    std::iter::once(said.to_string()).chain(last).collect()
}

fn could_not_run(
    arguments: &CheckArguments,
    problems: Vec<String>,
    app: &AppContext,
    output: &mut Output,
) -> Result<u8, Failure> {
    let cause = Cause::Infrastructure;
    let unknown = say(
        app.lang,
        "the checks could not run; check disk space, lock files and the services they need",
        "チェックを実行できません。ディスクの空き容量、ロックファイル、必要なサービスを確認してください",
    );
    let what = if problems.is_empty() { unknown } else { problems.join("\n") };
    match Form::from(arguments.json) {
        Form::Json => output.json(&serde_json::json!({ "ok": false, "cause": cause, "what": what }))?,
        Form::Text => output.line(&what)?,
    }
    Ok(exit_code(cause))
}

fn compared(
    arguments: &CheckArguments,
    view: RunView<'_>,
    task: &TaskHistory,
    last: &Iteration,
    lang: Lang,
) -> Comparison {
    let judged = &last.judged;
    let base_tree = view.base().map(|base| &base.tree.0);
    let changed = judged.attempt.tree.as_ref() != base_tree;
    let (known, flaky) = if changed {
        (judged.comparison.known.clone(), judged.comparison.flaky.clone())
    } else {
        // Nothing was compared: everything that fails, failed before.
        view.task(&task.id).map(TaskView::known_at_base).unwrap_or_default()
    };
    // Vanished and newly flaky tests are listed by themselves.
    let is_new = |failure: &&ReportedFailure| {
        !matches!(failure.id(), FailureId::Vanished(_))
            && !judged.comparison.newly_flaky.contains(failure.id())
    };
    let new: Vec<&ReportedFailure> = judged.failures.iter().filter(is_new).filter(|_| changed).collect();
    let told = new.iter().map(|failure| {
        let words = FailureWords::of(failure, view.run, lang);
        let is_weakened = matches!(failure.id(), FailureId::Weakened(_));
        let place = failure.place.as_ref().filter(|_| !is_weakened);
        let place = place.map(|at| say(lang, format!(" at {at}"), format!("（{at}）")));
        let subject = format!("{}{}", words.subject, place.unwrap_or_default());
        let line = FailureWords { subject, ..words }.line();
        say(lang, format!("new: {line}"), format!("新規: {line}"))
    });
    let outside = judged.outside.iter().map(|entry| {
        let entry = scope_words(entry, last, view.run, lang);
        say(lang, format!("out of scope: {entry}"), format!("範囲外: {entry}"))
    });
    let listed = |names| texts(names).into_iter().collect::<Vec<String>>();
    Comparison {
        base: arguments.base.clone(),
        ok: !changed || view.cause() == Some(Cause::Done),
        cause: view
            .cause()
            .filter(|cause| !matches!(cause, Cause::Done | Cause::MaxIterations | Cause::NotConverging)),
        told: told.chain(outside).collect(),
        new: new.into_iter().map(FailureLine::from).collect(),
        known: listed(&known),
        flaky: listed(&flaky),
        newly_flaky: listed(&judged.comparison.newly_flaky),
        vanished: texts(&judged.comparison.vanished).into_iter().collect(),
        scope_violations: judged.outside.clone(),
        changed,
        passed: if changed { passed_now(last) } else { passed_at_base(view, task) },
    }
}

fn passed_at_base(view: RunView<'_>, task: &TaskHistory) -> u64 {
    let baseline = view.task(&task.id).map(|task| task.task.baseline());
    baseline.map_or(0, |baseline| baseline.checks.values().map(|check| check.counted).sum())
}

/// Of several runs of a check the one with the most: the others run only a part of it.
fn passed_now(last: &Iteration) -> u64 {
    let mut most: BTreeMap<u32, u64> = BTreeMap::new();
    for report in last.checks.iter().flat_map(|checks| &checks.reports) {
        let passed = most.entry(report.check).or_default();
        *passed = report.counted.max(*passed);
    }
    most.values().sum()
}

/// What is said where nothing was changed: how the tests are at the base.
fn unchanged_line(comparison: &Comparison, lang: Lang) -> String {
    let Comparison { base, passed, known, flaky, .. } = comparison;
    let (en, ja) = match (*passed, known.is_empty() && flaky.is_empty()) {
        (0, true) => ("the checks pass".to_string(), "チェックはすべて成功".to_string()),
        (0, false) => {
            ("no passing test was counted".to_string(), "成功したテストは数えられていません".to_string())
        }
        (1, _) => ("1 test passes".to_string(), "テスト1件が成功".to_string()),
        (several, _) => (format!("{several} tests pass"), format!("テスト{several}件が成功")),
    };
    say(
        lang,
        format!("no changes since {base}: {en}; --base compares with another commit"),
        format!(
            "{base} からの変更はありません（{ja}）。別のコミットと比較するには --base を指定してください"
        ),
    )
}

fn lines(comparison: &Comparison, lang: Lang) -> Vec<String> {
    let Comparison { base, new, told, known, flaky, newly_flaky, vanished, .. } = comparison;
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
        lines.push(unchanged_line(comparison, lang));
    }
    lines.extend(told.iter().cloned());
    for (names, en, ja) in [
        (newly_flaky, "newly flaky (counts as new)", "新たに不安定（新規扱い）"),
        (vanished, "vanished", "消失"),
        (flaky, "flaky", "不安定"),
        (known, "known", "既知"),
    ] {
        let word = say(lang, en, ja);
        lines.extend(names.iter().map(|name| format!("{word}: {name}")));
    }
    lines
}
