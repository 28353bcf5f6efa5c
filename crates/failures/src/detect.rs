//! Whose words a line begins.
//!
//! Owns the first signs of every runner. Most lines of an output are nobody's, so a line is judged by its first byte
//! and turned away at once where no runner begins so. A runner that was told narrows the choice to it and to the
//! compilers it calls.

use memchr::{memchr, memmem};

use crate::report::Runner;
use crate::runners::{
    Reader, diagnostics, eslint, go, go_json, jest, libtest, libtest_json, mocha, nextest, node, panic,
    pytest, python, rustc, rustc_json, tap, unittest, vitest,
};
use crate::tail::Tail;

/// The reader that should take this line and what follows it.
pub(crate) fn begin(line: &str, told: Option<Runner>, tail: &Tail) -> Option<Reader> {
    let reader = candidate(line, tail)?;
    told.is_none_or(|told| belongs(told, reader.runner())).then_some(reader)
}

fn candidate(line: &str, tail: &Tail) -> Option<Reader> {
    let first = *line.as_bytes().first()?;
    let found = match first {
        b' ' | b'\t' => indented(line, tail),
        b'=' if pytest::is_start(line) => Some(Reader::new(Runner::Pytest, pytest::Pytest::default())),
        b'0'..=b'9' if pytest::is_quiet_end(line) => {
            Some(Reader::new(Runner::Pytest, pytest::Pytest::default()))
        }
        b'=' | b't' | b's' | b'R' if unittest::is_start(line) => Some(unittest_reader()),
        b'r' | b't' if libtest::is_start(line) || is_outcome(line) => Some(libtest_reader()),
        b'=' | b'-' | b'F' | b'o' | b'#' | b'?' | b'p' if go::is_start(line) => {
            Some(Reader::new(Runner::GoTest, go_json::GoJson::after(tail)))
        }
        b'F' | b'P' | b'T' if jest::is_start(line) => Some(Reader::new(Runner::Jest, jest::Jest::default())),
        b'T' | b'1' | b'o' | b'n' if tap::is_start(line) => {
            Some(Reader::new(Runner::Tap, tap::Tap::default()))
        }
        b'{' => json(line),
        b'e' | b'w' if rustc::is_start(line) => Some(Reader::new(Runner::Rustc, rustc::Rustc::default())),
        b'T' if line == "Traceback (most recent call last):" => {
            Some(Reader::new(Runner::Generic, python::Stray::default()))
        }
        b't' if panic::Panic::begin(line).is_some() => {
            Some(Reader::new(Runner::Generic, panic::Stray::default()))
        }
        b'/' if eslint::is_start(line) => Some(Reader::new(Runner::Eslint, eslint::Eslint::default())),
        0x80.. if node::is_start(line) => Some(Reader::new(Runner::NodeTest, node::Node::after(tail))),
        _ => None,
    };
    found.or_else(|| diagnostic(line))
}

fn indented(line: &str, tail: &Tail) -> Option<Reader> {
    let trimmed = line.trim_start();
    match trimmed.as_bytes().first()? {
        b'R' | b'D' if libtest::binary(line).is_some() => Some(libtest_reader()),
        b'N' if nextest::is_start(line) => Some(Reader::new(Runner::Nextest, nextest::Nextest::default())),
        b'R' | b'F' if vitest::is_start(line) => Some(Reader::new(Runner::Vitest, vitest::Vitest::default())),
        b'0'..=b'9' | b'E' | 0x80.. if mocha::is_start(line) => {
            Some(Reader::new(Runner::Mocha, mocha::Mocha::below(line, tail)))
        }
        b'F' | b'P' | 0x80.. if jest::is_start(line) => {
            Some(Reader::new(Runner::Jest, jest::Jest::default()))
        }
        _ => None,
    }
}

fn json(line: &str) -> Option<Reader> {
    if go_json::is_event(line) {
        Some(Reader::new(Runner::GoTest, go_json::GoJson::default()))
    } else if libtest_json::is_event(line) {
        Some(Reader::new(Runner::Nextest, libtest_json::LibtestJson))
    } else if rustc_json::is_message(line) {
        Some(Reader::new(Runner::Rustc, rustc_json::RustcJson))
    } else {
        None
    }
}

fn diagnostic(line: &str) -> Option<Reader> {
    memchr(b':', line.as_bytes())?;
    let diagnostic = diagnostics::begin(line)?;
    Some(Reader::new(diagnostic.runner(), diagnostic))
}

fn libtest_reader() -> Reader {
    Reader::new(Runner::CargoTest, libtest::Libtest::default())
}

fn unittest_reader() -> Reader {
    Reader::new(Runner::Unittest, unittest::Unittest::default())
}

/// `test name ... ok` without the line above that counts the tests.
fn is_outcome(line: &str) -> bool {
    line.starts_with("test ")
        && [" ... ok", " ... FAILED", " ... ignored"].iter().any(|outcome| line.ends_with(outcome))
        && memmem::find(line.as_bytes(), b" (").is_none()
}

/// Whether a line begins the output of another runner than the one whose output is being read. Only the banners count
/// that no test is likely to print.
pub(crate) fn interrupts(current: Runner, line: &str) -> bool {
    let Some(first) = line.as_bytes().first() else { return false };
    let begun = match first {
        b'=' if line.contains("= test session starts =") => Runner::Pytest,
        b'r' if libtest::is_start(line) => Runner::CargoTest,
        b' ' if nextest::is_start(line) => Runner::Nextest,
        b' ' if line.starts_with("     Running ") && libtest::binary(line).is_some() => Runner::CargoTest,
        b' ' if line.starts_with(" RUN  v") && vitest::is_start(line) => Runner::Vitest,
        b'T' if line.starts_with("TAP version ") => Runner::Tap,
        b'T' if line.starts_with("Test Suites: ") => Runner::Jest,
        _ => return false,
    };
    // Nextest runs libtest binaries, whose own words may show.
    begun != current && !(current == Runner::Nextest && begun == Runner::CargoTest)
}

/// Whether what a runner was told to be prints such output, itself or by calling a compiler.
fn belongs(told: Runner, found: Runner) -> bool {
    if told == found || found == Runner::Generic {
        return true;
    }
    match told {
        Runner::CargoTest | Runner::Nextest => {
            matches!(found, Runner::Rustc | Runner::CargoTest | Runner::Nextest)
        }
        Runner::NodeTest | Runner::Tap => matches!(found, Runner::NodeTest | Runner::Tap),
        Runner::Mocha => found == Runner::Tap,
        Runner::Pytest | Runner::Unittest => matches!(found, Runner::Pytest | Runner::Unittest),
        Runner::Junit | Runner::Generic => true,
        Runner::Gcc => found == Runner::Rustc,
        Runner::GoTest | Runner::Jest | Runner::Vitest | Runner::Rustc | Runner::Tsc | Runner::Eslint => {
            false
        }
    }
}
