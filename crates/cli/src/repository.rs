//! The repository that the working directory is in, with its runs and its private workspaces.

use std::path::{Path, PathBuf};
use std::time::Duration;

use fixpoint_runs::{RunDirectory, StateDirectory};
use fixpoint_vocabulary::Redacted;
use fixpoint_vocabulary::run_spec::{BaseSource, Delivery, PlacedCheck, RunSpec};
use fixpoint_vocabulary::settings::Settings;
use fixpoint_workspaces::{GitWorkspaces, WorkspaceOptions};
use nix::unistd::{AccessFlags, access};

use crate::app_context::AppContext;
use crate::failure::Failure;

/// Another run may use all workspaces for as long as its agents and checks take. A stop ends the waiting.
const SLOT_WAIT: Duration = Duration::from_secs(24 * 3600);

#[derive(Debug, Clone)]
pub(crate) struct Repository {
    pub(crate) workspaces: GitWorkspaces,
    pub(crate) state: StateDirectory,
    /// The working directory relative to the root; empty for the root.
    pub(crate) directory: String,
}

impl Repository {
    /// Opens the repository with as many workspaces as the settings need.
    pub(crate) fn open(app: &AppContext, settings: &Settings) -> Result<Self, Failure> {
        Self::open_with(app, settings, &app.cache_dir()?.join("slots"))
    }

    /// Opens the repository with its workspaces in a directory of their own.
    pub(crate) fn open_with(app: &AppContext, settings: &Settings, slots: &Path) -> Result<Self, Failure> {
        let working_dir = app.working_dir()?;
        let defaults = WorkspaceOptions::default();
        let options = WorkspaceOptions {
            agent_slots: settings.max_workers + 1,
            check_slots: settings.check_options.max_parallel.max(defaults.check_slots),
            wait: SLOT_WAIT,
            ..defaults
        };
        let (cache, state) = (app.cache_dir()?, app.state_dir()?);
        for directory in [&cache, &state] {
            std::fs::create_dir_all(directory)
                .and_then(|()| Ok(access(directory, AccessFlags::W_OK | AccessFlags::X_OK)?))
                .map_err(|source| Failure::NoStorage { path: directory.clone(), source })?;
        }
        let workspaces = GitWorkspaces::open(&working_dir, slots, options)?;
        let directory = relative_to(workspaces.root(), &working_dir)?;
        let name = workspaces.pool().file_name().unwrap_or_default().to_string_lossy().into_owned();
        let state = StateDirectory::new(&state, &name);
        Ok(Self { workspaces, state, directory })
    }

    /// Opens the repository to read its runs.
    pub(crate) fn look(app: &AppContext) -> Result<Self, Failure> {
        Self::open(app, &Settings::default())
    }

    /// The run with a name, or with the beginning of one.
    pub(crate) fn find(&self, name: &str) -> Result<RunDirectory, Failure> {
        Ok(self.state.find(name)?)
    }

    /// A run in this repository that has no goal, starts no agent and delivers nothing. `base` is the commit to start
    /// from, if not the working tree.
    pub(crate) fn run_spec(
        &self,
        base: Option<&str>,
        checks: Vec<PlacedCheck>,
        settings: Settings,
    ) -> RunSpec {
        RunSpec {
            version: env!("CARGO_PKG_VERSION").to_string(),
            repository: self.root().to_string_lossy().into_owned(),
            directory: self.directory.clone(),
            goal: Redacted::default(),
            agent: Vec::new(),
            checks,
            base: base.map_or(BaseSource::WorkingTree, |commit| BaseSource::Revision(commit.to_string())),
            settings,
            delivery: Delivery::Nothing,
        }
    }

    /// The root of the working tree.
    pub(crate) fn root(&self) -> &Path {
        self.workspaces.root()
    }
}

/// A directory relative to the root.
fn relative_to(root: &Path, directory: &Path) -> Result<String, Failure> {
    let canonical = |path: &Path| -> PathBuf { path.canonicalize().unwrap_or_else(|_| path.to_path_buf()) };
    let (root, directory) = (canonical(root), canonical(directory));
    let inside = directory.strip_prefix(&root).unwrap_or(Path::new(""));
    inside.to_str().map(ToString::to_string).ok_or_else(|| {
        Failure::BadInput(format!(
            "the path of {} is not valid UTF-8; change to another directory",
            directory.display()
        ))
    })
}
