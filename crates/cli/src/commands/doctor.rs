//! `fixpoint doctor`: checks the setup and says what to do about each problem.

use std::sync::Arc;
use std::time::Duration;

use fixpoint_config::Loaded;
use fixpoint_models::{Availability, DetectMode, detect};
use fixpoint_ports::{
    Cancel, ExitCause, Invocation, ProcessLimits, Processes, Program, Stdin, WorkspaceError, Workspaces,
};
use fixpoint_project::installed_agents;
use fixpoint_vocabulary::counted;
use fixpoint_vocabulary::settings::{SandboxMode, Settings};
use serde::Serialize;
use serde_json::json;

use crate::app_context::AppContext;
use crate::arguments::{DoctorArguments, SetArguments};
use crate::dispatcher::{model_environment, models_by_role};
use crate::failure::Failure;
use crate::output::{Form, Output};
use crate::repository::Repository;
use crate::session::supervised_processes;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
enum Status {
    #[serde(rename = "good")]
    Ok,
    #[serde(rename = "warning")]
    Warning,
    #[serde(rename = "bad")]
    Error,
}

/// The result of one check of the setup.
#[derive(Debug, Serialize)]
struct Finding {
    what: &'static str,
    #[serde(rename = "state")]
    status: Status,
    found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

impl Finding {
    fn ok(what: &'static str, found: impl Into<String>) -> Self {
        Self { what, status: Status::Ok, found: found.into(), remedy: None }
    }

    fn warning(what: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { what, status: Status::Warning, found: found.into(), remedy: Some(remedy.into()) }
    }

    fn error(what: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { what, status: Status::Error, found: found.into(), remedy: Some(remedy.into()) }
    }

