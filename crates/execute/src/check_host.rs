//! What one run knows about the machine that its checks run on: what was said once, and what programs answered.
//!
//! Invariant: shared by all commands of a run, and only ever adds.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fixpoint_ports::{Cancel, ExitCause, FileAccess, Invocation, ProcessLimits, Program, Stdin};
use fixpoint_vocabulary::Text;

use crate::ExecutionContext;
use crate::error::ExecuteError;
use crate::progress::Progress;
use crate::right_tree::{Interpreter, TreeProblem};

/// How long a program may take to say what it is.
const PATIENCE: Duration = Duration::from_secs(10);
const LONGEST_ANSWER: usize = 1 << 20;

/// What a run learned about its machine; empty at its beginning.
#[derive(Debug, Default)]
pub struct CheckHost {
    said: Mutex<BTreeSet<String>>,
    /// By the program that was asked; `None` where it gave no answer.
    interpreters: Mutex<BTreeMap<PathBuf, Option<Interpreter>>>,
    /// What programs say about themselves, by the question.
    answers: Mutex<BTreeMap<Vec<String>, Option<String>>>,
    /// Why code would not come from the slot, by interpreter and slot; `None` where it does.
    verified: Mutex<BTreeMap<(PathBuf, String), Option<TreeProblem>>>,
    /// The modules that an interpreter has imported from a slot.
    from_slot: Mutex<BTreeMap<PathBuf, BTreeSet<String>>>,
    /// Keys of the baselines that this run took.
    taken: Mutex<BTreeSet<String>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl CheckHost {
    pub(crate) fn note_baseline(&self, key: &str) {
        lock(&self.taken).insert(key.to_string());
    }

    pub(crate) fn took_baseline(&self, key: &str) -> bool {
        lock(&self.taken).contains(key)
    }
}

impl ExecutionContext {
    /// Shows a sentence, unless this run has shown it.
    pub(crate) fn notice_once(&self, en: impl Into<String>, ja: impl Into<String>) {
        let en = en.into();
        if lock(&self.host.said).insert(en.clone()) {
            self.deps.progress.report(Progress::Notice(&Text::new(en, ja.into())));
        }
    }

    /// What is known of an interpreter, asked for once.
    pub(crate) fn known_interpreter(
        &self,
        program: &Path,
        ask: impl FnOnce() -> Result<Option<Interpreter>, ExecuteError>,
    ) -> Result<Option<Interpreter>, ExecuteError> {
        if let Some(known) = lock(&self.host.interpreters).get(program) {
            return Ok(known.clone());
        }
        let found = ask()?;
        lock(&self.host.interpreters).insert(program.to_path_buf(), found.clone());
        Ok(found)
    }

    /// Whether an interpreter imports from a slot, found out once for each slot and set of variables.
    pub(crate) fn known_verification(
        &self,
        key: (PathBuf, String),
        verify: impl FnOnce() -> Result<Option<TreeProblem>, ExecuteError>,
    ) -> Result<Option<TreeProblem>, ExecuteError> {
        if let Some(known) = lock(&self.host.verified).get(&key) {
            return Ok(known.clone());
        }
        let problem = verify()?;
        lock(&self.host.verified).insert(key, problem.clone());
        Ok(problem)
    }

    /// Adds modules that an interpreter imports from a slot; all that it ever has.
    pub(crate) fn imported_from_slot(&self, program: &Path, modules: BTreeSet<String>) -> BTreeSet<String> {
        let mut known = lock(&self.host.from_slot);
        let known = known.entry(program.to_path_buf()).or_default();
        known.extend(modules);
        known.clone()
    }

    /// What a program prints about itself, asked for once: `["rustc", "-vV"]`. It runs outside of every project.
    pub(crate) fn known_answer(
        &self,
        question: &[&str],
        cancel: &Cancel,
    ) -> Result<Option<String>, ExecuteError> {
        let key: Vec<String> = question.iter().map(ToString::to_string).collect();
        if let Some(known) = lock(&self.host.answers).get(&key) {
            return Ok(known.clone());
        }
        let Some((program, arguments)) = question.split_first() else { return Ok(None) };
        let program = Program::Direct {
            program: program.into(),
            arguments: arguments.iter().map(Into::into).collect(),
        };
        let answer = self.ask(program, Path::new("/"), self.check_environment.clone(), cancel)?;
        lock(&self.host.answers).insert(key, answer.clone());
        Ok(answer)
    }

    /// Runs a program that ends soon; what it printed if it succeeded.
    pub(crate) fn ask(
        &self,
        program: Program,
        directory: &Path,
        environment: Vec<(std::ffi::OsString, std::ffi::OsString)>,
        cancel: &Cancel,
    ) -> Result<Option<String>, ExecuteError> {
        let Ok(output) = tempfile::NamedTempFile::new() else { return Ok(None) };
        let invocation = Invocation {
            program,
            access: FileAccess { readable: vec![directory.to_path_buf()], ..FileAccess::default() },
            directory: directory.to_path_buf(),
            environment,
            stdin: Stdin::Closed,
            limits: ProcessLimits {
                wall: PATIENCE,
                silence: None,
                grace: Duration::from_secs(1),
                kept_output: LONGEST_ANSWER as u64,
            },
            output: output.path().to_path_buf(),
        };
        let mut printed = Vec::new();
        let mut keep = |bytes: &[u8]| {
            let room = LONGEST_ANSWER.saturating_sub(printed.len());
            printed.extend(bytes.iter().take(room));
        };
        match self.deps.processes.run(&invocation, cancel, &mut keep)?.cause {
            ExitCause::Exited(0) => Ok(Some(String::from_utf8_lossy(&printed).into_owned())),
            ExitCause::Cancelled => Err(ExecuteError::Cancelled),
            ExitCause::Exited(_)
            | ExitCause::Signalled(_)
            | ExitCause::TimedOut
            | ExitCause::Silent
            | ExitCause::NotStarted(_) => Ok(None),
        }
    }
}
