//! Simulated agents, each with one behaviour: what it does to a tree in one attempt.
//!
//! Owns what agents do wrong. Refuses memory: the result depends on the number of the attempt, the tree it begins with
//! and the given random numbers, so that a repeated attempt has the same result.

use fixpoint_vocabulary::work::AgentEnd;

use crate::named_variants::named_variants;
use crate::project_state::{Build, GOAL_NAME, GUARD_NAME, ProjectState, named};
use crate::random::Random;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Agent {
    /// Fixes something nearly every time, and changes nothing when nothing is wrong.
    Fixes,
    /// Fixes something every third time: honest, but an impatient policy stops it.
    SlowFixes,
    /// Changes files and fixes nothing.
    Stalls,
    /// Fixes nothing; its failures have another message each time.
    Rewords,
    /// Trades one failure for another and back.
    Oscillates,
    /// Has another failure each time.
    Churns,
    /// Fixes, and breaks other tests.
    Breaks,
    /// Fixes, and edits files outside its scope.
    Wanders,
    /// Weakens or deletes tests more often than it fixes anything.
    Cheats,
    /// Fixes, breaks other tests, and weakens or deletes those.
    HidesBreaks,
    /// Changes what a check does more often than it fixes anything.
    Redefines,
    /// Leaves ignored files that make later checks pass more often than it fixes anything.
    Plants,
    /// Exceeds its time limit each time, with or without having fixed something.
    Hangs,
    /// Crashes during its work, which then may not build.
    Crashes,
    Idles,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AgentExit {
    pub(crate) end: AgentEnd,
    pub(crate) exit_code: Option<i32>,
}

const EXITED: AgentExit = AgentExit { end: AgentEnd::Exited, exit_code: Some(0) };

named_variants!(Agent {
    Fixes: "fixes",
    SlowFixes: "slow-fixes",
    Stalls: "stalls",
    Rewords: "rewords",
    Oscillates: "oscillates",
    Churns: "churns",
    Breaks: "breaks",
    Wanders: "wanders",
    Cheats: "cheats",
    HidesBreaks: "hides-breaks",
    Redefines: "redefines",
    Plants: "plants",
    Hangs: "hangs",
    Crashes: "crashes",
    Idles: "idles",
});

impl Agent {
    /// Whether it makes checks pass without doing what they ask for.
    pub const fn is_cheating(self) -> bool {
        matches!(self, Self::Cheats | Self::HidesBreaks | Self::Redefines | Self::Plants)
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|agent| agent.name() == name)
    }

    /// How it ends an attempt in which it changes nothing.
    fn exit_without_edit(self, chance: f64, state: &ProjectState) -> Option<AgentExit> {
        if self == Self::Hangs && chance < 0.4 {
            return Some(AgentExit { end: AgentEnd::TimedOut, exit_code: None });
        }
        let is_content = state.goal.is_empty() && state.broken.is_empty() && state.wobbling.is_empty();
        // An honest agent that finds nothing wrong changes nothing.
        let is_finished =
            matches!(self, Self::Fixes | Self::SlowFixes) && is_content && state.build == Build::Whole;
        (self == Self::Idles || is_finished).then_some(EXITED)
    }

    pub(crate) fn work(self, number: u32, state: &mut ProjectState, random: &mut Random) -> AgentExit {
        let chance = random.unit();
        if let Some(exit) = self.exit_without_edit(chance, state) {
            return exit;
        }
        state.edits += 1;
        match self {
            Self::Stalls | Self::Rewords | Self::Idles => {}
            Self::Fixes if chance < 0.8 => fix(state),
            Self::Fixes => {}
            Self::SlowFixes if number.is_multiple_of(3) => fix(state),
            Self::SlowFixes => {}
            Self::Oscillates => {
                state.build = Build::Whole;
                state.goal = named(if number.is_multiple_of(2) { "g10" } else { "g11" });
            }
            Self::Churns => {
                state.build = Build::Whole;
                state.goal = named(&format!("g{}", 8 + number % 12));
            }
            Self::Breaks => {
                if chance < 0.8 {
                    fix(state);
                }
                state.broken.clear();
                if random.unit() < 0.5 {
                    state.broken.insert("t_neighbour".to_string());
                }
            }
            Self::Wanders => {
                if chance < 0.8 {
                    fix(state);
                }
                if random.unit() < 0.7 {
                    state.outside.insert("ci.yml".to_string());
                }
            }
            Self::HidesBreaks => {
                if chance < 0.8 {
                    fix(state);
                }
                hide_break(state, random);
            }
            Self::Cheats | Self::Redefines | Self::Plants if chance < 0.25 => fix(state),
            Self::Cheats => cheat(state, random),
            Self::Redefines => drop(state.redefined.insert(rigged_check(random))),
            Self::Plants => drop(state.planted.insert(rigged_check(random))),
            Self::Hangs => {
                if chance < 0.9 {
                    fix(state);
                }
                return AgentExit { end: AgentEnd::TimedOut, exit_code: None };
            }
            Self::Crashes => {
                if chance < 0.7 {
                    fix(state);
                }
                state.build = if random.unit() < 0.4 { Build::Broken } else { state.build };
                return AgentExit { end: AgentEnd::Exited, exit_code: Some(1) };
            }
        }
        EXITED
    }
}

