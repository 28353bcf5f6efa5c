//! Checks that really run, in slots of a scratch repository.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fixpoint_execute::{
    CommandRunner, ExecutionContext, ExecutionDeps, ExecutionPaths, Progress, ProgressListener,
};
use fixpoint_ports::{
    BlobError, Blobs, Cancel, CapturedOutput, CommitId, ExitCause, Invocation, ProcessError, ProcessExit,
    Processes, Program,
};
use fixpoint_vocabulary::prepared::{PreparedAction, PreparedCommand};
use fixpoint_vocabulary::run_spec::{BaseSource, Delivery, PlacedCheck, RunSpec};
use fixpoint_vocabulary::settings::{Check, CheckKind, Settings};
use fixpoint_vocabulary::work::{
    BlobId, CheckCall, CheckEnd, CheckReport, CheckRun, CommandEnd, CommandId, CommandResult, Leftovers,
    Reuse, TreeId,
};
use fixpoint_vocabulary::{Lang, Redactor, TaskId};
use fixpoint_workspaces::{GitWorkspaces, WorkspaceOptions};

use crate::played::git;

/// Runs programs without limits; the tests' own programs end.
struct PlainProcesses;

impl Processes for PlainProcesses {
    fn run(
        &self,
        invocation: &Invocation,
        _: &Cancel,
        progress: &mut dyn FnMut(&[u8]),
    ) -> Result<ProcessExit, ProcessError> {
        let mut command = match &invocation.program {
            Program::Shell(line) => {
                let mut shell = Process::new("/bin/sh");
                shell.args(["-c", line]);
                shell
            }
            Program::Direct { program, arguments } => {
                let mut direct = Process::new(program);
                direct.args(arguments);
                direct
            }
        };
        let output = fs::File::create(&invocation.output).unwrap();
        command.current_dir(&invocation.directory).env_clear().envs(invocation.environment.iter().cloned());
        command.stdin(Stdio::null()).stdout(output.try_clone().unwrap()).stderr(output);
        let cause = match command.status() {
            Ok(status) => ExitCause::Exited(status.code().unwrap_or(-1)),
            Err(error) => ExitCause::NotStarted(error.to_string()),
        };
        progress(&fs::read(&invocation.output).unwrap());
        let output = CapturedOutput { path: invocation.output.clone(), written: 0, omitted: 0 };
        Ok(ProcessExit { cause, duration: Duration::ZERO, output, stragglers: 0, refused: Vec::new() })
    }
}

#[derive(Debug, Default)]
struct MemoryBlobs(Mutex<BTreeMap<BlobId, Vec<u8>>>);

impl Blobs for MemoryBlobs {
    fn put(&self, content: &[u8]) -> Result<BlobId, BlobError> {
        let mut blobs = self.0.lock().unwrap();
        let id = BlobId(format!("{}", blobs.len()));
        blobs.insert(id.clone(), content.to_vec());
        Ok(id)
    }

    fn get(&self, id: &BlobId) -> Result<Vec<u8>, BlobError> {
        self.0.lock().unwrap().get(id).cloned().ok_or_else(|| BlobError::Missing(id.clone()))
    }
}

#[derive(Debug, Default)]
struct Notices(Mutex<Vec<String>>);

impl ProgressListener for Notices {
    fn report(&self, progress: Progress<'_>) {
        let said = match progress {
            Progress::Notice(text) => text.in_lang(Lang::En).to_string(),
            Progress::AgentNotice(text) => text.to_string(),
            Progress::CachedBaseline { check, .. } => format!("cached: {check}"),
            Progress::SubmodulesLeftOut(_)
            | Progress::NestedRepositoriesLeftOut(_)
            | Progress::UncommittedWork
            | Progress::SettingUp(_)
            | Progress::Checking(_)
            | Progress::AgentStarts
            | Progress::Line(_)
            | Progress::Usage(_) => return,
        };
        self.0.lock().unwrap().push(said);
    }
}

/// A repository with files, an environment, and what one run said.
pub(crate) struct Checked {
    root: tempfile::TempDir,
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) settings: Settings,
}

/// How a check ended, what it printed, and what was announced.
pub(crate) struct CheckedRun {
    pub(crate) report: CheckReport,
    pub(crate) output: String,
    pub(crate) notices: Vec<String>,
}

impl Checked {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let root = tempfile::tempdir().unwrap();
        let path = std::env::var_os("PATH").unwrap();
        let home = root.path().join("home");
        for directory in ["user", "home", "baselines"] {
            fs::create_dir(root.path().join(directory)).unwrap();
        }
        let environment = vec![("PATH".into(), path), ("HOME".into(), home.into_os_string())];
        let checked = Self { root, environment, settings: Settings::default() };
        for (path, content) in files {
            checked.write(path, content);
        }
        git(&checked.user(), &["init", "-q", "-b", "main"]);
        checked.commit();
        checked
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    pub(crate) fn user(&self) -> PathBuf {
        self.at("user")
    }

