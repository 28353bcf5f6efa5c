//! `fixpoint loop`: an agent in a loop that ends.

use std::io::Read;
use std::path::Path;

use fixpoint_decide::run::RunOrder;
use fixpoint_decide::task_run::{ImpliedGoals, TestEdits};
use fixpoint_vocabulary::brief::{BaseOrder, Brief, Delivery};
use fixpoint_vocabulary::settings::{SandboxMode, Settings};

use crate::app_context::AppContext;
use crate::arguments::LoopArguments;
use crate::commands::outcome::tell;
use crate::evidence::{Evidence, settings_with};
use crate::failure::Failure;
use crate::output::Output;
use crate::repository::Repository;
use crate::session::SessionContext;
use crate::{agent, allowance, environment};

/// No task is longer than this.
const LONGEST_PROMPT: u64 = 4 << 20;

pub(crate) fn run(arguments: &LoopArguments, app: &AppContext, output: &mut Output) -> Result<u8, Failure> {
    let loaded = app.configuration(&arguments.evidence.set)?;
    let mut settings = settings(arguments, loaded.settings)?;
    refuse_sandbox(&settings)?;
    let repository = Repository::open(app, &settings)?;
    repository.workspaces.require_base(arguments.base.as_deref())?;
    let prompt = prompt(arguments)?;
    let mut evidence = evidence(arguments, &mut settings, &repository, app)?;
    if evidence.implied_goals != ImpliedGoals::None {
        app.notices.say("no goal was named: what fails now is the goal");
        if prompt.trim().is_empty() {
            evidence.implied_goals = ImpliedGoals::FailingGuardsOrNothing;
        }
    }
    let agent = agent::choose(&arguments.agent, &mut settings, &repository, app)?;
    let test_edits = if arguments.allow_test_edits { TestEdits::Allowed } else { TestEdits::Checked };
    let order = evidence.order(&settings, test_edits);
    let order = RunOrder { budget: allowance::of(&settings.budget), ..RunOrder::given(order) };
    let brief = Brief {
        version: env!("CARGO_PKG_VERSION").to_string(),
        repository: repository.root().to_string_lossy().into_owned(),
        directory: repository.directory.clone(),
        goal: environment::redactor(app.environment(), &settings.models).redact(&prompt),
        agent,
        checks: evidence.checks,
        base: match &arguments.base {
            Some(revision) => BaseOrder::Revision(revision.clone()),
            None => BaseOrder::WorkingTree,
        },
        settings,
        delivery: Delivery::Branch,
    };
    let session = SessionContext { app, repository: &repository, screen: app.screen };
    let (run, outcome) = session.begin(order, brief)?;
    tell(&run, &outcome, &session, arguments.json.into(), output)
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
    app: &AppContext,
) -> Result<Evidence, Failure> {
    let typed = Evidence::typed(&arguments.goals, &arguments.evidence, &repository.directory)?;
    match typed.or_else(|| Evidence::configured(settings)) {
        Some(evidence) => Ok(evidence),
        None => Evidence::found(repository, settings, app.notices),
    }
}
