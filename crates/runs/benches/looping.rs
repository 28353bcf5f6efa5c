//! What the engine costs beside the disk: whole iterations of a loop with instant agents and checks, their records written
//! and flushed, beside the same bytes written and flushed by nothing; and taking a long run up again.
//!
//! `cargo bench -p fixpoint-runs`. The directory is that of `FIXPOINT_BENCH_DIR`, else the temporary one.
#![expect(clippy::print_stdout, reason = "a benchmark prints")]

mod ground;

use std::collections::BTreeSet;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fixpoint_decide::run::RunOptions;
use fixpoint_decide::task_run::TaskOptions;
use fixpoint_engine::{Engine, EngineDeps, FORMAT, JournalHeader, RecordedRun, ResumeRequest};
use fixpoint_journal::{FileBlobs, FileJournal, Flush, OpenMode};
use fixpoint_ports::{Executor, Outbox, mailbox};
use fixpoint_vocabulary::Redactor;
use fixpoint_vocabulary::prepared::{PreparedAction, PreparedAttempt, PreparedCommand};
use fixpoint_vocabulary::work::{
    AgentEnd, AttemptResult, Base, CheckEnd, CheckReport, CheckRun, CommandEnd, CommandId, CommandResult,
    CommitId, ReportedFailure, TreeId,
};

use self::ground::{NoClock, Outcome, scratch};

const MESSAGE_BYTES: usize = 1000;
const GOAL: u32 = 0;

/// An agent and a check that take no time. Each attempt changes the tree and leaves one failure with a message.
#[derive(Debug)]
struct Instantly {
    outbox: Outbox,
}

fn report(run: &CheckRun) -> CheckReport {
    let message = format!("{} {}", run.commit, "x".repeat(MESSAGE_BYTES));
    let fingerprint = format!("fingerprint {}", run.commit).into();
    let failure =
        ReportedFailure::of_test("a_test".into(), fingerprint, Redactor::default().redact(&message));
    CheckReport {
        failures: vec![failure],
        passed: Some(9),
        counted: 9,
        ..CheckReport::new(GOAL, CheckEnd::Failed)
    }
}

fn attempt(order: &PreparedAttempt) -> AttemptResult {
    let name = format!("{:040}", order.command.number);
    AttemptResult {
        exit_code: Some(0),
        changed_files: 1,
        changed_lines: 1,
        ..AttemptResult::new(AgentEnd::Exited, CommitId(name.clone()), TreeId(name))
    }
}

impl Executor for Instantly {
    fn start(&mut self, id: CommandId, command: PreparedCommand) {
        let result = match &command.action {
            PreparedAction::TakeBase => {
                CommandResult::Base(Base { commit: CommitId("base".into()), tree: TreeId("base".into()) })
            }
            PreparedAction::RunChecks(run) => CommandResult::Checks { reports: vec![report(run)] },
            PreparedAction::RunAttempt(order) => CommandResult::Attempt(attempt(order)),
            PreparedAction::RestorePaths(restore) => {
                CommandResult::Restored { commit: restore.onto.clone(), tree: TreeId(restore.onto.0.clone()) }
            }
            PreparedAction::FindProtected(..)
            | PreparedAction::Merge(_)
            | PreparedAction::Ask(_)
            | PreparedAction::AskPerson(_)
            | PreparedAction::FindCachedPlan
            | PreparedAction::StorePlan(_)
            | PreparedAction::Deliver(_) => CommandResult::PlanStored,
        };
        self.outbox.report(id, CommandEnd::Completed(result), Duration::ZERO);
    }

    fn cancel(&mut self, _: CommandId) {}
}

fn options(iterations: u32) -> TaskOptions {
    let mut options = TaskOptions::new("bench".into(), BTreeSet::from([GOAL]), BTreeSet::new());
    options.limits.convergence.enabled = false;
    options.limits.convergence.max_iterations = iterations;
    options
}

/// Processor time of this process so far, in milliseconds.
fn processor_ms() -> Outcome<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let after = stat.rsplit(')').next().unwrap_or_default();
    let mut fields = after.split_whitespace().skip(11);
    let mut next = || fields.next().and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
    Ok((next() + next()) * 10.0)
}

