//! Runs checks on a commit: each in a slot that no agent touched, within its time limit and under its lock.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::panic::resume_unwind;
use std::path::Path;
use std::time::{Duration, Instant};

use fixpoint_failures::{CommandLine, Failure, Report, Runner, TestId};
use fixpoint_ports::{
    Cancel, ExitCause, FileAccess, Invocation, ProcessLimits, Purpose, Slot, SlotLeftovers, SlotPurpose,
    SlotRequest, Stdin,
};
use fixpoint_vocabulary::run_spec::PlacedCheck;
use fixpoint_vocabulary::settings::CheckVerdict;
use fixpoint_vocabulary::work::{
    CheckCall, CheckReport, CheckRun, CommandId, CommandResult, CommitId, FailureId, Leftovers, Reuse,
    TestName,
};

use crate::ExecutionContext;
use crate::check_environment;
use crate::check_output::{CheckOutput, DecisionFile, read_file};
use crate::check_report::{
    FinishedCheck, Selection, could_not_run, led_out, not_set_up, report_of, without_directory, wrong_tree,
};
use crate::context::{directory_in, home_of_set_up};
use crate::error::ExecuteError;
use crate::logs::{check_log, redact};
use crate::moved_tests::moved_tests;
use crate::named_lock::{LockOutcome, acquire};
use crate::path_text::{path_bytes, path_text};
use crate::planted::planted;
use crate::progress::{LineSplitter, Progress};
use crate::report_files::ReportFiles;
use crate::right_tree::{SlotCommand, TreeProblem};

const KEPT_OUTPUT: u64 = 64 << 20;
const GRACE: Duration = Duration::from_secs(5);
/// A larger package manifest is ignored.
const LARGEST_MANIFEST: u64 = 4 << 20;

/// One check of a command.
#[derive(Debug, Clone, Copy)]
struct CheckJob<'a> {
    command: CommandId,
    /// Its place in the command.
    index: usize,
    commit: &'a CommitId,
    call: &'a CheckCall,
    placed: &'a PlacedCheck,
    leftovers: Leftovers,
    is_at_base: bool,
}

impl ExecutionContext {
    pub(crate) fn run_checks(
        &self,
        id: CommandId,
        run: &CheckRun,
        cancel: &Cancel,
    ) -> Result<CommandResult, ExecuteError> {
        fs::create_dir_all(&self.paths.outputs).map_err(ExecuteError::file(&self.paths.outputs))?;
        let parallel = self.spec.settings.check_options.max_parallel.max(1) as usize;
        let mut jobs = Vec::with_capacity(run.calls.len());
        for (index, call) in run.calls.iter().enumerate() {
            let placed = self.check(call.check)?;
            let (commit, leftovers) = (&run.commit, run.leftovers);
            let is_at_base = run.reuse.is_some();
            jobs.push(CheckJob { command: id, index, commit, call, placed, leftovers, is_at_base });
        }
        let mut reports = Vec::with_capacity(jobs.len());
        for group in jobs.chunks(parallel) {
            let ended: Vec<Result<CheckReport, ExecuteError>> = std::thread::scope(|scope| {
                let mut threads = Vec::with_capacity(group.len());
                for job in group.iter().copied() {
                    threads.push(scope.spawn(move || self.cached_or_run(job, run.reuse.as_ref(), cancel)));
                }
                // A panic is a defect of ours, which the executor reports as one.
                threads
                    .into_iter()
                    .map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
                    .collect()
            });
            for report in ended {
                reports.push(report?);
            }
        }
        Ok(CommandResult::Checks { reports })
    }

    fn check(&self, number: u32) -> Result<&PlacedCheck, ExecuteError> {
        let missing = || ExecuteError::Failed(format!("check {number} does not exist"));
        self.spec.checks.get(number as usize).ok_or_else(missing)
    }

