//! An accepted plan becomes the task graph, unless it contains something that must not be executed.

use fixpoint_vocabulary::Cause;
use fixpoint_vocabulary::ask::PersonAnswer;

use super::{NewTask, Owner, PlanReviewChange, RunExtent, TaskChange, TaskKind, Transition};
use crate::prelude::*;
use crate::sanitising::{self, Severity};

impl Transition<'_> {
    /// Executes a plan, or asks a person first.
    pub(super) fn accept_plan(&mut self, revision: u32) {
        let Some(plan) = self.run.review.revisions.get(revision as usize) else {
            return self.end(Cause::PlanRejected);
        };
        let findings = sanitising::risky_commands(&plan.tasks);
        if self.run.review.accepted.is_none() {
            self.push(PlanReviewChange::Accepted { revision });
        }
        if let Some(refused) = findings.iter().find(|finding| finding.severity == Severity::Refuse) {
            self.push(PlanReviewChange::Flagged { findings: Vec::from([refused.text()]) });
            return self.end(Cause::PlanRefused);
        }
        if findings.is_empty() {
            return self.execute_plan();
        }
        let named: Vec<String> = findings.iter().map(sanitising::RiskyCommand::text).collect();
        let about = format!("the plan contains steps that need your approval: {}", named.join("; "));
        self.push(PlanReviewChange::Flagged { findings: named });
        let within = self.run.settings().map_or(1, |settings| settings.planning.revision.approval_timeout);
        self.ask_approval(Owner::PlanReview, &about, within);
    }

    pub(super) fn with_plan_approval(&mut self, answer: &PersonAnswer) {
        match answer {
            PersonAnswer::Approved { .. } => self.execute_plan(),
            PersonAnswer::Refused { .. } | PersonAnswer::Said(_) => self.end(Cause::ApprovalRefused),
            PersonAnswer::Nobody => self.end(Cause::ApprovalTimeout),
        }
    }

    /// The tasks of the accepted plan enter the graph.
    fn execute_plan(&mut self) {
        let Some(extent) = self.run.plan_options().map(|options| options.extent) else { return };
        let Some(tasks) = self.run.review.plan().map(|plan| plan.tasks.clone()) else {
            return self.end(Cause::PlanRejected);
        };
        let is_stored = self.is_plan_stored();
        match extent {
            RunExtent::PlanOnly if is_stored => {}
            RunExtent::PlanOnly => self.end(Cause::Done),
            RunExtent::Whole => {
                let new = |task| NewTask::new(task, TaskKind::Planned);
                self.push(TaskChange::Added { tasks: tasks.into_iter().map(new).collect() });
            }
        }
    }
}
