//! The files of a check's slot that are not in its commit, as they were before any agent's code ran there.
//!
//! Owns a copy of them, with a list of what each looked like in the slot. Refuses to trust anything else: what a reset
//! finds that is not on the list is deleted, and what differs is copied again. A file that was written to differs in its
//! change time, which no program can set. Invariant: the list is deleted before the copy is changed and written after it,
//! so that a crash leaves no list, which means that nothing is pristine.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, Metadata, Permissions};
use std::io::ErrorKind;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use fixpoint_ports::WorkspaceError;

use crate::checkout::{Checkout, Others};
use crate::disk_space::free_bytes;
use crate::files::{
    as_path, create_directory, ensure_directory, io_error, read_optional, remove, restore_permissions, write,
};
use crate::git::parse::{self, TreeEntry};
use crate::slot_files;

const DIRECTORY: &str = "pristine";
const FORMAT: &str = "pristine 1";
/// The kernel dates changes by a clock that ticks at least this often.
const CLOCK_TICK: Duration = Duration::from_millis(10);

/// What a path looked like in the slot when it was captured or put back.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Entry {
    Directory,
    /// By its target.
    Link(Vec<u8>),
    /// By what changes when anybody writes to it: inode, size, modification and change time, mode.
    File([i64; 7]),
}

type Entries = BTreeMap<Vec<u8>, Entry>;

/// Everything in a slot that is not in its commit, and the paths of the commit.
struct Untracked {
    /// A directory that the commit has, too, is not listed.
    entries: Entries,
    committed: HashSet<Vec<u8>>,
}

/// The captured files of one slot.
pub(crate) struct Pristine<'a> {
    checkout: &'a Checkout,
    directory: PathBuf,
}

impl<'a> Pristine<'a> {
    /// `slot` is the directory of the slot.
    pub(crate) fn new(checkout: &'a Checkout, slot: &Path) -> Self {
        Self { checkout, directory: slot.join(DIRECTORY) }
    }

    /// Makes what is in the slot now the pristine state. Where the disk has no room for a copy, nothing is pristine
    /// from then on, and each reset leaves an empty slot: slower, but as trustworthy.
    pub(crate) fn capture(&self) -> Result<(), WorkspaceError> {
        let before = self.list()?.unwrap_or_default();
        let now = self.untracked()?.entries;
        self.forget_list()?;
        let is_new = |(path, entry): &(&Vec<u8>, &Entry)| before.get(*path) != Some(*entry);
        let changed: Vec<(&Vec<u8>, &Entry)> = now.iter().filter(is_new).collect();
        let needed: u64 = changed.iter().map(|(_, entry)| entry.size()).sum();
        let spare = self.checkout.inner.options.spare_bytes;
        if free_bytes(&self.checkout.inner.pool).is_some_and(|free| free < needed.saturating_add(spare)) {
            return remove(&self.directory);
        }
        create_directory(&self.files())?;
        for path in before.keys().filter(|path| !now.contains_key(*path)) {
            remove(&self.files().join(as_path(path)))?;
        }
        for (path, entry) in changed {
            copy(&self.tree(), &self.files(), path, entry)?;
        }
        self.write_list(&now)?;
        slot_files::copy_notes(&self.slot(), &self.directory)
    }

    /// Puts the slot into the pristine state.
    pub(crate) fn reset(&self, others: Others) -> Result<(), WorkspaceError> {
        let Some(mut wanted) = self.list()? else { return self.empty(others) };
        if wanted.is_empty() && others == Others::None {
            return slot_files::copy_notes(&self.directory, &self.slot());
        }
        let Untracked { entries: found, committed } = self.untracked()?;
        // Those below a directory come after it, so they are deleted first.
        for path in found.keys().rev().filter(|path| !is_wanted(&wanted, path)) {
            remove(&self.tree().join(as_path(path)))?;
        }
        let is_other = |(path, entry): &(&Vec<u8>, &Entry)| {
            found.get(*path) != Some(*entry) && !self.is_committed(path, &committed)
        };
        let others: Vec<(Vec<u8>, Entry)> =
            wanted.iter().filter(is_other).map(|(path, entry)| (path.clone(), entry.clone())).collect();
        if others.is_empty() {
            return slot_files::copy_notes(&self.directory, &self.slot());
        }
        self.forget_list()?;
        for (path, entry) in others {
            copy(&self.files(), &self.tree(), &path, &entry)?;
            let target = self.tree().join(as_path(&path));
            let metadata = target.symlink_metadata().map_err(io_error(&target))?;
            wanted.insert(path, Entry::of(&target, &metadata)?);
        }
        self.write_list(&wanted)?;
        // What is written from now on gets another change time, however coarse the kernel's clock is.
        std::thread::sleep(CLOCK_TICK);
        slot_files::copy_notes(&self.directory, &self.slot())
    }

