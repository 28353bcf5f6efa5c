//! An accepted plan becomes the task graph, unless it holds something that must not be run.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use fixpoint_vocabulary::ask::{PersonAnswer, PersonAsk, PersonAskKind};
use fixpoint_vocabulary::work::Command;
use fixpoint_vocabulary::{Cause, Redactor};

use super::planning::Memory;
use super::{Deciding, Extent, Move, NewTask, NodeKind, Owner, PlanningCalls};
use crate::sanitising::{self, Severity};

impl Deciding<'_> {
    /// Goes on with a plan.
    pub(super) fn accept_plan(&mut self, revision: u32) {
        let Some(plan) = self.run.review.revisions.get(revision as usize).cloned() else {
            return self.end(Cause::PlanRejected);
        };
        if self.run.review.accepted.is_none() {
            self.push(Move::PlanAccepted { revision });
        }
        let findings = sanitising::findings(&plan.tasks);
        if let Some(refused) = findings.iter().find(|finding| finding.severity == Severity::Refuse) {
            self.push(Move::PlanSuspect { findings: Vec::from([refused.text()]) });
            return self.end(Cause::PlanRefused);
        }
        if findings.is_empty() {
            return self.carry_out();
        }
        let named: Vec<String> = findings.iter().map(sanitising::Finding::text).collect();
        let about = format!("the plan wants something that needs a person's consent: {}", named.join("; "));
        self.push(Move::PlanSuspect { findings: named });
        let (about, kind) = (Redactor::default().redact(&about), PersonAskKind::Approval);
        let within = self.run.settings().map_or(1, |settings| settings.planning.revision.approval_timeout);
        let asked = PersonAsk { about, questions: Vec::new(), kind, within };
        self.begin(Owner::Review, Command::AskPerson(asked));
    }

    /// A person was asked about what the plan wants.
    pub(super) fn with_consent(&mut self, answer: &PersonAnswer) {
        match answer {
            PersonAnswer::Approved { .. } => self.carry_out(),
            PersonAnswer::Refused { .. } | PersonAnswer::Said(_) => self.end(Cause::ApprovalRefused),
            PersonAnswer::Nobody => self.end(Cause::ApprovalTimeout),
        }
    }

    /// The tasks of the accepted plan enter the graph.
    pub(super) fn carry_out(&mut self) {
        let Some(order) = self.run.plan_order() else { return };
        let (extent, calls) = (order.extent, order.calls);
        let Some(plan) = self.run.review.plan().cloned() else { return self.end(Cause::PlanRejected) };
        let settings = self.run.settings();
        let is_remembered = settings.is_some_and(|settings| settings.planning.cache.enabled)
            && calls != PlanningCalls::None
            && self.run.planning.memory != Memory::NotAsked;
        if is_remembered {
            self.begin(Owner::Planning, Command::KeepPlan);
        }
        match extent {
            Extent::PlanOnly if is_remembered => {}
            Extent::PlanOnly => self.end(Cause::Done),
            Extent::Whole => {
                let new = |task| NewTask { task, kind: NodeKind::Planned, lineage: None, ground: None };
                self.push(Move::TasksAdded { tasks: plan.tasks.into_iter().map(new).collect() });
            }
        }
    }
}
