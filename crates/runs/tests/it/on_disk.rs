//! A run of an agent that gets nowhere, with much to say: recorded, read back, told.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use fixpoint_decide::run::RunOptions;
use fixpoint_decide::task_run::TaskOptions;
use fixpoint_engine::{Engine, EngineDeps, EngineExit, FORMAT, JournalHeader, Record};
use fixpoint_journal::{FileJournal, JOURNAL_FILE};
use fixpoint_ports::{Blobs, Clock, Executor, Journal, Outbox, Seq, mailbox};
use fixpoint_runs::{
    ArtifactWriter, Diagnosis, FoldedRun, RunDirectory, RunError, RunId, StateDirectory, Status,
};
use fixpoint_vocabulary::prepared::{PreparedAction, PreparedCommand};
use fixpoint_vocabulary::work::{
    AgentEnd, AttemptResult, Base, CheckEnd, CheckReport, CommandEnd, CommandId, CommandResult, CommitId,
    ReportedFailure, TreeId,
};
use fixpoint_vocabulary::{Cause, Lang, Redactor};

/// Each message is larger than what a journal holds itself.
const MESSAGE: usize = 10_000;

struct Stuck {
    outbox: Outbox,
}

impl Executor for Stuck {
    fn start(&mut self, id: CommandId, command: PreparedCommand) {
        let result = match &command.action {
            PreparedAction::TakeBase => {
                CommandResult::Base(Base { commit: CommitId("base".into()), tree: TreeId("base".into()) })
            }
            PreparedAction::RunChecks(_) => CommandResult::Checks { reports: vec![report()] },
            PreparedAction::RunAttempt(order) => CommandResult::Attempt(AttemptResult {
                changed_files: 2,
                changed_lines: 5,
                ..AttemptResult::new(
                    AgentEnd::Exited,
                    CommitId(format!("commit {}", order.command.number)),
                    TreeId(format!("tree {}", order.command.number)),
                )
            }),
            other @ (PreparedAction::RestorePaths(_)
            | PreparedAction::FindProtected(..)
            | PreparedAction::Merge(_)
            | PreparedAction::Ask(_)
            | PreparedAction::AskPerson(_)
            | PreparedAction::FindCachedPlan
            | PreparedAction::StorePlan(_)
            | PreparedAction::Deliver(_)) => panic!("nobody asks for {other:?}"),
        };
        self.outbox.report(id, CommandEnd::Completed(result), Duration::from_millis(1500));
    }

    fn cancel(&mut self, _: CommandId) {}
}

fn report() -> CheckReport {
    let message = Redactor::default().redact(&"x".repeat(MESSAGE));
    let failure = ReportedFailure::of_test("adds".into(), "f00d".into(), message);
    CheckReport {
        failures: vec![failure.at(Some("src/lib.rs:3".into()))],
        passed: Some(1),
        counted: 1,
        took_ms: 1,
        ..CheckReport::new(0, CheckEnd::Failed)
    }
}

/// Always noon; between two looks at the clock that does not jump a second and a half goes by.
#[derive(Debug, Default)]
struct Noon(AtomicU64);

impl Clock for Noon {
    fn elapsed_ms(&self) -> u64 {
        self.0.fetch_add(1500, Ordering::Relaxed)
    }

    fn now_ms(&self) -> u64 {
        43_200_000
    }
}

/// Runs the agent to its end, and gives what was recorded as it was recorded.
fn stuck(run: &RunDirectory) -> Vec<Record> {
    let (outbox, inbox) = mailbox();
    let deps = EngineDeps {
        journal: FileJournal::create(&run.path).unwrap(),
        blobs: Arc::new(run.blobs().unwrap()) as Arc<dyn Blobs>,
        clock: Arc::new(Noon::default()),
    };
    let options = TaskOptions::new("loop".into(), BTreeSet::from([0]), BTreeSet::new());
    let opening =
        JournalHeader { format: FORMAT, at: 43_200_000, options: RunOptions::given(options), spec: None };
    let mut engine = Engine::begin(deps, Stuck { outbox }, opening).unwrap();
    let mut records = Vec::new();
    let ending = engine.run(&inbox, &mut |batch, _| records.extend_from_slice(batch)).unwrap();
    assert_eq!(ending, EngineExit::Ended(Cause::NotConverging));
    records
}

