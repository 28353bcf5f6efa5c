//! Whoever performs commands in a made-up project, and what it keeps count of.
//!
//! Owns the bad manners of executors: ends that come late, twice, or for what was called off. Invariant: how often a
//! command has come to an end is known from the record alone, so that a restart counts as before.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use fixpoint_engine::{Record, RecordedRun};
use fixpoint_ports::{Executor, Outbox};
use fixpoint_vocabulary::Redacted;
use fixpoint_vocabulary::prepared::PreparedCommand;
use fixpoint_vocabulary::work::{CheckCall, Command, CommandEnd, CommandId, Event};

use crate::project::Project;
use crate::world::{GOAL_TESTS, GUARD_TESTS, asked, tests_of};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manners {
    /// One end of each command.
    Good,
    /// Before each end one of the command before, after it others of the same command.
    Bad,
}

/// What was spent on checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Cost {
    /// Executions of a check in thousandths: a whole check is one, single tests of it are their share of its tests.
    pub(crate) thousandths: u64,
    pub(crate) tests: u64,
}

impl Cost {
    fn add(&mut self, call: &CheckCall) {
        let all = u64::from(tests_of(call.check));
        let run = asked(call).map_or(all, |only| only.len() as u64);
        self.thousandths += run * 1000 / all.max(1);
        self.tests += run;
    }

    /// Executions of all checks, where every check counts the same.
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53")]
    pub(crate) fn suites(self) -> f64 {
        self.thousandths as f64 / 2000.0
    }

    /// Executions of all tests, where every test counts the same.
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53")]
    pub(crate) fn suites_by_tests(self) -> f64 {
        self.tests as f64 / f64::from(GOAL_TESTS + GUARD_TESTS)
    }
}

/// What came to an end how often, and what it cost.
#[derive(Debug, Default)]
pub(crate) struct Book {
    ended: Vec<(Command, u32)>,
    begun: BTreeMap<CommandId, Command>,
    /// The last command that was begun, for whoever looks at the disk after a crash.
    pub(crate) last: Option<CommandId>,
    pub(crate) cost: Cost,
}

impl Book {
    /// Counts anew, by what a record knows. What was cut short has not ended.
    pub(crate) fn recall(&mut self, recorded: &RecordedRun) {
        self.ended.clear();
        self.begun.clear();
        for (seq, record) in (1u64..).zip(&recorded.records) {
            match &record.event {
                Event::Ended { end: CommandEnd::Lost | CommandEnd::Cancelled, .. }
                | Event::Started
                | Event::StopRequested
                | Event::Resumed { .. } => {}
                Event::Ended {
                    command, end: CommandEnd::Completed(_) | CommandEnd::Failed { .. }, ..
                } => {
                    if let Some(command) = self.begun.get(command).cloned() {
                        self.note(&command);
                    }
                }
            }
            self.note_begun(seq, record);
        }
    }

    /// Takes down what a record begins.
    pub(crate) fn note_begun(&mut self, seq: u64, record: &Record) {
        let commands = record.decision.commands(seq);
        self.begun.extend(commands.map(|(id, _, command)| (id, command.clone())));
    }

    /// How often a command has ended.
    fn times(&self, command: &Command) -> u32 {
        self.ended.iter().rev().find(|(ended, _)| ended == command).map_or(0, |(_, times)| *times)
    }

    fn note(&mut self, command: &Command) {
        match self.ended.iter_mut().rev().find(|(ended, _)| ended == command) {
            Some((_, times)) => *times += 1,
            None => self.ended.push((command.clone(), 1)),
        }
    }

    /// Performs a command and takes it down.
    pub(crate) fn perform(&mut self, project: &Project, command: &Command) -> CommandEnd {
        let end = project.perform(command, self.times(command));
        self.note(command);
        match (&end, command) {
            (CommandEnd::Completed(_), Command::RunChecks(run)) => {
                run.calls.iter().for_each(|call| self.cost.add(call));
            }
            (
                CommandEnd::Completed(_)
                | CommandEnd::Failed { .. }
                | CommandEnd::Cancelled
                | CommandEnd::Lost,
                _,
            ) => {}
        }
        end
    }
}

#[derive(Debug)]
pub(crate) struct Performer {
    pub(crate) project: Project,
    pub(crate) manners: Manners,
    pub(crate) outbox: Outbox,
    pub(crate) book: Rc<RefCell<Book>>,
}

impl Executor for Performer {
    fn start(&mut self, id: CommandId, _: PreparedCommand) {
        let mut book = self.book.borrow_mut();
        let earlier = book.last.replace(id);
        let Some(command) = book.begun.get(&id).cloned() else { return };
        let end = book.perform(&self.project, &command);
        let report = |id, end| self.outbox.report(id, end, Duration::from_secs(1));
        let wrong = || CommandEnd::Failed { message: Redacted::ours("this comes too late") };
        match self.manners {
            Manners::Good => report(id, end),
            Manners::Bad => {
                if let Some(earlier) = earlier {
                    report(earlier, wrong());
                }
                report(id, end.clone());
                report(id, end);
                report(id, wrong());
            }
        }
    }

    fn cancel(&mut self, _: CommandId) {}
}
