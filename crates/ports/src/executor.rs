//! Executing commands, and where their results arrive.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use fixpoint_vocabulary::prepared::PreparedCommand;
use fixpoint_vocabulary::work::{CommandEnd, CommandId, Event};

/// Executes commands, each in its own time, and reports exactly one end of each to the inbox it was made with.
pub trait Executor {
    /// Starts a command and returns at once.
    fn start(&mut self, id: CommandId, command: PreparedCommand);
    /// Cancels a command. Its end may still be reported.
    fn cancel(&mut self, id: CommandId);
}

/// Where events arrive for the engine, in the order in which they came.
#[derive(Debug)]
pub struct Inbox(Receiver<Event>);

/// Where events are sent from: executors and people.
#[derive(Debug, Clone)]
pub struct Outbox(Sender<Event>);

/// A new inbox with the outbox that leads to it.
pub fn mailbox() -> (Outbox, Inbox) {
    let (sender, receiver) = channel();
    (Outbox(sender), Inbox(receiver))
}

impl Inbox {
    /// Waits for the next event; `None` when nobody is left to send one.
    pub fn next(&self) -> Option<Event> {
        self.0.recv().ok()
    }

    /// The next event, if one is waiting.
    pub fn waiting(&self) -> Option<Event> {
        self.0.try_recv().ok()
    }
}

impl Outbox {
    /// Reports the end of a command and how long it took. If the engine has gone, nobody needs to know.
    pub fn report(&self, command: CommandId, end: CommandEnd, took: Duration) {
        let took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        self.send(Event::Ended { command, end, took_ms });
    }

    /// Sends an event of another kind.
    pub fn send(&self, event: Event) {
        let _ = self.0.send(event);
    }
}
