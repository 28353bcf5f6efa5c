//! A loss of power anywhere in a whole run, and whether the run comes to the same as if nothing had been.
//!
//! Owns what counts as the same. What is under way ends in an order that depends on nothing but what is under way, and
//! a restart begins the same again; so everything is compared: how it ended, what every task came to and why, the plan
//! that was accepted, and every decision in its order, apart from the interruptions themselves and the numbers of
//! records. Questions to models are counted: none that is on record is put again, one that was under way is put once
//! more, and counts.

use fixpoint_decide::run::{Decision, Run, TaskNode};
use fixpoint_engine::{EngineExit, Record, RecordedRun};
use fixpoint_vocabulary::work::{Base, Command, CommandEnd, CommandResult, Event};
use fixpoint_vocabulary::{Cause, TaskId, TaskState};

use super::simulator::SimulatedRun;

/// One thing that happened, without its number and its time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Happening {
    result: Option<CommandResult>,
    decision: Decision,
}

/// What a run came to, as far as a crash must not change it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Course {
    pub(crate) ending: EngineExit,
    pub(crate) accepted: Option<u32>,
    pub(crate) tasks: Vec<(TaskId, TaskState, Option<Cause>, Option<Base>)>,
    pub(crate) happenings: Vec<Happening>,
}

impl Course {
    /// What a run came to.
    pub(crate) fn of(played: &SimulatedRun) -> Self {
        let task = |node: &TaskNode| (node.id().clone(), node.state, node.cause, node.result().cloned());
        Self {
            ending: played.ending,
            accepted: played.run.review().accepted,
            tasks: played.run.tasks().map(task).collect(),
            happenings: happenings(&played.recorded),
        }
    }

    /// The first thing in which another course differs.
    pub(crate) fn difference(&self, other: &Self) -> Option<String> {
        if self.ending != other.ending {
            return Some(format!("it ended as {:?} instead of {:?}", other.ending, self.ending));
        }
        if self.accepted != other.accepted {
            return Some("another plan was accepted".to_string());
        }
        if self.tasks != other.tasks {
            return Some(format!("tasks came to {:?} instead of {:?}", other.tasks, self.tasks));
        }
        let pairs = self.happenings.iter().zip(&other.happenings);
        let place = pairs.take_while(|(one, another)| one == another).count();
        let (one, another) = (self.happenings.get(place), other.happenings.get(place));
        (one.is_some() || another.is_some())
            .then(|| format!("decision {place} is {another:#?} instead of {one:#?}"))
    }
}

/// Everything on record but interruptions.
fn happenings(recorded: &RecordedRun) -> Vec<Happening> {
    let mut happenings = Vec::new();
    for record in &recorded.records {
        let result = match &record.event {
            Event::Ended { end: CommandEnd::Lost, .. } => continue,
            Event::Ended { end: CommandEnd::Completed(result), .. } => Some(result.clone()),
            Event::Ended { end: CommandEnd::Failed { .. } | CommandEnd::Cancelled, .. }
            | Event::Started
            | Event::StopRequested
            | Event::Resumed { .. } => None,
        };
        happenings.push(Happening { result, decision: record.decision.clone() });
    }
    happenings
}

/// Questions to models under way where a record ends.
pub(crate) fn asks_under_way(run: &Run) -> u64 {
    run.in_flight().filter(|(.., command)| matches!(command, Command::Ask(_))).count() as u64
}

/// Questions to models that a record knows of, repeated ones included.
pub(crate) fn asks_on_record(recorded: &RecordedRun) -> u64 {
    commands_on_record(recorded, |command| matches!(command, Command::Ask(_)))
}

/// Deliveries that a record knows of, repeated ones included.
pub(crate) fn deliveries_on_record(recorded: &RecordedRun) -> u64 {
    commands_on_record(recorded, |command| matches!(command, Command::Deliver(_)))
}

fn commands_on_record(recorded: &RecordedRun, is_it: impl Fn(&Command) -> bool) -> u64 {
    let commands =
        |record: &Record| record.decision.commands(0).filter(|(.., command)| is_it(command)).count();
    recorded.records.iter().map(|record| commands(record) as u64).sum()
}