fn home() -> (tempfile::TempDir, RunDirectory) {
    let directory = tempfile::tempdir().unwrap();
    let run = StateDirectory::new(directory.path(), "r").run(&RunId("20260101-000000-aaaaa".into()));
    (directory, run)
}

#[test]
fn large_records_are_blobs_and_come_back_whole() {
    let (_directory, run) = home();
    let records = stuck(&run);
    let journal = fs::metadata(run.path.join(JOURNAL_FILE)).unwrap().len();
    assert!(journal < MESSAGE as u64, "{journal} bytes: the messages are elsewhere");
    assert_eq!(run.read_whole().unwrap().records, records);
    let blobs = fs::read_dir(run.path.join("blobs")).unwrap().flatten();
    for directory in blobs.filter(|entry| entry.file_name().len() == 2) {
        fs::remove_dir_all(directory.path()).unwrap();
    }
    let error = run.read_whole().unwrap_err();
    assert!(matches!(error, RunError::Damaged { .. }), "{error:?}");
    assert!(error.to_string().contains("record 3 cannot be read: blob"), "{error}");
    let read = run.read().unwrap();
    assert_eq!(read.recorded.records, records[..2], "what is before it is intact");
    assert_eq!(run.load().unwrap().status(), fixpoint_runs::Status::Damaged);
}

#[test]
fn another_version_is_refused_by_name() {
    let (_directory, run) = home();
    let mut journal = FileJournal::create(&run.path).unwrap();
    journal.append(Seq(0), br#"{"format": 99, "whatever": true}"#).unwrap();
    drop(journal);
    assert!(run.read().unwrap_err().to_string().contains("another version of Fixpoint (format 99"));
}

#[test]
fn a_failed_run_is_summed_up_and_diagnosed() {
    let (_directory, run) = home();
    stuck(&run);
    let loaded = run.load().unwrap();
    let iterations = &loaded.view().first().unwrap().history.iterations;
    assert_eq!(iterations.iter().map(|iteration| iteration.number).collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert_eq!(iterations[0].judged.failures[0].message.as_str().len(), MESSAGE);
    let summary = loaded.summary(Lang::En);
    assert_eq!((summary.status, summary.cause), (Status::Failed, Some(Cause::NotConverging)));
    assert_eq!((summary.cost.attempts, summary.cost.check_runs, summary.cost.seconds), (4, 6, 18));
    assert_eq!(summary.branch, None);
    let mut artifacts = ArtifactWriter::new(&run, Lang::En);
    FoldedRun::watched(&run.read_whole().unwrap(), |record, view| artifacts.note(record, view));
    artifacts.catch_up(loaded.view()).unwrap();
    let context = run.context("loop");
    let diagnosis: Diagnosis =
        serde_json::from_slice(&fs::read(context.join("diagnosis.json")).unwrap()).unwrap();
    assert_eq!(diagnosis.fingerprints[0].fingerprint, "f00d");
    assert_eq!((diagnosis.fingerprints[0].seen, diagnosis.fingerprints[0].in_a_row), (4, 4));
    assert!(
        fs::read_to_string(context.join("diagnosis.md")).unwrap().contains("`f00d` adds at src/lib.rs:3")
    );
    let history = fs::read_to_string(context.join("failure_fingerprint_history.json")).unwrap();
    let history: serde_json::Value = serde_json::from_str(&history).unwrap();
    assert_eq!(history["iterations"][3]["fingerprints"]["f00d"], 4);
    let sets: BTreeSet<String> =
        (0..4).map(|n| history["iterations"][n]["failure_set"].to_string()).collect();
    assert_eq!(sets.len(), 1, "the same failures have the same hash");
    let trees: BTreeSet<String> = (0..4).map(|n| history["iterations"][n]["diff"].to_string()).collect();
    assert_eq!(trees.len(), 4, "and other trees have others");
    assert!(context.join("iterations/4/current_failures.json").is_file());
}
