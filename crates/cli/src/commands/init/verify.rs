//! `fixpoint init --verify`: runs the set-up and each check once, in a new private workspace of HEAD.
//!
//! The workspace is deleted at the end, whatever happens; nothing is cached. Checks that cannot be used are moved to
//! `unusable`, so that they are written as comments. Invariant: what is reported was seen here, in this run.

use std::path::Path;
use std::sync::Arc;

use fixpoint_decide::usability::{self, Unusable, Usability};
use fixpoint_execute::check_log;
use fixpoint_failures::environment_problem;
use fixpoint_journal::MemoryBlobs;
use fixpoint_project::{DetectedCheck, DetectedProject, UnusableCheck};
use fixpoint_vocabulary::run_spec::PlacedCheck;
use fixpoint_vocabulary::settings::{BaselineReuse, Check, Settings};
use fixpoint_vocabulary::work::{CheckReport, Leftovers};
use fixpoint_vocabulary::{EnvironmentProblem, Text};

use crate::app_context::AppContext;
use crate::failure::Failure;
use crate::repository::Repository;
use crate::session::{RunStorage, SessionContext};
use crate::signals::TempDirGuard;
use crate::single_commands::{NoResult, SingleCommands};
use crate::trust::Consent;

/// Lines that are shown of the output of a command that failed.
const MOST_LINES: usize = 20;
/// Paths that are named, at most.
const MOST_PATHS: usize = 10;
/// The last set-up command: it lists what the others left that git does not ignore.
const STATUS: &str = "git status --porcelain";

/// What was seen.
#[derive(Debug)]
pub(crate) enum Verification {
    /// No check was detected, so there was nothing to try.
    NothingToTry,
    Stopped,
    SetUpFailed {
        /// What failed, in one line.
        what: String,
        missing: Option<EnvironmentProblem>,
        /// The last lines it printed.
        output: Vec<String>,
    },
    Tried {
        checks: Vec<TriedCheck>,
        /// What set-up leaves that git does not ignore.
        leftovers: Vec<String>,
    },
}

#[derive(Debug)]
pub(crate) struct TriedCheck {
    pub(crate) name: String,
    pub(crate) usability: Usability,
    pub(crate) passed: u64,
    pub(crate) failed: usize,
    pub(crate) took_ms: u64,
    pub(crate) missing: Option<EnvironmentProblem>,
    /// The last lines it printed, where it cannot be used.
    pub(crate) output: Vec<String>,
    /// The command that was tried in the end, if not the one that was detected.
    pub(crate) changed_command: Option<String>,
}

impl Verification {
    /// 0 if at least one check can be used, 7 otherwise.
    pub(crate) fn exit_code(&self) -> u8 {
        let is_usable = |check: &TriedCheck| check.usability == Usability::Usable;
        match self {
            Self::Tried { checks, .. } if checks.iter().any(is_usable) => 0,
            Self::Tried { .. } | Self::SetUpFailed { .. } | Self::NothingToTry => 7,
            Self::Stopped => 130,
        }
    }
}

/// Tries what was detected, and takes out the checks that cannot be used.
pub(crate) fn verify(project: &mut DetectedProject, app: &AppContext) -> Result<Verification, Failure> {
    let mut settings = Settings::default();
    settings.baseline.reuse = BaselineReuse::Never;
    settings.workspace.copy.clone_from(&project.copy);
    settings.workspace.setup.clone_from(&project.setup);
    settings.workspace.setup.push(STATUS.to_string());
    let cache = app.cache_dir()?;
    let unwritable = |source| Failure::NoStorage { path: cache.clone(), source };
    std::fs::create_dir_all(&cache).map_err(unwritable)?;
    let slots = tempfile::Builder::new().prefix("verify-").tempdir_in(&cache).map_err(unwritable)?;
    let guard = TempDirGuard::begin(slots.path())
        .map_err(|error| Failure::Internal(format!("cannot listen for signals: {error}")))?;
    let repository = Repository::open_with(app, &settings, slots.path())?;
    repository.workspaces.require_base(Some("HEAD"))?;
    if project.checks.is_empty() {
        return Ok(Verification::NothingToTry);
    }
    let storage = RunStorage { run: None, blobs: Arc::new(MemoryBlobs::default()) };
    let consent = Consent::by_flag();
    let session = SessionContext::new(app, &repository, consent);
    let tried = try_all(project, &settings, &session, &storage);
    storage.forget(&repository)?;
    drop(guard);
    let verification = tried?;
    if let Verification::Tried { checks, .. } = &verification {
        take_out_unusable(project, checks);
    }
    Ok(verification)
}

