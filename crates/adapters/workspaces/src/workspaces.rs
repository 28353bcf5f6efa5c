//! The user's repository with its pool of slots.
//!
//! Owns opening it and deciding where objects and references are stored. Refuses to write anything to the user's
//! repository but objects and `refs/fixpoint/`; if even that is not possible, both are stored in the pool.

use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use fixpoint_ports::{
    BranchUpdate, Cancel, CommitId, CommittedTree, CopyReport, DiffStyle, FileChange, MergedTree, Recovery,
    Slot, SlotRequest, Snapshot, SymbolicLink, WorkspaceError, Workspaces,
};

use crate::completeness::probe;
use crate::contents::Contents;
use crate::files::{create_directory, io_error, write};
use crate::git::{ConfigFiles, GitCommand, git_version};
use crate::listing::Listings;
use crate::pool;
use crate::private_git_dir::{Head, quoted_line, write_git_dir};
use crate::repository::Repository;

/// Where new objects and references are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ResultStorage {
    /// In the user's repository, or separately if its objects cannot be written.
    #[default]
    Automatic,
    /// In the pool of slots.
    Separate,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceOptions {
    /// At most this many slots for agents.
    pub agent_slots: u32,
    /// At most this many slots for checks.
    pub check_slots: u32,
    /// How long a request waits for a slot that is in use.
    pub wait: Duration,
    /// Bytes that must stay free on the disk in addition to the files of a new slot.
    pub spare_bytes: u64,
    pub storage: ResultStorage,
}

impl Default for WorkspaceOptions {
    fn default() -> Self {
        Self {
            agent_slots: 4,
            check_slots: 2,
            wait: Duration::from_secs(60),
            spare_bytes: 256 << 20,
            storage: ResultStorage::Automatic,
        }
    }
}

/// Where `refs/fixpoint/` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RefStorage {
    UsersRepository,
    Pool,
}

/// Repositories that borrow objects from each other, at most.
const MOST_OBJECT_DIRECTORIES: usize = 64;

/// What all slots share.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) repository: Repository,
    /// New objects are written here. Its alternates lead to all the others.
    pub(crate) objects: PathBuf,
    pub(crate) ref_storage: RefStorage,
    /// The directory of the pool.
    pub(crate) pool: PathBuf,
    pub(crate) options: WorkspaceOptions,
    /// Wakes the threads of this process that wait for a slot.
    pub(crate) slot_freed: Condvar,
    pub(crate) waiting: Mutex<()>,
    pub(crate) listings: Listings,
    pub(crate) contents: Contents,
}

/// The user's repository and its private workspaces.
#[derive(Debug, Clone)]
pub struct GitWorkspaces {
    pub(crate) inner: Arc<Inner>,
}

