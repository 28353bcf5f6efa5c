//! What a configuration would do, beside what is done today: many seeded tasks under each policy.
//!
//! Owns the counting. Invariant: every task ends as exactly one of done, false done or stopped, and the same seed gives
//! the same table.

use std::collections::{BTreeMap, BTreeSet};

use fixpoint_decide::task_run::TaskOptions;
use fixpoint_vocabulary::settings::Settings;

use crate::agent::Agent;
use crate::machine::Interrupted;
use crate::mixture;
use crate::policy::{Claim, Course, Policy, follow, gets_there};
use crate::state::Truth;
use crate::world::{GOAL, GUARD};

/// What many tasks under one policy came to.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Tally {
    pub tasks: u32,
    /// Said to be done, and done.
    pub done: u32,
    /// Said to be done while something is wrong that a check could have shown.
    pub false_done: u32,
    /// Said to be done while something is wrong that nothing which ran could show.
    pub unseen: u32,
    /// Stopped, or left waiting.
    pub stopped: u32,
    /// Of those: stopped although the agent would have got there within the attempts allowed.
    pub false_stop: u32,
    /// Attempts, of all tasks together.
    pub attempts: u64,
    /// Executions of all checks, every check counting the same.
    pub suites: f64,
    /// Attempts of the tasks said to be done.
    pub finished_attempts: u64,
    /// Executions of all checks in those, every check counting the same.
    pub finished_suites: f64,
    /// Executions of all tests in those, every test counting the same.
    pub finished_suites_by_tests: f64,
}

impl Tally {
    /// A number as a share of all tasks.
    pub fn share(&self, number: u32) -> f64 {
        f64::from(number) / f64::from(self.tasks.max(1))
    }

    /// A sum as an average over all tasks.
    pub fn average(&self, sum: f64) -> f64 {
        sum / f64::from(self.tasks.max(1))
    }

    /// Tasks said to be done.
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

    fn add(&mut self, course: &Course, gets_there: impl FnOnce() -> bool) {
        self.tasks += 1;
        self.attempts += u64::from(course.attempts);
        self.suites += course.cost.suites();
        match course.claim {
            Claim::Stopped => {
                self.stopped += 1;
                self.false_stop += u32::from(gets_there());
                return;
            }
            Claim::Done(Truth::Done) => self.done += 1,
            Claim::Done(Truth::Undone) => self.false_done += 1,
            Claim::Done(Truth::Unseen) => self.unseen += 1,
        }
        self.finished_attempts += u64::from(course.attempts);
        self.finished_suites += course.cost.suites();
        self.finished_suites_by_tests += course.cost.suites_by_tests();
    }
}

/// One policy of the table.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyRow {
    pub policy: Policy,
    pub total: Tally,
    /// Its tasks by the agent's character.
    pub by_agent: BTreeMap<Agent, Tally>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct TaskTable {
    /// Attempts allowed for a task.
    pub max_iterations: u32,
    /// One row for each policy.
    pub rows: Vec<PolicyRow>,
}

/// What a configuration asks for, with one goal and one guard.
pub fn order_from(settings: &Settings) -> TaskOptions {
    let (goals, guards) = (BTreeSet::from([GOAL]), BTreeSet::from([GUARD]));
    TaskOptions::under(settings, "simulated".into(), goals, guards)
}

/// Runs so many tasks of the mixture under each policy. An error is a defect of the engine.
pub fn simulate_tasks(seed: u64, runs: u32, settings: &Settings) -> Result<TaskTable, Interrupted> {
    let order = order_from(settings);
    let max_iterations = order.limits.convergence.max_iterations;
    let empty = |policy| PolicyRow { policy, total: Tally::default(), by_agent: BTreeMap::new() };
    let mut rows: Vec<PolicyRow> = Policy::ALL.into_iter().map(empty).collect();
    for number in 0..runs {
        let project = mixture::task(seed, number);
        for row in &mut rows {
            let course = follow(row.policy, &project, &order)?;
            let gets_there = || gets_there(&project, max_iterations);
            row.total.add(&course, gets_there);
            row.by_agent.entry(project.agent).or_default().add(&course, gets_there);
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
    /// outside the scope. The loops in use are fooled by the same tasks, so that there is something to be fooled by.
    #[test]
    fn nothing_that_can_be_seen_is_called_done_wrongly() {
        let table = table(1, 1000);
        let [fixpoint, plain, twice] = [0, 1, 2].map(|row| &table.rows[row]);
        assert_eq!(fixpoint.total.false_done, 0, "{fixpoint:?}");
        for row in [plain, twice] {
            assert!(row.total.false_done > 20, "{row:?}");
        }
        // Whoever never calls anything done is never wrong either.
        assert!(fixpoint.total.done * 10 > plain.total.done * 9, "{fixpoint:?} {plain:?}");
        assert!(fixpoint.total.false_stop < twice.total.false_stop, "{fixpoint:?} {twice:?}");
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
        let order = order_from(&settings);
        assert_eq!(order.limits.convergence, settings.convergence);
        assert_eq!((order.goal_runs, order.limits.max_infra_failures), (1, 7));
        assert_eq!(
            (order.baseline, order.on_violation),
            (settings.baseline.clone(), settings.scope.on_violation)
        );
        let table = simulate_tasks(1, 50, &settings).unwrap();
        assert_eq!(table.max_iterations, 3);
        assert!(table.rows.iter().all(|row| row.total.attempts <= 150));
    }
}
