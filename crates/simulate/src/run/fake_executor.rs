//! Executes the commands of a simulated run: several in flight at once, which end in another order than they began.
//!
//! The order depends only on what is in flight, so that it is the same after a crash. Invariant: how often a command has
//! ended follows from the record alone.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use fixpoint_decide::run::Run;
use fixpoint_engine::{Record, RecordedRun};
use fixpoint_journal::FaultyDisk;
use fixpoint_ports::{Executor, Outbox};
use fixpoint_vocabulary::prepared::{PreparedAction, PreparedCommand};
use fixpoint_vocabulary::work::{CommandEnd, CommandId, Event};

use super::actors::Actors;
use super::commands::key_of;
use crate::executor::EndReports;
use crate::random::Random;

/// In which order commands end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndOrder {
    /// One after the other, in random order.
    Shuffled,
    /// In the order they began, several at once, which the engine writes with one flush.
    #[cfg_attr(not(test), expect(dead_code, reason = "only the tests have commands end together"))]
    Together { most: usize },
}

#[derive(Debug, Clone)]
pub(crate) struct ExecutorFaults {
    pub(crate) end_reports: EndReports,
    pub(crate) order: EndOrder,
    /// Power is lost after so many commands were started, before the others of the same batch are.
    pub(crate) dies_after: Option<u64>,
}

impl From<EndReports> for ExecutorFaults {
    fn from(end_reports: EndReports) -> Self {
        Self { end_reports, order: EndOrder::Shuffled, dies_after: None }
    }
}

#[derive(Debug)]
struct InFlight {
    id: CommandId,
    order: u64,
    end: CommandEnd,
}

/// What was executed so far; survives a crash.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Executed {
    pub(crate) asks: u64,
    pub(crate) attempts: u64,
    pub(crate) started: u64,
    pub(crate) last: Option<CommandId>,
    /// The branch delivered to the user's repository.
    pub(crate) branch: Option<String>,
}

#[derive(Debug)]
pub(crate) struct FakeExecutor {
    actors: Actors,
    faults: ExecutorFaults,
    outbox: Outbox,
    disk: FaultyDisk,
    ended: BTreeMap<String, u32>,
    begun: BTreeMap<CommandId, String>,
    in_flight: Vec<InFlight>,
    /// Commands whose ends were reported and are not on record yet.
    reported: Vec<CommandId>,
    /// Commands of a decision that are not started yet.
    expected: usize,
    /// Commands lost in a restart that are not on record as lost yet.
    lost: usize,
    pub(crate) executed: Executed,
}

impl FakeExecutor {
    pub(crate) fn new(actors: Actors, faults: ExecutorFaults, outbox: Outbox, disk: FaultyDisk) -> Self {
        Self {
            actors,
            faults,
            outbox,
            disk,
            ended: BTreeMap::new(),
            begun: BTreeMap::new(),
            in_flight: Vec::new(),
            reported: Vec::new(),
            expected: 0,
            lost: 0,
            executed: Executed::default(),
        }
    }

    /// Counts what has ended by a record; what is in flight there is lost.
    pub(crate) fn restore(&mut self, recorded: &RecordedRun, run: &Run) {
        for (seq, record) in (1u64..).zip(&recorded.records) {
            self.note(seq, record);
        }
        self.lost = run.in_flight().count();
    }

    fn note(&mut self, seq: u64, record: &Record) {
        if let Event::Ended { command, end: CommandEnd::Completed(_) | CommandEnd::Failed { .. }, .. } =
            &record.event
            && let Some(key) = self.begun.get(command)
        {
            *self.ended.entry(key.clone()).or_default() += 1;
        }
        for (id, owner, command) in record.decision.commands(seq) {
            self.begun.insert(id, key_of(owner.task(), command));
        }
    }

    /// Called when records are on the disk. If they begin nothing, another command ends.
    pub(crate) fn recorded(&mut self, seq: u64, records: &[Record], run: &Run) {
        for (seq, record) in (seq..).zip(records) {
            self.note(seq, record);
            if let Event::Ended { command, end, .. } = &record.event {
                self.lost = self.lost.saturating_sub(usize::from(*end == CommandEnd::Lost));
                self.reported.retain(|reported| reported != command);
            }
            self.expected += record.decision.commands(seq).filter(|(id, ..)| run.is_in_flight(*id)).count();
        }
        if self.expected == 0 {
            self.end_some();
        }
    }

    /// Ends commands, unless a reported end is not on record yet.
    fn end_some(&mut self) {
        if !self.reported.is_empty() || self.lost > 0 {
            return;
        }
        let most = match self.faults.order {
            EndOrder::Shuffled => 1,
            EndOrder::Together { most } => most,
        };
        self.in_flight.sort_by_key(|command| (command.order, command.id));
        let ending: Vec<InFlight> = self.in_flight.drain(..most.min(self.in_flight.len())).collect();
        self.reported = ending.iter().map(|command| command.id).collect();
        let (other, took) = (CommandId { seq: 0, index: 7 }, Duration::from_millis(1));
        for command in ending {
            let end = (command.id, command.end);
            self.faults.end_reports.send(&self.outbox, end, Some(other), took);
        }
    }

    fn start(&mut self, id: CommandId, command: &PreparedCommand) {
        if self.faults.dies_after == Some(self.executed.started) {
            // The next write of the engine fails.
            self.disk.lose_power_after(0, fixpoint_journal::Residue::Short);
            self.outbox.send(Event::StopRequested);
            return;
        }
        let key = self.begun.get(&id).cloned().unwrap_or_default();
        let before = self.ended.get(&key).copied().unwrap_or(0);
        let end = self.actors.execute(&key, command, before);
        self.count(id, command);
        let order = match self.faults.order {
            EndOrder::Shuffled => {
                Random::keyed(self.actors.goal.seed, &format!("order {before} {key}")).next_u64()
            }
            EndOrder::Together { .. } => 0,
        };
        self.in_flight.push(InFlight { id, order, end });
        self.expected = self.expected.saturating_sub(1);
        if self.expected == 0 {
            self.end_some();
        }
    }

    fn count(&mut self, id: CommandId, command: &PreparedCommand) {
        self.executed.started += 1;
        self.executed.last = Some(id);
        self.executed.asks += u64::from(matches!(command.action, PreparedAction::Ask(_)));
        self.executed.attempts += u64::from(matches!(command.action, PreparedAction::RunAttempt(_)));
        if let PreparedAction::Deliver(order) = &command.action {
            self.executed.branch = Some(order.result.to_string());
        }
    }
}

#[derive(Debug)]
pub(crate) struct SharedExecutor(pub(crate) Rc<RefCell<FakeExecutor>>);

impl Executor for SharedExecutor {
    fn start(&mut self, id: CommandId, command: PreparedCommand) {
        self.0.borrow_mut().start(id, &command);
    }

    fn cancel(&mut self, id: CommandId) {
        self.0.borrow_mut().in_flight.retain(|command| command.id != id);
    }
}
