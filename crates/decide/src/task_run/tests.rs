//! Whole tasks on a fake project: every way to end, and what holds for all of them.

use fixpoint_vocabulary::Redacted;
use fixpoint_vocabulary::ask::{ModelAnswer, ParsedAnswer};
use fixpoint_vocabulary::documents::{Document, JudgeAnswer};
use fixpoint_vocabulary::settings::{NewlyFlaky, OnViolation, ReplanningSettings};
use fixpoint_vocabulary::usage::Usage;
use fixpoint_vocabulary::work::{
    AgentEnd, AttemptResult, CheckEnd, CheckProblem, Leftovers, ProtectedChange, ProtectedEdit,
    ProtectedRole, RestoredPath, TestName,
};

use super::fake_project::{GOAL, GUARD, TaskSimulator, TreeState, failing, names};
use super::*;

fn options() -> TaskOptions {
    TaskOptions::new("t".into(), BTreeSet::from([GOAL]), BTreeSet::from([GUARD]))
}

fn task(base: TreeState, script: Vec<TreeState>) -> TaskSimulator {
    TaskSimulator::new(options(), base, script)
}

/// Runs a task and says how it ended, and after how many attempts.
fn outcome(mut task: TaskSimulator) -> (Cause, usize) {
    task.send(&Event::Started);
    match task.go() {
        TaskStatus::Ended { cause } | TaskStatus::Paused { cause, .. } => (cause, task.project.attempts),
        step @ (TaskStatus::New | TaskStatus::Working { .. }) => panic!("still at {step:?}"),
    }
}

#[test]
fn ways_to_succeed() {
    let uncovers = |goal: &str| TreeState { hidden: names("b"), ..failing(goal, "a") };
    let flaky = |goal: &str| TreeState { flaky: names("f"), ..failing(goal, "") };
    let one_by_one = vec![failing("ab", ""), failing("a", ""), failing("", "")];
    let breaks_and_repairs = vec![failing("", "n"), failing("", "")];
    let shows_what_was_hidden = vec![TreeState { guard: names("b"), ..failing("", "b") }];
    for (row, task, expected) in [
        ("a known failure stays", task(failing("a", "k"), vec![failing("", "k")]), (Cause::Done, 1)),
        ("one failure at a time", task(failing("abc", ""), one_by_one), (Cause::Done, 3)),
        ("nothing to do", task(failing("", "k"), vec![]), (Cause::AlreadySatisfied, 0)),
        ("breaks a guard and repairs it", task(failing("a", ""), breaks_and_repairs), (Cause::Done, 2)),
        ("a failure that was hidden", task(uncovers("g"), shows_what_was_hidden), (Cause::Done, 1)),
        ("a flaky test stays flaky", task(flaky("g"), vec![flaky("")]), (Cause::Done, 1)),
    ] {
        assert_eq!(outcome(task), expected, "{row}");
    }
}

