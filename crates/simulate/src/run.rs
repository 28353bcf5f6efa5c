//! Whole runs through the real engine: planning, judging, tasks side by side, replanning, merging, the end.
//!
//! Owns a made-up goal with everybody who takes part in it; the files below own one of them each. Refuses streams of
//! chance: whatever is drawn is drawn by what is asked for, so that what a crash cut short comes to the same again.

mod actors;
mod circumstances;
#[cfg(test)]
mod crash;
mod fake_executor;
mod judge;
mod parameters;
mod planner;
mod scheme;
mod simulator;
mod stage;
mod table;
mod tree;
#[cfg(test)]
mod watcher;
mod worker;

pub use table::{RunPolicy, RunTally, simulate_runs};

#[cfg(test)]
mod tests;
