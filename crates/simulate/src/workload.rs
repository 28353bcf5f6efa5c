//! The simulated workload: which agents work in which worlds, and how often.
//!
//! It is a choice, not a measurement: more than a third of the agents do honest work, the others fail in the ways agents are known
//! to fail. Compare tables of the same workload only.

use crate::agent::Agent;
use crate::project::Project;
use crate::random::Random;
use crate::world::World;

/// Agents, with their share in percent.
pub const AGENTS: [(Agent, u32); 15] = [
    (Agent::Fixes, 29),
    (Agent::SlowFixes, 8),
    (Agent::Stalls, 5),
    (Agent::Rewords, 5),
    (Agent::Oscillates, 5),
    (Agent::Churns, 5),
    (Agent::Breaks, 7),
    (Agent::Wanders, 7),
    (Agent::Cheats, 6),
    (Agent::HidesBreaks, 4),
    (Agent::Redefines, 4),
    (Agent::Plants, 3),
    (Agent::Hangs, 3),
    (Agent::Crashes, 6),
    (Agent::Idles, 3),
];

/// Worlds, with their share in percent.
pub const WORLDS: [(World, u32); 11] = [
    (World::Plain, 30),
    (World::KnownFailure, 16),
    (World::FlakyAtBase, 8),
    (World::NewlyFlaky, 6),
    (World::Masked, 8),
    (World::Unreliable, 6),
    (World::Hanging, 4),
    (World::Outages, 6),
    (World::Environment, 6),
    (World::NoReader, 7),
    (World::FirstProblems, 3),
];

/// The task with this number in the workload of a seed.
pub(crate) fn task(seed: u64, number: u32) -> Project {
    let mut random = Random::keyed(seed, &format!("task {number}"));
    let agent = draw(&AGENTS, Agent::Fixes, &mut random);
    let world = draw(&WORLDS, World::Plain, &mut random);
    Project::new(random.next_u64(), agent, world)
}

/// Draws by shares in percent; the default is for shares that do not add up.
fn draw<T: Copy>(shares: &[(T, u32)], default: T, random: &mut Random) -> T {
    let mut left = random.unit() * 100.0;
    for (each, share) in shares {
        left -= f64::from(*share);
        if left < 0.0 {
            return *each;
        }
    }
    default
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches an agent or a world that is not in the workload, and shares that do not add up.
    #[test]
    fn every_agent_and_every_world_has_its_share() {
        assert_eq!(AGENTS.map(|(agent, _)| agent), Agent::ALL);
        assert_eq!(WORLDS.map(|(world, _)| world), World::ALL);
        assert_eq!(AGENTS.iter().map(|(_, share)| share).sum::<u32>(), 100);
        assert_eq!(WORLDS.iter().map(|(_, share)| share).sum::<u32>(), 100);
        let tasks: Vec<Project> = (0..10_000).map(|number| task(1, number)).collect();
        for (agent, share) in AGENTS {
            let drawn = tasks.iter().filter(|task| task.agent == agent).count();
            assert!(drawn.abs_diff(share as usize * 100) < 150, "{agent:?}: {drawn}");
        }
        for (world, share) in WORLDS {
            let drawn = tasks.iter().filter(|task| task.world == world).count();
            assert!(drawn.abs_diff(share as usize * 100) < 150, "{world:?}: {drawn}");
        }
    }
}
