//! Whole configurations: files in a temporary directory, with an environment and flags that are passed in.

mod files;
mod of_project;
mod precedence;
mod schema;
mod typed;
mod unavailable;

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use tempfile::TempDir;

use super::*;

/// A user's directory and a project, both empty at first.
struct Fixture {
    base: TempDir,
    sources: Sources,
}

impl Fixture {
    fn new() -> Self {
        let base = tempfile::tempdir().unwrap();
        let sources = Sources {
            user_dir: Some(base.path().join("user")),
            working_dir: base.path().join("project/src"),
            ..Sources::default()
        };
        for directory in ["user", "project/src", "project/.git", "project/.fixpoint"] {
            fs::create_dir_all(base.path().join(directory)).unwrap();
        }
        Self { base, sources }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.base.path().join(name)
    }

    fn file(self, name: &str, text: &str) -> Self {
        fs::write(self.path(name), text).unwrap();
        self
    }

    fn user(self, text: &str) -> Self {
        self.file("user/config.yaml", text)
    }

    fn project(self, text: &str) -> Self {
        self.file("project/.fixpoint/config.yaml", text)
    }

    fn local(self, text: &str) -> Self {
        self.file("project/.fixpoint/config.local.yaml", text)
    }

    fn variable(mut self, name: &str, value: &str) -> Self {
        self.sources.environment.push((name.into(), value.into()));
        self
    }

    fn user_config_api(mut self, value: Value) -> Self {
        self.sources.user_config_api = Some(value.into());
        self
    }

    fn set(mut self, text: &str) -> Self {
        self.sources.sets.push(text.to_owned());
        self
    }

    fn load(&self) -> Loaded {
        load(&self.sources).unwrap_or_else(|errors| panic!("{errors}"))
    }

    /// The effective value of a key and its layer.
    fn value(&self, path: &str) -> (Value, Layer) {
        let loaded = self.load();
        let setting = loaded.origins.get(path).unwrap_or_else(|| panic!("no {path}"));
        (setting.value.clone(), setting.origin.layer())
    }

    /// The errors, one line each, with file names relative to the fixture.
    fn errors(&self) -> Vec<String> {
        let base = format!("{}/", self.base.path().display());
        let errors = load(&self.sources).map(|_| ()).expect_err("this must not load");
        errors.to_string().replace(&base, "").lines().map(str::to_owned).collect()
    }
}