#[test]
fn ways_to_be_stopped() {
    let cannot_start = TreeState { cannot_start: true, ..TreeState::default() };
    let infra = TreeState { end: Some(CheckEnd::CouldNotRun), ..failing("", "") };
    let weakened = TreeState {
        edited_tests: vec!["tests.rs".into()],
        goal_with_base_tests: names("a"),
        ..failing("", "")
    };
    let hides_a_guard = TreeState {
        edited_tests: vec!["conftest.py".into()],
        guard_with_base_tests: names("g"),
        ..failing("", "")
    };
    let relies_on_leftovers = TreeState { failing_when_pristine: names("a"), ..failing("", "") };
    let base = || failing("a", "");
    let unusable = TreeState { end: Some(CheckEnd::CouldNotRun), ..base() };
    let not_found = TreeState { end: Some(CheckEnd::NotFound), ..base() };
    let removed = TreeState { end: Some(CheckEnd::NotFound), ..base() };
    let back_and_forth = vec![failing("b", ""), failing("a", ""), failing("b", ""), failing("a", "")];
    let deletes_the_test = TreeState { gone: names("a"), ..base() };
    let deletes_another = TreeState { gone: names("x"), ..failing("", "") };
    for (row, task, cause, most_attempts) in [
        ("the same failure again", task(base(), vec![failing("a", "")]), Cause::NotConverging, 4),
        ("oscillates", task(base(), back_and_forth), Cause::NotConverging, 5),
        ("breaks a guard", task(base(), vec![failing("", "n")]), Cause::NotConverging, 5),
        ("deletes the failing test", task(base(), vec![deletes_the_test]), Cause::NotConverging, 5),
        ("deletes a passing test", task(base(), vec![deletes_another]), Cause::NotConverging, 5),
        ("weakens the test", task(base(), vec![weakened]), Cause::NotConverging, 5),
        ("weakens a guard", task(base(), vec![hides_a_guard]), Cause::NotConverging, 5),
        ("leaves files behind", task(base(), vec![relies_on_leftovers]), Cause::NotConverging, 5),
        ("the agent cannot start", task(base(), vec![cannot_start]), Cause::AgentUnavailable, 1),
        ("the checks cannot run", task(base(), vec![infra]), Cause::Infrastructure, 1),
        ("the checks cannot run at the base", task(unusable, vec![]), Cause::BaselineUnusable, 0),
        ("a check does not exist", task(not_found, vec![]), Cause::BaselineUnusable, 0),
        ("removes the check", task(base(), vec![removed]), Cause::NotConverging, 4),
    ] {
        let (ended, attempts) = outcome(task);
        assert_eq!(ended, cause, "{row}");
        assert!(attempts <= most_attempts, "{row}: took {attempts} attempts");
    }
}

#[test]
fn a_newly_flaky_test_blocks_unless_it_is_allowed() {
    let now_flaky = || TreeState { flaky: names("f"), ..failing("", "") };
    assert_eq!(outcome(task(failing("a", ""), vec![now_flaky()])).0, Cause::NotConverging);
    let mut allowing = options();
    allowing.baseline.newly_flaky = NewlyFlaky::Allow;
    assert_eq!(outcome(TaskSimulator::new(allowing, failing("a", ""), vec![now_flaky()])), (Cause::Done, 1));
}

#[test]
fn a_test_that_was_flaky_all_along_does_not_block() {
    // At the base the guard runs second, so it passes there; later it depends on how often the goal ran.
    let wavering = |goal: &str| TreeState { wavering: names("w"), ..failing(goal, "") };
    let mut seen_at_base = BTreeSet::new();
    for goal_runs in 1..=3 {
        let options = TaskOptions { goal_runs, ..options() };
        let mut task = TaskSimulator::new(options, wavering("a"), vec![wavering("")]);
        task.send(&Event::Started);
        while let Some((_, command)) = task.waiting.clone() {
            if let TaskStatus::Working { activity } = task.run.status() {
                seen_at_base.extend((activity == TaskActivity::FlakyAtBase).then_some(goal_runs));
            }
            let result = task.project.perform(&command);
            task.end_command(CommandEnd::Completed(result));
        }
        assert_eq!(
            task.run.status(),
            TaskStatus::Ended { cause: Cause::Done },
            "{goal_runs} runs of the goal"
        );
    }
    assert!(!seen_at_base.is_empty(), "at least once it was not known before");
}

#[test]
fn an_unchanged_tree_is_checked_again_if_what_blocked_may_be_gone() {
    let now_flaky = TreeState { flaky: names("f"), ..failing("", "") };
    let mut task = task(failing("a", ""), vec![now_flaky.clone(), now_flaky]);
    task.send(&Event::Started);
    let mut checked_after_second = false;
    while let Some((_, command)) = task.waiting.clone() {
        checked_after_second |= task.project.attempts >= 2 && matches!(command, Command::RunChecks(_));
        let result = task.project.perform(&command);
        task.end_command(CommandEnd::Completed(result));
    }
    assert!(checked_after_second);
}

