//! Reports that test runners write to files instead of printing them: JUnit XML of Maven and Gradle.
//!
//! Owns where they are. Refuses directories that are reached through a link: they are not the slot's to empty.
//! Invariant: a report read after a check was written by that check, because all of them are removed before it.

use std::fs;
use std::path::{Path, PathBuf};

/// Where the known tools put their reports, from the directory of a module.
const PLACES: [&str; 4] =
    ["target/surefire-reports", "target/failsafe-reports", "build/test-results", "build/reports/junit"];
const MANIFESTS: [&str; 4] = ["pom.xml", "build.gradle", "build.gradle.kts", "build.xml"];
const DEPTH: u32 = 3;
/// Bytes of reports that are read, at most.
const MOST: u64 = 64 << 20;

/// The directories a check may leave reports in.
#[derive(Debug)]
pub(crate) struct ReportFiles(Vec<PathBuf>);

impl ReportFiles {
    /// Finds the places and empties them.
    pub(crate) fn clear(directory: &Path) -> Self {
        let mut places = Vec::new();
        find_modules(directory, DEPTH, &mut places);
        places.retain(|place| !is_behind_link(directory, place));
        for place in &places {
            // What cannot be removed is read again later: an old failure is the lesser evil.
            drop(fs::remove_dir_all(place));
        }
        Self(places)
    }

    /// Passes on the content of every report.
    pub(crate) fn read(&self, take: &mut dyn FnMut(&[u8])) {
        let mut left = MOST;
        for place in self.0.iter().filter(|place| !place.is_symlink()) {
            read_below(place, 2, &mut left, take);
        }
    }
}

fn find_modules(directory: &Path, depth: u32, places: &mut Vec<PathBuf>) {
    if MANIFESTS.iter().any(|manifest| directory.join(manifest).is_file()) {
        places.extend(PLACES.iter().map(|place| directory.join(place)));
    } else if depth == DEPTH {
        // Without a manifest at the top there are no modules below.
        return;
    }
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten().filter(|_| depth > 0) {
        let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        if !is_hidden
            && entry.file_type().is_ok_and(|kind| kind.is_dir())
            && entry.file_name() != "node_modules"
        {
            find_modules(&entry.path(), depth - 1, places);
        }
    }
}

/// Whether a path below a directory is, or is reached through, anything but a directory.
fn is_behind_link(directory: &Path, path: &Path) -> bool {
    let mut between = path.ancestors().take_while(|above| *above != directory);
    between.any(|above| above.symlink_metadata().is_ok_and(|found| !found.is_dir()))
}

fn read_below(directory: &Path, depth: u32, left: &mut u64, take: &mut dyn FnMut(&[u8])) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    let mut entries: Vec<_> = entries.flatten().collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let Ok(metadata) = entry.metadata() else { continue };
        let is_report = entry.path().extension().is_some_and(|extension| extension == "xml");
        if metadata.is_dir() && depth > 0 {
            read_below(&entry.path(), depth - 1, left, take);
        } else if metadata.is_file() && is_report && metadata.len() <= *left {
            *left -= metadata.len();
            if let Ok(content) = fs::read(entry.path()) {
                take(b"\n");
                take(&content);
                take(b"\n");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_of_this_check_are_read_and_older_ones_are_not() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, content: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        };
        write("pom.xml", "");
        write("module/pom.xml", "");
        write("module/target/surefire-reports/TEST-old.xml", "old");
        let files = ReportFiles::clear(root.path());
        write("target/surefire-reports/TEST-a.xml", "new");
        write("target/surefire-reports/a.txt", "no report");
        let mut read = Vec::new();
        files.read(&mut |bytes| read.extend_from_slice(bytes));
        assert_eq!(read, b"\nnew\n");
    }

    #[test]
    fn what_a_link_leads_to_is_neither_removed_nor_read() {
        let (root, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let report = outside.path().join("surefire-reports/TEST-a.xml");
        fs::create_dir_all(report.parent().unwrap()).unwrap();
        fs::write(&report, "theirs").unwrap();
        fs::write(root.path().join("pom.xml"), "").unwrap();
        std::os::unix::fs::symlink(outside.path(), root.path().join("target")).unwrap();
        let mut read = Vec::new();
        ReportFiles::clear(root.path()).read(&mut |bytes| read.extend_from_slice(bytes));
        assert!(read.is_empty() && report.is_file());
    }

    #[test]
    fn a_project_without_such_tools_is_not_searched() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("sub")).unwrap();
        fs::write(root.path().join("sub/pom.xml"), "").unwrap();
        assert!(ReportFiles::clear(root.path()).0.is_empty());
    }
}
