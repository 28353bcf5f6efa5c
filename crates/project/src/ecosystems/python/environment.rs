//! Where the packages of a Python project are installed, and how a command is run with them.
//!
//! Invariant: a command that prepares an environment never writes what git would show as changed.

use super::evidence::Runner;
use super::packages::Packages;
use crate::project_directory::ProjectDirectory;
use crate::shell_quoting::shell_word;

/// Where packages come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Environment {
    /// A tool with a lock file.
    Locked(Tool),
    /// `.venv` in the project's directory, filled by pip.
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

const TOOLS: [Tool; 4] = [Tool::Uv, Tool::Poetry, Tool::Pdm, Tool::Pipenv];

impl Tool {
    pub(super) fn lock_file(self) -> &'static str {
        match self {
            Self::Uv => "uv.lock",
            Self::Poetry => "poetry.lock",
            Self::Pdm => "pdm.lock",
            Self::Pipenv => "Pipfile.lock",
        }
    }

    pub(super) fn program(self) -> &'static str {
        match self {
            Self::Uv => "uv",
            Self::Poetry => "poetry",
            Self::Pdm => "pdm",
            Self::Pipenv => "pipenv",
        }
    }
}

/// The tool whose lock file is there.
pub(super) fn locked(dir: &ProjectDirectory<'_>) -> Option<Tool> {
    TOOLS.into_iter().find(|tool| dir.exists(tool.lock_file()))
}

impl Environment {
    pub(super) fn lock_file(self) -> Option<&'static str> {
        match self {
            Self::Locked(tool) => Some(tool.lock_file()),
            Self::Venv | Self::Machine => None,
        }
    }

    /// The commands that prepare it; `project` says whether pip installs the project itself.
    pub(super) fn setup(
        self,
        dir: &ProjectDirectory<'_>,
        packages: &Packages,
        project: &ProjectItself,
    ) -> Vec<String> {
        let option = |name: &str, value: &Option<String>| {
            let value = value.as_ref().map(|value| format!(" {name} {}", shell_word(value)));
            value.unwrap_or_default()
        };
        // The group `dev` is installed anyway.
        let group = packages.group.clone().filter(|group| group != "dev");
        let (extra, group) = (|name| option(name, &packages.extra), |name| option(name, &group));
        match self {
            // `--frozen` leaves the lock file alone even where it is not up to date.
            Self::Locked(Tool::Uv) => {
                vec![format!("uv sync --frozen{}{}", extra("--extra"), group("--group"))]
            }
            Self::Locked(Tool::Poetry) => {
                vec![format!("poetry install{}{}", extra("--extras"), group("--with"))]
            }
            Self::Locked(Tool::Pdm) => vec![format!("pdm sync{}{}", extra("-G"), group("-G"))],
            Self::Locked(Tool::Pipenv) => vec!["pipenv sync --dev".to_string()],
            Self::Venv => in_venv(dir, packages, project),
            Self::Machine => Vec::new(),
        }
    }

    /// The command that runs the tests.
    pub(super) fn test(self, runner: &Runner) -> String {
        let arguments = runner.arguments();
        let prefix = match self {
            Self::Locked(tool) => format!("{} run ", tool.program()),
            Self::Venv => return format!(".venv/bin/python {arguments}"),
            Self::Machine => return format!("python3 {arguments}"),
        };
        match runner {
            Runner::Pytest => format!("{prefix}pytest"),
            Runner::Unittest { .. } | Runner::Django => format!("{prefix}python {arguments}"),
        }
    }
}

/// Whether pip installs the project itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ProjectItself {
    Installed,
    /// As this version, which its build cannot find out.
    InstalledAs(String),
    NotInstalled,
}

fn in_venv(dir: &ProjectDirectory<'_>, packages: &Packages, project: &ProjectItself) -> Vec<String> {
    let mut commands = vec![dir.filling("python3 -m venv .venv", ".venv")];
    let mut arguments = Vec::new();
    match (project, &packages.extra) {
        // Without `-e`, the tests would use a copy that the agent's changes never reach.
        (ProjectItself::Installed | ProjectItself::InstalledAs(_), Some(extra)) => {
            arguments.push(format!("-e {}", shell_word(&format!(".[{extra}]"))));
        }
        (ProjectItself::Installed | ProjectItself::InstalledAs(_), None) => {
            arguments.push("-e .".to_string())
        }
        (ProjectItself::NotInstalled, _) => {}
    }
    if let Some(group) = &packages.group {
        // The pip that `venv` brings may be older than 25.1, the first that knows groups.
        commands.push(".venv/bin/pip install --upgrade pip".to_string());
        arguments.push(format!("--group {}", shell_word(group)));
    }
    arguments.extend(packages.files.iter().map(|path| format!("-r {}", shell_word(path))));
    arguments.extend(packages.names.iter().map(|name| shell_word(name).into_owned()));
    if !arguments.is_empty() {
        let version = match project {
            ProjectItself::InstalledAs(version) => format!("SETUPTOOLS_SCM_PRETEND_VERSION={version} "),
            ProjectItself::Installed | ProjectItself::NotInstalled => String::new(),
        };
        commands.push(format!("{version}.venv/bin/pip install {}", arguments.join(" ")));
    }
    commands
}
