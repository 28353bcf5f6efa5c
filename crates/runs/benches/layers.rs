//! A plan of a thousand tasks in layers of ten, carried out by agents and checks that take no time: what the engine costs
//! for each task, beside the same bytes written and flushed by nothing.
//!
//! `cargo bench -p fixpoint-runs --bench layers`. Every task waits for the one before it in its column, so that ten are
//! always under way; the ten ends are brought together by merges. The directory is that of `FIXPOINT_BENCH_DIR`, else
//! the temporary one.
#![expect(clippy::print_stdout, reason = "a benchmark prints")]

use std::collections::BTreeSet;
use std::error::Error;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fixpoint_decide::run::{Extent, Judging, PlanOrder, PlanningCalls, RunOrder};
use fixpoint_decide::task_run::TestEdits;
use fixpoint_engine::{Desk, Ending, Engine, FORMAT, Opening, Recorded, replay};
use fixpoint_journal::{FileBlobs, FileJournal, Flush};
use fixpoint_ports::{Clock, Executor, Outbox, mailbox};
use fixpoint_vocabulary::ask::{Asking, Draft, Manner};
use fixpoint_vocabulary::brief::{BaseOrder, Brief, Delivery, Errand, PlacedCheck};
use fixpoint_vocabulary::documents::{ActionPlan, Complexity, GoalUnderstanding, Subtask};
use fixpoint_vocabulary::settings::{Check, CheckKind, Settings};
use fixpoint_vocabulary::work::{
    AgentEnd, Allowance, AttemptOrder, AttemptResult, Base, CheckEnd, CheckReport, CheckRun, Command,
    CommandEnd, CommandId, CommandResult, CommitId, Merged, Recalled, TreeId,
};
use fixpoint_vocabulary::{Cause, Redactor, TaskId};

type Outcome<T> = Result<T, Box<dyn Error>>;

const WIDTH: usize = 10;
const GUARD: u32 = 0;

/// Agents and checks that take no time: every attempt changes the tree, every check passes.
#[derive(Debug)]
struct Instantly {
    outbox: Outbox,
    made: u64,
    draft: Draft,
}

impl Instantly {
    /// A commit and a tree that nobody has seen.
    fn next(&mut self) -> (CommitId, TreeId) {
        self.made += 1;
        let name = format!("{:040}", self.made);
        (CommitId(name.clone()), TreeId(name))
    }

    fn attempt(&mut self, _: &AttemptOrder) -> CommandResult {
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
    let report = |check: u32| CheckReport {
        check,
        end: CheckEnd::Passed,
        failures: Vec::new(),
        masked: false,
        passed: Some(9),
        counted: 9,
        passed_set: None,
        seen_passing: BTreeSet::new(),
        gone: BTreeSet::new(),
        reasons: Vec::new(),
        took_ms: 0,
    };
    CommandResult::Checks { reports: run.calls.iter().map(|call| report(call.check)).collect() }
}

impl Executor for Instantly {
    fn start(&mut self, id: CommandId, errand: &Errand) {
        let result = match &errand.command {
            Command::TakeBase => {
                CommandResult::Base(Base { commit: CommitId("base".into()), tree: TreeId("base".into()) })
            }
            Command::RunChecks(run) => checks(run),
            Command::RunAttempt(order) => self.attempt(order),
            Command::Graft(order) => {
                CommandResult::Grafted { commit: order.onto.clone(), tree: TreeId(order.onto.0.clone()) }
            }
            Command::Merge(_) => {
                let (commit, tree) = self.next();
                CommandResult::Merged(Merged { commit, tree, conflicts: Vec::new() })
            }
            Command::RecallPlan => CommandResult::Recalled(Recalled::Exact(self.draft.clone())),
            Command::Ask(_) | Command::AskPerson(_) | Command::KeepPlan => CommandResult::Kept,
        };
        self.outbox.report(id, CommandEnd::Completed(result), Duration::ZERO);
    }

    fn cancel(&mut self, _: CommandId) {}
}

#[derive(Debug)]
struct NoClock;

impl Clock for NoClock {
    fn elapsed_ms(&self) -> u64 {
        0
    }

