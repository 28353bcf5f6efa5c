//! Seeded simulations of what a configuration would do, for tests and for `fixpoint simulate`.
//!
//! Owns randomness, which no decision may have. Refuses real effects: the decisions simulated are the very
//! functions the product uses, everything around them is made up.

mod judging;
mod random;

pub use judging::{Figures, JudgingRow, Method, simulate_judging};
pub use random::Random;
