//! Whoever performs the commands of a made-up run: several under way at once, which end in an order of their own.
//!
//! Of the commands under way the one ends first whose name draws the least number, so that the order is seldom that
//! in which they began, and the same again after a crash. Invariant: how often a command has come to an end is known
//! from the record alone.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use fixpoint_decide::run::{Owner, Run};
use fixpoint_engine::{Record, Recorded};
use fixpoint_ports::{Executor, Outbox};
use fixpoint_vocabulary::brief::Errand;
use fixpoint_vocabulary::work::{Command, CommandEnd, CommandId, Event};
use fixpoint_vocabulary::{Redacted, TaskId};

use super::stage::{Stage, key_of};
use crate::performer::Manners;
use crate::random::Random;

/// A command under way.
#[derive(Debug)]
struct UnderWay {
    id: CommandId,
    order: u64,
    end: CommandEnd,
}

/// What was performed so far, for whoever looks at it after a crash.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Performed {
    /// Questions put to models.
    pub(crate) asks: u64,
    /// Attempts of agents.
    pub(crate) attempts: u64,
    /// The last command that was begun.
    pub(crate) last: Option<CommandId>,
}

/// Where commands are performed.
#[derive(Debug)]
pub(crate) struct Hall {
    stage: Stage,
    manners: Manners,
    outbox: Outbox,
    ended: BTreeMap<String, u32>,
    begun: BTreeMap<CommandId, String>,
    under_way: Vec<UnderWay>,
    /// The command whose end was reported and is not on record yet.
    reported: Option<CommandId>,
    /// Commands that a decision begins and that were not heard of yet.
    expected: usize,
    /// Commands that a restart has lost and that are not on record as lost yet.
    lost: usize,
    pub(crate) performed: Performed,
}

/// The task that a command belongs to, as an errand names it.
fn task_of(owner: &Owner) -> Option<&TaskId> {
    match owner {
        Owner::Task(task) | Owner::Merge(task) | Owner::Replan(task) | Owner::Reflection(task) => Some(task),
        Owner::Planning | Owner::Review | Owner::Whole => None,
    }
}

impl Hall {
    pub(crate) fn new(stage: Stage, manners: Manners, outbox: Outbox) -> Self {
        Self {
            stage,
            manners,
            outbox,
            ended: BTreeMap::new(),
            begun: BTreeMap::new(),
            under_way: Vec::new(),
            reported: None,
            expected: 0,
            lost: 0,
            performed: Performed::default(),
        }
    }

    /// Counts what came to an end by a record, and expects what is under way there to be lost.
    pub(crate) fn recall(&mut self, recorded: &Recorded, run: &Run) {
        for (seq, record) in (1u64..).zip(&recorded.records) {
            self.note(seq, record);
        }
        self.lost = run.under_way().count();
    }

    fn note(&mut self, seq: u64, record: &Record) {
        if let Event::Ended { command, end: CommandEnd::Completed(_) | CommandEnd::Failed { .. }, .. } =
            &record.event
            && let Some(key) = self.begun.get(command)
        {
            *self.ended.entry(key.clone()).or_default() += 1;
        }
        for (index, owner, command) in record.decision.commands() {
            self.begun.insert(CommandId { seq, index }, key_of(task_of(&owner), command));
        }
    }

    /// A record is on the disk: what it begins is expected, and if it begins nothing, something else ends.
    pub(crate) fn recorded(&mut self, seq: u64, record: &Record, run: &Run) {
        self.note(seq, record);
        if let Event::Ended { command, end, .. } = &record.event {
            if *end == CommandEnd::Lost {
                self.lost = self.lost.saturating_sub(1);
            }
            if self.reported == Some(*command) {
                self.reported = None;
            }
        }
        let is_begun = |index: &u32| run.is_under_way(CommandId { seq, index: *index });
        self.expected = record.decision.commands().map(|(index, ..)| index).filter(is_begun).count();
        if self.expected == 0 {
            self.end_one();
        }
    }

    /// Something ends, if nothing has that is not on record yet.
    fn end_one(&mut self) {
        if self.reported.is_some() || self.lost > 0 {
            return;
        }
        let first = self.under_way.iter().enumerate().min_by_key(|(_, command)| (command.order, command.id));
        let Some(place) = first.map(|(place, _)| place) else { return };
        let UnderWay { id, end, .. } = self.under_way.swap_remove(place);
        self.reported = Some(id);
        let report = |id, end| self.outbox.report(id, end, Duration::from_millis(1));
        let wrong = || CommandEnd::Failed { message: Redacted::ours("this comes too late") };
        match self.manners {
            Manners::Good => report(id, end),
            Manners::Bad => {
                report(CommandId { seq: 0, index: 7 }, wrong());
                report(id, end.clone());
                report(id, end);
                report(id, wrong());
            }
        }
    }

    fn begin(&mut self, id: CommandId, errand: &Errand) {
        let key = key_of(errand.task.as_ref().map(|brief| &brief.task), &errand.command);
        let before = self.ended.get(&key).copied().unwrap_or(0);
        let end = self.stage.perform(errand, before);
        let order = Random::keyed(self.stage.cast.scheme.seed, &format!("order {before} {key}")).next_u64();
        match &errand.command {
            Command::Ask(_) => self.performed.asks += 1,
            Command::RunAttempt(_) => self.performed.attempts += 1,
            Command::TakeBase
            | Command::RunChecks(_)
            | Command::Graft(_)
            | Command::Merge(_)
            | Command::AskPerson(_)
            | Command::RecallPlan
            | Command::KeepPlan => {}
        }
        self.performed.last = Some(id);
        self.under_way.push(UnderWay { id, order, end });
        self.expected = self.expected.saturating_sub(1);
        if self.expected == 0 {
            self.end_one();
        }
    }
}

/// The hall, as the engine sees it.
#[derive(Debug)]
pub(crate) struct Door(pub(crate) Rc<RefCell<Hall>>);

impl Executor for Door {
    fn start(&mut self, id: CommandId, errand: &Errand) {
        self.0.borrow_mut().begin(id, errand);
    }

    fn cancel(&mut self, id: CommandId) {
        self.0.borrow_mut().under_way.retain(|command| command.id != id);
    }
}
