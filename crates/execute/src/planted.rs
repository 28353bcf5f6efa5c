//! Files that the code under test leaves beside a module of Python, and that Python loads in its place.
//!
//! Owns what takes precedence over a source: a package or a library of the same name, and byte code that says it need not be
//! compared with its source. Python itself writes byte code with date and size of the source; one that forges both is not
//! seen. Refuses to know which modules matter: the caller does.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

/// Byte code begins with four bytes for the version and four for flags: 1 where it has a hash of the source instead of its
/// date, and 2 where that must be compared.
const HEADER: usize = 8;

/// Files that take the place of modules, each with the module. Both are below `root`; `files` are those of the commit.
pub(crate) fn planted(root: &Path, files: &[String]) -> BTreeMap<String, String> {
    let known: BTreeSet<&str> = files.iter().map(String::as_str).collect();
    let mut modules: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for path in files {
        let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
        if let Some(module) = name.strip_suffix(".py") {
            modules.entry(directory).or_default().insert(module);
        }
    }
    let mut found = BTreeMap::new();
    for (directory, modules) in modules {
        let below =
            |name: &str| if directory.is_empty() { name.to_string() } else { format!("{directory}/{name}") };
        for (name, cached) in entries(&root.join(directory)) {
            let module = name.split('.').next().unwrap_or_default();
            let is_other = match cached {
                Place::Cache => is_unchecked(&root.join(below(&name_in_cache(&name)))),
                Place::Here => name.ends_with(".so") || root.join(below(&name)).join("__init__.py").is_file(),
            };
            let path = match cached {
                Place::Cache => below(&name_in_cache(&name)),
                Place::Here if name.ends_with(".so") => below(&name),
                Place::Here => below(&format!("{name}/__init__.py")),
            };
            if modules.contains(module) && is_other && !known.contains(path.as_str()) {
                found.insert(path, below(&format!("{module}.py")));
            }
        }
    }
    found
}

#[derive(Clone, Copy)]
enum Place {
    Here,
    /// In `__pycache__`.
    Cache,
}

fn name_in_cache(name: &str) -> String {
    format!("__pycache__/{name}")
}

/// The names in a directory and in its cache.
fn entries(directory: &Path) -> Vec<(String, Place)> {
    let names = |directory: &Path, place: Place| {
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        entries.map(move |entry| (entry.file_name().to_string_lossy().into_owned(), place))
    };
    let cached = directory.join("__pycache__");
    names(directory, Place::Here).chain(names(&cached, Place::Cache)).collect()
}

/// Whether byte code is loaded without a look at its source.
fn is_unchecked(path: &Path) -> bool {
    let mut header = [0; HEADER];
    let is_code = path.extension().is_some_and(|ending| ending == "pyc");
    let is_read = is_code && File::open(path).and_then(|mut file| file.read_exact(&mut header)).is_ok();
    is_read && header.get(4..) == Some([1, 0, 0, 0].as_slice())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_python_prefers_to_a_source() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, content: &[u8]| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        };
        let (unchecked, checked, dated) =
            (b"\xa7\r\r\n\x01\0\0\0hash", b"\xa7\r\r\n\x03\0\0\0hash", b"\xa7\r\r\n\0\0\0\0date");
        write("tests/__pycache__/helper.cpython-311.pyc", unchecked);
        write("tests/__pycache__/other.cpython-311.pyc", checked);
        write("tests/__pycache__/third.cpython-311.pyc", dated);
        write("tests/__pycache__/gone.cpython-311.pyc", unchecked);
        write("tests/other/__init__.py", b"");
        write("tests/data/x.txt", b"");
        write("tests/third.cpython-311-x86_64-linux-gnu.so", b"");
        write("calc/__init__.py", b"");
        let files = ["calc.py", "calc/__init__.py", "tests/helper.py", "tests/other.py", "tests/third.py"];
        let files: Vec<String> = files.map(str::to_string).to_vec();
        let found: Vec<(String, String)> = planted(root.path(), &files).into_iter().collect();
        let expected = [
            ("tests/__pycache__/helper.cpython-311.pyc", "tests/helper.py"),
            ("tests/other/__init__.py", "tests/other.py"),
            ("tests/third.cpython-311-x86_64-linux-gnu.so", "tests/third.py"),
        ];
        assert_eq!(found, expected.map(|(file, module)| (file.to_string(), module.to_string())));
    }
}
