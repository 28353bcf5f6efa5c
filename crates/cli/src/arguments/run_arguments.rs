//! What can be typed for whole runs: `run`, `plan`, `cache`, `calibrate`.

use std::path::PathBuf;

use clap::{Args, Subcommand, value_parser};

use super::{EvidenceArguments, SetArguments};

const RUN_HELP: &str = "\
The goal is understood, cut into tasks, and the plan is judged and refined before anything is changed. Agents
then work on the tasks in private copies of the repository, several at once where their scopes do not overlap.
Each result is judged by its checks and by a model; what cannot work is planned anew. In the end results are
brought together, checked again, and left as a branch `fixpoint/<run>`.

Models are found by themselves (keys in the environment, local servers, an installed agent); `fixpoint doctor`
says which. The agent is named after `--`, or found.

Examples:
  fixpoint run 'make the parser accept comments at the end of a line'
  fixpoint run --file goal.md --budget usd=2,time=2h -- claude
  fixpoint run 'rename the flag --colour to --color everywhere' --until 'cargo test' --into main
  fixpoint plan --bounds 'split the module into two'

Exit codes: 0 done, 3 not converging, 4 plan rejected, 5 needs a person, 6 budget, 7 something is unavailable,
8 partly done, 130 stopped.";

/// The goal, shared by `run` and `plan`.
#[derive(Debug, Args)]
pub(crate) struct GoalArguments {
    /// The goal, in your words
    #[arg(conflicts_with = "file", required_unless_present = "file")]
    pub(crate) goal: Option<String>,
    /// The goal, in a file; `-` for standard input
    #[arg(long, short = 'f', value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// A goal for the whole: a command that must pass in the end; may be repeated
    #[arg(long = "until", value_name = "CMD")]
    pub(crate) goals: Vec<String>,
    /// Guards, scope and settings
    #[command(flatten)]
    pub(crate) evidence: EvidenceArguments,
    /// What may be spent, such as `usd=2,calls=100,attempts=20,time=2h`
    #[arg(long, value_name = "LIMITS")]
    pub(crate) budget: Option<String>,
    /// Begin with this commit instead of the working tree as it is
    #[arg(long, value_name = "COMMIT")]
    pub(crate) base: Option<String>,
    /// Whom the run is for, where `user_config_api` is on [default: local/$USER]
    #[arg(long = "for", value_name = "PLATFORM/NAME")]
    pub(crate) person: Option<String>,
    /// The result as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// `fixpoint run`.
#[derive(Debug, Args)]
#[command(after_help = RUN_HELP)]
pub(crate) struct RunGoalArguments {
    /// The goal
    #[command(flatten)]
    pub(crate) goal: GoalArguments,
    /// Take the goal as one task, without a plan
    #[arg(long)]
    pub(crate) no_plan: bool,
    /// Agents at the same time, at most
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=64))]
    pub(crate) max_workers: Option<u32>,
    /// Tasks may change and remove tests
    #[arg(long)]
    pub(crate) allow_test_edits: bool,
    /// Fast-forward this branch to the result, where that is possible
    #[arg(long, value_name = "BRANCH", conflicts_with = "patch")]
    pub(crate) into: Option<String>,
    /// Write the result as a patch instead of making a branch
    #[arg(long, value_name = "FILE")]
    pub(crate) patch: Option<PathBuf>,
    /// The agent and its arguments, after `--`
    #[arg(last = true, value_name = "AGENT")]
    pub(crate) agent: Vec<String>,
}

/// `fixpoint plan`.
#[derive(Debug, Args)]
pub(crate) struct PlanArguments {
    /// The goal
    #[command(flatten)]
    pub(crate) goal: GoalArguments,
    /// The worst case instead: model calls, attempts, tokens and money that a run can never exceed
    #[arg(long)]
    pub(crate) bounds: bool,
    /// The tasks the plan is taken to have, for --bounds
    #[arg(long, value_name = "N", requires = "bounds", value_parser = value_parser!(u32).range(1..=10_000))]
    pub(crate) tasks: Option<u32>,
}

/// `fixpoint cache`.
#[derive(Debug, Args)]
pub(crate) struct CacheArguments {
    /// Settings for this call
    #[command(flatten)]
    pub(crate) set: SetArguments,
    /// What to do with it
    #[command(subcommand)]
    pub(crate) command: CacheCommand,
}

/// The commands of `fixpoint cache`.
#[derive(Debug, Subcommand)]
pub(crate) enum CacheCommand {
    /// How many plans are kept
    Stats {
        /// As one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Let go of all kept plans of this repository
    Clear,
}

/// `fixpoint calibrate`.
#[derive(Debug, Args)]
pub(crate) struct CalibrateArguments {
    /// Scores of each of the fixed plans
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = value_parser!(u32).range(2..=100))]
    pub(crate) samples: u32,
    /// The result as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Settings for this call
    #[command(flatten)]
    pub(crate) set: SetArguments,
}
