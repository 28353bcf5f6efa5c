//! Commands under way: each has a thread, and can be cancelled.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

use fixpoint_ports::{Cancel, Executor, Outbox};
use fixpoint_vocabulary::Redacted;
use fixpoint_vocabulary::prepared::PreparedCommand;
use fixpoint_vocabulary::work::{CommandEnd, CommandId};

/// Executes one command at a time in each thread that calls it.
pub trait CommandRunner: Send + Sync {
    /// Executes a command to its end.
    fn run(&self, id: CommandId, command: &PreparedCommand, cancel: &Cancel) -> CommandEnd;
}

/// Executes commands on this machine, each in a thread.
pub struct LocalExecutor {
    runner: Arc<dyn CommandRunner>,
    outbox: Outbox,
    running: BTreeMap<CommandId, (Cancel, JoinHandle<()>)>,
}

impl LocalExecutor {
    /// An executor that reports to an inbox.
    pub fn new(runner: Arc<dyn CommandRunner>, outbox: Outbox) -> Self {
        Self { runner, outbox, running: BTreeMap::new() }
    }

    /// Waits until everything that was started has ended, so that no process and no unfinished work is left.
    pub fn finish(&mut self) {
        for (_, thread) in std::mem::take(&mut self.running).into_values() {
            // A command that panicked has reported its end already.
            drop(thread.join());
        }
    }
}

impl std::fmt::Debug for LocalExecutor {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("LocalExecutor").field("running", &self.running).finish_non_exhaustive()
    }
}

impl Executor for LocalExecutor {
    fn start(&mut self, id: CommandId, command: PreparedCommand) {
        self.running.retain(|_, (_, thread)| !thread.is_finished());
        let cancel = Cancel::default();
        let (runner, outbox, asked) = (Arc::clone(&self.runner), self.outbox.clone(), cancel.clone());
        let thread = std::thread::spawn(move || {
            let began = Instant::now();
            // Even a defect of ours must not leave the engine waiting for an end that never comes.
            let end = catch_unwind(AssertUnwindSafe(|| runner.run(id, &command, &asked)))
                .unwrap_or_else(|_| CommandEnd::Failed { message: Redacted::ours("the executor panicked") });
            outbox.report(id, end, began.elapsed());
        });
        self.running.insert(id, (cancel, thread));
    }

    fn cancel(&mut self, id: CommandId) {
        if let Some((cancel, _)) = self.running.get(&id) {
            cancel.ask();
        }
    }
}

impl Drop for LocalExecutor {
    fn drop(&mut self) {
        // LockOutcome twice it would be at once, and somebody may have asked already.
        for (cancel, _) in self.running.values().filter(|(cancel, _)| !cancel.is_asked()) {
            cancel.ask();
        }
        self.finish();
    }
}
