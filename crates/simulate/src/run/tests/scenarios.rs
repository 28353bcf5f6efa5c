//! One scenario for each cause a run can end or wait with, and for each error of planning.

use fixpoint_decide::run::{Change, Judging, PlanningCalls, TaskChange};
use fixpoint_engine::EngineExit::{self, Ended, Paused};
use fixpoint_vocabulary::ask::{PersonPresence, Role};
use fixpoint_vocabulary::settings::{OnStop, OnViolation};
use fixpoint_vocabulary::work::Allowance;
use fixpoint_vocabulary::{Cause, TaskState};

use super::run_checked;
use crate::run::actors::{AgentBehaviour, AgentBehaviours, Checks, Models, Person, Planner, TaskJudge};
use crate::run::goal::Part;
use crate::run::scenario::{OwnChecks, RunScenario};
use crate::run::simulator::SimulatedRun;

const PART: Part = Part { steps: 2, is_sharing: false, is_clashing: false };

/// Actors without faults and so many parts, but for what is changed.
fn scenario(seed: u64, parts: usize, change: &dyn Fn(&mut RunScenario)) -> RunScenario {
    let mut scenario = RunScenario::good(seed);
    scenario.actors.goal.parts = vec![PART; parts];
    change(&mut scenario);
    scenario
}

fn run(scenario: &RunScenario) -> SimulatedRun {
    let (simulated, checker) = run_checked(scenario);
    assert!(checker.violations.is_empty(), "{:?}\n{scenario:?}", checker.violations);
    simulated.unwrap()
}

type Setup = fn(&mut RunScenario);
type Holds = fn(&SimulatedRun) -> bool;

fn planner(scenario: &mut RunScenario, planner: Planner) {
    scenario.actors.planner = planner;
}

fn check_planning(table: &[(&str, Setup, EngineExit)]) {
    for (name, change, expected) in table {
        for (seed, calls) in [(1, PlanningCalls::AtOnce), (2, PlanningCalls::PerPhase)] {
            let mut scenario = scenario(seed, 2, change);
            scenario.calls = calls;
            assert_eq!(run(&scenario).ending, *expected, "{name}, {calls:?}");
        }
    }
}

/// Catches an error that leads to another cause, or to none, whatever the seed.
#[test]
fn every_error_of_planning_has_its_cause() {
    use Cause::{ApprovalRefused, ApprovalTimeout, Done, NeedsClarification, Partial, PlanRejected};
    let table: [(&str, Setup, EngineExit); 10] = [
        ("sound", |_| {}, Ended(Done)),
        ("unclear", |c| planner(c, Planner::Unclear), Ended(NeedsClarification)),
        ("unclear, answered", |c| planner(c, Planner::UnclearAtFirst), Ended(Done)),
        (
            "unclear, nobody there",
            |c| (c.actors.planner, c.actors.person) = (Planner::UnclearAtFirst, Person::Absent),
            Ended(Done),
        ),
        (
            "unclear, nobody can be asked",
            |c| (c.actors.planner, c.person) = (Planner::UnclearAtFirst, PersonPresence::Unavailable),
            Ended(Done),
        ),
        ("hopeless", |c| planner(c, Planner::Hopeless), Ended(PlanRejected)),
        (
            "infeasible, refused",
            |c| (c.actors.planner, c.actors.person) = (Planner::Infeasible, Person::Refuses),
            Ended(ApprovalRefused),
        ),
        (
            "infeasible, nobody there",
            |c| (c.actors.planner, c.actors.person) = (Planner::Infeasible, Person::Absent),
            Ended(ApprovalTimeout),
        ),
        (
            "infeasible, agreed, and no judge takes half of it",
            |c| {
                planner(c, Planner::Infeasible);
                c.settings.refinement.max_refinement_attempts = 0;
            },
            Ended(PlanRejected),
        ),
        (
            "infeasible, allowed",
            |c| {
                (c.actors.planner, c.actors.person) = (Planner::Infeasible, Person::Absent);
                c.settings.planning.allow_partial = true;
                c.actors.honesty = crate::run::actors::Honesty::TakesAnyPlan;
            },
            Ended(Partial),
        ),
    ];
    check_planning(&table);
}

