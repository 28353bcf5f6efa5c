//! Guards that run no tests and fail at the base: what is known, what is new, and what may be hidden.

use super::super::fake_project::Findings;
use super::*;

/// A state whose guard finds these.
fn finding(goal: &str, guard: &str, findings: Findings) -> TreeState {
    TreeState { findings: Some(findings), ..failing(goal, guard) }
}

/// Catches a guard that is refused for a known finding, a new finding that is taken for a known one, and findings that are
/// no longer printed and taken for fixed ones.
#[test]
fn only_new_findings_count() {
    let listed = |goal: &str, guard: &str| finding(goal, guard, Findings::Listed);
    let hidden = |goal: &str, guard: &str| finding(goal, guard, Findings::Hidden);
    for (row, base, attempt, expected) in [
        ("known ones stay", listed("a", "kl"), listed("", "kl"), Cause::Done),
        ("one is fixed", listed("a", "kl"), listed("", "l"), Cause::Done),
        ("all are fixed", listed("a", "kl"), listed("", ""), Cause::Done),
        ("one is new", listed("a", "k"), listed("", "kn"), Cause::NotConverging),
        ("one is replaced", listed("a", "k"), listed("", "n"), Cause::NotConverging),
        ("the first one is new", listed("a", ""), listed("", "n"), Cause::NotConverging),
        ("fails without a finding", listed("a", "k"), hidden("", ""), Cause::NotConverging),
        ("the known one may hide others now", listed("a", "k"), hidden("", "k"), Cause::NotConverging),
        ("a known one may hide others", hidden("a", "k"), hidden("", "k"), Cause::BaselineUnusable),
    ] {
        assert_eq!(outcome(task(base, vec![attempt])).0, expected, "{row}");
    }
}

/// Catches a check that is given up at the base although it could run the next time.
#[test]
fn what_cannot_run_at_the_base_is_run_once_more() {
    for end in [CheckEnd::CouldNotRun, CheckEnd::Environment] {
        let lacking = TreeState { end: Some(end), ..failing("a", "") };
        let mut task = task(lacking, vec![failing("", "")]);
        task.send(&Event::Started);
        let command = |task: &TaskSimulator| task.waiting.clone().expect("a command").1;
        for _ in 0..2 {
            let result = task.project.perform(&command(&task));
            task.end_command(CommandEnd::Completed(result));
        }
        assert!(matches!(command(&task), Command::RunChecks(_)), "{end:?}");
        task.project.settle();
        assert_eq!(task.go(), TaskStatus::Ended { cause: Cause::Done }, "{end:?}");
    }
}