#[test]
fn tests_that_only_the_base_version_has_are_missed() {
    let mut project = fake_project::FakeProject::new(failing("", ""), vec![]);
    let checks = Command::RunChecks(fixpoint_vocabulary::work::CheckRun {
        commit: CommitId("base".into()),
        calls: vec![fixpoint_vocabulary::work::CheckCall::whole(GOAL)],
        reuse: None,
        leftovers: Leftovers::Kept,
    });
    let CommandResult::Checks { reports } = project.perform(&checks) else { panic!("checks run") };
    let more = fixpoint_vocabulary::work::CheckReport { counted: 10, ..reports[0].clone() };
    for (in_proof_tree, expected) in [(vec![], false), (vec![&reports[0]], false), (vec![&more], true)] {
        let reports: Vec<&CheckReport> = reports.iter().collect();
        assert_eq!(super::goal_evaluation::runs_fewer_tests(&reports, &in_proof_tree), expected);
    }
}

/// Catches a kind of failure that is recognised by how a name begins: a test named like this could be weakened unseen.
#[test]
fn a_test_may_have_any_name() {
    for name in ["no_tests_ran_when_empty", "vanished:x", "timeout:guard"] {
        let fails = || BTreeSet::from([TestName::from(name)]);
        let base = TreeState { goal: fails(), ..TreeState::default() };
        let edited_tests = vec!["tests.rs".into()];
        let weakened = TreeState { edited_tests, goal_with_base_tests: fails(), ..TreeState::default() };
        assert_eq!(outcome(task(base.clone(), vec![weakened])).0, Cause::NotConverging, "{name}");
        assert_eq!(outcome(task(base, vec![failing("", "")])), (Cause::Done, 1), "{name}");
    }
}

/// Catches checking an unchanged tree again because of a name: only what may be gone by itself is looked at again.
#[test]
fn only_a_real_timeout_may_be_gone_by_itself() {
    let judged = |id: FailureId| {
        let mut task = task(failing("a", ""), vec![failing("a", "")]);
        let mut last = task.send(&Event::Started);
        while last.judged.is_none() {
            let (_, command) = task.waiting.clone().expect("a command is under way");
            let result = task.project.perform(&command);
            last = task.end_command(CommandEnd::Completed(result));
        }
        let failures = vec![ReportedFailure::new(id, Redacted::default())];
        JudgedAttempt { failures, ..last.judged.expect("an attempt was judged") }
    };
    let hangs = |problem| FailureId::Check { check: "slow".into(), problem };
    assert!(judged(hangs(CheckProblem::Timeout)).may_pass_unchanged());
    for id in [
        FailureId::Test("timeout:slow".into()),
        FailureId::Declared("timeout:slow".into()),
        FailureId::Output { check: "timeout".into(), fingerprint: "f00d".into() },
        hangs(CheckProblem::Crash),
    ] {
        assert!(!judged(id.clone()).may_pass_unchanged(), "{id:?}");
    }
}

#[test]
fn scope_is_reported_first_and_enforced_at_stage_2() {
    let wandering = || TreeState { violations: vec!["ci.yml".into()], ..failing("", "") };
    let (cause, attempts) = outcome(task(failing("a", ""), vec![wandering()]));
    assert_eq!(cause, Cause::Done, "reverted at stage 2, and then there is nothing to object to");
    assert!(attempts > 1, "reported before that");
    let mut reverting = options();
    reverting.on_violation = OnViolation::Revert;
    assert_eq!(outcome(TaskSimulator::new(reverting, failing("a", ""), vec![wandering()])), (Cause::Done, 1));
    let mut blocking = options();
    blocking.on_violation = OnViolation::Block;
    assert_eq!(
        outcome(TaskSimulator::new(blocking, failing("a", ""), vec![wandering()])),
        (Cause::ScopeViolation, 1)
    );
}

#[test]
fn stage_2_begins_with_the_best_attempt() {
    let script = vec![failing("ab", ""), failing("abcd", ""), failing("abce", ""), failing("", "")];
    let mut task = task(failing("abc", ""), script);
    task.send(&Event::Started);
    assert_eq!(task.go(), TaskStatus::Ended { cause: Cause::Done });
    let bases: Vec<&str> = task.project.bases.iter().map(|commit| commit.0.as_str()).collect();
    assert_eq!(bases.first(), Some(&"base"));
    assert_eq!(bases.get(1), Some(&"c1"), "stage 1 goes on where it was");
}