/// Catches a plan that is taken although it is unsound or must not be run.
#[test]
fn every_fault_of_a_plan_has_its_cause() {
    use Cause::{ApprovalRefused, ApprovalTimeout, Done, ModelUnavailable, PlanRefused, PlanRejected};
    let table: [(&str, Setup, EngineExit); 14] = [
        ("circle", |c| planner(c, Planner::Circular), Ended(ModelUnavailable)),
        ("unknown tool", |c| planner(c, Planner::UnknownTool), Ended(ModelUnavailable)),
        ("unknown task", |c| planner(c, Planner::UnknownTask), Ended(ModelUnavailable)),
        ("same name", |c| planner(c, Planner::SameName), Ended(ModelUnavailable)),
        ("too many", |c| planner(c, Planner::TooMany), Ended(ModelUnavailable)),
        ("strange error", |c| planner(c, Planner::StrangeError), Ended(ModelUnavailable)),
        ("unreadable", |c| c.actors.models = Models::Unreadable(Role::Planner), Ended(ModelUnavailable)),
        (
            "other document",
            |c| c.actors.models = Models::OtherDocument(Role::Planner),
            Ended(ModelUnavailable),
        ),
        ("silent", |c| c.actors.models = Models::Silent(Role::Planner), Paused(ModelUnavailable)),
        ("incomplete", |c| planner(c, Planner::Incomplete), Ended(PlanRejected)),
        ("forbidden", |c| planner(c, Planner::Forbidden), Ended(PlanRefused)),
        ("suspicious, agreed", |c| planner(c, Planner::Suspicious), Ended(Done)),
        (
            "suspicious, refused",
            |c| (c.actors.planner, c.actors.person) = (Planner::Suspicious, Person::Refuses),
            Ended(ApprovalRefused),
        ),
        (
            "suspicious, nobody there",
            |c| (c.actors.planner, c.actors.person) = (Planner::Suspicious, Person::Absent),
            Ended(ApprovalTimeout),
        ),
    ];
    check_planning(&table);
}

/// Catches a cause that is lost on its way from a task to its run.
#[test]
fn every_other_end_has_its_cause() {
    use Cause::{
        AgentUnavailable, AlreadySatisfied, BaselineUnusable, Infrastructure, JudgeGaveUp, JudgeUnavailable,
        MaxIterations, MaxReplans, ModelUnavailable, NotConverging, PlanRejected, ReplanningDisabled,
        Waiting,
    };
    let loops: Setup = |c| c.actors.agents = AgentBehaviours::All(AgentBehaviour::Loops);
    let table: [(&str, Setup, EngineExit); 16] = [
        ("nothing to do", |c| c.actors.goal.parts = vec![Part { steps: 0, ..PART }], Ended(AlreadySatisfied)),
        (
            "gets nowhere",
            |c| {
                c.actors.agents = AgentBehaviours::All(AgentBehaviour::Loops);
                c.settings.convergence.on_stop = OnStop::Block;
                c.actors.goal.parts.truncate(1);
            },
            Ended(NotConverging),
        ),
        (
            "a plain loop",
            |c| {
                c.actors.agents = AgentBehaviours::All(AgentBehaviour::Loops);
                c.settings.convergence.enabled = false;
            },
            Ended(MaxIterations),
        ),
        ("replanned in vain", loops, Ended(MaxReplans)),
        (
            "does nothing",
            |c| c.actors.agents = AgentBehaviours::All(AgentBehaviour::Idles),
            Ended(MaxReplans),
        ),
        ("gives up", |c| c.actors.task_judge = TaskJudge::GivesUp, Ended(JudgeGaveUp)),
        (
            "no replanning",
            |c| {
                c.actors.task_judge = TaskJudge::WantsReplan;
                c.settings.replanning.enabled = false;
            },
            Ended(ReplanningDisabled),
        ),
        ("wants replans", |c| c.actors.task_judge = TaskJudge::WantsReplan, Ended(MaxReplans)),
        ("never content", |c| c.actors.task_judge = TaskJudge::NeverContent, Ended(MaxReplans)),
        (
            "no agent",
            |c| c.actors.agents = AgentBehaviours::All(AgentBehaviour::Absent),
            Ended(AgentUnavailable),
        ),
        ("no check", |c| c.actors.checks = Checks::NotFound, Ended(BaselineUnusable)),
        ("checks wait", |c| c.actors.checks = Checks::Wait, Paused(Waiting)),
        ("out of order", |c| c.actors.failing = 1.0, Paused(Infrastructure)),
        ("whole unreadable", |c| c.actors.models = Models::WholeUnreadable, Ended(JudgeUnavailable)),
        ("judge unreadable", |c| c.actors.models = Models::Unreadable(Role::Judge), Ended(PlanRejected)),
        ("judge silent", |c| c.actors.models = Models::Silent(Role::Judge), Paused(ModelUnavailable)),
    ];
    for (name, change, expected) in table {
        let simulated = run(&scenario(3, 2, &change));
        assert_eq!(simulated.ending, expected, "{name}");
    }
    for models in [Models::Unreadable(Role::Judge), Models::OtherDocument(Role::Judge)] {
        let unreadable = scenario(3, 1, &|c| (c.actors.models, c.calls) = (models, PlanningCalls::None));
        assert_eq!(run(&unreadable).ending, Ended(JudgeUnavailable), "{models:?}");
    }
}

