//! `fixpoint run` and `fixpoint plan`: from a goal to a finished branch, or to a plan.

use std::collections::{BTreeMap, BTreeSet};
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

use super::looping::refuse_sandbox;
use super::outcome::tell;
use crate::arguments::{GoalArguments, PlanArguments, RunGoalArguments};
use crate::dispatcher::{model_environment, models_by_role};
use crate::evidence::{Evidence, settings_with};
use crate::failure::Failure;
use crate::judge_noise;
use crate::output::{Form, Output};
use crate::repository::Repository;
use crate::session::{Around, SUPERVISE};
use crate::surroundings::Surroundings;
use crate::{agent, allowance, environment, prompt_text};

/// What a planner may name as a tool: what any coding agent can do.
const TOOLS: [&str; 5] = ["read", "edit", "search", "shell", "test"];

pub(crate) fn run(
    arguments: &RunGoalArguments,
    surroundings: &Surroundings,
    output: &mut Output,
) -> Result<u8, Failure> {
    let mut job = Job::read(&arguments.goal, surroundings)?;
    job.settings.planning.enabled &= !arguments.no_plan;
    job.settings.max_workers = arguments.max_workers.unwrap_or(job.settings.max_workers);
    refuse_sandbox(&job.settings)?;
    let delivery = match (&arguments.into, &arguments.patch) {
        (Some(branch), _) => Delivery::Into(branch.clone()),
        (None, Some(path)) => {
            let path = surroundings.working_dir()?.join(path);
            Delivery::Patch(path.to_string_lossy().into_owned())
        }
        (None, None) => Delivery::Branch,
    };
    let test_edits = if arguments.allow_test_edits { TestEdits::Allowed } else { TestEdits::Checked };
    let words = Words { agent: Some(&arguments.agent), delivery, test_edits, extent: Extent::Whole };
    job.begin(&arguments.goal, words, surroundings, output)
}