    /// Whether the commit has a file at a path or in place of a directory above it.
    fn is_committed(&self, path: &[u8], committed: &HashSet<Vec<u8>>) -> bool {
        let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        let is_file = |above: &[u8]| {
            let found = self.tree().join(as_path(above)).symlink_metadata();
            committed.contains(above) && found.is_ok_and(|found| !found.is_dir())
        };
        committed.contains(path) || ends.filter_map(|end| path.get(..end)).any(is_file)
    }

    /// Deletes everything that is not in the commit.
    fn empty(&self, others: Others) -> Result<(), WorkspaceError> {
        if others == Others::Possible {
            for path in self.untracked()?.entries.keys().rev() {
                remove(&self.tree().join(as_path(path)))?;
            }
        }
        slot_files::delete_notes(&self.slot())
    }

    fn tree(&self) -> PathBuf {
        self.checkout.view.tree.clone()
    }

    fn files(&self) -> PathBuf {
        self.directory.join("files")
    }

    fn slot(&self) -> PathBuf {
        self.directory.parent().unwrap_or(&self.directory).to_path_buf()
    }

    fn untracked(&self) -> Result<Untracked, WorkspaceError> {
        let listing = self.checkout.inner.listing(&self.checkout.base)?;
        let mut committed = HashSet::new();
        for TreeEntry { path, .. } in listing.iter() {
            let mut above = path.as_slice();
            // The directories of a path that is in there already are, too.
            while committed.insert(above.to_vec()) {
                let Some(end) = above.iter().rposition(|byte| *byte == b'/') else { break };
                above = above.get(..end).unwrap_or_default();
            }
        }
        let mut entries = Entries::new();
        let mut open: Vec<Vec<u8>> = vec![Vec::new()];
        while let Some(directory) = open.pop() {
            let path = self.tree().join(as_path(&directory));
            for entry in read_directory(&path)? {
                let child = match directory.as_slice() {
                    [] if entry.file_name() == ".git" => continue,
                    [] => entry.file_name().as_bytes().to_vec(),
                    above => [above, b"/", entry.file_name().as_bytes()].concat(),
                };
                if entry.file_type().map_err(io_error(&entry.path()))?.is_dir() {
                    open.push(child.clone());
                }
                if !committed.contains(&child) {
                    let metadata = entry.metadata().map_err(io_error(&entry.path()))?;
                    entries.insert(child, Entry::of(&entry.path(), &metadata)?);
                }
            }
        }
        Ok(Untracked { entries, committed })
    }

    fn list_file(&self) -> PathBuf {
        self.directory.join("list")
    }

    fn forget_list(&self) -> Result<(), WorkspaceError> {
        remove(&self.list_file())
    }

    /// The captured entries; `None` where nothing is captured, or the list is damaged.
    fn list(&self) -> Result<Option<Entries>, WorkspaceError> {
        Ok(read_optional(&self.list_file())?.and_then(|bytes| parse_list(&bytes)))
    }

    fn write_list(&self, entries: &Entries) -> Result<(), WorkspaceError> {
        let mut body = Vec::new();
        for (path, entry) in entries {
            let description = match entry {
                Entry::Directory => b"d".to_vec(),
                Entry::Link(target) => [b"l", target.as_slice()].concat(),
                Entry::File(stamp) => format!("f{}", stamp.map(|number| number.to_string()).join(" ")).into(),
            };
            for field in [path, &description] {
                body.extend_from_slice(field);
                body.push(0);
            }
        }
        let head = format!("{FORMAT} {}\n", blake3::hash(&body).to_hex());
        write(&self.list_file(), &[head.as_bytes(), &body].concat())
    }
}

