//! Executes single commands without an engine: nothing is planned, judged or recorded.
//!
//! For `fixpoint init --verify`, and to find out which detected checks work. Invariant: one command at a time, and a
//! stop ends the command that is under way with everything it started.

use std::path::PathBuf;
use std::sync::Arc;

use fixpoint_execute::LocalExecutor;
use fixpoint_ports::{Executor, Inbox, mailbox};
use fixpoint_vocabulary::prepared::{PreparedAction, PreparedCommand};
use fixpoint_vocabulary::run_spec::{PlacedCheck, RunSpec};
use fixpoint_vocabulary::work::{
    Base, CheckCall, CheckReport, CheckRun, CommandEnd, CommandId, CommandResult, Event, Leftovers, Reuse,
};

use crate::display::{Display, Verbosity};
use crate::failure::Failure;
use crate::session::{RunStorage, SessionContext};
use crate::signals::SignalListener;

/// Why a command gave no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoResult {
    Stopped,
    /// For people. It may name the file with the output of a command.
    Failed(String),
}

pub(crate) struct SingleCommands {
    // Dropped first: it waits for what is still running.
    executor: LocalExecutor,
    inbox: Inbox,
    signals: SignalListener,
    _display: Display,
    checks: Arc<Vec<PlacedCheck>>,
    /// Where the output of the commands is.
    pub(crate) outputs: PathBuf,
    count: u64,
}

impl SingleCommands {
    pub(crate) fn begin(
        session: &SessionContext<'_>,
        storage: &RunStorage<'_>,
        spec: RunSpec,
    ) -> Result<Self, Failure> {
        let look = (session.screen, session.app.lang);
        let display = Display::new(look, Verbosity::Notices, &storage.name(), 0);
        let (outbox, inbox) = mailbox();
        let signals = SignalListener::begin(outbox.clone(), || ())
            .map_err(|error| Failure::Internal(format!("cannot listen for signals: {error}")))?;
        let checks = Arc::new(spec.checks.clone());
        let context = session.execution_context(storage, spec, &display)?;
        let outputs = context.paths.outputs.clone();
        let executor = LocalExecutor::new(Arc::new(context), outbox);
        Ok(Self { executor, inbox, signals, _display: display, checks, outputs, count: 0 })
    }

    /// The commit that the checks run on.
    pub(crate) fn take_base(&mut self) -> Result<Base, NoResult> {
        let (_, result) = self.execute(PreparedAction::TakeBase)?;
        let CommandResult::Base(base) = result else { return Err(unexpected(&result)) };
        Ok(base)
    }

    /// Changes the command of a check.
    pub(crate) fn set_command(&mut self, check: u32, command: &str) {
        let checks = Arc::make_mut(&mut self.checks);
        if let Some(placed) = checks.get_mut(check as usize) {
            placed.check.command = command.to_string();
        }
    }

    /// Runs a check at the base, by its number. The id is that of the command, which names the output.
    pub(crate) fn run_check(
        &mut self,
        base: &Base,
        check: u32,
        leftovers: Leftovers,
    ) -> Result<(CommandId, CheckReport), NoResult> {
        let run = CheckRun {
            commit: base.commit.clone(),
            calls: vec![CheckCall::whole(check)],
            reuse: Some(Reuse { tree: base.tree.clone(), run: 1 }),
            leftovers,
        };
        let (id, result) = self.execute(PreparedAction::RunChecks(run))?;
        let CommandResult::Checks { reports } = result else { return Err(unexpected(&result)) };
        let report = reports.into_iter().next();
        report
            .map(|report| (id, report))
            .ok_or_else(|| NoResult::Failed("the check gave no report".to_string()))
    }

    fn execute(&mut self, action: PreparedAction) -> Result<(CommandId, CommandResult), NoResult> {
        if self.signals.is_asked() {
            return Err(NoResult::Stopped);
        }
        let id = CommandId { seq: self.count, index: 0 };
        self.count += 1;
        let command = PreparedCommand { checks: Arc::clone(&self.checks), ..PreparedCommand::new(action) };
        self.executor.start(id, command);
        loop {
            match self.inbox.next() {
                Some(Event::Ended { command, end, .. }) if command == id => {
                    return match end {
                        CommandEnd::Completed(result) => Ok((id, result)),
                        CommandEnd::Cancelled => Err(NoResult::Stopped),
                        CommandEnd::Failed { message } => Err(NoResult::Failed(message.to_string())),
                        CommandEnd::Lost => Err(NoResult::Failed("the command was lost".to_string())),
                    };
                }
                Some(Event::StopRequested) => self.executor.cancel(id),
                Some(Event::Started | Event::Ended { .. } | Event::Resumed { .. }) => {}
                None => return Err(NoResult::Stopped),
            }
        }
    }
}

fn unexpected(result: &CommandResult) -> NoResult {
    NoResult::Failed(format!("unexpected result: {result:?}"))
}
