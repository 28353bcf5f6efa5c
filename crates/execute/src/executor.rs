//! Commands under way: a thread each, with a way to call it off.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

use fixpoint_ports::{Cancel, Executor, Outbox};
use fixpoint_vocabulary::Redacted;
use fixpoint_vocabulary::prepared::PreparedCommand;
use fixpoint_vocabulary::work::{CommandEnd, CommandId};

/// Executes commands, each to its end.
pub trait Performs: Send + Sync {
    /// Executes a command to its end.
    fn perform(&self, id: CommandId, command: &PreparedCommand, cancel: &Cancel) -> CommandEnd;
}

/// Performs commands on this machine, a thread each.
pub struct LocalExecutor {
    staff: Arc<dyn Performs>,
    outbox: Outbox,
    under_way: BTreeMap<CommandId, (Cancel, JoinHandle<()>)>,
}

impl LocalExecutor {
    /// An executor that reports to an inbox.
    pub fn new(staff: Arc<dyn Performs>, outbox: Outbox) -> Self {
        Self { staff, outbox, under_way: BTreeMap::new() }
    }

    /// Waits until everything that was started has ended, so that no process and no unfinished work is left.
    pub fn finish(&mut self) {
        for (_, thread) in std::mem::take(&mut self.under_way).into_values() {
            // A command that panicked has reported its end already.
            drop(thread.join());
        }
    }
}

impl std::fmt::Debug for LocalExecutor {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("LocalExecutor").field("under_way", &self.under_way).finish_non_exhaustive()
    }
}

impl Executor for LocalExecutor {
    fn start(&mut self, id: CommandId, command: PreparedCommand) {
        self.under_way.retain(|_, (_, thread)| !thread.is_finished());
        let cancel = Cancel::default();
        let (staff, outbox, asked) = (Arc::clone(&self.staff), self.outbox.clone(), cancel.clone());
        let thread = std::thread::spawn(move || {
            let began = Instant::now();
            // Even a defect of ours must not leave the engine waiting for an end that never comes.
            let end = catch_unwind(AssertUnwindSafe(|| staff.perform(id, &command, &asked)))
                .unwrap_or_else(|_| CommandEnd::Failed { message: Redacted::ours("the executor panicked") });
            outbox.report(id, end, began.elapsed());
        });
        self.under_way.insert(id, (cancel, thread));
    }

    fn cancel(&mut self, id: CommandId) {
        if let Some((cancel, _)) = self.under_way.get(&id) {
            cancel.ask();
        }
    }
}

impl Drop for LocalExecutor {
    fn drop(&mut self) {
        // Asked twice it would be at once, and somebody may have asked already.
        for (cancel, _) in self.under_way.values().filter(|(cancel, _)| !cancel.is_asked()) {
            cancel.ask();
        }
        self.finish();
    }
}
