//! Delivering the result: whether there is something to deliver and how, and the outcome.
//!
//! Delivery is a command like any other: decided and recorded here, executed once, and repeated after a crash, which
//! changes nothing where it was done already. Invariant: a run that has something to deliver ends only after that.

use fixpoint_vocabulary::run_spec::Delivery;
use fixpoint_vocabulary::work::{Base, Command, CommandResult, DeliverCommand, Delivered};
use fixpoint_vocabulary::{Cause, Lang, Redacted, Redactor};
use serde::{Deserialize, Serialize};

use super::{Owner, Run, TaskSource, Transition};
use crate::prelude::*;
use crate::task_run::{TaskRun, TaskStatus, described};

/// Characters of the first line of a commit message.
const LONGEST_SUBJECT: usize = 71;
/// Permitted changes that a commit message names.
const MOST_CHANGES: usize = 20;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryChange {
    /// The result is being delivered.
    Started {
        /// How the run ends afterwards.
        cause: Cause,
    },
    /// The result was delivered.
    Finished { delivered: Delivered },
}

impl Run {
    pub(super) fn apply_delivery(&mut self, change: &DeliveryChange) {
        if let DeliveryChange::Finished { delivered } = change {
            self.last_delivered.clone_from(&delivered.commit);
        }
        self.delivery = Some(change.clone());
    }

    /// There may be another result than the one that was delivered, or was about to be.
    pub(super) fn reopen_delivery(&mut self) {
        self.delivery = None;
        self.deferred.retain(|deferred| deferred.owner != Owner::Delivery);
    }

    pub const fn delivered(&self) -> Option<&Delivered> {
        match &self.delivery {
            Some(DeliveryChange::Finished { delivered }) => Some(delivered),
            Some(DeliveryChange::Started { .. }) | None => None,
        }
    }

    pub(super) const fn is_delivering(&self) -> bool {
        matches!(self.delivery, Some(DeliveryChange::Started { .. }))
    }

    /// The base and the result of a run that is to end with a cause, where it has a result to deliver.
    fn deliverable(&self, cause: Cause) -> Option<(&Base, &Base)> {
        if !matches!(cause, Cause::Done | Cause::Partial | Cause::JudgeUnavailable) {
            return None;
        }
        let (base, result) = match &self.options.tasks {
            TaskSource::Given(_) => {
                let task = self.tasks().find_map(|node| node.run.as_ref())?;
                (task.baseline().base.as_ref()?, task.result()?)
            }
            TaskSource::Planned(_) => (self.planning.base.as_ref()?, self.result()?),
        };
        (result.commit != base.commit).then_some((base, result))
    }

    /// How a result is delivered. A partial result is not merged into the user's branch.
    fn deliver_command(&self, cause: Cause) -> Option<DeliverCommand> {
        let (base, result) = self.deliverable(cause)?;
        let delivery = match &self.spec.as_ref()?.delivery {
            Delivery::Nothing => return None,
            Delivery::Into(_) if cause != Cause::Done => Delivery::Branch,
            delivery @ (Delivery::Branch | Delivery::Into(_) | Delivery::Patch(_)) => delivery.clone(),
        };
        let (base, result) = (base.commit.clone(), result.commit.clone());
        let (message, replaces) = (self.commit_message(cause), self.last_delivered.clone());
        Some(DeliverCommand { base, result, delivery, message, replaces })
    }

    /// What the history says of the result: what was asked for, what shows that it is done, and what is missing.
    fn commit_message(&self, cause: Cause) -> Redacted {
        let is_done = |run: &&TaskRun| run.status() == TaskStatus::Ended { cause: Cause::Done };
        let done = || self.tasks().filter_map(|node| node.run.as_ref()).filter(is_done);
        let goal = self.spec.as_ref().map(|spec| spec.goal.as_str()).unwrap_or_default();
        let mut lines = Vec::from([subject(goal), String::new()]);
        let caveats = [
            (Cause::Partial, "This is a part of what was asked for: not every task is done."),
            (Cause::JudgeUnavailable, "The result as a whole was not judged."),
        ];
        let caveat = caveats.iter().find(|(of, _)| *of == cause);
        lines.extend(caveat.map(|(_, words)| (*words).to_string()));
        // Of several tasks the weakest proof.
        let proof = done().map(TaskRun::proof).max();
        lines.extend(proof.map(|proof| format!("Proof: {}.", proof.text().in_lang(Lang::En))));
        let permitted: BTreeSet<String> =
            done().flat_map(|run| run.permitted_changes().iter().map(described)).collect();
        let more = permitted.len().saturating_sub(MOST_CHANGES);
        let shown = permitted.into_iter().take(MOST_CHANGES);
        lines.extend(shown.map(|change| format!("Changed with permission: {change}")));
        lines
            .extend((more > 0).then(|| format!("Changed with permission: {more} more, see `fixpoint show`")));
        Redactor::default().redact(&lines.join("\n"))
    }
}

/// The beginning of the first line of a goal, without what a terminal would obey.
fn subject(goal: &str) -> String {
    let first = goal.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("Result of a run");
    let harmless = first.chars().map(|char| if char.is_control() { ' ' } else { char });
    let mut subject: String = harmless.take(LONGEST_SUBJECT).collect();
    if first.chars().nth(LONGEST_SUBJECT).is_some() {
        subject.push('…');
    }
    subject
}

impl Transition<'_> {
    /// Ends the run, after its result was delivered.
    pub(super) fn conclude(&mut self, cause: Cause) {
        match self.run.deliver_command(cause) {
            Some(deliver) => {
                self.push(DeliveryChange::Started { cause });
                self.begin(Owner::Delivery, Command::Deliver(deliver));
            }
            None => self.end(cause),
        }
    }

    pub(super) fn with_delivery(&mut self, result: &CommandResult) {
        let (CommandResult::Delivered(delivered), Some(DeliveryChange::Started { cause })) =
            (result, &self.run.delivery)
        else {
            return;
        };
        let cause = *cause;
        self.push(DeliveryChange::Finished { delivered: delivered.clone() });
        self.end(cause);
    }
}