/// Whether a path is wanted, or is a directory above one that is.
fn is_wanted(wanted: &Entries, path: &[u8]) -> bool {
    let below = [path, b"/"].concat();
    let next = wanted.range(below.clone()..).next();
    wanted.contains_key(path) || next.is_some_and(|(next, _)| next.starts_with(&below))
}

fn parse_list(bytes: &[u8]) -> Option<Entries> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let (head, body) = (bytes.get(..end)?, bytes.get(end + 1..)?);
    if head != format!("{FORMAT} {}", blake3::hash(body).to_hex()).as_bytes() {
        return None;
    }
    let fields: Vec<&[u8]> = parse::nul_separated(body).collect();
    let entry = |pair: &[&[u8]]| -> Option<(Vec<u8>, Entry)> {
        let [path, description] = pair else { return None };
        let entry = match description.split_first()? {
            (b'd', []) => Entry::Directory,
            (b'l', target) => Entry::Link(target.to_vec()),
            (b'f', stamp) => {
                let numbers = str::from_utf8(stamp).ok()?.split(' ').map(|number| number.parse().ok());
                Entry::File(numbers.collect::<Option<Vec<i64>>>()?.try_into().ok()?)
            }
            (_, _) => return None,
        };
        Some((path.to_vec(), entry))
    };
    fields.chunks(2).map(entry).collect()
}

impl Entry {
    fn of(path: &Path, metadata: &Metadata) -> Result<Self, WorkspaceError> {
        if metadata.is_dir() {
            return Ok(Self::Directory);
        }
        if metadata.is_symlink() {
            let target = fs::read_link(path).map_err(io_error(path))?;
            return Ok(Self::Link(target.into_os_string().into_vec()));
        }
        let whole = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        Ok(Self::File([
            whole(metadata.ino()),
            whole(metadata.len()),
            metadata.mtime(),
            metadata.mtime_nsec(),
            metadata.ctime(),
            metadata.ctime_nsec(),
            i64::from(metadata.mode()),
        ]))
    }

    fn size(&self) -> u64 {
        match self {
            Self::Directory | Self::Link(_) => 0,
            Self::File([_, size, ..]) => u64::try_from(*size).unwrap_or(0),
        }
    }
}

fn read_directory(path: &Path) -> Result<Vec<fs::DirEntry>, WorkspaceError> {
    let read = || fs::read_dir(path)?.collect::<std::io::Result<Vec<_>>>();
    let entries = read().or_else(|error| {
        if error.kind() != ErrorKind::PermissionDenied {
            return Err(error);
        }
        restore_permissions(path);
        read()
    });
    entries.map_err(io_error(path))
}

/// Copies one entry with its times and its mode. Sockets, pipes and devices are left out.
fn copy(from: &Path, to: &Path, path: &[u8], entry: &Entry) -> Result<(), WorkspaceError> {
    let (source, target) = (from.join(as_path(path)), to.join(as_path(path)));
    if let Entry::Directory = entry {
        // A directory on the way may have become something else.
        return ensure_directory(&target);
    }
    remove(&target)?;
    create_directory(target.parent().unwrap_or(to))?;
    if let Entry::Link(link) = entry {
        return symlink(as_path(link), &target).map_err(io_error(&target));
    }
    let metadata = source.symlink_metadata().map_err(io_error(&source))?;
    if !metadata.is_file() {
        return Ok(());
    }
    // The kernel shares the blocks where the file system can.
    fs::copy(&source, &target).map_err(io_error(&source))?;
    let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
    let file = fs::File::options().write(true).open(&target);
    let dated = file.and_then(|file| file.set_modified(modified)).or_else(|_| {
        // Read-only for its owner, too.
        fs::set_permissions(&target, Permissions::from_mode(0o600))?;
        fs::File::options().write(true).open(&target)?.set_modified(modified)
    });
    dated.and_then(|()| fs::set_permissions(&target, metadata.permissions())).map_err(io_error(&target))
}
