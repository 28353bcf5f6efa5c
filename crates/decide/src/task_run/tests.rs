//! Whole tasks in a made-up world: every way to end, and what holds for all of them.

use alloc::vec;

use fixpoint_vocabulary::Redacted;
use fixpoint_vocabulary::ask::{ModelAnswer, Reading};
use fixpoint_vocabulary::documents::{Document, JudgeAnswer};
use fixpoint_vocabulary::settings::{NewlyFlaky, OnViolation, ReplanningSettings};
use fixpoint_vocabulary::usage::Usage;
use fixpoint_vocabulary::work::{AgentEnd, AttemptResult, CheckEnd};
use proptest::prelude::*;

use super::world::{GOAL, GUARD, Lab, State, failing, names};
use super::*;

fn order() -> TaskOrder {
    TaskOrder::new("t".into(), BTreeSet::from([GOAL]), BTreeSet::from([GUARD]))
}

fn lab(base: State, script: Vec<State>) -> Lab {
    Lab::new(order(), base, script)
}

/// Runs a task and says how it ended, and after how many attempts.
fn outcome(mut lab: Lab) -> (Cause, usize) {
    lab.send(&Event::Begun);
    match lab.go() {
        Step::Ended { cause } | Step::Paused { cause, .. } => (cause, lab.world.attempts),
        step @ (Step::New | Step::Working { .. }) => panic!("still at {step:?}"),
    }
}

#[test]
fn ways_to_succeed() {
    let known_elsewhere = lab(failing("a", "k"), vec![failing("", "k")]);
    let fixed_one_by_one =
        lab(failing("abc", ""), vec![failing("ab", ""), failing("a", ""), failing("", "")]);
    let satisfied = lab(failing("", "k"), vec![]);
    let mends_what_it_broke = lab(failing("a", ""), vec![failing("", "n"), failing("", "")]);
    let uncovers = |goal: &str| State { hidden: names("b"), ..failing(goal, "a") };
    let uncovered = lab(uncovers("g"), vec![State { guard: names("b"), ..failing("", "b") }]);
    let flaky = |goal: &str| State { flaky: names("f"), ..failing(goal, "") };
    let table = vec![
        (known_elsewhere, (Cause::Done, 1)),
        (fixed_one_by_one, (Cause::Done, 3)),
        (satisfied, (Cause::AlreadySatisfied, 0)),
        (mends_what_it_broke, (Cause::Done, 2)),
        (uncovered, (Cause::Done, 1)),
        (lab(flaky("g"), vec![flaky("")]), (Cause::Done, 1)),
    ];
    for (n, (lab, expected)) in table.into_iter().enumerate() {
        assert_eq!(outcome(lab), expected, "row {n}");
    }
}

#[test]
fn ways_to_be_stopped() {
    let cannot_start = State { cannot_start: true, ..State::default() };
    let infra = State { end: Some(CheckEnd::CouldNotRun), ..failing("", "") };
    let weakened =
        State { edited_tests: vec!["tests.rs".into()], goal_with_base_tests: names("a"), ..failing("", "") };
    let base = || failing("a", "");
    let unusable = State { end: Some(CheckEnd::CouldNotRun), ..base() };
    let not_found = State { end: Some(CheckEnd::NotFound), ..base() };
    let removed = State { end: Some(CheckEnd::NotFound), ..base() };
    let table = vec![
        (lab(base(), vec![failing("a", "")]), (Cause::NotConverging, 4)),
        (
            lab(base(), vec![failing("b", ""), failing("a", ""), failing("b", ""), failing("a", "")]),
            (Cause::NotConverging, 5),
        ),
        (lab(base(), vec![failing("", "n")]), (Cause::NotConverging, 5)),
        (lab(base(), vec![State { gone: names("a"), ..base() }]), (Cause::NotConverging, 5)),
        (lab(base(), vec![State { gone: names("x"), ..failing("", "") }]), (Cause::NotConverging, 5)),
        (lab(base(), vec![weakened]), (Cause::NotConverging, 5)),
        (lab(base(), vec![cannot_start]), (Cause::AgentUnavailable, 1)),
        (lab(base(), vec![infra]), (Cause::Infrastructure, 1)),
        (lab(unusable, vec![]), (Cause::BaselineUnusable, 0)),
        (lab(not_found, vec![]), (Cause::BaselineUnusable, 0)),
        (lab(base(), vec![removed]), (Cause::NotConverging, 4)),
    ];
    for (n, (lab, (cause, attempts))) in table.into_iter().enumerate() {
        let (ended, made) = outcome(lab);
        assert_eq!(ended, cause, "row {n}");
        assert!(made <= attempts, "row {n} took {made} attempts");
    }
}

