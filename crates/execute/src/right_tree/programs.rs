//! Which file a word of a command line runs, and which interpreter that file names.
//!
//! Owns the lookup on `PATH` and the first line of a script. Refuses to start anything.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Enough for the first line of a script, and the second of those whose first would be too long.
const HEAD: u64 = 4096;

pub(crate) fn variable<'a>(environment: &'a [(OsString, OsString)], name: &str) -> Option<&'a OsStr> {
    environment.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.as_os_str())
}

/// The directories of `PATH`, absolute.
pub(crate) fn path_directories(environment: &[(OsString, OsString)], directory: &Path) -> Vec<PathBuf> {
    let path = variable(environment, "PATH").unwrap_or_default();
    std::env::split_paths(path).map(|entry| directory.join(entry)).collect()
}

/// The file that a shell in `directory` would run.
pub(crate) fn find_program(
    word: &str,
    environment: &[(OsString, OsString)],
    directory: &Path,
) -> Option<PathBuf> {
    if word.is_empty() || word.contains('\0') {
        return None;
    }
    if word.contains('/') {
        return Some(directory.join(word)).filter(|path| is_program(path));
    }
    let directories = path_directories(environment, directory);
    directories.into_iter().map(|entry| entry.join(word)).find(|path| is_program(path))
}

fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

pub(crate) fn is_python(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let version = name.strip_prefix("python").or_else(|| name.strip_prefix("pypy"));
    version.is_some_and(|version| version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'))
}

/// The Python that a program is or names in its first line.
pub(crate) fn python_of(program: &Path, environment: &[(OsString, OsString)]) -> Option<PathBuf> {
    if is_python(program) {
        return Some(program.to_path_buf());
    }
    let mut head = Vec::new();
    fs::File::open(program).ok()?.take(HEAD).read_to_end(&mut head).ok()?;
    let head = String::from_utf8_lossy(&head).into_owned();
    let mut lines = head.strip_prefix("#!")?.lines();
    let mut words = lines.next()?.split_whitespace();
    let interpreter = Path::new(words.next()?);
    if is_python(interpreter) {
        return Some(interpreter.to_path_buf());
    }
    let is = |name: &str| interpreter.file_name().is_some_and(|known| known == name);
    if is("env") {
        let name = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
        return find_program(name, environment, Path::new("/")).filter(|found| is_python(found));
    }
    // A path that is too long for a first line, or has a blank, is written by pip into the second.
    let exec = lines.next().filter(|_| is("sh"))?.strip_prefix("'''exec' ")?;
    let path = match exec.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next(),
        None => exec.split_whitespace().next(),
    };
    path.map(PathBuf::from).filter(|path| is_python(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_name_their_python() {
        let root = tempfile::tempdir().unwrap();
        let write = |name: &str, content: &str| {
            let path = root.path().join(name);
            fs::write(&path, content).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            path
        };
        let own = write("python3", "");
        let environment = vec![("PATH".into(), root.path().as_os_str().to_os_string())];
        let table = [
            ("#!/v/bin/python3.11\n", Some("/v/bin/python3.11")),
            ("#!/v/bin/python -I\nx", Some("/v/bin/python")),
            ("#!/usr/bin/env python3\n", own.to_str()),
            ("#!/usr/bin/env -S python3 -u\n", own.to_str()),
            ("#!/bin/sh\n'''exec' \"/a b/bin/python\" \"$0\" \"$@\"\n", Some("/a b/bin/python")),
            ("#!/bin/sh\n'''exec' /ab/bin/python3 \"$0\" \"$@\"\n", Some("/ab/bin/python3")),
            ("#!/usr/bin/env bash\npython3 x", None),
            ("#!/v/bin/python-config\n", None),
            ("\x7fELF", None),
            ("", None),
        ];
        for (content, expected) in table {
            let script = write("script", content);
            assert_eq!(python_of(&script, &environment), expected.map(PathBuf::from), "{content}");
        }
        assert_eq!(find_program("python3", &environment, Path::new("/")), Some(own));
        assert_eq!(find_program("./script", &environment, root.path()), Some(root.path().join("./script")));
        assert_eq!(find_program("nothing", &environment, root.path()), None);
    }
}