/// Ends that need a chance to come about: within a few seeds each is seen.
#[test]
fn rarer_ends_come_about() {
    let table: [(&str, Setup, Holds); 6] = [
        (
            "scope",
            |c| {
                c.actors.agents = AgentBehaviours::All(AgentBehaviour::Wanders);
                c.settings.scope.on_violation = OnViolation::Block;
                c.actors.goal.parts.truncate(1);
            },
            |simulated| simulated.ending == Ended(Cause::ScopeViolation),
        ),
        (
            "conflict",
            |c| {
                c.actors.goal.parts = vec![Part { is_sharing: true, ..PART }; 2];
                c.actors.agents = AgentBehaviours::All(AgentBehaviour::CannotMerge);
            },
            |simulated| {
                let is_conflict = |cause| matches!(cause, Some(Cause::Conflict | Cause::NotConverging));
                let merge = simulated.run.tasks().find(|node| node.is_merge());
                simulated.ending == Ended(Cause::Partial) && merge.is_some_and(|node| is_conflict(node.cause))
            },
        ),
        (
            "no repairs allowed",
            |c| {
                c.actors.goal.parts = vec![Part { is_sharing: true, ..PART }; 2];
                c.settings.integration.max_fix_iterations = 0;
            },
            |simulated| {
                let merge = simulated.run.tasks().find(|node| node.is_merge());
                simulated.ending == Ended(Cause::Partial)
                    && merge.is_some_and(|node| node.cause == Some(Cause::Conflict))
            },
        ),
        (
            "conflicts in text and in meaning",
            |c| {
                let part = Part { is_sharing: true, is_clashing: true, ..PART };
                c.actors.goal.parts = vec![part, Part { is_clashing: false, ..part }];
            },
            |simulated| simulated.ending == Ended(Cause::Done) && simulated.executed.attempts > 3,
        ),
        (
            "revisions used up",
            |c| {
                c.settings.planning.revision.max_revisions = 0;
                c.reflection_interval = 1;
            },
            |simulated| simulated.pauses.contains(&Cause::RequiresHumanIntervention),
        ),
        (
            "stopped",
            |c| c.stops_after = Some(4),
            |simulated| simulated.pauses == [Cause::Stopped] && simulated.ending == Ended(Cause::Done),
        ),
    ];
    for (name, change, holds) in table {
        let totals = (0..30).any(|seed| holds(&run(&scenario(seed, 3, &change))));
        assert!(totals, "{name}");
    }
}

/// Catches a budget that ends a run instead of having it wait, and one that is forgotten when more is granted.
#[test]
fn a_budget_pauses_and_goes_on_with_more() {
    for budget in [
        Allowance { model_calls: Some(3), ..Allowance::default() },
        Allowance { attempts: Some(1), ..Allowance::default() },
        Allowance { tokens: Some(73_000), ..Allowance::default() },
        Allowance { money: Some(fixpoint_vocabulary::usage::MicroUsd(900_000)), ..Allowance::default() },
    ] {
        let simulated = run(&scenario(5, 3, &|c| c.budget = budget));
        assert_eq!(simulated.ending, Ended(Cause::Done), "{budget:?}");
        assert!(simulated.pauses.contains(&Cause::Budget), "{budget:?}: {:?}", simulated.pauses);
    }
}

/// The goals of the run must pass in the end, whatever the plan is about. Catches a plan of several tasks, none of
/// which has to make them pass, and smaller tasks that each must do all of it.
#[test]
fn the_goals_of_the_run_must_pass() {
    for seed in 0..10 {
        let incomplete = scenario(seed, 3, &|c| {
            (c.own_checks, c.judging, c.actors.planner) =
                (OwnChecks::GuardAndGoal, Judging::ByChecksAlone, Planner::Incomplete);
        });
        let simulated = run(&incomplete);
        assert_eq!(simulated.ending, Ended(Cause::Done), "seed {seed}");
        assert!(simulated.run.tasks().any(|node| node.id().as_str() == "goals-1"), "seed {seed}");
    }
}

/// The third replan of a lineage is not made, and what waited for the task is shown as waiting in vain.
#[test]
fn a_lineage_is_replanned_twice_and_its_dependents_wait_in_vain() {
    let looping = |c: &mut RunScenario| {
        c.actors.agents = AgentBehaviours::All(AgentBehaviour::Loops);
        c.actors.goal.parts = vec![Part { steps: 1, ..PART }];
    };
    let simulated = run(&scenario(1, 1, &looping));
    let moves = simulated.recorded.records.iter().flat_map(|record| &record.decision.changes);
    let replans = moves.filter(|step| matches!(step, Change::Task(TaskChange::Replaced { .. }))).count();
    assert_eq!((simulated.ending, replans), (Ended(Cause::MaxReplans), 2));
    let waiting = (0..40).map(|seed| {
        run(&scenario(seed, 4, &|c| c.actors.agents = AgentBehaviours::All(AgentBehaviour::Loops)))
    });
    let in_vain = waiting.map(|simulated| {
        let states = simulated.run.tasks().filter(|node| node.state == TaskState::Ready).count();
        (simulated.run.unreachable_tasks().len(), states)
    });
    let in_vain: Vec<(usize, usize)> = in_vain.collect();
    assert!(in_vain.iter().all(|(shown, waiting)| shown == waiting), "{in_vain:?}");
    assert!(in_vain.iter().any(|(shown, _)| *shown > 0), "{in_vain:?}");
}
