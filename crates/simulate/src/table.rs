//! Compares a configuration with plain loops: many seeded tasks under each policy.
//!
//! Owns the counting. Invariant: every task ends as exactly one of done, false done or stopped, and the same seed gives
//! the same table.

use std::collections::{BTreeMap, BTreeSet};

use fixpoint_decide::task_run::TaskOptions;
use fixpoint_vocabulary::settings::Settings;

use crate::agent::Agent;
use crate::policy::{Policy, PolicyOutcome, Verdict, reaches_goal, run_policy};
use crate::project::Project;
use crate::project_state::Correctness;
use crate::storage::SimulationError;
use crate::workload;
use crate::world::{GOAL, GUARD, World};

/// The results of many tasks under one policy.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Tally {
    pub tasks: u32,
    /// Reported as done, and correct.
    pub done: u32,
    /// Reported as done, but a check could have shown that it is wrong.
    pub false_done: u32,
    /// Reported as done, and wrong in a way that no check that ran could show.
    pub unseen: u32,
    /// Stopped, or left waiting.
    pub stopped: u32,
    /// Of those: the agent would have reached the goal within the allowed attempts.
    pub false_stop: u32,
    /// Of those: the same agent is not stopped in a plain world.
    pub stopped_by_world: u32,
    pub attempts: u64,
    /// Executions of all checks, every check counting the same.
    pub suites: f64,
    /// Attempts of the tasks reported as done.
    pub finished_attempts: u64,
    /// Executions of all checks in those, every check counting the same.
    pub finished_suites: f64,
    /// Executions of all tests in those, every test counting the same.
    pub finished_suites_by_tests: f64,
}

impl Tally {
    pub fn share(&self, number: u32) -> f64 {
        f64::from(number) / f64::from(self.tasks.max(1))
    }

    pub fn average(&self, sum: f64) -> f64 {
        sum / f64::from(self.tasks.max(1))
    }

    /// Tasks reported as done.
    pub const fn finished(&self) -> u32 {
        self.done + self.false_done + self.unseen
    }

    /// Suite executions of finished tasks, as a share of running everything after each of their attempts and twice at
    /// the base.
    pub fn share_of_everything(&self) -> f64 {
        self.finished_suites / self.everything()
    }

    /// The same, every test counting the same.
    pub fn share_of_everything_by_tests(&self) -> f64 {
        self.finished_suites_by_tests / self.everything()
    }

    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53")]
    fn everything(&self) -> f64 {
        ((2 * u64::from(self.finished()) + self.finished_attempts) as f64).max(1.0)
    }

    /// Suite executions of a task reported as done, on average.
    pub fn suites_per_finished(&self) -> f64 {
        self.finished_suites / f64::from(self.finished().max(1))
    }

    fn plus(self, other: &Self) -> Self {
        Self {
            tasks: self.tasks + other.tasks,
            done: self.done + other.done,
            false_done: self.false_done + other.false_done,
            unseen: self.unseen + other.unseen,
            stopped: self.stopped + other.stopped,
            false_stop: self.false_stop + other.false_stop,
            stopped_by_world: self.stopped_by_world + other.stopped_by_world,
            attempts: self.attempts + other.attempts,
            suites: self.suites + other.suites,
            finished_attempts: self.finished_attempts + other.finished_attempts,
            finished_suites: self.finished_suites + other.finished_suites,
            finished_suites_by_tests: self.finished_suites_by_tests + other.finished_suites_by_tests,
        }
    }

