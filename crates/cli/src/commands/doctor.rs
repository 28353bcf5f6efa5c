//! `fixpoint doctor`: whether everything that is needed is here, and what to do about what is not.

use std::sync::Arc;
use std::time::Duration;

use fixpoint_models::{Availability, DetectMode, detect};
use fixpoint_ports::{Cancel, ExitCause, Invocation, Limits, Processes, Program, Stdin, Workspaces};
use fixpoint_processes::SupervisedProcesses;
use fixpoint_project::agents;
use fixpoint_vocabulary::settings::{SandboxMode, Settings};
use serde::Serialize;
use serde_json::json;

use crate::arguments::{DoctorArguments, SetArguments};
use crate::dispatcher::{model_environment, models_by_role};
use crate::failure::Failure;
use crate::output::{Form, Output};
use crate::repository::Repository;
use crate::session::SUPERVISE;
use crate::surroundings::Surroundings;

/// How something was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Good,
    Warning,
    Bad,
}

/// One thing that was looked at.
#[derive(Debug, Serialize)]
struct Finding {
    what: &'static str,
    state: State,
    found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

impl Finding {
    fn good(what: &'static str, found: impl Into<String>) -> Self {
        Self { what, state: State::Good, found: found.into(), remedy: None }
    }

    fn warning(what: &'static str, found: impl Into<String>, remedy: &str) -> Self {
        Self { what, state: State::Warning, found: found.into(), remedy: Some(remedy.to_string()) }
    }