pub(crate) fn plan(
    arguments: &PlanArguments,
    surroundings: &Surroundings,
    output: &mut Output,
) -> Result<u8, Failure> {
    let job = Job::read(&arguments.goal, surroundings)?;
    if arguments.bounds {
        return job.show_bounds(arguments, surroundings, output);
    }
    let words = Words {
        agent: None,
        delivery: Delivery::Branch,
        test_edits: TestEdits::Checked,
        extent: Extent::PlanOnly,
    };
    job.begin(&arguments.goal, words, surroundings, output)
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
    fn read(arguments: &GoalArguments, surroundings: &Surroundings) -> Result<Self, Failure> {
        let person = arguments.person.as_deref();
        let loaded = surroundings.configuration_for(person, &arguments.evidence.set)?;
        let explicit = explicit(&loaded);
        let mut settings = settings_with(loaded.settings, &arguments.evidence);
        if let Some(budget) = &arguments.budget {
            allowance::set(&mut settings.budget, allowance::read(budget)?);
        }
        let goal = prompt_text::read("the goal", arguments.goal.as_deref(), arguments.file.as_deref())?;
        if goal.trim().is_empty() {
            return Err(Failure::BadInput("the goal is empty; say in a sentence what is to be done".into()));
        }
        Ok(Self { goal, settings, explicit })
    }

    fn begin(
        mut self,
        arguments: &GoalArguments,
        words: Words<'_>,
        surroundings: &Surroundings,
        output: &mut Output,
    ) -> Result<u8, Failure> {
        let repository = Repository::open(surroundings, &self.settings)?;
        repository.workspaces.require_base(arguments.base.as_deref())?;
        let evidence = self.evidence(arguments, &repository, surroundings)?;
        let agent = match words.agent {
            Some(typed) => {
                let base = arguments.base.as_deref();
                agent::choose(typed, base, &mut self.settings, &repository, surroundings)?
            }
            None => Vec::new(),
        };
        let models = self.models(surroundings)?;
        if !models.is_empty() {
            prompt_text::check_goal_tokens(&self.goal, self.settings.models.max_prompt_tokens)?;
        }
        if evidence.checks.is_empty() && models.is_empty() {
            return Err(Failure::Unavailable(
                "nothing could show that it is done: there is no check and no model that judges; name a check with \
                 --until or --check, or see `fixpoint doctor` for models"
                    .into(),
            ));
        }
        let order = self.order(&evidence, &models, &words, &repository, surroundings);
        let bounds = match models.get(&Role::Planner) {
            Some(planner) => self.bounds(self.settings.planning.max_subtasks, Some(planner)),
            None => self.bounds_of_checks_alone(),
        };
        surroundings.notices.say(&bounds_line(&bounds));
        let brief = Brief {
            version: env!("CARGO_PKG_VERSION").to_string(),
            repository: repository.root().to_string_lossy().into_owned(),
            directory: repository.directory.clone(),
            goal: environment::redactor(surroundings.environment(), &self.settings.models).redact(&self.goal),
            agent,
            checks: evidence.checks,
            base: match &arguments.base {
                Some(revision) => BaseOrder::Revision(revision.clone()),
                None => BaseOrder::WorkingTree,
            },
            settings: self.settings,
            delivery: words.delivery,
        };
        let around = Around { surroundings, repository: &repository, screen: surroundings.screen };
        let (run, driven) = around.begin(order, brief)?;
        judge_noise::add_from_run(&repository, &driven.recorded, surroundings.notices);
        tell(&run, &driven, &around, arguments.json.into(), output)
    }

    /// The checks: as typed, as configured, as found. A project may have none: then the judge alone decides.
    fn evidence(
        &mut self,
        arguments: &GoalArguments,
        repository: &Repository,
        surroundings: &Surroundings,
    ) -> Result<Evidence, Failure> {
        let typed = Evidence::typed(&arguments.goals, &arguments.evidence, &repository.directory)?;
        if let Some(evidence) = typed.or_else(|| Evidence::configured(&self.settings)) {
            return Ok(evidence);
        }
        match Evidence::found(repository, &mut self.settings, surroundings.notices) {
            Ok(found) => Ok(found),
            Err(Failure::BadInput(_)) => {
                let words =
                    "no check was named and none was found: only a model can judge, and must agree twice";
                surroundings.notices.say(words);
                Ok(Evidence::none())
            }
            Err(failure) => Err(failure),
        }
    }

    /// The models; their names are frozen, so that a run that is taken up again asks the same ones.
    fn models(&mut self, surroundings: &Surroundings) -> Result<BTreeMap<Role, Arc<dyn Model>>, Failure> {
        let processes = SupervisedProcesses::by_this_program([SUPERVISE.into()]).map_err(|error| {
            Failure::Unavailable(format!("this program cannot be started again: {error}"))
        })?;
        let environment = model_environment(surroundings, &self.settings.models, Arc::new(processes), None);
        match models_by_role(&self.settings.models, &environment) {
            Ok((models, named)) => {
                self.settings.models = named;
                Ok(models)
            }
            Err(error) if self.settings.planning.enabled => Err(Failure::Unavailable(error.to_string())),
            Err(error) => {
                surroundings.notices.say(&format!("no model judges: {error}"));
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
        surroundings: &Surroundings,
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
            asking: if surroundings.can_ask() { Asking::Possible } else { Asking::NobodyThere },
            judging: if judge.is_some() { Judging::ByModel } else { Judging::ByChecksAlone },
            extent: words.extent,
            sigma: judge.and_then(|judge| judge_noise::sigma(repository, judge.name())),
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
        surroundings: &Surroundings,
        output: &mut Output,
    ) -> Result<u8, Failure> {
        // Without a model there is no price, and everything else can still be said.
        let models = self.models(surroundings).unwrap_or_default();
        let tasks = arguments.tasks.unwrap_or(self.settings.planning.max_subtasks);
        let mut bounds = self.bounds(tasks, models.get(&Role::Planner));
        fixpoint_vocabulary::Speak::speak(&mut bounds, surroundings.lang);
        match Form::from(arguments.goal.json) {
            Form::Json => output.json(&bounds)?,
            Form::Text => {
                output.line(&bounds_line(&bounds))?;
                for term in &bounds.terms {
                    let meaning = term.meaning.in_lang(surroundings.lang);
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
