//! Recognises the runner that prints a line.
//!
//! Owns the first line of every runner. Most lines belong to none, so a line is rejected by its first byte where
//! possible. A known runner narrows the choice to it and to the compilers it calls.

use memchr::{memchr, memchr2, memmem};

use crate::report::Runner;
use crate::runners::{
    Read, Reader, ava, behave, biome, bun, catch2, ctest, deno, diagnostics, doctest, dotnet, eslint, exunit,
    go, go_json, googletest, gradle, jasmine, jest, junit_console, libtest, libtest_json, maven, mocha,
    nextest, node, panic, phpunit, playwright, pyright, pytest, python, robot, ruby, ruff, rustc, rustc_json,
    shellcheck, tap, unittest, vitest,
};
use crate::search::Search;
use crate::tail::Tail;

/// The reader for this line and those after it.
pub(crate) fn begin(line: &str, expected: Option<Runner>, tail: &Tail) -> Option<Reader> {
    // It does not look like a result of AVA alone.
    if expected == Some(Runner::Ava) && ava::is_passed(line) {
        return reader::<ava::Ava>(Runner::Ava);
    }
    let reader = candidate(line, tail)?;
    expected.is_none_or(|expected| belongs(expected, reader.runner)).then_some(reader)
}

/// Whether a line begins what a compiler or a linter says, in a form that many programs use.
pub(crate) fn is_diagnostic(line: &str) -> bool {
    line.starts_with("error") || line.starts_with("warning") || diagnostic(line).is_some()
}

fn candidate(line: &str, tail: &Tail) -> Option<Reader> {
    let first = *line.as_bytes().first()?;
    // Many a log begins its lines with a time, and no count does.
    let is_count = first.is_ascii_digit() && is_count(line);
    let found = match first {
        b' ' | b'\t' => indented(line, tail),
        b'[' => bracketed(line),
        b'P' | b'O' | b'N' | b'T' if phpunit::is_start(line) => reader::<phpunit::PhpUnit>(Runner::PhpUnit),
        b'0'..=b'9' if is_count && ruby::begin(line).is_some() => ruby(line),
        b'#' | b'R' | b'F' | b'A' if ruby::begin(line).is_some() => ruby(line),
        b'=' if pytest::is_start(line) => reader::<pytest::Pytest>(Runner::Pytest),
        b'F' | b'E' if pytest::is_short_summary(line) => reader::<pytest::Pytest>(Runner::Pytest),
        b'0'..=b'9' if is_count && pytest::is_quiet_end(line) => reader::<pytest::Pytest>(Runner::Pytest),
        b't' if unittest::unpickled::is_start(line) => {
            reader::<unittest::unpickled::Unpickled>(Runner::Unittest)
        }
        b'=' | b't' | b's' | b'R' if unittest::is_start(line) => {
            reader::<unittest::Unittest>(Runner::Unittest)
        }
        b'r' | b't' if libtest::is_start(line) || libtest::is_end(line) || is_outcome(line) => {
            reader::<libtest::Libtest>(Runner::CargoTest)
        }
        b'=' | b'-' | b'F' | b'o' | b'#' | b'?' | b'p' if go::is_start(line) => {
            Some(Reader::new(Runner::GoTest, go_json::GoJson::after(tail)))
        }
        b'F' | b'P' | b'T' if jest::is_start(line) => reader::<jest::Jest>(Runner::Jest),
        b'T' | b'1' | b'o' | b'n' | b'#' if tap::is_start(line) => reader::<tap::Tap>(Runner::Tap),
        b'{' => json(line),
        b'e' | b'w' if rustc::is_start(line) => reader::<rustc::Rustc>(Runner::Rustc),
        b'T' if line == "Traceback (most recent call last):" => reader::<python::Stray>(Runner::Generic),
        b't' if panic::Panic::begin(line).is_some() => reader::<panic::Stray>(Runner::Generic),
        b'/' if eslint::is_start(line) => reader::<eslint::Eslint>(Runner::Eslint),
        b'(' | b'b' | b'R' if bun::is_start(line) => {
            Some(Reader::new(Runner::Bun, bun::Bun::below(line, tail)))
        }
        b'r' | b'o' | b'F' if deno::is_start(line) => reader::<deno::Deno>(Runner::Deno),
        b'T' if deno::is_check(line) => reader::<deno::Checked>(Runner::Tsc),
        b'R' if playwright::is_banner(line) => reader::<playwright::Playwright>(Runner::Playwright),
        b'0'..=b'9' | b'P' if jasmine::is_start(line) => reader::<jasmine::Jasmine>(Runner::Jasmine),
        b'=' | b'R' if robot::is_start(line) => reader::<robot::Robot>(Runner::Robot),
        b'0'..=b'9' if is_count && robot::is_start(line) => reader::<robot::Robot>(Runner::Robot),
        b'U' | b'F' | b'E' if behave::is_start(line) => reader::<behave::Behave>(Runner::Behave),
        b'0'..=b'9' if is_count && behave::is_start(line) => reader::<behave::Behave>(Runner::Behave),
        b'*' if doctest::is_start(line) => reader::<doctest::Doctest>(Runner::Doctest),
        b'0'..=b'9' if is_count && doctest::is_start(line) => reader::<doctest::Doctest>(Runner::Doctest),
        b'-' if ruff::is_start(line, tail) => Some(Reader::new(Runner::Ruff, ruff::Ruff::below(line, tail))),
        b'I' if shellcheck::is_start(line) => reader::<shellcheck::Shellcheck>(Runner::Shellcheck),
        0x80.. if node::is_start(line) => Some(Reader::new(Runner::NodeTest, node::Node::after(tail))),
        _ => None,
    };
    found.or_else(|| by_end(line)).or_else(|| compiled(line, first)).or_else(|| diagnostic(line))
}

