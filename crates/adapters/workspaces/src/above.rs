//! What lies above the working files of a check.
//!
//! Test runners and compilers look for settings and packages in every directory above the one they run in, and an agent can
//! write there. Owns the names that are ours in the directories of a slot, of its pool and of all pools. Refuses to touch
//! anything above those. Invariant: after [`remove_strangers`], nothing is there that Fixpoint did not put there.

use std::fs::{self, DirEntry};
use std::io::ErrorKind;
use std::path::Path;

use fixpoint_ports::WorkspaceError;

use crate::files::{io_error, remove};
use crate::recovery::SET_ASIDE;

/// The directory of all pools.
const ALL_POOLS: &str = "slots";
const OF_SLOT: [&str; 7] = ["tree", "git", "dated", "pristine", "notes", "unfinished", "why"];
const OF_POOL: [&str; 4] = [".git", "repository", "store", "scratch"];
const OF_POOL_BEGINNINGS: [&str; 4] = ["agent-", "check-", "apply-", SET_ASIDE];
/// A file that another process is about to rename.
const TEMPORARY: &str = ".tmp";
/// Directories that tools look for above the one they run in.
const LOOKED_FOR: [&str; 7] = ["node_modules", ".git", ".cargo", ".bundle", ".config", ".mvn", "vendor"];

/// Deletes what somebody put above the working files.
pub(crate) fn remove_strangers(slot: &Path, pool: &Path) -> Result<(), WorkspaceError> {
    remove_where(slot, &|name, _| !OF_SLOT.contains(&name))?;
    remove_where(pool, &|name, _| {
        let is_ours = OF_POOL.contains(&name)
            || name.ends_with(".lock")
            || OF_POOL_BEGINNINGS.iter().any(|beginning| name.starts_with(beginning));
        !is_ours
    })?;
    match pool.parent().filter(|parent| parent.ends_with(ALL_POOLS)) {
        Some(pools) => remove_where(pools, &|name, is_directory| !is_directory || LOOKED_FOR.contains(&name)),
        None => Ok(()),
    }
}

fn remove_where(directory: &Path, is_strange: &dyn Fn(&str, bool) -> bool) -> Result<(), WorkspaceError> {
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(io_error(directory))?,
    };
    let is_stranger = |entry: &DirEntry| {
        let name = entry.file_name();
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let name = name.to_string_lossy();
        !name.starts_with(TEMPORARY) && is_strange(&name, is_directory)
    };
    for entry in entries.flatten().filter(is_stranger) {
        remove(&entry.path())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_ours_stays() {
        let root = tempfile::tempdir().unwrap();
        let pools = root.path().join("slots");
        let pool = pools.join("repo-1");
        let slot = pool.join("check-0");
        fs::create_dir_all(slot.join("tree")).unwrap();
        fs::create_dir_all(pools.join("other-2/check-0")).unwrap();
        fs::create_dir_all(pools.join("node_modules/jest")).unwrap();
        for ours in
            [slot.join("tree/pytest.ini"), slot.join("dated"), pool.join("check-0.lock"), pool.join(".tmpX")]
        {
            fs::write(ours, "").unwrap();
        }
        for strange in [
            slot.join("pytest.ini"),
            pool.join("Cargo.toml"),
            pools.join("conftest.py"),
            root.path().join("x"),
        ] {
            fs::write(strange, "").unwrap();
        }
        remove_strangers(&slot, &pool).unwrap();
        let names = |directory: &Path| {
            let entries = fs::read_dir(directory).unwrap();
            let mut names: Vec<String> =
                entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        };
        assert_eq!(names(&slot), ["dated", "tree"]);
        assert_eq!(names(&slot.join("tree")), ["pytest.ini"]);
        assert_eq!(names(&pool), [".tmpX", "check-0", "check-0.lock"]);
        assert_eq!(names(&pools), ["other-2", "repo-1"]);
        assert_eq!(names(root.path()), ["slots", "x"], "what is not ours is left alone");
    }

    #[test]
    fn another_directory_of_pools_is_left_alone() {
        let root = tempfile::tempdir().unwrap();
        let pool = root.path().join("repo-1");
        fs::create_dir_all(pool.join("check-0")).unwrap();
        fs::write(root.path().join("mine"), "").unwrap();
        remove_strangers(&pool.join("check-0"), &pool).unwrap();
        assert!(root.path().join("mine").exists());
    }
}
