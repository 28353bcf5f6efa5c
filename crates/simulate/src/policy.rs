//! Policies that decide when a task is done or stopped: the product's, and two plain loops in common use.
//!
//! The plain loops are as good as such loops are: they run every check after every attempt, read exit codes, and ignore
//! a check that failed before the work began, for which they run all checks twice at the base.

use std::collections::BTreeSet;

use fixpoint_decide::task_run::TaskOptions;
use fixpoint_vocabulary::Cause;
use fixpoint_vocabulary::work::{
    AttemptCommand, CheckCall, CheckEnd, CheckReport, CheckRun, Command, CommandEnd, CommandResult, CommitId,
    Fingerprint, Leftovers,
};

use crate::executor::{CheckCost, CommandLog, EndReports};
use crate::named_variants::named_variants;
use crate::project::Project;
use crate::project_state::Correctness;
use crate::storage::SimulationError;
use crate::task_simulator::{TaskScenario, TaskSimulator, WallTime};
use crate::world::{GOAL, GUARD};

/// How often a failed command is repeated before its check counts as failing.
const RETRIES: u32 = 200;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Policy {
    /// The product, with the configuration at hand.
    Fixpoint,
    /// Done when the commands pass, stopped after so many attempts.
    MaxIterations,
    /// The same, and stopped when two attempts in a row leave the same failures.
    SameSetTwice,
}

named_variants!(Policy {
    Fixpoint: "Fixpoint, this configuration",
    MaxIterations: "max iterations only",
    SameSetTwice: "same fingerprint set twice",
});

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Done(Correctness),
    /// Stopped, or left waiting.
    Stopped,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PolicyOutcome {
    pub(crate) verdict: Verdict,
    pub(crate) attempts: u32,
    pub(crate) cost: CheckCost,
}

pub(crate) fn run_policy(
    policy: Policy,
    project: &Project,
    options: &TaskOptions,
) -> Result<PolicyOutcome, SimulationError> {
    let attempts = options.limits.convergence.max_iterations;
    match policy {
        Policy::Fixpoint => fixpoint(project, options),
        Policy::MaxIterations => Ok(PlainLoop::new(*project).go(attempts, OnRepeat::Continue)),
        Policy::SameSetTwice => Ok(PlainLoop::new(*project).go(attempts, OnRepeat::Stop)),
    }
}

/// Whether the agent reaches the goal within so many attempts if no policy stops it.
pub(crate) fn reaches_goal(project: &Project, attempts: u32) -> bool {
    let mut commit = project.base().ids().0;
    (1..=attempts).any(|number| {
        commit = project.attempt(&attempt(project, number, commit.clone())).commit;
        project.correctness(&commit) == Correctness::Correct
    })
}

fn fixpoint(project: &Project, options: &TaskOptions) -> Result<PolicyOutcome, SimulationError> {
    let scenario =
        TaskScenario { options: options.clone(), end_reports: EndReports::Once, wall_time: WallTime::Fixed };
    let finished = TaskSimulator::default().run(project, &scenario, &mut |_, _| {})?;
    let last = finished.results.last().map(|name| CommitId(name.clone()));
    let last = last.unwrap_or_else(|| project.base().ids().0);
    let is_done = matches!(finished.ending.cause(), Cause::Done | Cause::AlreadySatisfied);
    let verdict = if is_done { Verdict::Done(project.correctness(&last)) } else { Verdict::Stopped };
    Ok(PolicyOutcome { verdict, attempts: finished.attempts, cost: finished.cost })
}

fn attempt(project: &Project, number: u32, base: CommitId) -> AttemptCommand {
    let origin = project.base().ids().0;
    AttemptCommand { number, base, origin, stage: 1, session: None }
}

/// What to do when two attempts in a row have the same failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OnRepeat {
    Continue,
    Stop,
}

/// A loop around an agent that reads exit codes.
#[derive(Debug)]
struct PlainLoop {
    project: Project,
    log: CommandLog,
}

impl PlainLoop {
    fn new(project: Project) -> Self {
        Self { project, log: CommandLog::default() }
    }

