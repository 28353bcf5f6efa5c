//! The settings, options and actors of a simulated run: random by seed, or fixed by a test.

use std::collections::{BTreeMap, BTreeSet};

use fixpoint_decide::run::{Judging, PlanOptions, PlanningCalls, RunExtent, RunOptions};
use fixpoint_decide::task_run::TestEdits;
use fixpoint_engine::{FORMAT, JournalHeader};
use fixpoint_vocabulary::ask::{PersonPresence, PlanningStyle, Role};
use fixpoint_vocabulary::run_spec::{BaseSource, PlacedCheck, RunSpec};
use fixpoint_vocabulary::settings::{Check, CheckKind, DecompositionLevel, Price, Settings};
#[cfg(test)]
use fixpoint_vocabulary::usage::MicroUsd;
use fixpoint_vocabulary::work::Allowance;

use super::actors::Actors;
#[cfg(test)]
use super::actors::Honesty;
#[cfg(test)]
use super::goal::between;
use super::goal::{EVERYTHING, GUARD};
use super::parameters::PARAMETERS;
use super::planner::TOOLS;
use super::tree::OUTSIDE;
#[cfg(test)]
use crate::random::Random;
use crate::task::MAX_INTERRUPTIONS;

/// What is fixed when a simulated run begins.
#[derive(Debug, Clone)]
pub(crate) struct RunScenario {
    pub(crate) actors: Actors,
    pub(crate) settings: Settings,
    pub(crate) calls: PlanningCalls,
    pub(crate) judging: Judging,
    pub(crate) person: PersonPresence,
    pub(crate) extent: RunExtent,
    pub(crate) budget: Allowance,
    pub(crate) own_checks: OwnChecks,
    pub(crate) reflection_interval: u32,
    /// Whether a person unblocks the first blocked task, once.
    pub(crate) unblocks: bool,
    /// A person stops the run after so many records, once.
    pub(crate) stops_after: Option<usize>,
}

/// The checks a run has before it is planned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OwnChecks {
    None,
    Guard,
    GuardAndGoal,
}

impl RunScenario {
    /// Default settings, and actors without faults.
    #[cfg(test)]
    pub(crate) fn good(seed: u64) -> Self {
        Self::new(Actors::good(seed), Settings::default())
    }

    pub(crate) fn new(actors: Actors, mut settings: Settings) -> Self {
        settings.scope.denied_paths = vec![OUTSIDE.to_string()];
        Self {
            actors,
            settings,
            calls: PlanningCalls::AtOnce,
            judging: Judging::ByModel,
            person: PersonPresence::Available,
            extent: RunExtent::Whole,
            budget: Allowance::default(),
            own_checks: OwnChecks::Guard,
            reflection_interval: 3,
            unblocks: false,
            stops_after: None,
        }
    }

