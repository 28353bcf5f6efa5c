//! Packages in a `site-packages` directory whose code is in the user's working tree: editable and `develop` installs.
//!
//! Owns how each build tool leaves its traces: lines of `.pth` files (setuptools, hatchling, poetry-core, flit, pdm,
//! `setup.py develop`), tables of import finders (setuptools, `editables`), links (flit), and import hooks that build when
//! a package is imported (scikit-build-core, meson-python). Refuses to import anything: files are read as text.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::tree_paths::TreePaths;
use crate::check_output::read_file;

/// A larger file is none that an install writes.
const LARGEST: u64 = 1 << 20;
/// Entries of a package directory that are searched for compiled modules.
const MOST_ENTRIES: u32 = 5000;

/// What an editable install adds to the places that code is imported from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EditableSource {
    /// A directory in which packages are looked for.
    Directory(PathBuf),
    /// One module or package, by its name and its path.
    Module { name: String, path: PathBuf },
    /// A link in `site-packages`.
    Link { name: String, path: PathBuf },
    /// A tree of links to the files of one directory: a strict install.
    LinkTree { path: PathBuf, source: PathBuf },
    /// What cannot be redirected.
    Fixed { path: PathBuf, why: &'static str },
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct EditableInstall {
    /// The name for people: of the distribution if it is known.
    pub(crate) name: String,
    /// The file in `site-packages` that says so.
    pub(crate) file: PathBuf,
    pub(crate) source: EditableSource,
}

const HOOK: &str = "its import hook builds it there when it is imported";
const LINK_TREE: &str = "it is a strict editable install, a tree of links to several directories";
const COMPILED: &str = "it has compiled modules that are not in the workspace";

/// The editable installs of a `site-packages` directory that lead into the working tree.
pub(crate) fn editable_installs(site: &Path, paths: &TreePaths) -> Vec<EditableInstall> {
    let mut found = BTreeSet::new();
    let Ok(entries) = fs::read_dir(site) else { return Vec::new() };
    let distributions = editable_distributions(site);
    for entry in entries.flatten() {
        let file = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        let sources = if name.ends_with(".pth") {
            of_path_file(&file, site, paths)
        } else if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
            of_link(&file, &name, paths)
        } else {
            Vec::new()
        };
        for source in sources {
            let name = display_name(&source, &name, &distributions);
            found.insert(EditableInstall { name, file: file.clone(), source });
        }
    }
    found.into_iter().collect()
}

fn of_path_file(file: &Path, site: &Path, paths: &TreePaths) -> Vec<EditableSource> {
    let Some(content) = read_file(file, LARGEST) else { return Vec::new() };
    let content = String::from_utf8_lossy(&content).into_owned();
    let mut sources = Vec::new();
    for line in content.lines().map(str::trim_end) {
        if line.starts_with("import ") || line.starts_with("import\t") {
            sources.extend(of_code(line, paths));
            sources.extend(of_imported_modules(line, site, paths));
        } else if !line.is_empty() && !line.starts_with('#') {
            // Lines are below `site-packages` unless they are absolute.
            sources.extend(of_directory(&site.join(line), paths));
        }
    }
    sources
}

fn of_directory(directory: &Path, paths: &TreePaths) -> Option<EditableSource> {
    let below = paths.inside(directory)?;
    let is_link_tree = below.iter().any(|part| part.to_string_lossy().starts_with("__editable__."));
    if is_link_tree {
        let path = directory.to_path_buf();
        return Some(match linked_directory(directory, paths) {
            Some(source) => EditableSource::LinkTree { path, source },
            None => EditableSource::Fixed { path, why: LINK_TREE },
        });
    }
    (!paths.is_installed(&below)).then(|| EditableSource::Directory(directory.to_path_buf()))
}

/// The directory of the working tree whose files a tree of links leads to, each at its own place.
fn linked_directory(tree: &Path, paths: &TreePaths) -> Option<PathBuf> {
    let mut left = MOST_ENTRIES;
    let mut roots = BTreeSet::new();
    let mut directories = vec![tree.to_path_buf()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).ok()?.flatten() {
            left = left.checked_sub(1)?;
            let (path, kind) = (entry.path(), entry.file_type().ok()?);
            if kind.is_dir() {
                directories.push(path);
            } else if kind.is_symlink() {
                let (target, below) =
                    (fs::read_link(&path).ok()?, path.strip_prefix(tree).ok()?.to_path_buf());
                let mut target = target.as_path();
                for part in below.iter().rev() {
                    target = (target.file_name() == Some(part)).then(|| target.parent()).flatten()?;
                }
                roots.insert(target.to_path_buf());
            }
        }
    }
    let root = roots.pop_first().filter(|_| roots.is_empty())?;
    paths.inside(&root).is_some_and(|below| !paths.is_installed(&below)).then_some(root)
}

