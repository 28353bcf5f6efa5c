//! Files of a slot that lead into the user's working tree by its absolute path, and so out of the slot.
//!
//! Owns where that stands in each ecosystem: `replace` and `use` of Go, `file:` and `link:` of npm, links in
//! `node_modules`, and the scripts and configuration that a check's command names. Nothing of it is changed: a check on
//! other files than those of the commit would prove nothing.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use super::programs::variable;
use super::python::CheckPlace;
use super::tree_paths::TreePaths;
use super::variables::Variables;
use crate::check_output::read_file;

/// A larger file is no script and no manifest.
const LARGEST: u64 = 1 << 20;
/// Files that a program reads although nobody names them.
const READ_BY: [(&str, &[&str]); 9] = [
    ("make", &["Makefile", "makefile", "GNUmakefile"]),
    ("gmake", &["Makefile", "makefile", "GNUmakefile"]),
    ("just", &["justfile", "Justfile"]),
    ("pytest", &["pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml"]),
    ("tox", &["tox.ini", "setup.cfg", "pyproject.toml"]),
    ("cargo", &[".cargo/config.toml", ".cargo/config"]),
    ("npm", &["package.json"]),
    ("pnpm", &["package.json"]),
    ("yarn", &["package.json"]),
];
const RELATIVE: &str = "use a relative path";

/// The first thing that would make the check use the working tree, as a sentence.
pub(crate) fn leads_out(place: CheckPlace<'_>, variables: &Variables) -> Option<String> {
    go_files(place).or_else(|| package_files(place)).or_else(|| named_files(place)).or_else(|| {
        let on_path = std::env::split_paths(variable(variables, "NODE_PATH").unwrap_or_default());
        linked_packages(place, on_path.collect())
    })
}

fn sentence(place: &Path, paths: &TreePaths, line: usize, what: &str) -> String {
    let file = place.strip_prefix(paths.slot()).unwrap_or(place).display();
    format!("{file}, line {line}, {what}; the check would use that instead of the workspace: {RELATIVE}")
}

fn text_of(path: &Path) -> Option<String> {
    Some(String::from_utf8_lossy(&read_file(path, LARGEST)?).into_owned())
}

/// Absolute paths of `replace` and `use`.
fn go_files(CheckPlace { paths, manifests, .. }: CheckPlace<'_>) -> Option<String> {
    manifests.of_go().find_map(|file| {
        let text = text_of(file)?;
        let leads = |line: &str| {
            let code = line.split("//").next().unwrap_or(line);
            let words = code.split_whitespace().map(|word| word.trim_matches(['"', '`']));
            words.map(Path::new).any(|word| word.is_absolute() && paths.inside(word).is_some())
        };
        // A comment begins with two slashes, and so may an odd path: those are rare, and compare as equal.
        let line = text.lines().position(leads)? + 1;
        Some(sentence(file, paths, line, "names your working tree by its absolute path"))
    })
}

/// Dependencies of `package.json` with absolute paths.
fn package_files(CheckPlace { paths, manifests, .. }: CheckPlace<'_>) -> Option<String> {
    manifests.of_node().find_map(|file| {
        let text = text_of(file)?;
        let manifest: serde_json::Value = serde_json::from_str(&text).ok()?;
        let dependency = strings(&manifest).into_iter().find(|value| {
            let path = ["file:", "link:", "portal:"].iter().find_map(|scheme| value.strip_prefix(scheme));
            let path = path.map(|path| path.strip_prefix("//").unwrap_or(path));
            path.is_some_and(|path| path.starts_with('/') && paths.inside(Path::new(path)).is_some())
        })?;
        let line = text.lines().position(|line| line.contains(dependency)).map_or(1, |line| line + 1);
        let what = format!("has the dependency `{dependency}`, which leads into your working tree");
        Some(sentence(file, paths, line, &what))
    })
}

fn strings(value: &serde_json::Value) -> Vec<&str> {
    match value {
        serde_json::Value::String(text) => vec![text],
        serde_json::Value::Array(values) => values.iter().flat_map(strings).collect(),
        serde_json::Value::Object(values) => values.values().flat_map(strings).collect(),
        serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => Vec::new(),
    }
}

/// Scripts and configuration that the command names, or that a program it names reads.
fn named_files(place: CheckPlace<'_>) -> Option<String> {
    let paths = place.paths;
    let mut files: Vec<PathBuf> = Vec::new();
    for word in place.words.texts() {
        let value = word.rsplit('=').next().unwrap_or(word);
        files.extend([word, value].map(|name| place.directory.join(name)));
        let name = Path::new(word).file_name().and_then(OsStr::to_str).unwrap_or_default();
        let read = READ_BY.iter().filter(|(program, _)| *program == name).flat_map(|(_, files)| *files);
        files.extend(read.map(|file| place.directory.join(file)));
    }
    let in_slot = |file: &PathBuf| file.starts_with(paths.slot());
    files.iter().filter(|file| in_slot(file)).find_map(|file| {
        let text = text_of(file)?;
        // A virtual environment's own scripts name their interpreter in the first line, which is fine.
        let body =
            if text.starts_with("#!") { text.split_once('\n').map_or("", |(_, body)| body) } else { &text };
        let line = paths.line_that_names_tree(body)? + usize::from(text.starts_with("#!"));
        Some(sentence(file, paths, line, "names your working tree by its absolute path"))
    })
}

