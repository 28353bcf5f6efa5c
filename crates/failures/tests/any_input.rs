//! No input makes the parser panic, grow, or depend on how the input was cut into chunks.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests read recorded files"
)]

mod fixtures;

use fixpoint_failures::{Options, Parser, Report, Runner, Values};
use proptest::prelude::*;

fn options() -> Options {
    Options {
        runner: None,
        workdir: Some("/tmp/fixture-workdir/rust".into()),
        values: Values::Drop,
        ..Options::default()
    }
}

fn read(bytes: &[u8], chunk: usize) -> Report {
    let mut parser = Parser::new(&options());
    for chunk in bytes.chunks(chunk.max(1)) {
        parser.push(chunk);
    }
    parser.finish(Some(1))
}

#[test]
fn chunks_make_no_difference() {
    for case in fixtures::cases() {
        for output in [&case.output, &case.shifted] {
            let whole = read(output.as_bytes(), usize::MAX);
            for size in [1, 7, 64] {
                assert_eq!(whole, read(output.as_bytes(), size), "{}/{} by {size}", case.runner, case.name);
            }
        }
    }
}

/// Every runner may be told, whatever the output is.
#[test]
fn a_runner_that_was_told_wrongly_still_gets_a_failure() {
    let runners =
        [Runner::CargoTest, Runner::GoTest, Runner::Pytest, Runner::Jest, Runner::Junit, Runner::Generic];
    for case in fixtures::cases().into_iter().filter(|case| case.exit_code != 0) {
        for runner in runners {
            let mut parser = Parser::new(&Options { runner: Some(runner), ..options() });
            parser.push(case.output.as_bytes());
            let report = parser.finish(Some(case.exit_code));
            assert_eq!(report.runner, runner);
            assert!(!report.failures.is_empty(), "{}/{} as {runner:?}", case.runner, case.name);
        }
    }
}

#[test]
fn a_line_of_ten_megabytes_is_cut_and_counted() {
    let mut parser = Parser::new(&options());
    let chunk = vec![b'x'; 1024 * 1024];
    for _ in 0..10 {
        parser.push(&chunk);
    }
    parser.push(b"\nerror: the end\n");
    let report = parser.finish(Some(1));
    assert_eq!((report.omitted.long_lines, report.failures.len()), (1, 1));
    assert_eq!(report.failures[0].message, "error: the end");
}

/// A flood of failures and of names is bounded, and what is left out is counted.
#[test]
fn a_flood_is_bounded() {
    let mut parser = Parser::new(&options());
    parser.push(b"running 300000 tests\n");
    for number in 0..300_000 {
        parser.push(format!("test t{number} ... ok\n").as_bytes());
        parser.push(format!("test f{number} ... FAILED\n").as_bytes());
    }
    parser.push(b"test result: FAILED. 300000 passed; 300000 failed;\n");
    let report = parser.finish(Some(101));
    assert!(report.failures.len() <= 4096 && report.passed.len() <= 200_000);
    assert_eq!(report.omitted.failures, 300_000 - report.failures.len() as u64);
    assert_eq!(report.omitted.tests, 300_000 - report.passed.len() as u64);
}

#[test]
fn odd_bytes_are_read_past() {
    let output = b"\xff\xfe\nrunning 1 test\ntest a ... FAILED\n\nfailures:\n\n---- a stdout ----\nthread 'a' panicked at src/\xff.rs:1:1:\n\xf0\x28\x8c\n\n\ntest result: FAILED. 0 passed; 1 failed;\n";
    let report = read(output, 3);
    assert_eq!(report.failures.len(), 1);
    assert_eq!(report.failures[0].test.as_deref(), Some("a"));
    assert!(report.failures[0].message.contains('\u{fffd}'));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Catches a slice out of bounds, an endless loop, or a state that depends on chunks, on bytes of any kind.
    #[test]
    fn random_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..2000), chunk in 1usize..50) {
        prop_assert_eq!(read(&bytes, usize::MAX), read(&bytes, chunk));
    }

    /// Catches the same in every reader, on recorded output with bytes changed, lines dropped, doubled and cut.
    #[test]
    fn mutated_recordings_are_read(
        index in any::<prop::sample::Index>(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..20),
        drops in prop::collection::vec(any::<prop::sample::Index>(), 0..10),
        end in any::<prop::sample::Index>(),
        chunk in 1usize..100,
    ) {
        let cases = CASES.with(Clone::clone);
        let mut bytes = cases[index.index(cases.len())].clone();
        if bytes.is_empty() {
            return Ok(());
        }
        for (at, byte) in flips {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
        for drop in drops {
            let at = drop.index(lines.len());
            let line = lines.remove(at);
            let to = (at * 7) % (lines.len() + 1);
            lines.insert(to, line);
        }
        let mut bytes = lines.join(&b'\n');
        bytes.truncate(end.index(bytes.len() + 1));
        prop_assert_eq!(read(&bytes, usize::MAX), read(&bytes, chunk));
    }
}

thread_local! {
    static CASES: std::rc::Rc<Vec<Vec<u8>>> =
        std::rc::Rc::new(fixtures::cases().into_iter().map(|case| case.output.into_bytes()).collect());
}
