//! A git directory of our own: for our view of a slot, for an agent to work with, and for one operation.
//!
//! Owns its whole content, written file by file without starting git. Refuses remotes, filters, hooks and everything
//! else in the user's configuration that names a program. Invariant: its objects are found through alternates, so it
//! takes no more space than its index.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use fixpoint_ports::{CommitId, WorkspaceError};

use crate::files::{create_directory, read_optional, remove, write};
use crate::git::{ConfigFiles, GitCommand};
use crate::repository::Repository;

/// What is checked out.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Head<'a> {
    /// No commit yet.
    Unborn,
    Detached(&'a CommitId),
    /// On a branch for the agent, with the user's name and address for its commits.
    AgentBranch(&'a CommitId),
}

const AGENT_BRANCH: &str = "fixpoint";

/// Writes a git directory whose objects are those in `objects`. Files that are not written here, such as the index, stay.
pub(crate) fn write_git_dir(
    path: &Path,
    repository: &Repository,
    objects: &Path,
    head: Head<'_>,
) -> Result<(), WorkspaceError> {
    for directory in ["objects/info", "objects/pack", "refs/heads", "info"] {
        create_directory(&path.join(directory))?;
    }
    write(&path.join("objects/info/alternates"), &alternates_line(objects.as_os_str().as_bytes()))?;
    let head_line = match head {
        Head::Unborn => format!("ref: refs/heads/{AGENT_BRANCH}\n"),
        Head::Detached(commit) => format!("{commit}\n"),
        Head::AgentBranch(commit) => {
            write(&path.join("refs/heads").join(AGENT_BRANCH), format!("{commit}\n").as_bytes())?;
            format!("ref: refs/heads/{AGENT_BRANCH}\n")
        }
    };
    write(&path.join("HEAD"), head_line.as_bytes())?;
    write_config(path, repository, head)?;
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

/// Writes the configuration alone, so that nothing that was written to it in the meantime is in force.
pub(crate) fn write_config(
    path: &Path,
    repository: &Repository,
    head: Head<'_>,
) -> Result<(), WorkspaceError> {
    let version = if repository.object_format == "sha1" { "0" } else { "1" };
    let mut text = b"[core]\n\tbare = false\n\tuntrackedCache = keep\n".to_vec();
    add_setting(&mut text, "repositoryformatversion", version.as_bytes());
    let add_section = |text: &mut Vec<u8>, prefix: &str| {
        for (name, value) in repository.settings_under(prefix) {
            add_setting(text, name, value);
        }
    };
    add_section(&mut text, "core.");
    if repository.object_format != "sha1" {
        text.extend_from_slice(b"[extensions]\n");
        add_setting(&mut text, "objectformat", repository.object_format.as_bytes());
    }
    match head {
        Head::AgentBranch(_) => {
            text.extend_from_slice(b"[user]\n");
            add_section(&mut text, "user.");
        }
        Head::Unborn | Head::Detached(_) => {}
    }
    write(&path.join("config"), &text)
}

fn add_setting(text: &mut Vec<u8>, name: &str, value: &[u8]) {
    text.extend_from_slice(format!("\t{name} = ").as_bytes());
    text.extend_from_slice(&quoted_line(value));
}

/// A line of `objects/info/alternates`. Other programs than git read no quotes there, so there are none unless git
/// itself would misread the path.
fn alternates_line(path: &[u8]) -> Vec<u8> {
    let is_plain = !path.starts_with(b"#") && !path.starts_with(b"\"") && !path.contains(&b'\n');
    if is_plain { [path, b"\n"].concat() } else { quoted_line(path) }
}

/// A value in double quotes and a newline, with escapes that configuration files and alternates have in common.
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

/// A working tree seen through a git directory of our own.
#[derive(Debug, Clone)]
pub(crate) struct WorkTreeView {
    pub(crate) git_dir: PathBuf,
    pub(crate) tree: PathBuf,
    /// New objects are written here.
    pub(crate) objects: PathBuf,
}

impl WorkTreeView {
    /// A git process at the root of the working tree.
    pub(crate) fn git(&self, subcommand: &'static str) -> GitCommand {
        GitCommand::new(ConfigFiles::Private, subcommand)
            .env("GIT_DIR", &self.git_dir)
            .env("GIT_WORK_TREE", &self.tree)
            .env("GIT_OBJECT_DIRECTORY", &self.objects)
            .current_dir(&self.tree)
    }

    pub(crate) fn index(&self) -> PathBuf {
        self.git_dir.join("index")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_quoted_for_configuration_and_alternates() {
        assert_eq!(alternates_line(b"/a b/c"), b"/a b/c\n");
        assert_eq!(alternates_line(b"/a\nb"), b"\"/a\\nb\"\n");
        assert_eq!(quoted_line(b"/a b/\"c\\d\ne"), b"\"/a b/\\\"c\\\\d\\ne\"\n");
    }
}