fn try_all(
    project: &DetectedProject,
    settings: &Settings,
    session: &SessionContext<'_>,
    storage: &RunStorage<'_>,
) -> Result<Verification, Failure> {
    let placed = |found: &DetectedCheck| PlacedCheck { check: found.check.clone(), directory: String::new() };
    let checks: Vec<PlacedCheck> = project.checks.iter().map(placed).collect();
    let spec = session.repository.run_spec(Some("HEAD"), checks, settings.clone());
    let mut commands = SingleCommands::begin(session, storage, spec)?;
    let base = match commands.take_base() {
        Ok(base) => base,
        Err(why) => return Ok(without_result(why)),
    };
    let (mut tried, mut leftovers) = (Vec::new(), Vec::new());
    for (number, found) in (0u32..).zip(&project.checks) {
        let name = &found.check.name;
        session.app.notice(format!("trying `{name}`"), format!("`{name}` を試しています"));
        // The workspace is new, and nobody but these checks uses it.
        let (id, report) = match commands.run_check(&base, number, Leftovers::Kept) {
            Ok(ran) => ran,
            Err(why) => return Ok(without_result(why)),
        };
        let log = check_log(&commands.outputs, id, 0);
        if number == 0 {
            leftovers = last_lines(&log.with_extension("set-up.log"), MOST_PATHS);
        }
        let mut seen = TriedCheck::of(name, &report, &log);
        if let Some(command) = seen.second_try(&found.check) {
            commands.set_command(number, &command);
            let (id, report) = match commands.run_check(&base, number, Leftovers::Kept) {
                Ok(ran) => ran,
                Err(why) => return Ok(without_result(why)),
            };
            let again = TriedCheck::of(name, &report, &check_log(&commands.outputs, id, 0));
            if again.usability == Usability::Usable {
                seen = TriedCheck { changed_command: Some(command), ..again };
            }
        }
        tried.push(seen);
    }
    Ok(Verification::Tried { checks: tried, leftovers })
}

fn without_result(why: NoResult) -> Verification {
    let message = match why {
        NoResult::Stopped => return Verification::Stopped,
        NoResult::Failed(message) => message,
    };
    let (what, output) = match message.split_once("; its output is in ") {
        Some((what, path)) => (what.to_string(), last_lines(Path::new(path), MOST_LINES)),
        None => (message, Vec::new()),
    };
    let missing = environment_problem(&output.join("\n"));
    Verification::SetUpFailed { what, missing, output }
}

impl TriedCheck {
    fn of(name: &str, report: &CheckReport, log: &Path) -> Self {
        let usability = usability::decide(report);
        let mut output = match usability {
            Usability::Usable => Vec::new(),
            Usability::Unusable(_) => last_lines(log, MOST_LINES),
        };
        output.extend(report.reasons.iter().map(|reason| reason.as_str().to_string()));
        let missing = environment_problem(&output.join("\n")).filter(|_| usability != Usability::Usable);
        let (passed, failed) = (report.counted, report.failures.len());
        Self {
            name: name.to_string(),
            usability,
            passed,
            failed,
            took_ms: report.took_ms,
            missing,
            output,
            changed_command: None,
        }
    }

    /// Another command that may show more. By default, pytest runs no test at all if one file cannot be imported.
    fn second_try(&self, check: &Check) -> Option<String> {
        let is_useless = self.usability == Usability::Unusable(Unusable::ShowsNothingPassing);
        let is_collection =
            check.runner == "pytest" && self.output.iter().any(|line| line.contains("during collection"));
        (is_useless && is_collection).then(|| format!("{} --continue-on-collection-errors", check.command))
    }

    /// Why it cannot be used; `None` if it can.
    pub(crate) fn problem(&self) -> Option<Text> {
        let Usability::Unusable(why) = self.usability else { return None };
        if let Some(missing) = &self.missing {
            return Some(missing.what());
        }
        let (en, ja) = match why {
            Unusable::NotFound => ("its command does not exist", "コマンドが存在しません"),
            Unusable::CouldNotRun => ("it could not run", "実行できませんでした"),
            Unusable::Waits => ("it waits for a person or a service", "人またはサービスを待っています"),
            Unusable::NeverEnds => ("it does not end in time", "時間内に終了しません"),
            Unusable::ShowsNothingPassing => (
                "it fails before any change, and no test passes",
                "変更前に失敗し、成功するテストがありません",
            ),
        };
        Some(Text::new(en, ja))
    }
}

fn take_out_unusable(project: &mut DetectedProject, tried: &[TriedCheck]) {
    let mut results = tried.iter();
    let all = std::mem::take(&mut project.checks);
    for mut detected in all {
        let result = results.next();
        if let Some(command) = result.and_then(|tried| tried.changed_command.clone()) {
            detected.check.command = command;
        }
        match result.and_then(TriedCheck::problem) {
            Some(why) => project.unusable.push(UnusableCheck { detected, why }),
            None => project.checks.push(detected),
        }
    }
}

/// The last lines of a file that are not empty.
fn last_lines(path: &Path, most: usize) -> Vec<String> {
    let text = std::fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines.iter().rev().take(most).rev().map(|line| line.trim_end().to_string()).collect()
}
