//! The user's repository with its pool of slots: what the engine holds.
//!
//! Owns opening it and deciding where objects and references go. Refuses to write anywhere in the user's repository
//! but to its objects and to `refs/fixpoint/`; where even that is not possible, both are kept apart, in the pool.

use std::fs::OpenOptions;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use fixpoint_ports::{
    BranchUpdate, Cancel, Change, CommitId, Copied, DiffStyle, MergedTree, Rescue, Slot, SlotRequest,
    Snapshot, TakenTree, WorkspaceError, Workspaces,
};

use crate::files::{make_directory, write};
use crate::git::{Git, Settings, git_version};
use crate::pool;
use crate::private::{Head, Store, quoted_line, write_git_dir};
use crate::repository::Repository;

/// Where new objects and references go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Placement {
    /// Into the user's repository, or apart if its objects cannot be written.
    #[default]
    Automatic,
    /// Apart from the user's repository in any case.
    Apart,
}

/// How many slots there may be, and where results go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Slots agents work in.
    pub agent_slots: u32,
    /// Slots checks run in.
    pub check_slots: u32,
    /// How long a request waits for a slot that is in use.
    pub wait: Duration,
    /// Bytes that must stay free beside the files of a new slot.
    pub spare_bytes: u64,
    /// Where objects and references go.
    pub placement: Placement,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            agent_slots: 4,
            check_slots: 2,
            wait: Duration::from_secs(60),
            spare_bytes: 256 << 20,
            placement: Placement::Automatic,
        }
    }
}

/// Where the names of results are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keeping {
    InRepository,
    Apart,
}

/// What slots and the repository share.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) repository: Repository,
    pub(crate) store: Store,
    pub(crate) keeping: Keeping,
    pub(crate) pool: PathBuf,
    pub(crate) options: Options,
    /// Wakes those of this process who wait for a slot.
    pub(crate) freed: Condvar,
    pub(crate) waiting: Mutex<()>,
}

/// The user's repository and its private workspaces.
#[derive(Debug, Clone)]
pub struct LocalWorkspaces {
    pub(crate) inner: Arc<Inner>,
}

