//! Whole runs in a small made-up world, one for each way in which a run once went wrong.

use fixpoint_vocabulary::ask::{ModelAnswer, ModelQuestion, ParsedAnswer, QuestionKind, Remark};
use fixpoint_vocabulary::documents::{
    Document, PlanJudgement, PlanningDocument, PlanningError, PlanningErrorKind, Subtask,
};
use fixpoint_vocabulary::usage::{Allowance, Usage};
use fixpoint_vocabulary::work::{
    AgentEnd, AttemptResult, CheckEnd, Command, CommandEnd, CommandId, CommandResult, Event,
};
use fixpoint_vocabulary::{Cause, Redacted, Score, TaskState};

use super::run_fixture::*;
use super::*;
use crate::task_run::{BaselineState, CheckBaseline, TaskOptions, TaskStart};

/// Catches a map by number that cannot be read back where it stands inside a tagged document: no run of dependent
/// tasks could be taken up.
#[test]
fn what_is_known_of_checks_is_read_back() {
    let known = CheckBaseline {
        end: CheckEnd::Passed,
        failing: Vec::new(),
        failures: Vec::new(),
        masked: false,
        itemised: false,
        passed: None,
        counted: 1,
        passed_set: None,
        decided_by_file: false,
        rewrites: BTreeSet::new(),
    };
    let baseline =
        BaselineState { base: Some(base("base")), checks: [(3, known)].into(), ..BaselineState::default() };
    let options = TaskOptions {
        start: TaskStart::FromBaseline(baseline),
        ..TaskOptions::new("a".into(), [3].into(), [].into())
    };
    let step = TaskChange::Started { options: alloc::boxed::Box::new(options) };
    let text = serde_json::to_string(&step).unwrap();
    assert_eq!(serde_json::from_str::<TaskChange>(&text).unwrap(), step);
}

/// Catches a result that is left out while what it was made of is brought together anew, for ever.
#[test]
fn merges_that_fail_come_to_an_end() {
    let mut world = RunFixture::new(["a", "b", "c"].map(|id| subtask(id, &[])).to_vec(), |settings, _| {
        settings.integration.max_fix_iterations = 1;
    });
    let status = world.go(&mut |owner, command| match (owner, command) {
        // Whatever holds all three breaks the guard, and no agent can help it.
        (_, Command::RunChecks(run)) if ["a", "b", "c"].iter().all(|part| run.commit.0.contains(part)) => {
            let reports = run.calls.iter().map(|call| report(call.check, call.check != 0)).collect();
            Some(CommandEnd::Completed(CommandResult::Checks { reports }))
        }
        (_, _) => None,
    });
    assert_eq!(status, RunStatus::Ended { cause: Cause::Partial });
    let result = &world.run.result().unwrap().commit.0;
    assert!(result.contains('a') && result.contains('b'), "only the last is left out: {result}");
}

/// Catches a look back that pauses the run and forgets what other tasks had under way.
#[test]
fn a_pause_after_a_look_back_loses_nothing() {
    let plan = vec![subtask("a", &[]), subtask("b", &[]), subtask("c", &["a"])];
    let mut world = RunFixture::new(plan, |settings, options| {
        settings.planning.revision.max_revisions = 0;
        options.reflection_interval = 1;
    });
    let mut status = world.play();
    let mut pauses = 0;
    while let RunStatus::Paused { cause: Cause::RequiresHumanIntervention } = status {
        pauses += 1;
        assert!(pauses < 10, "it never goes on");
        world.send(&Event::resumed());
        status = world.play();
    }
    assert_eq!((status, pauses > 0), (DONE, true));
}