    /// Writes a file of the working tree; `@` is its root.
    pub(crate) fn write(&self, path: &str, content: &str) {
        let path = self.user().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content.replace('@', &self.user().display().to_string())).unwrap();
    }

    pub(crate) fn commit(&self) {
        git(&self.user(), &["add", "-A"]);
        git(&self.user(), &["commit", "-q", "--allow-empty", "-m", "x"]);
    }

    pub(crate) fn set(&mut self, name: &str, value: impl Into<OsString>) {
        self.environment.retain(|(known, _)| known != name);
        self.environment.push((name.into(), value.into()));
    }

    /// Puts a directory in front of `PATH`.
    pub(crate) fn prepend_path(&mut self, directory: &Path) {
        let before = self.environment.iter().find(|(name, _)| name == "PATH").unwrap().1.clone();
        let list = std::iter::once(directory.to_path_buf()).chain(std::env::split_paths(&before));
        self.set("PATH", std::env::join_paths(list).unwrap());
    }

    /// Runs a guard at HEAD as a run of its own, as its baseline or as after an attempt.
    fn run(&self, command: &str, reuse: Option<Reuse>) -> CheckedRun {
        let options = WorkspaceOptions { spare_bytes: 1 << 20, ..WorkspaceOptions::default() };
        let workspaces = GitWorkspaces::open(&self.user(), &self.at("slots"), options).unwrap();
        let notices = Arc::new(Notices::default());
        let check = Check::new("check", command, CheckKind::Guard);
        let checks = vec![PlacedCheck { check, directory: String::new() }];
        let context = ExecutionContext {
            run: "r".to_string(),
            task: TaskId::from("t".to_string()),
            spec: RunSpec {
                version: String::new(),
                repository: self.user().display().to_string(),
                directory: String::new(),
                goal: Redactor::default().redact("x"),
                agent: Vec::new(),
                checks: Vec::new(),
                base: BaseSource::WorkingTree,
                settings: self.settings.clone(),
                delivery: Delivery::Branch,
            },
            deps: ExecutionDeps {
                workspaces: Arc::new(workspaces),
                processes: Arc::new(PlainProcesses),
                blobs: Arc::new(MemoryBlobs::default()),
                redactor: Redactor::default(),
                progress: notices.clone(),
            },
            paths: ExecutionPaths {
                outputs: self.at("outputs"),
                prompts: self.at("prompts"),
                baselines: self.at("baselines"),
                locks: self.at("locks"),
                homes: self.at("homes"),
            },
            agent_environment: Vec::new(),
            check_environment: self.environment.clone(),
            goals: None,
            host: Arc::default(),
        };
        let call = CheckCall::whole(0);
        let commit = CommitId(git(&self.user(), &["rev-parse", "HEAD"]));
        let run = CheckRun { commit, calls: vec![call], reuse, leftovers: Leftovers::Kept };
        let mut command = PreparedCommand::new(PreparedAction::RunChecks(run));
        command.checks = checks.into();
        drop(fs::remove_dir_all(self.at("outputs")));
        let end = context.run(CommandId { seq: 1, index: 0 }, &command, &Cancel::default());
        let CommandEnd::Completed(CommandResult::Checks { mut reports }) = end else { panic!("{end:?}") };
        let log = fixpoint_execute::check_log(&self.at("outputs"), CommandId { seq: 1, index: 0 }, 0);
        let output = fs::read_to_string(log).unwrap_or_default();
        let notices = notices.0.lock().unwrap().clone();
        CheckedRun { report: reports.remove(0), output, notices }
    }

    /// Runs a guard at HEAD as its baseline.
    pub(crate) fn baseline(&self, command: &str) -> CheckedRun {
        let tree = TreeId(git(&self.user(), &["rev-parse", "HEAD^{tree}"]));
        self.run(command, Some(Reuse { tree, run: 1 }))
    }

    /// Runs a guard at HEAD as after an attempt.
    pub(crate) fn attempt(&self, command: &str) -> CheckedRun {
        self.run(command, None)
    }

    /// What a command prints in a slot. It must succeed.
    pub(crate) fn prints(&self, command: &str) -> String {
        let run = self.attempt(command);
        assert_eq!(run.report.end, CheckEnd::Passed, "{command}: {} {:?}", run.output, run.report);
        run.output.trim().to_string()
    }
}
