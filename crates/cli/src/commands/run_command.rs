//! `fixpoint run` and `fixpoint plan`: from a goal to a finished branch, or to a plan.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use fixpoint_config::Loaded;
use fixpoint_decide::bounds;
use fixpoint_decide::levels::{self, Explicit};
use fixpoint_decide::run::{Extent, Judging, PlanOrder, PlanningCalls, RunOrder};
use fixpoint_decide::task_run::TestEdits;
use fixpoint_ports::Model;
use fixpoint_processes::SupervisedProcesses;
use fixpoint_prompts::estimate_tokens;
use fixpoint_vocabulary::ask::{Asking, Role};
use fixpoint_vocabulary::brief::{BaseOrder, Brief, Delivery};
use fixpoint_vocabulary::settings::{CheckKind, Price, Settings};

use super::loop_command::refuse_sandbox;
use super::outcome::tell;
use crate::app_context::AppContext;
use crate::arguments::{GoalArguments, PlanArguments, RunGoalArguments};
use crate::evidence::{Evidence, settings_with};
use crate::failure::Failure;
use crate::judges;
use crate::output::{Form, Output};
use crate::repository::Repository;
use crate::session::{SUPERVISE, SessionContext};
use crate::staff::{advisers, model_surroundings};
use crate::{agent, allowance, environment};

/// No goal is longer than this.
const LONGEST_GOAL: u64 = 4 << 20;

/// What a planner may name as a tool: what any coding agent can do.
const TOOLS: [&str; 5] = ["read", "edit", "search", "shell", "test"];

pub(crate) fn run(
    arguments: &RunGoalArguments,
    app: &AppContext,
    output: &mut Output,
) -> Result<u8, Failure> {
    let mut job = Job::read(&arguments.goal, app)?;
    job.settings.planning.enabled &= !arguments.no_plan;
    job.settings.max_workers = arguments.max_workers.unwrap_or(job.settings.max_workers);
    refuse_sandbox(&job.settings)?;
    let delivery = match (&arguments.into, &arguments.patch) {
        (Some(branch), _) => Delivery::Into(branch.clone()),
        (None, Some(path)) => {
            let path = app.working_dir()?.join(path);
            Delivery::Patch(path.to_string_lossy().into_owned())
        }
        (None, None) => Delivery::Branch,
    };
    let test_edits = if arguments.allow_test_edits { TestEdits::Allowed } else { TestEdits::Checked };
    let words = Words { agent: Some(&arguments.agent), delivery, test_edits, extent: Extent::Whole };
    job.begin(&arguments.goal, words, app, output)
}

pub(crate) fn plan(arguments: &PlanArguments, app: &AppContext, output: &mut Output) -> Result<u8, Failure> {
    let job = Job::read(&arguments.goal, app)?;
    if arguments.bounds {
        return job.show_bounds(arguments, app, output);
    }
    let words = Words {
        agent: None,
        delivery: Delivery::Branch,
        test_edits: TestEdits::Checked,
        extent: Extent::PlanOnly,
    };
    job.begin(&arguments.goal, words, app, output)
}

/// What was asked for, before anything is looked at.
struct Job {
    goal: String,
    settings: Settings,
    explicit: Explicit,
}

/// What only one of the two commands says.
struct Words<'a> {
    agent: Option<&'a [String]>,
    delivery: Delivery,
    test_edits: TestEdits,
    extent: Extent,
}

impl Job {
    fn read(arguments: &GoalArguments, app: &AppContext) -> Result<Self, Failure> {
        let person = arguments.person.as_deref();
        let loaded = app.configuration_for(person, &arguments.evidence.set)?;
        let explicit = explicit(&loaded);
        let mut settings = settings_with(loaded.settings, &arguments.evidence);
        if let Some(budget) = &arguments.budget {
            allowance::set(&mut settings.budget, allowance::read(budget)?);
        }
        let goal = goal(arguments)?;
        if goal.trim().is_empty() {
            return Err(Failure::BadInput("the goal is empty; say in a sentence what is to be done".into()));
        }
        Ok(Self { goal, settings, explicit })
    }