/// Catches `planning.reflection.after: important` that changes nothing.
#[test]
fn tasks_that_changed_no_files_are_not_reviewed_if_only_important_ones_are() {
    use fixpoint_vocabulary::settings::ReflectAfter;
    let reviews = |after: ReflectAfter| {
        let plan = vec![subtask("a", &[]), subtask("b", &["a"])];
        let mut world = RunFixture::new(plan, |settings, options| {
            settings.planning.reflection.after = after;
            options.reflection_interval = 1;
        });
        world.go(&mut |_, command| {
            // Everything passes from the beginning, so that nothing has to be changed.
            let Command::RunChecks(run) = command else { return None };
            let reports = run.calls.iter().map(|call| report(call.check, true)).collect();
            Some(CommandEnd::Completed(CommandResult::Checks { reports }))
        });
        let is_review = |(_, command): &&(Owner, Command)| {
            matches!(command, Command::Ask(ModelQuestion { about: QuestionKind::Reflect { .. }, .. }))
        };
        world.begun.iter().filter(is_review).count()
    };
    assert_eq!(reviews(ReflectAfter::All), 1);
    assert_eq!(reviews(ReflectAfter::Important), 0);
}

/// Catches a run that was working when it crashed and refuses what a person brings when it is taken up.
#[test]
fn more_can_be_brought_to_a_run_that_is_working() {
    let mut world = RunFixture::new(vec![subtask("a", &[])], |_, _| {});
    world.send(&Event::Started);
    let (id, ..) = world.run.in_flight().next().unwrap();
    world.end(id, CommandEnd::Lost);
    let said = vec![Remark { by: Redacted::ours("p"), text: Redacted::ours("hurry") }];
    world.send(&Event::Resumed { more: Allowance::default(), unblocked: Vec::new(), said });
    assert_eq!((world.play(), world.run.planning().remarks.len()), (DONE, 1));
}

/// Catches a remark made on going on that counts as the answer to a question nobody asked.
#[test]
fn a_remark_does_not_use_up_the_question() {
    let mut world = RunFixture::new(vec![subtask("a", &[])], |_, _| {});
    world.send(&Event::Started);
    let said = vec![Remark { by: Redacted::ours("p"), text: Redacted::ours("hurry") }];
    world.send(&Event::Resumed { more: Allowance::default(), unblocked: Vec::new(), said });
    let mut unclear = 0;
    let status = world.go(&mut |owner, command| match (owner, command) {
        (_, Command::Ask(ModelQuestion { about: QuestionKind::Plan, .. })) if unclear == 0 => {
            unclear += 1;
            let error = PlanningError {
                kind: PlanningErrorKind::UnclearGoal,
                message: String::new(),
                clarification_needed: Vec::new(),
                partial_plan: None,
            };
            Some(answer(Document::Planning(PlanningDocument { error: Some(error), ..Default::default() })))
        }
        (_, _) => None,
    });
    assert_eq!(status, DONE);
}

/// Catches a judge of tasks that gives another document for ever.
#[test]
fn another_document_is_asked_for_again_a_few_times_only() {
    let mut world = RunFixture::new(vec![subtask("a", &[])], |_, _| {});
    let status = world.go(&mut |owner, command| match (owner, command) {
        (_, Command::Ask(ModelQuestion { about: QuestionKind::JudgeTask { .. }, .. })) => {
            Some(answer(looking_back()))
        }
        (_, _) => None,
    });
    assert_eq!(status, RunStatus::Ended { cause: Cause::JudgeUnavailable });
    assert_eq!(world.asked(|about| matches!(about, QuestionKind::JudgeTask { .. })), 3);
}

/// Catches goals of the run that no task of a longer plan has to make pass.
#[test]
fn the_goals_of_a_run_are_seen_to_in_the_end() {
    let mut world = RunFixture::new(vec![subtask("a", &[]), subtask("b", &[])], |_, options| {
        options.goals = BTreeSet::from([1]);
    });
    assert_eq!(world.play(), DONE);
    assert!(world.run.result().unwrap().commit.0.contains("everything"));
    assert_eq!(world.state("goals-1"), Some(TaskState::Done));
}

/// Catches one crash that counts as many, because much was under way.
#[test]
fn one_crash_is_one_interruption() {
    let mut world = RunFixture::new(["a", "b", "c"].map(|id| subtask(id, &[])).to_vec(), |_, _| {});
    world.go(&mut |owner, command| match (owner, command) {
        // All that is under way together is what a crash cuts short.
        (Owner::Task(_), Command::RunChecks(_)) => Some(CommandEnd::Lost),
        (_, _) => None,
    });
    assert!(matches!(world.run.status(), RunStatus::Paused { cause: Cause::Infrastructure }));
    world.send(&Event::resumed());
    let ids: Vec<CommandId> = world.run.in_flight().map(|(id, ..)| id).collect();
    assert!(ids.len() >= 3, "{ids:?}");
    ids.into_iter().for_each(|id| world.end(id, CommandEnd::Lost));
    assert_eq!(world.play(), DONE);
}

