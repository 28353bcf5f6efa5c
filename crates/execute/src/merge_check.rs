//! What an attempt to resolve a merge lost of either side, over all files that either changed.
//!
//! Owns reading the versions, following what one side renamed and the other changed, and the names of what is lost.
//! Refuses to judge lines: that is `fixpoint_decide::merging`. Invariant: a file that a side changed and that the
//! result has otherwise is compared, whether it conflicted or not; what cannot be compared must be one of the sides.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use fixpoint_decide::merging::{FourVersions, Loss, MergeProblem, Side, problems};
use fixpoint_ports::{ChangeKind, CommitId, DiffStyle, FileChange, WorkspaceError};
use fixpoint_vocabulary::prepared::PreparedAttempt;
use fixpoint_vocabulary::work::{Conflict, FailureId, LostPart, ReportedFailure};

use crate::ExecutionContext;
use crate::error::ExecuteError;
use crate::path_text::{path_bytes, path_text};

/// A file larger than this was not written by hand; it is compared as a whole.
const LARGEST: u64 = 4 << 20;
/// More than an agent repairs in one attempt.
const MOST: usize = 100;
/// New files that are looked at for what a side renamed.
const MOST_RENAMED: usize = 50;

type Kinds = BTreeMap<Vec<u8>, ChangeKind>;

/// Two sides and what was made of them, by the paths that differ.
struct Merging<'a> {
    base: Option<CommitId>,
    conflict: &'a Conflict,
    result: &'a CommitId,
    changed: [Kinds; 2],
    /// Where the result is not as each side is.
    differs: [Kinds; 2],
}

/// One file of one commit.
#[derive(Clone)]
enum Content {
    Absent,
    LineSplitter(Vec<u8>),
    /// A link, a submodule, or too large.
    Whole,
}

impl Content {
    fn lines(&self) -> Option<&[u8]> {
        match self {
            Self::LineSplitter(content) => Some(content),
            Self::Absent | Self::Whole => None,
        }
    }
}

const fn of<T>(side: Side, [ours, theirs]: &[T; 2]) -> &T {
    match side {
        Side::Ours => ours,
        Side::Theirs => theirs,
    }
}

fn kinds(changes: Vec<FileChange>) -> Kinds {
    changes.into_iter().map(|change| (change.path, change.kind)).collect()
}

impl Merging<'_> {
    const fn commit(&self, side: Side) -> &CommitId {
        match side {
            Side::Ours => &self.conflict.ours,
            Side::Theirs => &self.conflict.theirs,
        }
    }

    /// The sides that changed a path.
    fn changers(&self, path: &[u8]) -> Vec<Side> {
        Side::BOTH.into_iter().filter(|side| of(*side, &self.changed).contains_key(path)).collect()
    }

    fn is_as(&self, side: Side, path: &[u8]) -> bool {
        !of(side, &self.differs).contains_key(path)
    }

    fn is_removed_by(&self, side: Side, path: &[u8]) -> bool {
        of(side, &self.changed).get(path) == Some(&ChangeKind::Deleted)
    }

    /// A side whose change of a file's type or mode is undone, though nobody else changed that.
    fn undone_type(&self, path: &[u8]) -> Option<Side> {
        let is_type = |kinds: &Kinds| kinds.get(path) == Some(&ChangeKind::TypeChanged);
        Side::BOTH.into_iter().find(|side| {
            let others =
                Side::BOTH.into_iter().any(|other| other != *side && is_type(of(other, &self.changed)));
            is_type(of(*side, &self.changed)) && is_type(of(*side, &self.differs)) && !others
        })
    }
}

impl ExecutionContext {
    /// What is lost or still marked of two sides, if the task is to merge them.
    pub(crate) fn unresolved(
        &self,
        order: &PreparedAttempt,
        result: &CommitId,
    ) -> Result<Vec<ReportedFailure>, ExecuteError> {
        let Some(conflict) = &order.merge else { return Ok(Vec::new()) };
        let merging = self.merging(conflict, result)?;
        let renamed = self.renamed(&merging)?;
        let mut failures: BTreeMap<FailureId, ReportedFailure> = BTreeMap::new();
        let paths: BTreeSet<&Vec<u8>> = merging.changed.iter().flat_map(BTreeMap::keys).collect();
        for path in paths {
            let found = self.losses_in(&merging, &renamed, path)?;
            for failure in found {
                failures.entry(failure.id().clone()).or_insert(failure);
            }
            if failures.len() >= MOST {
                break;
            }
        }
        Ok(failures.into_values().take(MOST).collect())
    }