    /// One line for each line of text, below each other in columns.
    fn lines(&self) -> Vec<String> {
        let mark = match self.status {
            Status::Ok => "ok",
            Status::Warning => "warning",
            Status::Error => "error",
        };
        let remedy = self.remedy.iter().map(|remedy| format!("→ {remedy}"));
        let text = self.found.lines().map(ToString::to_string).chain(remedy);
        let labels = std::iter::once((mark, self.what)).chain(std::iter::repeat(("", "")));
        text.zip(labels)
            .map(|(text, (mark, what))| format!("{mark:7} {what:14} {text}").trim_end().to_string())
            .collect()
    }
}

pub(crate) fn run(arguments: &DoctorArguments, app: &AppContext, output: &mut Output) -> Result<u8, Failure> {
    let git = git(app);
    let has_git = git.status == Status::Ok;
    let loaded = app.configuration(&SetArguments { sets: Vec::new() });
    let mut findings = vec![git, configuration(&loaded)];
    let settings = loaded.map(|loaded| loaded.settings).unwrap_or_default();
    if has_git {
        findings.extend(repository(app, &settings));
    }
    findings.push(supervisor(app));
    findings.push(agents_found(app));
    findings.push(models_found(app, &settings));
    findings.push(sandbox(settings.sandbox));
    let has_error = findings.iter().any(|finding| finding.status == Status::Error);
    match Form::from(arguments.json) {
        Form::Json => output.json(&json!({ "ok": !has_error, "findings": findings }))?,
        Form::Text => output.lines(findings.iter().flat_map(Finding::lines))?,
    }
    Ok(if has_error { 7 } else { 0 })
}

fn git(app: &AppContext) -> Finding {
    let path = app.program("git").map(|path| format!(" ({})", path.display())).unwrap_or_default();
    match fixpoint_workspaces::git_version() {
        Ok(version) => Finding::ok("git", format!("{version}{path}")),
        Err(WorkspaceError::UnusableGit { problem, remedy }) => {
            Finding::error("git", format!("{problem}{path}"), remedy)
        }
        Err(error) => Finding::error("git", error.to_string(), "reinstall git"),
    }
}

fn configuration(loaded: &Result<Loaded, Failure>) -> Finding {
    match loaded {
        Ok(loaded) => Finding::ok(
            "configuration",
            format!("valid; {} configured", counted(loaded.settings.checks.len(), "check")),
        ),
        Err(error) => Finding::error(
            "configuration",
            error.to_string(),
            "correct the file, then run `fixpoint config validate`",
        ),
    }
}

/// The models that were found, and which would be used. Keys are named by their variable, never shown.
fn models_found(app: &AppContext, settings: &Settings) -> Finding {
    let processes = match supervised_processes() {
        Ok(processes) => Arc::new(processes),
        Err(error) => return Finding::error("models", error.to_string(), "reinstall fixpoint"),
    };
    let environment = model_environment(app, &settings.models, processes, None);
    let detected = detect(&settings.models, &environment, DetectMode::All);
    let named = |candidate: &fixpoint_models::Candidate| match &candidate.availability {
        Availability::Found { model } => Some(format!("{model} ({})", candidate.source)),
        Availability::Unusable { reason } => Some(format!("{} cannot be used: {reason}", candidate.name)),
        Availability::Missing => None,
    };
    let found: Vec<String> = detected.candidates.iter().filter_map(named).collect();
    match models_by_role(&settings.models, &environment) {
        Ok((_, models)) => {
            let roles = format!("planner {}, judge {}", models.planner, models.judge);
            let found =
                if found.is_empty() { String::new() } else { format!("; found {}", found.join(", ")) };
            Finding::ok("models", format!("{roles}{found}"))
        }
        Err(error) => {
            let remedy = "only `fixpoint run` and `fixpoint plan` need a model";
            Finding::warning("models", error.to_string(), remedy)
        }
    }
}

fn repository(app: &AppContext, settings: &Settings) -> Vec<Finding> {
    let repository = match Repository::open(app, settings) {
        Ok(repository) => repository,
        Err(Failure::Workspace(WorkspaceError::UnusableRepository { problem, remedy })) => {
            return vec![Finding::error("repository", problem, remedy)];
        }
        Err(error) => {
            let remedy = "run fixpoint in a git repository that you can read and write";
            return vec![Finding::error("repository", error.to_string(), remedy)];
        }
    };
    let mut findings = vec![
        Finding::ok("repository", repository.root().display().to_string()),
        Finding::ok("workspaces", repository.workspaces.pool().display().to_string()),
    ];
    findings.push(match std::fs::create_dir_all(repository.state.runs()) {
        Ok(()) => Finding::ok("runs", repository.state.runs().display().to_string()),
        Err(error) => Finding::error(
            "runs",
            format!("{}: {error}", repository.state.runs().display()),
            "make the directory writable, or set XDG_STATE_HOME",
        ),
    });
    match repository.workspaces.recover() {
        Ok(recovery) if recovery.unrecovered.is_empty() => {}
        Ok(recovery) => {
            let directories: Vec<String> =
                recovery.unrecovered.iter().map(|lost| lost.directory.display().to_string()).collect();
            findings.push(Finding::warning(
                "lost work",
                format!(
                    "the work of an interrupted run could not be recovered from {}",
                    directories.join(", ")
                ),
                "copy what you need out of it; `fixpoint gc` deletes it later",
            ));
        }
        Err(error) => findings.push(Finding::warning(
            "lost work",
            format!("the work of an interrupted run could not be recovered: {error}"),
            "run `fixpoint doctor` again once the cause is fixed",
        )),
    }
    findings
}

/// Runs a program as every agent and check is run.
fn supervisor(app: &AppContext) -> Finding {
    let remedy = "install fixpoint on a file system without `noexec`";
    let tried = || -> Result<ExitCause, String> {
        let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
        let processes = supervised_processes().map_err(|error| error.to_string())?;
        let invocation = Invocation {
            program: Program::Shell("exit 0".into()),
            directory: directory.path().to_path_buf(),
            environment: app.environment().to_vec(),
            stdin: Stdin::Closed,
            limits: ProcessLimits {
                wall: Duration::from_secs(30),
                silence: None,
                grace: Duration::from_secs(1),
                kept_output: 1 << 16,
            },
            output: directory.path().join("output"),
        };
        let ended = processes.run(&invocation, &Cancel::default(), &mut |_| {});
        ended.map(|ended| ended.cause).map_err(|error| error.to_string())
    };
    match tried() {
        Ok(ExitCause::Exited(0)) => Finding::ok("supervision", "can run programs"),
        Ok(cause) => Finding::error("supervision", format!("`sh -c 'exit 0'` failed: {cause:?}"), remedy),
        Err(error) => Finding::error("supervision", error, remedy),
    }
}

fn agents_found(app: &AppContext) -> Finding {
    let found = installed_agents(&|name| app.program(name));
    if found.is_empty() {
        let remedy =
            "install one, such as claude or codex, or give any command: `fixpoint loop … -- COMMAND`";
        return Finding::warning("agents", "no supported agent found on PATH", remedy);
    }
    let names: Vec<&str> = found.iter().map(|agent| agent.title).collect();
    Finding::ok("agents", names.join(", "))
}

fn sandbox(mode: SandboxMode) -> Finding {
    match mode {
        SandboxMode::Off => Finding::ok("sandbox", "off, as configured"),
        SandboxMode::Auto => Finding::warning(
            "sandbox",
            "agents are not sandboxed; they work on a copy of the repository, with few environment variables",
            "run fixpoint in a container if you do not trust the agent",
        ),
        SandboxMode::Required => Finding::error(
            "sandbox",
            "`sandbox: required` is set, and this version cannot sandbox agents",
            "set `sandbox: auto`, and run fixpoint in a container",
        ),
    }
}
