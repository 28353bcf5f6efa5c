//! A plan of a thousand tasks in layers of ten, carried out by agents and checks that take no time: what the engine costs
//! for each task, beside the same bytes written and flushed by nothing at the same moment.
//!
//! `cargo bench -p fixpoint-runs --bench layers`, with `-- processor` for processor time alone. Every task waits for
//! the one before it in its column, so that ten are always under way; the ten ends are brought together by merges. The
//! directory is that of `FIXPOINT_BENCH_DIR`, else the temporary one.
#![expect(clippy::print_stdout, reason = "a benchmark prints")]

mod ground;

use std::collections::BTreeSet;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use fixpoint_decide::run::{Judging, PlanOptions, PlanningCalls, RunExtent, RunOptions};
use fixpoint_decide::task_run::TestEdits;
use fixpoint_engine::{Engine, EngineDeps, EngineExit, FORMAT, JournalHeader, RecordedRun, replay};
use fixpoint_journal::{FileBlobs, FileJournal, Flush};
use fixpoint_ports::{Executor, Journal, JournalError, Outbox, Seq, mailbox};
use fixpoint_vocabulary::ask::{PersonPresence, PlanningStyle, SavedPlan};
use fixpoint_vocabulary::documents::{ActionPlan, Complexity, GoalUnderstanding, Subtask};
use fixpoint_vocabulary::prepared::{PreparedAction, PreparedCommand};
use fixpoint_vocabulary::run_spec::{BaseSource, Delivery, PlacedCheck, RunSpec};
use fixpoint_vocabulary::settings::{Check, CheckKind, Settings};
use fixpoint_vocabulary::work::{
    AgentEnd, Allowance, AttemptResult, Base, CachedPlanMatch, CheckEnd, CheckReport, CheckRun, CommandEnd,
    CommandId, CommandResult, CommitId, Delivered, Merged, TreeId,
};
use fixpoint_vocabulary::{Cause, Redactor, TaskId};

use self::ground::{NoClock, Outcome, scratch};

/// Events that are written with one flush, at most.
const BATCH: usize = 64;
const WIDTH: usize = 10;
const GUARD: u32 = 0;

/// Agents and checks that take no time: every attempt changes the tree, every check passes.
#[derive(Debug)]
struct Instantly {
    outbox: Outbox,
    made: u64,
    draft: SavedPlan,
}

impl Instantly {
    /// A commit and a tree that nobody has seen.
    fn next(&mut self) -> (CommitId, TreeId) {
        self.made += 1;
        let name = format!("{:040}", self.made);
        (CommitId(name.clone()), TreeId(name))
    }

    fn attempt(&mut self) -> CommandResult {
        let (commit, tree) = self.next();
        CommandResult::Attempt(AttemptResult {
            exit_code: Some(0),
            changed_files: 1,
            changed_lines: 1,
            ..AttemptResult::new(AgentEnd::Exited, commit, tree)
        })
    }
}

fn checks(run: &CheckRun) -> CommandResult {
    let report =
        |check: u32| CheckReport { passed: Some(9), counted: 9, ..CheckReport::new(check, CheckEnd::Passed) };
    CommandResult::Checks { reports: run.calls.iter().map(|call| report(call.check)).collect() }
}

impl Executor for Instantly {
    fn start(&mut self, id: CommandId, command: PreparedCommand) {
        let result = match &command.action {
            PreparedAction::TakeBase => {
                CommandResult::Base(Base { commit: CommitId("base".into()), tree: TreeId("base".into()) })
            }
            PreparedAction::RunChecks(run) => checks(run),
            PreparedAction::RunAttempt(_) => self.attempt(),
            PreparedAction::RestorePaths(restore) => {
                CommandResult::Restored { commit: restore.onto.clone(), tree: TreeId(restore.onto.0.clone()) }
            }
            PreparedAction::FindProtected(..) => CommandResult::Protected { changes: Vec::new() },
            PreparedAction::Merge(_) => {
                let (commit, tree) = self.next();
                CommandResult::Merged(Merged { commit, tree, conflicts: Vec::new() })
            }
            PreparedAction::Deliver(_) => CommandResult::Delivered(Delivered::default()),
            PreparedAction::FindCachedPlan => {
                CommandResult::CachedPlan(CachedPlanMatch::Exact(self.draft.clone()))
            }
            PreparedAction::Ask(_) | PreparedAction::AskPerson(_) | PreparedAction::StorePlan(_) => {
                CommandResult::PlanStored
            }
        };
        self.outbox.report(id, CommandEnd::Completed(result), Duration::ZERO);
    }

    fn cancel(&mut self, _: CommandId) {}
}

