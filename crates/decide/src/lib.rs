//! Everything Fixpoint decides, as pure functions: data in, a verdict with its reason out.
//!
//! One file for each decision, with the question it takes and the answer it gives; `fixpoint decide` reads the
//! questions from JSON and adds nothing. The crate is `no_std`: it cannot reach a file, the environment, a
//! process, a clock, randomness, threads or a log, and its own `clippy.toml` forbids them through dependencies
//! too. Nothing here panics on any input.
//!
//! Where to begin: [`convergence`] (is one task getting anywhere?), [`refinement`] (is a plan good enough?),
//! [`scheduling`] (what starts now?).

#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod baseline;
pub mod bounds;
mod budget;
pub mod convergence;
pub mod direction;
pub mod estimate;
mod fallback;
pub mod glob;
pub mod goals;
mod graph;
pub mod judging;
pub mod merging;
pub mod noise;
pub mod phases;
mod plan_shape;
pub mod planning_mode;
pub mod policy;
mod prelude;
pub mod progress;
pub mod refinement;
pub mod reflection;
pub mod replanning;
mod revised_actions;
mod revision;
pub mod run;
pub mod sampling;
mod sanitising;
pub mod scheduling;
pub mod scope;
pub mod structure;
pub mod task_run;
pub mod tasks;
pub mod usability;
pub mod verdict;
