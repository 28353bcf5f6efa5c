//! Which of an attempt's changes are of tests, or of what decides what the checks do; and the tree without them.
//!
//! Owns the two commits as `fixpoint_proof` sees them, and which changes the settings permit. Refuses to decide what is
//! protected: that is `fixpoint_proof`.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};

use fixpoint_decide::glob::PatternSet;
use fixpoint_ports::{ChangeKind, CommitId, FileChange, WorkspaceError, Workspaces};
use fixpoint_proof::{
    Change, CheckCommand, Extent, ProofVersion, Role, Tree, proof_version, protected_changes,
};
use fixpoint_vocabulary::prepared::{PreparedAttempt, TestsAtBase};
use fixpoint_vocabulary::work::{
    CommandId, CommandResult, CommitRange, ProtectedChange, ProtectedEdit, ProtectedRole, RestorePaths,
    RestoredPath, TestName,
};

use crate::ExecutionContext;
use crate::error::ExecuteError;
use crate::path_text::{path_bytes, path_text, raw_bytes, raw_text};

/// A larger file was not written by hand, and is not taken apart.
const LARGEST: u64 = 4 << 20;
/// Changed files that are read together, and the largest of them. Others are read when they are needed.
const READ_AHEAD: usize = 500;
const LARGEST_READ_AHEAD: u64 = 64 << 10;
/// After so many files that were read one by one, the sources are read together, and so many at most.
const MISSES_BEFORE_ALL: u32 = 6;
const MOST_SOURCES: usize = 4000;
const SOURCES: [&str; 24] = [
    "bash", "bats", "c", "cc", "cjs", "cpp", "ex", "exs", "go", "h", "java", "js", "jsx", "kt", "mjs", "php",
    "pl", "pm", "py", "rb", "rs", "sh", "ts", "tsx",
];

/// The protected changes, and the commit that has these files as they were where that is not the base of the task.
type Protected = (Vec<ProtectedChange>, Option<CommitId>);

impl ExecutionContext {
    pub(crate) fn protected(
        &self,
        attempt: &PreparedAttempt,
        commit: &CommitId,
        changed: &[FileChange],
    ) -> Result<Protected, ExecuteError> {
        if self.spec.checks.is_empty() {
            return Ok((Vec::new(), None));
        }
        let tests = &attempt.tests_at_base;
        // Both sides of a merge may have changed tests. Only what the agent changed on top of them is its own.
        let Some(conflict) = &attempt.merge else {
            return Ok((self.protected_between(tests, &attempt.command.origin, commit, changed)?, None));
        };
        let merged = &attempt.command.base;
        let mut changed = self.deps.workspaces.changes(merged, commit)?;
        changed.retain(|change| !conflict.paths.contains(&path_text(&change.path)));
        let protected = self.protected_between(tests, merged, commit, &changed)?;
        Ok((protected, Some(merged.clone())))
    }

    /// The tests and check definitions that differ between two commits.
    pub(crate) fn find_protected(
        &self,
        range: &CommitRange,
        tests: &TestsAtBase,
    ) -> Result<CommandResult, ExecuteError> {
        let changed = self.deps.workspaces.changes(&range.from, &range.to)?;
        let changes = self.protected_between(tests, &range.from, &range.to, &changed)?;
        Ok(CommandResult::Protected { changes })
    }

    fn protected_between(
        &self,
        tests: &TestsAtBase,
        from: &CommitId,
        to: &CommitId,
        changed: &[FileChange],
    ) -> Result<Vec<ProtectedChange>, ExecuteError> {
        if changed.is_empty() {
            return Ok(Vec::new());
        }
        let changes: Vec<Change> = changed.iter().map(change_of).collect();
        let workspaces = &*self.deps.workspaces;
        let (base, result) = (CommitTree::open(workspaces, from)?, CommitTree::open(workspaces, to)?);
        base.read_ahead(&changes)?;
        result.read_ahead(&changes)?;
        let observed = self.observed_tests(tests)?;
        let found = protected_changes(&self.check_commands(), &observed, &changes, &base, &result);
        base.finish()?;
        result.finish()?;
        let definitions = PatternSet::new(&self.spec.settings.scope.definitions);
        let permits = |path: &str| {
            !definitions.is_empty() && definitions.matches_file(&raw_bytes(path)).covering().is_some()
        };
        Ok(found.into_iter().map(|found| recorded(found, &permits)).collect())
    }

