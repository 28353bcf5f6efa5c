//! Where the packages of a Python project are installed, and how a command is run with them.
//!
//! Invariant: a command that prepares an environment never writes what git would show as changed.

use super::evidence::{Evidence, Named, Runner};
use crate::project_directory::ProjectDirectory;
use crate::shell_quoting::shell_word;

/// Where packages come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Environment {
    /// A tool with a lock file.
    Locked(Tool),
    /// `.venv` in the project's directory, filled from requirement files.
    Venv,
    /// What `python3` of the machine has.
    Machine,
}

/// A tool that keeps an environment by a lock file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tool {
    Uv,
    Poetry,
    Pdm,
    Pipenv,
}

impl Tool {
    fn lock_file(self) -> &'static str {
        match self {
            Self::Uv => "uv.lock",
            Self::Poetry => "poetry.lock",
            Self::Pdm => "pdm.lock",
            Self::Pipenv => "Pipfile.lock",
        }
    }
}

/// A lock file decides; then requirement files.
pub(super) fn of(dir: &ProjectDirectory<'_>, requirements: &[String]) -> Environment {
    let tools = [Tool::Uv, Tool::Poetry, Tool::Pdm, Tool::Pipenv];
    match tools.into_iter().find(|tool| dir.exists(tool.lock_file())) {
        Some(tool) => Environment::Locked(tool),
        None if !requirements.is_empty() && dir.is_ignored(".venv/") => Environment::Venv,
        None => Environment::Machine,
    }
}

impl Environment {
    pub(super) fn lock_file(self) -> Option<&'static str> {
        match self {
            Self::Locked(tool) => Some(tool.lock_file()),
            Self::Venv | Self::Machine => None,
        }
    }

    /// The command that prepares it.
    pub(super) fn setup(self, requirements: &[String], evidence: &Evidence) -> Option<String> {
        let extras = if evidence.named.contains(&Named::InExtras) { " --all-extras" } else { "" };
        let groups = if evidence.named.contains(&Named::InGroup) { " --all-groups" } else { "" };
        Some(match self {
            // `--frozen` leaves the lock file alone even where it is not up to date.
            Self::Locked(Tool::Uv) => format!("uv sync --frozen{extras}{groups}"),
            Self::Locked(Tool::Poetry) => format!("poetry install{extras}"),
            Self::Locked(Tool::Pdm) => "pdm sync -G :all".to_string(),
            Self::Locked(Tool::Pipenv) => "pipenv sync --dev".to_string(),
            Self::Venv => {
                let files: Vec<String> =
                    requirements.iter().map(|name| format!(" -r {}", shell_word(name))).collect();
                let wants_pytest =
                    evidence.runner == Runner::Pytest && !evidence.named.contains(&Named::InRequirements);
                let pytest = if wants_pytest { " pytest" } else { "" };
                format!("python3 -m venv .venv && .venv/bin/pip install{}{pytest}", files.concat())
            }
            Self::Machine => return None,
        })
    }

    /// The command that runs the tests.
    pub(super) fn test(self, runner: &Runner) -> String {
        let module = match runner {
            Runner::Pytest => "pytest".to_string(),
            Runner::Unittest { start: None } => "unittest discover".to_string(),
            Runner::Unittest { start: Some(directory) } => format!("unittest discover -s {directory}"),
        };
        let prefix = match self {
            Self::Locked(Tool::Uv) => "uv run",
            Self::Locked(Tool::Poetry) => "poetry run",
            Self::Locked(Tool::Pdm) => "pdm run",
            Self::Locked(Tool::Pipenv) => "pipenv run",
            Self::Venv => return format!(".venv/bin/python -m {module}"),
            Self::Machine => return format!("python3 -m {module}"),
        };
        match runner {
            Runner::Pytest => format!("{prefix} {module}"),
            Runner::Unittest { .. } => format!("{prefix} python -m {module}"),
        }
    }
}
