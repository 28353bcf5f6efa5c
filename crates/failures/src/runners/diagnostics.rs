//! Diagnostics on one line: gcc, clang and their linkers, tsc, and rustc's short form.
//!
//! Owns `file:line:column: error: …` and its kin. The source line that gcc prints below belongs to the diagnostic.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::{Read, Step, place};
use crate::collector::Collector;
use crate::fingerprint::FingerprintParts;
use crate::report::{Kind, Runner};

#[derive(Debug)]
pub(crate) struct Diagnostic {
    draft: Option<FingerprintParts>,
}

pub(crate) fn begin(line: &str) -> Option<Diagnostic> {
    // Nearly every line of a long output comes by here, and nearly none is meant.
    static ERROR: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("error"));
    static REFERENCE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("undefined reference to "));
    let draft = match ERROR.find(line.as_bytes()) {
        Some(_) => typescript(line).or_else(|| compiler(line)),
        None => REFERENCE.find(line.as_bytes()).and_then(|at| linker(line, at)),
    };
    draft.map(|draft| Diagnostic { draft: Some(draft) })
}

impl Diagnostic {
    pub(crate) fn runner(&self) -> Runner {
        self.draft.as_ref().map_or(Runner::Gcc, |draft| draft.runner)
    }
}

impl Read for Diagnostic {
    fn line(&mut self, line: &str, out: &mut Collector) -> Step {
        let Some(draft) = &mut self.draft else { return Step::Refused };
        // The first line is the one this reader was made from.
        if draft.signature.is_empty() {
            draft.signature.clone_from(&draft.message);
            return Step::Taken;
        }
        let trimmed = line.trim_start();
        let digits = trimmed.bytes().take_while(u8::is_ascii_digit).count();
        let source = trimmed.get(digits..).and_then(|rest| rest.strip_prefix(" | "));
        if let Some(source) =
            source.filter(|_| digits > 0 && line.starts_with(' ') && draft.runner == Runner::Gcc)
        {
            draft.source.push('\n');
            draft.source.push_str(source.trim());
            self.finish(out);
            return Step::Ended;
        }
        self.finish(out);
        Step::Refused
    }

    fn finish(&mut self, out: &mut Collector) {
        if let Some(draft) = self.draft.take() {
            out.failed(draft);
        }
    }
}

/// `broken.ts(5,7): error TS2322: …` and `broken.ts:8:7 - error TS2322: …`
fn typescript(line: &str) -> Option<FingerprintParts> {
    let (location, rest) = line.split_once(": error TS").or_else(|| line.split_once(" - error TS"))?;
    let (code, message) = rest.split_once(": ")?;
    let (file, number) = match location.strip_suffix(')').and_then(|rest| rest.rsplit_once('(')) {
        Some((file, position)) => (file, position.split(',').next()?.parse().ok()),
        None => place(location).map(|(file, line, _)| (file, Some(line)))?,
    };
    let mut draft =
        FingerprintParts::new(Runner::Tsc, Kind::Compile).message(message).at(Some((file, number)));
    draft.source = format!("TS{code}");
    Some(draft)
}

/// `broken.c:3:37: error: …`, `src/lib.rs:15:13: error[E0425]: …`
fn compiler(line: &str) -> Option<FingerprintParts> {
    let (file, number, rest) = place(line)?;
    let is_file = !file.is_empty() && !file.contains(['\t', '|', '"']) && !file.starts_with(' ');
    // Their checkers report rules, as any linter.
    let is_script = [".py", ".pyi", ".sh", ".bash"].iter().any(|ending| file.ends_with(ending));
    let rest = rest.strip_prefix(": ").filter(|_| is_file && !is_script)?;
    let rest = rest.strip_prefix("fatal ").unwrap_or(rest);
    let rest = rest.strip_prefix("error")?;
    let (code, message) = match rest.strip_prefix('[') {
        Some(coded) => coded.split_once("]: ")?,
        None => ("", rest.strip_prefix(": ")?),
    };
    let runner = if file.ends_with(".rs") { Runner::Rustc } else { Runner::Gcc };
    let kind =
        if message.ends_with(']') && message.contains("[-Werror") { Kind::Lint } else { Kind::Compile };
    let mut draft = FingerprintParts::new(runner, kind).message(message).at(Some((file, Some(number))));
    draft.source = code.to_string();
    Some(draft)
}

/// `missing.c:(.text+0xf): undefined reference to 'add'`
fn linker(line: &str, at: usize) -> Option<FingerprintParts> {
    let message = line.get(at..)?;
    let before = line.get(..at)?.trim_end_matches([' ', ':']);
    let object = before.rsplit(": ").next()?.split(":(").next()?;
    let file = object.split(':').next()?;
    let file = file.rsplit('/').next().filter(|_| file.ends_with(".o")).unwrap_or(file);
    // Names of objects are drawn at random where a compiler links at once.
    let file = (!file.ends_with(".o")).then_some((file, None));
    let mut draft = FingerprintParts::new(Runner::Gcc, Kind::Compile).message(message).at(file);
    draft.source = message.to_string();
    Some(draft)
}