    fn bad(what: &'static str, found: impl Into<String>, remedy: &str) -> Self {
        Self { what, state: State::Bad, found: found.into(), remedy: Some(remedy.to_string()) }
    }
}

pub(crate) fn run(
    arguments: &DoctorArguments,
    surroundings: &Surroundings,
    output: &mut Output,
) -> Result<u8, Failure> {
    let mut findings = vec![git(surroundings)];
    let loaded = surroundings.configuration(&SetArguments { sets: Vec::new() });
    findings.push(match &loaded {
        Ok(loaded) => Finding::good("configuration", format!("{} checks", loaded.settings.checks.len())),
        Err(error) => {
            Finding::bad("configuration", error.to_string(), "correct it, then `fixpoint config validate`")
        }
    });
    let settings = loaded.map(|loaded| loaded.settings).unwrap_or_default();
    findings.extend(repository(surroundings, &settings));
    findings.push(supervisor(surroundings));
    findings.push(agents_found(surroundings));
    findings.push(models_found(surroundings, &settings));
    findings.push(sandbox(settings.sandbox));
    let is_bad = findings.iter().any(|finding| finding.state == State::Bad);
    match Form::from(arguments.json) {
        Form::Json => output.json(&json!({ "ok": !is_bad, "findings": findings }))?,
        Form::Text => {
            for finding in &findings {
                let mark = match finding.state {
                    State::Good => "ok     ",
                    State::Warning => "warning",
                    State::Bad => "BAD    ",
                };
                output.line(&format!("{mark} {:14} {}", finding.what, finding.found))?;
                if let Some(remedy) = &finding.remedy {
                    output.line(&format!("        {:14} → {remedy}", ""))?;
                }
            }
        }
    }
    Ok(if is_bad { 7 } else { 0 })
}

/// The models that were found, and which would be asked. Keys are named by their variable, never shown.
fn models_found(surroundings: &Surroundings, settings: &Settings) -> Finding {
    let processes = match SupervisedProcesses::by_this_program([SUPERVISE.into()]) {
        Ok(processes) => processes,
        Err(error) => return Finding::bad("models", error.to_string(), "reinstall fixpoint"),
    };
    let around = model_environment(surroundings, &settings.models, Arc::new(processes), None);
    let detected = detect(&settings.models, &around, DetectMode::All);
    let named = |candidate: &fixpoint_models::Candidate| match &candidate.availability {
        Availability::Found { model } => Some(format!("{model} ({})", candidate.source)),
        Availability::Unusable { reason } => Some(format!("{} cannot be used: {reason}", candidate.name)),
        Availability::Missing => None,
    };
    let found: Vec<String> = detected.candidates.iter().filter_map(named).collect();
    match models_by_role(&settings.models, &around) {
        Ok((_, models)) => {
            let roles = format!("planner {}, judge {}", models.planner, models.judge);
            let found =
                if found.is_empty() { String::new() } else { format!("; found {}", found.join(", ")) };
            Finding::good("models", format!("{roles}{found}"))
        }
        Err(error) => {
            let remedy = "`fixpoint loop` needs none; for `run` and `plan`: set ANTHROPIC_API_KEY, OPENAI_API_KEY or \
                          another key, start Ollama, llama.cpp or LM Studio, or install claude or codex";
            Finding::warning("models", error.to_string().replace('\n', "; "), remedy)
        }
    }
}

fn git(surroundings: &Surroundings) -> Finding {
    match surroundings.program("git") {
        Some(path) => Finding::good("git", path.display().to_string()),
        None => Finding::bad("git", "not found on the PATH", "install git"),
    }
}

fn repository(surroundings: &Surroundings, settings: &Settings) -> Vec<Finding> {
    let repository = match Repository::open(surroundings, settings) {
        Ok(repository) => repository,
        Err(error) => {
            let remedy = "change to a git repository, or `git init`";
            return vec![Finding::bad("repository", error.to_string(), remedy)];
        }
    };
    let mut findings = vec![
        Finding::good("repository", repository.root().display().to_string()),
        Finding::good("workspaces", repository.workspaces.pool().display().to_string()),
    ];
    findings.push(match std::fs::create_dir_all(repository.home.runs()) {
        Ok(()) => Finding::good("runs", repository.home.runs().display().to_string()),
        Err(error) => {
            Finding::bad("runs", error.to_string(), "make the directory writable, or set XDG_STATE_HOME")
        }
    });
    match repository.workspaces.rescue() {
        Ok(rescue) if rescue.lost.is_empty() => {}
        Ok(rescue) => {
            let places: Vec<String> =
                rescue.lost.iter().map(|lost| lost.directory.display().to_string()).collect();
            findings.push(Finding::warning(
                "lost work",
                format!("a workspace could not be read: {}", places.join(", ")),
                "look through it; `fixpoint gc` removes it by age",
            ));
        }
        Err(error) => findings.push(Finding::warning("lost work", error.to_string(), "see the message")),
    }
    findings
}

/// Runs a program under supervision, which is what every agent and check needs.
fn supervisor(surroundings: &Surroundings) -> Finding {
    let remedy = "run fixpoint from a place where programs may be executed";
    let tried = || -> Result<ExitCause, String> {
        let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
        let processes =
            SupervisedProcesses::by_this_program([SUPERVISE.into()]).map_err(|error| error.to_string())?;
        let invocation = Invocation {
            program: Program::Shell("exit 0".into()),
            directory: directory.path().to_path_buf(),
            environment: surroundings.environment().to_vec(),
            stdin: Stdin::Closed,
            limits: Limits {
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
        Ok(ExitCause::Exited(0)) => Finding::good("supervision", "programs run and leave nothing behind"),
        Ok(cause) => Finding::bad("supervision", format!("a program ended with {cause:?}"), remedy),
        Err(error) => Finding::bad("supervision", error, remedy),
    }
}

fn agents_found(surroundings: &Surroundings) -> Finding {
    let found = agents(&|name| surroundings.program(name));
    if found.is_empty() {
        let remedy = "install one, or name any command: fixpoint loop … -- COMMAND";
        return Finding::warning("agents", "none that is known is on the PATH", remedy);
    }
    let names: Vec<&str> = found.iter().map(|agent| agent.title).collect();
    Finding::good("agents", names.join(", "))
}

fn sandbox(mode: SandboxMode) -> Finding {
    match mode {
        SandboxMode::Off => Finding::good("sandbox", "off, as configured"),
        SandboxMode::Auto => Finding::warning(
            "sandbox",
            "agents are not confined by the kernel; private workspaces and a short environment only",
            "run fixpoint in a container if the agent is not trusted",
        ),
        SandboxMode::Required => Finding::bad(
            "sandbox",
            "required by the configuration, and this version cannot confine agents",
            "set `sandbox: auto`, and run fixpoint in a container",
        ),
    }
}
