//! `fixpoint decide failures --log FILE`: reads the output of a command as it is, in bounded memory.
//!
//! The answer is that of the question with the same output, command, exit code and directory; only package scripts are
//! known here in addition, as they are when a check runs.

use std::fs::{self, File};
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};

use fixpoint_failures::{CommandLine, Options, Parser, Report};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

use super::kinds::Kind;
use crate::arguments::DecideArguments;
use crate::failure::Failure;
use crate::output::{Layout, Output, complain};

const CHUNK: usize = 64 << 10;
/// A larger `package.json` is ignored, as it is when a check runs.
const LARGEST_MANIFEST: u64 = 4 << 20;

pub(super) fn run(path: &Path, arguments: &DecideArguments, output: &mut Output) -> Result<(), Failure> {
    if arguments.kind != Kind::Failures {
        let kind = arguments.kind.name();
        return Err(Failure::BadInput(format!(
            "--log is for `decide failures`; `decide {kind}` reads a question"
        )));
    }
    let workdir = arguments.workdir.as_deref().map(absolute).transpose()?;
    let scripts = Scripts::of(workdir.as_deref().unwrap_or(Path::new(".")));
    let command = arguments.command.as_deref().unwrap_or_default();
    let line = CommandLine::read(command, None, &|name| scripts.script(name));
    let mut parser = Parser::new(&Options {
        runner: line.runner(),
        workdir: workdir.map(|directory| directory.to_string_lossy().into_owned()),
        ..Options::default()
    });
    if path.as_os_str() == "-" {
        let stdin = io::stdin();
        if stdin.is_terminal() {
            complain("reading the log from the terminal; Ctrl-D ends it");
        }
        push_all(stdin.lock(), &mut parser).map_err(Failure::NoInput)?;
    } else {
        let unreadable = |source| Failure::Unreadable { path: PathBuf::from(path), source };
        let file = File::open(path).map_err(unreadable)?;
        push_all(file, &mut parser).map_err(unreadable)?;
    }
    let report = parser.finish(line.telling_exit_code(arguments.exit_code));
    output.streamed_json(&InOrder(&report), if arguments.pretty { Layout::Indented } else { Layout::Line })
}

fn absolute(directory: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(directory).map_err(|error| Failure::BadInput(format!("--workdir: {error}")))
}

fn push_all(mut source: impl Read, parser: &mut Parser) -> io::Result<()> {
    let mut chunk = vec![0; CHUNK];
    loop {
        match source.read(&mut chunk) {
            Ok(0) => return Ok(()),
            Ok(length) => parser.push(chunk.get(..length).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The package scripts of the directory in which the command ran, if they can be read.
struct Scripts(serde_json::Value);

impl Scripts {
    fn of(directory: &Path) -> Self {
        let path = directory.join("package.json");
        let is_sane = |metadata: &fs::Metadata| metadata.is_file() && metadata.len() <= LARGEST_MANIFEST;
        let text = fs::symlink_metadata(&path).ok().filter(is_sane).and_then(|_| fs::read(&path).ok());
        Self(text.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default())
    }

    fn script(&self, name: &str) -> Option<String> {
        self.0.get("scripts")?.get(name)?.as_str().map(ToString::to_string)
    }
}

/// A report with its keys in the order in which the answers to questions have them. Unlike those it is not copied into a
/// tree first, which takes many times the memory of hundreds of thousands of names.
struct InOrder<'a>(&'a Report);

impl Serialize for InOrder<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let report = self.0;
        let mut map = serializer.serialize_map(None)?;
        if let Some(environment) = &report.environment {
            map.serialize_entry("environment", &sorted(environment)?)?;
        }
        map.serialize_entry("failures", &Each(&report.failures))?;
        map.serialize_entry("masked", &report.masked)?;
        if !report.omitted.is_nothing() {
            map.serialize_entry("omitted", &sorted(&report.omitted)?)?;
        }
        map.serialize_entry("passed", &report.passed)?;
        if report.passed_unnamed > 0 {
            map.serialize_entry("passed_unnamed", &report.passed_unnamed)?;
        }
        map.serialize_entry("ran_any", &report.ran_any)?;
        map.serialize_entry("runner", &report.runner)?;
        map.serialize_entry("skipped", &report.skipped)?;
        map.end()
    }
}

struct Each<'a, T>(&'a [T]);

impl<T: Serialize> Serialize for Each<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.0.len()))?;
        for one in self.0 {
            list.serialize_element(&sorted(one)?)?;
        }
        list.end()
    }
}

fn sorted<E: serde::ser::Error>(value: &impl Serialize) -> Result<serde_json::Value, E> {
    serde_json::to_value(value).map_err(E::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a field of the report that is missing here or stands elsewhere.
    #[test]
    fn every_field_is_written_in_order() {
        let output = "sh: 1: ffmpeg: not found\ntest a ... ok\ntest b ... ignored\ntest c ... FAILED\n";
        let mut parser = Parser::new(&Options::default());
        parser.push(output.as_bytes());
        parser.push(&[b'x'; 70 << 10]);
        parser.push(b"\ntest result: FAILED. 9 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n");
        let mut report = parser.finish(Some(101));
        report.environment = fixpoint_failures::environment_problem(output);
        let expected = serde_json::to_value(&report).unwrap();
        assert_eq!(expected.as_object().map(serde_json::Map::len), Some(9), "{expected}");
        assert_eq!(serde_json::to_string(&InOrder(&report)).unwrap(), expected.to_string());
    }
}