#[test]
fn a_session_goes_on_at_stage_1_only_and_never_over_what_was_taken_back() {
    let sessions = |options: TaskOptions, script: Vec<TreeState>| {
        let mut task = TaskSimulator::new(options, failing("abc", ""), script);
        task.send(&Event::Started);
        task.go();
        task.project.sessions
    };
    let said = |number: u32| Some(alloc::format!("s{number}"));
    let idle = vec![failing("abc", "")];
    assert_eq!(sessions(options(), idle), [None, said(1), None, None], "changed nothing, then stage 2");
    let better = vec![failing("ab", ""), failing("a", ""), failing("", "")];
    assert_eq!(sessions(options(), better), [None, said(1), said(2)]);
    let reverting = TaskOptions { on_violation: OnViolation::Revert, ..options() };
    let outside = TreeState { violations: vec!["x.yml".into()], ..failing("ab", "") };
    assert_eq!(sessions(reverting, vec![outside, failing("", "")]), [None, None]);
}

#[test]
fn an_attempt_that_changes_nothing_is_not_checked() {
    let mut task = task(failing("a", ""), vec![failing("a", "")]);
    task.send(&Event::Started);
    task.go();
    let at_base = task.project.check_runs;
    assert!(at_base <= 3, "{at_base} check runs: goal and guard once, what failed once more");
}

#[test]
fn what_fails_is_the_goal_where_none_is_named() {
    let guards_only = |implied_goals| TaskOptions { goals: BTreeSet::new(), implied_goals, ..options() };
    let failing_guard = || failing("", "x");
    let task = |implied, base, script| outcome(TaskSimulator::new(guards_only(implied), base, script));
    for implied in [ImpliedGoals::FailingGuards, ImpliedGoals::FailingGuardsOrNothing] {
        let half_done = vec![failing_guard(), failing("", "")];
        assert_eq!(task(implied, failing_guard(), half_done), (Cause::Done, 2), "{implied:?}");
        let removed = vec![TreeState { gone: names("y"), ..failing("", "") }];
        assert_eq!(task(implied, failing_guard(), removed).0, Cause::NotConverging, "still a guard");
    }
    let changes = || vec![TreeState { edited_tests: vec!["t".into()], ..failing("", "") }];
    assert_eq!(task(ImpliedGoals::FailingGuards, failing("", ""), changes()), (Cause::Done, 1));
    assert_eq!(
        task(ImpliedGoals::FailingGuardsOrNothing, failing("", ""), changes()),
        (Cause::AlreadySatisfied, 0)
    );
    assert_eq!(task(ImpliedGoals::None, failing_guard(), vec![failing("n", "x")]), (Cause::Done, 1));
}

/// Catches a task that is blocked before it begins, because its goal runs the script that it is to write.
#[test]
fn a_goal_that_a_planner_made_up_may_not_be_there_yet() {
    let missing = || TreeState { end: Some(CheckEnd::NotFound), ..failing("a", "") };
    let goals_only = TaskOptions { guards: BTreeSet::new(), ..options() };
    let of = |options: TaskOptions, script| outcome(TaskSimulator::new(options, missing(), script));
    let written = || vec![failing("", "")];
    assert_eq!(of(goals_only.clone(), written()), (Cause::BaselineUnusable, 0));
    let invented = TaskOptions { invented: goals_only.goals.clone(), ..goals_only };
    assert_eq!(of(invented.clone(), written()), (Cause::Done, 1));
    assert_eq!(of(invented, vec![missing()]).0, Cause::NotConverging, "nobody writes it");
}

/// Catches a second attempt that only puts back what the first one broke, and counts as something done.
#[test]
fn to_put_everything_back_is_no_result() {
    let guards_only = TaskOptions { goals: BTreeSet::new(), ..options() };
    let back = vec![failing("", "n"), failing("", "")];
    assert_eq!(
        outcome(TaskSimulator::new(guards_only.clone(), failing("", ""), back)).0,
        Cause::NotConverging
    );
    let other = vec![failing("", "n"), TreeState { edited_tests: vec!["t".into()], ..failing("", "") }];
    assert_eq!(outcome(TaskSimulator::new(guards_only, failing("", ""), other)), (Cause::Done, 2));
}