    fn go(mut self, attempts: u32, on_repeat: OnRepeat) -> PolicyOutcome {
        let mut commit = self.project.base().ids().0;
        let at_base = [self.check(&commit), self.check(&commit)];
        let must_pass = |check: u32| check == GOAL || at_base.iter().all(|reports| passes(reports, check));
        let mut before: Option<BTreeSet<Fingerprint>> = None;
        for number in 1..=attempts {
            commit = self.attempt(number, commit);
            let reports = self.check(&commit);
            if [GOAL, GUARD].into_iter().all(|check| !must_pass(check) || passes(&reports, check)) {
                let correctness = self.project.correctness(&commit);
                return self.end(Verdict::Done(correctness), number);
            }
            let failing = failing(&reports);
            if on_repeat == OnRepeat::Stop && before.as_ref() == Some(&failing) {
                return self.end(Verdict::Stopped, number);
            }
            before = Some(failing);
        }
        self.end(Verdict::Stopped, attempts)
    }

    fn end(self, verdict: Verdict, attempts: u32) -> PolicyOutcome {
        PolicyOutcome { verdict, attempts, cost: self.log.cost }
    }

    fn attempt(&mut self, number: u32, commit: CommitId) -> CommitId {
        let attempt = attempt(&self.project, number, commit.clone());
        let result = self.perform(&Command::RunAttempt(attempt));
        if let Some(CommandResult::Attempt(result)) = result { result.commit } else { commit }
    }

    fn check(&mut self, commit: &CommitId) -> Vec<CheckReport> {
        let whole = |check| CheckCall::whole(check);
        let run = CheckRun {
            commit: commit.clone(),
            calls: [GOAL, GUARD].map(whole).into(),
            reuse: None,
            leftovers: Leftovers::Kept,
        };
        let result = self.perform(&Command::RunChecks(run));
        if let Some(CommandResult::Checks { reports }) = result { reports } else { Vec::new() }
    }

    /// Executes a command, again where the simulated machine failed.
    fn perform(&mut self, command: &Command) -> Option<CommandResult> {
        let mut tries = 0..RETRIES;
        tries.find_map(|_| match self.log.perform(&self.project, command) {
            CommandEnd::Completed(result) => Some(result),
            CommandEnd::Failed { .. } | CommandEnd::Cancelled | CommandEnd::Lost => None,
        })
    }
}

fn passes(reports: &[CheckReport], check: u32) -> bool {
    reports.iter().any(|report| report.check == check && report.end == CheckEnd::Passed)
}

fn failing(reports: &[CheckReport]) -> BTreeSet<Fingerprint> {
    reports.iter().flat_map(|report| &report.failures).map(|failure| failure.fingerprint().clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::Agent;
    use crate::task::without_faults;
    use crate::world::World;

    fn outcomes_of(policy: Policy, agent: Agent, world: World) -> Vec<PolicyOutcome> {
        let project = |seed| Project::new(seed, agent, world);
        (0..100).map(|seed| run_policy(policy, &project(seed), &without_faults().options).unwrap()).collect()
    }

    /// Catches a loop that is weaker than those in use: one that never ends well with an honest agent, or that does
    /// not ignore known failures.
    #[test]
    fn the_loops_finish_what_an_honest_agent_does() {
        for world in [World::Plain, World::KnownFailure, World::Outages] {
            let outcomes = outcomes_of(Policy::MaxIterations, Agent::Fixes, world);
            let done = outcomes
                .iter()
                .filter(|outcome| outcome.verdict == Verdict::Done(Correctness::Correct))
                .count();
            assert!(done >= 97, "{world:?}: {done}");
            assert!(outcomes.iter().all(|outcome| outcome.attempts <= 10));
        }
    }

    /// Catches a loop that compares with the attempt before the last, or stops for the first failures it sees.
    #[test]
    fn the_loop_that_compares_stops_at_the_second_time() {
        for outcome in outcomes_of(Policy::SameSetTwice, Agent::Stalls, World::Plain) {
            assert_eq!((outcome.verdict, outcome.attempts), (Verdict::Stopped, 2));
        }
        for outcome in outcomes_of(Policy::MaxIterations, Agent::Stalls, World::Plain) {
            assert_eq!((outcome.verdict, outcome.attempts), (Verdict::Stopped, 10));
            assert_eq!(outcome.cost.suites(), 12.0, "twice at the base, once for each attempt");
        }
    }

    #[test]
    fn who_reaches_the_goal_is_known() {
        let share = |agent| {
            (0..100).filter(|seed| reaches_goal(&Project::new(*seed, agent, World::Plain), 10)).count()
        };
        assert!(share(Agent::Fixes) >= 97);
        assert!(
            (30..70).contains(&share(Agent::SlowFixes)),
            "{}: up to three fixes",
            share(Agent::SlowFixes)
        );
        for agent in [Agent::Stalls, Agent::Rewords, Agent::Oscillates, Agent::Churns, Agent::Idles] {
            assert_eq!(share(agent), 0, "{agent:?}");
        }
    }
}
