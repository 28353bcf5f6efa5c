//! Prepares a slot: copies ignored files, and runs the set-up commands where they must run again.
//!
//! Owns when that is: in a slot where they never ran, and when the commands or a package manifest changed. Invariant:
//! a slot whose set-up failed is not noted as ready.

use std::fs;
use std::path::Path;
use std::time::Duration;

use fixpoint_failures::environment_problem;
use fixpoint_ports::{
    Cancel, CopyRefusal, ExitCause, FileAccess, Invocation, ProcessLimits, Program, Purpose, Slot, Stdin,
};
use fixpoint_vocabulary::{Lang, Text};

use crate::ExecutionContext;
use crate::context::home_of_set_up;
use crate::error::ExecuteError;
use crate::logs::redact;
use crate::progress::{LineSplitter, Progress};

/// Package manifests: when one of them changes, set-up runs again.
const MANIFESTS: [&str; 28] = [
    "package.json",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "pnpm-workspace.yaml",
    "bun.lock",
    "bun.lockb",
    "requirements.txt",
    "requirements-dev.txt",
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "poetry.lock",
    "uv.lock",
    "Pipfile.lock",
    "pdm.lock",
    "Pipfile",
    "tox.ini",
    "Gemfile",
    "composer.json",
    "mix.exs",
    "go.sum",
    "Gemfile.lock",
    "composer.lock",
    "mix.lock",
    ".tool-versions",
    ".gitignore",
];
/// Directories that set-up writes to: a manifest in there is not the project's.
const INSTALLED: [&str; 7] = ["node_modules", "target", ".git", ".venv", "venv", "vendor", "dist"];
/// How many directories deep manifests are searched: enough for the packages of a monorepo.
const DEPTH: u32 = 3;
const NOTE: &str = "set-up";
const KEPT_OUTPUT: u64 = 4 << 20;
/// Bytes at the end of the output that may name what is missing.
const LAST_OUTPUT: usize = 16 << 10;

impl ExecutionContext {
    pub(crate) fn prepare(&self, slot: &dyn Slot, log: &Path, cancel: &Cancel) -> Result<(), ExecuteError> {
        let settings = &self.spec.settings.workspace;
        if !settings.copy.is_empty() {
            let copied = self.deps.workspaces.copy_ignored(slot, &settings.copy)?;
            for (path, why) in copied.refused {
                let path = String::from_utf8_lossy(&path);
                let (en, ja) = refusal(why);
                let notice = Text::new(
                    format!("{path} was not copied into the workspace: {en}"),
                    format!("{path} をワークスペースにコピーしませんでした: {ja}"),
                );
                self.deps.progress.report(Progress::Notice(&notice));
            }
        }
        if settings.setup.is_empty() {
            return Ok(());
        }
        let key = set_up_key(&settings.setup, slot.directory());
        if slot.note(NOTE).is_some_and(|noted| noted == key) {
            return Ok(());
        }
        for command in &settings.setup {
            self.set_up(command, slot, log, cancel)?;
        }
        slot.set_note(NOTE, &key)?;
        Ok(())
    }

