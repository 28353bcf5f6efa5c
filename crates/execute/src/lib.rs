//! The executor: performs commands in private workspaces, with processes that leave nothing behind.
//!
//! Owns how an attempt is made, how a check is run and read, and what of it is reported. Refuses decisions: what a
//! report leads to is not its affair, and where something ran is nobody else's. Invariant: every command that was
//! started has exactly one end, whatever happens to the agent, the check or the disk.
//!
//! ```text
//! LocalExecutor ── one thread a command ──► Duty::perform
//!                                             ├─ base.rs      the state all attempts are compared with
//!                                             ├─ attempt.rs   an agent works in a slot; its tree is taken
//!                                             │    ├─ agent_turn.rs  its command line, its events, its session
//!                                             │    └─ merge_check.rs  what of two sides it lost
//!                                             ├─ checking.rs  checks run on a commit, each in a clean slot
//!                                             └─ Workspaces::graft
//! ```

mod agent_turn;
mod attempt;
mod base;
mod baselines;
mod check_report;
mod checking;
mod definition;
mod delivery;
mod duty;
mod executor;
mod inline_tests;
mod log;
mod merge_check;
mod named_lock;
mod path_text;
mod preparing;
mod progress;
mod prompt;
mod report_files;
mod scope_check;

pub use agent_turn::agent_of;
pub use duty::{Duty, Places, Tools};
pub use executor::{LocalExecutor, Performs};
pub use log::{agent_log, agent_words, check_log};
pub use path_text::{path_bytes, path_text};
pub use progress::{Progress, Watcher};
pub use prompt::{MAX_GOAL_BYTES, MAX_REMARKS_BYTES, Prompt, prompt};