    fn add(&mut self, outcome: &PolicyOutcome, stop: Stop) {
        self.tasks += 1;
        self.attempts += u64::from(outcome.attempts);
        self.suites += outcome.cost.suites();
        match outcome.verdict {
            Verdict::Stopped => {
                self.stopped += 1;
                self.false_stop += u32::from(stop != Stop::Right);
                self.stopped_by_world += u32::from(stop == Stop::ByWorld);
                return;
            }
            Verdict::Done(Correctness::Correct) => self.done += 1,
            Verdict::Done(Correctness::Wrong) => self.false_done += 1,
            Verdict::Done(Correctness::Undetectable) => self.unseen += 1,
        }
        self.finished_attempts += u64::from(outcome.attempts);
        self.finished_suites += outcome.cost.suites();
        self.finished_suites_by_tests += outcome.cost.suites_by_tests();
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct PolicyRow {
    pub policy: Policy,
    pub total: Tally,
    pub by_agent: BTreeMap<Agent, Tally>,
    pub by_world: BTreeMap<World, Tally>,
    /// By agent and world.
    pub by_both: BTreeMap<(Agent, World), Tally>,
}

impl PolicyRow {
    fn empty(policy: Policy) -> Self {
        Self {
            policy,
            total: Tally::default(),
            by_agent: BTreeMap::new(),
            by_world: BTreeMap::new(),
            by_both: BTreeMap::new(),
        }
    }

    fn add(&mut self, project: &Project, outcome: &PolicyOutcome, stop: Stop) {
        let (agent, world) = (project.agent, project.world);
        for tally in [
            &mut self.total,
            self.by_agent.entry(agent).or_default(),
            self.by_world.entry(world).or_default(),
            self.by_both.entry((agent, world)).or_default(),
        ] {
            tally.add(outcome, stop);
        }
    }

    /// The tasks in worlds whose checks are hard to read.
    pub fn hard_to_read(&self) -> Tally {
        let hard = self.by_world.iter().filter(|(world, _)| world.is_hard_to_read());
        hard.fold(Tally::default(), |sum, (_, tally)| sum.plus(tally))
    }

    /// The tasks of the agents that cheat.
    pub fn cheating(&self) -> Tally {
        let cheating = self.by_agent.iter().filter(|(agent, _)| agent.is_cheating());
        cheating.fold(Tally::default(), |sum, (_, tally)| sum.plus(tally))
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct TaskTable {
    /// Attempts allowed for a task.
    pub max_iterations: u32,
    pub rows: Vec<PolicyRow>,
}

/// The options of a task under a configuration, with one goal and one guard.
pub fn options_from(settings: &Settings) -> TaskOptions {
    let (goals, guards) = (BTreeSet::from([GOAL]), BTreeSet::from([GUARD]));
    TaskOptions::under(settings, "simulated".into(), goals, guards)
}

/// Whether a task that was stopped should have been.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// It was not stopped, or the agent would not have reached the goal.
    Right,
    /// The agent would have reached the goal.
    False,
    /// The agent would have reached the goal, and is not stopped in a plain world.
    ByWorld,
}

fn kind_of_stop(
    policy: Policy,
    project: &Project,
    outcome: &PolicyOutcome,
    options: &TaskOptions,
) -> Result<Stop, SimulationError> {
    let attempts = options.limits.convergence.max_iterations;
    if outcome.verdict != Verdict::Stopped || !reaches_goal(project, attempts) {
        return Ok(Stop::Right);
    }
    let plain = Project { world: World::Plain, ..*project };
    let is_stopped = run_policy(policy, &plain, options)?.verdict == Verdict::Stopped;
    Ok(if is_stopped { Stop::False } else { Stop::ByWorld })
}

/// Runs so many tasks of the mixture under each policy. An error is a defect of the engine.
pub fn simulate_tasks(seed: u64, runs: u32, settings: &Settings) -> Result<TaskTable, SimulationError> {
    let options = options_from(settings);
    let max_iterations = options.limits.convergence.max_iterations;
    let mut rows: Vec<PolicyRow> = Policy::ALL.into_iter().map(PolicyRow::empty).collect();
    for number in 0..runs {
        let project = workload::task(seed, number);
        for row in &mut rows {
            let outcome = run_policy(row.policy, &project, &options)?;
            let stop = kind_of_stop(row.policy, &project, &outcome, &options)?;
            row.add(&project, &outcome, stop);
        }
    }
    Ok(TaskTable { max_iterations, rows })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(seed: u64, runs: u32) -> TaskTable {
        simulate_tasks(seed, runs, &Settings::default()).unwrap()
    }

    #[test]
    fn the_same_seed_gives_the_same_table() {
        assert_eq!(table(3, 60), table(3, 60));
        assert_ne!(table(3, 60), table(4, 60));
    }

    /// Catches evidence that is not asked for before a task is called done: weakened, deleted or broken tests, files
    /// outside the scope. The plain loops must be fooled by the same tasks, or the tasks would show nothing.
    #[test]
    fn nothing_that_can_be_seen_is_called_done_wrongly() {
        let table = table(1, 1000);
        let [fixpoint, plain, twice] = [0, 1, 2].map(|row| &table.rows[row]);
        assert_eq!(fixpoint.total.false_done, 0, "{fixpoint:?}");
        for row in [plain, twice] {
            assert!(row.total.false_done > 20, "{row:?}");
        }
        // A policy that never calls anything done is never wrong either.
        assert!(fixpoint.total.done * 10 > plain.total.done * 9, "{fixpoint:?} {plain:?}");
        assert!(fixpoint.total.false_stop < twice.total.false_stop, "{fixpoint:?} {twice:?}");
    }

    /// The tasks of the agents that cheat, under one policy.
    fn cheating(policy: Policy, seed: u64, runs: u32) -> PolicyRow {
        let options = options_from(&Settings::default());
        let mut row = PolicyRow::empty(policy);
        let projects = (0..runs).map(|number| workload::task(seed, number));
        for project in projects.filter(|project| project.agent.is_cheating()) {
            let outcome = run_policy(policy, &project, &options).unwrap();
            row.add(&project, &outcome, Stop::Right);
        }
        row
    }

    /// Catches a way to cheat that is believed, and one that no loop would ever believe. Seed 2 has guards that are cut
    /// short at the base.
    #[test]
    fn no_way_to_cheat_is_believed() {
        let [fixpoint, plain] =
            [Policy::Fixpoint, Policy::MaxIterations].map(|policy| cheating(policy, 2, 6000));
        let sum = fixpoint.cheating();
        assert!(sum.tasks > 900 && sum.done > 50, "{sum:?}");
        assert!(sum.share(sum.false_done) <= 0.005, "{fixpoint:?}");
        for (agent, tally) in plain.by_agent {
            assert!(tally.false_done > 20, "{agent:?}: {tally:?}");
        }
    }

    /// Catches a check that is given up because of its environment, and failures that are told apart only by tests.
    #[test]
    fn worlds_that_are_hard_to_read_stop_nobody_else() {
        let options = options_from(&Settings::default());
        let mut row = PolicyRow::empty(Policy::Fixpoint);
        let projects = (0..6000).map(|number| workload::task(1, number));
        for project in projects.filter(|project| project.world.is_hard_to_read()) {
            let outcome = run_policy(row.policy, &project, &options).unwrap();
            let stop = kind_of_stop(row.policy, &project, &outcome, &options).unwrap();
            row.add(&project, &outcome, stop);
        }
        let sum = row.hard_to_read();
        assert!(sum.tasks > 800 && sum.done > 300 && sum.false_done == 0, "{sum:?}");
        assert!(sum.share(sum.stopped_by_world) <= 0.02, "{:?}", row.by_world);
    }

    /// Catches a task that is counted in two columns or in none, and a breakdown that loses tasks.
    #[test]
    fn the_breakdown_adds_up() {
        for row in table(2, 200).rows {
            let sum = |of: fn(&Tally) -> u32| row.by_agent.values().map(of).sum::<u32>();
            assert_eq!((row.total.tasks, sum(|tally| tally.tasks)), (200, 200));
            assert_eq!(sum(Tally::finished), row.total.finished());
            assert_eq!(sum(|tally| tally.false_stop), row.total.false_stop);
            for tally in row.by_agent.values().chain([&row.total]) {
                assert_eq!(tally.finished() + tally.stopped, tally.tasks, "{tally:?}");
                assert!(tally.false_stop <= tally.stopped, "{tally:?}");
            }
        }
    }

    /// Catches a setting that does not reach the task.
    #[test]
    fn settings_are_followed() {
        let mut settings = Settings::default();
        settings.convergence.max_iterations = 3;
        settings.check_options.goal_runs = 1;
        settings.check_options.max_infra_failures = 7;
        settings.baseline.confirm_runs = 0;
        settings.scope.on_violation = fixpoint_vocabulary::settings::OnViolation::Block;
        let options = options_from(&settings);
        assert_eq!(options.limits.convergence, settings.convergence);
        assert_eq!((options.goal_runs, options.limits.max_infra_failures), (1, 7));
        assert_eq!(
            (options.baseline, options.on_violation),
            (settings.baseline.clone(), settings.scope.on_violation)
        );
        let table = simulate_tasks(1, 50, &settings).unwrap();
        assert_eq!(table.max_iterations, 3);
        assert!(table.rows.iter().all(|row| row.total.attempts <= 150));
    }
}
