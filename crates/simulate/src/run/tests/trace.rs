//! What a loss of power must not change in a run.
//!
//! Commands in flight end in an order that depends only on what is in flight, and a restart begins the same commands
//! again; so everything is compared: the end, the state and cause of every task, the accepted plan, and every decision
//! in its order, without interruptions and numbers of records. Questions to models are counted: a recorded answer is
//! not asked for again; a question that was in flight is asked once more, and counts.

use fixpoint_decide::run::{Run, TaskNode};
use fixpoint_engine::{EngineExit, Record, RecordedRun};
use fixpoint_vocabulary::work::{Base, Command};
use fixpoint_vocabulary::{Cause, TaskId, TaskState};

use crate::run::simulator::SimulatedRun;
use crate::simulated_task::{LoggedDecision, logged_decisions};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RunTrace {
    pub(crate) ending: EngineExit,
    pub(crate) accepted: Option<u32>,
    pub(crate) tasks: Vec<(TaskId, TaskState, Option<Cause>, Option<Base>)>,
    pub(crate) decisions: Vec<LoggedDecision>,
}

impl RunTrace {
    pub(crate) fn of(simulated: &SimulatedRun) -> Self {
        let task = |node: &TaskNode| (node.id().clone(), node.state, node.cause, node.result().cloned());
        Self {
            ending: simulated.ending,
            accepted: simulated.run.review().accepted,
            tasks: simulated.run.tasks().map(task).collect(),
            decisions: logged_decisions(simulated.recorded.clone()),
        }
    }

    pub(crate) fn difference(&self, other: &Self) -> Option<String> {
        if self.ending != other.ending {
            return Some(format!("it ended as {:?} instead of {:?}", other.ending, self.ending));
        }
        if self.accepted != other.accepted {
            return Some("another plan was accepted".to_string());
        }
        if self.tasks != other.tasks {
            return Some(format!("tasks are {:?} instead of {:?}", other.tasks, self.tasks));
        }
        let pairs = self.decisions.iter().zip(&other.decisions);
        let place = pairs.take_while(|(one, another)| one == another).count();
        let (one, another) = (self.decisions.get(place), other.decisions.get(place));
        (one.is_some() || another.is_some())
            .then(|| format!("decision {place} is {another:#?} instead of {one:#?}"))
    }
}

/// Questions to models in flight.
pub(crate) fn asks_in_flight(run: &Run) -> u64 {
    run.in_flight().filter(|(.., command)| matches!(command, Command::Ask(_))).count() as u64
}

/// Questions to models on record, with repeated ones.
pub(crate) fn asks_on_record(recorded: &RecordedRun) -> u64 {
    commands_on_record(recorded, |command| matches!(command, Command::Ask(_)))
}

/// Deliveries on record, with repeated ones.
pub(crate) fn deliveries_on_record(recorded: &RecordedRun) -> u64 {
    commands_on_record(recorded, |command| matches!(command, Command::Deliver(_)))
}

fn commands_on_record(recorded: &RecordedRun, is_it: impl Fn(&Command) -> bool) -> u64 {
    let commands =
        |record: &Record| record.decision.commands(0).filter(|(.., command)| is_it(command)).count();
    recorded.records.iter().map(|record| commands(record) as u64).sum()
}
