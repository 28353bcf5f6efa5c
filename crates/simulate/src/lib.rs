//! Seeded simulations of what a configuration would do, for tests and for `fixpoint simulate`.
//!
//! Owns randomness, which no decision may have. Refuses real effects: the decisions and the engine simulated are the
//! very ones the product uses, everything around them is made up.

mod judging;
mod project;
mod random;
mod task;

pub use judging::{Figures, JudgingRow, Method, simulate_judging};
pub use project::{Agent, Project};
pub use random::Random;
pub use task::{Crash, Finished, Interrupted, crash_once, simulate_task};