    fn now_ms(&self) -> u64 {
        0
    }
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

fn opening(tasks: usize) -> Opening {
    let mut settings = Settings { max_workers: u32::try_from(WIDTH).unwrap_or(1), ..Settings::default() };
    settings.planning.max_subtasks = u32::try_from(tasks).unwrap_or(u32::MAX);
    let check = Check::new("suite", "true", CheckKind::Guard);
    let brief = Brief {
        version: "0".into(),
        repository: "made-up".into(),
        directory: String::new(),
        goal: Redactor::default().redact("all layers"),
        agent: Vec::new(),
        checks: vec![PlacedCheck { check, directory: String::new() }],
        base: BaseOrder::WorkingTree,
        settings,
        delivery: Delivery::Branch,
    };
    let order = PlanOrder {
        calls: PlanningCalls::AtOnce,
        manner: Manner::default(),
        reflection_interval: 0,
        asking: Asking::NobodyThere,
        judging: Judging::ByChecksAlone,
        extent: Extent::Whole,
        sigma: None,
        prices: std::collections::BTreeMap::new(),
        tools: Vec::new(),
        guards: BTreeSet::from([GUARD]),
        goals: BTreeSet::new(),
        test_edits: TestEdits::Checked,
    };
    Opening {
        format: FORMAT,
        at: 0,
        order: RunOrder::planned(order, Allowance::default()),
        brief: Some(brief),
    }
}

fn draft(tasks: usize) -> Draft {
    let tasks: Vec<Subtask> = (0..tasks).map(|n| task(n / WIDTH, n % WIDTH)).collect();
    let execution_order = tasks.iter().map(|task| task.id.clone()).collect();
    let actions = ActionPlan { execution_order, actions: Vec::new() };
    let goal = Redactor::default().redact("all layers");
    Draft { goal, understanding: GoalUnderstanding::default(), tasks, actions }
}

/// Carries a plan of so many tasks out and says how long it took from its first task to its end.
fn run(directory: &Path, tasks: usize, flush: Flush) -> Outcome<Duration> {
    let (outbox, inbox) = mailbox();
    let desk = Desk {
        journal: FileJournal::create(directory)?.with_flush(flush),
        blobs: Arc::new(FileBlobs::open(&directory.join("blobs"))?),
        clock: Arc::new(NoClock),
    };
    let executor = Instantly { outbox, made: 0, draft: draft(tasks) };
    let mut engine = Engine::begin(desk, executor, opening(tasks))?;
    let mut began = None;
    let ending = engine.run(&inbox, &mut |_, run| {
        if began.is_none() && run.tasks().next().is_some() {
            began = Some(Instant::now());
        }
    })?;
    let took = began.map(|began| began.elapsed()).unwrap_or_default();
    if ending == Ending::Ended(Cause::Done) { Ok(took) } else { Err(format!("{ending:?}").into()) }
}

/// So many bytes, written in so many parts that are flushed each, by nothing.
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

fn scratch() -> Outcome<tempfile::TempDir> {
    let base = std::env::var_os("FIXPOINT_BENCH_DIR").map_or_else(std::env::temp_dir, Into::into);
    Ok(tempfile::tempdir_in(base)?)
}

fn per(time: Duration, tasks: usize) -> f64 {
    time.as_secs_f64() * 1e3 / tasks as f64
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or_default()
}

/// The sizes of the records behind the plan.
fn sizes(directory: &Path) -> Outcome<Vec<usize>> {
    let records = FileJournal::inspect(directory)?.records;
    // The opening, the base and the plan come before the first task.
    Ok(records.iter().skip(3).map(|record| record.payload.len()).collect())
}

fn flushed() -> Outcome<()> {
    const TASKS: usize = 1000;
    let mut ratios = Vec::new();
    for _ in 0..5 {
        let directory = scratch()?;
        let ours = run(directory.path(), TASKS, Flush::Each)?;
        let sizes = sizes(directory.path())?;
        let floor = floor(directory.path(), &sizes)?;
        let ratio = ours.as_secs_f64() / floor.as_secs_f64();
        println!(
            "{TASKS} tasks, flushed: {:.3} ms each; the same {} records written and flushed by nothing {:.3} ms; ratio {ratio:.2}",
            per(ours, TASKS),
            sizes.len(),
            per(floor, TASKS),
        );
        ratios.push(ratio);
    }
    println!("median ratio {:.2}", median(ratios));
    Ok(())
}

/// What the processor does for a task, in small and in large plans.
fn unflushed(tasks: usize) -> Outcome<f64> {
    let mut times = Vec::new();
    for _ in 0..5 {
        let directory = scratch()?;
        times.push(per(run(directory.path(), tasks, Flush::Never)?, tasks));
    }
    let time = median(times);
    println!("{tasks} tasks, not flushed: {time:.3} ms each");
    Ok(time)
}

/// Whatever is measured must be what a run is: deciding it again comes to the same.
fn decided_again() -> Outcome<()> {
    let directory = scratch()?;
    run(directory.path(), 1000, Flush::Never)?;
    let blobs = FileBlobs::open(&directory.path().join("blobs"))?;
    let records = FileJournal::inspect(directory.path())?.records;
    let recorded = Recorded::read(records.iter().map(|record| record.payload.as_slice()), &blobs)?;
    let opening = recorded.opening.clone();
    let began = Instant::now();
    let replayed = replay(&recorded, opening.order, opening.brief);
    println!("{} decisions again: {:.0} ms", replayed.decisions, began.elapsed().as_secs_f64() * 1e3);
    match replayed.difference {
        None => Ok(()),
        Some(difference) => Err(format!("record {} is decided otherwise", difference.number).into()),
    }
}

fn main() -> Outcome<()> {
    let small = unflushed(100)?;
    let large = unflushed(1000)?;
    println!("a task of 1000 beside one of 100: {:.2}", large / small);
    flushed()?;
    decided_again()
}
