//! Which checks a command uses: those of `--until` and `--check`, else those of the settings, else those detected in the
//! project.

use std::collections::{BTreeMap, BTreeSet};

use fixpoint_config::{Detected, DetectedKind};
use fixpoint_decide::task_run::{ImpliedGoals, TaskOptions, TestEdits};
use fixpoint_project::{DetectedProject, Directory, detect};
use fixpoint_runs::beginning;
use fixpoint_vocabulary::run_spec::PlacedCheck;
use fixpoint_vocabulary::secret;
use fixpoint_vocabulary::settings::{BaselineReuse, Check, CheckKind, Settings};

use crate::app_context::AppContext;
use crate::arguments::EvidenceArguments;
use crate::failure::Failure;
use crate::repository::Repository;

/// The name of the only task of a loop.
pub(crate) const TASK: &str = "loop";

/// Characters of a command in the name of its check, at most.
const MAX_NAME: usize = 60;

#[derive(Debug)]
pub(crate) struct SelectedChecks {
    pub(crate) checks: Vec<PlacedCheck>,
    pub(crate) implied_goals: ImpliedGoals,
    pub(crate) origin: ChecksOrigin,
    /// What is used only because it was detected, each with the reason. It must be agreed to before it is run.
    pub(crate) detected: BTreeMap<Detected, String>,
}

/// Who chose the checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChecksOrigin {
    /// A person, on the command line or in the configuration: one that does not work is an error.
    Given,
    /// Fixpoint: one that does not work is left out.
    Detected,
}

/// The settings with the options of the command line on top.
pub(crate) fn with_options(mut settings: Settings, options: &EvidenceArguments) -> Settings {
    let scope = &mut settings.scope;
    if !options.allowed.is_empty() {
        scope.allowed_paths.clone_from(&options.allowed);
    }
    if !options.denied.is_empty() {
        scope.denied_paths.clone_from(&options.denied);
    }
    scope.max_changed_files = options.max_changed_files.or(scope.max_changed_files);
    scope.max_changed_lines = options.max_changed_lines.or(scope.max_changed_lines);
    settings.workspace.env.extend(options.env.iter().cloned());
    if options.fresh {
        settings.baseline.reuse = BaselineReuse::Refresh;
    }
    settings
}

/// `--allow-test-edits`
pub(crate) fn test_edits(allowed: bool) -> TestEdits {
    if allowed { TestEdits::Allowed } else { TestEdits::Checked }
}

/// The error of a command that needs checks; `options` are those that give one.
pub(crate) fn no_checks(options: &str) -> Failure {
    Failure::BadInput(format!("no checks given and none detected in this project; give one with {options}"))
}

impl SelectedChecks {
    /// `None` if there are no checks at all. Detected setup commands and files to copy go into the settings.
    pub(crate) fn select(
        goals: &[String],
        options: &EvidenceArguments,
        settings: &mut Settings,
        repository: &Repository,
        app: &AppContext,
    ) -> Result<Option<Self>, Failure> {
        if let Some(typed) = Self::typed(goals, options, &repository.directory)? {
            return Ok(Some(typed));
        }
        Self::not_typed(settings, repository, app)
    }

    /// The checks if none is typed.
    pub(crate) fn not_typed(
        settings: &mut Settings,
        repository: &Repository,
        app: &AppContext,
    ) -> Result<Option<Self>, Failure> {
        match Self::configured(settings) {
            Some(configured) => Ok(Some(configured)),
            None => Self::detected(repository, settings, app),
        }
    }

    pub(crate) const fn none() -> Self {
        let detected = BTreeMap::new();
        Self { checks: Vec::new(), implied_goals: ImpliedGoals::None, origin: ChecksOrigin::Given, detected }
    }

