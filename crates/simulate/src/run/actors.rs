//! Who takes part in a made-up run, and in what mood: drawn by chance, or fixed for a scenario.

use fixpoint_vocabulary::ask::Role;

use super::parameters::PARAMETERS;
use super::scheme::Scheme;
use crate::random::Random;

/// Whether a judge can be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(test), expect(dead_code, reason = "the scenarios of the tests use the rest"))]
pub(crate) enum Honesty {
    Honest,
    Errs,
    /// The same, and says yes to every plan.
    ErrsAndTakesAnyPlan,
    /// Says yes to every plan, and is honest about work.
    TakesAnyPlan,
    AlwaysYes,
}

/// What the planner is like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(test), expect(dead_code, reason = "the scenarios of the tests use the rest"))]
pub(crate) enum Planner {
    Ordinary,
    /// Every plan is complete and sound.
    Sound,
    /// Never takes in a part that is left out.
    Incomplete,
    /// The goal is unclear, whatever anybody says.
    Unclear,
    /// Unclear until somebody answers, or is known not to be there.
    UnclearAtFirst,
    /// It cannot be decomposed; a part of it could be done.
    Infeasible,
    /// It cannot be decomposed, and no part of it either.
    Hopeless,
    /// Tasks wait in a circle.
    Circular,
    /// A task needs a tool that does not exist.
    UnknownTool,
    /// A task waits for one that does not exist.
    UnknownTask,
    /// Two tasks have one name.
    SameName,
    TooMany,
    /// A command that must not be run.
    Forbidden,
    /// A command that needs consent.
    Suspicious,
    StrangeError,
}

/// What a judge of tasks does when nothing else is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(test), expect(dead_code, reason = "the scenarios of the tests use the rest"))]
pub(crate) enum TaskJudge {
    /// Everything by chance, within its honesty.
    Ordinary,
    /// Never tires of asking for another attempt.
    Patient,
    /// Asks for a replan each time.
    WantsReplan,
    GivesUp,
    /// Finds something missing each time.
    NeverContent,
}

/// What models do beside answering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(test), expect(dead_code, reason = "the scenarios of the tests use the rest"))]
pub(crate) enum Models {
    Ordinary,
    /// They answer, and can be read.
    Smooth,
    /// One of them cannot be read.
    Unreadable(Role),
    /// One of them does not answer.
    Silent(Role),
    /// One of them gives a document of another kind.
    OtherDocument(Role),
    /// The judgement of the whole cannot be read.
    WholeUnreadable,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Person {
    Ordinary,
    Agrees,
    Refuses,
    Absent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(test), expect(dead_code, reason = "the scenarios of the tests use the rest"))]
pub(crate) enum Workers {
    /// Each task has an agent by chance.
    Ordinary,
    All(Worker),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(test), expect(dead_code, reason = "the scenarios of the tests use the rest"))]
pub(crate) enum Worker {
    Fixes,
    /// Mends it at once, and everything it is told.
    FixesAtOnce,
    /// Changes files and mends nothing.
    Loops,
    Idles,
    /// Breaks a neighbour on the way.
    Breaks,
    /// Edits files outside its scope.
    Wanders,
    Absent,
    /// Mends tasks, and cannot bring two sides together.
    CannotMerge,
}

/// How the plan store answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Store {
    Empty,
    /// A plan of a similar goal.
    Near,
    /// A plan of this goal.
    Exact,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Actors {
    pub(crate) scheme: Scheme,
    pub(crate) honesty: Honesty,
    pub(crate) planner: Planner,
    pub(crate) task_judge: TaskJudge,
    pub(crate) models: Models,
    pub(crate) person: Person,
    pub(crate) workers: Workers,
    pub(crate) store: Store,
    /// Chance that a command fails.
    pub(crate) failing: f64,
    /// Whether checks can run at all.
    pub(crate) checks: Checks,
    /// Whether the planner names commands that must pass.
    pub(crate) named: Named,
}

/// Whether a planner names commands that must pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Named {
    ByChance,
    Never,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(test), expect(dead_code, reason = "the scenarios of the tests use the rest"))]
pub(crate) enum Checks {
    Run,
    NotFound,
    /// They wait for something outside.
    Wait,
}

impl Actors {
    /// The cast of a seed, everything by chance.
    pub(crate) fn of(seed: u64, honesty: Honesty) -> Self {
        let machine = &PARAMETERS.machine;
        let mut random = Random::keyed(seed, "cast");
        let failing = if random.unit() < machine.out_of_order { machine.fails } else { 0.0 };
        let store = match random.next_u64() % 4 {
            0 => Store::Exact,
            1 => Store::Near,
            _ => Store::Empty,
        };
        Self {
            scheme: Scheme::new(seed),
            honesty,
            planner: Planner::Ordinary,
            task_judge: TaskJudge::Ordinary,
            models: Models::Ordinary,
            person: Person::Ordinary,
            workers: Workers::Ordinary,
            store,
            failing,
            checks: Checks::Run,
            named: Named::ByChance,
        }
    }

    /// Everybody does what they should.
    #[cfg(test)]
    pub(crate) fn good(seed: u64) -> Self {
        Self {
            planner: Planner::Sound,
            task_judge: TaskJudge::Patient,
            models: Models::Smooth,
            person: Person::Agrees,
            workers: Workers::All(Worker::FixesAtOnce),
            store: Store::Empty,
            failing: 0.0,
            ..Self::of(seed, Honesty::Honest)
        }
    }

    /// The agent of a task.
    pub(crate) fn worker(&self, task: &str) -> Worker {
        match self.workers {
            Workers::All(worker) => worker,
            Workers::Ordinary => {
                let agents = &PARAMETERS.agents;
                let mut left = Random::keyed(self.scheme.seed, &format!("agent {task}")).unit();
                let kinds = [
                    (Worker::Fixes, agents.fixes),
                    (Worker::Loops, agents.loops),
                    (Worker::Idles, agents.idles),
                    (Worker::Breaks, agents.breaks),
                    (Worker::Wanders, agents.wanders),
                ];
                for (kind, share) in kinds {
                    left -= share;
                    if left < 0.0 {
                        return kind;
                    }
                }
                Worker::Fixes
            }
        }
    }
}
