//! Arguments of `run`, `plan`, `cache` and `calibrate`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{EvidenceArguments, SetArguments, number};

const RUN_HELP: &str = "\
A model splits the goal into tasks; a judge reviews the plan before anything is
changed. Agents then work on the tasks in private copies of the repository, in
parallel where the tasks change different paths. Every result is verified by its
checks and by the judge; a task that cannot work is split into smaller ones. The
results are merged, verified again and delivered as a branch, fixpoint/<run>.

Models are detected (API keys, local servers, an installed agent): `fixpoint
doctor` lists them. Name the agent after `--`; otherwise the first one installed
is used.

Examples:
  fixpoint run 'make the parser accept comments at the end of a line'
  fixpoint run --file goal.md --budget usd=2,time=2h -- claude
  fixpoint run 'rename --colour to --color' --until 'cargo test' --into main

Exit codes: 0 done, 2 wrong usage or configuration, 3 not converging, 4 plan
rejected, 5 needs a person, 6 budget used up, 7 agent, model, git or disk
unavailable, 8 partly done, 130 stopped";

const PLAN_HELP: &str = "\
Examples:
  fixpoint plan 'split the parser into two modules'
  fixpoint plan --bounds 'split the parser into two modules'";

/// Shared by `run` and `plan`.
#[derive(Debug, Args)]
pub(crate) struct GoalArguments {
    /// What you want, in your own words
    #[arg(conflicts_with = "file", required_unless_present = "file")]
    pub(crate) goal: Option<String>,
    /// Read the goal from a file, or from stdin with `-`
    #[arg(long, short = 'f', value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Command that must pass in the end; repeatable
    #[arg(long = "until", value_name = "CMD")]
    pub(crate) goals: Vec<String>,
    #[command(flatten)]
    pub(crate) evidence: EvidenceArguments,
    /// Limits, such as usd=2,calls=100,attempts=20,time=2h [default: usd=20, from budget.usd]
    #[arg(long, value_name = "LIMITS")]
    pub(crate) budget: Option<String>,
    /// Start from this commit instead of the working tree
    #[arg(long, value_name = "COMMIT")]
    pub(crate) base: Option<String>,
    /// User whose settings apply, if user_config_api is enabled [default: local/$USER]
    #[arg(long = "for", value_name = "PLATFORM/NAME")]
    pub(crate) person: Option<String>,
    /// Print the result as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = RUN_HELP)]
pub(crate) struct RunGoalArguments {
    #[command(flatten)]
    pub(crate) goal: GoalArguments,
    /// Treat the goal as one task, without a plan
    #[arg(long)]
    pub(crate) no_plan: bool,
    /// Maximum number of agents at the same time
    #[arg(long, value_name = "N", value_parser = number::<u32>(1..=64))]
    pub(crate) max_workers: Option<u32>,
    /// Allow agents to change and delete tests
    #[arg(long)]
    pub(crate) allow_test_edits: bool,
    /// Also fast-forward this branch to the result, if possible
    #[arg(long, value_name = "BRANCH", conflicts_with = "patch")]
    pub(crate) into: Option<String>,
    /// Write the result to a patch file instead of a branch
    #[arg(long, value_name = "FILE")]
    pub(crate) patch: Option<PathBuf>,
    /// Command line of the agent, after `--` [default: the first one installed]
    #[arg(last = true, value_name = "AGENT")]
    pub(crate) agent: Vec<String>,
}

#[derive(Debug, Args)]
#[command(after_help = PLAN_HELP)]
pub(crate) struct PlanArguments {
    #[command(flatten)]
    pub(crate) goal: GoalArguments,
    /// Only print what a run is expected to use and the limit that applies; with -v also the worst case
    #[arg(long)]
    pub(crate) bounds: bool,
    /// Number of tasks to assume for the worst case [default: planning.max_subtasks]
    #[arg(long, value_name = "N", requires = "bounds", value_parser = number::<u32>(1..=10_000))]
    pub(crate) tasks: Option<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct CacheArguments {
    #[command(flatten)]
    pub(crate) set: SetArguments,
    #[command(subcommand)]
    pub(crate) command: CacheCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CacheCommand {
    /// Print how many plans are cached
    Stats {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Delete the cached plans of this repository
    Clear,
}

#[derive(Debug, Args)]
pub(crate) struct CalibrateArguments {
    /// How often each built-in plan is scored
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = number::<u32>(2..=100))]
    pub(crate) samples: u32,
    /// Print the result as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) set: SetArguments,
}