#[test]
fn whoever_may_change_tests_may_remove_them() {
    let removed = || TreeState { gone: names("x"), ..failing("", "") };
    let allowing = TaskOptions { test_edits: TestEdits::Allowed, ..options() };
    assert_eq!(outcome(TaskSimulator::new(allowing, failing("a", ""), vec![removed()])), (Cause::Done, 1));
}

/// Catches counting attempts that changed something, and telling of those before them.
#[test]
fn an_attempt_is_told_how_many_before_it_changed_nothing() {
    let script = vec![failing("a", ""), failing("a", ""), failing("b", ""), failing("", "")];
    let mut task = task(failing("a", ""), script);
    let mut findings = Vec::new();
    task.send(&Event::Started);
    while let Some((_, command)) = task.waiting.clone() {
        if let Command::RunAttempt(attempt) = &command {
            findings.push(task.run.prepared_attempt(attempt).idle);
        }
        let result = task.project.perform(&command);
        task.end_command(CommandEnd::Completed(result));
    }
    assert_eq!((findings, task.run.status()), (vec![0, 1, 2, 0], TaskStatus::Ended { cause: Cause::Done }));
}

/// Catches quoting what the judge said of an earlier attempt as if it had been said of the last.
#[test]
fn a_remark_is_told_to_the_next_attempt_only() {
    let judge = JudgeOptions {
        yeses: 1,
        max_format_retries: 0,
        lineage_iteration: 0,
        replanning: ReplanningSettings::default(),
    };
    let judged = TaskOptions { judge: Some(judge), ..options() };
    let mut task = TaskSimulator::new(judged, failing("a", ""), vec![failing("a", "")]);
    let hopes = JudgeAnswer {
        success: false,
        should_continue: true,
        should_replan: false,
        already_satisfied: false,
        reason: "try harder".into(),
        missing_requirements: Vec::new(),
    };
    let answer = ModelAnswer {
        model: "m".into(),
        usage: Usage::default(),
        reading: ParsedAnswer::Document(Document::TaskJudgement(hopes)),
    };
    let mut findings = Vec::new();
    task.send(&Event::Started);
    while let Some((_, command)) = task.waiting.clone() {
        if let Command::RunAttempt(attempt) = &command {
            findings.push(task.run.prepared_attempt(attempt).remarks.len());
        }
        let is_asked = matches!(&command, Command::Ask(_));
        let answered = is_asked.then(|| CommandResult::Answer(answer.clone()));
        let result = answered.unwrap_or_else(|| task.project.perform(&command));
        task.end_command(CommandEnd::Completed(result));
    }
    assert_eq!(
        (findings, task.run.status()),
        (vec![0, 0, 1, 0], TaskStatus::Ended { cause: Cause::NotConverging })
    );
}

#[test]
fn what_guards_tolerate_is_told() {
    let base = TreeState { flaky: names("f"), ..failing("a", "k") };
    let mut task = task(base, vec![TreeState { flaky: names("f"), ..failing("", "k") }]);
    let mut last = task.send(&Event::Started);
    while let Some((_, command)) = task.waiting.clone() {
        let result = task.project.perform(&command);
        last = task.end_command(CommandEnd::Completed(result));
    }
    let seen = last.judged.expect("an attempt was judged").comparison;
    let ids = |letters| names(letters).into_iter().map(FailureId::Test).collect();
    assert_eq!(
        seen,
        BaselineComparison { known: ids("k"), flaky: ids("f"), ..BaselineComparison::default() }
    );
    assert_eq!(task.run.proof(), crate::goals::Proof::Goals);
}

#[test]
fn without_guards_or_goals() {
    let mut goals_only = options();
    goals_only.guards = BTreeSet::new();
    assert_eq!(
        outcome(TaskSimulator::new(goals_only, failing("a", ""), vec![failing("", "n")])),
        (Cause::Done, 1)
    );
    let mut guards_only = options();
    guards_only.goals = BTreeSet::new();
    let script = vec![failing("x", "n"), failing("y", "")];
    assert_eq!(outcome(TaskSimulator::new(guards_only, failing("", ""), script)), (Cause::Done, 2));
}