    /// What each side changed in the files that conflict, as patches.
    pub(crate) fn changes_of_sides(
        &self,
        order: &PreparedAttempt,
    ) -> Result<Vec<(Side, Vec<u8>)>, ExecuteError> {
        let Some(conflict) = &order.merge else { return Ok(Vec::new()) };
        let workspaces = &self.deps.workspaces;
        let Some(base) = workspaces.merge_base(&conflict.ours, &conflict.theirs)? else {
            return Ok(Vec::new());
        };
        let mut patches = Vec::new();
        for (side, commit) in [(Side::Ours, &conflict.ours), (Side::Theirs, &conflict.theirs)] {
            let patch = workspaces.diff(&base, commit, DiffStyle::Patch)?;
            patches.push((side, of_paths(&patch, &conflict.paths)));
        }
        Ok(patches)
    }

    fn merging<'a>(&self, conflict: &'a Conflict, result: &'a CommitId) -> Result<Merging<'a>, ExecuteError> {
        let workspaces = &self.deps.workspaces;
        let (ours, theirs) = (&conflict.ours, &conflict.theirs);
        let base = workspaces.merge_base(ours, theirs)?;
        let since = |from: &CommitId, to: &CommitId| workspaces.changes(from, to).map(kinds);
        let changed = match &base {
            Some(base) => [since(base, ours)?, since(base, theirs)?],
            // Without a beginning in common, whatever differs was added by whoever has it.
            None => [since(theirs, ours)?, since(ours, theirs)?],
        };
        let differs = [since(ours, result)?, since(theirs, result)?];
        Ok(Merging { base, conflict, result, changed, differs })
    }

    /// For each file that one side changed and the other renamed, by its new name the old one.
    fn renamed(&self, merging: &Merging<'_>) -> Result<BTreeMap<Vec<u8>, Vec<u8>>, ExecuteError> {
        let mut renamed = BTreeMap::new();
        for (side, other) in [(Side::Ours, Side::Theirs), (Side::Theirs, Side::Ours)] {
            let is_changed = |path: &&Vec<u8>| {
                merging.is_removed_by(side, path)
                    && of(other, &merging.changed).contains_key(*path)
                    && !merging.is_removed_by(other, path)
            };
            for old in of(side, &merging.changed).keys().filter(is_changed) {
                let Content::LineSplitter(before) = self.content(merging.base.as_ref(), old)? else {
                    continue;
                };
                let mut best = (before.len() / 2, None);
                let new = of(side, &merging.changed).iter().filter(|(_, kind)| **kind == ChangeKind::Added);
                for (path, _) in new.take(MOST_RENAMED) {
                    let Content::LineSplitter(now) = self.content(Some(merging.commit(side)), path)? else {
                        continue;
                    };
                    let same = in_common(&before, &now);
                    if same >= best.0 {
                        best = (same, Some(path));
                    }
                }
                renamed.extend(best.1.map(|path| (path.clone(), old.clone())));
            }
        }
        Ok(renamed)
    }

