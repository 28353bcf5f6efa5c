//! `fixpoint run` and `fixpoint plan`: from a goal to a branch, or to a plan only.

use std::collections::BTreeMap;
use std::sync::Arc;

use fixpoint_config::Loaded;
use fixpoint_decide::bounds;
use fixpoint_decide::noise::Sigma;
use fixpoint_decide::planning_mode::{self, ExplicitSettings};
use fixpoint_decide::run::{Judging, PlanOptions, RunExtent, RunOptions, TaskSource};
use fixpoint_decide::task_run::TestEdits;
use fixpoint_ports::Model;
use fixpoint_prompts::estimate_tokens;
use fixpoint_vocabulary::ask::{PersonPresence, Role};
use fixpoint_vocabulary::run_spec::{Delivery, RunSpec};
use fixpoint_vocabulary::settings::{CheckKind, Settings};
use fixpoint_vocabulary::{Cause, Lang, Localize};
use serde::Serialize;
use serde_json::Value;

use super::outcome::{exit_code, tell};
use crate::app_context::{AppContext, Detail};
use crate::arguments::{GoalArguments, PlanArguments, RunGoalArguments};
use crate::cost::Forecast;
use crate::dispatcher::{model_environment, models_by_role};
use crate::failure::Failure;
use crate::judge_noise;
use crate::language::say;
use crate::output::{Form, Output};
use crate::repository::Repository;
use crate::sandbox::supervised_processes;
use crate::selected_checks::{self, SelectedChecks, test_edits};
use crate::session::SessionContext;
use crate::trust::AskedByProject;
use crate::usable_checks::{FailingCheck, Preflight, leave_out_unusable};
use crate::{agent, allowance, delivery_target, environment, prompt_text};

/// The tools that a planner may name: what every coding agent can do.
const TOOLS: [&str; 5] = ["read", "edit", "search", "shell", "test"];

pub(crate) fn run(
    arguments: &RunGoalArguments,
    app: &AppContext,
    output: &mut Output,
) -> Result<u8, Failure> {
    let mut job = Job::read(&arguments.goal, app)?;
    job.settings.planning.enabled &= !arguments.no_plan;
    job.settings.max_workers = arguments.max_workers.unwrap_or(job.settings.max_workers);
    let delivery = match (&arguments.into, &arguments.patch) {
        (Some(branch), _) => Delivery::Into(branch.clone()),
        (None, Some(path)) => {
            let path = app.working_dir()?.join(path);
            Delivery::Patch(path.to_string_lossy().into_owned())
        }
        (None, None) => Delivery::Branch,
    };
    let test_edits = test_edits(arguments.allow_test_edits);
    let variant = Variant { agent: Some(&arguments.agent), delivery, test_edits, extent: RunExtent::Whole };
    job.begin(&arguments.goal, variant, app, output)
}

pub(crate) fn plan(arguments: &PlanArguments, app: &AppContext, output: &mut Output) -> Result<u8, Failure> {
    let job = Job::read(&arguments.goal, app)?;
    if arguments.bounds {
        return job.show_bounds(arguments, app, output);
    }
    let variant = Variant {
        agent: None,
        delivery: Delivery::Branch,
        test_edits: TestEdits::Checked,
        extent: RunExtent::PlanOnly,
    };
    job.begin(&arguments.goal, variant, app, output)
}

/// What was asked for.
struct Job {
    goal: String,
    settings: Settings,
    explicit: ExplicitSettings,
    asked: AskedByProject,
}

/// What differs between the two commands.
struct Variant<'a> {
    agent: Option<&'a [String]>,
    delivery: Delivery,
    test_edits: TestEdits,
    extent: RunExtent,
}

impl Job {
    fn read(arguments: &GoalArguments, app: &AppContext) -> Result<Self, Failure> {
        let person = arguments.person.as_deref();
        let loaded = app.configuration_for(person, &arguments.evidence.set)?;
        let (explicit, asked) = (explicit(&loaded), AskedByProject::of(&loaded));
        let mut settings = selected_checks::with_options(loaded.settings, &arguments.evidence);
        if let Some(budget) = &arguments.budget {
            allowance::apply(&mut settings.budget, allowance::parse(budget)?);
        }
        let goal = prompt_text::read("the goal", arguments.goal.as_deref(), arguments.file.as_deref())?;
        if goal.trim().is_empty() {
            return Err(Failure::BadInput("the goal is empty; describe in a sentence what you want".into()));
        }
        Ok(Self { goal, settings, explicit, asked })
    }