/// Catches smaller tasks that may hold what no plan may.
#[test]
fn smaller_tasks_are_looked_through_like_a_plan() {
    let until = |goal: &str| Subtask { goals: vec![goal.to_string()], ..subtask("x", &[]) };
    // An id becomes part of the names of files.
    let outside = Subtask { id: "../../x".into(), ..subtask("x", &[]) };
    for child in [until("sudo reboot"), until(""), until("true"), outside] {
        is_never_taken(&child);
    }
}

fn is_never_taken(child: &Subtask) {
    let mut world = RunFixture::new(vec![subtask("a", &[])], |_, _| {});
    let status = world.go(&mut |owner, command| match (owner, command) {
        (_, Command::RunAttempt(attempt)) => {
            let same = base(&attempt.base.0);
            let left = AttemptResult::new(AgentEnd::Exited, same.commit, same.tree);
            Some(CommandEnd::Completed(CommandResult::Attempt(left)))
        }
        (_, Command::Ask(ModelQuestion { about: QuestionKind::ReplanTask { .. }, .. })) => {
            Some(answer(document(vec![child.clone()])))
        }
        (_, _) => None,
    });
    assert_eq!(status, RunStatus::Ended { cause: Cause::NotConverging });
    assert_eq!(world.asked(|about| matches!(about, QuestionKind::ReplanTask { .. })), 3);
    assert_eq!(world.state(child.id.as_str()), None);
}

/// Catches a merge with the plan before that takes over what makes the new one unusable.
#[test]
fn a_plan_is_not_merged_with_what_no_plan_may_hold() {
    let outside = Subtask { id: "../../x".into(), ..subtask("x", &[]) };
    let mut world = RunFixture::new(vec![subtask("a", &[])], |_, _| {});
    let mut judged = 0;
    world.go(&mut |owner, command| match (owner, command) {
        (_, Command::Ask(ModelQuestion { about: QuestionKind::JudgePlan { .. }, .. })) => {
            judged += 1;
            let overall_score = Some(Score::nearest(if judged == 1 { 40.0 } else { 90.0 }));
            let (issues, suggestions) = (vec!["too little".to_string()], Vec::new());
            let is_acceptable = judged > 1;
            let said = PlanJudgement { is_acceptable, issues, suggestions, overall_score };
            Some(answer(Document::PlanJudgement(said)))
        }
        (_, Command::Ask(ModelQuestion { about: QuestionKind::Refine { .. }, .. })) => {
            Some(answer(document(vec![subtask("a", &[]), outside.clone()])))
        }
        (_, _) => None,
    });
    assert_eq!(world.asked(|about| matches!(about, QuestionKind::Refine { .. })), 1);
    assert_eq!((world.state("a"), world.state("../../x")), (Some(TaskState::Done), None));
}

/// Catches smaller tasks that begin without the best attempt, because the old task waited for others; and work that is
/// taken for done where nobody has seen the guards.
#[test]
fn smaller_tasks_go_on_with_the_best_attempt() {
    let mut world = RunFixture::new(vec![subtask("d", &[]), subtask("a", &["d"])], |_, _| {});
    let mut tries = 0;
    let status = world.go(&mut |owner, command| match (owner, command) {
        (Owner::Task(task), Command::RunAttempt(attempt)) if task.as_str() == "a" => {
            tries += 1;
            let half = base(&format!("{} half", attempt.base.0.trim_end_matches(" half")));
            let left = AttemptResult::new(AgentEnd::Exited, half.commit, half.tree);
            Some(CommandEnd::Completed(CommandResult::Attempt(left)))
        }
        (_, _) => None,
    });
    assert_eq!((status, tries > 1), (DONE, true));
    assert!(world.run.result().unwrap().commit.0.contains("half"), "{:?}", world.run.result());
}

