//! Leaves out the detected checks that do not work, so that one of them does not stop the others.
//!
//! Each check runs once at the base before the run; what it shows there is cached, so the run does not repeat it. Checks
//! that a person gave are never left out. Invariant: at least one check stays; if none works, all stay, and the run says
//! why it cannot start.

use std::collections::BTreeSet;
use std::sync::Arc;

use fixpoint_decide::usability::{self, Unusable, Usability};
use fixpoint_execute::check_log;
use fixpoint_failures::environment_problem;
use fixpoint_journal::MemoryBlobs;
use fixpoint_vocabulary::run_spec::RunSpec;
use fixpoint_vocabulary::settings::{BaselineReuse, Settings};
use fixpoint_vocabulary::work::{CheckReport, Leftovers, ReportedFailure};

use crate::failure::Failure;
use crate::selected_checks::{ChecksOrigin, SelectedChecks};
use crate::session::{RunStorage, SessionContext};
use crate::single_commands::{NoResult, SingleCommands};

/// How trying the checks ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Preflight {
    Done,
    Stopped,
}

/// What a check that fails and shows nothing passing is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailingCheck {
    /// Nothing: it is only compared.
    Compared,
    /// It becomes a goal.
    Goal,
    /// It becomes a goal if it names the tests that fail.
    GoalIfTests,
}

/// `base` is the commit to start from, if not the working tree.
pub(crate) fn leave_out_unusable(
    selected: &mut SelectedChecks,
    failing: FailingCheck,
    base: Option<&str>,
    settings: &Settings,
    session: &SessionContext<'_>,
) -> Result<Preflight, Failure> {
    let is_alone = selected.checks.len() < 2;
    // Without the cache, everything would run twice.
    let is_repeated = settings.baseline.reuse == BaselineReuse::Never;
    if selected.origin == ChecksOrigin::Given || is_alone || is_repeated {
        return Ok(Preflight::Done);
    }
    let storage = RunStorage { run: None, blobs: Arc::new(MemoryBlobs::default()) };
    let spec = session.repository.run_spec(base, selected.checks.clone(), settings.clone());
    let tried = tried(spec, failing, session, &storage);
    storage.forget(session.repository)?;
    match tried? {
        Ok(unusable) if unusable.len() < selected.checks.len() => {
            let mut number = 0;
            selected.checks.retain(|placed| {
                let stays = !unusable.contains(&number);
                number += 1;
                if !stays {
                    let command = &placed.check.command;
                    session.app.notice(
                        format!(
                            "left out: `{command}` does not work here; `fixpoint init --verify` says why"
                        ),
                        format!(
                            "除外: `{command}` は動作しません。理由は `fixpoint init --verify` で確認できます"
                        ),
                    );
                }
                stays
            });
            Ok(Preflight::Done)
        }
        // The run meets the same problem and explains it.
        Ok(_) | Err(NoResult::Failed(_)) => Ok(Preflight::Done),
        Err(NoResult::Stopped) => Ok(Preflight::Stopped),
    }
}

/// The numbers of the checks that do not work.
fn tried(
    spec: RunSpec,
    failing: FailingCheck,
    session: &SessionContext<'_>,
    storage: &RunStorage<'_>,
) -> Result<Result<BTreeSet<u32>, NoResult>, Failure> {
    let numbers: Vec<u32> = (0u32..).zip(&spec.checks).map(|(number, _)| number).collect();
    let mut commands = SingleCommands::begin(session, storage, spec)?;
    let base = match commands.take_base() {
        Ok(base) => base,
        Err(why) => return Ok(Err(why)),
    };
    let mut unusable = BTreeSet::new();
    for number in numbers {
        match commands.run_check(&base, number, Leftovers::Baseline) {
            Ok((id, report)) => {
                let output = std::fs::read(check_log(&commands.outputs, id, 0)).unwrap_or_default();
                if is_useless(&report, &String::from_utf8_lossy(&output), failing) {
                    unusable.insert(number);
                }
            }
            Err(why) => return Ok(Err(why)),
        }
    }
    Ok(Ok(unusable))
}

/// A check that only fails can still be a goal, unless it fails because something is not installed.
fn is_useless(report: &CheckReport, output: &str, failing: FailingCheck) -> bool {
    let names_tests = || report.failures.iter().any(|failure: &ReportedFailure| failure.test().is_some());
    match (usability::decide(report), failing) {
        (Usability::Usable, _) => false,
        (Usability::Unusable(Unusable::ShowsNothingPassing), FailingCheck::Compared) => true,
        (Usability::Unusable(Unusable::ShowsNothingPassing), FailingCheck::Goal) => {
            environment_problem(output).is_some()
        }
        (Usability::Unusable(Unusable::ShowsNothingPassing), FailingCheck::GoalIfTests) => !names_tests(),
        // The run waits, too.
        (Usability::Unusable(Unusable::Waits), _) => false,
        (Usability::Unusable(Unusable::NotFound | Unusable::CouldNotRun | Unusable::NeverEnds), _) => true,
    }
}

#[cfg(test)]
mod tests {
    use fixpoint_vocabulary::work::CheckEnd;

    use super::*;

    #[test]
    fn what_cannot_be_a_goal_either_is_left_out() {
        let (none, implied) = (FailingCheck::Compared, FailingCheck::Goal);
        for (row, end, counted, output, goals, expected) in [
            ("passes", CheckEnd::Passed, 1, "", none, false),
            ("some tests pass", CheckEnd::Failed, 1, "", none, false),
            ("not found", CheckEnd::NotFound, 0, "", implied, true),
            ("fails, where nothing can be a goal", CheckEnd::Failed, 0, "1 error", none, true),
            ("fails, and can be the goal", CheckEnd::Failed, 0, "1 error", implied, false),
            ("fails for a missing module", CheckEnd::Failed, 0, "No module named pytest", implied, true),
            ("fails without tests", CheckEnd::Failed, 0, "1 error", FailingCheck::GoalIfTests, true),
            ("waits", CheckEnd::Waiting, 0, "", none, false),
        ] {
            let report = CheckReport { counted, ..CheckReport::new(0, end) };
            assert_eq!(is_useless(&report, output, goals), expected, "{row}");
        }
    }
}
