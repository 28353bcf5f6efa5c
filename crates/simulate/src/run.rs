//! Simulated runs through the real engine: planning, judging, parallel tasks, replanning, merging, delivery.
//!
//! Owns a simulated goal and the simulated planner, judge, agents and person. Refuses one stream of random numbers: each
//! number is drawn by the command it is for, so that a command repeated after a crash has the same result.

mod actors;
mod attempt;
mod commands;
mod fake_executor;
mod goal;
mod judge;
mod parameters;
mod planner;
mod scenario;
mod simulator;
mod table;
mod tree;

pub use table::{RunPolicy, RunTally, simulate_runs};

#[cfg(test)]
mod tests;
