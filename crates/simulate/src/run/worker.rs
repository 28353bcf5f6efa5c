//! Made-up agents at work on one task of a run: what each does to a tree in one attempt.
//!
//! Refuses memory: what an agent does depends on the tree, on what it is told and on the numbers it is handed.

use fixpoint_vocabulary::Redacted;
use fixpoint_vocabulary::prepared::PreparedAttempt;
use fixpoint_vocabulary::work::{AgentEnd, AttemptResult, FailureId, ReportedFailure};

use super::actors::{Actors, Worker};
use super::parameters::PARAMETERS;
use super::scheme::{GUARD_TESTS, Piece};
use super::tree::{OUTSIDE, SHARED, Tree};
use crate::random::Random;

/// An attempt that is being made.
pub(crate) struct Attempt<'a> {
    pub(crate) cast: &'a Actors,
    pub(crate) task: &'a str,
    /// What the agent is told of its task.
    pub(crate) words: &'a str,
    pub(crate) order: &'a PreparedAttempt,
    pub(crate) random: Random,
}

impl Attempt<'_> {
    pub(crate) fn made(mut self) -> AttemptResult {
        let mut tree = Tree::of(&self.order.command.base);
        let worker = self.cast.worker(self.task);
        if worker == Worker::Absent {
            let base = tree.base();
            return AttemptResult::new(AgentEnd::CouldNotStart, base.commit, base.tree);
        }
        self.work(worker, &mut tree);
        let origin = Tree::of(&self.order.command.origin);
        let violations: Vec<String> = (tree.has_wandered() && !origin.has_wandered())
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

    fn work(&mut self, worker: Worker, tree: &mut Tree) {
        let agents = &PARAMETERS.agents;
        match worker {
            Worker::Idles | Worker::Absent => {}
            Worker::Loops => tree.touch(self.task, self.order.command.number),
            Worker::FixesAtOnce => self.finish(tree, 1.0),
            Worker::CannotMerge if self.order.merge.is_some() || self.is_told("clash").is_some() => {
                tree.touch(self.task, self.order.command.number);
            }
            Worker::Fixes | Worker::CannotMerge => self.finish(tree, agents.mends),
            Worker::Breaks => {
                self.finish(tree, agents.mends);
                if self.random.unit() < agents.misbehaves {
                    let test = u32::try_from(self.random.next_u64() % u64::from(GUARD_TESTS)).unwrap_or(0);
                    tree.break_test(test);
                }
            }
            Worker::Wanders => {
                self.finish(tree, agents.mends);
                if self.random.unit() < agents.misbehaves {
                    tree.wander();
                }
            }
        }
    }

    /// The number in the name of the first failure of a kind that the agent is told.
    fn is_told(&self, kind: &str) -> Option<u32> {
        let mut tests = self.order.failures.iter().filter_map(ReportedFailure::test);
        tests.find_map(|test| test.as_str().strip_prefix(kind)?.parse().ok())
    }

    /// Works on what the task is about, and on what it is told.
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
        if let Some(test) = self.is_told("g")
            && self.random.unit() < mends
        {
            tree.mend_test(test);
        }
        if let Some(part) = self.is_told("clash")
            && self.random.unit() < mends
        {
            tree.harmonise(part);
        }
        let mut tests = self.order.failures.iter().filter_map(ReportedFailure::test);
        let lost =
            tests.find_map(|test| test.as_str().strip_prefix('p')?.strip_suffix("_line")?.parse().ok());
        if let Some(part) = lost
            && self.random.unit() < mends
        {
            tree.add_line(part);
        }
        if self.order.outside.iter().any(|path| path == OUTSIDE) && self.random.unit() < mends {
            tree.come_back();
        }
        let chance = if is_sure { 0.0 } else { self.random.unit() };
        let most = if chance < agents.finishes {
            usize::MAX
        } else if chance < agents.finishes + agents.steps {
            1
        } else {
            0
        };
        let first_line = self.words.lines().next().unwrap_or_default();
        let pieces = Piece::named_in(if self.order.merge.is_some() { "" } else { first_line });
        let mut left = most;
        for piece in pieces {
            for step in self.cast.scheme.missing(piece, tree) {
                if left == 0 {
                    return;
                }
                tree.step(step);
                left = left.saturating_sub(1);
            }
            if self.cast.scheme.is_sharing(piece.part) && left > 0 {
                tree.add_line(piece.part);
            }
        }
    }
}
