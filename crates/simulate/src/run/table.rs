//! What a configuration would do with whole runs, beside plainer ones: the same seeded goals under each.
//!
//! Owns the counting. Invariant: every run ends as exactly one of done, false done or stopped, and the same seed gives
//! the same table.

use fixpoint_engine::EngineExit;
use fixpoint_vocabulary::Cause;
use fixpoint_vocabulary::settings::Settings;

use super::actors::{Actors, Honesty, Named};
use super::circumstances::{Circumstances, Own};
use super::parameters::PARAMETERS;
use super::simulator::RunSimulator;
use super::tree::Tree;
use crate::machine::Interrupted;
use crate::performer::Manners;
use crate::random::Random;

/// How whole runs are gone about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RunPolicy {
    /// The product, with the configuration at hand.
    Fixpoint,
    /// Every plan is taken as it comes.
    NoPlanJudge,
    /// Attempts go on until they are used up.
    NoConvergence,
    /// What gets nowhere stays there.
    NoReplanning,
    /// What an agent made is done: no checks, and a judge that says yes to everything.
    AgentsWord,
    /// Plans are compared by one score each.
    SingleScores,
}

impl RunPolicy {
    /// Every policy, in the order of the table.
    pub const ALL: [Self; 6] = [
        Self::Fixpoint,
        Self::NoPlanJudge,
        Self::NoConvergence,
        Self::NoReplanning,
        Self::AgentsWord,
        Self::SingleScores,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Fixpoint => "Fixpoint, this configuration",
            Self::NoPlanJudge => "without a judge of plans",
            Self::NoConvergence => "without a convergence controller",
            Self::NoReplanning => "without replanning",
            Self::AgentsWord => "the agent's word is accepted",
            Self::SingleScores => "single scores",
        }
    }

    /// A run of a seed, gone about like that.
    fn circumstances(self, seed: u64, settings: &Settings) -> Circumstances {
        let mut circumstances = Circumstances::with(Actors::of(seed, Honesty::Errs), settings.clone());
        match self {
            Self::Fixpoint => {}
            Self::NoPlanJudge => circumstances.cast.honesty = Honesty::ErrsAndTakesAnyPlan,
            Self::NoConvergence => circumstances.settings.convergence.enabled = false,
            Self::NoReplanning => circumstances.settings.replanning.enabled = false,
            Self::AgentsWord => {
                circumstances.cast.honesty = Honesty::AlwaysYes;
                circumstances.own = Own::Nothing;
                circumstances.cast.named = Named::Never;
            }
            Self::SingleScores => circumstances.settings.judge.max_samples = 1,
        }
        circumstances
    }
}

/// What many runs under one policy came to.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RunTally {
    pub runs: u32,
    /// Said to be done, and done.
    pub done: u32,
    /// Said to be done while something is missing or wrong.
    pub false_done: u32,
    /// Ended otherwise, or left waiting.
    pub stopped: u32,
    /// Of those: stopped although another policy of the table was done with the same goal, truly.
    pub false_stop: u32,
    /// Calls of models, of all runs together.
    pub model_calls: u64,
    /// Attempts of agents, of all runs together.
    pub attempts: u64,
    /// US dollars of the runs that are done, truly.
    pub cost_of_done: f64,
    /// US dollars of all others.
    pub cost_of_failed: f64,
}

impl RunTally {
    /// A number as a share of all runs.
    pub fn share(&self, number: u32) -> f64 {
        f64::from(number) / f64::from(self.runs.max(1))
    }

    /// A sum as an average over all runs.
    pub fn average(&self, sum: f64) -> f64 {
        sum / f64::from(self.runs.max(1))
    }

    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53")]
    fn add(&mut self, outcome: &Outcome, another_is_done: Possible) {
        self.runs += 1;
        self.model_calls += outcome.model_calls;
        self.attempts += outcome.attempts;
        let prices = &PARAMETERS.prices;
        let cost = outcome.model_calls as f64 * prices.call + outcome.attempts as f64 * prices.attempt;
        match outcome.claim {
            Claim::Done => {
                self.done += 1;
                self.cost_of_done += cost;
                return;
            }
            Claim::FalseDone => self.false_done += 1,
            Claim::Stopped => {
                self.stopped += 1;
                self.false_stop += u32::from(another_is_done == Possible::Yes);
            }
        }
        self.cost_of_failed += cost;
    }
}

/// Whether a goal can be reached: somebody did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Possible {
    Yes,
    Unknown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Claim {
    Done,
    FalseDone,
    Stopped,
}

#[derive(Debug, Clone, Copy)]
struct Outcome {
    claim: Claim,
    model_calls: u64,
    attempts: u64,
}

fn outcome(circumstances: &Circumstances) -> Result<Outcome, Interrupted> {
    let played = RunSimulator::default().play(circumstances, Manners::Good, &mut |_, _| {})?;
    let tree = played.run.result().map(|result| Tree::of(&result.commit)).unwrap_or_default();
    let is_true = circumstances.cast.scheme.is_true(&tree);
    let claim = match played.ending {
        EngineExit::Ended(Cause::Done | Cause::AlreadySatisfied) if is_true => Claim::Done,
        EngineExit::Ended(Cause::Done | Cause::AlreadySatisfied) => Claim::FalseDone,
        EngineExit::Ended(_) | EngineExit::Paused(_) => Claim::Stopped,
    };
    Ok(Outcome { claim, model_calls: played.performed.asks, attempts: played.performed.attempts })
}

/// Plays so many made-up goals under each policy. An error is a defect of the engine.
pub fn simulate_runs(
    seed: u64,
    runs: u32,
    settings: &Settings,
) -> Result<Vec<(RunPolicy, RunTally)>, Interrupted> {
    let mut rows: Vec<(RunPolicy, RunTally)> =
        RunPolicy::ALL.into_iter().map(|policy| (policy, RunTally::default())).collect();
    for number in 0..runs {
        let goal = Random::keyed(seed, &format!("run {number}")).next_u64();
        let outcomes = rows
            .iter()
            .map(|(policy, _)| outcome(&policy.circumstances(goal, settings)))
            .collect::<Result<Vec<Outcome>, Interrupted>>()?;
        let is_done = outcomes.iter().any(|outcome| outcome.claim == Claim::Done);
        let possible = if is_done { Possible::Yes } else { Possible::Unknown };
        for ((_, tally), outcome) in rows.iter_mut().zip(&outcomes) {
            tally.add(outcome, possible);
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
            assert_eq!(tally.done + tally.false_done + tally.stopped, 60, "{policy:?}");
            assert!(tally.false_stop <= tally.stopped, "{policy:?}");
        }
        let of = |policy| rows.iter().find(|(each, _)| *each == policy).unwrap().1;
        let ours = of(RunPolicy::Fixpoint);
        assert!(of(RunPolicy::AgentsWord).false_done > 4 * (ours.false_done + 1));
        assert!(of(RunPolicy::NoConvergence).attempts > ours.attempts);
        assert!(of(RunPolicy::NoReplanning).done < ours.done);
        assert!(of(RunPolicy::NoPlanJudge).false_done >= ours.false_done);
        assert_eq!(simulate_runs(1, 2, &Settings::default()).unwrap().len(), RunPolicy::ALL.len());
    }

    #[test]
    fn the_same_seed_gives_the_same_table() {
        let table = |seed| simulate_runs(seed, 10, &Settings::default()).unwrap();
        assert_eq!(table(3), table(3));
        assert_ne!(table(3), table(4));
    }
}