/// Whether a line begins with a number and a blank.
fn is_count(line: &str) -> bool {
    line.trim_start_matches(|letter: char| letter.is_ascii_digit()).starts_with(' ')
}

/// Whether a line has a part of a whole: `3/12`, `67%`.
fn is_part(line: &str) -> bool {
    memchr2(b'/', b'%', line.as_bytes()).is_some()
}

/// Tools of compiled languages.
fn compiled(line: &str, first: u8) -> Option<Reader> {
    match first {
        b'T' if maven::is_start(line) => reader::<maven::Maven>(Runner::Maven),
        b'T' | b'I' if ctest::is_start(line) => reader::<ctest::Ctest>(Runner::Ctest),
        b'0'..=b'9' if is_part(line) && ctest::is_start(line) => reader::<ctest::Ctest>(Runner::Ctest),
        b'F' | b'P' | b'T' | b'S' if dotnet::is_start(line) => reader::<dotnet::Dotnet>(Runner::DotnetTest),
        b'T' | b'F' | b'+' | b'\'' | 0x80.. if junit_console::is_start(line) => {
            reader::<junit_console::JunitConsole>(Runner::JunitConsole)
        }
        b'=' | b'A'..=b'Z' if exunit::is_start(line) => reader::<exunit::ExUnit>(Runner::ExUnit),
        b'0'..=b'9' if (is_count(line) || line.ends_with(']')) && exunit::is_start(line) => {
            reader::<exunit::ExUnit>(Runner::ExUnit)
        }
        b'R' if googletest::is_start(line) => reader::<googletest::GoogleTest>(Runner::GoogleTest),
        _ if gradle::is_start(line) => reader::<gradle::Gradle>(Runner::Gradle),
        _ if catch2::is_start(line) => reader::<catch2::Catch2>(Runner::Catch2),
        _ => None,
    }
}

fn bracketed(line: &str) -> Option<Reader> {
    if googletest::is_start(line) {
        reader::<googletest::GoogleTest>(Runner::GoogleTest)
    } else if maven::is_start(line) {
        reader::<maven::Maven>(Runner::Maven)
    } else {
        None
    }
}

