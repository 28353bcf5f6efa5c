//! Checks run on a commit: each in a slot that no agent touched, under its limits and locks.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fixpoint_decide::verdict;
use fixpoint_failures::{CommandLine, Options, Parser, Runner, Values};
use fixpoint_ports::{
    Cancel, ExitCause, Invocation, ProcessExit, ProcessLimits, Program, Slot, SlotPurpose, SlotRequest, Stdin,
};
use fixpoint_vocabulary::brief::PlacedCheck;
use fixpoint_vocabulary::settings::FingerprintValues;
use fixpoint_vocabulary::work::{
    CheckCall, CheckReport, CheckRun, CommandId, CommandResult, CommitId, FailureId, TestName,
};

use crate::Duty;
use crate::check_report::{
    FinishedCheck, Selection, could_not_run, not_set_up, report_of, without_directory,
};
use crate::duty::{Obstacle, directory_in};
use crate::log::{check_log, redact};
use crate::named_lock::{Asked, ask};
use crate::progress::{Lines, Progress};
use crate::report_files::ReportFiles;

const KEPT_OUTPUT: u64 = 64 << 20;
const GRACE: Duration = Duration::from_secs(5);
/// Of the output, so much is looked at for a verdict in words.
const VERDICT_TAIL: usize = 64 << 10;
/// A package manifest larger than this is none.
const LARGEST_MANIFEST: u64 = 4 << 20;
/// A decision file larger than this is none.
const LARGEST_DECISION: u64 = 1 << 20;

/// What distinguishes one run of a check within a command.
#[derive(Debug, Clone, Copy)]
struct Turn<'a> {
    id: CommandId,
    call: usize,
    commit: &'a CommitId,
}

impl Duty {
    pub(crate) fn run_checks(
        &self,
        id: CommandId,
        run: &CheckRun,
        cancel: &Cancel,
    ) -> Result<CommandResult, Obstacle> {
        fs::create_dir_all(&self.places.outputs).map_err(Obstacle::at(&self.places.outputs))?;
        let parallel = self.brief.settings.check_options.max_parallel.max(1) as usize;
        let calls: Vec<(usize, &CheckCall)> = run.calls.iter().enumerate().collect();
        let mut reports = Vec::with_capacity(calls.len());
        for group in calls.chunks(parallel) {
            let ended: Vec<Result<CheckReport, Obstacle>> = std::thread::scope(|scope| {
                let one = |(call, order)| {
                    let turn = Turn { id, call, commit: &run.commit };
                    scope.spawn(move || self.known_or_run(turn, order, run, cancel))
                };
                let threads: Vec<_> = group.iter().copied().map(one).collect();
                // A defect of ours is told as one by the executor; nobody asked to stop.
                threads
                    .into_iter()
                    .map(|thread| thread.join().unwrap_or_else(|died| resume_unwind(died)))
                    .collect()
            });
            for report in ended {
                reports.push(report?);
            }
        }
        Ok(CommandResult::Checks { reports })
    }

    /// What an earlier run saw at the same base, or what is seen now.
    fn known_or_run(
        &self,
        turn: Turn<'_>,
        call: &CheckCall,
        run: &CheckRun,
        cancel: &Cancel,
    ) -> Result<CheckReport, Obstacle> {
        let placed = self.check(call.check)?;
        match &run.reuse {
            Some(reuse) => self.at_base(placed, call, reuse, cancel, || self.run_check(turn, call, cancel)),
            None => match self.run_check(turn, call, cancel) {
                // What the attempt did to its own directory is held against the attempt, not the machine.
                Err(Obstacle::LeadsOut(_)) => Ok(without_directory(call.check, &placed.check)),
                // So is what it did to the files that name packages: they could be installed at the base.
                Err(Obstacle::SetUp { .. }) => Ok(not_set_up(call.check, &placed.check)),
                ran => ran,
            },
        }
    }