#[test]
fn a_newly_flaky_test_blocks_unless_it_is_allowed() {
    let now_flaky = || State { flaky: names("f"), ..failing("", "") };
    assert_eq!(outcome(lab(failing("a", ""), vec![now_flaky()])).0, Cause::NotConverging);
    let mut allowing = order();
    allowing.baseline.newly_flaky = NewlyFlaky::Allow;
    assert_eq!(outcome(Lab::new(allowing, failing("a", ""), vec![now_flaky()])), (Cause::Done, 1));
}

#[test]
fn a_test_that_was_flaky_all_along_does_not_block() {
    // At the base the guard runs second, so it passes there; later it depends on how often the goal ran.
    let wavering = |goal: &str| State { wavering: names("w"), ..failing(goal, "") };
    let mut seen_at_base = BTreeSet::new();
    for goal_runs in 1..=3 {
        let order = TaskOrder { goal_runs, ..order() };
        let mut lab = Lab::new(order, wavering("a"), vec![wavering("")]);
        lab.send(&Event::Begun);
        while let Some((_, command)) = lab.waiting.clone() {
            if let Step::Working { work } = lab.run.step() {
                seen_at_base.extend((work == Work::FlakyAtBase).then_some(goal_runs));
            }
            let result = lab.world.perform(&command);
            lab.end_command(CommandEnd::Completed(result));
        }
        assert_eq!(lab.run.step(), Step::Ended { cause: Cause::Done }, "{goal_runs} runs of the goal");
    }
    assert!(!seen_at_base.is_empty(), "at least once it was not known before");
}

#[test]
fn an_unchanged_tree_is_checked_again_if_what_blocked_may_be_gone() {
    let now_flaky = State { flaky: names("f"), ..failing("", "") };
    let mut lab = lab(failing("a", ""), vec![now_flaky.clone(), now_flaky]);
    lab.send(&Event::Begun);
    let mut checked_after_second = false;
    while let Some((_, command)) = lab.waiting.clone() {
        checked_after_second |= lab.world.attempts >= 2 && matches!(command, Command::RunChecks(_));
        let result = lab.world.perform(&command);
        lab.end_command(CommandEnd::Completed(result));
    }
    assert!(checked_after_second);
}

#[test]
fn tests_that_only_the_base_version_has_are_missed() {
    let mut world = world::World::new(failing("", ""), vec![]);
    let checks = Command::RunChecks(fixpoint_vocabulary::work::CheckRun {
        commit: CommitId("base".into()),
        calls: vec![super::beginning::whole(GOAL)],
        reuse: None,
    });
    let CommandResult::Checks { reports } = world.perform(&checks) else { panic!("checks run") };
    let more = fixpoint_vocabulary::work::CheckReport { counted: 10, ..reports[0].clone() };
    for (with_base_tests, expected) in [(None, false), (Some(&reports[0]), false), (Some(&more), true)] {
        let reports: Vec<&CheckReport> = reports.iter().collect();
        assert_eq!(super::goal_trial::runs_fewer_tests(&reports, with_base_tests), expected);
    }
}

/// Catches a kind of failure that is told by how a name begins: a test named like this could be weakened unseen.
#[test]
fn a_test_may_have_any_name() {
    for name in ["no_tests_ran_when_empty", "vanished:x", "timeout:guard"] {
        let fails = || BTreeSet::from([TestName::from(name)]);
        let base = State { goal: fails(), ..State::default() };
        let edited_tests = vec!["tests.rs".into()];
        let weakened = State { edited_tests, goal_with_base_tests: fails(), ..State::default() };
        assert_eq!(outcome(lab(base.clone(), vec![weakened])).0, Cause::NotConverging, "{name}");
        assert_eq!(outcome(lab(base, vec![failing("", "")])), (Cause::Done, 1), "{name}");
    }
}

