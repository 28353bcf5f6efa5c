//! SIGINT, SIGTERM and SIGHUP: the first asks the run to stop, the second ends the process at once.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use fixpoint_ports::Outbox;
use fixpoint_vocabulary::work::Event;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};

/// The exit code of a program that was interrupted, as shells have it.
const INTERRUPTED: i32 = 130;

/// A directory to delete before the process ends, and whether a run handles signals itself.
static TEMP_DIR: Mutex<Option<PathBuf>> = Mutex::new(None);
static RUN_HANDLES_SIGNALS: AtomicBool = AtomicBool::new(false);

/// Attempts to delete it: processes that are ending may still create files in it.
const TRIES: usize = 20;

/// Deletes a directory if a signal ends this process. During a run, the first signal only stops the run; the demo then
/// deletes the directory itself.
pub(crate) struct TempDirGuard {
    handle: Handle,
}

impl TempDirGuard {
    pub(crate) fn begin(directory: &Path) -> std::io::Result<Self> {
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
        let handle = signals.handle();
        *TEMP_DIR.lock().unwrap_or_else(PoisonError::into_inner) = Some(directory.to_path_buf());
        std::thread::spawn(move || {
            for _ in signals.forever() {
                if !RUN_HANDLES_SIGNALS.load(Ordering::Acquire) {
                    end_at_once();
                }
            }
        });
        Ok(Self { handle })
    }
}

impl Drop for TempDirGuard {
    fn drop(&mut self) {
        self.handle.close();
        *TEMP_DIR.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

pub(crate) fn has_temp_dir() -> bool {
    TEMP_DIR.lock().unwrap_or_else(PoisonError::into_inner).is_some()
}

fn end_at_once() -> ! {
    if let Some(directory) = &*TEMP_DIR.lock().unwrap_or_else(PoisonError::into_inner) {
        for _ in 0..TRIES {
            if std::fs::remove_dir_all(directory).is_ok() || !directory.exists() {
                break;
            }
        }
    }
    std::process::exit(INTERRUPTED)
}

pub(crate) struct SignalListener {
    handle: Handle,
    asked: Arc<AtomicBool>,
}

impl SignalListener {
    /// Turns the first signal into a request to stop. The second may end this process at once: supervisors end the
    /// processes they started when it is gone; `farewell` is called before.
    pub(crate) fn begin(outbox: Outbox, farewell: impl Fn() + Send + 'static) -> std::io::Result<Self> {
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
        let handle = signals.handle();
        let asked = Arc::new(AtomicBool::new(false));
        let shared = Arc::clone(&asked);
        RUN_HANDLES_SIGNALS.store(true, Ordering::Release);
        std::thread::spawn(move || {
            for _ in signals.forever() {
                if shared.swap(true, Ordering::AcqRel) {
                    farewell();
                    end_at_once();
                }
                outbox.send(Event::StopRequested);
            }
        });
        Ok(Self { handle, asked })
    }

    pub(crate) fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Acquire)
    }
}

impl Drop for SignalListener {
    fn drop(&mut self) {
        RUN_HANDLES_SIGNALS.store(false, Ordering::Release);
        self.handle.close();
    }
}
