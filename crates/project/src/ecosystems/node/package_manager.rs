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

fn by_lock_file(dir: &ProjectDirectory<'_>, findings: &mut Findings) -> PackageManager {
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
    pub(super) fn install(self, dir: &ProjectDirectory<'_>, manifest: &Value) -> Option<&'static str> {
        if self.lock_file(dir).is_some() {
            return Some(match self {
                Self::Npm => "npm ci",
                Self::Pnpm => "pnpm install --frozen-lockfile",
                Self::YarnClassic => "yarn install --frozen-lockfile",
                Self::YarnBerry => "yarn install --immutable",
                Self::Bun => "bun install --frozen-lockfile",
            });
        }
        let has_packages = ["dependencies", "devDependencies", "optionalDependencies", "workspaces"];
        has_packages.iter().any(|section| manifest.get(section).is_some_and(is_filled)).then_some(
            match self {
                Self::Npm => "npm install --no-package-lock",
                Self::Pnpm => "pnpm install --no-lockfile",
                Self::YarnClassic => "yarn install --no-lockfile",
                // It has no option to leave the lock file alone.
                Self::YarnBerry => "yarn install",
                Self::Bun => "bun install --no-save",
            },
        )
    }

    /// The command that runs a script.
    pub(super) fn run(self, script: &str) -> String {
        let program = match self {
            Self::Npm => "npm",
            Self::Pnpm => "pnpm",
            Self::YarnClassic | Self::YarnBerry => "yarn",
            Self::Bun => "bun",
        };
        // `bun test` would be Bun's own test runner instead of the script.
        let run = if script == "test" && self != Self::Bun { "" } else { "run " };
        format!("{program} {run}{script}")
    }
}

fn is_filled(section: &Value) -> bool {
    section.as_object().is_some_and(|map| !map.is_empty())
        || section.as_array().is_some_and(|list| !list.is_empty())
}