/// Readers whose lines begin with a name, and end as no other.
fn by_end(line: &str) -> Option<Reader> {
    match line.as_bytes().last()? {
        b'|' if robot::is_result(line) => reader::<robot::Robot>(Runner::Robot),
        // The last byte of the line that is drawn behind the place.
        0x81 if biome::is_start(line) => reader::<biome::Biome>(Runner::Biome),
        _ => None,
    }
}

fn reader<R: Read + Default + 'static>(runner: Runner) -> Option<Reader> {
    Some(Reader::new(runner, R::default()))
}

fn ruby(line: &str) -> Option<Reader> {
    let reader = ruby::begin(line)?;
    Some(Reader::new(reader.runner(), reader))
}

fn indented(line: &str, tail: &Tail) -> Option<Reader> {
    let trimmed = line.trim_start();
    match trimmed.as_bytes().first()? {
        b'R' | b'D' if libtest::binary(line).is_some() => reader::<libtest::Libtest>(Runner::CargoTest),
        b'N' if nextest::is_start(line) => reader::<nextest::Nextest>(Runner::Nextest),
        b'R' | b'F' if vitest::is_start(line) => reader::<vitest::Vitest>(Runner::Vitest),
        b'T' if vitest::is_summary(line) => reader::<vitest::Vitest>(Runner::Vitest),
        b'0'..=b'9' | b'E' | 0x80.. if mocha::is_start(line) => {
            Some(Reader::new(Runner::Mocha, mocha::Mocha::below(line, tail)))
        }
        b'F' | b'P' | 0x80.. if jest::is_start(line) => reader::<jest::Jest>(Runner::Jest),
        b'0'..=b'9' | 0x80.. if exunit::is_start(line) => {
            Some(Reader::new(Runner::ExUnit, exunit::ExUnit::after(line, tail)))
        }
        b'0'..=b'9' if ctest::is_start(line) => reader::<ctest::Ctest>(Runner::Ctest),
        b'F' | b'P' | b'S' | b'D' if dotnet::is_indented_start(line) => {
            reader::<dotnet::Dotnet>(Runner::DotnetTest)
        }
        b'E' | b'F' if deno::is_start(line) => reader::<deno::Deno>(Runner::Deno),
        b'0'..=b'9' if bun::is_count(line) => reader::<bun::Bun>(Runner::Bun),
        b'M' if jasmine::is_message(line, tail) => {
            Some(Reader::new(Runner::Jasmine, jasmine::Jasmine::below(tail)))
        }
        b'0'..=b'9' | b'-' | b'o' | b'x' | 0x80..
            if playwright::is_start(line) || playwright::is_summary(line) =>
        {
            reader::<playwright::Playwright>(Runner::Playwright)
        }
        b'-' | b'U' | b'0'..=b'9' | 0x80.. if ava::is_start(line) => {
            Some(Reader::new(Runner::Ava, ava::Ava::after(tail)))
        }
        b'-' if ruff::is_start(line, tail) => Some(Reader::new(Runner::Ruff, ruff::Ruff::below(line, tail))),
        b'/' | b'A'..=b'Z' if pyright::is_start(line) => reader::<pyright::Pyright>(Runner::Pyright),
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
    if !diagnostics::is_worth_a_look(line) {
        return None;
    }
    if googletest::is_failure(line) {
        return reader::<googletest::GoogleTest>(Runner::GoogleTest);
    }
    if catch2::is_failure(line) {
        return reader::<catch2::Catch2>(Runner::Catch2);
    }
    if dotnet::is_failure(line) {
        return reader::<dotnet::Dotnet>(Runner::DotnetTest);
    }
    let diagnostic = diagnostics::begin(line)?;
    Some(Reader::new(diagnostic.runner(), diagnostic))
}

/// `test name ... ok` without the line above that counts the tests.
fn is_outcome(line: &str) -> bool {
    line.starts_with("test ")
        && [" ... ok", " ... FAILED", " ... ignored"].iter().any(|outcome| line.ends_with(outcome))
        && memmem::find(line.as_bytes(), b" (").is_none()
}

/// Whether a line begins the output of another runner. Only banners count that no test is likely to print.
pub(crate) fn interrupts(current: Runner, line: &str) -> bool {
    let Some(first) = line.as_bytes().first() else { return false };
    let begun = match first {
        b'=' if line.has("= test session starts =") => Runner::Pytest,
        b'r' if libtest::is_start(line) => Runner::CargoTest,
        b' ' if nextest::is_start(line) => Runner::Nextest,
        b' ' if line.starts_with("     Running ") && libtest::binary(line).is_some() => Runner::CargoTest,
        b' ' if line.starts_with(" RUN  v") && vitest::is_start(line) => Runner::Vitest,
        b'T' if line.starts_with("TAP version ") => Runner::Tap,
        b'P' if line.starts_with("PHPUnit ") && phpunit::is_start(line) => Runner::PhpUnit,
        b'#' if line == "# Running:" => Runner::Minitest,
        b'T' if line.starts_with("Test Suites: ") => Runner::Jest,
        b'=' | b'-' | b'F' if go::is_unmistakable(line) => Runner::GoTest,
        b'[' if googletest::is_unmistakable(line) => Runner::GoogleTest,
        b'[' | b'T' if maven::is_unmistakable(line) => Runner::Maven,
        b'T' if ctest::is_unmistakable(line) => Runner::Ctest,
        b'T' if junit_console::is_unmistakable(line) => Runner::JunitConsole,
        b'T' | b'F' | b'P' if dotnet::is_unmistakable(line) => Runner::DotnetTest,
        b'=' | b'R' if exunit::is_unmistakable(line) => Runner::ExUnit,
        b'>' | b'A'..=b'Z' | b'a'..=b'z' if gradle::is_unmistakable(line) => Runner::Gradle,
        b'b' if bun::is_banner(line) => Runner::Bun,
        b'U' if behave::is_banner(line) => Runner::Behave,
        b'R' if playwright::is_banner(line) => Runner::Playwright,
        _ => return false,
    };
    if current == Runner::Ctest {
        // It shows the output of the tests it runs.
        return false;
    }
    // Nextest runs libtest binaries, whose output may show.
    begun != current && !(current == Runner::Nextest && begun == Runner::CargoTest)
}

/// Whether a runner prints such output, itself or by calling a compiler.
fn belongs(expected: Runner, found: Runner) -> bool {
    if expected == found || found == Runner::Generic {
        return true;
    }
    match expected {
        Runner::CargoTest | Runner::Nextest => {
            matches!(found, Runner::Rustc | Runner::CargoTest | Runner::Nextest)
        }
        Runner::NodeTest | Runner::Tap => matches!(found, Runner::NodeTest | Runner::Tap),
        Runner::Mocha => found == Runner::Tap,
        Runner::Minitest | Runner::Rspec => matches!(found, Runner::Minitest | Runner::Rspec | Runner::Tap),
        Runner::PhpUnit => found == Runner::Tap,
        Runner::Pytest | Runner::Unittest => matches!(found, Runner::Pytest | Runner::Unittest),
        // They call other tools, or print what other tools do.
        Runner::Junit
        | Runner::Maven
        | Runner::Gradle
        | Runner::JunitConsole
        | Runner::Ctest
        | Runner::DotnetTest
        | Runner::Doctest
        | Runner::Linter => true,
        Runner::GoogleTest | Runner::Catch2 => {
            matches!(found, Runner::Gcc | Runner::GoogleTest | Runner::Catch2)
        }
        Runner::Bun | Runner::Deno | Runner::Playwright | Runner::Jasmine | Runner::Ava => {
            matches!(found, Runner::Tap | Runner::Tsc)
        }
        Runner::Gcc => found == Runner::Rustc,
        // Whatever it looks like.
        Runner::Generic => false,
        Runner::ExUnit
        | Runner::Robot
        | Runner::Behave
        | Runner::GoTest
        | Runner::Jest
        | Runner::Vitest
        | Runner::Rustc
        | Runner::Tsc
        | Runner::Eslint
        | Runner::Javac
        | Runner::Ruff
        | Runner::Pyright
        | Runner::Biome
        | Runner::Shellcheck => false,
    }
}