#[test]
fn a_stop_keeps_the_state_and_going_on_repeats_the_command() {
    let mut task = task(failing("a", ""), vec![failing("", "")]);
    task.send(&Event::Started);
    let under_way = task.waiting.clone().unwrap();
    let stopped = task.send(&Event::StopRequested);
    assert_eq!(
        stopped.status,
        TaskStatus::Paused { cause: Cause::Stopped, activity: TaskActivity::TakingBase }
    );
    task.send(&Event::StopRequested);
    assert_eq!(task.run.decide(&Event::Started), Err(UnexpectedEvent { status: task.run.status() }));
    task.send(&Event::resumed());
    assert_eq!(task.waiting.as_ref().map(|(_, command)| command), Some(&under_way.1));
    assert_eq!(task.go(), TaskStatus::Ended { cause: Cause::Done });
}

#[test]
fn waiting_and_failing_commands_pause() {
    let waiting = TreeState { end: Some(CheckEnd::Waiting), ..failing("", "") };
    let mut paused = task(failing("a", ""), vec![waiting]);
    paused.send(&Event::Started);
    assert_eq!(paused.go(), TaskStatus::Paused { cause: Cause::Waiting, activity: TaskActivity::Goals });
    paused.project.settle();
    paused.send(&Event::resumed());
    assert_eq!(paused.go(), TaskStatus::Ended { cause: Cause::Done }, "what was awaited has come");
    let mut at_base =
        task(TreeState { end: Some(CheckEnd::Waiting), ..failing("a", "") }, vec![failing("", "")]);
    at_base.send(&Event::Started);
    assert_eq!(at_base.go(), TaskStatus::Paused { cause: Cause::Waiting, activity: TaskActivity::Baseline });
    at_base.project.settle();
    at_base.send(&Event::resumed());
    assert_eq!(at_base.go(), TaskStatus::Ended { cause: Cause::Done });
    let mut broken = task(failing("a", ""), vec![]);
    broken.send(&Event::Started);
    broken.end_command(CommandEnd::Failed { message: Redacted::ours("disk full") });
    assert_eq!(
        broken.run.status(),
        TaskStatus::Paused { cause: Cause::Infrastructure, activity: TaskActivity::TakingBase }
    );
}

#[test]
fn an_agent_that_is_refused_pauses_and_the_task_does_not_pay_for_it() {
    let mut task = task(failing("a", ""), vec![failing("", "")]);
    task.send(&Event::Started);
    while !matches!(task.waiting, Some((_, Command::RunAttempt(_)))) {
        let command = task.waiting.clone().expect("a command is under way").1;
        let result = task.project.perform(&command);
        task.end_command(CommandEnd::Completed(result));
    }
    let ordered = task.waiting.clone().map(|(_, command)| command);
    let refused = AttemptResult::new(
        AgentEnd::Unavailable,
        CommitId("base".into()),
        TreeId(task.run.baseline().base_tree().unwrap_or_default()),
    );
    // More often than attempts that change nothing are borne with.
    for _ in 0..6 {
        let decision = task.end_command(CommandEnd::Completed(CommandResult::Attempt(refused.clone())));
        let paused =
            TaskStatus::Paused { cause: Cause::AgentUnavailable, activity: TaskActivity::Attempting };
        assert_eq!((decision.status, decision.judged), (paused, None));
        task.send(&Event::resumed());
        assert_eq!(task.waiting.clone().map(|(_, command)| command), ordered);
    }
    assert_eq!(task.go(), TaskStatus::Ended { cause: Cause::Done });
    assert_eq!(task.run.attempts(), 1);
}

#[test]
fn a_command_cut_short_is_repeated_within_a_bound() {
    let mut task = task(failing("a", ""), vec![failing("", "")]);
    task.send(&Event::Started);
    for _ in 0..3 {
        assert_eq!(
            task.end_command(CommandEnd::Lost).status,
            TaskStatus::Working { activity: TaskActivity::TakingBase }
        );
    }
    let step = task.end_command(CommandEnd::Lost).status;
    assert_eq!(step, TaskStatus::Paused { cause: Cause::Infrastructure, activity: TaskActivity::TakingBase });
}

mod crashes;
mod findings;
mod proof;