fn task(layer: usize, column: usize) -> Subtask {
    let named = |layer: usize| TaskId::from(format!("layer-{layer}-task-{column}"));
    Subtask {
        id: named(layer),
        description: format!("Do part {column} of layer {layer}."),
        dependencies: layer.checked_sub(1).map(named).into_iter().collect(),
        estimated_complexity: Complexity::Low,
        required_tools: Vec::new(),
        acceptance: Vec::new(),
        scope_paths: vec![format!("src/{column}/**")],
        goals: Vec::new(),
        context: String::new(),
        subtasks: Vec::new(),
    }
}

fn opening(tasks: usize) -> JournalHeader {
    let mut settings = Settings { max_workers: u32::try_from(WIDTH).unwrap_or(1), ..Settings::default() };
    settings.planning.max_subtasks = u32::try_from(tasks).unwrap_or(u32::MAX);
    let check = Check::new("suite", "true", CheckKind::Guard);
    let spec = RunSpec {
        version: "0".into(),
        repository: "made-up".into(),
        directory: String::new(),
        goal: Redactor::default().redact("all layers"),
        agent: Vec::new(),
        checks: vec![PlacedCheck { check, directory: String::new() }],
        base: BaseSource::WorkingTree,
        settings,
        delivery: Delivery::Branch,
    };
    let options = PlanOptions {
        calls: PlanningCalls::AtOnce,
        style: PlanningStyle::default(),
        reflection_interval: 0,
        person: PersonPresence::Unavailable,
        judging: Judging::ByChecksAlone,
        extent: RunExtent::Whole,
        sigma: None,
        prices: std::collections::BTreeMap::new(),
        tools: Vec::new(),
        guards: BTreeSet::from([GUARD]),
        goals: BTreeSet::new(),
        test_edits: TestEdits::Checked,
    };
    JournalHeader {
        format: FORMAT,
        at: 0,
        options: RunOptions::planned(options, Allowance::default()),
        spec: Some(spec),
    }
}

fn draft(tasks: usize) -> SavedPlan {
    let tasks: Vec<Subtask> = (0..tasks).map(|n| task(n / WIDTH, n % WIDTH)).collect();
    let execution_order = tasks.iter().map(|task| task.id.clone()).collect();
    let actions = ActionPlan { execution_order, actions: Vec::new() };
    let goal = Redactor::default().redact("all layers");
    SavedPlan { goal, understanding: GoalUnderstanding::default(), tasks, actions }
}

/// A journal that writes and flushes the same bytes once more, beside it and right before, and notes how long that took:
/// what the disk does at this moment, it does to both.
#[derive(Debug)]
struct Beside {
    journal: FileJournal,
    floor: File,
    end: u64,
    took: Arc<AtomicU64>,
    flush: Flush,
}

impl Journal for Beside {
    fn append_all(&mut self, expected: Seq, records: &[&[u8]]) -> Result<Seq, JournalError> {
        if self.flush == Flush::Each {
            let began = Instant::now();
            let bytes = records.concat();
            let written = self.floor.write_all_at(&bytes, self.end).and_then(|()| self.floor.sync_data());
            written.map_err(JournalError::Unwritable)?;
            self.end += bytes.len() as u64;
            let nanoseconds = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
            self.took.store(nanoseconds, Ordering::Relaxed);
        }
        self.journal.append_all(expected, records)
    }
}

/// What a run took: for each record behind the plan, ours and the floor, in milliseconds.
struct Took {
    ours: Vec<f64>,
    floor: Vec<f64>,
    records: usize,
    /// The processor time of the whole run, from the first command to the last record.
    processor: f64,
}

impl Took {
    /// Ours and the floor in milliseconds a task: twice the median of a record would not do, since records of two sizes
    /// take turns, so the slowest tenth of both is left out instead, which is the disk's.
    fn each(&self, tasks: usize) -> (f64, f64) {
        let mean = |numbers: &[f64]| {
            let mut sorted = numbers.to_vec();
            sorted.sort_by(f64::total_cmp);
            let kept = sorted.len() - sorted.len() / 10;
            sorted.iter().take(kept).sum::<f64>() / kept.max(1) as f64
        };
        let records = self.ours.len() as f64 / tasks as f64;
        (mean(&self.ours) * records, mean(&self.floor) * records)
    }
}