    fn begin(
        mut self,
        arguments: &GoalArguments,
        words: Words<'_>,
        app: &AppContext,
        output: &mut Output,
    ) -> Result<u8, Failure> {
        let repository = Repository::open(app, &self.settings)?;
        repository.workspaces.require_base(arguments.base.as_deref())?;
        let evidence = self.evidence(arguments, &repository, app)?;
        let agent = match words.agent {
            Some(typed) => agent::choose(typed, &mut self.settings, &repository, app)?,
            None => Vec::new(),
        };
        let models = self.models(app)?;
        if evidence.checks.is_empty() && models.is_empty() {
            return Err(Failure::Unavailable(
                "nothing could show that it is done: there is no check and no model that judges; name a check with \
                 --until or --check, or see `fixpoint doctor` for models"
                    .into(),
            ));
        }
        let order = self.order(&evidence, &models, &words, &repository, app);
        let bounds = match models.get(&Role::Planner) {
            Some(planner) => self.bounds(self.settings.planning.max_subtasks, Some(planner)),
            None => self.bounds_of_checks_alone(),
        };
        app.notices.say(&bounds_line(&bounds));
        let brief = Brief {
            version: env!("CARGO_PKG_VERSION").to_string(),
            repository: repository.root().to_string_lossy().into_owned(),
            directory: repository.directory.clone(),
            goal: environment::redactor(app.environment(), &self.settings.models).redact(&self.goal),
            agent,
            checks: evidence.checks,
            base: match &arguments.base {
                Some(revision) => BaseOrder::Revision(revision.clone()),
                None => BaseOrder::WorkingTree,
            },
            settings: self.settings,
            delivery: words.delivery,
        };
        let session = SessionContext { app, repository: &repository, screen: app.screen };
        let (run, outcome) = session.begin(order, brief)?;
        judges::remember(&repository, &outcome.header, &outcome.folded.run, app.notices);
        tell(&run, &outcome, &session, arguments.json.into(), output)
    }

    /// The checks: as typed, as configured, as found. A project may have none: then the judge alone decides.
    fn evidence(
        &mut self,
        arguments: &GoalArguments,
        repository: &Repository,
        app: &AppContext,
    ) -> Result<Evidence, Failure> {
        let typed = Evidence::typed(&arguments.goals, &arguments.evidence, &repository.directory)?;
        if let Some(evidence) = typed.or_else(|| Evidence::configured(&self.settings)) {
            return Ok(evidence);
        }
        match Evidence::found(repository, &mut self.settings, app.notices) {
            Ok(found) => Ok(found),
            Err(Failure::BadInput(_)) => {
                let words =
                    "no check was named and none was found: only a model can judge, and must agree twice";
                app.notices.say(words);
                Ok(Evidence::none())
            }
            Err(failure) => Err(failure),
        }
    }

    /// The models; their names are frozen, so that a run that is taken up again asks the same ones.
    fn models(&mut self, app: &AppContext) -> Result<BTreeMap<Role, Arc<dyn Model>>, Failure> {
        let processes = SupervisedProcesses::by_this_program([SUPERVISE.into()]).map_err(|error| {
            Failure::Unavailable(format!("this program cannot be started again: {error}"))
        })?;
        let around = model_surroundings(app, &self.settings.models, Arc::new(processes), None);
        match advisers(&self.settings.models, &around) {
            Ok((models, named)) => {
                self.settings.models = named;
                Ok(models)
            }
            Err(error) if self.settings.planning.enabled => Err(Failure::Unavailable(error.to_string())),
            Err(error) => {
                app.notices.say(&format!("no model judges: {error}"));
                Ok(BTreeMap::new())
            }
        }
    }

    fn order(
        &self,
        evidence: &Evidence,
        models: &BTreeMap<Role, Arc<dyn Model>>,
        words: &Words<'_>,
        repository: &Repository,
        app: &AppContext,
    ) -> RunOrder {
        let settings = &self.settings;
        let levels = levels::decide(estimate_tokens(&self.goal), &settings.planning, self.explicit);
        let of_kind = |kind: CheckKind| -> BTreeSet<u32> {
            let numbered = (0u32..).zip(&evidence.checks);
            numbered.filter(|(_, placed)| placed.check.kind == kind).map(|(number, _)| number).collect()
        };
        let judge = models.get(&Role::Judge);
        let order = PlanOrder {
            calls: levels.calls,
            manner: levels.manner,
            reflection_interval: levels.reflection_interval,
            asking: if app.can_ask() { Asking::Possible } else { Asking::NobodyThere },
            judging: if judge.is_some() { Judging::ByModel } else { Judging::ByChecksAlone },
            extent: words.extent,
            sigma: judge.and_then(|judge| judges::sigma(repository, judge.name())),
            prices: models.iter().filter_map(|(role, model)| Some((*role, model.price()?))).collect(),
            tools: TOOLS.map(ToString::to_string).to_vec(),
            guards: of_kind(CheckKind::Guard),
            goals: of_kind(CheckKind::Goal),
            test_edits: words.test_edits,
        };
        RunOrder::planned(order, allowance::of(&settings.budget))
    }