/// Directories that a line of code names, as in `sys.path.insert(0, '/home/me/project')`.
fn of_code(line: &str, paths: &TreePaths) -> Vec<EditableSource> {
    let texts = string_literals(line);
    texts.iter().filter_map(|text| of_directory(Path::new(text), paths)).collect()
}

/// What the modules do that a line imports: `import __editable___x_finder; __editable___x_finder.install()`.
fn of_imported_modules(line: &str, site: &Path, paths: &TreePaths) -> Vec<EditableSource> {
    let modules = line.split(';').filter_map(|part| part.trim().strip_prefix("import "));
    let names = modules.flat_map(|names| names.split(',')).map(str::trim);
    let is_name = |name: &&str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let mut sources = Vec::new();
    for name in names.filter(is_name) {
        let Some(code) = read_file(&site.join(format!("{name}.py")), LARGEST) else { continue };
        sources.extend(of_finder(name, &String::from_utf8_lossy(&code), paths));
    }
    sources
}

fn of_finder(module: &str, code: &str, paths: &TreePaths) -> Vec<EditableSource> {
    let inside = |path: &str| paths.inside(Path::new(path)).is_some();
    let mut sources = Vec::new();
    if module.starts_with("__editable__") {
        for line in code.lines() {
            let literals = string_literals(line);
            if line.starts_with("MAPPING") {
                let pairs = literals.chunks_exact(2).filter_map(|pair| Some((pair.first()?, pair.get(1)?)));
                sources
                    .extend(pairs.filter(|(_, path)| inside(path)).map(|(name, path)| module_at(name, path)));
            } else if line.starts_with("NAMESPACES") {
                let mut name = "";
                for text in &literals {
                    if Path::new(text).is_absolute() {
                        sources.extend(inside(text).then(|| module_at(name, text)));
                    } else {
                        name = text;
                    }
                }
            }
        }
        return sources;
    }
    for line in code.lines().filter(|line| line.contains(".map_module(")) {
        if let [name, path, ..] = string_literals(line).as_slice() {
            sources.extend(inside(path).then(|| module_at(name, path)));
        }
    }
    if sources.is_empty() {
        let literals = code.lines().flat_map(string_literals);
        let named =
            literals.map(PathBuf::from).find(|path| path.is_absolute() && paths.inside(path).is_some());
        sources.extend(named.map(|path| EditableSource::Fixed { path, why: HOOK }));
    }
    sources
}

fn module_at(name: &str, path: &str) -> EditableSource {
    EditableSource::Module { name: name.to_string(), path: PathBuf::from(path) }
}

fn of_link(link: &Path, name: &str, paths: &TreePaths) -> Vec<EditableSource> {
    let Ok(target) = link.canonicalize() else { return Vec::new() };
    let is_of_tree = paths.inside(&target).is_some_and(|below| !paths.is_installed(&below));
    // A virtual environment in the working tree is inside of it as a whole; only links out of it count.
    let source = EditableSource::Link { name: name.to_string(), path: target };
    if is_of_tree { vec![source] } else { Vec::new() }
}

/// The texts in quotes of a line of Python.
fn string_literals(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut characters = line.chars();
    while let Some(quote) = characters.find(|character| matches!(character, '\'' | '"')) {
        let mut text = String::new();
        while let Some(character) = characters.next().filter(|character| *character != quote) {
            match character {
                '\\' => text.extend(characters.next()),
                _ => text.push(character),
            }
        }
        found.push(text);
    }
    found
}

/// The distributions of a `site-packages` directory that were installed in editable mode, by the directory they are in.
fn editable_distributions(site: &Path) -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(site).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some((name, _)) = name.strip_suffix(".dist-info").and_then(|name| name.rsplit_once('-')) else {
            continue;
        };
        let about = read_file(&entry.path().join("direct_url.json"), LARGEST);
        let about: Option<serde_json::Value> = about.and_then(|about| serde_json::from_slice(&about).ok());
        let url = about.filter(|about| about.pointer("/dir_info/editable") == Some(&true.into()));
        let url =
            url.and_then(|about| about.get("url")?.as_str()?.strip_prefix("file://").map(PathBuf::from));
        found.extend(url.map(|url| (name.to_string(), url)));
    }
    found
}

