//! Scripts that a script runs without naming them whole: by joined names, by patterns, by listing a directory.
//!
//! Owns which files of the base a source may mean. Refuses to decide whether they are tests or what is tested.

use super::literals::named;
use super::{Reach, glob_fits};
use crate::beside::is_code;
use crate::paths::{directory, join, name};
use crate::tree::{Tree, below, is_directory};

/// Words of sources that list directories.
const LISTING: [&str; 14] = [
    "glob",
    "iterdir",
    "listdir",
    "scandir",
    "os.walk",
    "readdir",
    "opendir",
    "iter_modules",
    "walk_packages",
    "Dir[",
    "Dir.",
    "find(",
    "fs.opendir",
    "DirectoryIterator",
];
/// Words of sources that run or load what they find.
const RUNNING: [&str; 24] = [
    "import_module",
    "__import__",
    "runpy",
    "run_path",
    "exec(",
    "execfile",
    "subprocess",
    "os.system",
    "popen",
    "Popen",
    "spawn",
    "execFile",
    "execSync",
    "fork(",
    "require(",
    "require ",
    "import(",
    "load ",
    "load(",
    "load_module",
    "include",
    "system(",
    "spec_from_file_location",
    "SourceFileLoader",
];
const MOST_FILES: usize = 200;

/// A pattern, and the files of the base that it fits.
type Listed = (String, Vec<String>);

/// The files that a source names, and those that it may find, with the pattern by which it does.
pub(super) fn candidates(
    base: &dyn Tree,
    reach: &Reach,
    path: &str,
    content: &str,
) -> (Vec<String>, Vec<Listed>) {
    let has = |words: &[&str]| words.iter().any(|word| content.contains(word));
    let (is_running, is_listing) = (has(&RUNNING), has(&LISTING));
    let mut roots = vec![directory(path), ""];
    roots.extend(reach.import_roots.iter().map(String::as_str));
    let (mut files, mut listed) = (Vec::new(), Vec::new());
    for text in named(content) {
        let forms = [Some(text.trim_start_matches('/').to_string()), dotted(&text)];
        for form in forms.into_iter().flatten() {
            let places = roots.iter().filter_map(|root| join(root, &form)).filter(|place| !place.is_empty());
            for place in places {
                if base.is_file(&place) {
                    files.push(place);
                } else if place.contains('*') {
                    listed.extend(is_running.then(|| fitting(base, &place)).flatten());
                } else if is_running && is_listing && is_directory(base, &place) {
                    listed.extend(fitting(base, &format!("{place}/*")));
                    if content.contains("rglob") || content.contains("**") || content.contains("walk") {
                        listed.extend(fitting(base, &format!("{place}/*/*")));
                    }
                }
            }
        }
    }
    if content.contains("iter_modules") || content.contains("walk_packages") {
        let packages = super::imports::imported(base, reach, path, content);
        let packages = packages.iter().filter(|file| name(file) == "__init__.py");
        listed.extend(packages.filter_map(|file| fitting(base, &format!("{}/*", directory(file)))));
    }
    files.retain(|file| is_code(file));
    (files, listed)
}

/// A module by its dotted name, of which the last part is put in.
fn dotted(text: &str) -> Option<String> {
    let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.' | '*');
    let is_module = text.contains('.') && text.ends_with(".*") && text.chars().all(is_part);
    is_module.then(|| text.trim_start_matches('.').replace('.', "/"))
}

/// The code that fits a pattern in a directory that is known.
fn fitting(base: &dyn Tree, glob: &str) -> Option<Listed> {
    let (before, _) = glob.split_once('*')?;
    let (known, _) = before.rsplit_once('/')?;
    let fits = |file: &&str| is_code(file) && glob_fits(glob, file);
    let found: Vec<String> = below(base, known).filter(fits).take(MOST_FILES).map(str::to_string).collect();
    (!found.is_empty()).then(|| (glob.to_string(), found))
}