/// Catches checking an unchanged tree again because of a name: only what may be gone by itself is looked at again.
#[test]
fn only_a_real_timeout_may_be_gone_by_itself() {
    let judged = |id: FailureId| {
        let mut lab = lab(failing("a", ""), vec![failing("a", "")]);
        let mut last = lab.send(&Event::Begun);
        while last.judged.is_none() {
            let (_, command) = lab.waiting.clone().expect("a command is under way");
            let result = lab.world.perform(&command);
            last = lab.end_command(CommandEnd::Completed(result));
        }
        let failures = vec![ReportedFailure::new(id, Redacted::default())];
        Judged { failures, ..last.judged.expect("an attempt was judged") }
    };
    let hangs = |problem| FailureId::Check { check: "slow".into(), problem };
    assert!(judged(hangs(CheckProblem::Timeout)).is_shaky());
    for id in [
        FailureId::Test("timeout:slow".into()),
        FailureId::Declared("timeout:slow".into()),
        FailureId::Output { check: "timeout".into(), fingerprint: "f00d".into() },
        hangs(CheckProblem::Crash),
    ] {
        assert!(!judged(id.clone()).is_shaky(), "{id:?}");
    }
}

#[test]
fn scope_is_reported_first_and_enforced_at_stage_2() {
    let wandering = || State { violations: vec!["ci.yml".into()], ..failing("", "") };
    let (cause, attempts) = outcome(lab(failing("a", ""), vec![wandering()]));
    assert_eq!(cause, Cause::Done, "reverted at stage 2, and then there is nothing to object to");
    assert!(attempts > 1, "reported before that");
    let mut reverting = order();
    reverting.on_violation = OnViolation::Revert;
    assert_eq!(outcome(Lab::new(reverting, failing("a", ""), vec![wandering()])), (Cause::Done, 1));
    let mut blocking = order();
    blocking.on_violation = OnViolation::Block;
    assert_eq!(outcome(Lab::new(blocking, failing("a", ""), vec![wandering()])), (Cause::ScopeViolation, 1));
}

#[test]
fn stage_2_begins_with_the_best_attempt() {
    let script = vec![failing("ab", ""), failing("abcd", ""), failing("abce", ""), failing("", "")];
    let mut lab = lab(failing("abc", ""), script);
    lab.send(&Event::Begun);
    assert_eq!(lab.go(), Step::Ended { cause: Cause::Done });
    let bases: Vec<&str> = lab.world.bases.iter().map(|commit| commit.0.as_str()).collect();
    assert_eq!(bases.first(), Some(&"base"));
    assert_eq!(bases.get(1), Some(&"c1"), "stage 1 goes on where it was");
}

#[test]
fn a_session_goes_on_at_stage_1_only_and_never_over_what_was_taken_back() {
    let sessions = |order: TaskOrder, script: Vec<State>| {
        let mut lab = Lab::new(order, failing("abc", ""), script);
        lab.send(&Event::Begun);
        lab.go();
        lab.world.sessions
    };
    let said = |number: u32| Some(alloc::format!("s{number}"));
    let idle = vec![failing("abc", "")];
    assert_eq!(sessions(order(), idle), [None, said(1), None, None], "changed nothing, then stage 2");
    let better = vec![failing("ab", ""), failing("a", ""), failing("", "")];
    assert_eq!(sessions(order(), better), [None, said(1), said(2)]);
    let reverting = TaskOrder { on_violation: OnViolation::Revert, ..order() };
    let outside = State { violations: vec!["x.yml".into()], ..failing("ab", "") };
    assert_eq!(sessions(reverting, vec![outside, failing("", "")]), [None, None]);
}

#[test]
fn an_attempt_that_changes_nothing_is_not_checked() {
    let mut lab = lab(failing("a", ""), vec![failing("a", "")]);
    lab.send(&Event::Begun);
    lab.go();
    let at_base = lab.world.check_runs;
    assert!(at_base <= 3, "{at_base} check runs: goal and guard once, what failed once more");
}

