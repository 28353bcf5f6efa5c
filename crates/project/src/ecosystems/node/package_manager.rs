//! Which program installs the packages of a `package.json` and runs its scripts.
//!
//! Invariant: installing never writes a lock file where the program can be told so, since a new file in a workspace
//! would look like a change by the agent.

use serde_json::Value;

use crate::findings::Findings;
use crate::project_directory::ProjectDirectory;

/// A package manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PackageManager {
    Npm,
    Pnpm,
    /// Yarn 1.
    YarnClassic,
    /// Yarn 2 and later.
    YarnBerry,
    Bun,
}

/// The one `packageManager` names, else the one whose lock file is there, else npm.
pub(super) fn of(dir: &ProjectDirectory<'_>, manifest: &Value, findings: &mut Findings) -> PackageManager {
    let named = manifest.get("packageManager").and_then(Value::as_str).unwrap_or_default();
    let (name, version) = named.split_once('@').unwrap_or((named, ""));
    match name {
        "npm" => PackageManager::Npm,
        "pnpm" => PackageManager::Pnpm,
        "bun" => PackageManager::Bun,
        "yarn" if version.starts_with("1.") || version == "1" => PackageManager::YarnClassic,
        "yarn" => PackageManager::YarnBerry,
        _ => by_lock_file(dir, findings),
    }
}

/// The one whose lock file is there, else npm.
pub(super) fn by_lock_file(dir: &ProjectDirectory<'_>, findings: &mut Findings) -> PackageManager {
    if dir.exists("pnpm-lock.yaml") {
        PackageManager::Pnpm
    } else if dir.first(&BUN_LOCKS).is_some() {
        PackageManager::Bun
    } else if !dir.exists("yarn.lock") || dir.first(&NPM_LOCKS).is_some() {
        PackageManager::Npm
    } else if dir.exists(".yarnrc.yml") || is_berry_lock(dir, findings) {
        PackageManager::YarnBerry
    } else {
        PackageManager::YarnClassic
    }
}

/// Only Yarn 2 and later write this into the lock file.
fn is_berry_lock(dir: &ProjectDirectory<'_>, findings: &mut Findings) -> bool {
    let lock = dir.text("yarn.lock", findings);
    lock.is_some_and(|lock| lock.lines().any(|line| line.starts_with("__metadata:")))
}

const NPM_LOCKS: [&str; 2] = ["package-lock.json", "npm-shrinkwrap.json"];
const BUN_LOCKS: [&str; 2] = ["bun.lock", "bun.lockb"];

impl PackageManager {
    /// Its lock file, if it is there.
    pub(super) fn lock_file(self, dir: &ProjectDirectory<'_>) -> Option<&'static str> {
        dir.first(match self {
            Self::Npm => &NPM_LOCKS,
            Self::Pnpm => &["pnpm-lock.yaml"],
            Self::YarnClassic | Self::YarnBerry => &["yarn.lock"],
            Self::Bun => &BUN_LOCKS,
        })
    }

    /// The command that installs the packages; none where there is nothing to install.
    pub(super) fn install(self, dir: &ProjectDirectory<'_>, manifest: &Value) -> Option<String> {
        let arguments = if self.lock_file(dir).is_some() {
            match self {
                Self::Npm => "ci",
                Self::Pnpm | Self::YarnClassic | Self::Bun => "install --frozen-lockfile",
                Self::YarnBerry => "install --immutable",
            }
        } else if is_workspace(dir, manifest) || has_packages(manifest) {
            match self {
                Self::Npm => "install --no-package-lock",
                Self::Pnpm | Self::YarnClassic => "install --no-lockfile",
                // It has no option to leave the lock file alone.
                Self::YarnBerry => "install",
                Self::Bun => "install --no-save",
            }
        } else {
            return None;
        };
        Some(format!("{} {arguments}", self.command(dir)))
    }

    /// The command that runs a script.
    pub(super) fn run(self, dir: &ProjectDirectory<'_>, script: &str) -> String {
        // `bun test` would be Bun's own test runner instead of the script.
        let run = if script == "test" && self != Self::Bun { "" } else { "run " };
        format!("{} {run}{script}", self.command(dir))
    }

    pub(super) fn program(self) -> &'static str {
        match self {
            Self::Npm => "npm",
            Self::Pnpm => "pnpm",
            Self::YarnClassic | Self::YarnBerry => "yarn",
            Self::Bun => "bun",
        }
    }

    /// Whether npm must bring the program, because it is not installed.
    pub(super) fn is_brought_by_npm(self, dir: &ProjectDirectory<'_>) -> bool {
        self != Self::Npm && !dir.has_program(self.program()) && dir.has_program("npm")
    }

    fn command(self, dir: &ProjectDirectory<'_>) -> &'static str {
        match (self, self.is_brought_by_npm(dir)) {
            (Self::Pnpm, true) => "npx --yes pnpm",
            (Self::YarnClassic, true) => "npx --yes yarn@1",
            (Self::YarnBerry, true) => "npx --yes @yarnpkg/cli-dist",
            (Self::Bun, true) => "npx --yes bun",
            (Self::Npm | Self::Pnpm | Self::YarnClassic | Self::YarnBerry | Self::Bun, _) => self.program(),
        }
    }
}

/// Whether other packages are installed together with this one.
pub(super) fn is_workspace(dir: &ProjectDirectory<'_>, manifest: &Value) -> bool {
    manifest.get("workspaces").is_some_and(is_filled) || dir.exists("pnpm-workspace.yaml")
}

fn has_packages(manifest: &Value) -> bool {
    let sections = ["dependencies", "devDependencies", "optionalDependencies"];
    sections.iter().any(|section| manifest.get(section).is_some_and(is_filled))
}

fn is_filled(section: &Value) -> bool {
    section.as_object().is_some_and(|map| !map.is_empty())
        || section.as_array().is_some_and(|list| !list.is_empty())
}
