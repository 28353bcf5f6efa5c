//! `fixpoint loop`: an agent in a loop that ends.

use std::io::Read;
use std::path::Path;

use fixpoint_decide::run::RunOrder;
use fixpoint_decide::task_run::{ImpliedGoals, TestEdits};
use fixpoint_project::agents;
use fixpoint_vocabulary::brief::{BaseOrder, Brief, Delivery};
use fixpoint_vocabulary::settings::{AgentKind, SandboxMode, Settings};

use crate::arguments::LoopArguments;
use crate::commands::outcome::tell;
use crate::evidence::{Evidence, refuse_secret, settings_with};
use crate::failure::Failure;
use crate::output::Output;
use crate::repository::Repository;
use crate::session::Around;
use crate::surroundings::Surroundings;
use crate::{allowance, environment};

/// No task is longer than this.
const LONGEST_PROMPT: u64 = 4 << 20;

pub(crate) fn run(
    arguments: &LoopArguments,
    surroundings: &Surroundings,
    output: &mut Output,
) -> Result<u8, Failure> {
    let loaded = surroundings.configuration(&arguments.evidence.set)?;
    let mut settings = settings(arguments, loaded.settings)?;
    refuse_sandbox(&settings)?;
    let repository = Repository::open(surroundings, &settings)?;
    repository.workspaces.require_base(arguments.base.as_deref())?;
    let prompt = prompt(arguments)?;
    let mut evidence = evidence(arguments, &mut settings, &repository, surroundings)?;
    if evidence.implied_goals != ImpliedGoals::None {
        surroundings.notices.say("no goal was named: what fails now is the goal");
        if prompt.trim().is_empty() {
            evidence.implied_goals = ImpliedGoals::WhatFailsAndElseNothing;
        }
    }
    let agent = agent(&arguments.agent, &settings, &repository, surroundings)?;
    let test_edits = if arguments.allow_test_edits { TestEdits::Allowed } else { TestEdits::Checked };
    let order = evidence.order(&settings, test_edits);
    let order = RunOrder { budget: allowance::of(&settings.budget), ..RunOrder::given(order) };
    let brief = Brief {
        version: env!("CARGO_PKG_VERSION").to_string(),
        repository: repository.root().to_string_lossy().into_owned(),
        directory: repository.directory.clone(),
        goal: environment::redactor(surroundings.environment()).redact(&prompt),
        agent,
        checks: evidence.checks,
        base: match &arguments.base {
            Some(revision) => BaseOrder::Revision(revision.clone()),
            None => BaseOrder::WorkingTree,
        },
        settings,
        delivery: Delivery::Branch,
    };
    let around = Around { surroundings, repository: &repository, screen: surroundings.screen };
    let (run, driven) = around.begin(order, brief)?;
    tell(&run, &driven, &around, arguments.json.into(), output)
}

/// What cannot be had must not be promised by silence.
pub(crate) fn refuse_sandbox(settings: &Settings) -> Result<(), Failure> {
    match settings.sandbox {
        SandboxMode::Required => Err(Failure::Unavailable(
            "`sandbox: required`: this version cannot confine agents; set `sandbox: auto`, and run fixpoint in a \
             container if the agent is not trusted"
                .into(),
        )),
        SandboxMode::Auto | SandboxMode::Off => Ok(()),
    }
}

/// The settings with what was typed on top.
fn settings(arguments: &LoopArguments, settings: Settings) -> Result<Settings, Failure> {
    let mut settings = settings_with(settings, &arguments.evidence);
    if let Some(number) = arguments.max_iterations {
        settings.convergence.max_iterations = number.max(1);
    }
    settings.agent.timeout = arguments.attempt_timeout.unwrap_or(settings.agent.timeout).max(1);
    settings.agent.silence_timeout =
        arguments.silence_timeout.unwrap_or(settings.agent.silence_timeout).max(1);
    if let Some(budget) = &arguments.budget {
        allowance::set(&mut settings.budget, allowance::read_for_agents(budget)?);
    }
    Ok(settings)
}

fn prompt(arguments: &LoopArguments) -> Result<String, Failure> {
    let unreadable = |path: &Path, source| Failure::Unreadable { path: path.to_path_buf(), source };
    let mut text = String::new();
    match (&arguments.prompt, &arguments.prompt_file) {
        (Some(prompt), _) => text.clone_from(prompt),
        (None, Some(path)) if path.as_os_str() == "-" => {
            let read = std::io::stdin().take(LONGEST_PROMPT).read_to_string(&mut text);
            read.map_err(Failure::NoInput)?;
        }
        (None, Some(path)) => {
            let file = std::fs::File::open(path).map_err(|source| unreadable(path, source))?;
            file.take(LONGEST_PROMPT).read_to_string(&mut text).map_err(|source| unreadable(path, source))?;
        }
        (None, None) => {}
    }
    Ok(text)
}