    /// The checks of `--until` and `--check`.
    fn typed(
        goals: &[String],
        options: &EvidenceArguments,
        directory: &str,
    ) -> Result<Option<Self>, Failure> {
        let of_kind = |kind: CheckKind, commands: &[String]| -> Vec<Check> {
            commands.iter().map(|command| Check::new(check_name(command), command.as_str(), kind)).collect()
        };
        let mut checks = of_kind(CheckKind::Goal, goals);
        checks.extend(of_kind(CheckKind::Guard, &options.checks));
        if checks.is_empty() {
            return Ok(None);
        }
        number_equal_names(&mut checks);
        for check in &mut checks {
            if check.command.trim().is_empty() {
                return Err(Failure::BadInput("a check is empty; --until and --check take a command".into()));
            }
            refuse_secret("a check", &check.command)?;
            check.timeout = options.check_timeout.unwrap_or(check.timeout);
        }
        let checks = placed(checks, directory);
        Ok(Some(Self { checks, ..Self::none() }))
    }

    /// The checks of the settings.
    fn configured(settings: &Settings) -> Option<Self> {
        let checks: Vec<Check> =
            settings.checks.iter().filter(|check| is_used(check, settings)).cloned().collect();
        let has_goal = checks.iter().any(|check| check.kind == CheckKind::Goal);
        let implied_goals = if has_goal { ImpliedGoals::None } else { ImpliedGoals::FailingGuards };
        (!checks.is_empty()).then(|| Self { checks: placed(checks, ""), implied_goals, ..Self::none() })
    }

    fn detected(
        repository: &Repository,
        settings: &mut Settings,
        app: &AppContext,
    ) -> Result<Option<Self>, Failure> {
        let ignores = |path: &str| repository.workspaces.ignores(path);
        let has_program = |name: &str| app.program(name).is_some();
        let mut found = detect(&Directory::new(repository.root()), &ignores, &has_program);
        refuse_unknown_names(&found.checks.iter().map(|found| &found.check).collect::<Vec<_>>(), settings)?;
        found.checks.retain(|found| is_used(&found.check, settings));
        if found.checks.is_empty() {
            return Ok(None);
        }
        for check in &found.checks {
            let (command, because) = (&check.check.command, &check.because);
            app.notice(
                format!("detected check: `{command}` ({because})"),
                format!("検出したチェック: `{command}`（{because}）"),
            );
        }
        let detected = used(&found, settings);
        if settings.workspace.setup.is_empty() {
            for command in &found.setup {
                app.notice(
                    format!("detected setup command: `{command}`"),
                    format!("検出したセットアップコマンド: `{command}`"),
                );
            }
            settings.workspace.setup = found.setup;
        }
        if settings.workspace.copy.is_empty() {
            settings.workspace.copy = found.copy;
        }
        let checks = found.checks.into_iter().map(|found| found.check).collect();
        let (implied_goals, origin) = (ImpliedGoals::FailingGuards, ChecksOrigin::Detected);
        Ok(Some(Self { checks: placed(checks, ""), implied_goals, origin, detected }))
    }

    /// The options of a single task with these checks.
    pub(crate) fn options(&self, settings: &Settings, test_edits: TestEdits) -> TaskOptions {
        let (goals, guards) = (self.numbers_of(CheckKind::Goal), self.numbers_of(CheckKind::Guard));
        TaskOptions {
            implied_goals: self.implied_goals,
            test_edits,
            ..TaskOptions::under(settings, TASK.into(), goals, guards)
        }
    }

    /// The positions of the checks of a kind.
    pub(crate) fn numbers_of(&self, kind: CheckKind) -> BTreeSet<u32> {
        let numbered = (0u32..).zip(&self.checks);
        numbered.filter(|(_, placed)| placed.check.kind == kind).map(|(number, _)| number).collect()
    }
}

