//! The plan cache: whether it is used, what a lookup means, and which plan is stored.

use fixpoint_vocabulary::ask::SavedPlan;
use fixpoint_vocabulary::work::{CachedPlanMatch, Command};

use super::planning::{CachedPlan, PlanningChange};
use super::{Owner, PlanningCalls, Run, Transition};
use crate::plan_shape;
use crate::prelude::*;

impl Run {
    /// Whether plans of this run are looked up and stored.
    pub(super) fn is_plan_cached(&self) -> bool {
        let is_planned = self.plan_options().is_some_and(|options| options.calls != PlanningCalls::None);
        is_planned && self.settings().is_some_and(|settings| settings.planning.cache.enabled)
    }

    /// The accepted plan, as it is stored.
    pub(super) fn plan_to_store(&self) -> Option<SavedPlan> {
        let plan = self.review.plan()?;
        Some(SavedPlan {
            goal: self.spec.as_ref()?.goal.clone(),
            understanding: self.planning.understanding.clone().unwrap_or_default(),
            tasks: plan.tasks.clone(),
            actions: plan.actions.clone(),
        })
    }
}

impl Transition<'_> {
    pub(super) fn with_cached_plan(&mut self, found: &CachedPlanMatch) {
        let (draft, exact) = match found {
            CachedPlanMatch::Nothing => (None, None),
            CachedPlanMatch::Near(draft) => (Some(draft), None),
            CachedPlanMatch::Exact(draft) => (Some(draft), Some(draft)),
        };
        self.push(PlanningChange::CacheLookedUp { draft: draft.cloned().map(Box::new) });
        let Some(plan) = exact else { return };
        let bounds = self.run.plan_bounds(0);
        let is_sound = plan_shape::problem_of_tasks(&plan.tasks, bounds).is_none()
            && plan_shape::problem_of_actions(&plan.actions, &plan.tasks, bounds).is_none();
        if is_sound {
            self.push(PlanningChange::Understood { understanding: plan.understanding.clone() });
            self.planned(plan.tasks.clone(), plan.actions.clone());
        }
    }

    /// Stores the accepted plan, and says whether anything is stored.
    pub(super) fn is_plan_stored(&mut self) -> bool {
        let is_stored = self.run.is_plan_cached() && self.run.planning.cached != CachedPlan::NotLookedUp;
        if is_stored {
            self.begin(Owner::Planning, Command::StorePlan);
        }
        is_stored
    }
}