fn evidence(
    arguments: &LoopArguments,
    settings: &mut Settings,
    repository: &Repository,
    surroundings: &Surroundings,
) -> Result<Evidence, Failure> {
    let typed = Evidence::typed(&arguments.goals, &arguments.evidence, &repository.directory)?;
    match typed.or_else(|| Evidence::configured(settings)) {
        Some(evidence) => Ok(evidence),
        None => Evidence::found(repository, settings, surroundings.notices),
    }
}

/// The agent's command line: as typed, as configured, or the first that is installed.
pub(crate) fn agent(
    typed: &[String],
    settings: &Settings,
    repository: &Repository,
    surroundings: &Surroundings,
) -> Result<Vec<String>, Failure> {
    for argument in typed {
        refuse_secret("the agent's command line", argument)?;
    }
    if !typed.is_empty() {
        let working_dir = surroundings.working_dir()?;
        let root = repository.root().canonicalize().unwrap_or_else(|_| repository.root().to_path_buf());
        let resolved = typed.iter().enumerate();
        return Ok(resolved.map(|(place, word)| resolved_word(place, word, &working_dir, &root)).collect());
    }
    let found = agents(&|name| surroundings.program(name));
    let wanted = match settings.agent.kind {
        AgentKind::Command if !settings.agent.command.is_empty() => {
            return Ok(settings.agent.command.clone());
        }
        AgentKind::Auto => None,
        AgentKind::Claude => Some("claude"),
        AgentKind::Codex => Some("codex"),
        AgentKind::Opencode => Some("opencode"),
        AgentKind::Gemini => Some("gemini"),
        AgentKind::Acp | AgentKind::Builtin | AgentKind::Command => {
            return Err(Failure::BadInput(
                "name the agent after `--`, such as `-- claude -p --permission-mode acceptEdits`".into(),
            ));
        }
    };
    match found.iter().find(|agent| wanted.is_none_or(|name| agent.name == name)) {
        Some(agent) => {
            surroundings.notices.say(&format!("the agent is {}: {}", agent.title, agent.command_line()));
            let words = agent.arguments.iter().map(ToString::to_string);
            Ok(std::iter::once(agent.program.to_string_lossy().into_owned()).chain(words).collect())
        }
        None => Err(Failure::BadInput(
            "no agent was named and none is installed; name one after `--`, such as `-- claude -p --permission-mode acceptEdits`".into(),
        )),
    }
}

/// A word of the agent's command line, as it is in a private workspace. The program is the one that was typed, seen
/// from here; another word that names a file outside the repository would mean nothing there.
fn resolved_word(place: usize, word: &str, working_dir: &Path, root: &Path) -> String {
    let path = Path::new(word);
    let seen_from_here = working_dir.join(path);
    if path.is_absolute() || !seen_from_here.is_file() {
        return word.to_string();
    }
    let is_outside = seen_from_here.canonicalize().is_ok_and(|target| !target.starts_with(root));
    let is_program = place == 0 && word.contains('/');
    if is_program || is_outside {
        seen_from_here.canonicalize().unwrap_or(seen_from_here).to_string_lossy().into_owned()
    } else {
        word.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_name_files_mean_the_same_elsewhere() {
        let base = tempfile::tempdir().unwrap();
        let base = base.path().canonicalize().unwrap();
        let root = base.join("repository");
        std::fs::create_dir_all(root.join("sub")).unwrap();
        for file in ["agent.sh", "repository/inside.sh", "repository/sub/deep.sh"] {
            std::fs::write(base.join(file), "").unwrap();
        }
        let sub = root.join("sub");
        let word = |place, word: &str| resolved_word(place, word, &sub, &root);
        let absolute = |path: &str| base.join(path).to_string_lossy().into_owned();
        assert_eq!(word(0, "./deep.sh"), absolute("repository/sub/deep.sh"));
        assert_eq!(word(0, "deep.sh"), "deep.sh", "a bare name is looked up on the PATH");
        assert_eq!(word(1, "../inside.sh"), "../inside.sh", "it is in the workspace too");
        assert_eq!(word(1, "../../agent.sh"), absolute("agent.sh"));
        assert_eq!(word(1, "--flag"), "--flag");
        assert_eq!(word(1, "/bin/sh"), "/bin/sh");
    }
}
