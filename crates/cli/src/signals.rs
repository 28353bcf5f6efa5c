//! Ctrl-C and its like: once asks for an end in good order, twice ends at once.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use fixpoint_ports::Outbox;
use fixpoint_vocabulary::work::Event;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};

use crate::output::complain;

/// What a shell says of a program that an interrupt ended.
const INTERRUPTED: i32 = 130;

/// A directory that must not outlive this process, and whether a run listens to signals itself.
static LITTER: Mutex<Option<PathBuf>> = Mutex::new(None);
static RUN_LISTENS: AtomicBool = AtomicBool::new(false);

/// What ended may still be letting go of its files.
const SWEEPS: usize = 20;

/// Removes a directory when a signal ends this process in the middle of things. While a run goes on, its first signal
/// is the run's, and whoever waits for the run removes what it left.
pub(crate) struct Sweeping {
    handle: Handle,
}

impl Sweeping {
    /// From now on, until it is dropped.
    pub(crate) fn begin(directory: &Path) -> std::io::Result<Self> {
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
        let handle = signals.handle();
        *LITTER.lock().unwrap_or_else(PoisonError::into_inner) = Some(directory.to_path_buf());
        std::thread::spawn(move || {
            for _ in signals.forever() {
                if !RUN_LISTENS.load(Ordering::Acquire) {
                    end_at_once();
                }
            }
        });
        Ok(Self { handle })
    }
}

impl Drop for Sweeping {
    fn drop(&mut self) {
        self.handle.close();
        *LITTER.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

fn end_at_once() -> ! {
    if let Some(directory) = &*LITTER.lock().unwrap_or_else(PoisonError::into_inner) {
        for _ in 0..SWEEPS {
            if std::fs::remove_dir_all(directory).is_ok() || !directory.exists() {
                break;
            }
        }
    }
    std::process::exit(INTERRUPTED)
}

/// Listens until it is dropped.
pub(crate) struct SignalListener {
    handle: Handle,
    asked: Arc<AtomicBool>,
}

impl SignalListener {
    /// Turns the first signal into a request to stop. Nothing that runs is left behind by the second: supervisors
    /// end what they supervise when this process is gone.
    pub(crate) fn begin(outbox: Outbox) -> std::io::Result<Self> {
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
        let handle = signals.handle();
        let asked = Arc::new(AtomicBool::new(false));
        let shared = Arc::clone(&asked);
        RUN_LISTENS.store(true, Ordering::Release);
        std::thread::spawn(move || {
            for _ in signals.forever() {
                if shared.swap(true, Ordering::AcqRel) {
                    end_at_once();
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

impl Drop for SignalListener {
    fn drop(&mut self) {
        RUN_LISTENS.store(false, Ordering::Release);
        self.handle.close();
    }
}
