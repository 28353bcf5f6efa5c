//! The configuration files: where they are and what is in them.
//!
//! Owns the only effect of this crate: reading those files. Refuses to write, or to read anything they
//! mention.
//!
//! Invariant: a file that is absent is no error, and any other reason not to read one is.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::error::ConfigError;
use super::origin::Origin;
use crate::text::{Format, MAX_TEXT_BYTES, read_text};
use crate::tree::{Content, Node};

/// The directory of a project that holds its configuration.
const PROJECT_DIRECTORY: &str = ".fixpoint";

/// The endings a configuration file may have.
const ENDINGS: [(&str, Format); 3] = [("yaml", Format::Yaml), ("yml", Format::Yaml), ("json", Format::Json)];

/// The directory of the user's own file, from `XDG_CONFIG_HOME` or `HOME` of the environment given.
///
/// A relative path counts as absent: it would mean another directory in every place one works from.
pub fn user_directory(environment: &[(OsString, OsString)]) -> Option<PathBuf> {
    let absolute = |name: &str| {
        let (_, value) = environment.iter().rev().find(|(variable, _)| variable == name)?;
        Some(PathBuf::from(value)).filter(|path| path.is_absolute())
    };
    let base = absolute("XDG_CONFIG_HOME").or_else(|| absolute("HOME").map(|home| home.join(".config")));
    base.map(|base| base.join("fixpoint"))
}

/// The nearest directory, from `working_dir` upwards, that holds `.fixpoint` or `.git`.
///
/// There is none for a relative path, which could only be completed by asking the process where it is.
pub fn project_root(working_dir: &Path) -> Option<PathBuf> {
    if !working_dir.is_absolute() {
        return None;
    }
    working_dir
        .ancestors()
        .find(|directory| [PROJECT_DIRECTORY, ".git"].iter().any(|name| directory.join(name).exists()))
        .map(Path::to_path_buf)
}

/// A file that was found: its path as an origin and its values.
pub(super) type Found = (Origin, Node);

/// The user's file.
pub(super) fn user(directory: &Path) -> Result<Option<Found>, ConfigError> {
    read(directory, "config", |path| Origin::UserFile { path, line: None })
}

/// The project's committed file.
pub(super) fn project(root: &Path) -> Result<Option<Found>, ConfigError> {
    read(&root.join(PROJECT_DIRECTORY), "config", |path| Origin::ProjectFile { path, line: None })
}

/// The project's file that is not committed.
pub(super) fn local(root: &Path) -> Result<Option<Found>, ConfigError> {
    read(&root.join(PROJECT_DIRECTORY), "config.local", |path| Origin::LocalFile { path, line: None })
}

fn read(directory: &Path, stem: &str, origin: fn(PathBuf) -> Origin) -> Result<Option<Found>, ConfigError> {
    let mut found: Option<(PathBuf, File, Format)> = None;
    for (ending, format) in ENDINGS {
        let path = directory.join(format!("{stem}.{ending}"));
        let file = match open(&path) {
            Ok(Some(file)) => file,
            Ok(None) => continue,
            Err(source) => return Err(ConfigError::Unreadable { path, source }),
        };
        if let Some((first, ..)) = found {
            return Err(ConfigError::TwoFiles { first, second: path });
        }
        found = Some((path, file, format));
    }
    let Some((path, file, format)) = found else { return Ok(None) };
    let mut bytes = Vec::new();
    // One byte more than is accepted, so that a file that is too large is seen to be.
    let bound = u64::try_from(MAX_TEXT_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    if let Err(source) = file.take(bound).read_to_end(&mut bytes) {
        return Err(ConfigError::Unreadable { path, source });
    }
    let origin = origin(path);
    match read_text(&bytes, format) {
        Ok(node) => Ok(Some((origin, without_schema(node)))),
        Err(error) => Err(ConfigError::Text { origin, error }),
    }
}

/// A file to read, or `None` where there is nothing of that name. A link that leads nowhere is something, and so is
/// a pipe, which would be waited for in vain.
fn open(path: &Path) -> std::io::Result<Option<File>> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
        Ok(_) => {}
    }
    if !fs::metadata(path)?.is_file() {
        return Err(std::io::Error::new(ErrorKind::InvalidInput, "not a file"));
    }
    File::open(path).map(Some)
}

/// Drops the key by which editors find the schema of a JSON file: it is about the file, and no setting.
fn without_schema(mut node: Node) -> Node {
    if let Content::Map(entries) = &mut node.content {
        entries.retain(|entry| entry.key != "$schema");
    }
    node
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_directory() {
        let directory = |variables: &[(&str, &str)]| {
            let environment: Vec<_> =
                variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect();
            user_directory(&environment)
        };
        assert_eq!(directory(&[("XDG_CONFIG_HOME", "/x"), ("HOME", "/h")]), Some("/x/fixpoint".into()));
        assert_eq!(directory(&[("HOME", "/h")]), Some("/h/.config/fixpoint".into()));
        assert_eq!(directory(&[("XDG_CONFIG_HOME", ""), ("HOME", "/h")]), Some("/h/.config/fixpoint".into()));
        assert_eq!(directory(&[("XDG_CONFIG_HOME", "x")]), None);
        assert_eq!(directory(&[]), None);
    }

    #[test]
    fn the_nearest_directory_with_a_project_in_it() {
        let base = tempfile::tempdir().unwrap();
        let deep = base.path().join("a/b/c");
        std::fs::create_dir_all(&deep).unwrap();
        std::fs::create_dir(base.path().join("a/.git")).unwrap();
        assert_eq!(project_root(&deep), Some(base.path().join("a")));
        std::fs::create_dir(base.path().join("a/b/.fixpoint")).unwrap();
        assert_eq!(project_root(&deep), Some(base.path().join("a/b")));
        assert_eq!(project_root(&base.path().join("a")), Some(base.path().join("a")));
        assert_eq!(project_root(Path::new("")), None);
    }
}
