//! A plan of independent tasks carried out by agents and checks that take no time; one task never gets done.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use fixpoint_decide::run::{Judging, PlanOptions, PlanningCalls, Run, RunExtent, RunOptions};
use fixpoint_decide::task_run::TestEdits;
use fixpoint_engine::{Engine, EngineDeps, EngineExit, FORMAT, JournalHeader, Record};
use fixpoint_journal::{FaultyDisk, MemoryBlobs, StoredJournal};
use fixpoint_ports::{Clock, Executor, Outbox, mailbox};
use fixpoint_vocabulary::ask::{ModelAnswer, ParsedAnswer, PersonPresence, PlanningStyle, SavedPlan};
use fixpoint_vocabulary::documents::{ActionPlan, Complexity, GoalUnderstanding, Subtask};
use fixpoint_vocabulary::prepared::{PreparedAction, PreparedCommand};
use fixpoint_vocabulary::run_spec::{BaseSource, Delivery, PlacedCheck, RunSpec};
use fixpoint_vocabulary::settings::{Check, CheckKind, Settings};
use fixpoint_vocabulary::usage::Usage;
use fixpoint_vocabulary::work::{
    AgentEnd, Allowance, AttemptResult, Base, CachedPlanMatch, CheckCall, CheckEnd, CheckReport, CommandEnd,
    CommandId, CommandResult, CommitId, Delivered, Merged, ReportedFailure, TreeId,
};
use fixpoint_vocabulary::{Redacted, Redactor, TaskId};

/// The number of the check that every task must keep passing; the goal of the task that fails comes after it.
const GUARD: u32 = 0;
/// The task that never gets done.
pub(crate) const HOPELESS: &str = "task-0";

/// Runs a plan of so many tasks to its end and shows every record to `watch`.
pub(crate) fn carry_out(tasks: usize, watch: &mut dyn FnMut(&[Record], &Run)) -> EngineExit {
    let (outbox, inbox) = mailbox();
    let deps = EngineDeps {
        journal: StoredJournal::begin(FaultyDisk::new()).unwrap(),
        blobs: Arc::new(MemoryBlobs::default()),
        clock: Arc::new(Noon),
    };
    let executor = Instantly { outbox, made: 0, draft: draft(tasks) };
    let mut engine = Engine::begin(deps, executor, opening()).unwrap();
    engine.run(&inbox, watch).unwrap()
}

/// It is always noon.
#[derive(Debug)]
struct Noon;

impl Clock for Noon {
    fn elapsed_ms(&self) -> u64 {
        0
    }

    fn now_ms(&self) -> u64 {
        43_200_000
    }
}

/// Performs everything at once. Every attempt changes the tree; every check passes but the goal of one task.
struct Instantly {
    outbox: Outbox,
    made: u64,
    draft: SavedPlan,
}

impl Instantly {
    /// A commit and a tree that nobody has seen.
    fn next(&mut self) -> (CommitId, TreeId) {
        self.made += 1;
        (CommitId(format!("commit {}", self.made)), TreeId(format!("tree {}", self.made)))
    }
}

impl Executor for Instantly {
    fn start(&mut self, id: CommandId, command: PreparedCommand) {
        let result = match &command.action {
            PreparedAction::TakeBase => {
                CommandResult::Base(Base { commit: CommitId("base".into()), tree: TreeId("base".into()) })
            }
            PreparedAction::RunChecks(run) => {
                CommandResult::Checks { reports: run.calls.iter().map(report).collect() }
            }
            PreparedAction::RunAttempt(_) => {
                let (commit, tree) = self.next();
                CommandResult::Attempt(AttemptResult::new(AgentEnd::Exited, commit, tree))
            }
            PreparedAction::RestorePaths(order) => {
                CommandResult::Restored { commit: order.onto.clone(), tree: TreeId(order.onto.0.clone()) }
            }
            PreparedAction::FindProtected(..) => CommandResult::Protected { changes: Vec::new() },
            PreparedAction::Merge(_) => {
                let (commit, tree) = self.next();
                CommandResult::Merged(Merged { commit, tree, conflicts: Vec::new() })
            }
            PreparedAction::FindCachedPlan => {
                CommandResult::CachedPlan(CachedPlanMatch::Exact(self.draft.clone()))
            }
            PreparedAction::Ask(_) => CommandResult::Answer(ModelAnswer {
                model: "nobody".into(),
                usage: Usage::default(),
                reading: ParsedAnswer::Unanswered { why: Redacted::ours("no model is there") },
            }),
            PreparedAction::Deliver(_) => CommandResult::Delivered(Delivered::default()),
            PreparedAction::AskPerson(_) | PreparedAction::StorePlan(_) => CommandResult::PlanStored,
        };
        self.outbox.report(id, CommandEnd::Completed(result), Duration::ZERO);
    }

    fn cancel(&mut self, _: CommandId) {}
}

fn report(call: &CheckCall) -> CheckReport {
    let message = Redacted::ours("it never works");
    let failure = ReportedFailure::of_test("hopeless".into(), "f00d".into(), message);
    let is_guard = call.check == GUARD;
    CheckReport {
        failures: if is_guard { Vec::new() } else { vec![failure] },
        passed: Some(9),
        counted: 9,
        ..CheckReport::new(call.check, if is_guard { CheckEnd::Passed } else { CheckEnd::Failed })
    }
}

pub(crate) fn opening() -> JournalHeader {
    let mut settings = Settings { max_workers: 3, ..Settings::default() };
    settings.planning.max_subtasks = 100;
    let check = Check::new("suite", "true", CheckKind::Guard);
    let spec = RunSpec {
        version: "0".into(),
        repository: "made-up".into(),
        directory: String::new(),
        goal: Redactor::default().redact("all tasks"),
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
        prices: BTreeMap::new(),
        tools: Vec::new(),
        guards: BTreeSet::from([GUARD]),
        goals: BTreeSet::new(),
        test_edits: TestEdits::Checked,
    };
    let options = RunOptions::planned(options, Allowance::default());
    JournalHeader { format: FORMAT, at: 43_200_000, options, spec: Some(spec) }
}

fn draft(tasks: usize) -> SavedPlan {
    let task = |number: usize| {
        let id = format!("task-{number}");
        Subtask {
            goals: if id == HOPELESS { vec!["false".to_string()] } else { Vec::new() },
            id: TaskId::from(id),
            description: format!("Do part {number}."),
            dependencies: Vec::new(),
            estimated_complexity: Complexity::Low,
            required_tools: Vec::new(),
            acceptance: Vec::new(),
            scope_paths: vec![format!("src/{number}/**")],
            context: String::new(),
            subtasks: Vec::new(),
        }
    };
    let tasks: Vec<Subtask> = (0..tasks).map(task).collect();
    let execution_order = tasks.iter().map(|task| task.id.clone()).collect();
    let goal = Redactor::default().redact("all tasks");
    let actions = ActionPlan { execution_order, actions: Vec::new() };
    SavedPlan { goal, understanding: GoalUnderstanding::default(), tasks, actions }
}
