//! What a check leaves while it runs: its output, and the file in which it may write its decision.

use std::fs;
use std::path::{Path, PathBuf};

use fixpoint_decide::verdict;
use fixpoint_failures::{CommandLine, Options, Parser, Report, Values};
use fixpoint_ports::{ExitCause, Slot};
use fixpoint_vocabulary::settings::{CheckVerdict, FingerprintValues};
use fixpoint_vocabulary::work::CommandId;

use crate::error::ExecuteError;
use crate::idle::{Idle, idle};

/// The end of the output that is searched for a verdict in words.
const VERDICT_TAIL: usize = 64 << 10;
/// A larger decision file is ignored.
const LARGEST_DECISION: u64 = 1 << 20;

/// The content of an ordinary file that is not too large. A link may lead to a device that never ends.
pub(crate) fn read_file(path: &Path, largest: u64) -> Option<Vec<u8>> {
    let metadata = fs::symlink_metadata(path).ok()?;
    let is_sane = metadata.is_file() && metadata.len() <= largest;
    is_sane.then(|| fs::read(path).ok()).flatten()
}

/// Where a check may write its decision, and the id by which it is this check's.
pub(crate) struct DecisionFile {
    pub(crate) id: String,
    /// It is alone there: the check may write to this directory.
    pub(crate) directory: PathBuf,
    pub(crate) path: PathBuf,
}

impl DecisionFile {
    /// A new one for a check of a command; `call` is its place there. What an earlier run left is removed.
    pub(crate) fn new(
        outputs: &Path,
        run: &str,
        command: CommandId,
        call: usize,
    ) -> Result<Self, ExecuteError> {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let seed = format!("{run} {command} {call} {} {now:?}", std::process::id());
        let id = blake3::hash(seed.as_bytes()).to_hex().chars().take(32).collect();
        let directory = outputs.join(format!("{command}-check-{call}.decision"));
        // If it cannot be removed, its id is another and it is ignored.
        drop(fs::remove_dir_all(&directory));
        fs::create_dir_all(&directory).map_err(ExecuteError::file(&directory))?;
        Ok(Self { id, path: directory.join("decision.json"), directory })
    }

    fn read(&self) -> Option<String> {
        String::from_utf8(read_file(&self.path, LARGEST_DECISION)?).ok()
    }
}

/// The output of a check as it comes.
pub(crate) struct CheckOutput {
    parser: Parser,
    tail: Vec<u8>,
}

impl CheckOutput {
    pub(crate) fn new(line: &CommandLine, slot: &dyn Slot, values: FingerprintValues) -> Self {
        let options = Options {
            runner: line.runner(),
            workdir: Some(slot.directory().to_string_lossy().into_owned()),
            values: match values {
                FingerprintValues::Drop => Values::Drop,
                FingerprintValues::Keep => Values::Keep,
            },
            coverage: line.coverage(),
        };
        Self { parser: Parser::new(&options), tail: Vec::new() }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.parser.push(bytes);
        self.tail.extend_from_slice(bytes);
        if self.tail.len() > 2 * VERDICT_TAIL {
            self.tail.drain(..self.tail.len() - VERDICT_TAIL);
        }
    }

    /// Adds a report that a test runner wrote to a file. A verdict in words is not looked for there.
    pub(crate) fn push_report(&mut self, bytes: &[u8]) {
        self.parser.push(bytes);
    }

    /// Whether it says that nothing was run in a directory, and why.
    pub(crate) fn idle(&self, directory: &Path) -> Option<Idle> {
        let is_whole = self.tail.len() < VERDICT_TAIL;
        let output = is_whole.then(|| String::from_utf8_lossy(&self.tail))?;
        idle(&output, &|path| directory.join(path).is_dir())
    }

    /// What the parser read, and what the check itself decided. Without a decision file none counts.
    pub(crate) fn finish(
        self,
        cause: &ExitCause,
        decision: Option<&DecisionFile>,
        mode: CheckVerdict,
    ) -> (Report, verdict::Answer) {
        let exit_code = match cause {
            ExitCause::Exited(code) => Some(*code),
            ExitCause::Signalled(_)
            | ExitCause::TimedOut
            | ExitCause::Silent
            | ExitCause::Cancelled
            | ExitCause::NotStarted(_) => None,
        };
        let verdict = verdict::decide(&verdict::Question {
            text: String::from_utf8_lossy(&self.tail).into_owned(),
            check_id: decision.map(|decision| decision.id.clone()),
            file: decision.and_then(DecisionFile::read),
            mode,
        });
        (self.parser.finish(exit_code), verdict)
    }
}
