//! What a simulated task came to, and whether two of them came to the same.
//!
//! Owns what counts as the same: the end, the results, every verdict and every decision, apart from the interruptions
//! that are on record. Numbers of records and the times of day are not compared.

use core::fmt;

use fixpoint_decide::run::Decision;
use fixpoint_decide::task_run::JudgedAttempt;
use fixpoint_engine::{EngineExit, Record, RecordedRun};
use fixpoint_vocabulary::work::{CommandEnd, CommandResult, Event};

use crate::performer::Cost;

/// One thing that happened, without its number and its time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Happening {
    /// How a command ended, if it was that.
    pub(crate) end: Option<CommandEnd>,
    pub(crate) decision: Decision,
}

/// How a simulated task ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    pub ending: EngineExit,
    /// The commits its attempts came to, in order.
    pub results: Vec<String>,
    pub attempts: u32,
    pub(crate) happenings: Vec<Happening>,
    pub(crate) cost: Cost,
}

/// In what two runs of the same task differ: a defect of the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Disagreement {
    EngineExit,
    /// Their attempts came to other commits.
    Results,
    /// An attempt was judged otherwise.
    Verdict {
        /// Which judgement, from 0.
        place: usize,
    },
    /// Something else was decided or heard.
    Decision {
        /// Which decision, from 0, interruptions left out.
        place: usize,
    },
}

impl fmt::Display for Disagreement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EngineExit => formatter.write_str("the task ended otherwise"),
            Self::Results => formatter.write_str("the attempts came to other commits"),
            Self::Verdict { place } => write!(formatter, "verdict {place} is another one"),
            Self::Decision { place } => write!(formatter, "decision {place} is another one"),
        }
    }
}

impl Finished {
    pub(crate) fn of(ending: EngineExit, results: Vec<String>, recorded: RecordedRun, cost: Cost) -> Self {
        let is_attempt = |record: &&Record| {
            matches!(
                &record.event,
                Event::Ended { end: CommandEnd::Completed(CommandResult::Attempt(_)), .. }
            )
        };
        let attempts = recorded.records.iter().filter(is_attempt).count();
        let attempts = u32::try_from(attempts).unwrap_or(u32::MAX);
        Self { ending, results, attempts, happenings: happenings(recorded), cost }
    }

    /// The verdicts on its attempts, in order.
    pub fn verdicts(&self) -> impl Iterator<Item = &JudgedAttempt> {
        let decisions = self.happenings.iter().flat_map(|happening| happening.decision.task_decisions());
        decisions.filter_map(|(_, decision)| decision.judged.as_ref())
    }

    /// The first thing in which another run of the same task differs.
    pub fn disagreement(&self, other: &Self) -> Option<Disagreement> {
        if self.ending != other.ending {
            return Some(Disagreement::EngineExit);
        }
        if self.results != other.results {
            return Some(Disagreement::Results);
        }
        let verdict = first_difference(self.verdicts(), other.verdicts());
        let decision = || first_difference(self.happenings.iter(), other.happenings.iter());
        let in_verdict = verdict.map(|place| Disagreement::Verdict { place });
        in_verdict.or_else(|| decision().map(|place| Disagreement::Decision { place }))
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

/// Everything on record but interruptions: commands that were lost, and stops with the going on after them.
fn happenings(recorded: RecordedRun) -> Vec<Happening> {
    let mut is_stopped = false;
    let mut happenings = Vec::with_capacity(recorded.records.len());
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
        happenings.push(Happening { end, decision: record.decision });
    }
    happenings
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
        assert_eq!(one.disagreement(&one.clone()), None);
        let mut other = one.clone();
        other.ending = EngineExit::Paused(Cause::Waiting);
        assert_eq!(one.disagreement(&other), Some(Disagreement::EngineExit));
        let mut other = one.clone();
        other.results.pop();
        assert_eq!(one.disagreement(&other), Some(Disagreement::Results));
        let mut other = one.clone();
        let mut moves = other.happenings.iter_mut().flat_map(|happening| &mut happening.decision.changes);
        let judged = moves.find_map(|step| {
            if let Change::Task(TaskChange::Decided { decision, .. }) = step {
                decision.judged.as_mut()
            } else {
                None
            }
        });
        judged.unwrap().stage += 1;
        assert_eq!(one.disagreement(&other), Some(Disagreement::Verdict { place: 0 }));
        let mut other = one.clone();
        other.happenings.truncate(2);
        other.happenings.extend(one.happenings.iter().skip(3).cloned());
        assert_eq!(one.disagreement(&other), Some(Disagreement::Decision { place: 2 }));
    }
}
