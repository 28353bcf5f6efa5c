//! Runs whose checks work, do not work, or all fail at the base.

use fixpoint_vocabulary::work::{
    AttemptResult, CheckEnd, CheckReport, Command, CommandEnd, CommandId, CommandResult, Event,
    ProtectedChange, ProtectedEdit, ProtectedRole, RestoredPath,
};
use fixpoint_vocabulary::{Cause, TaskState, work::AgentEnd};

use super::super::run_fixture::{DONE, RunFixture, base, report, subtask};
use super::super::{Judging, Owner, PlanOptions, PlanningCalls, RunExtent, RunStatus};
use crate::prelude::*;
use crate::task_run::TaskStart;

const UNUSABLE: RunStatus = RunStatus::Ended { cause: Cause::BaselineUnusable };

/// A guard none of whose tests passes.
fn nothing_passes(check: u32) -> CheckReport {
    CheckReport { passed: Some(0), counted: 0, ..report(check, false) }
}

/// A check that fails, and says nothing.
fn says_nothing(check: u32, end: CheckEnd) -> CheckReport {
    CheckReport { end, failures: Vec::new(), passed: None, ..nothing_passes(check) }
}

fn checks(reports: Vec<CheckReport>) -> Option<CommandEnd> {
    Some(CommandEnd::Completed(CommandResult::Checks { reports }))
}

/// What every check of a run shows, where it is the guard; the others do as they usually do.
fn guarded(command: &Command, seen: impl Fn(&str) -> CheckReport) -> Option<CommandEnd> {
    let Command::RunChecks(run) = command else { return None };
    let reports = run.calls.iter().map(|call| match call.check {
        0 => seen(&run.commit.0),
        check => {
            let part = if check == 3 { "b" } else { "a" };
            report(check, run.commit.0.split(' ').any(|word| word == part))
        }
    });
    checks(reports.collect())
}

fn asked(world: &RunFixture) -> usize {
    world.begun.iter().filter(|(_, command)| matches!(command, Command::Ask(_))).count()
}

fn checks_run(world: &RunFixture, check: u32) -> usize {
    let calls = world.begun.iter().filter_map(|(_, command)| {
        if let Command::RunChecks(run) = command { Some(&run.calls) } else { None }
    });
    calls.flatten().filter(|call| call.check == check).count()
}

/// Catches a model that is asked although no check could tell whether the work is done.
#[test]
fn what_cannot_work_at_the_base_ends_the_run_before_a_model_is_asked() {
    let failing = |end| move |check| says_nothing(check, end);
    let table: [(&str, &dyn Fn(u32) -> CheckReport); 5] = [
        ("no such program", &failing(CheckEnd::NotFound)),
        ("cannot run", &failing(CheckEnd::CouldNotRun)),
        ("takes too long", &failing(CheckEnd::TimedOut)),
        ("crashes", &failing(CheckEnd::Crashed)),
        ("says nothing", &failing(CheckEnd::Failed)),
    ];
    for (name, seen) in table {
        for extent in [RunExtent::Whole, RunExtent::PlanOnly] {
            let mut world = RunFixture::new(vec![subtask("a", &[])], |_, options| options.extent = extent);
            let status = world.go(&mut |_, command| guarded(command, |_| seen(0)));
            assert_eq!((status, asked(&world)), (UNUSABLE, 0), "{name}, {extent:?}");
        }
    }
}

/// Catches a goal that a person named and that is not looked at before the plan is paid for.
#[test]
fn a_goal_whose_program_is_missing_ends_the_run_before_a_model_is_asked() {
    let mut world =
        RunFixture::new(vec![subtask("a", &[])], |_, options| options.goals = BTreeSet::from([1]));
    let status = world.go(&mut |_, command| {
        let Command::RunChecks(run) = command else { return None };
        let seen = |check| if check == 1 { says_nothing(1, CheckEnd::NotFound) } else { report(check, true) };
        checks(run.calls.iter().map(|call| seen(call.check)).collect())
    });
    assert_eq!((status, asked(&world)), (UNUSABLE, 0));
}

