//! The bundled sample: a small repository, a scripted agent and scripted answers, in a directory of their own.
//!
//! Invariant: nothing is written outside that directory, and it is deleted at the end unless it is to be kept, also if a
//! signal ends the process.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::commands::demo::write;
use crate::failure::Failure;
use crate::signals::TempDirGuard;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keeping {
    Nothing,
    Everything,
}

const FILES: [(&str, &str); 12] = [
    ("agent.sh", include_str!("../../../../demo/whole/agent.sh")),
    ("answers.json", include_str!("../../../../demo/whole/answers.json")),
    ("shop/.fixpoint/config.yaml", include_str!("../../../../demo/whole/shop/.fixpoint/config.yaml")),
    ("shop/README.md", include_str!("../../../../demo/whole/shop/README.md")),
    ("shop/src/hours.sh", include_str!("../../../../demo/whole/shop/src/hours.sh")),
    ("shop/src/price.sh", include_str!("../../../../demo/whole/shop/src/price.sh")),
    ("shop/src/receipt.sh", include_str!("../../../../demo/whole/shop/src/receipt.sh")),
    ("shop/src/stock/arrived.sh", include_str!("../../../../demo/whole/shop/src/stock/arrived.sh")),
    ("shop/src/stock/reorder.sh", include_str!("../../../../demo/whole/shop/src/stock/reorder.sh")),
    ("shop/src/stock/sold.sh", include_str!("../../../../demo/whole/shop/src/stock/sold.sh")),
    ("shop/src/tax.sh", include_str!("../../../../demo/whole/shop/src/tax.sh")),
    ("shop/tests/run.sh", include_str!("../../../../demo/whole/shop/tests/run.sh")),
];

/// Environment variables that would make git use another repository.
const GIT_VARIABLES: [&str; 5] =
    ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_CEILING_DIRECTORIES"];

pub(super) struct Sample {
    path: PathBuf,
    // Dropped in this order: a signal during the deletion still completes it.
    _directory: Option<TempDir>,
    _guard: Option<TempDirGuard>,
}

impl Sample {
    pub(super) fn new(keeping: Keeping) -> Result<Self, Failure> {
        let refused = |source| Failure::Unwritable { path: std::env::temp_dir(), source };
        let made = tempfile::Builder::new().prefix("fixpoint-demo-").tempdir().map_err(refused)?;
        let path = made.path().canonicalize().map_err(refused)?;
        let sample = match keeping {
            Keeping::Nothing => {
                let guard = TempDirGuard::begin(&path).map_err(refused)?;
                Self { path, _directory: Some(made), _guard: Some(guard) }
            }
            Keeping::Everything => {
                drop(made.keep());
                Self { path, _directory: None, _guard: None }
            }
        };
        sample.fill()?;
        Ok(sample)
    }

    /// Its directory, which is also the home directory of the run.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn shop(&self) -> PathBuf {
        self.path.join("shop")
    }

    fn fill(&self) -> Result<(), Failure> {
        for (name, content) in FILES {
            write(&self.path.join(name), content)?;
        }
        let answers = format!("scripted:{}", self.path.join("answers.json").display());
        // A JSON string is a YAML string, whatever the path contains.
        let answers = serde_json::to_string(&answers)?;
        let roles = ["planner", "judge", "reflector"].map(|role| format!("  {role}: {answers}\n"));
        let config = self.path.join(".config/fixpoint/config.yaml");
        write(&config, &format!("models:\n{}", roles.concat()))?;
        self.git(&["init", "--quiet", "--initial-branch=main", "--template="])?;
        self.git(&["add", "--all"])?;
        self.git(&["commit", "--quiet", "--message=A corner shop"])
    }

    /// Runs git in the sample, without the user's configuration.
    fn git(&self, arguments: &[&str]) -> Result<(), Failure> {
        let mut command = Command::new("git");
        for name in GIT_VARIABLES {
            command.env_remove(name);
        }
        command
            .current_dir(self.shop())
            .env("HOME", &self.path)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .args(["-c", "user.name=Fixpoint", "-c", "user.email=demo@localhost"])
            .args(arguments)
            .stdin(Stdio::null());
        let ended = command.output().map_err(|error| {
            Failure::Unavailable(format!("the demo needs git, but it cannot be started: {error}"))
        })?;
        if ended.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&ended.stderr);
        Err(Failure::Unavailable(format!("git {}: {}", arguments.join(" "), said.trim())))
    }
}
