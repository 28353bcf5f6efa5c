//! Executes the commands of a made-up run: several in flight at once, which end in an order of their own.
//!
//! The order depends on nothing but what is in flight, so that it is the same again after a crash. Invariant: how often a
//! command has come to an end is known from the record alone.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use fixpoint_decide::run::Run;
use fixpoint_engine::{Record, RecordedRun};
use fixpoint_journal::FaultyDisk;
use fixpoint_ports::{Executor, Outbox};
use fixpoint_vocabulary::Redacted;
use fixpoint_vocabulary::prepared::{PreparedAction, PreparedCommand};
use fixpoint_vocabulary::work::{CommandEnd, CommandId, Event};

use super::stage::{Stage, key_of};
use crate::performer::Manners;
use crate::random::Random;

/// In which order commands end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndOrder {
    /// One after the other, seldom in the order in which they began.
    Shuffled,
    /// As they began, several at once: what the engine writes with one flush.
    #[cfg_attr(not(test), expect(dead_code, reason = "only the tests have commands end together"))]
    Together { most: usize },
}

/// What goes wrong with an executor, beside its commands.
#[derive(Debug, Clone)]
pub(crate) struct Conduct {
    pub(crate) manners: Manners,
    pub(crate) order: EndOrder,
    /// The machine dies after so many commands were started, before the others of the same batch are.
    pub(crate) dies_after: Option<u64>,
}

impl From<Manners> for Conduct {
    fn from(manners: Manners) -> Self {
        Self { manners, order: EndOrder::Shuffled, dies_after: None }
    }
}

#[derive(Debug)]
struct InFlight {
    id: CommandId,
    order: u64,
    end: CommandEnd,
}

/// What was executed so far, for whoever looks at it after a crash.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Performed {
    pub(crate) asks: u64,
    pub(crate) attempts: u64,
    pub(crate) started: u64,
    /// The last command that was started.
    pub(crate) last: Option<CommandId>,
    /// The branch that holds the result, as the user's repository has it.
    pub(crate) branch: Option<String>,
}

/// Executes the commands of a made-up run.
#[derive(Debug)]
pub(crate) struct FakeExecutor {
    stage: Stage,
    conduct: Conduct,
    outbox: Outbox,
    disk: FaultyDisk,
    ended: BTreeMap<String, u32>,
    begun: BTreeMap<CommandId, String>,
    in_flight: Vec<InFlight>,
    /// Commands whose ends were reported and are not on record yet.
    reported: Vec<CommandId>,
    /// Commands that a decision begins and that were not started yet.
    expected: usize,
    /// Commands that a restart has lost and that are not on record as lost yet.
    lost: usize,
    pub(crate) performed: Performed,
}

impl FakeExecutor {
    pub(crate) fn new(stage: Stage, conduct: Conduct, outbox: Outbox, disk: FaultyDisk) -> Self {
        Self {
            stage,
            conduct,
            outbox,
            disk,
            ended: BTreeMap::new(),
            begun: BTreeMap::new(),
            in_flight: Vec::new(),
            reported: Vec::new(),
            expected: 0,
            lost: 0,
            performed: Performed::default(),
        }
    }

    /// Counts what came to an end by a record, and expects what is in flight there to be lost.
    pub(crate) fn recall(&mut self, recorded: &RecordedRun, run: &Run) {
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

    /// Records are on the disk: what they begin is expected, and if they begin nothing, something else ends.
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

    /// Commands end, if no end is reported that is not on record yet.
    fn end_some(&mut self) {
        if !self.reported.is_empty() || self.lost > 0 {
            return;
        }
        let most = match self.conduct.order {
            EndOrder::Shuffled => 1,
            EndOrder::Together { most } => most,
        };
        self.in_flight.sort_by_key(|command| (command.order, command.id));
        let ending: Vec<InFlight> = self.in_flight.drain(..most.min(self.in_flight.len())).collect();
        self.reported = ending.iter().map(|command| command.id).collect();
        ending.into_iter().for_each(|command| self.report(command.id, command.end));
    }

    fn report(&self, id: CommandId, end: CommandEnd) {
        let report = |id, end| self.outbox.report(id, end, Duration::from_millis(1));
        let wrong = || CommandEnd::Failed { message: Redacted::ours("this comes too late") };
        match self.conduct.manners {
            Manners::Good => report(id, end),
            Manners::Bad => {
                report(CommandId { seq: 0, index: 7 }, wrong());
                report(id, end.clone());
                report(id, end);
                report(id, wrong());
            }
        }
    }

    fn start(&mut self, id: CommandId, command: &PreparedCommand) {
        if self.conduct.dies_after == Some(self.performed.started) {
            // The next thing the engine wants to write is not written any more.
            self.disk.lose_power_after(0, fixpoint_journal::Residue::Short);
            self.outbox.send(Event::StopRequested);
            return;
        }
        let key = self.begun.get(&id).cloned().unwrap_or_default();
        let before = self.ended.get(&key).copied().unwrap_or(0);
        let end = self.stage.perform(&key, command, before);
        self.count(id, command);
        let order = match self.conduct.order {
            EndOrder::Shuffled => {
                Random::keyed(self.stage.cast.scheme.seed, &format!("order {before} {key}")).next_u64()
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
        self.performed.started += 1;
        self.performed.last = Some(id);
        match &command.action {
            PreparedAction::Ask(_) => self.performed.asks += 1,
            PreparedAction::RunAttempt(_) => self.performed.attempts += 1,
            PreparedAction::Deliver(order) => self.performed.branch = Some(order.result.to_string()),
            PreparedAction::TakeBase
            | PreparedAction::RunChecks(_)
            | PreparedAction::RestorePaths(_)
            | PreparedAction::Merge(_)
            | PreparedAction::AskPerson(_)
            | PreparedAction::FindCachedPlan
            | PreparedAction::StorePlan(_) => {}
        }
    }
}

/// The executor, as the engine sees it.
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
