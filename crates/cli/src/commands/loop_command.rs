//! `fixpoint loop`: one agent, run again until the checks pass or it makes no more progress.

use fixpoint_decide::run::RunOptions;
use fixpoint_decide::task_run::ImpliedGoals;
use fixpoint_vocabulary::Cause;
use fixpoint_vocabulary::run_spec::{Delivery, RunSpec};
use fixpoint_vocabulary::settings::Settings;

use crate::app_context::AppContext;
use crate::arguments::LoopArguments;
use crate::commands::outcome::{exit_code, tell};
use crate::failure::Failure;
use crate::output::Output;
use crate::repository::Repository;
use crate::selected_checks::{self, SelectedChecks, test_edits};
use crate::session::SessionContext;
use crate::trust::AskedByProject;
use crate::usable_checks::{FailingCheck, Preflight, leave_out_unusable};
use crate::{agent, allowance, delivery_target, environment, prompt_text};

pub(crate) fn run(arguments: &LoopArguments, app: &AppContext, output: &mut Output) -> Result<u8, Failure> {
    let loaded = app.configuration_for(arguments.person.as_deref(), &arguments.evidence.set)?;
    let asked = AskedByProject::of(&loaded);
    // A loop is limited by its attempts; the default limit in money is for runs that ask models.
    let has_usd = loaded.is_explicit("budget.usd");
    let mut settings = settings(arguments, loaded.settings)?;
    settings.budget.usd = settings.budget.usd.filter(|_| has_usd);
    let repository = Repository::open(app, &settings)?;
    repository.workspaces.require_base(arguments.base.as_deref())?;
    let delivery = delivery_target::check(Delivery::Branch, &repository, app)?;
    let prompt =
        prompt_text::read("the prompt", arguments.prompt.as_deref(), arguments.prompt_file.as_deref())?;
    let (goals, options) = (&arguments.goals, &arguments.evidence);
    let selected = SelectedChecks::select(goals, options, &mut settings, &repository, app)?;
    let mut selected = selected.ok_or_else(|| selected_checks::no_checks("--until or --check"))?;
    let consent = asked.with_detected(&selected.detected).require(app)?;
    if selected.implied_goals != ImpliedGoals::None {
        app.notice(
            "no --until given: the goal is to fix what fails now",
            "--until の指定がないため、現在の失敗を直すことを目標とします",
        );
        if prompt.trim().is_empty() {
            selected.implied_goals = ImpliedGoals::FailingGuardsOrNothing;
        }
    }
    let agent = agent::choose(&arguments.agent, arguments.base.as_deref(), &mut settings, &repository, app)?;
    let session = SessionContext::new(app, &repository, consent);
    let base = arguments.base.as_deref();
    let Preflight::Done = leave_out_unusable(&mut selected, FailingCheck::Goal, base, &settings, &session)?
    else {
        return Ok(exit_code(Cause::Stopped));
    };
    let options = selected.options(&settings, test_edits(arguments.allow_test_edits));
    let options =
        RunOptions { budget: allowance::from_settings(&settings.budget), ..RunOptions::given(options) };
    let spec = RunSpec {
        goal: environment::redactor(app.environment(), &settings.models).redact(&prompt),
        agent,
        delivery,
        ..repository.run_spec(base, selected.checks, settings)
    };
    let (run, outcome) = session.begin(options, spec)?;
    tell(&run, &outcome, &session, arguments.json.into(), output)
}

/// The settings with the options of the command line on top.
fn settings(arguments: &LoopArguments, settings: Settings) -> Result<Settings, Failure> {
    let mut settings = selected_checks::with_options(settings, &arguments.evidence);
    if let Some(number) = arguments.max_iterations {
        settings.convergence.max_iterations = number.max(1);
    }
    settings.agent.timeout = arguments.attempt_timeout.unwrap_or(settings.agent.timeout).max(1);
    settings.agent.silence_timeout =
        arguments.silence_timeout.unwrap_or(settings.agent.silence_timeout).max(1);
    if let Some(budget) = &arguments.budget {
        allowance::apply(&mut settings.budget, allowance::parse_for_loop(budget)?);
    }
    Ok(settings)
}