impl GitWorkspaces {
    /// Opens the repository that `start` is in, with its slots below `slots_root`.
    pub fn open(start: &Path, slots_root: &Path, options: WorkspaceOptions) -> Result<Self, WorkspaceError> {
        let repository = std::thread::scope(|scope| {
            // Each of these starts processes, so they run at the same time.
            let version = scope.spawn(git_version);
            let found = Repository::find(start);
            version.join().unwrap_or_else(|_| git_version())?;
            found
        })?;
        let pool = create_pool(slots_root, &repository)?;
        let ref_storage = match options.storage {
            ResultStorage::Separate => RefStorage::Pool,
            ResultStorage::Automatic if can_write(&repository.objects) => RefStorage::UsersRepository,
            ResultStorage::Automatic => RefStorage::Pool,
        };
        let objects = match ref_storage {
            RefStorage::UsersRepository => repository.objects.clone(),
            RefStorage::Pool => pool.join("store/objects"),
        };
        write_git_dir(&pool.join("store"), &repository, &repository.objects, Head::Unborn)?;
        let inner = Inner {
            repository,
            objects,
            ref_storage,
            pool,
            options,
            slot_freed: Condvar::new(),
            waiting: Mutex::new(()),
            listings: Listings::default(),
            contents: Contents::default(),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// The root of the user's working tree.
    pub fn root(&self) -> &Path {
        &self.inner.repository.tree
    }

    /// Fails if the revision is not a commit or, without one, if the repository has no commits and no files.
    pub fn require_base(&self, revision: Option<&str>) -> Result<(), WorkspaceError> {
        self.inner.require_base(revision)
    }

    /// The directory of this repository's slots.
    pub fn pool(&self) -> &Path {
        &self.inner.pool
    }

    /// The directories that workspaces read objects from: the user's, those that these borrow from, and our own.
    pub fn object_directories(&self) -> Vec<PathBuf> {
        let mut found = vec![self.inner.repository.objects.clone(), self.inner.objects.clone()];
        found.push(self.inner.pool.join("store/objects"));
        let mut index = 0;
        while let Some(directory) = found.get(index).cloned() {
            let listed = std::fs::read_to_string(directory.join("info/alternates")).unwrap_or_default();
            for line in listed.lines().filter(|line| !line.is_empty() && !line.starts_with(['#', '"'])) {
                let borrowed = directory.join(line);
                if !found.contains(&borrowed) && found.len() < MOST_OBJECT_DIRECTORIES {
                    found.push(borrowed);
                }
            }
            index += 1;
        }
        found
    }
}

impl Workspaces for GitWorkspaces {
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

    fn recover(&self) -> Result<Recovery, WorkspaceError> {
        self.inner.recover_all()
    }

    fn copy_ignored(&self, slot: &dyn Slot, patterns: &[String]) -> Result<CopyReport, WorkspaceError> {
        self.inner.copy_ignored(slot.directory(), patterns)
    }

    fn changes(&self, from: &CommitId, to: &CommitId) -> Result<Vec<FileChange>, WorkspaceError> {
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

    fn links(&self, at: &CommitId) -> Result<Vec<SymbolicLink>, WorkspaceError> {
        self.inner.links(at)
    }

    fn recent_subjects(&self, at: &CommitId, limit: u32) -> Result<Vec<String>, WorkspaceError> {
        self.inner.recent_subjects(at, limit)
    }

    fn graft(
        &self,
        onto: &CommitId,
        from: &CommitId,
        paths: &[Vec<u8>],
        reference: &str,
    ) -> Result<CommittedTree, WorkspaceError> {
        self.inner.graft(onto, from, paths, reference)
    }

    fn overlay(
        &self,
        onto: &CommitId,
        files: &[(Vec<u8>, Vec<u8>)],
        reference: &str,
    ) -> Result<CommittedTree, WorkspaceError> {
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

    fn reword(&self, commit: &CommitId, message: &str, reference: &str) -> Result<CommitId, WorkspaceError> {
        self.inner.reword(commit, message, reference)
    }

    fn deliver_branch(
        &self,
        branch: &str,
        commit: &CommitId,
        replaces: Option<&CommitId>,
    ) -> Result<BranchUpdate, WorkspaceError> {
        self.create_or_move(branch, commit, replaces)
    }

    fn fast_forward(&self, branch: &str, commit: &CommitId) -> Result<BranchUpdate, WorkspaceError> {
        self.forward(branch, commit)
    }
}

impl Inner {
    /// A git process without a working tree, so that attributes in no tree have any effect.
    pub(crate) fn object_git(&self, subcommand: &'static str) -> GitCommand {
        GitCommand::new(ConfigFiles::Private, subcommand)
            .env("GIT_DIR", self.pool.join("store"))
            .env("GIT_OBJECT_DIRECTORY", &self.objects)
            .current_dir(&self.pool)
    }

    /// A temporary directory for one operation, removed with the value.
    pub(crate) fn scratch(&self) -> Result<tempfile::TempDir, WorkspaceError> {
        let directory = self.pool.join("scratch");
        create_directory(&directory)?;
        tempfile::tempdir_in(&directory).map_err(io_error(&directory))
    }
}

/// Creates the directory of a repository's slots. Linked worktrees of one repository share it.
fn create_pool(slots_root: &Path, repository: &Repository) -> Result<PathBuf, WorkspaceError> {
    create_directory(slots_root)?;
    let root = std::fs::canonicalize(slots_root).map_err(io_error(slots_root))?;
    let hash = blake3::hash(repository.common_dir.as_os_str().as_bytes()).to_hex();
    let name = repository.tree.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    let name: String = name.chars().take(40).map(plain).collect();
    let pool = root.join(format!("{name}-{}", hash.get(..16).unwrap_or_default()));
    create_directory(&pool)?;
    write(&pool.join("repository"), &quoted_line(repository.common_dir.as_os_str().as_bytes()))?;
    // An agent that deletes its `.git` and goes on would otherwise find whatever repository is further up.
    write(&pool.join(".git"), b"gitdir: /nowhere/this-slot-has-lost-its-repository\n")?;
    Ok(pool)
}

fn can_write(objects: &Path) -> bool {
    // On a full disk everything else must wait too, and results belong in the repository.
    match probe(objects) {
        Ok(()) => true,
        Err(error) => matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded),
    }
}