    fn set_up(
        &self,
        command: &str,
        slot: &dyn Slot,
        log: &Path,
        cancel: &Cancel,
    ) -> Result<(), ExecuteError> {
        self.deps.progress.report(Progress::SettingUp(command));
        let log = log.with_extension("set-up.log");
        let invocation = Invocation {
            program: Program::Shell(command.to_string()),
            access: FileAccess {
                purpose: Purpose::SetUp,
                writable: vec![slot.directory().to_path_buf()],
                home: home_of_set_up(slot),
                ..FileAccess::default()
            },
            directory: slot.directory().to_path_buf(),
            environment: self.variables_in_slot(slot),
            stdin: Stdin::Closed,
            limits: ProcessLimits {
                wall: Duration::from_secs(u64::from(self.spec.settings.agent.timeout)),
                silence: None,
                grace: Duration::from_secs(5),
                kept_output: KEPT_OUTPUT,
            },
            output: log.clone(),
        };
        let mut lines = LineSplitter::new(&*self.deps.progress, &self.deps.redactor);
        let mut last = Vec::new();
        let exit = self.deps.processes.run(&invocation, cancel, &mut |bytes| {
            lines.push(bytes);
            last.extend_from_slice(bytes);
            last.drain(..last.len().saturating_sub(LAST_OUTPUT));
        })?;
        self.tell_refused(&exit.refused);
        redact(&log, &self.deps.redactor).map_err(ExecuteError::file(&log))?;
        let failed = |why: String| {
            let problem = environment_problem(&String::from_utf8_lossy(&last)).map(|problem| problem.what());
            let why = problem.map_or(why.clone(), |what| format!("{why}: {}", what.in_lang(Lang::En)));
            Err(ExecuteError::SetUp { command: command.to_string(), why, log: log.clone() })
        };
        match exit.cause {
            ExitCause::Exited(0) => Ok(()),
            ExitCause::Cancelled => Err(ExecuteError::Cancelled),
            ExitCause::Exited(code) => failed(format!("failed with exit code {code}")),
            ExitCause::Signalled(signal) => failed(format!("was killed by signal {signal}")),
            ExitCause::TimedOut | ExitCause::Silent => failed("took too long".to_string()),
            ExitCause::NotStarted(why) => failed(format!("could not be started: {why}")),
        }
    }
}

const fn refusal(why: CopyRefusal) -> (&'static str, &'static str) {
    match why {
        CopyRefusal::OutsideTree => {
            ("the pattern is absolute or contains `..`", "パターンが絶対パスであるか `..` を含んでいます")
        }
        CopyRefusal::NotAFile => (
            "it is a relative link that leads out of the repository, or a repository of its own",
            "リポジトリの外を指す相対リンク、または独立したリポジトリです",
        ),
        CopyRefusal::BehindSymlink => (
            "one of its directories is a link in the workspace",
            "途中のディレクトリがワークスペースではリンクです",
        ),
        CopyRefusal::NotIgnored => ("git does not ignore it", "git の無視対象ではありません"),
    }
}

/// A hash of what set-up depends on.
fn set_up_key(commands: &[String], root: &Path) -> Vec<u8> {
    let mut hasher = blake3::Hasher::new();
    for command in commands {
        hasher.update(command.as_bytes()).update(&[0]);
    }
    let mut manifests = Vec::new();
    find_manifests(root, DEPTH, &mut manifests);
    manifests.sort();
    for path in manifests {
        hasher.update(path.as_os_str().as_encoded_bytes()).update(&[0]);
        hasher.update(blake3::hash(&fs::read(&path).unwrap_or_default()).as_bytes());
    }
    hasher.finalize().as_bytes().to_vec()
}

fn find_manifests(directory: &Path, depth: u32, found: &mut Vec<std::path::PathBuf>) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let is = |known: &str| name == *known;
        match entry.file_type() {
            Ok(kind) if kind.is_file() && MANIFESTS.iter().any(|known| is(known)) => found.push(entry.path()),
            Ok(kind) if kind.is_dir() && depth > 0 && !INSTALLED.iter().any(|known| is(known)) => {
                find_manifests(&entry.path(), depth - 1, found);
            }
            Ok(_) | Err(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_up_is_due_again_when_what_it_depends_on_is_another() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, content: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        };
        let key = |commands: &[&str]| {
            set_up_key(&commands.iter().map(ToString::to_string).collect::<Vec<_>>(), root.path())
        };
        write("a/package.json", "{}");
        let before = key(&["npm ci"]);
        write("src/index.js", "changed");
        write("node_modules/x/package.json", "brought");
        assert_eq!(key(&["npm ci"]), before, "neither sources nor packages matter");
        assert_ne!(key(&["npm install"]), before);
        write("a/package.json", "{ }");
        assert_ne!(key(&["npm ci"]), before);
    }
}