fn display_name(source: &EditableSource, file: &str, distributions: &[(String, PathBuf)]) -> String {
    let path = match source {
        EditableSource::Module { name, .. } | EditableSource::Link { name, .. } => return name.clone(),
        EditableSource::Directory(path)
        | EditableSource::LinkTree { path, .. }
        | EditableSource::Fixed { path, .. } => path,
    };
    let of_file = file.strip_prefix("__editable__.").unwrap_or(file);
    let stem = of_file.split(['-', '.']).next().unwrap_or(of_file).trim_start_matches('_');
    let normal = |name: &str| name.to_lowercase().replace('-', "_");
    let mut near = distributions.iter().filter(|(_, root)| path.starts_with(root));
    let (same, first) = (near.clone().find(|(name, _)| normal(name) == normal(stem)), near.next());
    let folder = || path.file_name().map(|name| name.to_string_lossy().into_owned());
    match same.or(first) {
        Some((name, _)) => name.clone(),
        None if stem == "easy" => folder().unwrap_or_else(|| stem.to_string()),
        None => stem.to_string(),
    }
}

impl EditableInstall {
    /// The place in the working tree that code is imported from.
    pub(crate) fn path(&self) -> &Path {
        match &self.source {
            EditableSource::Directory(path)
            | EditableSource::Module { path, .. }
            | EditableSource::Link { path, .. }
            | EditableSource::LinkTree { path, .. }
            | EditableSource::Fixed { path, .. } => path,
        }
    }

    /// The place in the slot that code is imported from instead.
    pub(crate) fn in_slot(&self, paths: &TreePaths) -> Option<PathBuf> {
        match &self.source {
            EditableSource::LinkTree { source, .. } => paths.in_slot(source),
            EditableSource::Directory(path)
            | EditableSource::Module { path, .. }
            | EditableSource::Link { path, .. }
            | EditableSource::Fixed { path, .. } => paths.in_slot(path),
        }
    }

    /// Why it cannot be redirected to a slot, if it cannot.
    pub(crate) fn obstacle(&self, paths: &TreePaths) -> Option<&'static str> {
        let mut left = MOST_ENTRIES;
        let directories: Vec<PathBuf> = match &self.source {
            EditableSource::Fixed { why, .. } => return Some(why),
            EditableSource::Directory(path) | EditableSource::LinkTree { source: path, .. } => {
                packages_in(path).into_iter().map(|name| path.join(name)).collect()
            }
            EditableSource::Module { path, .. } | EditableSource::Link { path, .. } => vec![path.clone()],
        };
        let is_missing = |path: &Path| paths.in_slot(path).is_some_and(|moved| !moved.exists());
        let mut compiled = directories.iter().flat_map(|path| compiled_modules(path, &mut left));
        compiled.any(|path| is_missing(&path)).then_some(COMPILED)
    }

    /// The modules that it makes importable, as they are in the slot.
    pub(crate) fn top_level(&self, paths: &TreePaths) -> Vec<String> {
        match &self.source {
            EditableSource::Fixed { .. } => Vec::new(),
            EditableSource::Module { name, .. } => vec![name.clone()],
            EditableSource::Link { name, .. } => vec![name.trim_end_matches(".py").to_string()],
            EditableSource::Directory(_) | EditableSource::LinkTree { .. } => {
                let moved = self.in_slot(paths);
                let modules =
                    moved.iter().flat_map(|path| packages_in(path).into_iter().chain(modules_in(path)));
                modules.collect()
            }
        }
    }
}

fn is_identifier(name: &str) -> bool {
    name.starts_with(|first: char| first.is_alphabetic() || first == '_')
        && name.chars().all(|character| character.is_alphanumeric() || character == '_')
}

/// The packages directly in a directory.
fn packages_in(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let packages = entries.filter(|entry| entry.path().join("__init__.py").is_file());
    let names = packages.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| is_identifier(name)).collect()
}

/// The modules directly in a directory.
fn modules_in(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let names = names.filter_map(|name| name.strip_suffix(".py").map(ToString::to_string));
    // Importing `setup` is nobody's wish, and `conftest` belongs to pytest.
    names.filter(|name| is_identifier(name) && name != "setup" && name != "conftest").collect()
}

fn compiled_modules(directory: &Path, left: &mut u32) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let Some(fewer) = left.checked_sub(1) else { return found };
        *left = fewer;
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => found.extend(compiled_modules(&path, left)),
            Ok(_) if path.extension().is_some_and(|extension| extension == "so" || extension == "pyd") => {
                found.push(path);
            }
            Ok(_) | Err(_) => {}
        }
    }
    found
}

#[cfg(test)]
mod tests;
