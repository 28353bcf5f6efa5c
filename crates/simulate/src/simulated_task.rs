//! The result of a simulated task, and the comparison of two results.
//!
//! Owns what is compared: the end, the results, every verdict and every decision, without the recorded interruptions,
//! the numbers of records and the times.

use core::fmt;

use fixpoint_decide::run::Decision;
use fixpoint_decide::task_run::JudgedAttempt;
use fixpoint_engine::{EngineExit, Record, RecordedRun};
use fixpoint_vocabulary::work::{CommandEnd, CommandResult, Event};

use crate::executor::CheckCost;

/// A decision on record, without its number and its time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LoggedDecision {
    /// The end of the command that led to it.
    pub(crate) end: Option<CommandEnd>,
    pub(crate) decision: Decision,
}

#[derive(Debug, Clone, PartialEq)]
pub struct SimulatedTask {
    pub ending: EngineExit,
    /// The commits of its attempts, in order.
    pub results: Vec<String>,
    pub attempts: u32,
    pub(crate) decisions: Vec<LoggedDecision>,
    pub(crate) cost: CheckCost,
}

/// The first difference between two runs of the same task: a defect of the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    EngineExit,
    /// The commits of their attempts.
    Results,
    Verdict {
        /// Which verdict, from 0.
        place: usize,
    },
    Decision {
        /// Which decision, from 0, without interruptions.
        place: usize,
    },
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EngineExit => formatter.write_str("the task ended otherwise"),
            Self::Results => formatter.write_str("the attempts came to other commits"),
            Self::Verdict { place } => write!(formatter, "verdict {place} is another one"),
            Self::Decision { place } => write!(formatter, "decision {place} is another one"),
        }
    }
}

impl SimulatedTask {
    pub(crate) fn new(
        ending: EngineExit,
        results: Vec<String>,
        recorded: RecordedRun,
        cost: CheckCost,
    ) -> Self {
        let is_attempt = |record: &&Record| {
            matches!(
                &record.event,
                Event::Ended { end: CommandEnd::Completed(CommandResult::Attempt(_)), .. }
            )
        };
        let attempts = recorded.records.iter().filter(is_attempt).count();
        let attempts = u32::try_from(attempts).unwrap_or(u32::MAX);
        Self { ending, results, attempts, decisions: logged_decisions(recorded), cost }
    }

    pub fn verdicts(&self) -> impl Iterator<Item = &JudgedAttempt> {
        let decisions = self.decisions.iter().flat_map(|logged| logged.decision.task_decisions());
        decisions.filter_map(|(_, decision)| decision.judged.as_ref())
    }

    pub fn difference(&self, other: &Self) -> Option<Difference> {
        if self.ending != other.ending {
            return Some(Difference::EngineExit);
        }
        if self.results != other.results {
            return Some(Difference::Results);
        }
        let verdict = first_difference(self.verdicts(), other.verdicts());
        let decision = || first_difference(self.decisions.iter(), other.decisions.iter());
        let in_verdict = verdict.map(|place| Difference::Verdict { place });
        in_verdict.or_else(|| decision().map(|place| Difference::Decision { place }))
    }
}

fn first_difference<T: PartialEq>(
    mut some: impl Iterator<Item = T>,
    mut others: impl Iterator<Item = T>,
) -> Option<usize> {
    let mut place = 0;
    loop {
        match (some.next(), others.next()) {
            (None, None) => return None,
            (one, other) if one != other => return Some(place),
            (_, _) => place += 1,
        }
    }
}

/// All recorded decisions but those of interruptions: lost commands, and stops with the resumption after them.
pub(crate) fn logged_decisions(recorded: RecordedRun) -> Vec<LoggedDecision> {
    let mut is_stopped = false;
    let mut decisions = Vec::with_capacity(recorded.records.len());
    for record in recorded.records {
        let end = match record.event {
            Event::Ended { end: CommandEnd::Lost, .. } => continue,
            Event::StopRequested => {
                is_stopped = true;
                continue;
            }
            Event::Resumed { .. } if is_stopped => {
                is_stopped = false;
                continue;
            }
            Event::Ended { end, .. } => Some(end),
            Event::Started | Event::Resumed { .. } => None,
        };
        decisions.push(LoggedDecision { end, decision: record.decision });
    }
    decisions
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Agent, Project, World, simulate_task};
    use fixpoint_decide::run::{Change, TaskChange};
    use fixpoint_vocabulary::Cause;

    /// Catches a comparison that overlooks one of its parts.
    #[test]
    fn each_difference_is_found() {
        let one = simulate_task(&Project::new(1, Agent::Fixes, World::Plain)).unwrap();
        assert_eq!(one.difference(&one.clone()), None);
        let mut other = one.clone();
        other.ending = EngineExit::Paused(Cause::Waiting);
        assert_eq!(one.difference(&other), Some(Difference::EngineExit));
        let mut other = one.clone();
        other.results.pop();
        assert_eq!(one.difference(&other), Some(Difference::Results));
        let mut other = one.clone();
        let mut moves = other.decisions.iter_mut().flat_map(|logged| &mut logged.decision.changes);
        let judged = moves.find_map(|step| {
            if let Change::Task(TaskChange::Decided { decision, .. }) = step {
                decision.judged.as_mut()
            } else {
                None
            }
        });
        judged.unwrap().stage += 1;
        assert_eq!(one.difference(&other), Some(Difference::Verdict { place: 0 }));
        let mut other = one.clone();
        other.decisions.truncate(2);
        other.decisions.extend(one.decisions.iter().skip(3).cloned());
        assert_eq!(one.difference(&other), Some(Difference::Decision { place: 2 }));
    }
}
