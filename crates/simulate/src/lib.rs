//! Seeded simulations of what a configuration would do, for tests and for `fixpoint simulate`.
//!
//! Owns randomness, which no decision may have. Refuses real effects: the decisions and the engine are those of the
//! product; agents, models, checks and the disk are simulated.

mod named_variants;

mod agent;
mod crash;
mod executor;
mod judging;
mod policy;
mod project;
mod project_state;
mod random;
mod run;
mod simulated_task;
mod storage;
mod table;
mod task;
mod task_simulator;
mod workload;
mod world;

pub use agent::Agent;
pub use crash::{Crash, crash_and_compare};
pub use fixpoint_journal::Residue;
pub use judging::{JudgingRates, JudgingRow, Method, simulate_judging};
pub use policy::Policy;
pub use project::Project;
pub use random::Random;
pub use run::{RunPolicy, RunTally, simulate_runs};
pub use simulated_task::{Difference, SimulatedTask};
pub use storage::SimulationError;
pub use table::{PolicyRow, Tally, TaskTable, options_from, simulate_tasks};
pub use task::simulate_task;
pub use workload::{AGENTS, WORLDS};
pub use world::{GOAL_TESTS, GUARD_TESTS, World};
