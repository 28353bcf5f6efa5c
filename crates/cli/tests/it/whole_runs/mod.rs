//! `fixpoint run` and `fixpoint plan` from the goal to the delivered branch: real git, `sh` as agent and checks, and
//! models behind a server that is a process of its own.
//!
//! After every run the server's count of calls must be the record's, the key must be nowhere, the run must have stayed
//! within its bounds, and the user's repository must be as it was, but for the branch.

mod base_checks;
mod budgets;
mod delivery;
mod endpoints;
mod expected_cost;
mod integration;
mod kept_goals;
mod kills;
mod planning;
#[cfg(target_os = "linux")]
mod real_agents;
mod replanning;
mod shown_words;
mod small_model;
mod stage;
pub(crate) mod terminal;
mod unreliable;
mod words;
mod workers;
