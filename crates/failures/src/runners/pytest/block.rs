//! One block of a pytest session: the test it is of, its frames, and what was raised.
//!
//! Owns the long, short, line and native styles of tracebacks. Captured output below a block is not part of it.

use crate::collector::append;
use crate::fingerprint::FingerprintParts;
use crate::report::{Kind, Runner};
use crate::runners::python::{Traceback, frame, is_foreign};
use crate::runners::{indentation, place};
use crate::search::Search;

/// One failure as it was printed.
#[derive(Debug, Default)]
pub(crate) struct Block {
    name: String,
    traceback: Traceback,
    /// The marked source line of a frame whose position follows.
    marked: String,
    /// Other lines, such as `[XPASS(strict)] known`.
    loose: String,
    /// The indentation of the first line of the exception.
    indented: usize,
    /// Whether captured output has begun.
    captured: bool,
    native: bool,
    /// Whether a source line of the short style follows.
    source_follows: bool,
}

/// The name in `____ Class.test ____`.
pub(crate) fn blocks_name(line: &str) -> Option<&str> {
    let inner = line.strip_prefix('_')?.trim_start_matches('_').strip_prefix(' ')?;
    let inner = inner.trim_end_matches('_').strip_suffix(' ')?;
    // A row of separate underscores separates frames.
    (!inner.is_empty() && !inner.starts_with("_ ") && inner != "_" && line.ends_with('_')).then_some(inner)
}

impl Block {
    pub(crate) fn new(name: &str) -> Self {
        Self { name: name.to_string(), ..Self::default() }
    }

    pub(crate) fn line(&mut self, line: &str) {
        let is_captured = line.starts_with("---") && line.has(" Captured ");
        self.captured |= is_captured;
        if self.captured {
            return;
        }
        if line == "Traceback (most recent call last):" {
            self.native = true;
        }
        if self.native {
            return self.traceback.line(line);
        }
        if self.is_doctest() && self.doctest(line) {
            return;
        }
        let source_follows = std::mem::take(&mut self.source_follows);
        if line.starts_with("The above exception was the direct cause")
            || line.starts_with("During handling of the above")
        {
            self.traceback = Traceback::default();
        } else if let Some(source) = line.strip_prefix('>') {
            self.marked = source.trim().to_string();
        } else if let Some(raised) = line.strip_prefix("E ") {
            // What is raised is indented like the source above it.
            if self.traceback.raised.trim().is_empty() {
                self.traceback.raised.clear();
                self.indented = indentation(raised);
            }
            let indented = indentation(raised).min(self.indented);
            append(&mut self.traceback.raised, raised.get(indented..).unwrap_or(raised));
        } else if source_follows && line.starts_with("    ") {
            if let Some(frame) = self.traceback.frames.last_mut() {
                frame.source = line.trim().to_string();
            }
        } else if let Some((file, number, rest)) = place(line).filter(|(file, ..)| is_file(file)) {
            self.traceback.frame(file, number, &std::mem::take(&mut self.marked));
            self.source_follows = rest.starts_with(": in ");
        } else if line.starts_with('[') && !line.starts_with("[gw") {
            append(&mut self.loose, line);
        }
    }

    fn is_doctest(&self) -> bool {
        self.name.starts_with("[doctest] ")
    }

    /// An example in documentation: `013     >>> add(1, 2)`, what it should print and what it did. Whether the line is a
    /// part of it.
    fn doctest(&mut self, line: &str) -> bool {
        if !self.traceback.frames.is_empty() {
            // The first example that failed counts.
            return true;
        }
        if let Some((_, example)) = line.cut(">>> ") {
            self.marked = example.trim().to_string();
            return true;
        }
        let is_part = line.starts_with("Expected") || line.starts_with("Got");
        if !is_part && (self.loose.is_empty() || !line.starts_with("    ")) {
            return false;
        }
        if line.starts_with("    ") && !self.loose.has("\nGot") {
            append(&mut self.marked, line.trim());
        }
        append(&mut self.loose, line);
        true
    }