    #[cfg(test)]
    pub(crate) fn random(seed: u64) -> Self {
        let mut numbers = Random::keyed(seed, "circumstances");
        let mut pick = |least, most| between([least, most], &mut numbers);
        let honesty = if pick(0, 3) == 0 { Honesty::Errs } else { Honesty::Honest };
        let mut scenario = Self::new(Actors::of(seed, honesty), Settings::default());
        let settings = &mut scenario.settings;
        settings.max_workers = pick(1, 4);
        settings.models.max_format_retries = pick(0, 2);
        settings.refinement.max_refinement_attempts = pick(0, 3);
        settings.refinement.refine_suggestions_on_success = pick(0, 2) == 0;
        settings.refinement.enable_individual_fallback = pick(0, 2) > 0;
        settings.judge.max_samples = [1, 3, 5].get(pick(0, 2) as usize).copied().unwrap_or(1);
        settings.replanning.enabled = pick(0, 5) > 0;
        settings.replanning.max_iterations = pick(1, 4);
        settings.replanning.max_children = pick(1, 5);
        settings.convergence.max_iterations = pick(2, 10);
        settings.convergence.stall_threshold = pick(1, 2);
        settings.planning.max_subtasks = [5, 8, 100].get(pick(0, 2) as usize).copied().unwrap_or(100);
        settings.planning.allow_partial = pick(0, 3) == 0;
        settings.planning.cache.enabled = pick(0, 1) == 0;
        settings.planning.reflection.trigger_on_error = pick(0, 2) > 0;
        settings.planning.revision.max_revisions = pick(0, 3);
        settings.planning.revision.require_human_approval = pick(0, 2) == 0;
        settings.integration.max_fix_iterations = pick(0, 3);
        settings.integration.max_additional_tasks = pick(0, 4);
        settings.check_options.goal_runs = pick(1, 2);
        settings.baseline.runs = pick(1, 2);
        scenario.calls = match pick(0, 7) {
            0 => PlanningCalls::None,
            1..=3 => PlanningCalls::PerPhase,
            _ => PlanningCalls::AtOnce,
        };
        scenario.judging = if pick(0, 7) == 0 { Judging::ByChecksAlone } else { Judging::ByModel };
        scenario.person =
            if pick(0, 3) == 0 { PersonPresence::Unavailable } else { PersonPresence::Available };
        scenario.extent = if pick(0, 19) == 0 { RunExtent::PlanOnly } else { RunExtent::Whole };
        scenario.own_checks = match pick(0, 3) {
            0 => OwnChecks::None,
            1 | 2 => OwnChecks::Guard,
            _ => OwnChecks::GuardAndGoal,
        };
        scenario.reflection_interval = pick(0, 3);
        scenario.budget = match pick(0, 7) {
            0 => Allowance { model_calls: Some(u64::from(pick(1, 12))), ..Allowance::default() },
            1 => Allowance { attempts: Some(u64::from(pick(1, 4))), ..Allowance::default() },
            2 => Allowance { money: Some(MicroUsd::from_usd(1.0)), ..Allowance::default() },
            3 => Allowance { tokens: Some(200_000), ..Allowance::default() },
            _ => Allowance::default(),
        };
        scenario.unblocks = pick(0, 3) == 0;
        scenario.stops_after = (pick(0, 4) == 0).then(|| pick(1, 40) as usize);
        scenario
    }

    pub(crate) fn price() -> Price {
        let prices = &PARAMETERS.prices;
        Price {
            input_per_million: prices.call * 10.0,
            output_per_million: prices.call * 10.0,
            per_attempt: prices.attempt,
            ..Price::default()
        }
    }

    pub(crate) fn header(&self) -> JournalHeader {
        let kinds = match self.own_checks {
            OwnChecks::None => &[][..],
            OwnChecks::Guard => &[(GUARD, CheckKind::Guard)],
            OwnChecks::GuardAndGoal => &[(GUARD, CheckKind::Guard), (EVERYTHING, CheckKind::Goal)],
        };
        let placed = |(command, kind): &(&str, CheckKind)| PlacedCheck {
            check: Check::new(*command, *command, *kind),
            directory: String::new(),
        };
        let mut settings = self.settings.clone();
        settings.agent.model = Some("agent".to_string());
        settings.models.prices.insert("agent".to_string(), Self::price());
        let ranges = self.actors.goal.ranges().iter().map(|range| range.name()).collect::<Vec<_>>().join(" ");
        let spec = RunSpec {
            version: "0".to_string(),
            repository: "made-up".to_string(),
            directory: String::new(),
            goal: fixpoint_vocabulary::Redactor::default().redact(&format!("do {ranges}")),
            agent: Vec::new(),
            checks: kinds.iter().map(placed).collect(),
            base: BaseSource::WorkingTree,
            settings,
            delivery: fixpoint_vocabulary::run_spec::Delivery::Branch,
        };
        let options = PlanOptions {
            calls: self.calls,
            style: PlanningStyle { level: DecompositionLevel::Moderate, ..PlanningStyle::default() },
            reflection_interval: self.reflection_interval,
            person: self.person,
            judging: self.judging,
            extent: self.extent,
            sigma: None,
            prices: Role::ALL.into_iter().map(|role| (role, Self::price())).collect::<BTreeMap<_, _>>(),
            tools: TOOLS.map(str::to_string).to_vec(),
            guards: if self.own_checks == OwnChecks::None { BTreeSet::new() } else { BTreeSet::from([0]) },
            goals: if self.own_checks == OwnChecks::GuardAndGoal {
                BTreeSet::from([1])
            } else {
                BTreeSet::new()
            },
            test_edits: TestEdits::Checked,
        };
        let options =
            RunOptions { max_interruptions: MAX_INTERRUPTIONS, ..RunOptions::planned(options, self.budget) };
        JournalHeader { format: FORMAT, at: 0, options, spec: Some(spec) }
    }
}