/// Catches a check that runs at the base once before the plan and once more for each task.
#[test]
fn what_was_seen_at_the_base_is_not_run_again_for_the_tasks() {
    let mut world = RunFixture::new(vec![subtask("a", &[]), subtask("b", &[])], |_, _| {});
    assert_eq!(world.play(), DONE);
    let at_base = |(_, command): &&(Owner, Command)| {
        let Command::RunChecks(run) = command else { return false };
        run.commit.0 == "0" && run.calls.iter().any(|call| call.check == 0)
    };
    let runs: Vec<&Owner> = world.begun.iter().filter(at_base).map(|(owner, _)| owner).collect();
    assert_eq!(runs, [&Owner::BaseChecks]);
    // Once for each task and once for their merge.
    assert_eq!(checks_run(&world, 0), 4);
    let first = world.run.task(&"a".into()).and_then(|node| node.run.as_ref()).unwrap();
    assert!(matches!(first.options().start, TaskStart::FromCheckedBase(_)), "{:?}", first.options().start);
}

/// Catches a goal of the run that looks unmet at the end, because it was so at the base.
#[test]
fn a_goal_that_the_tasks_reach_is_looked_at_again_before_anybody_works_on_it() {
    let mut world = RunFixture::new(vec![subtask("a", &[]), subtask("b", &[])], |_, options| {
        options.goals = BTreeSet::from([1]);
    });
    let status = world.go(&mut |_, command| {
        let Command::RunChecks(run) = command else { return None };
        let is_goal = |call: &&fixpoint_vocabulary::work::CheckCall| call.check == 1;
        let reached = ["a", "b"].iter().all(|part| run.commit.0.split(' ').any(|word| word == *part));
        run.calls.iter().find(is_goal).filter(|_| run.calls.len() == 1)?;
        checks(vec![report(1, reached)])
    });
    assert_eq!(status, DONE);
    let last = world.run.task(&"goals-1".into()).unwrap();
    let attempts = last.run.as_ref().map(|run| run.attempts());
    assert_eq!((last.state, attempts), (TaskState::Done, Some(0)));
}

/// A run in which no test of the guard passes before the work of these tasks is in the tree.
fn all_failing(
    plan: &[&str],
    change: impl FnOnce(&mut PlanOptions),
    passes: impl Fn(&str) -> bool,
) -> (RunFixture, RunStatus) {
    let plan = plan.iter().map(|id| subtask(id, &[])).collect();
    let mut world = RunFixture::new(plan, |settings, options| {
        settings.convergence.on_stop = fixpoint_vocabulary::settings::OnStop::Block;
        change(options);
    });
    let seen = |tree: &str| if passes(tree) { report(0, true) } else { nothing_passes(0) };
    let status = world.go(&mut |_, command| guarded(command, seen));
    (world, status)
}

/// Catches tests that all fail at the base and are neither the goal nor a reason to stop.
#[test]
fn where_every_test_fails_they_are_the_goal() {
    let holds = |tree: &str, part: &str| tree.split(' ').any(|word| word == part);
    let goals = BTreeSet::from([0]);
    for plan in [&["a"][..], &["a", "b"]] {
        let (world, status) = all_failing(plan, |_| {}, |tree| plan.iter().all(|part| holds(tree, part)));
        assert_eq!((status, &world.run.base_checks().goals), (DONE, &goals), "{plan:?}");
        assert_eq!(world.run.unproven_goals(), BTreeSet::new(), "{plan:?}");
        let (world, status) = all_failing(plan, |_| {}, |_| false);
        assert_ne!(status, DONE, "{plan:?}");
        assert!(asked(&world) > 0, "{plan:?}");
    }
    let alone = |options: &mut PlanOptions| {
        (options.calls, options.judging) = (PlanningCalls::None, Judging::ByChecksAlone);
    };
    let (world, status) = all_failing(&[], alone, |tree| holds(tree, "task"));
    assert_eq!((status, &world.run.base_checks().goals), (DONE, &goals));
}

