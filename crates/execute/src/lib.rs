//! The executor: runs commands in private workspaces, with processes that leave nothing behind.
//!
//! Owns how an attempt is made, how a check is run and read, and what is reported of both. Refuses decisions: what a
//! report leads to is decided elsewhere, and no path of this machine leaves the crate. Invariant: every command that
//! was started has exactly one end, whatever happens to the agent, the check or the disk.
//!
//! ```text
//! LocalExecutor ── one thread per command ──► ExecutionContext::run
//!                                               ├─ take_base.rs     the commit that attempts are compared with
//!                                               ├─ run_attempt.rs   an agent works in a slot; its tree is committed
//!                                               │    ├─ agent_turn.rs   its command line, its events, its session
//!                                               │    ├─ scope_check.rs  what it may not change
//!                                               │    └─ merge_check.rs  what it lost of two sides
//!                                               ├─ run_checks.rs    checks run on a commit, each in a clean slot
//!                                               │    ├─ baseline_cache.rs  unless they ran on this tree before
//!                                               │    ├─ right_tree/        so that they use the slot, not the user's tree
//!                                               │    └─ check_report.rs    what is reported of them
//!                                               └─ delivery.rs      the result as a branch or a patch
//! ```

mod agent_turn;
mod baseline_cache;
mod baseline_key;
mod check_environment;
mod check_host;
mod check_output;
mod check_report;
mod context;
mod delivery;
mod error;
mod executor;
mod idle;
mod left_out;
mod logs;
mod merge_check;
mod moved_tests;
mod named_lock;
mod path_text;
mod planted;
mod progress;
mod prompt;
mod protected;
mod refused;
mod report_files;
mod right_tree;
mod run_attempt;
mod run_checks;
mod scope_check;
mod set_up;
mod take_base;

pub use agent_turn::agent_of;
pub use check_host::CheckHost;
pub use context::{ExecutionContext, ExecutionDeps, ExecutionPaths};
pub use executor::{CommandRunner, LocalExecutor};
pub use logs::{LogState, agent_log, agent_words, check_log};
pub use path_text::{path_bytes, path_text};
pub use progress::{Progress, ProgressListener};
pub use prompt::{MAX_GOAL_BYTES, MAX_REMARKS_BYTES, Prompt, prompt};
