//! A git directory of our own: for our view of a slot, for an agent to work with, and for one operation.
//!
//! Owns its whole content, written file by file without starting git. Refuses remotes, filters, hooks and anything
//! else of the user's configuration that names a program. Invariant: its objects are found through alternates, so it
//! costs no more than its index.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use fixpoint_ports::{CommitId, WorkspaceError};

use crate::files::{make_directory, remove, write};
use crate::git::{Git, Settings};
use crate::repository::{Repository, read_optional};

/// Where objects are read and written.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    /// Objects are written here and, through its alternates, all are found from here.
    pub(crate) objects: PathBuf,
}

/// What is checked out.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Head<'a> {
    /// No commit yet.
    Unborn,
    /// A commit, on no branch.
    Detached(&'a CommitId),
    /// A commit, on the branch an agent works on; whoever commits does so under the user's name.
    Agents(&'a CommitId),
}

/// The branch an agent finds itself on.
const BRANCH: &str = "fixpoint";

/// Writes a git directory. What is already there and not named here stays, such as an index.
pub(crate) fn write_git_dir(
    path: &Path,
    repository: &Repository,
    store: &Store,
    head: Head<'_>,
) -> Result<(), WorkspaceError> {
    for directory in ["objects/info", "objects/pack", "refs/heads", "info"] {
        make_directory(&path.join(directory))?;
    }
    write(&path.join("objects/info/alternates"), &alternates_line(store.objects.as_os_str().as_bytes()))?;
    let branch = |at: &CommitId| write(&path.join("refs/heads").join(BRANCH), format!("{at}\n").as_bytes());
    let points_to = match head {
        Head::Unborn => format!("ref: refs/heads/{BRANCH}\n"),
        Head::Detached(commit) => format!("{commit}\n"),
        Head::Agents(commit) => {
            branch(commit)?;
            format!("ref: refs/heads/{BRANCH}\n")
        }
    };
    write(&path.join("HEAD"), points_to.as_bytes())?;
    write_settings(path, repository, head)?;
    for (from, to) in carried_files(repository) {
        let to = path.join(to);
        match read_optional(&from)? {
            Some(bytes) => write(&to, &bytes)?,
            None => remove(&to)?,
        }
    }
    Ok(())
}

/// Files that decide what is ignored, how lines end, and where the history is cut.
fn carried_files(repository: &Repository) -> [(PathBuf, &'static str); 3] {
    [
        (repository.excludes.clone(), "info/exclude"),
        (repository.common_dir.join("info/attributes"), "info/attributes"),
        (repository.common_dir.join("shallow"), "shallow"),
    ]
}

/// Writes the settings alone, so that nothing written into them in the meantime is in force.
pub(crate) fn write_settings(
    path: &Path,
    repository: &Repository,
    head: Head<'_>,
) -> Result<(), WorkspaceError> {
    let version = if repository.format == "sha1" { "0" } else { "1" };
    let mut text = b"[core]\n\tbare = false\n\tuntrackedCache = keep\n".to_vec();
    setting(&mut text, "repositoryformatversion", version.as_bytes());
    let section = |text: &mut Vec<u8>, prefix: &str| {
        for (name, value) in repository.settings_under(prefix) {
            setting(text, name, value);
        }
    };
    section(&mut text, "core.");
    if repository.format != "sha1" {
        text.extend_from_slice(b"[extensions]\n");
        setting(&mut text, "objectformat", repository.format.as_bytes());
    }
    match head {
        Head::Agents(_) => {
            text.extend_from_slice(b"[user]\n");
            section(&mut text, "user.");
        }
        Head::Unborn | Head::Detached(_) => {}
    }
    write(&path.join("config"), &text)
}

fn setting(text: &mut Vec<u8>, name: &str, value: &[u8]) {
    text.extend_from_slice(format!("\t{name} = ").as_bytes());
    text.extend_from_slice(&quoted_line(value));
}

/// A path in the file of alternates: as it is, because other readers than git know no quotes, unless git itself would
/// take it for something else.
fn alternates_line(path: &[u8]) -> Vec<u8> {
    let is_plain = !path.starts_with(b"#") && !path.starts_with(b"\"") && !path.contains(&b'\n');
    if is_plain { [path, b"\n"].concat() } else { quoted_line(path) }
}

/// A value in double quotes on a line of its own, in the escapes that settings and alternates both read.
pub(crate) fn quoted_line(value: &[u8]) -> Vec<u8> {
    let mut line = vec![b'"'];
    for byte in value {
        match byte {
            b'"' | b'\\' => line.extend([b'\\', *byte]),
            b'\n' => line.extend(b"\\n"),
            b'\t' => line.extend(b"\\t"),
            other => line.push(*other),
        }
    }
    line.extend(b"\"\n");
    line
}

/// A git directory of ours looking at a working tree.
#[derive(Debug, Clone)]
pub(crate) struct View {
    /// The git directory, whose index is the one used.
    pub(crate) git_dir: PathBuf,
    /// The working tree.
    pub(crate) tree: PathBuf,
    /// Where objects go.
    pub(crate) objects: PathBuf,
}

impl View {
    /// A git process with this view, started at the root of the working tree.
    pub(crate) fn git(&self, subcommand: &'static str) -> Git {
        Git::new(Settings::Ours, subcommand)
            .env("GIT_DIR", &self.git_dir)
            .env("GIT_WORK_TREE", &self.tree)
            .env("GIT_OBJECT_DIRECTORY", &self.objects)
            .current_dir(&self.tree)
    }

    /// Its index.
    pub(crate) fn index(&self) -> PathBuf {
        self.git_dir.join("index")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_quoted_for_settings_and_alternates() {
        assert_eq!(alternates_line(b"/a b/c"), b"/a b/c\n");
        assert_eq!(alternates_line(b"/a\nb"), b"\"/a\\nb\"\n");
        assert_eq!(quoted_line(b"/a b/\"c\\d\ne"), b"\"/a b/\\\"c\\\\d\\ne\"\n");
    }
}
