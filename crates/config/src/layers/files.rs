//! Finds and reads the configuration files: the only effect of this crate. Reads nothing that they mention.
//!
//! Invariant: a file that does not exist is not an error; any other reason not to read one is. In a repository, which may
//! be a stranger's, no symbolic link is followed: it could lead anywhere.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::error::ConfigError;
use super::origin::Origin;
use crate::parse::{Format, MAX_TEXT_BYTES, parse};
use crate::tree::{Content, Node};

const PROJECT_DIRECTORY: &str = ".fixpoint";

const ENDINGS: [(&str, Format); 3] = [("yaml", Format::Yaml), ("yml", Format::Yaml), ("json", Format::Json)];

/// The directory of the user's file, from `XDG_CONFIG_HOME` or `HOME`. A relative path in these variables is ignored: it
/// would mean another directory for every working directory.
pub fn user_directory(environment: &[(OsString, OsString)]) -> Option<PathBuf> {
    let absolute = |name: &str| {
        let (_, value) = environment.iter().rev().find(|(variable, _)| variable == name)?;
        Some(PathBuf::from(value)).filter(|path| path.is_absolute())
    };
    let base = absolute("XDG_CONFIG_HOME").or_else(|| absolute("HOME").map(|home| home.join(".config")));
    base.map(|base| base.join("fixpoint"))
}

/// The nearest directory, from `working_dir` upwards, that contains `.fixpoint` or `.git`. Nothing for a relative path.
pub fn project_root(working_dir: &Path) -> Option<PathBuf> {
    if !working_dir.is_absolute() {
        return None;
    }
    working_dir
        .ancestors()
        .find(|directory| {
            // A link that leads nowhere is refused when the files are read, so it must not be passed over here.
            let is_linked = directory.join(PROJECT_DIRECTORY).is_symlink();
            is_linked || [PROJECT_DIRECTORY, ".git"].iter().any(|name| directory.join(name).exists())
        })
        .map(Path::to_path_buf)
}

/// The path of a file, as an origin, and its values.
pub(super) type FileLayer = (Origin, Node);

pub(super) fn user(directory: &Path) -> Result<Option<FileLayer>, ConfigError> {
    read(directory, "config", Links::Followed, |path| Origin::UserFile { path, line: None })
}

pub(super) fn project(root: &Path) -> Result<Option<FileLayer>, ConfigError> {
    let directory = project_directory(root)?;
    read(&directory, "config", Links::Refused, |path| Origin::ProjectFile { path, line: None })
}

/// A link instead of the directory is an error of the project's file only, so that it is reported once.
pub(super) fn local(root: &Path) -> Result<Option<FileLayer>, ConfigError> {
    let Ok(directory) = project_directory(root) else { return Ok(None) };
    read(&directory, "config.local", Links::Refused, |path| Origin::LocalFile { path, line: None })
}

fn project_directory(root: &Path) -> Result<PathBuf, ConfigError> {
    let directory = root.join(PROJECT_DIRECTORY);
    if directory.is_symlink() {
        return Err(ConfigError::in_file(&directory, LINK));
    }
    Ok(directory)
}

const LINK: &str = "a symbolic link is not followed here; replace it by what it points to, or remove it";

/// What happens to a file that is a symbolic link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Links {
    /// Users keep their own files in other directories.
    Followed,
    Refused,
}

fn read(
    directory: &Path,
    stem: &str,
    links: Links,
    origin: fn(PathBuf) -> Origin,
) -> Result<Option<FileLayer>, ConfigError> {
    let mut found: Option<(PathBuf, File, Format)> = None;
    for (ending, format) in ENDINGS {
        let path = directory.join(format!("{stem}.{ending}"));
        if links == Links::Refused && path.is_symlink() {
            return Err(ConfigError::in_file(&path, LINK));
        }
        let file = match open(&path) {
            Ok(Some(file)) => file,
            Ok(None) => continue,
            Err(error) => return Err(unreadable(&path, &error)),
        };
        if let Some((first, ..)) = found {
            let message = format!("{} exists too; keep one of them", path.display());
            return Err(ConfigError::in_file(&first, message));
        }
        found = Some((path, file, format));
    }
    let Some((path, file, format)) = found else { return Ok(None) };
    let mut bytes = Vec::new();
    // One byte more than is accepted shows that a file is too large.
    let limit = u64::try_from(MAX_TEXT_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    if let Err(error) = file.take(limit).read_to_end(&mut bytes) {
        return Err(unreadable(&path, &error));
    }
    let origin = origin(path);
    match parse(&bytes, format) {
        Ok(node) => Ok(Some((origin, without_schema(node)))),
        Err(error) => Err(ConfigError::parsing(&origin, error)),
    }
}

fn unreadable(path: &Path, error: &std::io::Error) -> ConfigError {
    ConfigError::in_file(path, format!("cannot be read: {error}"))
}

/// Nothing if the file does not exist. A broken link is an error, and so is a pipe, which might never end.
fn open(path: &Path) -> std::io::Result<Option<File>> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
        Ok(_) => {}
    }
    if !fs::metadata(path)?.is_file() {
        return Err(std::io::Error::new(ErrorKind::InvalidInput, "not a regular file"));
    }
    File::open(path).map(Some)
}

/// Drops `$schema`, by which editors find the schema of a JSON file. It is not a setting.
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
    fn the_nearest_project_directory() {
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