    fn begin(
        mut self,
        arguments: &GoalArguments,
        variant: Variant<'_>,
        app: &AppContext,
        output: &mut Output,
    ) -> Result<u8, Failure> {
        let repository = Repository::open(app, &self.settings)?;
        repository.workspaces.require_base(arguments.base.as_deref())?;
        let delivery = match variant.extent {
            RunExtent::Whole => delivery_target::check(variant.delivery.clone(), &repository, app)?,
            RunExtent::PlanOnly => variant.delivery.clone(),
        };
        let mut evidence = self.evidence(arguments, &repository, app)?;
        let consent = self.asked.clone().with_detected(&evidence.detected).require(app)?;
        let agent = match variant.agent {
            Some(typed) => {
                agent::choose(typed, arguments.base.as_deref(), &mut self.settings, &repository, app)?
            }
            None => Vec::new(),
        };
        let models = self.models(app)?;
        if !models.is_empty() {
            prompt_text::check_goal_tokens(&self.goal, self.settings.models.max_prompt_tokens)?;
        }
        if evidence.checks.is_empty() && models.is_empty() {
            return Err(Failure::Unavailable(
                "there is neither a check nor a judge model, so nothing can verify the result; give a check with \
                 --until or --check, or set up a model (see `fixpoint doctor`)"
                    .into(),
            ));
        }
        let session = SessionContext::new(app, &repository, consent);
        let (failing, base) = (FailingCheck::GoalIfTests, arguments.base.as_deref());
        let Preflight::Done = leave_out_unusable(&mut evidence, failing, base, &self.settings, &session)?
        else {
            return Ok(exit_code(Cause::Stopped));
        };
        let sigma = models.get(&Role::Judge).and_then(|judge| judge_noise::sigma(&repository, judge.name()));
        let options = self.options(&evidence, &models, &variant, sigma, app);
        let spec = RunSpec {
            goal: environment::redactor(app.environment(), &self.settings.models).redact(&self.goal),
            agent,
            delivery,
            ..repository.run_spec(base, evidence.checks, self.settings)
        };
        let (run, outcome) = session.begin(options, spec)?;
        judge_noise::add_from_run(&repository, &outcome.folded.run, app);
        tell(&run, &outcome, &session, arguments.json.into(), output)
    }

    /// The checks: from the command line, else configured, else detected. Without any, the judge alone decides.
    fn evidence(
        &mut self,
        arguments: &GoalArguments,
        repository: &Repository,
        app: &AppContext,
    ) -> Result<SelectedChecks, Failure> {
        let (goals, options) = (&arguments.goals, &arguments.evidence);
        let selected = SelectedChecks::select(goals, options, &mut self.settings, repository, app)?;
        Ok(selected.unwrap_or_else(|| {
            app.notice(
                "no checks given or detected: a task without checks of its own must be approved twice by the judge model",
                "チェックの指定も検出もありません。独自のチェックがないタスクには、判定モデルの2回の承認が必要です",
            );
            SelectedChecks::none()
        }))
    }

    /// The models. Their names are fixed in the settings, so that a resumed run asks the same ones.
    fn models(&mut self, app: &AppContext) -> Result<BTreeMap<Role, Arc<dyn Model>>, Failure> {
        let processes = Arc::new(supervised_processes()?);
        let environment = model_environment(app, &self.settings.models, processes, None);
        match models_by_role(&self.settings.models, &environment) {
            Ok((models, named)) => {
                self.settings.models = named;
                Ok(models)
            }
            Err(error) if self.settings.planning.enabled => Err(Failure::Unavailable(error.to_string())),
            Err(error) => {
                app.notice(format!("no judge model: {error}"), format!("判定モデルがありません: {error}"));
                Ok(BTreeMap::new())
            }
        }
    }

