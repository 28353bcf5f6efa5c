//! What the benchmarks of this crate stand on: a directory of their own and a clock that stands still.

use std::error::Error;

use fixpoint_ports::Clock;

/// What a benchmark comes to.
pub(crate) type Outcome<T> = Result<T, Box<dyn Error>>;

/// It is always the same moment.
#[derive(Debug)]
pub(crate) struct NoClock;

impl Clock for NoClock {
    fn elapsed_ms(&self) -> u64 {
        0
    }

    fn now_ms(&self) -> u64 {
        0
    }
}

/// A directory on the disk that is measured.
pub(crate) fn scratch() -> Outcome<tempfile::TempDir> {
    let base = std::env::var_os("FIXPOINT_BENCH_DIR").map_or_else(std::env::temp_dir, Into::into);
    Ok(tempfile::tempdir_in(base)?)
}
