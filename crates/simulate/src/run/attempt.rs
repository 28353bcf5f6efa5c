//! One attempt of a simulated agent at a task of a run.
//!
//! Refuses memory: the result depends on the tree, the prompt and the given random numbers.

use fixpoint_vocabulary::Redacted;
use fixpoint_vocabulary::prepared::PreparedAttempt;
use fixpoint_vocabulary::work::{AgentEnd, AttemptResult, FailureId, ReportedFailure};

use super::actors::{Actors, AgentBehaviour};
use super::goal::{GUARD_TESTS, StepRange};
use super::parameters::PARAMETERS;
use super::tree::{OUTSIDE, SHARED, Tree};
use crate::random::Random;

pub(crate) struct Attempt<'a> {
    pub(crate) actors: &'a Actors,
    pub(crate) task: &'a str,
    pub(crate) description: &'a str,
    pub(crate) attempt: &'a PreparedAttempt,
    pub(crate) random: Random,
}

impl Attempt<'_> {
    pub(crate) fn run(mut self) -> AttemptResult {
        let mut tree = Tree::of(&self.attempt.command.base);
        let behaviour = self.actors.agent_of(self.task);
        if behaviour == AgentBehaviour::Absent {
            let base = tree.base();
            return AttemptResult::new(AgentEnd::CouldNotStart, base.commit, base.tree);
        }
        self.work(behaviour, &mut tree);
        let origin = Tree::of(&self.attempt.command.origin);
        let violations: Vec<String> = (tree.has_edits_outside() && !origin.has_edits_outside())
            .then(|| OUTSIDE.to_string())
            .into_iter()
            .collect();
        let unresolved = tree.is_marked().then(|| {
            let message = Redacted::ours("holds both sides of a conflict, marked");
            ReportedFailure::new(FailureId::Conflict(SHARED.to_string()), message)
        });
        let base = tree.base();
        AttemptResult {
            revertible: violations.clone(),
            violations,
            unresolved: unresolved.into_iter().collect(),
            exit_code: Some(0),
            changed_files: 1,
            changed_lines: 1,
            ..AttemptResult::new(AgentEnd::Exited, base.commit, base.tree)
        }
    }

    fn work(&mut self, behaviour: AgentBehaviour, tree: &mut Tree) {
        let agents = &PARAMETERS.agents;
        match behaviour {
            AgentBehaviour::Idles | AgentBehaviour::Absent => {}
            AgentBehaviour::Loops => tree.touch(self.task, self.attempt.command.number),
            AgentBehaviour::FixesAtOnce => self.finish(tree, 1.0),
            AgentBehaviour::CannotMerge
                if self.attempt.merge.is_some() || self.reported("clash").is_some() =>
            {
                tree.touch(self.task, self.attempt.command.number);
            }
            AgentBehaviour::Fixes | AgentBehaviour::CannotMerge => self.finish(tree, agents.mends),
            AgentBehaviour::Breaks => {
                self.finish(tree, agents.mends);
                if self.random.unit() < agents.misbehaves {
                    let test = u32::try_from(self.random.next_u64() % u64::from(GUARD_TESTS)).unwrap_or(0);
                    tree.break_test(test);
                }
            }
            AgentBehaviour::Wanders => {
                self.finish(tree, agents.mends);
                if self.random.unit() < agents.misbehaves {
                    tree.edit_outside();
                }
            }
        }
    }

    /// The number in the name of the first reported failure of a kind.
    fn reported(&self, kind: &str) -> Option<u32> {
        let mut tests = self.attempt.failures.iter().filter_map(ReportedFailure::test);
        tests.find_map(|test| test.as_str().strip_prefix(kind)?.parse().ok())
    }

    /// Works on the task and on reported failures.
    fn finish(&mut self, tree: &mut Tree, mends: f64) {
        let agents = &PARAMETERS.agents;
        let is_sure = mends >= 1.0;
        if tree.is_marked() {
            let chance = self.random.unit();
            if is_sure || chance < agents.resolves {
                tree.unmark();
                if !is_sure && chance < agents.loses_a_side {
                    tree.lose_a_line();
                }
            }
            return;
        }
        if let Some(test) = self.reported("g")
            && self.random.unit() < mends
        {
            tree.mend_test(test);
        }
        if let Some(part) = self.reported("clash")
            && self.random.unit() < mends
        {
            tree.make_compatible(part);
        }
        let mut tests = self.attempt.failures.iter().filter_map(ReportedFailure::test);
        let lost =
            tests.find_map(|test| test.as_str().strip_prefix('p')?.strip_suffix("_line")?.parse().ok());
        if let Some(part) = lost
            && self.random.unit() < mends
        {
            tree.add_line(part);
        }
        if self.attempt.outside.iter().any(|path| path == OUTSIDE) && self.random.unit() < mends {
            tree.restore_outside();
        }
        let chance = if is_sure { 0.0 } else { self.random.unit() };
        let most = if chance < agents.finishes {
            usize::MAX
        } else if chance < agents.finishes + agents.steps {
            1
        } else {
            0
        };
        let first_line = self.description.lines().next().unwrap_or_default();
        let ranges = StepRange::named_in(if self.attempt.merge.is_some() { "" } else { first_line });
        let mut left = most;
        for range in ranges {
            for step in self.actors.goal.missing(range, tree) {
                if left == 0 {
                    return;
                }
                tree.step(step);
                left = left.saturating_sub(1);
            }
            if self.actors.goal.is_sharing(range.part) && left > 0 {
                tree.add_line(range.part);
            }
        }
    }
}