    fn check(&self, number: u32) -> Result<&PlacedCheck, Obstacle> {
        self.brief.checks.get(number as usize).ok_or(Obstacle::NoSuchCheck(number))
    }

    fn run_check(&self, turn: Turn<'_>, call: &CheckCall, cancel: &Cancel) -> Result<CheckReport, Obstacle> {
        let placed = self.check(call.check)?;
        self.tools.watcher.see(Progress::Checking(&placed.check.name));
        let _held = match &placed.check.lock {
            None => None,
            Some(name) => {
                let patience = Duration::from_secs(u64::from(placed.check.timeout));
                let asked = ask(&self.places.locks, name, patience, cancel);
                match asked.map_err(Obstacle::at(&self.places.locks))? {
                    Asked::Held(file) => Some(file),
                    Asked::Cancelled => return Err(Obstacle::Cancelled),
                    Asked::Busy => {
                        return Ok(could_not_run(call.check, "the lock of this check stays taken"));
                    }
                }
            }
        };
        let before = self.passed_before(call)?;
        let mut finished = self.run_once(turn, placed, &call.only, cancel)?;
        // Asking for single tests that then do not run at all proves nothing about them.
        if finished.missed_all(&call.only) {
            finished = self.run_once(turn, placed, &BTreeSet::new(), cancel)?;
        }
        let (mut report, names) = report_of(call, &placed.check, finished, &before, &self.tools.redactor);
        if let Some(names) = names {
            let content = serde_json::to_vec(&names).map_err(Obstacle::TestNames)?;
            report.passed_set = Some(self.tools.blobs.put(&content)?);
        }
        Ok(report)
    }

    /// The tests that passed at the base.
    fn passed_before(&self, call: &CheckCall) -> Result<BTreeSet<TestName>, Obstacle> {
        let Some(blob) = &call.passed_before else { return Ok(BTreeSet::new()) };
        let content = self.tools.blobs.get(blob)?;
        // Taken for none, a list that cannot be read would let every test vanish.
        serde_json::from_slice(&content).map_err(Obstacle::TestNames)
    }

    fn run_once(
        &self,
        turn: Turn<'_>,
        placed: &PlacedCheck,
        only: &BTreeSet<FailureId>,
        cancel: &Cancel,
    ) -> Result<FinishedCheck, Obstacle> {
        let log = check_log(&self.places.outputs, turn.id, turn.call);
        let request = SlotRequest { purpose: SlotPurpose::Check, at: turn.commit, recover_as: None };
        let slot = self.tools.workspaces.acquire(&request, cancel)?;
        self.prepare(&*slot, &log, cancel)?;
        let directory = directory_in(&*slot, &placed.directory)?;
        let line = command_line(placed, &directory);
        // Whatever is not a test cannot be asked for, so everything runs.
        let tests: Option<BTreeSet<String>> =
            only.iter().map(|id| id.test().map(ToString::to_string)).collect();
        let (command, selection) = match tests.and_then(|tests| line.only(&tests)) {
            Some(command) => (command, Selection::Named),
            None => (line.telling_everything(), Selection::All),
        };
        let decision = Decision::fresh(self, turn);
        decision.clear();
        let files = ReportFiles::clear(&directory);
        let invocation = self.check_invocation(placed, &directory, command, &decision, &log);
        let mut reading = Reading::new(&line, &*slot, self.brief.settings.fingerprint.values);
        let mut lines = Lines::new(&*self.tools.watcher);
        let began = Instant::now();
        let ended = self.tools.processes.run(&invocation, cancel, &mut |bytes| {
            reading.push(bytes);
            lines.push(bytes);
        })?;
        let redacted = redact(&log, &self.tools.redactor).map_err(Obstacle::at(&log));
        if ended.cause == ExitCause::Cancelled {
            return Err(Obstacle::Cancelled);
        }
        redacted?;
        files.read(&mut |bytes| reading.parser.push(bytes));
        let took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        Ok(reading.finish(ended, &decision, placed, line.runner(), selection, took_ms))
    }

