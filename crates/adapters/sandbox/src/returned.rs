//! Files that an agent renews, such as its sign-in: the user's file takes over what the agent wrote.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use fixpoint_ports::{FileAccess, Purpose};

use crate::policy::SandboxPolicy;
use crate::private::PrivateDirectory;
use crate::spec::Mechanism;
use crate::tables::{self, Row};

/// A larger file is no sign-in.
const LARGEST: u64 = 1 << 20;

pub(crate) struct ReturnedFiles {
    files: Vec<ReturnedFile>,
}

struct ReturnedFile {
    users: PathBuf,
    /// Where the agent's version is, if it wrote one.
    private: PathBuf,
    /// The user's file when the agent started.
    before: Vec<u8>,
}

impl ReturnedFiles {
    pub(crate) fn before(
        policy: &SandboxPolicy,
        access: &FileAccess,
        private: &PrivateDirectory,
        mechanism: Mechanism,
    ) -> Self {
        // Without namespaces the agent writes to the user's file itself.
        let is_returned =
            access.purpose == Purpose::Agent && mechanism == Mechanism::Namespaces && private.has_layers();
        let rows = tables::of_agent(&policy.agent).filter(|(row, _)| is_returned && *row == Row::Return);
        let file = |(_, name): (Row, &'static str)| {
            let users = policy.home.as_ref()?.join(name);
            let before = fs::read(&users).ok()?;
            Some(ReturnedFile { private: changed_version(policy, private, Path::new(name))?, users, before })
        };
        Self { files: rows.filter_map(file).collect() }
    }

    /// Replaces the user's file with what the agent wrote, unless the user's has changed meanwhile. The agent's is deleted:
    /// it may hold a secret.
    pub(crate) fn take_over(self) -> io::Result<()> {
        for file in self.files {
            let Ok(found) = fs::symlink_metadata(&file.private) else { continue };
            let now =
                if found.is_file() && found.len() <= LARGEST { fs::read(&file.private).ok() } else { None };
            fs::remove_file(&file.private)?;
            let is_unchanged = fs::read(&file.users).is_ok_and(|users| users == file.before);
            if let Some(now) = now.filter(|now| is_unchanged && *now != file.before) {
                replace(&file.users, &now)?;
            }
        }
        Ok(())
    }
}

/// Where the layers hold a file that the agent changed.
fn changed_version(policy: &SandboxPolicy, private: &PrivateDirectory, name: &Path) -> Option<PathBuf> {
    let rows = tables::of_agent(&policy.agent).filter(|(row, _)| *row == Row::Read);
    let mut directories = rows.map(|(_, directory)| directory);
    let directory =
        directories.find(|directory| name.starts_with(directory) && name != Path::new(directory))?;
    let (upper, _) = private.layer(Path::new(directory)).ok()?;
    Some(upper.join(name.strip_prefix(directory).ok()?))
}

fn replace(file: &Path, content: &[u8]) -> io::Result<()> {
    let parent = file.parent().unwrap_or(Path::new("/"));
    let mut new = tempfile::NamedTempFile::new_in(parent)?;
    new.as_file().set_permissions(fs::Permissions::from_mode(0o600))?;
    new.write_all(content)?;
    new.as_file().sync_all()?;
    new.persist(file).map(drop).map_err(|error| error.error)
}