    /// Those of some paths of a commit that are tests, or decide what the checks do.
    pub(crate) fn protected_paths(
        &self,
        commit: &CommitId,
        paths: &[Vec<u8>],
        observed: &BTreeSet<String>,
    ) -> Result<BTreeSet<String>, ExecuteError> {
        let kind = fixpoint_proof::ChangeKind::Modified;
        let changes: Vec<Change> = paths.iter().map(|path| Change { path: raw_text(path), kind }).collect();
        let tree = CommitTree::open(&*self.deps.workspaces, commit)?;
        let found = protected_changes(&self.check_commands(), observed, &changes, &tree, &tree);
        tree.finish()?;
        Ok(found.into_iter().map(|found| path_text(&raw_bytes(&found.path))).collect())
    }

    fn check_commands(&self) -> Vec<CheckCommand> {
        let checks = self.spec.checks.iter();
        checks
            .map(|placed| CheckCommand {
                command: placed.check.command.clone(),
                directory: placed.directory.clone(),
            })
            .collect()
    }

    /// The names of all tests that the checks named at the base.
    fn observed_tests(&self, tests: &TestsAtBase) -> Result<BTreeSet<String>, ExecuteError> {
        let mut names: BTreeSet<String> = tests.failed.iter().map(ToString::to_string).collect();
        for blob in &tests.passed {
            let content = self.deps.blobs.get(blob)?;
            let passed: BTreeSet<TestName> = serde_json::from_slice(&content).unwrap_or_default();
            names.extend(passed.iter().map(ToString::to_string));
        }
        Ok(names)
    }

    /// Makes a commit that is `onto` with some paths, or the protected parts of them, as they are in `from`.
    pub(crate) fn restore_paths(
        &self,
        id: CommandId,
        restore: &RestorePaths,
    ) -> Result<CommandResult, ExecuteError> {
        let (mut paths, mut files) = (Vec::new(), Vec::new());
        for path in &restore.paths {
            match path {
                RestoredPath::File(path) => paths.push(path_bytes(path)),
                RestoredPath::Part(path) => match self.mixed(restore, path)? {
                    ProofVersion::AsAtBase => paths.push(path_bytes(path)),
                    ProofVersion::AsInResult => {}
                    ProofVersion::Mixed(content) => files.push((path_bytes(path), content)),
                },
            }
        }
        let reference = self.reference(&format!("restored-{id}"));
        let workspaces = &self.deps.workspaces;
        let mut made = workspaces.graft(&restore.onto, &restore.from, &paths, &reference)?;
        if !files.is_empty() {
            made = workspaces.overlay(&made.commit, &files, &reference)?;
        }
        Ok(CommandResult::Restored { commit: made.commit, tree: made.tree })
    }

    fn mixed(&self, restore: &RestorePaths, path: &str) -> Result<ProofVersion, ExecuteError> {
        let read = |at: &CommitId| read(&*self.deps.workspaces, at, &path_bytes(path));
        let (base, result) = (read(&restore.from)?, read(&restore.onto)?);
        Ok(proof_version(&raw_text(&path_bytes(path)), base.as_deref(), result.as_deref()))
    }
}

fn read(workspaces: &dyn Workspaces, at: &CommitId, path: &[u8]) -> Result<Option<Vec<u8>>, WorkspaceError> {
    match workspaces.read_file(at, path, LARGEST) {
        Err(WorkspaceError::TooLarge { .. }) => Ok(None),
        read => read,
    }
}

fn change_of(change: &FileChange) -> Change {
    let kind = match change.kind {
        ChangeKind::Added => fixpoint_proof::ChangeKind::Added,
        ChangeKind::Modified => fixpoint_proof::ChangeKind::Modified,
        ChangeKind::Deleted => fixpoint_proof::ChangeKind::Deleted,
        ChangeKind::TypeChanged | ChangeKind::Submodule => fixpoint_proof::ChangeKind::TypeChanged,
    };
    Change { path: raw_text(&change.path), kind }
}

fn recorded(found: fixpoint_proof::ProtectedChange, permits: &dyn Fn(&str) -> bool) -> ProtectedChange {
    let is_permitted = permits(&found.path);
    let path = path_text(&raw_bytes(&found.path));
    ProtectedChange {
        role: match found.role {
            Role::Test => ProtectedRole::Test,
            Role::Definition => ProtectedRole::Definition,
            Role::Interference => ProtectedRole::Interference,
        },
        edit: match found.kind {
            fixpoint_proof::ChangeKind::Added => ProtectedEdit::Added,
            fixpoint_proof::ChangeKind::Deleted => ProtectedEdit::Deleted,
            fixpoint_proof::ChangeKind::Modified | fixpoint_proof::ChangeKind::TypeChanged => {
                ProtectedEdit::Edited
            }
        },
        what: found.what,
        path: match found.part {
            Extent::Whole => RestoredPath::File(path),
            Extent::Part => RestoredPath::Part(path),
        },
        is_permitted,
    }
}

