//! What a Python loads whenever it starts, from its package directories.
//!
//! Owns which files these are: `sitecustomize`, `usercustomize`, and `.pth` files that import and belong to no installed package.
//! Refuses to say what is good in them: what was there when the run began is the user's.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

const MODULES: [&str; 2] = ["sitecustomize", "usercustomize"];
/// A larger file is known by its beginning.
const MOST: usize = 64 << 10;

/// The files with their content.
pub(crate) type StartUp = BTreeMap<PathBuf, Vec<u8>>;

pub(crate) fn start_up(sites: &[PathBuf]) -> StartUp {
    sites.iter().flat_map(|site| of_site(site)).collect()
}

/// A file outside of a workspace that was not there before, or not as it is now. A workspace is put back by itself.
pub(crate) fn changed<'a>(before: &StartUp, now: &'a StartUp, workspace: &Path) -> Option<&'a Path> {
    let is_new = |(path, content): &(&PathBuf, &Vec<u8>)| {
        !path.starts_with(workspace) && before.get(*path) != Some(*content)
    };
    now.iter().find(is_new).map(|(path, _)| path.as_path())
}

fn of_site(site: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut installed = None;
    for entry in fs::read_dir(site).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let is_module = MODULES.contains(&name.split('.').next().unwrap_or_default());
        let file = if path.is_dir() { path.join("__init__.py") } else { path };
        if !is_module && !name.ends_with(".pth") {
            continue;
        }
        let Ok(mut content) = fs::read(&file) else { continue };
        content.truncate(MOST);
        let imports = || content.split(|byte| *byte == b'\n').any(|line| line.starts_with(b"import"));
        let mut is_installed = || installed.get_or_insert_with(|| records(site)).contains(&name);
        let mut is_loaded = || imports() && !is_installed();
        if is_module || is_loaded() {
            found.push((file, content));
        }
    }
    found
}

/// What the installed packages of a directory say they consist of.
fn records(site: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(site).into_iter().flatten().flatten().map(|entry| entry.path());
    let packages = entries.filter(|path| path.extension().is_some_and(|end| end == "dist-info"));
    let records = packages.filter_map(|path| fs::read_to_string(path.join("RECORD")).ok());
    let files = |record: String| -> Vec<String> {
        let files = record.lines().filter_map(|line| line.split(',').next());
        files.filter(|file| file.ends_with(".pth")).map(str::to_string).collect()
    };
    records.flat_map(files).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_at_every_start() {
        let site = tempfile::tempdir().unwrap();
        let write = |name: &str, content: &str| {
            let path = site.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        };
        let sites = [site.path().to_path_buf()];
        write("sitecustomize.py", "x = 1\n");
        let before = start_up(&sites);
        assert_eq!(changed(&before, &start_up(&sites), Path::new("/w")), None);
        write("calc.pth", "/home/me/calc\n");
        write("hook.pth", "import hook\n");
        write("hook-1.0.dist-info/RECORD", "hook.pth,,\nhook.py,,\n");
        write("calc/usercustomize.py", "");
        assert_eq!(
            changed(&before, &start_up(&sites), Path::new("/w")),
            None,
            "paths, packages and what they bring along"
        );
        for (name, content) in [
            ("usercustomize.py", "import x\n"),
            ("planted.pth", "import x\n"),
            ("sitecustomize.py", "x = 2\n"),
        ] {
            let before = start_up(&sites);
            write(name, content);
            assert_eq!(
                changed(&before, &start_up(&sites), Path::new("/w")),
                Some(site.path().join(name).as_path()),
                "{name}"
            );
        }
        let before = start_up(&sites);
        write("usercustomize/__init__.py", "");
        assert_eq!(changed(&before, &start_up(&sites), site.path()), None, "a workspace");
        assert!(changed(&before, &start_up(&sites), Path::new("/w")).is_some());
    }
}
