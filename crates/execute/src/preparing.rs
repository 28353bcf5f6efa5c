//! A slot made ready: ignored files copied, set-up commands run where their last run no longer holds.
//!
//! Owns when set-up is due: in a slot where it never ran, and again when the commands or the files that name packages
//! are others. Invariant: a slot whose set-up failed is not noted as ready.

use std::fs;
use std::path::Path;
use std::time::Duration;

use fixpoint_ports::{Cancel, ExitCause, Invocation, ProcessLimits, Program, Slot, Stdin};

use crate::Duty;
use crate::duty::Obstacle;
use crate::log::redact;
use crate::progress::{Lines, Progress};

/// Files that name packages: when one of them is another, set-up runs again.
const MANIFESTS: [&str; 22] = [
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
    "go.sum",
    "Gemfile.lock",
    "composer.lock",
    "mix.lock",
    ".tool-versions",
    ".gitignore",
];
/// Directories that hold what set-up brings, never what it is told.
const BROUGHT: [&str; 7] = ["node_modules", "target", ".git", ".venv", "venv", "vendor", "dist"];
/// So far down manifests are looked for; a monorepo's packages lie within.
const DEPTH: u32 = 3;
const NOTE: &str = "set-up";
const KEPT_OUTPUT: u64 = 4 << 20;

impl Duty {
    /// Makes a slot ready for an agent or a check.
    pub(crate) fn prepare(&self, slot: &dyn Slot, log: &Path, cancel: &Cancel) -> Result<(), Obstacle> {
        let settings = &self.brief.settings.workspace;
        if !settings.copy.is_empty() {
            let copied = self.tools.workspaces.copy_ignored(slot, &settings.copy)?;
            for (path, why) in copied.refused {
                let notice = format!("{} was not copied: {why:?}", String::from_utf8_lossy(&path));
                self.tools.watcher.see(Progress::Notice(&notice));
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

    fn set_up(&self, command: &str, slot: &dyn Slot, log: &Path, cancel: &Cancel) -> Result<(), Obstacle> {
        self.tools.watcher.see(Progress::SettingUp(command));
        let log = log.with_extension("set-up.log");
        let invocation = Invocation {
            program: Program::Shell(command.to_string()),
            directory: slot.directory().to_path_buf(),
            environment: self.check_environment.clone(),
            stdin: Stdin::Closed,
            limits: ProcessLimits {
                wall: Duration::from_secs(u64::from(self.brief.settings.agent.timeout)),
                silence: None,
                grace: Duration::from_secs(5),
                kept_output: KEPT_OUTPUT,
            },
            output: log.clone(),
        };
        let mut lines = Lines::new(&*self.tools.watcher);
        let ended = self.tools.processes.run(&invocation, cancel, &mut |bytes| lines.push(bytes))?;
        redact(&log, &self.tools.redactor).map_err(Obstacle::at(&log))?;
        let failed =
            |why: String| Err(Obstacle::SetUp { command: command.to_string(), why, log: log.clone() });
        match ended.cause {
            ExitCause::Exited(0) => Ok(()),
            ExitCause::Cancelled => Err(Obstacle::Cancelled),
            ExitCause::Exited(code) => failed(format!("ended with code {code}")),
            ExitCause::Signalled(signal) => failed(format!("was ended by signal {signal}")),
            ExitCause::TimedOut | ExitCause::Silent => failed("took too long".to_string()),
            ExitCause::NotStarted(why) => failed(format!("could not be started: {why}")),
        }
    }
}

/// What set-up depends on, in a few bytes.
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
            Ok(kind) if kind.is_dir() && depth > 0 && !BROUGHT.iter().any(|known| is(known)) => {
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