    fn check_invocation(
        &self,
        placed: &PlacedCheck,
        directory: &Path,
        command: String,
        decision: &Decision,
        log: &Path,
    ) -> Invocation {
        let mut environment = self.check_environment.clone();
        environment.push(("FIXPOINT_CHECK_ID".into(), OsString::from(&decision.id)));
        environment.push(("FIXPOINT_DECISION_FILE".into(), decision.file.clone().into_os_string()));
        Invocation {
            program: Program::Shell(command),
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
}

fn command_line(placed: &PlacedCheck, directory: &Path) -> CommandLine {
    let told = Runner::from_name(&placed.check.runner);
    CommandLine::read(&placed.check.command, told, &|name| {
        let manifest = read_file(&directory.join("package.json"), LARGEST_MANIFEST)?;
        let manifest: serde_json::Value = serde_json::from_slice(&manifest).ok()?;
        manifest.get("scripts")?.get(name)?.as_str().map(ToString::to_string)
    })
}

/// The content of an ordinary file that is not too large. A link may lead to a device that never ends.
fn read_file(path: &Path, largest: u64) -> Option<Vec<u8>> {
    let metadata = fs::symlink_metadata(path).ok()?;
    let is_sane = metadata.is_file() && metadata.len() <= largest;
    is_sane.then(|| fs::read(path).ok()).flatten()
}

/// Where a check may write its decision, and the id that makes it this check's.
struct Decision {
    id: String,
    file: PathBuf,
}

impl Decision {
    fn fresh(duty: &Duty, turn: Turn<'_>) -> Self {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let seed = format!("{} {} {} {} {now:?}", duty.run, turn.id, turn.call, std::process::id());
        let id: String = blake3::hash(seed.as_bytes()).to_hex().chars().take(32).collect();
        let file = duty.places.outputs.join(format!("{}-check-{}.decision.json", turn.id, turn.call));
        Self { id, file }
    }

    fn clear(&self) {
        // If it stays, its id is another and it is ignored.
        drop(fs::remove_file(&self.file));
    }

    fn read(&self) -> Option<String> {
        String::from_utf8(read_file(&self.file, LARGEST_DECISION)?).ok()
    }
}

/// The output of a check as it comes.
struct Reading {
    parser: Parser,
    tail: Vec<u8>,
}

impl Reading {
    fn new(line: &CommandLine, slot: &dyn Slot, values: FingerprintValues) -> Self {
        let options = Options {
            runner: line.runner(),
            workdir: Some(slot.directory().to_string_lossy().into_owned()),
            values: match values {
                FingerprintValues::Drop => Values::Drop,
                FingerprintValues::Keep => Values::Keep,
            },
        };
        Self { parser: Parser::new(&options), tail: Vec::new() }
    }

    fn push(&mut self, bytes: &[u8]) {
        self.parser.push(bytes);
        self.tail.extend_from_slice(bytes);
        if self.tail.len() > 2 * VERDICT_TAIL {
            self.tail.drain(..self.tail.len() - VERDICT_TAIL);
        }
    }

    fn finish(
        self,
        ended: ProcessExit,
        decision: &Decision,
        placed: &PlacedCheck,
        runner: Option<Runner>,
        selection: Selection,
        took_ms: u64,
    ) -> FinishedCheck {
        let exit_code = match ended.cause {
            ExitCause::Exited(code) => Some(code),
            ExitCause::Signalled(_)
            | ExitCause::TimedOut
            | ExitCause::Silent
            | ExitCause::Cancelled
            | ExitCause::NotStarted(_) => None,
        };
        let verdict = verdict::decide(&verdict::Question {
            text: String::from_utf8_lossy(&self.tail).into_owned(),
            check_id: Some(decision.id.clone()),
            file: decision.read(),
            mode: placed.check.verdict,
        });
        let report = self.parser.finish(exit_code);
        FinishedCheck { cause: ended.cause, report, verdict, runner, selection, took_ms }
    }
}