/// Links in `node_modules` that lead into the working tree, as `npm link` leaves them.
fn linked_packages(place: CheckPlace<'_>, on_path: Vec<PathBuf>) -> Option<String> {
    let paths = place.paths;
    let above = place.directory.ancestors().take_while(|above| above.starts_with(paths.slot()));
    let directories = above.map(|above| above.join("node_modules")).chain(on_path);
    for directory in directories {
        let is_scope =
            |path: &PathBuf| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"@"));
        let direct = entries(&directory);
        let scoped: Vec<PathBuf> =
            direct.iter().filter(|path| is_scope(path)).flat_map(|path| entries(path)).collect();
        for link in direct.into_iter().chain(scoped).filter(|path| path.is_symlink()) {
            let Ok(target) = link.canonicalize() else { continue };
            let is_of_tree = paths.inside(&target).is_some_and(|below| !paths.is_installed(&below));
            if is_of_tree {
                let link = link.strip_prefix(paths.slot()).unwrap_or(&link).display();
                return Some(format!(
                    "{link} is a link into your working tree ({}); the check would use that instead of the workspace: \
                     name the package by a relative path in package.json, or use workspaces",
                    target.display()
                ));
            }
        }
    }
    None
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::super::shell_words::shell_words;
    use super::super::tree_files::Manifests;
    use super::*;

    /// What is said of one file in a slot `s` beside a working tree `r`; `@` is the directory of both.
    fn said(file: &str, content: &str, command: &str) -> Option<String> {
        let root = tempfile::tempdir().unwrap();
        let at = root.path().display().to_string();
        fs::create_dir_all(root.path().join("r/lib")).unwrap();
        let path = root.path().join("s").join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        match content.strip_prefix("-> ") {
            Some(target) => symlink(target.replace('@', &at), &path).unwrap(),
            None => fs::write(&path, content.replace('@', &at)).unwrap(),
        }
        let slot = root.path().join("s");
        let paths = TreePaths::new(&root.path().join("r"), &slot);
        let words = shell_words(command);
        let manifests = Manifests::of(&slot);
        let place = CheckPlace {
            paths: &paths,
            directory: &slot,
            command,
            words: &words,
            scratch: root.path(),
            manifests: &manifests,
        };
        let found = leads_out(place, &Vec::new());
        found.map(|text| text.split(';').next().unwrap().replace(&at, "@"))
    }

    #[test]
    fn what_leads_into_the_working_tree_is_named_with_its_line() {
        let names = "names your working tree by its absolute path";
        let table = [
            ("go.mod", "module x\nreplace y => @/r/lib\n", "go test ./...", Some(format!("go.mod, line 2, {names}"))),
            ("go.mod", "module x\nreplace y => ../lib // @/r/lib\n", "go test ./...", None),
            ("sub/go.work", "use @/r/lib\n", "go test", Some(format!("sub/go.work, line 1, {names}"))),
            ("go.mod", "module x\nreplace y => @/other\n", "go test", None),
            (
                "package.json",
                "{\"dependencies\": {\n\"y\": \"file:@/r/lib\"}}",
                "npm test",
                Some("package.json, line 2, has the dependency `file:@/r/lib`, which leads into your working tree".into()),
            ),
            ("package.json", "{\"dependencies\": {\"y\": \"file:../lib\"}}", "npm test", None),
            ("run.sh", "#!/bin/sh\ncd @/r\n", "./run.sh", Some(format!("run.sh, line 2, {names}"))),
            ("run.sh", "#!@/r/.venv/bin/python\nx\n", "./run.sh", None),
            ("run.sh", "cd @/r\n", "./other.sh", None),
            ("conf.ini", "[x]\npath = @/r/lib\n", "tool --conf=conf.ini", Some(format!("conf.ini, line 2, {names}"))),
            ("Makefile", "test:\n\tcd @/r && go test\n", "make test", Some(format!("Makefile, line 2, {names}"))),
            ("Makefile", "# @/r\ntest:\n\tgo test\n", "make test", None),
            (
                "node_modules/@s/y",
                "-> @/r/lib",
                "npm test",
                Some("node_modules/@s/y is a link into your working tree (@/r/lib)".into()),
            ),
            ("node_modules/y", "-> ../lib", "npm test", None),
        ];
        for (file, content, command, expected) in table {
            assert_eq!(said(file, content, command), expected, "{file}: {content}");
        }
    }
}