/// Runs a loop of so many iterations and gives the time at which each was judged.
fn run(directory: &Path, iterations: u32, flush: Flush) -> Outcome<Vec<Instant>> {
    let (outbox, inbox) = mailbox();
    let deps = EngineDeps {
        journal: FileJournal::create(directory)?.with_flush(flush),
        blobs: Arc::new(FileBlobs::open(&directory.join("blobs"))?),
        clock: Arc::new(NoClock),
    };
    let options = RunOptions::given(options(iterations));
    let opening = JournalHeader { format: FORMAT, at: 0, options, spec: None };
    let mut engine = Engine::begin(deps, Instantly { outbox }, opening)?;
    let mut judged = vec![Instant::now()];
    engine.run(&inbox, &mut |records, _| {
        for record in records {
            if record.decision.task_decisions().any(|(_, decision)| decision.judged.is_some()) {
                judged.push(Instant::now());
            }
        }
    })?;
    Ok(judged)
}

/// The same records, written and flushed by nothing.
fn floor(directory: &Path, sizes: &[usize]) -> Outcome<Duration> {
    let file = File::create(directory.join("floor"))?;
    let (mut end, began) = (0, Instant::now());
    for size in sizes {
        file.write_all_at(&vec![7; *size], end)?;
        file.sync_data()?;
        end += *size as u64;
    }
    Ok(began.elapsed())
}

fn iterations() -> Outcome<()> {
    const ITERATIONS: u32 = 200;
    let mut ratios = Vec::new();
    for _ in 0..5 {
        let directory = scratch()?;
        let before = processor_ms()?;
        let judged = run(directory.path(), ITERATIONS, Flush::Each)?;
        let processor = (processor_ms()? - before) / f64::from(ITERATIONS);
        let ours = judged.last().zip(judged.first()).map(|(last, first)| *last - *first).unwrap_or_default();
        let records = FileJournal::inspect(directory.path())?.records;
        let sizes: Vec<usize> = records.iter().map(|record| record.payload.len()).collect();
        let floor = floor(directory.path(), &sizes)?;
        let written = std::fs::metadata(directory.path().join("journal"))?.len();
        let content = u64::from(ITERATIONS) * MESSAGE_BYTES as u64;
        let per = |time: Duration| time.as_secs_f64() * 1e3 / f64::from(ITERATIONS);
        ratios.push(ours.as_secs_f64() / floor.as_secs_f64());
        println!(
            "{ITERATIONS} iterations: {:.3} ms each, floor {:.3} ms ({} flushes), ratio {:.2}; processor {processor:.3} ms; \
             {written} bytes for {content} of messages ({:.2})",
            per(ours),
            per(floor),
            sizes.len(),
            ours.as_secs_f64() / floor.as_secs_f64(),
            written as f64 / content as f64
        );
    }
    ratios.sort_by(f64::total_cmp);
    println!("median ratio {:.2}", ratios.get(ratios.len() / 2).copied().unwrap_or_default());
    Ok(())
}

/// The time of an iteration behind ten times the history, beside one at the beginning; without flushes, which would
/// hide it.
fn growth() -> Outcome<()> {
    let directory = scratch()?;
    let judged = run(directory.path(), 2200, Flush::Never)?;
    let median = |from: usize| {
        let mut times: Vec<Duration> = judged
            .iter()
            .skip(from)
            .take(200)
            .zip(judged.iter().skip(from + 1))
            .map(|(a, b)| *b - *a)
            .collect();
        times.sort_unstable();
        times.get(times.len() / 2).copied().unwrap_or_default().as_secs_f64() * 1e3
    };
    let (early, late) = (median(0), median(1990));
    println!("growth at 10 × history: {early:.3} → {late:.3} ms an iteration, ratio {:.2}", late / early);
    Ok(())
}

/// From opening the journal of a long run to its next command.
fn resume(iterations: u32) -> Outcome<()> {
    let directory = scratch()?;
    run(directory.path(), iterations, Flush::Never)?;
    let mut times = Vec::new();
    let mut events = 0;
    for _ in 0..5 {
        let began = Instant::now();
        let opened = FileJournal::open(directory.path(), OpenMode::Continue)?;
        let blobs = FileBlobs::open(&directory.path().join("blobs"))?;
        let recorded =
            RecordedRun::read(opened.records.iter().map(|record| record.payload.as_slice()), &blobs)?;
        events = recorded.records.len();
        let (outbox, _inbox) = mailbox();
        let deps = EngineDeps { journal: opened.journal, blobs: Arc::new(blobs), clock: Arc::new(NoClock) };
        let engine = Engine::resume(
            deps,
            Instantly { outbox },
            recorded.run(),
            recorded.next(),
            ResumeRequest::default(),
        );
        times.push(began.elapsed());
        drop(engine);
    }
    times.sort_unstable();
    let median = times.get(times.len() / 2).copied().unwrap_or_default().as_secs_f64() * 1e3;
    println!("resume at {events} events: {median:.1} ms to the first command");
    Ok(())
}

fn main() -> Outcome<()> {
    iterations()?;
    growth()?;
    resume(500)?;
    resume(50_000)
}