/// Catches guards that take the place of a goal that was given.
#[test]
fn where_a_goal_was_given_tests_that_all_fail_prove_nothing() {
    let (world, status) = all_failing(&["a"], |options| options.goals = BTreeSet::from([1]), |_| true);
    assert_eq!((status, world.run.base_checks().goals.len()), (DONE, 0));
    let (world, status) = all_failing(&["a"], |options| options.goals = BTreeSet::from([1]), |_| false);
    assert_eq!((status, asked(&world)), (UNUSABLE, 0));
}

/// Catches a run that is done because an early task rewrote the tests that are the goal.
#[test]
fn tests_that_are_the_goal_are_not_reached_by_rewriting_them() {
    let plan = vec![subtask("a", &[]), subtask("b", &["a"])];
    let mut world = RunFixture::new(plan, |settings, _| {
        settings.convergence.on_stop = fixpoint_vocabulary::settings::OnStop::Block;
    });
    let status = world.go(&mut |owner, command| match (owner, command) {
        (Owner::Task(task), Command::RunAttempt(attempt)) => {
            let after = base(&format!("{} {task} rewritten", attempt.base.0));
            let path = RestoredPath::File("tests/t".into());
            let (role, edit) = (ProtectedRole::Test, ProtectedEdit::Edited);
            let change = ProtectedChange { path, role, edit, what: String::new(), is_permitted: false };
            let result = AttemptResult {
                protected: vec![change],
                ..AttemptResult::new(AgentEnd::Exited, after.commit, after.tree)
            };
            Some(CommandEnd::Completed(CommandResult::Attempt(result)))
        }
        (_, Command::RestorePaths(restore)) => {
            let tree = restore.onto.0.replace(" rewritten", "");
            let (commit, tree) = (base(&tree).commit, base(&tree).tree);
            Some(CommandEnd::Completed(CommandResult::Restored { commit, tree }))
        }
        (_, command) => {
            guarded(
                command,
                |tree| {
                    if tree.contains("rewritten") { report(0, true) } else { nothing_passes(0) }
                },
            )
        }
    });
    assert_ne!(status, DONE);
    let failures = world.run.task(&"a".into()).and_then(|node| node.run.as_ref()).unwrap().lasting_failures();
    assert!(format!("{failures:?}").contains("Weakened"), "{failures:?}");
}

/// Catches a crash or a pause between the base and the first question that loses what is to be done.
#[test]
fn what_is_cut_short_at_the_base_is_taken_up() {
    let mut world = RunFixture::new(vec![subtask("a", &[])], |_, _| {});
    world.send(&Event::Started);
    let next = |world: &RunFixture| -> (CommandId, Owner, Command) {
        let (id, owner, command) = world.run.in_flight().next().unwrap();
        (id, owner.clone(), command.clone())
    };
    world.end(next(&world).0, CommandEnd::Completed(CommandResult::Base(base("0"))));
    let (id, owner, first) = next(&world);
    assert_eq!(owner, Owner::BaseChecks);
    world.end(id, CommandEnd::Lost);
    let (id, _, again) = next(&world);
    assert_eq!(first, again);
    world.end(id, checks(vec![says_nothing(0, CheckEnd::Waiting)]).unwrap());
    assert_eq!(world.run.status(), RunStatus::Paused { cause: Cause::Waiting });
    world.send(&Event::resumed());
    assert_eq!(next(&world).2, first);
    world.send(&Event::StopRequested);
    world.send(&Event::resumed());
    assert_eq!((world.play(), asked(&world) > 0), (DONE, true));
}

/// Catches a run without checks that runs none, or waits for what they show.
#[test]
fn without_checks_nothing_runs_at_the_base() {
    let mut world = RunFixture::new(vec![subtask("a", &[])], |_, options| options.guards = BTreeSet::new());
    assert_eq!(world.play(), DONE);
    assert!(world.begun.iter().all(|(owner, _)| *owner != Owner::BaseChecks));
}