    fn options(
        &self,
        evidence: &SelectedChecks,
        models: &BTreeMap<Role, Arc<dyn Model>>,
        variant: &Variant<'_>,
        sigma: Option<Sigma>,
        app: &AppContext,
    ) -> RunOptions {
        let settings = &self.settings;
        let mode = planning_mode::decide(estimate_tokens(&self.goal), &settings.planning, self.explicit);
        let judge = models.get(&Role::Judge);
        let options = PlanOptions {
            calls: mode.calls,
            style: mode.style,
            reflection_interval: mode.reflection_interval,
            person: if app.can_ask() { PersonPresence::Available } else { PersonPresence::Unavailable },
            judging: if judge.is_some() { Judging::ByModel } else { Judging::ByChecksAlone },
            extent: variant.extent,
            sigma,
            prices: models.iter().filter_map(|(role, model)| Some((*role, model.price()?))).collect(),
            tools: TOOLS.map(ToString::to_string).to_vec(),
            guards: evidence.numbers_of(CheckKind::Guard),
            goals: evidence.numbers_of(CheckKind::Goal),
            test_edits: variant.test_edits,
        };
        RunOptions::planned(options, allowance::from_settings(&settings.budget))
    }

    /// What a run is expected to use and what limits it; nothing is asked and nothing starts.
    fn show_bounds(
        mut self,
        arguments: &PlanArguments,
        app: &AppContext,
        output: &mut Output,
    ) -> Result<u8, Failure> {
        // Nobody is asked here, so models that an untrusted project names are not used.
        if !self.asked.standing(app)?.allows() {
            self.settings.models = app.own_configuration(&arguments.goal.evidence.set)?.settings.models;
        }
        // Without a model there is no price; all other numbers are known.
        let models = self.models(app).unwrap_or_default();
        let extent = RunExtent::Whole;
        let test_edits = TestEdits::Checked;
        let variant = Variant { agent: None, delivery: Delivery::Branch, test_edits, extent };
        let mut options = self.options(&SelectedChecks::none(), &models, &variant, None, app);
        if let TaskSource::Planned(planned) = &mut options.tasks {
            planned.judging = Judging::ByModel;
        }
        // Outside a repository there are no earlier runs.
        let repository = Repository::look(app).ok();
        let state = repository.as_ref().map(|repository| &repository.state);
        let forecast = Forecast::new(&options, &self.settings, state);
        let mut worst = forecast.worst_case(arguments.tasks);
        worst.localize(app.lang);
        match Form::from(arguments.goal.json) {
            Form::Json => {
                app.notices.say(&forecast.first_line(app.lang));
                let (expected, limit) = (forecast.expected_json(), forecast.limit_json());
                output.json(&BoundsReport { expected, limit, worst })?;
            }
            Form::Text => {
                output.line(&forecast.first_line(app.lang))?;
                match app.detail {
                    Detail::Usual => app.notice(
                        "for the worst case: fixpoint plan --bounds -v",
                        "最悪の場合を表示するには: fixpoint plan --bounds -v",
                    ),
                    Detail::Verbose => {
                        output.line(&forecast.worst_case_line(arguments.tasks, app.lang))?;
                        output.lines(worst.terms.iter().map(|term| term_line(term, app.lang)))?;
                    }
                }
            }
        }
        Ok(0)
    }
}

/// The answer of `plan --bounds --json`.
#[derive(Serialize)]
struct BoundsReport {
    expected: Value,
    limit: Value,
    /// The worst case, and the terms it is made of.
    #[serde(flatten)]
    worst: bounds::Answer,
}

fn term_line(term: &bounds::LoopBound, lang: Lang) -> String {
    let meaning = term.meaning.in_lang(lang);
    let (calls, attempts) = (term.model_calls, term.agent_attempts);
    say(
        lang,
        format!("  {:16} {calls:>7} calls {attempts:>6} attempts  {meaning}", term.name),
        format!("  {:16} 呼び出し{calls:>7} 試行{attempts:>6}  {meaning}", term.name),
    )
}

fn explicit(loaded: &Loaded) -> ExplicitSettings {
    ExplicitSettings {
        strategy: loaded.is_explicit("planning.strategy"),
        level: loaded.is_explicit("planning.decomposition_level"),
        interval: loaded.is_explicit("planning.reflection.trigger_interval"),
    }
}