/// The files of a commit. What cannot be read is reported by [`CommitTree::finish`]: it must not pass for absent.
struct CommitTree<'a> {
    workspaces: &'a dyn Workspaces,
    commit: &'a CommitId,
    paths: Vec<String>,
    links: BTreeMap<String, String>,
    contents: RefCell<HashMap<String, Option<Vec<u8>>>>,
    error: RefCell<Option<WorkspaceError>>,
    /// Files that were read one by one.
    misses: Cell<u32>,
}

fn is_source(path: &str) -> bool {
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    SOURCES.contains(&extension)
}

impl<'a> CommitTree<'a> {
    fn open(workspaces: &'a dyn Workspaces, commit: &'a CommitId) -> Result<Self, WorkspaceError> {
        let mut paths: Vec<String> = workspaces.files(commit)?.iter().map(|path| raw_text(path)).collect();
        paths.sort();
        let links = workspaces.links(commit)?.into_iter();
        let links = links.map(|link| (raw_text(&link.path), raw_text(&link.target))).collect();
        let (contents, error) = (RefCell::default(), RefCell::default());
        Ok(Self { workspaces, commit, paths, links, contents, error, misses: Cell::new(0) })
    }

    /// Reads changed files with a few processes instead of some for each.
    fn read_ahead(&self, changes: &[Change]) -> Result<(), WorkspaceError> {
        let names = changes.iter().map(|change| change.path.as_str());
        let names: Vec<&str> = names.filter(|path| self.is_file(path)).take(READ_AHEAD).collect();
        let paths: Vec<Vec<u8>> = names.iter().map(|path| raw_bytes(path)).collect();
        let paths: Vec<&[u8]> = paths.iter().map(Vec::as_slice).collect();
        if paths.len() < 2 {
            return Ok(());
        }
        let read = self.workspaces.read_files(self.commit, &paths, LARGEST_READ_AHEAD)?;
        let found = names.into_iter().zip(read).filter(|(_, content)| content.is_some());
        self.contents.borrow_mut().extend(found.map(|(path, content)| (path.to_string(), content)));
        Ok(())
    }

    /// Reads the sources with one process: who reads several files one by one looks for something among all of them.
    fn read_sources(&self) {
        let contents = self.contents.borrow();
        let is_wanted = |path: &&String| is_source(path) && !contents.contains_key(*path);
        let names: Vec<String> = self.paths.iter().filter(is_wanted).take(MOST_SOURCES).cloned().collect();
        drop(contents);
        let paths: Vec<Vec<u8>> = names.iter().map(|path| raw_bytes(path)).collect();
        let paths: Vec<&[u8]> = paths.iter().map(Vec::as_slice).collect();
        // What cannot be read together is read by itself, and reported then.
        let Ok(read) = self.workspaces.read_files(self.commit, &paths, LARGEST_READ_AHEAD) else { return };
        let found = names.into_iter().zip(read).filter(|(_, content)| content.is_some());
        self.contents.borrow_mut().extend(found);
    }

    fn finish(self) -> Result<(), WorkspaceError> {
        self.error.into_inner().map_or(Ok(()), Err)
    }
}

impl Tree for CommitTree<'_> {
    fn read(&self, path: &str) -> Option<Vec<u8>> {
        if !self.is_file(path) {
            return None;
        }
        if let Some(known) = self.contents.borrow().get(path) {
            return known.clone();
        }
        self.misses.set(self.misses.get() + 1);
        if self.misses.get() == MISSES_BEFORE_ALL {
            self.read_sources();
            if let Some(known) = self.contents.borrow().get(path) {
                return known.clone();
            }
        }
        let content = match read(self.workspaces, self.commit, &raw_bytes(path)) {
            Ok(content) => content,
            Err(error) => {
                self.error.replace(Some(error));
                None
            }
        };
        self.contents.borrow_mut().insert(path.to_string(), content.clone());
        content
    }

    fn is_file(&self, path: &str) -> bool {
        self.paths.binary_search_by(|known| known.as_str().cmp(path)).is_ok()
    }

    fn files(&self) -> &[String] {
        &self.paths
    }

    fn link_target(&self, path: &str) -> Option<String> {
        self.links.get(path).cloned()
    }
}