#[test]
fn what_fails_is_the_goal_where_none_is_named() {
    let guards_only = |implied_goals| TaskOrder { goals: BTreeSet::new(), implied_goals, ..order() };
    let failing_guard = || failing("", "x");
    let lab = |implied, base, script| outcome(Lab::new(guards_only(implied), base, script));
    for implied in [ImpliedGoals::WhatFails, ImpliedGoals::WhatFailsAndElseNothing] {
        let half_done = vec![failing_guard(), failing("", "")];
        assert_eq!(lab(implied, failing_guard(), half_done), (Cause::Done, 2), "{implied:?}");
        let removed = vec![State { gone: names("y"), ..failing("", "") }];
        assert_eq!(lab(implied, failing_guard(), removed).0, Cause::NotConverging, "still a guard");
    }
    let changes = || vec![State { edited_tests: vec!["t".into()], ..failing("", "") }];
    assert_eq!(lab(ImpliedGoals::WhatFails, failing("", ""), changes()), (Cause::Done, 1));
    assert_eq!(
        lab(ImpliedGoals::WhatFailsAndElseNothing, failing("", ""), changes()),
        (Cause::AlreadySatisfied, 0)
    );
    assert_eq!(lab(ImpliedGoals::None, failing_guard(), vec![failing("n", "x")]), (Cause::Done, 1));
}

/// Catches a task that is blocked before it begins, because its goal runs the script that it is to write.
#[test]
fn a_goal_that_a_planner_made_up_may_not_be_there_yet() {
    let missing = || State { end: Some(CheckEnd::NotFound), ..failing("a", "") };
    let goals_only = TaskOrder { guards: BTreeSet::new(), ..order() };
    let of = |order: TaskOrder, script| outcome(Lab::new(order, missing(), script));
    let written = || vec![failing("", "")];
    assert_eq!(of(goals_only.clone(), written()), (Cause::BaselineUnusable, 0));
    let invented = TaskOrder { invented: goals_only.goals.clone(), ..goals_only };
    assert_eq!(of(invented.clone(), written()), (Cause::Done, 1));
    assert_eq!(of(invented, vec![missing()]).0, Cause::NotConverging, "nobody writes it");
}

/// Catches a second attempt that only puts back what the first one broke, and counts as something done.
#[test]
fn to_put_everything_back_is_no_result() {
    let guards_only = TaskOrder { goals: BTreeSet::new(), ..order() };
    let back = vec![failing("", "n"), failing("", "")];
    assert_eq!(outcome(Lab::new(guards_only.clone(), failing("", ""), back)).0, Cause::NotConverging);
    let other = vec![failing("", "n"), State { edited_tests: vec!["t".into()], ..failing("", "") }];
    assert_eq!(outcome(Lab::new(guards_only, failing("", ""), other)), (Cause::Done, 2));
}

#[test]
fn whoever_may_change_tests_may_remove_them() {
    let removed = || State { gone: names("x"), ..failing("", "") };
    let allowing = TaskOrder { test_edits: TestEdits::Allowed, ..order() };
    assert_eq!(outcome(Lab::new(allowing, failing("a", ""), vec![removed()])), (Cause::Done, 1));
}

/// Catches counting attempts that changed something, and telling of those before them.
#[test]
fn an_attempt_is_told_how_many_before_it_changed_nothing() {
    let script = vec![failing("a", ""), failing("a", ""), failing("b", ""), failing("", "")];
    let mut lab = lab(failing("a", ""), script);
    let mut told = Vec::new();
    lab.send(&Event::Begun);
    while let Some((_, command)) = lab.waiting.clone() {
        if let Command::RunAttempt(attempt) = &command {
            told.push(lab.run.attempt_order(attempt).idle);
        }
        let result = lab.world.perform(&command);
        lab.end_command(CommandEnd::Completed(result));
    }
    assert_eq!((told, lab.run.step()), (vec![0, 1, 2, 0], Step::Ended { cause: Cause::Done }));
}