    fn bounds(&self, tasks: u32, planner: Option<&Arc<dyn Model>>) -> bounds::Answer {
        let prices: Option<Price> = planner.and_then(|planner| planner.price());
        let levels = levels::decide(estimate_tokens(&self.goal), &self.settings.planning, self.explicit);
        let tasks = if levels.calls == PlanningCalls::None { 1 } else { tasks };
        bounds::decide(&bounds::Question { config: self.settings.clone(), tasks, prices })
    }

    /// Nobody is asked: nothing is planned, judged by a model or planned anew.
    fn bounds_of_checks_alone(&self) -> bounds::Answer {
        let mut config = self.settings.clone();
        config.replanning.enabled = false;
        config.budget.model_calls = Some(0);
        bounds::decide(&bounds::Question { config, tasks: 1, prices: None })
    }

    fn show_bounds(
        mut self,
        arguments: &PlanArguments,
        app: &AppContext,
        output: &mut Output,
    ) -> Result<u8, Failure> {
        // Without a model there is no price, and everything else can still be said.
        let models = self.models(app).unwrap_or_default();
        let tasks = arguments.tasks.unwrap_or(self.settings.planning.max_subtasks);
        let mut bounds = self.bounds(tasks, models.get(&Role::Planner));
        fixpoint_vocabulary::Speak::speak(&mut bounds, app.lang);
        match Form::from(arguments.goal.json) {
            Form::Json => output.json(&bounds)?,
            Form::Text => {
                output.line(&bounds_line(&bounds))?;
                for term in &bounds.terms {
                    let meaning = term.meaning.in_lang(app.lang);
                    output.line(&format!(
                        "  {:16} {:>7} calls {:>6} attempts  {meaning}",
                        term.name, term.model_calls, term.agent_attempts
                    ))?;
                }
            }
        }
        Ok(0)
    }
}

fn bounds_line(bounds: &bounds::Answer) -> String {
    let money = bounds.money.map(|money| format!(", ${money:.2} for models")).unwrap_or_default();
    format!(
        "at most {} model calls, {} tokens, {} attempts of agents{money}",
        bounds.model_calls, bounds.tokens, bounds.agent_attempts
    )
}

fn explicit(loaded: &Loaded) -> Explicit {
    Explicit {
        strategy: loaded.is_explicit("planning.strategy"),
        level: loaded.is_explicit("planning.decomposition_level"),
        interval: loaded.is_explicit("planning.reflection.trigger_interval"),
    }
}

fn goal(arguments: &GoalArguments) -> Result<String, Failure> {
    let unreadable = |path: &Path, source| Failure::Unreadable { path: path.to_path_buf(), source };
    let bytes = match (&arguments.goal, &arguments.file) {
        (Some(goal), _) => goal.clone().into_bytes(),
        (None, Some(path)) if path.as_os_str() == "-" => {
            bounded(std::io::stdin()).map_err(Failure::NoInput)?
        }
        (None, Some(path)) => std::fs::File::open(path).and_then(bounded).map_err(|e| unreadable(path, e))?,
        (None, None) => Vec::new(),
    };
    if bytes.len() as u64 > LONGEST_GOAL {
        return Err(Failure::BadInput(format!(
            "the goal is longer than {LONGEST_GOAL} bytes; say what is wanted in less, and leave logs and listings in \
             files of the repository"
        )));
    }
    String::from_utf8(bytes).map_err(|error| {
        let place = error.utf8_error().valid_up_to();
        Failure::BadInput(format!("the goal is not UTF-8: byte {place} begins no letter"))
    })
}

/// One byte more than a goal may have, at most, so that it is seen where there is more.
fn bounded(source: impl Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(LONGEST_GOAL + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
