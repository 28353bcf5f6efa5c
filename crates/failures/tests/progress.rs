//! Outputs of real tools in which progress was hard to see: parts that are missing, lists that are printed twice, names that
//! look like counts. `scripts/progress-trial` made them.
#![allow(clippy::disallowed_methods, clippy::panic, reason = "tests read recorded files")]

use std::path::Path;

use fixpoint_failures::{Options, Parser, Report, Runner};

fn recorded(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/progress").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn read(names: &[&str], runner: Option<Runner>) -> Report {
    let mut parser = Parser::new(&Options { runner, ..Options::default() });
    for name in names {
        parser.push(recorded(name).as_bytes());
    }
    parser.finish(Some(1))
}

/// The tests that failed; a failure without a test is a dash.
fn failed(report: &Report) -> Vec<String> {
    let name = |failure: &fixpoint_failures::Failure| failure.test.clone().unwrap_or_else(|| "-".into());
    report.failures.iter().map(name).collect()
}

fn passed(report: &Report) -> Vec<String> {
    report.passed.iter().map(ToString::to_string).collect()
}

#[test]
fn bun_lists_failures_a_second_time() {
    let report = read(&["bun_list.txt"], None);
    assert_eq!(failed(&report), ["item 25", "item 26"]);
    assert_eq!(report.passed_count(), 25);
    // With nothing else, the list names them.
    let whole = recorded("bun_list.txt");
    let (_, list) = whole.split_once("2 tests failed:").unwrap_or_default();
    let mut parser = Parser::new(&Options::default());
    parser.push(format!("\n2 tests failed:{list}").as_bytes());
    assert_eq!(failed(&parser.finish(Some(1))), ["item 25", "item 26"]);
}

#[test]
fn tests_of_ava_that_passed_above_the_first_failure_are_named() {
    for runner in [None, Some(Runner::Ava)] {
        let report = read(&["ava_passed_first.txt"], runner);
        assert_eq!(failed(&report), ["item 7", "item 8"]);
        assert_eq!(passed(&report), ["fine", "item 1", "item 2", "item 3", "item 4", "item 5", "item 6"]);
    }
}

#[test]
fn many_tests_of_ava_may_pass_before_the_first_failure() {
    let mut parser = Parser::new(&Options { runner: Some(Runner::Ava), ..Options::default() });
    for number in 0..100 {
        parser.push(format!("  ✔ earlier {number}\n").as_bytes());
    }
    parser.push(recorded("ava_passed_first.txt").as_bytes());
    assert_eq!(parser.finish(Some(1)).passed.len(), 107);
}

#[test]
fn a_test_of_tape_may_have_a_number() {
    let report = read(&["tape_numbered.txt"], None);
    assert_eq!(failed(&report), ["item 1 > is ok", "item 2 > is ok", "item 3 > is ok"]);
    assert_eq!(passed(&report), ["fine > fine"]);
}

#[test]
fn what_the_end_of_an_output_counts_and_does_not_name_is_counted() {
    let report = read(&["pytest_tail.txt"], None);
    let mut expected = vec!["test_shop.py::test_11", "test_shop.py::test_12"];
    expected.extend(["-"; 10]);
    assert_eq!(failed(&report), expected);
    assert_eq!(report.passed_count(), 1);
}

#[test]
fn the_last_lines_count_the_failures() {
    for (file, runner) in [("cargo_tail.txt", Runner::CargoTest), ("vitest_tail.txt", Runner::Vitest)] {
        let report = read(&[file], None);
        assert_eq!((report.runner, report.failures.len(), report.passed_count()), (runner, 40, 1), "{file}");
    }
}

#[test]
fn the_compiler_of_go_says_that_there_are_more_errors() {
    assert_eq!(read(&["go_build_ten.txt"], None).failures.len(), 10);
    assert_eq!(read(&["go_build_all.txt"], None).failures.len(), 14);
}

#[test]
fn a_verbose_doctest_names_what_passed() {
    let report = read(&["doctest_verbose.txt"], Some(Runner::Doctest));
    assert_eq!(failed(&report), ["shop.item_3"]);
    assert_eq!(passed(&report), ["shop.item_1", "shop.item_2"]);
}

/// Catches a failure that is counted once for the text and once for the report file.
#[test]
fn a_failure_in_the_text_and_in_a_report_file_is_one() {
    for tool in ["gradle", "maven"] {
        let report = read(&[&format!("{tool}_text.txt"), &format!("{tool}_report.xml")], None);
        assert_eq!(failed(&report), ["item1", "item2"], "{tool}");
        assert_eq!(passed(&report).len(), 1, "{tool}");
    }
}
