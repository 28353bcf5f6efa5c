//! What the journal costs beside the disk: the same bytes with `write` and `fdatasync` alone, in the same run.
//!
//! `cargo bench -p fixpoint-journal`. The directory is that of `FIXPOINT_BENCH_DIR`, else the temporary one: a
//! directory in memory makes the flush free and the ratio meaningless.
#![expect(clippy::print_stdout, reason = "a benchmark prints")]

use std::error::Error;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

use fixpoint_journal::{FileJournal, Flush, JOURNAL_FILE, OpenMode, RECORD_OVERHEAD_BYTES};
use fixpoint_ports::{Journal, Seq};
use tempfile::TempDir;

type Outcome<T> = Result<T, Box<dyn Error>>;

const PAYLOAD_BYTES: usize = 1000;
const APPENDS: u64 = 2000;
/// Both sides take turns, so that whatever else the disk does meets them alike.
const TURN: u64 = 50;

fn main() -> Outcome<()> {
    println!("payload {PAYLOAD_BYTES} bytes");
    appends(Flush::Each)?;
    appends(Flush::Never)?;
    growth()?;
    for records in [1_000, 100_000] {
        replay(records, &[7; 300])?;
        replay(records, &[7; PAYLOAD_BYTES])?;
    }
    Ok(())
}

fn scratch() -> Outcome<TempDir> {
    let base = std::env::var_os("FIXPOINT_BENCH_DIR").map_or_else(std::env::temp_dir, Into::into);
    Ok(tempfile::tempdir_in(base)?)
}

/// The floor: a file that grows by the same bytes.
struct Floor {
    file: File,
    end: u64,
    frame: Vec<u8>,
}

impl Floor {
    fn at(directory: &Path) -> Outcome<Self> {
        let file = File::create(directory.join("floor"))?;
        Ok(Self { file, end: 0, frame: vec![7; PAYLOAD_BYTES + RECORD_OVERHEAD_BYTES] })
    }

    fn append(&mut self, flush: Flush) -> Outcome<()> {
        self.file.write_all_at(&self.frame, self.end)?;
        self.end += self.frame.len() as u64;
        match flush {
            Flush::Each => self.file.sync_data()?,
            Flush::Never => {}
        }
        Ok(())
    }
}

/// The time of each of some steps.
fn each(steps: u64, mut step: impl FnMut() -> Outcome<()>) -> Outcome<Vec<Duration>> {
    let timed = |_| {
        let begun = Instant::now();
        step()?;
        Ok(begun.elapsed())
    };
    (0..steps).map(timed).collect()
}

fn microseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// The mean, the median and the 99th percentile, in microseconds.
fn summary(times: &mut [Duration]) -> (f64, f64, f64) {
    times.sort_unstable();
    let at =
        |percent: usize| microseconds(times.get(times.len() * percent / 100).copied().unwrap_or_default());
    let mean = microseconds(times.iter().sum()) / times.len().max(1) as f64;
    (mean, at(50), at(99))
}

fn appends(flush: Flush) -> Outcome<()> {
    let directory = scratch()?;
    let mut journal = FileJournal::create(directory.path())?.with_flush(flush);
    let mut floor = Floor::at(directory.path())?;
    let payload = vec![7; PAYLOAD_BYTES];
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..APPENDS / TURN {
        ours.extend(each(TURN, || {
            let next = journal.next();
            Ok(journal.append(next, &payload).map(drop)?)
        })?);
        bare.extend(each(TURN, || floor.append(flush))?);
    }
    let (mean, median, slow) = summary(&mut ours);
    let (floor_mean, floor_median, floor_slow) = summary(&mut bare);
    println!("append, flush {flush:?}: mean {mean:.2} µs, median {median:.2} µs, 99 % {slow:.2} µs");
    println!("  floor:  mean {floor_mean:.2} µs, median {floor_median:.2} µs, 99 % {floor_slow:.2} µs");
    println!("  ratio:  mean {:.3}, median {:.3}", mean / floor_mean, median / floor_median);
    let written = directory.path().join(JOURNAL_FILE).metadata()?.len();
    let content = APPENDS * PAYLOAD_BYTES as u64;
    println!("  bytes:  {written} for {content} of content, ratio {:.3}", written as f64 / content as f64);
    Ok(())
}

/// Whether an append costs more behind ten times the history.
fn growth() -> Outcome<()> {
    let directory = scratch()?;
    let mut journal = FileJournal::create(directory.path())?.with_flush(Flush::Never);
    let mut floor = Floor::at(directory.path())?;
    let payload = vec![7; PAYLOAD_BYTES];
    let mut batch = |records| {
        let mut ours = each(records, || {
            let next = journal.next();
            Ok(journal.append(next, &payload).map(drop)?)
        })?;
        let mut bare = each(records, || floor.append(Flush::Never))?;
        Outcome::Ok((summary(&mut ours).1, summary(&mut bare).1))
    };
    let (early, floor_early) = batch(2_000)?;
    batch(16_000)?;
    let (late, floor_late) = batch(2_000)?;
    println!("growth at 10 × history, without flush: {early:.2} → {late:.2} µs, ratio {:.3}", late / early);
    println!("  floor:  {floor_early:.2} → {floor_late:.2} µs, ratio {:.3}", floor_late / floor_early);
    Ok(())
}

fn replay(records: u64, payload: &[u8]) -> Outcome<()> {
    let directory = scratch()?;
    let mut journal = FileJournal::create(directory.path())?.with_flush(Flush::Never);
    for seq in 0..records {
        journal.append(Seq(seq), payload)?;
    }
    drop(journal);
    let (mut folding, mut keeping) = (Vec::new(), Vec::new());
    for _ in 0..9 {
        folding.extend(each(1, || {
            let mut bytes = 0;
            let (journal, _) = FileJournal::open_with(directory.path(), OpenMode::Continue, |_, payload| {
                bytes += payload.len()
            })?;
            assert_eq!((journal.next(), bytes as u64), (Seq(records), records * payload.len() as u64));
            Ok(())
        })?);
        keeping.extend(each(1, || Ok(FileJournal::open(directory.path(), OpenMode::Continue).map(drop)?))?);
    }
    let (_, fold, _) = summary(&mut folding);
    let (_, keep, _) = summary(&mut keeping);
    let (fold, keep, bytes) = (fold / 1e3, keep / 1e3, payload.len());
    println!("open of {records} × {bytes} bytes: {fold:.2} ms handing over, {keep:.2} ms keeping them");
    Ok(())
}
