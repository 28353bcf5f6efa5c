//! One directory that may be a project: the root of the repository, or a directory below it.
//!
//! A manifest that cannot be read becomes a note. Invariant: names that come in are relative to this directory; paths and
//! commands that go out are relative to the root of the repository.

use fixpoint_vocabulary::Text;
use serde_json::Value as Json;

use crate::files::{Files, MAX_FILE_BYTES};
use crate::findings::Findings;
use crate::shell_quoting::shell_word;

/// Whether git ignores a path from the root of the repository; the path of a directory ends with `/`.
pub(crate) type IsIgnored<'a> = &'a dyn Fn(&str) -> bool;

/// Whether a program is on the PATH.
pub(crate) type HasProgram<'a> = &'a dyn Fn(&str) -> bool;

#[derive(Clone)]
pub(crate) struct ProjectDirectory<'a> {
    files: &'a dyn Files,
    is_ignored: IsIgnored<'a>,
    has_program: HasProgram<'a>,
    directory: String,
}

impl<'a> ProjectDirectory<'a> {
    pub(crate) fn root(files: &'a dyn Files, is_ignored: IsIgnored<'a>, has_program: HasProgram<'a>) -> Self {
        Self { files, is_ignored, has_program, directory: String::new() }
    }

    /// A directory below this one.
    pub(crate) fn below(&self, name: &str) -> Self {
        Self { directory: self.path(name), ..self.clone() }
    }

    /// The root of the repository, for a directory below it.
    pub(crate) fn repository(&self) -> Option<Self> {
        (!self.directory.is_empty()).then(|| Self { directory: String::new(), ..self.clone() })
    }

    pub(crate) fn has_program(&self, name: &str) -> bool {
        (self.has_program)(name)
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

    /// A command that fills a directory, so that git ignores the directory even where the project does not say so:
    /// everything in it would look like a change by the agent.
    pub(crate) fn filling(&self, command: &str, directory: &str) -> String {
        if self.is_ignored(&format!("{directory}/")) {
            return command.to_string();
        }
        format!("{command} && echo '*' > {directory}/.gitignore")
    }

    /// The names in this directory, directories with a `/` at their end.
    pub(crate) fn names(&self) -> Vec<String> {
        self.files.list(&self.directory)
    }

    /// The names in a directory below this one.
    pub(crate) fn names_in(&self, directory: &str) -> Vec<String> {
        self.files.list(&self.path(directory))
    }

    /// The text of a file; a note if it exists and cannot be read.
    pub(crate) fn text(&self, name: &str, findings: &mut Findings) -> Option<String> {
        let path = self.path(name);
        let Some(text) = self.files.read(&path) else {
            if self.files.exists(&path) {
                findings.note(unreadable(&path));
            }
            return None;
        };
        // Some editors begin a file with a byte order mark, which the parsers do not accept.
        Some(text.strip_prefix('\u{feff}').map(str::to_string).unwrap_or(text))
    }

    /// A JSON document; a note if it is not valid.
    pub(crate) fn json(&self, name: &str, findings: &mut Findings) -> Option<Json> {
        let parsed = serde_json::from_str(&self.text(name, findings)?);
        let note = |error| findings.note(malformed(&self.path(name), "JSON", &format!("{error}")));
        parsed.map_err(note).ok()
    }

    /// The text of a file that may be missing; a note if it exists and cannot be read.
    pub(crate) fn optional_text(&self, name: &str, findings: &mut Findings) -> Option<String> {
        self.exists(name).then(|| self.text(name, findings)).flatten()
    }

    /// A TOML document; a note if it is not valid.
    pub(crate) fn toml(&self, name: &str, findings: &mut Findings) -> Option<toml::Table> {
        let parsed = toml::from_str(&self.text(name, findings)?);
        let note =
            |error: toml::de::Error| findings.note(malformed(&self.path(name), "TOML", error.message()));
        parsed.map_err(note).ok()
    }
}

fn unreadable(path: &str) -> Text {
    Text::new(
        format!("{path} was not read: larger than {MAX_FILE_BYTES} bytes, or not a text file."),
        format!(
            "{path} は読み込みませんでした。{MAX_FILE_BYTES} バイトを超えるか、テキストファイルではありません。"
        ),
    )
}

fn malformed(path: &str, format: &str, error: &str) -> Text {
    Text::new(
        format!("{path} was ignored, because it is not valid {format}: {error}"),
        format!("{path} は正しい {format} ではないため無視しました: {error}"),
    )
}