    fn losses_in(
        &self,
        merging: &Merging<'_>,
        renamed: &BTreeMap<Vec<u8>, Vec<u8>>,
        path: &[u8],
    ) -> Result<Vec<ReportedFailure>, ExecuteError> {
        let changers = merging.changers(path);
        let is_followed = renamed.contains_key(path);
        if changers.iter().all(|side| merging.is_as(*side, path)) && !is_followed {
            return Ok(Vec::new());
        }
        let result = self.content(Some(merging.result), path)?;
        if matches!(result, Content::Absent) && renamed.values().any(|old| old == path) {
            return Ok(Vec::new());
        }
        let old = renamed.get(path).map_or(path, Vec::as_slice);
        let base = self.content(merging.base.as_ref(), old)?;
        let version = |side: Side| match of(side, &merging.changed).get(path) {
            None if !is_followed => Ok(base.clone()),
            None => self.content(Some(merging.commit(side)), old),
            Some(_) if merging.is_as(side, path) => Ok(result.clone()),
            Some(kind) => match (self.content(Some(merging.commit(side)), path)?, kind) {
                // It is there and no ordinary file.
                (
                    Content::Absent,
                    ChangeKind::Added
                    | ChangeKind::Modified
                    | ChangeKind::TypeChanged
                    | ChangeKind::Submodule,
                ) => Ok::<Content, ExecuteError>(Content::Whole),
                (found, _) => Ok(found),
            },
        };
        let (ours, theirs) = (version(Side::Ours)?, version(Side::Theirs)?);
        let undone = merging.undone_type(path).map(|side| self.lost_type(side, path));
        let all = [&base, &ours, &theirs, &result];
        let found = if all.into_iter().any(|content| matches!(content, Content::Whole)) {
            let is_one = changers.iter().any(|side| merging.is_as(*side, path));
            let lost =
                |side| MergeProblem::Lost { side, hunk: 0, loss: Loss::NeitherSide, text: String::new() };
            if is_one { Vec::new() } else { changers.into_iter().map(lost).collect() }
        } else {
            problems(&FourVersions {
                base: base.lines(),
                ours: ours.lines(),
                theirs: theirs.lines(),
                result: result.lines(),
            })
        };
        Ok(found.iter().map(|finding| self.failure(path, finding)).chain(undone).collect())
    }

    fn content(&self, at: Option<&CommitId>, path: &[u8]) -> Result<Content, ExecuteError> {
        let Some(at) = at else { return Ok(Content::Absent) };
        match self.deps.workspaces.read_file(at, path, LARGEST) {
            Ok(Some(content)) => Ok(Content::LineSplitter(content)),
            Ok(None) => Ok(Content::Absent),
            Err(WorkspaceError::TooLarge { .. }) => Ok(Content::Whole),
            Err(error) => Err(error.into()),
        }
    }

    fn failure(&self, path: &[u8], finding: &MergeProblem) -> ReportedFailure {
        let path = path_text(path);
        let redact = |message: &str| self.deps.redactor.redact(message.trim_end());
        match finding {
            MergeProblem::Marked { line } => {
                let message = redact(&format!("{path} still contains conflict markers"));
                let place = format!("{path}:{line}");
                ReportedFailure::new(FailureId::Conflict(path), message).at(Some(place))
            }
            MergeProblem::Lost { side, hunk, loss, text } => {
                let message = redact(&format!("{path}, {}: {}\n{text}", side.name(), words(*loss)));
                let part = LostPart::Hunk(*hunk);
                ReportedFailure::new(FailureId::LostChange { side: *side, path, part }, message)
            }
        }
    }

    fn lost_type(&self, side: Side, path: &[u8]) -> ReportedFailure {
        let path = path_text(path);
        let message = format!("{path}, {}: what kind of file it became, or who may execute it", side.name());
        let message = self.deps.redactor.redact(&message);
        ReportedFailure::new(FailureId::LostChange { side, path, part: LostPart::FileType }, message)
    }
}

const fn words(loss: Loss) -> &'static str {
    match loss {
        Loss::Dropped => "lines this side added are not there",
        Loss::CameBack => "lines this side removed are back",
        Loss::MovedBack => "lines this side moved are where they were before",
        Loss::FileGone => "this side changed the file, and it is gone",
        Loss::FileBack => "this side removed the file, and it is back",
        Loss::NeitherSide => "the file is neither side's and cannot be compared by lines",
    }
}

/// Bytes of the lines that two files have in common.
fn in_common(one: &[u8], other: &[u8]) -> usize {
    let lines: HashSet<&[u8]> = other.split(|byte| *byte == b'\n').collect();
    let same = one.split(|byte| *byte == b'\n').filter(|line| lines.contains(line));
    same.map(|line| line.len() + 1).sum()
}

/// The parts of a patch that are about these files.
fn of_paths(patch: &[u8], paths: &[String]) -> Vec<u8> {
    let wanted: HashSet<Vec<u8>> = paths
        .iter()
        .map(|path| path_bytes(path))
        .map(|path| [b"diff --git a/", &path[..], b" b/", &path[..]].concat())
        .collect();
    let mut is_wanted = false;
    let mut kept = Vec::new();
    for line in patch.split_inclusive(|byte| *byte == b'\n') {
        if line.starts_with(b"diff --git ") {
            is_wanted = wanted.contains(line.trim_ascii_end());
        }
        if is_wanted {
            kept.extend_from_slice(line);
        }
    }
    kept
}
