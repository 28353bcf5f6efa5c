//! Compares a configuration with simpler policies: the same seeded goals under each.
//!
//! Owns the counting. Invariant: every run ends as exactly one of done, false done, unseen or stopped, and the same seed gives
//! the same table.

use fixpoint_decide::run::Run;
use fixpoint_engine::EngineExit;
use fixpoint_vocabulary::settings::Settings;
use fixpoint_vocabulary::{Cause, TaskState};
use serde::Serialize;

use super::actors::{Actors, Honesty};
use super::goal::SimulatedGoal;
use super::parameters::PARAMETERS;
use super::scenario::{OwnChecks, RunScenario};
use super::simulator::RunSimulator;
use super::tree::Tree;
use crate::executor::EndReports;
use crate::named_variants::named_variants;
use crate::random::Random;
use crate::storage::SimulationError;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RunPolicy {
    /// The product, with the configuration at hand.
    Fixpoint,
    /// Every plan is accepted.
    NoPlanJudge,
    /// Attempts go on until they are used up.
    NoConvergence,
    /// A task that does not converge is not replanned.
    NoReplanning,
    /// No checks, and a judge that accepts everything.
    AgentsWord,
    /// Plans are compared by one score each.
    SingleScores,
}

named_variants!(RunPolicy {
    Fixpoint: "Fixpoint, this configuration",
    NoPlanJudge: "without a judge of plans",
    NoConvergence: "without a convergence controller",
    NoReplanning: "without replanning",
    AgentsWord: "the agent's word is accepted",
    SingleScores: "single scores",
});

impl RunPolicy {
    fn scenario(self, seed: u64, settings: &Settings) -> RunScenario {
        let mut scenario = RunScenario::new(Actors::of(seed, Honesty::Errs), settings.clone());
        match self {
            Self::Fixpoint => {}
            Self::NoPlanJudge => scenario.actors.honesty = Honesty::ErrsAndTakesAnyPlan,
            Self::NoConvergence => scenario.settings.convergence.enabled = false,
            Self::NoReplanning => scenario.settings.replanning.enabled = false,
            Self::AgentsWord => {
                scenario.actors.honesty = Honesty::AlwaysYes;
                scenario.own_checks = OwnChecks::None;
                scenario.actors.may_name_goals = false;
            }
            Self::SingleScores => scenario.settings.judge.max_samples = 1,
        }
        scenario
    }
}

/// The results of many runs under one policy.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct RunTally {
    pub runs: u32,
    /// Reported as done, and correct.
    pub done: u32,
    /// Reported as done, but a check of the run fails on the result, or files outside the scope changed.
    pub false_done: u32,
    /// Reported as done, but something is missing that no check of the run asks for: a model misjudged it.
    pub unseen: u32,
    /// Ended with another cause, or waiting.
    pub stopped: u32,
    /// Of those: another policy of the table reached the same goal.
    pub false_stop: u32,
    pub model_calls: u64,
    pub attempts: u64,
    /// US dollars of the runs that are done and correct.
    pub cost_of_done: f64,
    /// US dollars of all others.
    pub cost_of_failed: f64,
}

impl RunTally {
    pub fn share(&self, number: u32) -> f64 {
        f64::from(number) / f64::from(self.runs.max(1))
    }

    pub fn average(&self, sum: f64) -> f64 {
        sum / f64::from(self.runs.max(1))
    }

    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53")]
    fn add(&mut self, outcome: &RunOutcome, reachable: Reachable) {
        self.runs += 1;
        self.model_calls += outcome.model_calls;
        self.attempts += outcome.attempts;
        let prices = &PARAMETERS.prices;
        let cost = outcome.model_calls as f64 * prices.call + outcome.attempts as f64 * prices.attempt;
        match outcome.verdict {
            RunVerdict::Done => {
                self.done += 1;
                self.cost_of_done += cost;
                return;
            }
            RunVerdict::FalseDone => self.false_done += 1,
            RunVerdict::Unseen => self.unseen += 1,
            RunVerdict::Stopped => {
                self.stopped += 1;
                self.false_stop += u32::from(reachable == Reachable::Yes);
            }
        }
        self.cost_of_failed += cost;
    }
}

/// Whether a policy of the table reached the goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reachable {
    Yes,
    Unknown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RunVerdict {
    Done,
    FalseDone,
    Unseen,
    Stopped,
}

