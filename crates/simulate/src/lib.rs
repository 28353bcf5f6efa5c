//! Seeded simulations of what a configuration would do, for tests and for `fixpoint simulate`.
//!
//! Owns randomness, which no decision may have. Refuses real effects: the decisions and the engine simulated are the
//! very ones the product uses, everything around them is made up.

mod agent;
mod crash;
mod history;
mod judging;
mod machine;
mod mixture;
mod performer;
mod policy;
mod project;
mod random;
mod run;
mod state;
mod table;
mod task;
mod world;

pub use agent::Agent;
pub use crash::{Crash, crash_and_compare};
pub use fixpoint_journal::Residue;
pub use history::{Disagreement, Finished};
pub use judging::{Figures, JudgingRow, Method, simulate_judging};
pub use machine::Interrupted;
pub use mixture::{AGENTS, WORLDS};
pub use policy::Policy;
pub use project::Project;
pub use random::Random;
pub use run::{RunPolicy, RunTally, simulate_runs};
pub use table::{PolicyRow, Tally, TaskTable, order_from, simulate_tasks};
pub use task::simulate_task;
pub use world::{GOAL_TESTS, GUARD_TESTS, World};