    /// The name as in the summary after the file, with dots.
    pub(crate) fn dotted(&self) -> String {
        // An example in documentation has the name of what it documents.
        let name = ["ERROR at setup of ", "ERROR at teardown of ", "[doctest] "]
            .iter()
            .find_map(|start| self.name.strip_prefix(start));
        name.unwrap_or(&self.name).to_string()
    }

    /// Whether this is the block of a file that could not be collected.
    pub(crate) fn is_collecting(&self, file: &str) -> bool {
        self.name.strip_prefix("ERROR collecting ") == Some(file)
    }

    /// The file of the test, where its traceback begins.
    pub(crate) fn test_file(&self) -> Option<&str> {
        self.traceback.frames.first().map(|frame| frame.file.as_str()).filter(|file| !is_foreign(file))
    }

    /// The failure, with its name in the summary if there is one.
    pub(crate) fn into_draft(self, id: Option<&str>) -> FingerprintParts {
        let collecting = self.name.strip_prefix("ERROR collecting ");
        let mut traceback = self.traceback.clone();
        // The compiler's view of a file comes before the exception it leads to.
        if let Some((file, line, raised)) = compile_error(&self.traceback.raised) {
            traceback.frame(file, line, "");
            traceback.raised = raised.to_string();
        }
        if traceback.raised.trim().is_empty() {
            traceback.raised.clone_from(&self.loose);
        }
        let kind = match (collecting, traceback.kind()) {
            (Some(_), _) => Kind::Compile,
            (None, Kind::Error) if self.loose.starts_with("[XPASS") || self.is_doctest() => Kind::Assertion,
            (None, kind) => kind,
        };
        let mut draft = FingerprintParts::new(Runner::Pytest, kind);
        traceback.describe(&mut draft);
        match (collecting, id) {
            (Some(file), _) => draft.file = Some(file.to_string()),
            (None, Some(id)) => draft.test = Some(id.to_string()),
            (None, None) => draft.test = Some(self.own_id()),
        }
        draft.file = draft.file.or_else(|| draft.test.as_ref()?.cut("::").map(|(file, _)| file.to_string()));
        if self.name.starts_with("ERROR at teardown") {
            draft.signature.push_str(" (teardown)");
        }
        draft
    }

    /// The name it would have in the summary.
    fn own_id(&self) -> String {
        let dotted = self.dotted();
        let (name, parameters) =
            dotted.find('[').and_then(|at| dotted.split_at_checked(at)).unwrap_or((&dotted, ""));
        let name = format!("{}{parameters}", name.replace('.', "::"));
        match self.test_file() {
            Some(file) => format!("{file}::{name}"),
            None => name,
        }
    }
}

/// The position of a syntax error, and the exception.
fn compile_error(raised: &str) -> Option<(&str, u32, &str)> {
    let (file, line) = frame(raised.lines().next()?)?;
    let error = raised.lines().find(|line| line.has("Error: ") && !line.starts_with(' '))?;
    Some((file, line, error))
}

fn is_file(file: &str) -> bool {
    !file.contains(' ')
        && (file.ends_with(".py") || file.has(".py") || file.starts_with('<') || file.contains('/'))
}

/// A line of an interpreter that crashes: the first frame of the project is the position.
pub(crate) fn crash_line(crash: &mut FingerprintParts, line: &str) {
    let Some((file, rest)) = line.trim_start().strip_prefix("File \"").and_then(|rest| rest.cut("\", line "))
    else {
        return;
    };
    if crash.file.is_none() && !is_foreign(file) {
        let (number, function) = rest.cut(" in ").unwrap_or((rest, ""));
        crash.file = Some(file.to_string());
        crash.line = number.trim().parse().ok();
        crash.source = function.to_string();
        crash.runner = Runner::Pytest;
    }
}