    /// What an earlier run saw at the same base, or what is seen now.
    fn cached_or_run(
        &self,
        job: CheckJob<'_>,
        reuse: Option<&Reuse>,
        cancel: &Cancel,
    ) -> Result<CheckReport, ExecuteError> {
        let (number, check) = (job.call.check, &job.placed.check);
        let why = |problem: &TreeProblem| self.deps.redactor.redact(problem.text());
        match reuse {
            Some(reuse) => {
                match self
                    .cached_baseline(job.placed, job.call, reuse, cancel, || self.run_check(job, cancel))
                {
                    Err(ExecuteError::WrongTree(problem)) => Ok(wrong_tree(number, why(&problem))),
                    ran => ran,
                }
            }
            None => match self.run_check(job, cancel) {
                // What the attempt did to the check's directory counts against the attempt, not the machine.
                Err(ExecuteError::NotADirectory(_)) => Ok(without_directory(number, check)),
                // So does what it did to the package manifests: set-up worked at the base.
                Err(ExecuteError::SetUp { .. }) => Ok(not_set_up(number, check)),
                Err(ExecuteError::WrongTree(problem @ TreeProblem::Files(_))) => {
                    Ok(led_out(number, check, why(&problem)))
                }
                Err(ExecuteError::WrongTree(problem @ TreeProblem::Machine(_))) => {
                    Ok(wrong_tree(number, why(&problem)))
                }
                ran => ran,
            },
        }
    }

    fn run_check(&self, job: CheckJob<'_>, cancel: &Cancel) -> Result<CheckReport, ExecuteError> {
        let (call, check) = (job.call, &job.placed.check);
        self.deps.progress.report(Progress::Checking(&check.name));
        let _lock = match &check.lock {
            None => None,
            Some(name) => {
                let patience = Duration::from_secs(u64::from(check.timeout));
                let outcome = acquire(&self.paths.locks, name, patience, cancel);
                match outcome.map_err(ExecuteError::file(&self.paths.locks))? {
                    LockOutcome::Acquired(file) => Some(file),
                    LockOutcome::Cancelled => return Err(ExecuteError::Cancelled),
                    LockOutcome::TimedOut => {
                        return Ok(could_not_run(call.check, "another process holds the lock of this check"));
                    }
                }
            }
        };
        let before = self.passed_before(call)?;
        let mut finished = self.run_once(job, &call.only, cancel)?;
        // That tests which were asked for did not run proves nothing about them.
        if finished.missed_all(&call.only) {
            finished = self.run_once(job, &BTreeSet::new(), cancel)?;
        }
        let (mut report, names) = report_of(call, check, finished, &before, &self.deps.redactor);
        if let Some(names) = names {
            let content = serde_json::to_vec(&names).map_err(|error| test_names(&error))?;
            report.passed_set = Some(self.deps.blobs.put(&content)?);
        }
        Ok(report)
    }

    /// The tests, and the files that decide what a check does, that are no longer those of the commit.
    fn rewritten(
        &self,
        slot: &dyn Slot,
        job: CheckJob<'_>,
        command: &SlotCommand,
        report: &Report,
    ) -> Result<BTreeSet<String>, ExecuteError> {
        let changed = slot.changed_files()?;
        let planted = if command.concerns_python { self.planted(slot, job)? } else { BTreeMap::new() };
        if changed.is_empty() && planted.is_empty() {
            return Ok(BTreeSet::new());
        }
        let mut tests: BTreeSet<String> = report.passed.iter().map(ToString::to_string).collect();
        tests.extend(report.failures.iter().filter_map(Failure::test_id).map(|test| test.to_string()));
        tests.extend(self.passed_before(job.call)?.iter().map(ToString::to_string));
        let mut rewritten = self.protected_paths(job.commit, &changed, &tests)?;
        let modules: Vec<Vec<u8>> = planted.values().map(|module| path_bytes(module)).collect();
        let modules = self.protected_paths(job.commit, &modules, &tests)?;
        rewritten.extend(planted.into_iter().filter(|(_, of)| modules.contains(of)).map(|(path, _)| path));
        Ok(rewritten)
    }

