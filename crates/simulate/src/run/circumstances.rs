//! The configuration and the order of a made-up run, drawn by a seed or fixed for a scenario.

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
use super::parameters::PARAMETERS;
use super::planner::TOOLS;
#[cfg(test)]
use super::scheme::between;
use super::scheme::{EVERYTHING, GUARD};
use super::tree::OUTSIDE;
#[cfg(test)]
use crate::random::Random;

/// Crashes in a row that a simulated run survives.
const PATIENCE: u32 = 1000;

/// Everything about a made-up run that is fixed when it begins.
#[derive(Debug, Clone)]
pub(crate) struct Circumstances {
    pub(crate) cast: Actors,
    pub(crate) settings: Settings,
    pub(crate) calls: PlanningCalls,
    pub(crate) judging: Judging,
    pub(crate) person: PersonPresence,
    pub(crate) extent: RunExtent,
    pub(crate) budget: Allowance,
    /// Whether the run has a goal of its own that must pass in the end, and a guard.
    pub(crate) own: Own,
    pub(crate) reflection_interval: u32,
    /// A person gives the first blocked task another chance, once.
    pub(crate) unblocks: bool,
    /// A person stops the run after so many records, once.
    pub(crate) stops_after: Option<usize>,
}

/// The checks a run has before it is planned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Own {
    Nothing,
    Guard,
    /// A guard and a goal.
    GuardAndGoal,
}

impl Circumstances {
    /// The defaults of the product, with everybody doing what they should.
    #[cfg(test)]
    pub(crate) fn good(seed: u64) -> Self {
        Self::with(Actors::good(seed), Settings::default())
    }

    /// A cast under some settings.
    pub(crate) fn with(cast: Actors, mut settings: Settings) -> Self {
        settings.scope.denied_paths = vec![OUTSIDE.to_string()];
        Self {
            cast,
            settings,
            calls: PlanningCalls::AtOnce,
            judging: Judging::ByModel,
            person: PersonPresence::Available,
            extent: RunExtent::Whole,
            budget: Allowance::default(),
            own: Own::Guard,
            reflection_interval: 3,
            unblocks: false,
            stops_after: None,
        }
    }

    #[cfg(test)]
    pub(crate) fn drawn(seed: u64) -> Self {
        let mut random = Random::keyed(seed, "circumstances");
        let mut pick = |least, most| between([least, most], &mut random);
        let honesty = if pick(0, 3) == 0 { Honesty::Errs } else { Honesty::Honest };
        let mut drawn = Self::with(Actors::of(seed, honesty), Settings::default());
        let settings = &mut drawn.settings;
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
        drawn.calls = match pick(0, 7) {
            0 => PlanningCalls::None,
            1..=3 => PlanningCalls::PerPhase,
            _ => PlanningCalls::AtOnce,
        };
        drawn.judging = if pick(0, 7) == 0 { Judging::ByChecksAlone } else { Judging::ByModel };
        drawn.person = if pick(0, 3) == 0 { PersonPresence::Unavailable } else { PersonPresence::Available };
        drawn.extent = if pick(0, 19) == 0 { RunExtent::PlanOnly } else { RunExtent::Whole };
        drawn.own = match pick(0, 3) {
            0 => Own::Nothing,
            1 | 2 => Own::Guard,
            _ => Own::GuardAndGoal,
        };
        drawn.reflection_interval = pick(0, 3);
        drawn.budget = match pick(0, 7) {
            0 => Allowance { model_calls: Some(u64::from(pick(1, 12))), ..Allowance::default() },
            1 => Allowance { attempts: Some(u64::from(pick(1, 4))), ..Allowance::default() },
            2 => Allowance { money: Some(MicroUsd::from_usd(1.0)), ..Allowance::default() },
            3 => Allowance { tokens: Some(200_000), ..Allowance::default() },
            _ => Allowance::default(),
        };
        drawn.unblocks = pick(0, 3) == 0;
        drawn.stops_after = (pick(0, 4) == 0).then(|| pick(1, 40) as usize);
        drawn
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

    /// The header of its journal.
    pub(crate) fn header(&self) -> JournalHeader {
        let kinds = match self.own {
            Own::Nothing => &[][..],
            Own::Guard => &[(GUARD, CheckKind::Guard)],
            Own::GuardAndGoal => &[(GUARD, CheckKind::Guard), (EVERYTHING, CheckKind::Goal)],
        };
        let placed = |(command, kind): &(&str, CheckKind)| PlacedCheck {
            check: Check::new(*command, *command, *kind),
            directory: String::new(),
        };
        let mut settings = self.settings.clone();
        settings.agent.model = Some("agent".to_string());
        settings.models.prices.insert("agent".to_string(), Self::price());
        let pieces = self.cast.scheme.pieces().iter().map(|piece| piece.name()).collect::<Vec<_>>().join(" ");
        let spec = RunSpec {
            version: "0".to_string(),
            repository: "made-up".to_string(),
            directory: String::new(),
            goal: fixpoint_vocabulary::Redactor::default().redact(&format!("do {pieces}")),
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
            guards: if self.own == Own::Nothing { BTreeSet::new() } else { BTreeSet::from([0]) },
            goals: if self.own == Own::GuardAndGoal { BTreeSet::from([1]) } else { BTreeSet::new() },
            test_edits: TestEdits::Checked,
        };
        let options = RunOptions { max_interruptions: PATIENCE, ..RunOptions::planned(options, self.budget) };
        JournalHeader { format: FORMAT, at: 0, options, spec: Some(spec) }
    }
}