/// Catches quoting what the judge said of an earlier attempt as if it had been said of the last.
#[test]
fn a_remark_is_told_to_the_next_attempt_only() {
    let judge = JudgeOrder {
        yeses: 1,
        max_format_retries: 0,
        lineage_iteration: 0,
        replanning: ReplanningSettings::default(),
    };
    let judged = TaskOrder { judge: Some(judge), ..order() };
    let mut lab = Lab::new(judged, failing("a", ""), vec![failing("a", "")]);
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
        reading: Reading::Document(Document::TaskJudgement(hopes)),
    };
    let mut told = Vec::new();
    lab.send(&Event::Begun);
    while let Some((_, command)) = lab.waiting.clone() {
        if let Command::RunAttempt(attempt) = &command {
            told.push(lab.run.attempt_order(attempt).remarks.len());
        }
        let is_asked = matches!(&command, Command::Ask(_));
        let answered = is_asked.then(|| CommandResult::Answer(answer.clone()));
        let result = answered.unwrap_or_else(|| lab.world.perform(&command));
        lab.end_command(CommandEnd::Completed(result));
    }
    assert_eq!((told, lab.run.step()), (vec![0, 0, 1, 0], Step::Ended { cause: Cause::NotConverging }));
}

#[test]
fn what_guards_tolerate_is_told() {
    let base = State { flaky: names("f"), ..failing("a", "k") };
    let mut lab = lab(base, vec![State { flaky: names("f"), ..failing("", "k") }]);
    let mut last = lab.send(&Event::Begun);
    while let Some((_, command)) = lab.waiting.clone() {
        let result = lab.world.perform(&command);
        last = lab.end_command(CommandEnd::Completed(result));
    }
    let seen = last.judged.expect("an attempt was judged").seen;
    let ids = |letters| names(letters).into_iter().map(FailureId::Test).collect();
    assert_eq!(seen, Seen { known: ids("k"), flaky: ids("f"), ..Seen::default() });
    assert_eq!(lab.run.proof(), crate::goals::Proof::Goals);
}

#[test]
fn without_guards_or_goals() {
    let mut goals_only = order();
    goals_only.guards = BTreeSet::new();
    assert_eq!(outcome(Lab::new(goals_only, failing("a", ""), vec![failing("", "n")])), (Cause::Done, 1));
    let mut guards_only = order();
    guards_only.goals = BTreeSet::new();
    let script = vec![failing("x", "n"), failing("y", "")];
    assert_eq!(outcome(Lab::new(guards_only, failing("", ""), script)), (Cause::Done, 2));
}

#[test]
fn a_stop_keeps_the_state_and_going_on_repeats_the_command() {
    let mut lab = lab(failing("a", ""), vec![failing("", "")]);
    lab.send(&Event::Begun);
    let under_way = lab.waiting.clone().unwrap();
    let stopped = lab.send(&Event::StopAsked);
    assert_eq!(stopped.step, Step::Paused { cause: Cause::Stopped, work: Work::TakingBase });
    lab.send(&Event::StopAsked);
    assert_eq!(lab.run.decide(&Event::Begun), Err(OutOfPlace { step: lab.run.step() }));
    lab.send(&Event::resumed());
    assert_eq!(lab.waiting.as_ref().map(|(_, command)| command), Some(&under_way.1));
    assert_eq!(lab.go(), Step::Ended { cause: Cause::Done });
}

#[test]
fn waiting_and_failing_commands_pause() {
    let waiting = State { end: Some(CheckEnd::Waiting), ..failing("", "") };
    let mut paused = lab(failing("a", ""), vec![waiting]);
    paused.send(&Event::Begun);
    assert_eq!(paused.go(), Step::Paused { cause: Cause::Waiting, work: Work::Goals });
    paused.world.settle();
    paused.send(&Event::resumed());
    assert_eq!(paused.go(), Step::Ended { cause: Cause::Done }, "what was awaited has come");
    let mut at_base = lab(State { end: Some(CheckEnd::Waiting), ..failing("a", "") }, vec![failing("", "")]);
    at_base.send(&Event::Begun);
    assert_eq!(at_base.go(), Step::Paused { cause: Cause::Waiting, work: Work::Baseline });
    at_base.world.settle();
    at_base.send(&Event::resumed());
    assert_eq!(at_base.go(), Step::Ended { cause: Cause::Done });
    let mut broken = lab(failing("a", ""), vec![]);
    broken.send(&Event::Begun);
    broken.end_command(CommandEnd::Failed { message: Redacted::ours("disk full") });
    assert_eq!(broken.run.step(), Step::Paused { cause: Cause::Infrastructure, work: Work::TakingBase });
}