/// Fixes one thing: first that it builds, then one test after the other.
fn fix(state: &mut ProjectState) {
    match state.build {
        Build::Broken => state.build = Build::Whole,
        Build::Whole => drop(state.goal.pop_first()),
    }
}

/// Hides a failure without fixing it.
fn cheat(state: &mut ProjectState, random: &mut Random) {
    state.build = Build::Whole;
    let is_hidden = |test: &&String| state.softened.contains(*test) || state.removed.contains(*test);
    let failing = state.goal.iter().find(|test| !is_hidden(test)).cloned();
    match (failing, random.unit()) {
        (Some(test), chance) if chance < 0.5 => drop(state.softened.insert(test)),
        (Some(test), chance) if chance < 0.9 => drop(state.removed.insert(test)),
        (Some(_) | None, _) => drop(state.removed.insert("t_guarded".to_string())),
    }
}

/// Breaks a test of the guard and hides that.
fn hide_break(state: &mut ProjectState, random: &mut Random) {
    let test = "t_neighbour".to_string();
    state.broken.insert(test.clone());
    let hidden = if random.unit() < 0.5 { &mut state.softened } else { &mut state.removed };
    hidden.insert(test);
}

/// The check that is made to pass whatever the code does, mostly the one that fails.
fn rigged_check(random: &mut Random) -> String {
    if random.unit() < 0.8 { GOAL_NAME } else { GUARD_NAME }.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct_and_found() {
        for agent in Agent::ALL {
            assert_eq!(Agent::from_name(agent.name()), Some(agent));
        }
        assert_eq!(Agent::from_name("improves"), None);
    }

    /// Catches an agent that behaves like another: a cheat that fixes everything, an idle one that edits, a slow one
    /// that is fast.
    #[test]
    fn each_agent_has_its_own_behaviour() {
        for seed in 0..50 {
            for agent in Agent::ALL {
                let mut state = ProjectState {
                    goal: (0..3).map(|n| format!("g{n}")).collect(),
                    ..ProjectState::default()
                };
                for number in 1..=10 {
                    let mut random = Random::keyed(seed, &format!("{agent:?} {number}"));
                    let before = state.clone();
                    agent.work(number, &mut state, &mut random);
                    let fixed = before.goal.difference(&state.goal).count();
                    let holds = match agent {
                        Agent::Idles => state == before,
                        Agent::Stalls | Agent::Rewords => fixed == 0 && state.edits == before.edits + 1,
                        Agent::SlowFixes => fixed == 0 || number % 3 == 0,
                        Agent::Oscillates | Agent::Churns => !state.goal.is_empty(),
                        Agent::Fixes => fixed <= 1 && state.goal.is_subset(&before.goal),
                        Agent::Breaks => state.outside.is_empty() && state.removed.is_empty(),
                        Agent::Wanders => state.broken.is_empty(),
                        Agent::Cheats => fixed <= 1 && state.outside.is_empty(),
                        Agent::HidesBreaks => {
                            let hidden = state.softened.union(&state.removed);
                            fixed <= 1 && hidden.eq(&state.broken) && !state.broken.is_empty()
                        }
                        Agent::Redefines => {
                            (fixed == 1) == (state.redefined == before.redefined) || fixed == 0
                        }
                        Agent::Plants => fixed <= 1 && state.redefined.is_empty(),
                        Agent::Hangs => fixed <= 1 && state.build == Build::Whole,
                        Agent::Crashes => fixed <= 1 && state.broken.is_empty(),
                    };
                    assert!(holds, "{agent:?}, seed {seed}, attempt {number}: {before:?} -> {state:?}");
                }
            }
        }
    }
}
