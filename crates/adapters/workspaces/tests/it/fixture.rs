//! A temporary repository with slots, and a listing of everything in it for comparison.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use fixpoint_ports::{
    Cancel, CommitId, Slot, SlotLeftovers, SlotPurpose, SlotRequest, WorkspaceError, Workspaces,
};
use fixpoint_workspaces::{GitWorkspaces, WorkspaceOptions};

const IDENTITY: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "A"),
    ("GIT_AUTHOR_EMAIL", "a@b"),
    ("GIT_COMMITTER_NAME", "A"),
    ("GIT_COMMITTER_EMAIL", "a@b"),
];

/// Runs git as a user without configuration would.
pub(crate) fn git(directory: &Path, arguments: &[&str]) -> Vec<u8> {
    let output = Command::new("git")
        .args(["-c", "protocol.file.allow=always"])
        .args(arguments)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .envs(IDENTITY)
        .output()
        .expect("git is a requirement of Fixpoint");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?} in {}: {message}", directory.display());
    output.stdout
}

/// The only line that git prints.
pub(crate) fn ask(directory: &Path, arguments: &[&str]) -> String {
    String::from_utf8(git(directory, arguments)).unwrap().trim().to_string()
}

/// Runs a shell script as an agent or a user would.
pub(crate) fn shell(directory: &Path, script: &str) {
    let output = Command::new("sh")
        .args(["-ec", script])
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Shorter ways to ask for a slot.
pub(crate) trait AcquireSlot {
    /// A slot whose work is not recovered.
    fn slot(&self, purpose: SlotPurpose, at: &CommitId) -> Result<Box<dyn Slot>, WorkspaceError>;
    /// A slot for an agent whose work is recovered under a reference.
    fn recoverable_slot(&self, at: &CommitId, reference: &str) -> Result<Box<dyn Slot>, WorkspaceError>;
}

impl AcquireSlot for GitWorkspaces {
    fn slot(&self, purpose: SlotPurpose, at: &CommitId) -> Result<Box<dyn Slot>, WorkspaceError> {
        self.acquire(
            &SlotRequest { purpose, at, recover_as: None, leftovers: SlotLeftovers::Kept },
            &Cancel::default(),
        )
    }

    fn recoverable_slot(&self, at: &CommitId, reference: &str) -> Result<Box<dyn Slot>, WorkspaceError> {
        let request = SlotRequest {
            purpose: SlotPurpose::Agent,
            at,
            recover_as: Some(reference),
            leftovers: SlotLeftovers::Kept,
        };
        self.acquire(&request, &Cancel::default())
    }
}

pub(crate) struct Fixture {
    pub(crate) root: tempfile::TempDir,
    pub(crate) user: PathBuf,
}

impl Fixture {
    /// A repository with one commit: a file, an executable, a link, files in directories, ignore rules.
    pub(crate) fn new() -> Self {
        let fixture = Self::without_commit();
        let user = &fixture.user;
        fs::create_dir_all(user.join("src/deep")).unwrap();
        fs::write(user.join("README"), "hello\n").unwrap();
        fs::write(user.join("src/main.rs"), "fn main() {}\n").unwrap();
        fs::write(user.join("src/deep/data"), "one\ntwo\nthree\n").unwrap();
        fs::write(user.join("run"), "#!/bin/sh\n").unwrap();
        shell(user, "chmod +x run");
        symlink("README", user.join("link")).unwrap();
        fs::write(user.join(".gitignore"), "target/\n*.log\n.env\n").unwrap();
        fixture.commit("first");
        fixture
    }

    pub(crate) fn without_commit() -> Self {
        let root = tempfile::tempdir().unwrap();
        let user = root.path().canonicalize().unwrap().join("user");
        fs::create_dir(&user).unwrap();
        git(&user, &["init", "-q", "-b", "main"]);
        Self { root, user }
    }

    pub(crate) fn commit(&self, message: &str) -> CommitId {
        git(&self.user, &["add", "-A"]);
        git(&self.user, &["commit", "-q", "--allow-empty", "-m", message]);
        CommitId(ask(&self.user, &["rev-parse", "HEAD"]))
    }

    pub(crate) fn write(&self, path: &str, content: &str) {
        let path = self.user.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn slots(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("slots")
    }

    pub(crate) fn open(&self) -> GitWorkspaces {
        self.open_with(WorkspaceOptions::default())
    }

    pub(crate) fn open_with(&self, options: WorkspaceOptions) -> GitWorkspaces {
        GitWorkspaces::open(&self.user, &self.slots(), options).unwrap()
    }

    /// The commit of a snapshot.
    pub(crate) fn base(&self, workspaces: &GitWorkspaces) -> CommitId {
        workspaces.snapshot("base").unwrap().commit
    }

    /// The files of a commit, as `mode path`.
    pub(crate) fn files(&self, commit: &CommitId) -> Vec<String> {
        files(&self.user, commit)
    }

    pub(crate) fn content(&self, commit: &CommitId, path: &str) -> String {
        String::from_utf8(git(&self.user, &["show", &format!("{commit}:{path}")])).unwrap()
    }
}

pub(crate) fn files(repository: &Path, commit: &CommitId) -> Vec<String> {
    let listed = git(repository, &["ls-tree", "-r", "-z", &commit.0]);
    let pieces = listed.split(|byte| *byte == 0).filter(|piece| !piece.is_empty());
    let described = pieces.map(|piece| {
        let text = String::from_utf8_lossy(piece).into_owned();
        let (header, path) = text.split_once('\t').unwrap();
        format!("{} {path}", header.split_once(' ').unwrap().0)
    });
    described.collect()
}

/// Everything below a directory except what is skipped: type, mode, modification time and content.
pub(crate) fn listing(root: &Path, skipped: &[&str]) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![PathBuf::new()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(root.join(&directory)).unwrap() {
            let path = directory.join(entry.unwrap().file_name());
            if skipped.iter().any(|skip| path == Path::new(skip)) {
                continue;
            }
            let metadata = fs::symlink_metadata(root.join(&path)).unwrap();
            // Git dates an object anew when it would write the same one again, so that housekeeping keeps it.
            let is_object = path.starts_with(".git/objects");
            let time = if is_object { (0, 0) } else { (metadata.mtime(), metadata.mtime_nsec()) };
            let description = if metadata.is_dir() {
                open.push(path.clone());
                // Lock files that git creates for a moment change the times of its own directories.
                let time = if path.starts_with(".git") { (0, 0) } else { time };
                format!("directory {:o} {time:?}", metadata.mode())
            } else if metadata.is_symlink() {
                format!("link {time:?} {}", fs::read_link(root.join(&path)).unwrap().display())
            } else {
                let bytes = fs::read(root.join(&path)).unwrap();
                format!("file {:o} {time:?} {}", metadata.mode(), blake3::hash(&bytes))
            };
            found.insert(path, description);
        }
    }
    found
}

/// Everything in the user's repository that Fixpoint may not change.
pub(crate) fn users_files(fixture: &Fixture) -> BTreeMap<PathBuf, String> {
    listing(&fixture.user, &[".git/objects", ".git/refs/fixpoint"])
}

pub(crate) fn bytes_path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}
