//! Which checks there are and what they are for: as typed, as configured, or as found.

use std::collections::BTreeSet;

use fixpoint_decide::task_run::{ImpliedGoals, TaskOrder, TestEdits};
use fixpoint_project::{Directory, look};
use fixpoint_vocabulary::brief::PlacedCheck;
use fixpoint_vocabulary::secret;
use fixpoint_vocabulary::settings::{Check, CheckKind, Settings};

use crate::arguments::EvidenceArguments;
use crate::failure::Failure;
use crate::output::Notices;
use crate::repository::Repository;

/// The name of the one task of a loop.
pub(crate) const TASK: &str = "loop";

/// Checks with the places they run in, and how they are used.
#[derive(Debug)]
pub(crate) struct Evidence {
    pub(crate) checks: Vec<PlacedCheck>,
    pub(crate) implied_goals: ImpliedGoals,
}

/// The settings with what was typed on top.
pub(crate) fn settings_with(mut settings: Settings, typed: &EvidenceArguments) -> Settings {
    let scope = &mut settings.scope;
    if !typed.allowed.is_empty() {
        scope.allowed_paths.clone_from(&typed.allowed);
    }
    if !typed.denied.is_empty() {
        scope.denied_paths.clone_from(&typed.denied);
    }
    scope.max_changed_files = typed.max_changed_files.or(scope.max_changed_files);
    scope.max_changed_lines = typed.max_changed_lines.or(scope.max_changed_lines);
    settings.workspace.env.extend(typed.env.iter().cloned());
    settings
}

impl Evidence {
    /// The checks that were typed.
    pub(crate) fn typed(
        goals: &[String],
        typed: &EvidenceArguments,
        directory: &str,
    ) -> Result<Option<Self>, Failure> {
        let of_kind = |kind: CheckKind, commands: &[String]| -> Vec<Check> {
            commands.iter().map(|command| Check::new(short(command), command.as_str(), kind)).collect()
        };
        let mut checks = of_kind(CheckKind::Goal, goals);
        checks.extend(of_kind(CheckKind::Guard, &typed.checks));
        if checks.is_empty() {
            return Ok(None);
        }
        number_same_names(&mut checks);
        for check in &mut checks {
            if check.command.trim().is_empty() {
                return Err(Failure::BadInput(
                    "a check has no command: --until and --check each take one".into(),
                ));
            }
            refuse_secret("a check", &check.command)?;
            check.timeout = typed.check_timeout.unwrap_or(check.timeout);
        }
        Ok(Some(Self { checks: placed(checks, directory), implied_goals: ImpliedGoals::None }))
    }

    /// No checks at all.
    pub(crate) const fn none() -> Self {
        Self { checks: Vec::new(), implied_goals: ImpliedGoals::None }
    }

    /// The checks of the configuration.
    pub(crate) fn configured(settings: &Settings) -> Option<Self> {
        let selected = &settings.baseline.checks;
        let is_selected = |check: &&Check| {
            check.kind == CheckKind::Goal || selected.is_empty() || selected.contains(&check.name)
        };
        let checks: Vec<Check> = settings.checks.iter().filter(is_selected).cloned().collect();
        let has_goal = checks.iter().any(|check| check.kind == CheckKind::Goal);
        let implied_goals = if has_goal { ImpliedGoals::None } else { ImpliedGoals::FailingGuards };
        (!checks.is_empty()).then(|| Self { checks: placed(checks, ""), implied_goals })
    }

    /// The checks, and the set-up for them, that looking at the project finds.
    pub(crate) fn found(
        repository: &Repository,
        settings: &mut Settings,
        notices: Notices,
    ) -> Result<Self, Failure> {
        let found = look(&Directory::new(repository.root()), &|path| repository.workspaces.ignores(path));
        if found.checks.is_empty() {
            return Err(Failure::BadInput(
                "no check was named and none was found in this project; name one with --until or --check"
                    .into(),
            ));
        }
        for check in &found.checks {
            notices.say(&format!("found the check `{}` ({})", check.check.command, check.because));
        }
        if settings.workspace.setup.is_empty() {
            for command in &found.setup {
                notices.say(&format!("found the set-up `{command}`"));
            }
            settings.workspace.setup = found.setup;
        }
        if settings.workspace.copy.is_empty() {
            settings.workspace.copy = found.copy;
        }
        let checks = found.checks.into_iter().map(|found| found.check).collect();
        Ok(Self { checks: placed(checks, ""), implied_goals: ImpliedGoals::FailingGuards })
    }

    /// The order of a task with these checks.
    pub(crate) fn order(&self, settings: &Settings, test_edits: TestEdits) -> TaskOrder {
        let of_kind = |kind: CheckKind| -> BTreeSet<u32> {
            let numbered = (0u32..).zip(&self.checks);
            numbered.filter(|(_, placed)| placed.check.kind == kind).map(|(number, _)| number).collect()
        };
        TaskOrder {
            implied_goals: self.implied_goals,
            test_edits,
            ..TaskOrder::under(settings, TASK.into(), of_kind(CheckKind::Goal), of_kind(CheckKind::Guard))
        }
    }
}

fn placed(checks: Vec<Check>, directory: &str) -> Vec<PlacedCheck> {
    checks.into_iter().map(|check| PlacedCheck { check, directory: directory.to_string() }).collect()
}

/// Checks are told apart by their names, so two that are called the same are numbered.
fn number_same_names(checks: &mut [Check]) {
    let names: Vec<String> = checks.iter().map(|check| check.name.clone()).collect();
    for (place, check) in checks.iter_mut().enumerate() {
        let before = names.iter().take(place).filter(|name| **name == check.name).count();
        if before > 0 {
            check.name = format!("{} ({})", check.name, before + 1);
        }
    }
}

/// A command as the name of a check.
fn short(command: &str) -> String {
    let line = command.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut: String = line.chars().take(60).collect();
    if cut.len() < line.len() { format!("{cut}…") } else { line }
}

/// What is recorded as it is must not hold a credential.
pub(crate) fn refuse_secret(what: &str, text: &str) -> Result<(), Failure> {
    if secret::is_in(text) {
        return Err(Failure::BadInput(format!(
            "{what} holds what looks like a credential, and it would be recorded; put it into an environment \
             variable and name that with --env"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_that_begin_alike_have_names_of_their_own() {
        let long = "x".repeat(70);
        let mut checks: Vec<Check> = [format!("{long}a"), format!("{long}b"), "c".to_string()]
            .iter()
            .map(|command| Check::new(short(command), command.as_str(), CheckKind::Goal))
            .collect();
        number_same_names(&mut checks);
        let names: BTreeSet<&str> = checks.iter().map(|check| check.name.as_str()).collect();
        assert_eq!(names.len(), 3, "{names:?}");
    }
}
