//! Policies that decide when an agent is done or stopped: the product's, and two of those in use today.
//!
//! The other two are meant to be as good as such loops are: they run every check after every attempt, read exit codes,
//! and forgive a check that failed before the work began, for which they run everything twice at the base.

use std::collections::BTreeSet;

use fixpoint_decide::task_run::TaskOptions;
use fixpoint_vocabulary::Cause;
use fixpoint_vocabulary::work::{
    AttemptCommand, CheckCall, CheckEnd, CheckReport, CheckRun, Command, CommandEnd, CommandResult, CommitId,
    Fingerprint,
};

use crate::machine::{Circumstances, Hands, Interrupted, Machine};
use crate::performer::{Book, Cost, Manners};
use crate::project::Project;
use crate::state::Truth;
use crate::world::{GOAL, GUARD};

/// How often a command that failed is tried again before its check counts as failing.
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

impl Policy {
    /// Every policy, in the order of the table.
    pub const ALL: [Self; 3] = [Self::Fixpoint, Self::MaxIterations, Self::SameSetTwice];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Fixpoint => "Fixpoint, this configuration",
            Self::MaxIterations => "max iterations only",
            Self::SameSetTwice => "same fingerprint set twice",
        }
    }
}

/// What a policy said in the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claim {
    /// Done, and whether that is true.
    Done(Truth),
    /// Stopped, or left waiting.
    Stopped,
}

/// What following a policy came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Course {
    pub(crate) claim: Claim,
    pub(crate) attempts: u32,
    pub(crate) cost: Cost,
}

/// Follows a policy to its end.
pub(crate) fn follow(policy: Policy, project: &Project, order: &TaskOptions) -> Result<Course, Interrupted> {
    let attempts = order.limits.convergence.max_iterations;
    match policy {
        Policy::Fixpoint => fixpoint(project, order),
        Policy::MaxIterations => Ok(Loop::new(*project).go(attempts, OnRepeat::GoOn)),
        Policy::SameSetTwice => Ok(Loop::new(*project).go(attempts, OnRepeat::Stop)),
    }
}

/// Whether the agent gets there within so many attempts if nobody stops or redirects it.
pub(crate) fn gets_there(project: &Project, attempts: u32) -> bool {
    let mut commit = project.base().ids().0;
    (1..=attempts).any(|number| {
        commit = project.attempt(&attempt(project, number, commit.clone())).commit;
        project.truth(&commit) == Truth::Done
    })
}

fn fixpoint(project: &Project, order: &TaskOptions) -> Result<Course, Interrupted> {
    let circumstances = Circumstances { order: order.clone(), manners: Manners::Good, hands: Hands::Still };
    let finished = Machine::default().run(project, &circumstances, &mut |_, _| {})?;
    let last = finished.results.last().map(|name| CommitId(name.clone()));
    let last = last.unwrap_or_else(|| project.base().ids().0);
    let is_done = matches!(finished.ending.cause(), Cause::Done | Cause::AlreadySatisfied);
    let claim = if is_done { Claim::Done(project.truth(&last)) } else { Claim::Stopped };
    Ok(Course { claim, attempts: finished.attempts, cost: finished.cost })
}

fn attempt(project: &Project, number: u32, base: CommitId) -> AttemptCommand {
    let origin = project.base().ids().0;
    AttemptCommand { number, base, origin, stage: 1, session: None }
}

/// What two attempts in a row with the same failures lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OnRepeat {
    GoOn,
    Stop,
}

/// A loop around an agent that reads exit codes.
#[derive(Debug)]
struct Loop {
    project: Project,
    book: Book,
}

impl Loop {
    fn new(project: Project) -> Self {
        Self { project, book: Book::default() }
    }

    fn go(mut self, attempts: u32, on_repeat: OnRepeat) -> Course {
        let mut commit = self.project.base().ids().0;
        let at_base = [self.check(&commit), self.check(&commit)];
        let must_pass = |check: u32| check == GOAL || at_base.iter().all(|reports| passes(reports, check));
        let mut before: Option<BTreeSet<Fingerprint>> = None;
        for number in 1..=attempts {
            commit = self.attempt(number, commit);
            let reports = self.check(&commit);
            if [GOAL, GUARD].into_iter().all(|check| !must_pass(check) || passes(&reports, check)) {
                let truth = self.project.truth(&commit);
                return self.end(Claim::Done(truth), number);
            }
            let failing = failing(&reports);
            if on_repeat == OnRepeat::Stop && before.as_ref() == Some(&failing) {
                return self.end(Claim::Stopped, number);
            }
            before = Some(failing);
        }
        self.end(Claim::Stopped, attempts)
    }

    fn end(self, claim: Claim, attempts: u32) -> Course {
        Course { claim, attempts, cost: self.book.cost }
    }

    fn attempt(&mut self, number: u32, commit: CommitId) -> CommitId {
        let order = attempt(&self.project, number, commit.clone());
        let result = self.perform(&Command::RunAttempt(order));
        if let Some(CommandResult::Attempt(result)) = result { result.commit } else { commit }
    }

    fn check(&mut self, commit: &CommitId) -> Vec<CheckReport> {
        let whole =
            |check| CheckCall { check, only: BTreeSet::new(), watched: BTreeSet::new(), passed_before: None };
        let run = CheckRun { commit: commit.clone(), calls: [GOAL, GUARD].map(whole).into(), reuse: None };
        let result = self.perform(&Command::RunChecks(run));
        if let Some(CommandResult::Checks { reports }) = result { reports } else { Vec::new() }
    }

    /// Performs a command, again where the machine failed.
    fn perform(&mut self, command: &Command) -> Option<CommandResult> {
        let mut tries = 0..RETRIES;
        tries.find_map(|_| match self.book.perform(&self.project, command) {
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
    use crate::task::usual;
    use crate::world::World;

    fn claims(policy: Policy, agent: Agent, world: World) -> Vec<Course> {
        let project = |seed| Project::new(seed, agent, world);
        (0..100).map(|seed| follow(policy, &project(seed), &usual().order).unwrap()).collect()
    }

    /// Catches a loop that is weaker than those in use: one that never ends well where an honest agent works, or is
    /// put off by what failed before.
    #[test]
    fn the_loops_finish_what_an_honest_agent_does() {
        for world in [World::Plain, World::KnownFailure, World::Outages] {
            let courses = claims(Policy::MaxIterations, Agent::Fixes, world);
            let done = courses.iter().filter(|course| course.claim == Claim::Done(Truth::Done)).count();
            assert!(done >= 97, "{world:?}: {done}");
            assert!(courses.iter().all(|course| course.attempts <= 10));
        }
    }

    /// Catches a loop that compares with the attempt before the last, or stops for the first failures it sees.
    #[test]
    fn the_loop_that_compares_stops_at_the_second_time() {
        for course in claims(Policy::SameSetTwice, Agent::Stalls, World::Plain) {
            assert_eq!((course.claim, course.attempts), (Claim::Stopped, 2));
        }
        for course in claims(Policy::MaxIterations, Agent::Stalls, World::Plain) {
            assert_eq!((course.claim, course.attempts), (Claim::Stopped, 10));
            assert_eq!(course.cost.suites(), 12.0, "twice at the base, once for each attempt");
        }
    }

    #[test]
    fn who_gets_there_is_known() {
        let share =
            |agent| (0..100).filter(|seed| gets_there(&Project::new(*seed, agent, World::Plain), 10)).count();
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