/// What is used of a detected project, with the reason for each.
fn used(found: &DetectedProject, settings: &Settings) -> BTreeMap<Detected, String> {
    let detected = |kind: DetectedKind, what: &str| Detected { kind, what: what.to_string() };
    let checks = found
        .checks
        .iter()
        .map(|found| (detected(DetectedKind::Check, &found.check.command), found.because.to_string()));
    let setup = found.setup.iter().filter(|_| settings.workspace.setup.is_empty());
    let setup = setup.map(|command| (detected(DetectedKind::Setup, command), String::new()));
    let copy = found.copy.iter().filter(|_| settings.workspace.copy.is_empty());
    let copy = copy.map(|files| (detected(DetectedKind::Copy, files), String::new()));
    checks.chain(setup).chain(copy).collect()
}

/// Goals are always used; `baseline.checks` may select some of the guards.
fn is_used(check: &Check, settings: &Settings) -> bool {
    let selected = &settings.baseline.checks;
    check.kind == CheckKind::Goal || selected.is_empty() || selected.contains(&check.name)
}

/// A name in `baseline.checks` that no check has would silently leave a guard out.
fn refuse_unknown_names(found: &[&Check], settings: &Settings) -> Result<(), Failure> {
    let is_unknown = |name: &&String| !found.iter().any(|check| check.name == **name);
    let Some(name) = settings.baseline.checks.iter().find(is_unknown) else { return Ok(()) };
    let names = found.iter().map(|check| format!("`{}`", check.name)).collect::<Vec<_>>();
    let names = if names.is_empty() { "no checks".to_string() } else { names.join(", ") };
    Err(Failure::BadInput(format!("baseline.checks: there is no check `{name}`; found {names}")))
}

fn placed(checks: Vec<Check>, directory: &str) -> Vec<PlacedCheck> {
    checks.into_iter().map(|check| PlacedCheck { check, directory: directory.to_string() }).collect()
}

/// Reports tell checks apart by their names, so equal names get a number.
fn number_equal_names(checks: &mut [Check]) {
    let names: Vec<String> = checks.iter().map(|check| check.name.clone()).collect();
    for (index, check) in checks.iter_mut().enumerate() {
        let before = names.iter().take(index).filter(|name| **name == check.name).count();
        if before > 0 {
            check.name = format!("{} ({})", check.name, before + 1);
        }
    }
}

/// The command on one line, shortened.
fn check_name(command: &str) -> String {
    beginning(command, MAX_NAME)
}

/// Refuses text that is recorded unchanged and contains a credential.
pub(crate) fn refuse_secret(what: &str, text: &str) -> Result<(), Failure> {
    if secret::is_in(text) {
        return Err(Failure::BadInput(format!(
            "{what} contains what looks like a credential, which would be recorded; put it into an environment \
             variable and pass that with --env NAME"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_with_the_same_beginning_have_different_names() {
        let long = "x".repeat(70);
        let mut checks: Vec<Check> = [format!("{long}a"), format!("{long}b"), "c".to_string()]
            .iter()
            .map(|command| Check::new(check_name(command), command.as_str(), CheckKind::Goal))
            .collect();
        number_equal_names(&mut checks);
        let names: BTreeSet<&str> = checks.iter().map(|check| check.name.as_str()).collect();
        assert_eq!(names.len(), 3, "{names:?}");
    }

    #[test]
    fn baseline_checks_selects_guards_and_keeps_goals() {
        let mut settings = Settings::default();
        settings.baseline.checks = vec!["test".to_string()];
        let check = |name: &str, kind| Check::new(name, "true", kind);
        for (name, kind, expected) in [
            ("test", CheckKind::Guard, true),
            ("lint", CheckKind::Guard, false),
            ("lint", CheckKind::Goal, true),
        ] {
            assert_eq!(is_used(&check(name, kind), &settings), expected, "{name} as {kind:?}");
        }
        let (test, lint) = (check("test", CheckKind::Guard), check("lint", CheckKind::Guard));
        assert!(refuse_unknown_names(&[&test, &lint], &settings).is_ok());
        let refused = refuse_unknown_names(&[&lint], &settings).unwrap_err().to_string();
        assert_eq!(refused, "baseline.checks: there is no check `test`; found `lint`");
    }
}