    /// What Python would load instead of modules of the commit, with these modules.
    fn planted(&self, slot: &dyn Slot, job: CheckJob<'_>) -> Result<BTreeMap<String, String>, ExecuteError> {
        let files = self.deps.workspaces.files(job.commit)?;
        let files: Vec<String> = files.iter().map(|path| path_text(path)).collect();
        Ok(planted(slot.directory(), &files))
    }

    /// The tests that were waited for and are seen in a file that took the place of theirs.
    fn moved(
        &self,
        slot: &dyn Slot,
        directory: &Path,
        call: &CheckCall,
        report: &Report,
    ) -> Result<BTreeSet<TestName>, ExecuteError> {
        let name = |test: &TestId| TestName(self.deps.redactor.redact(&test.to_string()).to_string());
        let passed: BTreeSet<TestName> = report.passed.iter().map(name).collect();
        if call.watched.is_subset(&passed) {
            return Ok(BTreeSet::new());
        }
        let is_file =
            |path: &str| [directory, slot.directory()].iter().any(|place| place.join(path).is_file());
        Ok(moved_tests(&call.watched, &passed, &self.passed_before(call)?, &is_file))
    }

    /// The tests that passed at the base.
    fn passed_before(&self, call: &CheckCall) -> Result<BTreeSet<TestName>, ExecuteError> {
        let Some(blob) = &call.passed_before else { return Ok(BTreeSet::new()) };
        let content = self.deps.blobs.get(blob)?;
        // An unreadable list must not pass for an empty one: every test could vanish.
        serde_json::from_slice(&content).map_err(|error| test_names(&error))
    }

    fn run_once(
        &self,
        job: CheckJob<'_>,
        only: &BTreeSet<FailureId>,
        cancel: &Cancel,
    ) -> Result<FinishedCheck, ExecuteError> {
        let log = check_log(&self.paths.outputs, job.command, job.index);
        let mut slot = self.deps.workspaces.acquire(&slot_request(job), cancel)?;
        self.prepare(&*slot, &log, cancel)?;
        let directory = directory_in(&*slot, &job.placed.directory)?;
        let line = command_line(job.placed, &directory);
        // What is not a test cannot be asked for, so everything runs.
        let tests: Option<BTreeSet<String>> =
            only.iter().map(|id| id.test().map(ToString::to_string)).collect();
        let (command, selection) = match tests.and_then(|tests| line.only(&tests)) {
            Some(command) => (command, Selection::Named),
            None => (line.telling_everything(), Selection::All),
        };
        let decision = DecisionFile::new(&self.paths.outputs, &self.run, job.command, job.index)?;
        let report_files = ReportFiles::clear(&directory);
        let command = self.slot_command(&*slot, &directory, command, cancel)?;
        let invocation = Invocation {
            access: access_of_check(&*slot, &command, &decision),
            ..check_invocation(job.placed, &directory, &command, &decision, &log)
        };
        let mut output = CheckOutput::new(&line, &*slot, self.spec.settings.fingerprint.values);
        let mut lines = LineSplitter::new(&*self.deps.progress, &self.deps.redactor);
        let began = Instant::now();
        let exit = self.deps.processes.run(&invocation, cancel, &mut |bytes| {
            output.push(bytes);
            lines.push(bytes);
        })?;
        self.tell_refused(&exit.refused);
        let redacted = redact(&log, &self.deps.redactor).map_err(ExecuteError::file(&log));
        if exit.cause == ExitCause::Cancelled {
            return Err(ExecuteError::Cancelled);
        }
        redacted?;
        report_files.read(&mut |bytes| output.push_report(bytes));
        let took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let mode = job.placed.check.verdict;
        let counts = job.is_at_base || job.call.decided_by_file || mode == CheckVerdict::File;
        let is_fresh = job.is_at_base || job.leftovers != Leftovers::Kept;
        let idle = output.idle(&directory).filter(|_| is_fresh);
        let (report, verdict) = output.finish(&exit.cause, Some(&decision).filter(|_| counts), mode);
        let rewrote = match job.leftovers {
            Leftovers::Kept => BTreeSet::new(),
            Leftovers::Pristine | Leftovers::Baseline => self.rewritten(&*slot, job, &command, &report)?,
        };
        let moved = self.moved(&*slot, &directory, job.call, &report)?;
        if job.leftovers == Leftovers::Baseline {
            slot.capture_pristine()?;
        }
        let (kind, places) = (job.placed.check.kind, [directory.as_path(), slot.directory()]);
        let environment = check_environment::problem(&report, &exit.cause, kind, places);
        Ok(FinishedCheck {
            cause: exit.cause,
            report,
            verdict,
            runner: line.runner(),
            selection,
            took_ms,
            rewrote,
            moved,
            idle,
            is_at_base: job.is_at_base,
            environment,
        })
    }
}

