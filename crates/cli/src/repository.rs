//! The repository around the working directory, with its runs and its private workspaces.

use std::path::{Path, PathBuf};
use std::time::Duration;

use fixpoint_runs::{RunDirectory, StateDirectory};
use fixpoint_vocabulary::settings::Settings;
use fixpoint_workspaces::{LocalWorkspaces, Options};

use crate::app_context::AppContext;
use crate::failure::Failure;

/// Another run may hold every workspace for as long as its agent or check takes; a stop ends the waiting.
const PATIENCE: Duration = Duration::from_secs(24 * 3600);

/// The repository around the working directory.
#[derive(Debug, Clone)]
pub(crate) struct Repository {
    /// Its workspaces.
    pub(crate) workspaces: LocalWorkspaces,
    /// Its runs.
    pub(crate) state: StateDirectory,
    /// The working directory below the root, empty for the root.
    pub(crate) directory: String,
}

impl Repository {
    /// Opens it, with as many workspaces as the settings need.
    pub(crate) fn open(app: &AppContext, settings: &Settings) -> Result<Self, Failure> {
        let working_dir = app.working_dir()?;
        let defaults = Options::default();
        let options = Options {
            agent_slots: settings.max_workers + 1,
            check_slots: settings.check_options.max_parallel.max(defaults.check_slots),
            wait: PATIENCE,
            ..defaults
        };
        let workspaces = LocalWorkspaces::open(&working_dir, &app.cache_dir()?.join("slots"), options)?;
        let directory = below(workspaces.tree(), &working_dir)?;
        let name = workspaces.pool().file_name().unwrap_or_default().to_string_lossy().into_owned();
        let state = StateDirectory::new(&app.state_dir()?, &name);
        Ok(Self { workspaces, state, directory })
    }

    /// Opens it to look at runs.
    pub(crate) fn look(app: &AppContext) -> Result<Self, Failure> {
        Self::open(app, &Settings::default())
    }

    /// The run of a name.
    pub(crate) fn find(&self, name: &str) -> Result<RunDirectory, Failure> {
        Ok(self.state.find(name)?)
    }

    /// The root of the working tree.
    pub(crate) fn root(&self) -> &Path {
        self.workspaces.tree()
    }
}

/// A directory as seen from the root.
fn below(root: &Path, directory: &Path) -> Result<String, Failure> {
    let canonical = |path: &Path| -> PathBuf { path.canonicalize().unwrap_or_else(|_| path.to_path_buf()) };
    let (root, directory) = (canonical(root), canonical(directory));
    let inside = directory.strip_prefix(&root).unwrap_or(Path::new(""));
    inside.to_str().map(ToString::to_string).ok_or_else(|| {
        Failure::BadInput(format!(
            "the name of {} is not UTF-8; change to another directory",
            directory.display()
        ))
    })
}