#[derive(Debug, Clone, Copy)]
struct RunOutcome {
    verdict: RunVerdict,
    model_calls: u64,
    attempts: u64,
}

fn outcome(scenario: &RunScenario) -> Result<RunOutcome, SimulationError> {
    let simulated = RunSimulator::default().run(scenario, EndReports::Once, &mut |_, _| {})?;
    let tree = simulated.run.result().map(|result| Tree::of(&result.commit)).unwrap_or_default();
    let goal = &scenario.actors.goal;
    let verdict = match simulated.ending {
        EngineExit::Ended(Cause::Done | Cause::AlreadySatisfied) if goal.is_reached(&tree) => {
            RunVerdict::Done
        }
        EngineExit::Ended(Cause::Done | Cause::AlreadySatisfied)
            if goal.is_clean(&tree)
                && goals_of(&simulated.run).all(|command| passes(goal, command, &tree)) =>
        {
            RunVerdict::Unseen
        }
        EngineExit::Ended(Cause::Done | Cause::AlreadySatisfied) => RunVerdict::FalseDone,
        EngineExit::Ended(_) | EngineExit::Paused(_) => RunVerdict::Stopped,
    };
    Ok(RunOutcome { verdict, model_calls: simulated.executed.asks, attempts: simulated.executed.attempts })
}

/// The commands that must pass, of all tasks that are done.
fn goals_of(run: &Run) -> impl Iterator<Item = &str> {
    let done = run.tasks().filter(|node| node.state == TaskState::Done);
    let checks = done.flat_map(|node| &node.goals).filter_map(|check| run.checks().get(*check as usize));
    checks.map(|placed| placed.check.command.as_str())
}

fn passes(goal: &SimulatedGoal, command: &str, tree: &Tree) -> bool {
    goal.failing(command, tree).0.is_empty()
}

/// Simulates so many goals under each policy. An error is a defect of the engine.
pub fn simulate_runs(
    seed: u64,
    runs: u32,
    settings: &Settings,
) -> Result<Vec<(RunPolicy, RunTally)>, SimulationError> {
    let mut rows: Vec<(RunPolicy, RunTally)> =
        RunPolicy::ALL.into_iter().map(|policy| (policy, RunTally::default())).collect();
    for number in 0..runs {
        let run_seed = Random::keyed(seed, &format!("run {number}")).next_u64();
        let outcomes = rows
            .iter()
            .map(|(policy, _)| outcome(&policy.scenario(run_seed, settings)))
            .collect::<Result<Vec<RunOutcome>, SimulationError>>()?;
        let is_done = outcomes.iter().any(|outcome| outcome.verdict == RunVerdict::Done);
        let reachable = if is_done { Reachable::Yes } else { Reachable::Unknown };
        for ((_, tally), outcome) in rows.iter_mut().zip(&outcomes) {
            tally.add(outcome, reachable);
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a policy that does the same as the product, and a run that is counted twice or not at all.
    #[test]
    fn the_table_adds_up_and_tells_policies_apart() {
        let rows = simulate_runs(1, 60, &Settings::default()).unwrap();
        for (policy, tally) in &rows {
            assert_eq!(tally.done + tally.false_done + tally.unseen + tally.stopped, 60, "{policy:?}");
            assert!(tally.false_stop <= tally.stopped, "{policy:?}");
        }
        let of = |policy| rows.iter().find(|(each, _)| *each == policy).unwrap().1;
        let ours = of(RunPolicy::Fixpoint);
        assert_eq!(ours.false_done, 0, "what a check of the run shows");
        let wrong = |tally: RunTally| tally.false_done + tally.unseen;
        assert!(wrong(of(RunPolicy::AgentsWord)) > 4 * (wrong(ours) + 1));
        assert!(of(RunPolicy::NoConvergence).attempts > ours.attempts);
        assert!(of(RunPolicy::NoReplanning).done < ours.done);
        assert!(wrong(of(RunPolicy::NoPlanJudge)) >= wrong(ours));
        assert_eq!(simulate_runs(1, 2, &Settings::default()).unwrap().len(), RunPolicy::ALL.len());
    }

    #[test]
    fn the_same_seed_gives_the_same_table() {
        let table = |seed| simulate_runs(seed, 10, &Settings::default()).unwrap();
        assert_eq!(table(3), table(3));
        assert_ne!(table(3), table(4));
    }
}
