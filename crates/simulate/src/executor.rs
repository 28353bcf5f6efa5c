//! Executes the commands of a simulated task, and counts them.
//!
//! Owns the faults of executors: ends reported late, twice, or for another command. Invariant: how often a command has
//! ended follows from the record alone, so that a restart counts the same.

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
pub(crate) enum EndReports {
    Once,
    /// Before each end a late one of another command, and afterwards further ends of the same command.
    LateAndRepeated,
}

impl EndReports {
    /// Reports the end of a command; `other` is the command whose late end a faulty executor reports first.
    pub(crate) fn send(
        self,
        outbox: &Outbox,
        (id, end): (CommandId, CommandEnd),
        other: Option<CommandId>,
        took: Duration,
    ) {
        if self == Self::Once {
            return outbox.report(id, end, took);
        }
        let wrong = || CommandEnd::Failed { message: Redacted::ours("this comes too late") };
        if let Some(other) = other {
            outbox.report(other, wrong(), took);
        }
        outbox.report(id, end.clone(), took);
        outbox.report(id, end, took);
        outbox.report(id, wrong(), took);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct CheckCost {
    /// Executions of checks in thousandths; single tests count as their share of the check's tests.
    pub(crate) thousandths: u64,
    pub(crate) tests: u64,
}

impl CheckCost {
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

/// How often each command has ended, and what checks cost.
#[derive(Debug, Default)]
pub(crate) struct CommandLog {
    ended: Vec<(Command, u32)>,
    begun: BTreeMap<CommandId, Command>,
    pub(crate) last: Option<CommandId>,
    pub(crate) cost: CheckCost,
}

impl CommandLog {
    /// Counts again from a record. An interrupted command has not ended.
    pub(crate) fn restore(&mut self, recorded: &RecordedRun) {
        self.ended.clear();
        self.begun.clear();
        for (seq, record) in (1u64..).zip(&recorded.records) {
            if let Event::Ended { command, end: CommandEnd::Completed(_) | CommandEnd::Failed { .. }, .. } =
                &record.event
                && let Some(command) = self.begun.get(command).cloned()
            {
                self.note(&command);
            }
            self.note_begun(seq, record);
        }
    }

    pub(crate) fn note_begun(&mut self, seq: u64, record: &Record) {
        let commands = record.decision.commands(seq);
        self.begun.extend(commands.map(|(id, _, command)| (id, command.clone())));
    }

    fn times(&self, command: &Command) -> u32 {
        self.ended.iter().rev().find(|(ended, _)| ended == command).map_or(0, |(_, times)| *times)
    }

    fn note(&mut self, command: &Command) {
        match self.ended.iter_mut().rev().find(|(ended, _)| ended == command) {
            Some((_, times)) => *times += 1,
            None => self.ended.push((command.clone(), 1)),
        }
    }

    pub(crate) fn perform(&mut self, project: &Project, command: &Command) -> CommandEnd {
        let end = project.perform(command, self.times(command));
        self.note(command);
        if let (CommandEnd::Completed(_), Command::RunChecks(run)) = (&end, command) {
            run.calls.iter().for_each(|call| self.cost.add(call));
        }
        end
    }
}

#[derive(Debug)]
pub(crate) struct TaskExecutor {
    pub(crate) project: Project,
    pub(crate) end_reports: EndReports,
    pub(crate) outbox: Outbox,
    pub(crate) log: Rc<RefCell<CommandLog>>,
}

impl Executor for TaskExecutor {
    fn start(&mut self, id: CommandId, _: PreparedCommand) {
        let mut log = self.log.borrow_mut();
        let earlier = log.last.replace(id);
        let Some(command) = log.begun.get(&id).cloned() else { return };
        let end = log.perform(&self.project, &command);
        self.end_reports.send(&self.outbox, (id, end), earlier, Duration::from_secs(1));
    }

    fn cancel(&mut self, _: CommandId) {}
}