impl LocalWorkspaces {
    /// Opens the repository that `start` is part of, with the slots it has under `slots_root`.
    pub fn open(start: &Path, slots_root: &Path, options: Options) -> Result<Self, WorkspaceError> {
        let repository = std::thread::scope(|scope| {
            // Which git this is is asked beside everything else that is asked of it: each question is a process.
            let asked = scope.spawn(git_version);
            let found = Repository::find(start);
            asked.join().unwrap_or_else(|_| git_version())?;
            found
        })?;
        let pool = pool_directory(slots_root, &repository)?;
        let keeping = match options.placement {
            Placement::Apart => Keeping::Apart,
            Placement::Automatic if can_write(&repository.objects) => Keeping::InRepository,
            Placement::Automatic => Keeping::Apart,
        };
        let objects = match keeping {
            Keeping::InRepository => repository.objects.clone(),
            Keeping::Apart => pool.join("store/objects"),
        };
        // The store's own objects look into the user's; whatever else is made looks into the store's or the user's.
        let behind = Store { objects: repository.objects.clone() };
        write_git_dir(&pool.join("store"), &repository, &behind, Head::Unborn)?;
        let inner = Inner {
            repository,
            store: Store { objects },
            keeping,
            pool,
            options,
            freed: Condvar::new(),
            waiting: Mutex::new(()),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// The root of the user's working tree.
    pub fn tree(&self) -> &Path {
        &self.inner.repository.tree
    }

    /// Refuses a base that cannot be taken: a commit that does not exist, or a repository with nothing in it.
    pub fn require_base(&self, revision: Option<&str>) -> Result<(), WorkspaceError> {
        self.inner.require(revision)
    }

    /// Where the slots of this repository are.
    pub fn pool(&self) -> &Path {
        &self.inner.pool
    }
}

impl Workspaces for LocalWorkspaces {
    fn snapshot(&self, reference: &str) -> Result<Snapshot, WorkspaceError> {
        self.inner.snapshot(reference)
    }

    fn resolve(&self, revision: &str, reference: &str) -> Result<Snapshot, WorkspaceError> {
        self.inner.resolve(revision, reference)
    }

    fn acquire(&self, request: &SlotRequest<'_>, cancel: &Cancel) -> Result<Box<dyn Slot>, WorkspaceError> {
        let slot = pool::acquire(&self.inner, request, cancel)?;
        Ok(Box::new(slot))
    }

    fn rescue(&self) -> Result<Rescue, WorkspaceError> {
        self.rescue_all()
    }

    fn copy_ignored(&self, slot: &dyn Slot, patterns: &[String]) -> Result<Copied, WorkspaceError> {
        self.copy_ignored_into(slot.directory(), patterns)
    }

    fn changes(&self, from: &CommitId, to: &CommitId) -> Result<Vec<Change>, WorkspaceError> {
        self.inner.changes(from, to)
    }

    fn diff(&self, from: &CommitId, to: &CommitId, style: DiffStyle) -> Result<Vec<u8>, WorkspaceError> {
        self.inner.diff(from, to, style)
    }

    fn read_file(&self, at: &CommitId, path: &[u8], limit: u64) -> Result<Option<Vec<u8>>, WorkspaceError> {
        self.inner.read_file(at, path, limit)
    }

    fn read_files(
        &self,
        at: &CommitId,
        paths: &[&[u8]],
        limit: u64,
    ) -> Result<Vec<Option<Vec<u8>>>, WorkspaceError> {
        self.inner.read_files(at, paths, limit)
    }

    fn files(&self, at: &CommitId) -> Result<Vec<Vec<u8>>, WorkspaceError> {
        self.inner.files(at)
    }

    fn recent(&self, at: &CommitId, most: u32) -> Result<Vec<String>, WorkspaceError> {
        self.inner.recent(at, most)
    }

    fn graft(
        &self,
        onto: &CommitId,
        from: &CommitId,
        paths: &[Vec<u8>],
        reference: &str,
    ) -> Result<TakenTree, WorkspaceError> {
        self.inner.graft(onto, from, paths, reference)
    }

    fn overlay(
        &self,
        onto: &CommitId,
        files: &[(Vec<u8>, Vec<u8>)],
        reference: &str,
    ) -> Result<TakenTree, WorkspaceError> {
        self.inner.overlay(onto, files, reference)
    }

    fn merge_base(&self, ours: &CommitId, theirs: &CommitId) -> Result<Option<CommitId>, WorkspaceError> {
        self.inner.merge_base(ours, theirs)
    }

    fn merge(
        &self,
        ours: &CommitId,
        theirs: &CommitId,
        reference: &str,
    ) -> Result<MergedTree, WorkspaceError> {
        self.inner.merge(ours, theirs, reference)
    }

    fn deliver_branch(&self, branch: &str, commit: &CommitId) -> Result<BranchUpdate, WorkspaceError> {
        self.make_or_forward(branch, commit)
    }

    fn fast_forward(&self, branch: &str, commit: &CommitId) -> Result<BranchUpdate, WorkspaceError> {
        self.forward(branch, commit)
    }
}

impl Inner {
    /// A git process over objects alone: it sees no working tree, so no attribute of anybody's is in force.
    pub(crate) fn object_git(&self, subcommand: &'static str) -> Git {
        Git::new(Settings::Ours, subcommand)
            .env("GIT_DIR", self.pool.join("store"))
            .env("GIT_OBJECT_DIRECTORY", &self.store.objects)
            .current_dir(&self.pool)
    }

    /// A directory for one operation, removed with the value.
    pub(crate) fn scratch(&self) -> Result<tempfile::TempDir, WorkspaceError> {
        let place = self.pool.join("scratch");
        make_directory(&place)?;
        tempfile::tempdir_in(&place).map_err(crate::files::io_error(&place))
    }
}

/// Makes the directory of a repository's slots. Working trees that share objects share it.
fn pool_directory(slots_root: &Path, repository: &Repository) -> Result<PathBuf, WorkspaceError> {
    make_directory(slots_root)?;
    let root = std::fs::canonicalize(slots_root).map_err(crate::files::io_error(slots_root))?;
    let identity = blake3::hash(repository.common_dir.as_os_str().as_bytes()).to_hex();
    let name = repository.tree.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    let name: String = name.chars().take(40).map(plain).collect();
    let pool = root.join(format!("{name}-{}", identity.get(..16).unwrap_or_default()));
    make_directory(&pool)?;
    write(&pool.join("repository"), &quoted_line(repository.common_dir.as_os_str().as_bytes()))?;
    // An agent that deletes its `.git` and goes on would otherwise find whatever repository lies further up.
    write(&pool.join(".git"), b"gitdir: /nowhere/this-slot-has-lost-its-repository\n")?;
    Ok(pool)
}

fn can_write(objects: &Path) -> bool {
    // Only an attempt tells: permissions say nothing about a file system that is mounted for reading.
    let probe = objects.join(format!("tmp_fixpoint_{}", std::process::id()));
    let made = OpenOptions::new().write(true).create(true).truncate(true).open(&probe).is_ok();
    if made {
        drop(std::fs::remove_file(&probe));
    }
    made
}