#[test]
fn an_agent_that_is_refused_pauses_and_the_task_does_not_pay_for_it() {
    let mut lab = lab(failing("a", ""), vec![failing("", "")]);
    lab.send(&Event::Begun);
    while !matches!(lab.waiting, Some((_, Command::RunAttempt(_)))) {
        let command = lab.waiting.clone().expect("a command is under way").1;
        let result = lab.world.perform(&command);
        lab.end_command(CommandEnd::Completed(result));
    }
    let ordered = lab.waiting.clone().map(|(_, command)| command);
    let refused = AttemptResult::new(
        AgentEnd::Unavailable,
        CommitId("base".into()),
        TreeId(lab.run.ground().base_tree().unwrap_or_default()),
    );
    // More often than attempts that change nothing are borne with.
    for _ in 0..6 {
        let decision = lab.end_command(CommandEnd::Completed(CommandResult::Attempt(refused.clone())));
        let paused = Step::Paused { cause: Cause::AgentUnavailable, work: Work::Attempting };
        assert_eq!((decision.step, decision.judged), (paused, None));
        lab.send(&Event::resumed());
        assert_eq!(lab.waiting.clone().map(|(_, command)| command), ordered);
    }
    assert_eq!(lab.go(), Step::Ended { cause: Cause::Done });
    assert_eq!(lab.run.attempts(), 1);
}

#[test]
fn a_command_cut_short_is_repeated_within_a_bound() {
    let mut lab = lab(failing("a", ""), vec![failing("", "")]);
    lab.send(&Event::Begun);
    for _ in 0..3 {
        assert_eq!(lab.end_command(CommandEnd::Lost).step, Step::Working { work: Work::TakingBase });
    }
    let step = lab.end_command(CommandEnd::Lost).step;
    assert_eq!(step, Step::Paused { cause: Cause::Infrastructure, work: Work::TakingBase });
}

fn state() -> impl Strategy<Value = State> {
    ("[a-c]{0,2}", "[d-f]{0,2}", prop_oneof![4 => Just(""), 1 => Just("p")], "[ag]{0,1}", any::<bool>())
        .prop_map(|(goal, guard, outside, gone, edits)| State {
            violations: outside.chars().map(|c| alloc::format!("{c}.yml")).collect(),
            gone: names(&gone),
            goal_with_base_tests: names(&goal),
            edited_tests: if edits { vec!["t.rs".into()] } else { vec![] },
            ..failing(&goal, &guard)
        })
}

/// Runs a task in which some commands are cut short by a crash; the state is stored and read back each time.
fn run_with_crashes(base: &State, script: &[State], crashes: &[bool]) -> (Step, usize) {
    let mut patient = order();
    patient.max_interruptions = 1000;
    let mut lab = Lab::new(patient, base.clone(), script.to_vec());
    let mut crashes = crashes.iter().copied();
    lab.send(&Event::Begun);
    while lab.waiting.is_some() {
        if crashes.next().unwrap_or(false) {
            let stored = serde_json::to_string(&lab.run).unwrap();
            lab.run = serde_json::from_str(&stored).unwrap();
            lab.end_command(CommandEnd::Lost);
        } else if let Some((_, command)) = lab.waiting.clone() {
            let result = lab.world.perform(&command);
            lab.end_command(CommandEnd::Completed(result));
        }
    }
    (lab.run.step(), lab.world.attempts)
}

proptest! {
    /// Catches a step that leads back to itself, a count that a crash resets, and state kept outside of what is
    /// stored: every task ends within its attempts, and as it would have without the crashes.
    #[test]
    fn every_task_ends_and_crashes_change_nothing(
        base in state(), script in proptest::collection::vec(state(), 1..12),
        crashes in proptest::collection::vec(any::<bool>(), 0..60),
    ) {
        let base = State { violations: vec![], edited_tests: vec![], gone: BTreeSet::new(), ..base };
        let undisturbed = run_with_crashes(&base, &script, &[]);
        let has_ended = matches!(undisturbed.0, Step::Ended { .. });
        prop_assert!(has_ended);
        prop_assert!(undisturbed.1 <= order().limits.convergence.max_iterations as usize);
        prop_assert_eq!(run_with_crashes(&base, &script, &crashes), undisturbed);
    }
}
