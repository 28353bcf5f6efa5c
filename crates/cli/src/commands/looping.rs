//! `fixpoint loop`: an agent in a loop that ends.

use fixpoint_decide::run::RunOrder;
use fixpoint_decide::task_run::{ImpliedGoals, TestEdits};
use fixpoint_vocabulary::brief::{BaseOrder, Brief, Delivery};
use fixpoint_vocabulary::settings::{SandboxMode, Settings};

use crate::arguments::LoopArguments;
use crate::commands::outcome::tell;
use crate::evidence::{Evidence, settings_with};
use crate::failure::Failure;
use crate::output::Output;
use crate::repository::Repository;
use crate::session::Around;
use crate::surroundings::Surroundings;
use crate::{agent, allowance, environment, prompt_text};

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
    let prompt =
        prompt_text::read("the prompt", arguments.prompt.as_deref(), arguments.prompt_file.as_deref())?;
    let mut evidence = evidence(arguments, &mut settings, &repository, surroundings)?;
    if evidence.implied_goals != ImpliedGoals::None {
        surroundings.notices.say("no goal was named: what fails now is the goal");
        if prompt.trim().is_empty() {
            evidence.implied_goals = ImpliedGoals::WhatFailsAndElseNothing;
        }
    }
    let agent =
        agent::choose(&arguments.agent, arguments.base.as_deref(), &mut settings, &repository, surroundings)?;
    let test_edits = if arguments.allow_test_edits { TestEdits::Allowed } else { TestEdits::Checked };
    let order = evidence.order(&settings, test_edits);
    let order = RunOrder { budget: allowance::of(&settings.budget), ..RunOrder::given(order) };
    let brief = Brief {
        version: env!("CARGO_PKG_VERSION").to_string(),
        repository: repository.root().to_string_lossy().into_owned(),
        directory: repository.directory.clone(),
        goal: environment::redactor(surroundings.environment(), &settings.models).redact(&prompt),
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
