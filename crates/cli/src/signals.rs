//! Ctrl-C and its like: once asks for an end in good order, twice ends at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fixpoint_ports::Outbox;
use fixpoint_vocabulary::work::Event;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};

use crate::output::complain;

/// What a shell says of a program that an interrupt ended.
const INTERRUPTED: i32 = 130;

/// Listens until it is dropped.
pub(crate) struct Listening {
    handle: Handle,
    asked: Arc<AtomicBool>,
}

impl Listening {
    /// Turns the first signal into a request to stop. Nothing that runs is left behind by the second: supervisors
    /// end what they supervise when this process is gone.
    pub(crate) fn begin(outbox: Outbox) -> std::io::Result<Self> {
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
        let handle = signals.handle();
        let asked = Arc::new(AtomicBool::new(false));
        let shared = Arc::clone(&asked);
        std::thread::spawn(move || {
            for _ in signals.forever() {
                if shared.swap(true, Ordering::AcqRel) {
                    std::process::exit(INTERRUPTED);
                }
                complain("stopping; once more ends at once");
                outbox.send(Event::StopAsked);
            }
        });
        Ok(Self { handle, asked })
    }

    /// Whether a stop was asked for.
    pub(crate) fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Acquire)
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.handle.close();
    }
}
