//! Questions to models and people, put and answered, and plans kept for goals to come.
//!
//! Owns the way from a question on record to an answer that can be recorded: what the repository looks like to a
//! planner, what was changed and printed, the prompt, the model, the reading. Refuses to decide what an answer means,
//! and to know any concrete model. Invariants: nothing of a question or an answer leaves without credentials taken
//! out; every call has exactly one end.

mod consultant;
mod context;
mod memory;

pub use consultant::{Advisers, Asked, Consultant, Hearing, Person};
pub use context::repository_context;
pub use memory::{Kept, MemoryError, PlanKey, PlanMemory, Statistics};
