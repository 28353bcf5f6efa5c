//! One directory of the repository that is looked at by itself: the root, or a directory right below it.
//!
//! Owns reading manifests so that a broken one becomes a note. Invariant: names are given from the directory, and
//! every path and command that leaves is from the root of the repository.

use fixpoint_vocabulary::Text;
use serde_json::Value as Json;

use crate::files::{Files, MAX_FILE_BYTES};
use crate::gathering::Gathering;
use crate::quoting::shell_word;

/// Tells whether git ignores a path from the root of the repository; a directory's ends with `/`.
pub(crate) type IsIgnored<'a> = &'a dyn Fn(&str) -> bool;

/// A directory that may hold a project.
pub(crate) struct Place<'a> {
    files: &'a dyn Files,
    is_ignored: IsIgnored<'a>,
    directory: String,
}

impl<'a> Place<'a> {
    pub(crate) fn root(files: &'a dyn Files, is_ignored: IsIgnored<'a>) -> Self {
        Self { files, is_ignored, directory: String::new() }
    }

    /// A directory right below this one.
    pub(crate) fn below(&self, name: &str) -> Self {
        Self { files: self.files, is_ignored: self.is_ignored, directory: self.path(name) }
    }

    /// Its path from the root of the repository; empty for the root.
    pub(crate) fn directory(&self) -> &str {
        &self.directory
    }

    /// A path from the root of the repository.
    pub(crate) fn path(&self, name: &str) -> String {
        if self.directory.is_empty() { name.to_string() } else { format!("{}/{name}", self.directory) }
    }

    /// A command line that runs in this directory.
    pub(crate) fn command(&self, command: &str) -> String {
        if self.directory.is_empty() {
            return command.to_string();
        }
        format!("cd {} && {command}", shell_word(&self.directory))
    }

    pub(crate) fn exists(&self, name: &str) -> bool {
        self.files.exists(&self.path(name))
    }

    /// The first of these names that exists.
    pub(crate) fn first<'n>(&self, names: &[&'n str]) -> Option<&'n str> {
        names.iter().copied().find(|name| self.exists(name))
    }

    pub(crate) fn is_ignored(&self, name: &str) -> bool {
        (self.is_ignored)(&self.path(name))
    }

    /// The names in this directory, directories with a `/` at their end.
    pub(crate) fn names(&self) -> Vec<String> {
        self.files.list(&self.directory)
    }

    /// The names in a directory below this one.
    pub(crate) fn names_in(&self, directory: &str) -> Vec<String> {
        self.files.list(&self.path(directory))
    }

    /// The text of a file; a note if it is there and cannot be read.
    pub(crate) fn text(&self, name: &str, gathering: &mut Gathering) -> Option<String> {
        let path = self.path(name);
        let Some(text) = self.files.read(&path) else {
            if self.files.exists(&path) {
                gathering.note(unreadable(&path));
            }
            return None;
        };
        // Some editors begin a file with a byte order mark, which no parser here accepts.
        Some(text.strip_prefix('\u{feff}').map(str::to_string).unwrap_or(text))
    }

    /// A JSON document; a note if it is none.
    pub(crate) fn json(&self, name: &str, gathering: &mut Gathering) -> Option<Json> {
        let text = self.text(name, gathering)?;
        match serde_json::from_str(&text) {
            Ok(document) => Some(document),
            Err(error) => {
                gathering.note(malformed(&self.path(name), "JSON", &error.to_string()));
                None
            }
        }
    }

    /// A TOML document; a note if it is none.
    pub(crate) fn toml(&self, name: &str, gathering: &mut Gathering) -> Option<toml::Table> {
        let text = self.text(name, gathering)?;
        match text.parse() {
            Ok(document) => Some(document),
            Err(error) => {
                let error: toml::de::Error = error;
                gathering.note(malformed(&self.path(name), "TOML", error.message()));
                None
            }
        }
    }
}

fn unreadable(path: &str) -> Text {
    Text::new(
        format!("{path} was not read: it is larger than {MAX_FILE_BYTES} bytes, or not a text file."),
        format!(
            "{path} は読み込みませんでした。{MAX_FILE_BYTES} バイトを超えるか、テキストファイルではありません。"
        ),
    )
}

fn malformed(path: &str, format: &str, error: &str) -> Text {
    Text::new(
        format!("{path} is not valid {format}, so nothing was concluded from it: {error}"),
        format!("{path} は正しい {format} ではないため、何も読み取れませんでした: {error}"),
    )
}
