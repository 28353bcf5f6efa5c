//! A project of a table as a repository of its own, with its own home and the tools on its `PATH`. In all scripts and files
//! `@BESIDE@` is a directory outside the repository and `@TOOLS@` is where `scripts/proof-scenarios` installs what is missing.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use super::table::Case;
use crate::process::{Ended, run};
use crate::scenarios::lab::{Lab, Place};

/// A script that takes longer than this many seconds is stopped.
const LIMIT: &str = "600";

pub(crate) struct Scratch<'a> {
    pub(crate) lab: Lab,
    case: &'a Case,
}

/// Where the tools are that this machine does not have.
fn tools() -> PathBuf {
    std::env::var_os("PROOF_TOOLS").map_or_else(|| PathBuf::from("/nonexistent"), PathBuf::from)
}

/// The binary that is tried: the one that was just built, or another.
pub(crate) fn binary() -> String {
    std::env::var("PROOF_BINARY").unwrap_or_else(|_| env!("CARGO_BIN_EXE_fixpoint").to_string())
}

/// The directory of the interpreter itself: wrappers such as those of pyenv take longer than most tests here.
fn python() -> Option<PathBuf> {
    let mut python = Command::new("python3");
    let output = python.args(["-c", "import sys; print(sys.executable)"]).output().ok()?;
    let path = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    path.parent().map(Path::to_path_buf)
}

/// The tools, then what is on the `PATH` anyway.
fn search_path() -> &'static OsString {
    static PATH: OnceLock<OsString> = OnceLock::new();
    PATH.get_or_init(|| {
        let installed = [tools().join("venv/bin"), tools().join("node_modules/.bin")];
        let installed = installed.into_iter().filter(|directory| directory.is_dir());
        let inherited = std::env::var_os("PATH").unwrap_or_default();
        let inherited: Vec<PathBuf> = std::env::split_paths(&inherited).collect();
        std::env::join_paths(installed.chain(python()).chain(inherited)).expect("a PATH")
    })
}

/// The first of its needs that this machine does not meet.
pub(crate) fn missing(case: &Case) -> Option<&str> {
    let is_met = |need: &str| match need.split_once(':') {
        Some(("python", module)) => succeeds(&["python3", "-c", &format!("import {module}")]),
        _ if need == "wheels" => tools().join("wheels").is_dir(),
        _ => succeeds(&["sh", "-c", &format!("command -v {need}")]),
    };
    case.project.needs.iter().map(String::as_str).find(|need| !is_met(need))
}

fn succeeds(command: &[&str]) -> bool {
    let [program, arguments @ ..] = command else { return false };
    let output = Command::new(program).args(arguments).env("PATH", search_path()).output();
    output.is_ok_and(|output| output.status.success())
}

impl<'a> Scratch<'a> {
    /// The project, committed.
    pub(crate) fn new(case: &'a Case) -> Self {
        let scratch = Self { lab: Lab::new(Place::Root), case };
        for (path, content) in &case.project.files {
            scratch.lab.put(path, &scratch.filled(content));
            if content.starts_with("#!") {
                let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
                fs::set_permissions(scratch.lab.root().join(path), mode).expect("executable");
            }
        }
        if !case.project.ignored.is_empty() {
            scratch.lab.put(".gitignore", &(case.project.ignored.join("\n") + "\n"));
        }
        if !case.project.setup.is_empty() {
            let setup = serde_json::json!({"workspace": {"setup": [scratch.filled(&case.project.setup)]}});
            scratch.lab.put(".fixpoint/config.yaml", &setup.to_string());
        }
        scratch.lab.commit("a project");
        scratch
    }

    /// The agent's script as a file outside the repository.
    pub(crate) fn agent(&self) -> String {
        self.lab.agent(&format!("set -eu\n{}", self.filled(&self.case.scenario.agent)))
    }

    /// Runs a script in the working tree, as a user would, with these variables.
    pub(crate) fn script(&self, script: &str, variables: &[(&str, &str)]) -> Ended {
        let mut command = self.surrounded(Command::new("timeout"));
        command.args(["-k", "5", LIMIT, "sh", "-c"]).arg(self.filled(script)).current_dir(self.lab.root());
        command.envs(variables.iter().copied());
        run(&mut command, b"")
    }

    /// The binary, in the repository.
    pub(crate) fn fixpoint(&self, arguments: &[&str]) -> Ended {
        let mut command = self.surrounded(Command::new("timeout"));
        command.args(["-k", "20", LIMIT]).arg(binary()).args(arguments);
        run(command.current_dir(self.lab.root()), b"")
    }

    /// The environment of the binary and of scripts: that of [`Lab::binary`], and the tools.
    fn surrounded(&self, mut command: Command) -> Command {
        command.env_clear();
        for (name, value) in self.lab.binary(&[]).get_envs() {
            command.env(name, value.unwrap_or_default());
        }
        let own = [self.lab.beside("venv/bin"), self.lab.beside("bin")];
        let all = own.into_iter().chain(std::env::split_paths(search_path()));
        command.env("PATH", std::env::join_paths(all).expect("a PATH"));
        // The compiled standard library takes longer than all the rest.
        let cache = if tools().is_dir() { tools().join("go-build") } else { self.lab.beside("go-build") };
        command.env("GOCACHE", cache).env("GOPATH", self.lab.beside("go"));
        command.env("GIT_AUTHOR_NAME", "User").env("GIT_AUTHOR_EMAIL", "user@example.org");
        command.env("GIT_COMMITTER_NAME", "User").env("GIT_COMMITTER_EMAIL", "user@example.org");
        command
    }

    pub(crate) fn filled(&self, text: &str) -> String {
        let beside = self.lab.beside("").to_string_lossy().trim_end_matches('/').to_string();
        text.replace("@BESIDE@", &beside).replace("@TOOLS@", &tools().to_string_lossy())
    }
}