/// Catches a judgement of the whole that outlives the tasks it was made of.
#[test]
fn the_whole_is_judged_again_after_a_task_tried_again() {
    let mut world = RunFixture::new(vec![subtask("a", &[]), subtask("b", &["a"])], |settings, _| {
        settings.convergence.on_stop = fixpoint_vocabulary::settings::OnStop::Block;
    });
    let mut idles = true;
    let script = |owner: &Owner, command: &Command, idles: bool| match (owner, command) {
        (Owner::Task(task), Command::RunAttempt(attempt)) if task.as_str() == "b" && idles => {
            let same = base(&attempt.base.0);
            let left = AttemptResult::new(AgentEnd::Exited, same.commit, same.tree);
            Some(CommandEnd::Completed(CommandResult::Attempt(left)))
        }
        (_, _) => None,
    };
    let first = world.go(&mut |owner, command| script(owner, command, idles));
    assert_eq!(first, RunStatus::Ended { cause: Cause::Partial });
    idles = false;
    let unblocked = vec!["b".into()];
    world.send(&Event::Resumed { more: Allowance::default(), unblocked, said: Vec::new() });
    assert_eq!(world.go(&mut |owner, command| script(owner, command, idles)), DONE);
    assert_eq!(world.asked(|about| matches!(about, QuestionKind::JudgeWhole { .. })), 2);
}

/// Catches a task that is done because nothing was there to say that it is not, and a planner asked who is not there.
#[test]
fn what_nobody_can_show_is_not_done_and_nobody_is_asked_who_is_not_there() {
    let alone = |guards: BTreeSet<u32>| {
        let mut world = RunFixture::new(Vec::new(), |_, options| {
            (options.calls, options.judging) = (PlanningCalls::None, Judging::ByChecksAlone);
            options.guards = guards;
        });
        let idle = |_: &Owner, command: &Command| {
            let Command::RunAttempt(_) = command else { return None };
            let result = AttemptResult::new(AgentEnd::Exited, base("base").commit, base("base").tree);
            Some(CommandEnd::Completed(CommandResult::Attempt(result)))
        };
        let status = world.go(&mut { idle });
        let asked = world.begun.iter().any(|(_, command)| matches!(command, Command::Ask(_)));
        let attempted = world.begun.iter().any(|(_, command)| matches!(command, Command::RunAttempt(_)));
        (status, asked, attempted)
    };
    let nothing = RunStatus::Ended { cause: Cause::BaselineUnusable };
    assert_eq!(alone(BTreeSet::new()), (nothing, false, false));
    let stuck = RunStatus::Ended { cause: Cause::NotConverging };
    assert_eq!(alone(BTreeSet::from([0])), (stuck, false, true));
}

/// Catches a whole run that waits because the planner cannot be reached for one task.
#[test]
fn a_task_that_nobody_can_plan_anew_is_blocked_and_the_others_go_on() {
    let mut world =
        RunFixture::new(vec![subtask("a", &[]), subtask("b", &[]), subtask("c", &["a"])], |_, _| {});
    let status = world.go(&mut |owner, command| match (owner, command) {
        (Owner::Task(task), Command::RunAttempt(attempt)) if task.as_str() == "a" => {
            let idle = AttemptResult::new(AgentEnd::Exited, attempt.base.clone(), base(&attempt.base.0).tree);
            Some(CommandEnd::Completed(CommandResult::Attempt(idle)))
        }
        (Owner::Replan(_), Command::Ask(_)) => {
            let reading = ParsedAnswer::Unanswered { why: Redacted::ours("not there") };
            let answer = ModelAnswer { model: "m".into(), usage: Usage::default(), reading };
            Some(CommandEnd::Completed(CommandResult::Answer(answer)))
        }
        (_, _) => None,
    });
    assert_eq!(status, RunStatus::Ended { cause: Cause::Partial });
    let cause = world.run.task(&"a".into()).and_then(|node| node.cause);
    assert_eq!((world.state("a"), cause), (Some(TaskState::Blocked), Some(Cause::ModelUnavailable)));
    assert_eq!(world.state("b"), Some(TaskState::Done));
    assert_eq!(world.run.unreachable_tasks(), ["c".into()]);
}
