//! An executor whose agent is a function that writes files into the slot, over a scratch repository.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command as Process;
use std::sync::Arc;
use std::time::Duration;

use fixpoint_execute::{CommandRunner, ExecutionContext, ExecutionDeps, ExecutionPaths};
use fixpoint_ports::{
    BlobError, Blobs, Cancel, CapturedOutput, CommitId, ExitCause, Invocation, ProcessError, ProcessExit,
    Processes, Workspaces,
};
use fixpoint_vocabulary::prepared::{PreparedAction, PreparedAttempt, PreparedCommand};
use fixpoint_vocabulary::run_spec::{BaseSource, Delivery, RunSpec};
use fixpoint_vocabulary::settings::Settings;
use fixpoint_vocabulary::work::{AttemptResult, BlobId, CommandEnd, CommandId, CommandResult};
use fixpoint_vocabulary::{Redactor, TaskId};
use fixpoint_workspaces::{GitWorkspaces, WorkspaceOptions};

/// What an agent does in its directory.
pub(crate) type Playing = dyn Fn(&Invocation) + Send + Sync;

struct Agent(Box<Playing>);

impl Processes for Agent {
    fn run(
        &self,
        invocation: &Invocation,
        _: &Cancel,
        _: &mut dyn FnMut(&[u8]),
    ) -> Result<ProcessExit, ProcessError> {
        fs::write(&invocation.output, "").unwrap();
        (self.0)(invocation);
        let output = CapturedOutput { path: invocation.output.clone(), written: 0, omitted: 0 };
        Ok(ProcessExit {
            cause: ExitCause::Exited(0),
            duration: Duration::ZERO,
            output,
            stragglers: 0,
            refused: Vec::new(),
        })
    }
}

#[derive(Debug)]
struct NoBlobs;

impl Blobs for NoBlobs {
    fn put(&self, _: &[u8]) -> Result<BlobId, BlobError> {
        panic!("an attempt keeps no blobs")
    }

    fn get(&self, id: &BlobId) -> Result<Vec<u8>, BlobError> {
        Err(BlobError::Missing(id.clone()))
    }
}

pub(crate) fn git(directory: &Path, arguments: &[&str]) -> String {
    let output = Process::new("git")
        .args(["-c", "user.name=A", "-c", "user.email=a@b"])
        .args(arguments)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_string()
}

/// A repository with one commit, and everything an executor keeps.
pub(crate) struct Scene {
    root: tempfile::TempDir,
    pub(crate) workspaces: Arc<GitWorkspaces>,
    pub(crate) first: CommitId,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let user = root.path().join("user");
        fs::create_dir(&user).unwrap();
        git(&user, &["init", "-q", "-b", "main"]);
        git(&user, &["commit", "-q", "--allow-empty", "-m", "first"]);
        let first = CommitId(git(&user, &["rev-parse", "HEAD"]));
        let options = WorkspaceOptions { spare_bytes: 1 << 20, ..WorkspaceOptions::default() };
        let workspaces = GitWorkspaces::open(&user, &root.path().join("slots"), options).unwrap();
        Self { root, workspaces: Arc::new(workspaces), first }
    }

    pub(crate) fn user(&self) -> PathBuf {
        self.root.path().join("user")
    }

    /// A commit on top of another, with these files as they are given.
    pub(crate) fn commit(&self, onto: &CommitId, files: &[(String, String)], name: &str) -> CommitId {
        let bytes =
            |(path, content): &(String, String)| (path.clone().into_bytes(), content.clone().into_bytes());
        let files: Vec<_> = files.iter().map(bytes).collect();
        self.workspaces.overlay(onto, &files, name).unwrap().commit
    }

    pub(crate) fn content(&self, at: &CommitId, path: &str) -> String {
        format!("{}\n", git(&self.user(), &["show", &format!("{at}:{path}")]))
    }

    /// One attempt by an agent that is played.
    pub(crate) fn attempt(&self, order: PreparedAttempt, playing: Box<Playing>) -> AttemptResult {
        let place = |name: &str| self.root.path().join(name);
        let context = ExecutionContext {
            run: "r".to_string(),
            task: TaskId::from("t".to_string()),
            spec: RunSpec {
                version: String::new(),
                repository: String::new(),
                directory: String::new(),
                goal: Redactor::default().redact("bring them together"),
                agent: vec!["played".to_string()],
                checks: Vec::new(),
                base: BaseSource::WorkingTree,
                settings: Settings::default(),
                delivery: Delivery::Branch,
            },
            deps: ExecutionDeps {
                workspaces: self.workspaces.clone(),
                processes: Arc::new(Agent(playing)),
                blobs: Arc::new(NoBlobs),
                redactor: Redactor::default(),
                progress: Arc::new(()),
            },
            paths: ExecutionPaths {
                outputs: place("outputs"),
                prompts: place("prompts"),
                baselines: place("baselines"),
                locks: place("locks"),
                homes: place("homes"),
            },
            agent_environment: Vec::new(),
            check_environment: Vec::new(),
            goals: None,
            host: Arc::default(),
        };
        let command = PreparedCommand::new(PreparedAction::RunAttempt(order));
        let end = context.run(CommandId { seq: 1, index: 0 }, &command, &Cancel::default());
        let CommandEnd::Completed(CommandResult::Attempt(result)) = end else { panic!("{end:?}") };
        result
    }
}
