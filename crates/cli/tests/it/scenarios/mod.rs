//! Whole scenarios, as a demanding user would try them: real git, shell scripts as agents, the binary as it is shipped.
//! Each runs in the root of a repository and in a directory below it, and none may change the repository of the user.

mod around;
mod baselines;
mod comparing;
mod conduct;
mod confined;
mod delivering;
mod environments;
mod following;
pub(crate) mod japanese;
mod known_findings;
pub(crate) mod lab;
mod mischief;
mod missing_agents;
mod pausing;
mod progress;
mod prompt_sizes;
mod refusals;
mod running;
mod same_second;
mod scope;
mod shown;
pub(crate) mod unchanged;
mod unusable_git;
mod verifying;
