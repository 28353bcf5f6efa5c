//! Asks models and people the questions of a run, and caches plans.
//!
//! Owns the way from a recorded question to an answer that can be recorded: the repository as a planner sees it, diffs and
//! agent output, the prompt, the call, reading the answer. Refuses to decide what an answer means, and to know any concrete
//! model. Invariants: credentials are removed from every prompt and every answer; every question gets exactly one answer.

mod context;
mod plan_cache;
mod questions;

pub use context::repository_context;
pub use plan_cache::{CacheStats, CachedPlan, PlanCache, PlanCacheError, PlanKey};
pub use questions::{AskProgress, AskStarted, ModelsByRole, Person, QuestionHandler};