/// Carries a plan of so many tasks out.
fn run(directory: &Path, tasks: usize, flush: Flush, batch: usize) -> Outcome<Took> {
    let (outbox, inbox) = mailbox();
    let took = Arc::new(AtomicU64::new(0));
    let journal = Beside {
        journal: FileJournal::create(directory)?.with_flush(flush),
        floor: File::create(directory.join("floor"))?,
        end: 0,
        took: Arc::clone(&took),
        flush,
    };
    let blobs = Arc::new(FileBlobs::open(&directory.join("blobs"))?);
    let deps = EngineDeps { journal, blobs, clock: Arc::new(NoClock) };
    let executor = Instantly { outbox, made: 0, draft: draft(tasks) };
    let mut engine = Engine::begin(deps, executor, opening(tasks))?.with_batches_of(batch);
    let (mut ours, mut floor, mut last, mut records) = (Vec::new(), Vec::new(), None, 0);
    let before = processor_ms()?;
    let ending = engine.run(&inbox, &mut |batch, run| {
        records += batch.len();
        let now = Instant::now();
        let beside = Duration::from_nanos(took.load(Ordering::Relaxed));
        if let Some(before) = last.replace(now).filter(|_| run.tasks().next().is_some()) {
            ours.push((now.duration_since(before).saturating_sub(beside)).as_secs_f64() * 1e3);
            floor.push(beside.as_secs_f64() * 1e3);
        }
    })?;
    let processor = processor_ms()? - before;
    if ending == EngineExit::Ended(Cause::Done) {
        Ok(Took { ours, floor, records, processor })
    } else {
        Err(format!("{ending:?}").into())
    }
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or_default()
}

fn flushed() -> Outcome<()> {
    const TASKS: usize = 1000;
    let mut ratios = Vec::new();
    for _ in 0..5 {
        let directory = scratch()?;
        let took = run(directory.path(), TASKS, Flush::Each, 1)?;
        let (ours, floor) = took.each(TASKS);
        println!(
            "{TASKS} tasks, flushed: {ours:.3} ms each; the same {} records written and flushed by nothing {floor:.3} ms; \
             ratio {:.2}",
            took.ours.len(),
            ours / floor
        );
        ratios.push(ours / floor);
    }
    println!("median ratio {:.2}", median(ratios));
    Ok(())
}

/// What the processor does for a task, in small and in large plans.
fn unflushed(tasks: usize) -> Outcome<f64> {
    let mut times = Vec::new();
    for _ in 0..5 {
        let directory = scratch()?;
        times.push(run(directory.path(), tasks, Flush::Never, 1)?.each(tasks).0);
    }
    let time = median(times);
    println!("{tasks} tasks, not flushed: {time:.3} ms each");
    Ok(time)
}

/// Whatever is measured must be what a run is: deciding it again comes to the same.
fn decided_again() -> Outcome<()> {
    let directory = scratch()?;
    run(directory.path(), 1000, Flush::Never, BATCH)?;
    let blobs = FileBlobs::open(&directory.path().join("blobs"))?;
    let records = FileJournal::inspect(directory.path())?.records;
    let recorded = RecordedRun::read(records.iter().map(|record| record.payload.as_slice()), &blobs)?;
    let opening = recorded.header.clone();
    let began = Instant::now();
    let replayed = replay(&recorded, opening.options, opening.spec);
    println!("{} decisions again: {:.0} ms", replayed.decisions, began.elapsed().as_secs_f64() * 1e3);
    match replayed.difference {
        None => Ok(()),
        Some(difference) => Err(format!("record {} is decided otherwise", difference.number).into()),
    }
}

/// One flush for all records of the events that are waiting, beside one flush for each; in turn.
fn grouped() -> Outcome<()> {
    const TASKS: usize = 1000;
    let mut ratios = Vec::new();
    for _ in 0..5 {
        let (single, batched) = (scratch()?, scratch()?);
        let single = run(single.path(), TASKS, Flush::Each, 1)?;
        let batched = run(batched.path(), TASKS, Flush::Each, BATCH)?;
        let (each, _) = single.each(TASKS);
        let (together, floor) = batched.each(TASKS);
        println!(
            "{TASKS} tasks, {WIDTH} workers: {each:.3} ms each with {} flushes, {together:.3} ms with {} flushes for {} \
             records (floor {floor:.3}); {:.1} times the throughput",
            single.ours.len(),
            batched.ours.len(),
            batched.records,
            each / together
        );
        ratios.push(each / together);
    }
    println!("median throughput of group commit {:.1} ×", median(ratios));
    Ok(())
}

/// Processor time of this process so far, in milliseconds.
fn processor_ms() -> Outcome<f64> {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanoseconds: f64 = stat.split_whitespace().next().unwrap_or_default().parse()?;
    Ok(nanoseconds / 1e6)
}

/// Processor time of a task, over enough tasks for a clock of hundredths of a second.
fn processor() -> Outcome<()> {
    const TASKS: usize = 1000;
    const RUNS: usize = 20;
    let mut times = Vec::new();
    for _ in 0..RUNS {
        times.push(run(scratch()?.path(), TASKS, Flush::Never, BATCH)?.processor / TASKS as f64);
    }
    println!("processor: {:.3} ms a task", median(times));
    Ok(())
}

fn main() -> Outcome<()> {
    if std::env::args().any(|argument| argument == "processor") {
        return processor();
    }
    let small = unflushed(100)?;
    let large = unflushed(1000)?;
    println!("a task of 1000 beside one of 100: {:.2}", large / small);
    processor()?;
    flushed()?;
    grouped()?;
    decided_again()
}
