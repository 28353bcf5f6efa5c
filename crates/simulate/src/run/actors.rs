//! The simulated planner, judge, models, agents and person of a run: random, or fixed by a scenario.

use fixpoint_vocabulary::ask::Role;

use super::goal::SimulatedGoal;
use super::parameters::PARAMETERS;
use crate::random::Random;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(test), expect(dead_code, reason = "the scenarios of the tests use the rest"))]
pub(crate) enum Honesty {
    Honest,
    Errs,
    /// Errs, and accepts every plan.
    ErrsAndTakesAnyPlan,
    /// Accepts every plan, and judges work honestly.
    TakesAnyPlan,
    AlwaysYes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(test), expect(dead_code, reason = "the scenarios of the tests use the rest"))]
pub(crate) enum Planner {
    Ordinary,
    /// Every plan is complete and sound.
    Sound,
    /// Leaves a part out, also after refinement.
    Incomplete,
    /// The goal is unclear, even after an answer.
    Unclear,
    /// Unclear until a person answers or is known to be unavailable.
    UnclearAtFirst,
    /// The goal cannot be decomposed, but a part of it could be done.
    Infeasible,
    /// Neither the goal nor a part of it can be decomposed.
    Hopeless,
    /// Tasks depend on each other in a cycle.
    Circular,
    /// A task needs a tool that does not exist.
    UnknownTool,
    /// A task depends on one that does not exist.
    UnknownTask,
    /// Two tasks have the same id.
    SameName,
    TooMany,
    /// A command that must not be run.
    Forbidden,
    /// A command that needs approval.
    Suspicious,
    StrangeError,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(test), expect(dead_code, reason = "the scenarios of the tests use the rest"))]
pub(crate) enum TaskJudge {
    /// Random, within its honesty.
    Ordinary,
    /// Always asks for another attempt.
    Patient,
    /// Asks for a replan each time.
    WantsReplan,
    GivesUp,
    /// Finds something missing each time.
    NeverContent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(test), expect(dead_code, reason = "the scenarios of the tests use the rest"))]
pub(crate) enum Models {
    Ordinary,
    /// Every answer can be parsed.
    Smooth,
    /// The answers of this role cannot be parsed.
    Unreadable(Role),
    Silent(Role),
    /// This role answers with a document of another kind.
    OtherDocument(Role),
    /// The final review cannot be parsed.
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
pub(crate) enum AgentBehaviours {
    /// Each task has a random agent.
    Ordinary,
    All(AgentBehaviour),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(test), expect(dead_code, reason = "the scenarios of the tests use the rest"))]
pub(crate) enum AgentBehaviour {
    Fixes,
    /// Fixes everything in one attempt.
    FixesAtOnce,
    /// Changes files and fixes nothing.
    Loops,
    Idles,
    /// Fixes, and breaks other tests.
    Breaks,
    /// Edits files outside its scope.
    Wanders,
    Absent,
    /// Fixes tasks, but resolves no merge.
    CannotMerge,
}

/// What the plan cache contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlanStore {
    Empty,
    /// A plan of a similar goal.
    Near,
    /// A plan of this goal.
    Exact,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Actors {
    pub(crate) goal: SimulatedGoal,
    pub(crate) honesty: Honesty,
    pub(crate) planner: Planner,
    pub(crate) task_judge: TaskJudge,
    pub(crate) models: Models,
    pub(crate) person: Person,
    pub(crate) agents: AgentBehaviours,
    pub(crate) store: PlanStore,
    /// The probability that a command fails.
    pub(crate) failing: f64,
    pub(crate) checks: Checks,
    /// Whether the planner may name commands that must pass.
    pub(crate) may_name_goals: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(test), expect(dead_code, reason = "the scenarios of the tests use the rest"))]
pub(crate) enum Checks {
    Run,
    NotFound,
    /// They wait for something outside the run.
    Wait,
}

impl Actors {
    pub(crate) fn of(seed: u64, honesty: Honesty) -> Self {
        let machine = &PARAMETERS.machine;
        let mut random = Random::keyed(seed, "cast");
        let failing = if random.unit() < machine.out_of_order { machine.fails } else { 0.0 };
        let store = match random.next_u64() % 4 {
            0 => PlanStore::Exact,
            1 => PlanStore::Near,
            _ => PlanStore::Empty,
        };
        Self {
            goal: SimulatedGoal::new(seed),
            honesty,
            planner: Planner::Ordinary,
            task_judge: TaskJudge::Ordinary,
            models: Models::Ordinary,
            person: Person::Ordinary,
            agents: AgentBehaviours::Ordinary,
            store,
            failing,
            checks: Checks::Run,
            may_name_goals: true,
        }
    }

    /// Actors without faults.
    #[cfg(test)]
    pub(crate) fn good(seed: u64) -> Self {
        Self {
            planner: Planner::Sound,
            task_judge: TaskJudge::Patient,
            models: Models::Smooth,
            person: Person::Agrees,
            agents: AgentBehaviours::All(AgentBehaviour::FixesAtOnce),
            store: PlanStore::Empty,
            failing: 0.0,
            ..Self::of(seed, Honesty::Honest)
        }
    }

    pub(crate) fn agent_of(&self, task: &str) -> AgentBehaviour {
        match self.agents {
            AgentBehaviours::All(agent_of) => agent_of,
            AgentBehaviours::Ordinary => {
                let agents = &PARAMETERS.agents;
                let mut left = Random::keyed(self.goal.seed, &format!("agent {task}")).unit();
                let kinds = [
                    (AgentBehaviour::Fixes, agents.fixes),
                    (AgentBehaviour::Loops, agents.loops),
                    (AgentBehaviour::Idles, agents.idles),
                    (AgentBehaviour::Breaks, agents.breaks),
                    (AgentBehaviour::Wanders, agents.wanders),
                ];
                for (kind, share) in kinds {
                    left -= share;
                    if left < 0.0 {
                        return kind;
                    }
                }
                AgentBehaviour::Fixes
            }
        }
    }
}
