//! `dotnet test`: output as its documentation shows it, not recorded.

use fixpoint_failures::{Kind, Options, Parser, Report, Runner};

fn read(output: &str, exit_code: i32) -> Report {
    let mut parser = Parser::new(&Options { workdir: Some("/w".into()), ..Options::default() });
    parser.push(output.as_bytes());
    parser.finish(Some(exit_code))
}

type Told = (Option<String>, Kind, Option<String>, Option<u32>);

fn told(report: &Report) -> Vec<Told> {
    let failures = report.failures.iter();
    failures.map(|it| (it.test.clone(), it.kind.clone(), it.file.clone(), it.line)).collect()
}

fn row(test: &str, kind: Kind, file: &str, line: u32) -> Told {
    (Some(test.into()), kind, Some(file.into()), Some(line))
}

const VSTEST: &str = "  Determining projects to restore...
  Sample.Tests -> /w/Sample.Tests/bin/Debug/net8.0/Sample.Tests.dll
Test run for /w/Sample.Tests/bin/Debug/net8.0/Sample.Tests.dll (.NETCoreApp,Version=v8.0)
Starting test execution, please wait...
A total of 1 test files matched the specified pattern.
[xUnit.net 00:00:00.52]     Sample.Tests.CalcTests.Equal [FAIL]
  Passed Sample.Tests.CalcTests.Adds [1 ms]
  Skipped Sample.Tests.CalcTests.Slow [1 ms]
  Failed Sample.Tests.CalcTests.Equal [4 ms]
  Error Message:
   Assert.Equal() Failure: Values differ
Expected: 5
Actual:   4
  Stack Trace:
     at Sample.Tests.CalcTests.Equal() in /w/Sample.Tests/CalcTests.cs:line 12
   at System.RuntimeMethodHandle.InvokeMethod(Object target, Void** arguments)
  Failed Sample.Tests.CalcTests.Throws [< 1 ms]
  Error Message:
   System.DivideByZeroException : Attempted to divide by zero.
  Stack Trace:
     at Sample.Calc.Divide(Int32 a, Int32 b) in /w/Sample/Calc.cs:line 11
  Failed Sample.Tests.CalcTests.Table(a: 2, b: 3, sum: 6) [1 ms]
  Error Message:
   Assert.Equal() Failure: Values differ
Expected: 6
Actual:   5
  Stack Trace:
     at Sample.Tests.CalcTests.Table(Int32 a, Int32 b, Int32 sum) in /w/Sample.Tests/CalcTests.cs:line 13

Failed!  - Failed:     3, Passed:     3, Skipped:     1, Total:     7, Duration: 28 ms - Sample.Tests.dll (net8.0)
";

#[test]
fn results_of_vstest() {
    let report = read(VSTEST, 1);
    let file = "Sample.Tests/CalcTests.cs";
    let expected = [
        row("Sample.Tests.CalcTests.Equal", Kind::Assertion, file, 12),
        row(
            "Sample.Tests.CalcTests.Throws",
            Kind::Exception("DivideByZeroException".into()),
            "Sample/Calc.cs",
            11,
        ),
        row("Sample.Tests.CalcTests.Table(a: 2, b: 3, sum: 6)", Kind::Assertion, file, 13),
    ];
    assert_eq!(told(&report), expected);
    assert_eq!((report.runner, report.passed_count(), report.skipped.len()), (Runner::DotnetTest, 3, 1));
    assert!(report.ran_any && !report.masked);
}

#[test]
fn durations_lines_and_values_seen_do_not_matter() {
    let other = VSTEST
        .replace("[4 ms]", "[1 s]")
        .replace(":line 12", ":line 99")
        .replace("Actual:   4", "Actual:   9");
    assert_eq!(
        read(VSTEST, 1).failures.iter().map(|it| it.fingerprint.clone()).collect::<Vec<_>>(),
        read(&other, 1).failures.iter().map(|it| it.fingerprint.clone()).collect::<Vec<_>>()
    );
}

#[test]
fn counts_without_names() {
    let report =
        read("Failed!  - Failed:     2, Passed:     3, Skipped:     1, Total:     6, Duration: 28 ms\n", 1);
    assert_eq!((report.failures.len(), report.passed_count(), report.ran_any), (2, 3, true));
    let report =
        read("Passed!  - Failed:     0, Passed:     3, Skipped:     0, Total:     3, Duration: 8 ms\n", 0);
    assert_eq!((report.failures.len(), report.passed_count()), (0, 3));
}

#[test]
fn results_of_the_terminal_logger() {
    let on_one_line = "Restore complete (0.5s)
  Sample.Tests succeeded (0.3s) → bin/Debug/net9.0/Sample.Tests.dll
  Sample.Tests test failed with 1 error(s) (1.3s)
    /w/CalcTests.cs(12): error TESTERROR: Sample.CalcTests.Equal (4ms): Error Message: Assert.Equal() Failure: Values differ
      Expected: 5
      Actual:   4
      Stack Trace:
         at Sample.CalcTests.Equal() in /w/CalcTests.cs:line 12

Test summary: total: 3, failed: 1, succeeded: 2, skipped: 0, duration: 1.2s
Build failed with 1 error(s) in 2.1s
";
    let on_two = on_one_line.replace("TESTERROR: Sample", "TESTERROR:\n      Sample");
    for output in [on_one_line, &on_two] {
        let report = read(output, 1);
        assert_eq!(told(&report), [row("Sample.CalcTests.Equal", Kind::Assertion, "CalcTests.cs", 12)]);
        assert_eq!(
            report.failures.first().map(|it| it.message.clone()).unwrap_or_default(),
            "Assert.Equal() Failure: Values differ\nExpected: 5\nActual:   4"
        );
        assert_eq!(report.passed_count(), 2);
    }
}

#[test]
fn compile_errors_are_told_once() {
    let errors = "/w/Sample/Calc.cs(12,20): error CS0103: The name 'missing' does not exist in the current context [/w/Sample/Sample.csproj]
/w/Sample/Calc.cs(13,22): error CS0103: The name 'other' does not exist in the current context [/w/Sample/Sample.csproj]
/w/Sample/Calc.cs(14,13): warning CS0219: The variable 'unused' is assigned but its value is never used [/w/Sample/Sample.csproj]
";
    let output = format!(
        "  Determining projects to restore...\n{errors}\nBuild FAILED.\n\n{errors}    1 Warning(s)\n    2 Error(s)\n"
    );
    let report = read(&output, 1);
    let expected = [12, 13].map(|line| (None, Kind::Compile, Some("Sample/Calc.cs".to_string()), Some(line)));
    assert_eq!(told(&report), expected);
    assert!(report.masked && !report.ran_any);
}

#[test]
fn a_host_that_crashed_is_a_crash() {
    let report = read(
        "Test run for /w/Sample.Tests.dll (.NETCoreApp,Version=v8.0)\nThe active test run was aborted. Reason: Test host process crashed\n",
        1,
    );
    assert_eq!(told(&report), [(None, Kind::Crash, None, None)]);
    assert!(report.masked);
}