fn slot_request(job: CheckJob<'_>) -> SlotRequest<'_> {
    SlotRequest {
        purpose: SlotPurpose::Check,
        at: job.commit,
        recover_as: None,
        leftovers: match job.leftovers {
            Leftovers::Kept => SlotLeftovers::Kept,
            Leftovers::Pristine | Leftovers::Baseline => SlotLeftovers::Pristine,
        },
    }
}

fn access_of_check(slot: &dyn Slot, command: &SlotCommand, decision: &DecisionFile) -> FileAccess {
    let own = [slot.directory(), command.scratch.path(), decision.directory.as_path()];
    FileAccess {
        purpose: Purpose::Check,
        writable: own.map(Path::to_path_buf).to_vec(),
        home_before: home_of_set_up(slot),
        ..FileAccess::default()
    }
}

fn check_invocation(
    placed: &PlacedCheck,
    directory: &Path,
    command: &SlotCommand,
    decision: &DecisionFile,
    log: &Path,
) -> Invocation {
    let mut environment = command.environment.clone();
    environment.push(("FIXPOINT_CHECK_ID".into(), OsString::from(&decision.id)));
    environment.push(("FIXPOINT_DECISION_FILE".into(), decision.path.clone().into_os_string()));
    Invocation {
        program: command.program.clone(),
        access: FileAccess::default(),
        directory: directory.to_path_buf(),
        environment,
        stdin: Stdin::Closed,
        limits: ProcessLimits {
            wall: Duration::from_secs(u64::from(placed.check.timeout)),
            silence: None,
            grace: GRACE,
            kept_output: KEPT_OUTPUT,
        },
        output: log.to_path_buf(),
    }
}

fn test_names(error: &serde_json::Error) -> ExecuteError {
    ExecuteError::Failed(format!(
        "the names of the tests that passed at the base cannot be stored or read ({error}); start the run again"
    ))
}

fn command_line(placed: &PlacedCheck, directory: &Path) -> CommandLine {
    let runner = Runner::from_name(&placed.check.runner);
    let line = CommandLine::read(&placed.check.command, runner, &|name| {
        let manifest = read_file(&directory.join("package.json"), LARGEST_MANIFEST)?;
        let manifest: serde_json::Value = serde_json::from_slice(&manifest).ok()?;
        manifest.get("scripts")?.get(name)?.as_str().map(ToString::to_string)
    });
    if has_one_target(directory) { line.with_one_target() } else { line }
}

/// Whether a directory holds one Rust package that is only a library or only a program, and builds no other package of the
/// repository.
fn has_one_target(directory: &Path) -> bool {
    let Some(manifest) = read_file(&directory.join("Cargo.toml"), LARGEST_MANIFEST) else { return false };
    let manifest = String::from_utf8_lossy(&manifest);
    let others = ["[workspace", "[[bin]]", "[[example]]", "path =", "path=", ".workspace", "build ="];
    let is = |path: &str| directory.join(path).exists();
    let has_one = is("src/lib.rs") != is("src/main.rs") && !is("src/bin") && !is("build.rs");
    has_one && !others.iter().any(|other| manifest.contains(other))
}
