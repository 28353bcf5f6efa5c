//! Whole repositories in memory, and what is found in them.

mod broken;
mod configuration;
mod languages;
mod monorepo;
mod node;
mod private_files;
mod python;

use std::collections::BTreeMap;

use fixpoint_vocabulary::Lang;

use crate::{DetectedProject, Files, MAX_FILE_BYTES, detect};

/// A repository in memory: texts by path.
#[derive(Debug, Default)]
pub(super) struct Memory(BTreeMap<String, String>);

impl Memory {
    pub(super) fn new(files: &[(&str, &str)]) -> Self {
        Self(files.iter().map(|(path, text)| (path.to_string(), text.to_string())).collect())
    }

    fn below(&self, directory: &str) -> impl Iterator<Item = &str> {
        let prefix = if directory.is_empty() { String::new() } else { format!("{directory}/") };
        self.0.keys().filter_map(move |path| path.strip_prefix(&prefix))
    }
}

impl Files for Memory {
    fn read(&self, path: &str) -> Option<String> {
        let text = self.0.get(path)?;
        (text.len() as u64 <= MAX_FILE_BYTES).then(|| text.clone())
    }

    fn exists(&self, path: &str) -> bool {
        self.0.contains_key(path) || self.below(path).next().is_some()
    }

    fn list(&self, directory: &str) -> Vec<String> {
        let name = |rest: &str| match rest.split_once('/') {
            Some((name, _)) => format!("{name}/"),
            None => rest.to_string(),
        };
        let mut names: Vec<String> = self.below(directory).map(name).collect();
        names.dedup();
        names
    }
}

/// What is found in these files, where git ignores nothing.
pub(super) fn found(files: &[(&str, &str)]) -> DetectedProject {
    found_with(files, &[])
}

/// What is found in these files, where git ignores these paths.
pub(super) fn found_with(files: &[(&str, &str)], ignored: &[&str]) -> DetectedProject {
    detect(&Memory::new(files), &|path| INSTALLED.contains(&path) || ignored.contains(&path), &|_| true)
}

/// Where packages are installed. Most projects ignore these.
const INSTALLED: [&str; 4] = [".venv/", "node_modules/", "vendor/", "deps/"];

/// Each check in a line: `name: command (runner) because`.
pub(super) fn checks(found: &DetectedProject) -> Vec<String> {
    let line = |found: &crate::DetectedCheck| {
        let check = &found.check;
        format!("{}: {} ({}) {}", check.name, check.command, check.runner, found.because)
    };
    found.checks.iter().map(line).collect()
}

/// What is skipped, then the notes, in English.
pub(super) fn notes(found: &DetectedProject) -> Vec<String> {
    let skipped =
        found.skipped.iter().map(|skipped| format!("{}: {}", skipped.what, skipped.why.in_lang(Lang::En)));
    skipped.chain(found.notes.iter().map(|note| note.in_lang(Lang::En).to_string())).collect()
}

/// A repository, and everything that must be found in it.
pub(super) struct Case<'a> {
    pub(super) files: &'a [(&'a str, &'a str)],
    pub(super) checks: &'a [&'a str],
    pub(super) setup: &'a [&'a str],
    /// How each note begins.
    pub(super) notes: &'a [&'a str],
}

impl<'a> Case<'a> {
    pub(super) fn with_notes(self, notes: &'a [&'a str]) -> Self {
        Self { notes, ..self }
    }

    #[track_caller]
    pub(super) fn assert_detected(&self) {
        self.assert_detected_ignoring(&[]);
    }

    #[track_caller]
    pub(super) fn assert_detected_ignoring(&self, ignored: &[&str]) {
        let found = found_with(self.files, ignored);
        assert_eq!(checks(&found), self.checks, "{:?}", self.files);
        assert_eq!(found.setup, self.setup, "{:?}", self.files);
        let notes = notes(&found);
        assert_eq!(notes.len(), self.notes.len(), "{notes:#?}");
        for (note, expected) in notes.iter().zip(self.notes) {
            assert!(note.starts_with(expected), "{note}\nshould begin with\n{expected}");
        }
        for note in found.notes.iter().chain(found.skipped.iter().map(|skipped| &skipped.why)) {
            assert_ne!(note.in_lang(Lang::En), note.in_lang(Lang::Ja), "not translated");
        }
    }
}
