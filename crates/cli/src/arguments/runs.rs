//! Arguments of the commands that look at runs, and of `gc`, `init`, `trust` and `doctor`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;

use super::{SetArguments, number};

/// Values of `history --type`.
const HISTORY_TYPES: &str = "all plan judgement refinement replan reflection revision action task completion";

/// Shared by the commands that are about one run.
#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// Run ID, its beginning or its last letters, or `latest`
    #[arg(default_value = "latest")]
    pub(crate) run: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct HistoryArguments {
    /// Print the planning history as JSON lines
    #[arg(long = "type", value_name = "TYPE", value_parser = PossibleValuesParser::new(HISTORY_TYPES.split(' ')))]
    pub(crate) kind: Option<String>,
    #[command(flatten)]
    pub(crate) target: RunArguments,
}

#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    /// How many of the latest runs to list
    #[arg(long, short = 'n', default_value_t = 20, value_name = "N", value_parser = number::<usize>(1..=1_000_000))]
    pub(crate) number: usize,
    /// Print JSON, one object per line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArguments {
    /// Show this attempt instead of the result
    #[arg(long, value_name = "N", value_parser = number::<u32>(0..=1_000_000))]
    pub(crate) attempt: Option<u32>,
    /// Show only the number of changed lines per file
    #[arg(long, conflicts_with = "json")]
    pub(crate) stat: bool,
    #[command(flatten)]
    pub(crate) target: RunArguments,
}

#[derive(Debug, Args)]
pub(crate) struct ApplyArguments {
    /// Apply this attempt, even if it does not pass the checks
    #[arg(long, value_name = "N", value_parser = number::<u32>(0..=1_000_000))]
    pub(crate) attempt: Option<u32>,
    #[command(flatten)]
    pub(crate) target: RunArguments,
}

#[derive(Debug, Args)]
pub(crate) struct LogsArguments {
    /// Only this attempt; 0 for the checks before the first one
    #[arg(long, value_name = "N", value_parser = number::<u32>(0..=1_000_000))]
    pub(crate) attempt: Option<u32>,
    /// Only the output of the agent
    #[arg(long, conflicts_with = "checks")]
    pub(crate) agent: bool,
    /// Only the output of the checks
    #[arg(long)]
    pub(crate) checks: bool,
    /// Print the output unchanged, with its control sequences; only to a file or a pipe
    #[arg(long, conflicts_with_all = ["follow", "json"])]
    pub(crate) raw: bool,
    /// Print new output as it comes, until the run ends; Ctrl-C does not stop the run
    #[arg(long, short)]
    pub(crate) follow: bool,
    #[command(flatten)]
    pub(crate) target: RunArguments,
}

#[derive(Debug, Args)]
pub(crate) struct StopArguments {
    /// Kill the agent immediately instead of asking it to end
    #[arg(long)]
    pub(crate) now: bool,
    #[command(flatten)]
    pub(crate) target: RunArguments,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArguments {
    #[command(flatten)]
    pub(crate) set: SetArguments,
    #[command(flatten)]
    pub(crate) target: RunArguments,
}

#[derive(Debug, Args)]
pub(crate) struct RmArguments {
    /// Run ID, its beginning or its last letters, or `latest`
    pub(crate) run: String,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Also delete a result that was not delivered, or a run that could be resumed
    #[arg(long)]
    pub(crate) force: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct GcArguments {
    /// Delete what is older than this
    #[arg(long, default_value_t = 30, value_name = "DAYS", value_parser = number::<u64>(0..=1_000_000))]
    pub(crate) days: u64,
    /// Also delete runs with results that were never delivered
    #[arg(long)]
    pub(crate) force: bool,
    /// Only print what would be deleted
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InitArguments {
    /// Overwrite an existing configuration
    #[arg(long)]
    pub(crate) force: bool,
    /// Print the configuration instead of writing it
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Run the setup and each check once in a private workspace of HEAD; leave out the checks that do not work
    #[arg(long)]
    pub(crate) verify: bool,
    /// Print what was detected as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

const TRUST_HELP: &str = "\
Checks, setup commands, an agent and settings that come from the files of a
repository are used only after you have trusted it. You are asked when a command
needs it; what you type yourself needs no trust. After a change of the
configuration you are asked again.

Examples:
  fixpoint trust             show what this repository asks for, and ask
  fixpoint trust --yes       trust it without a question
  fixpoint check --trust     trust it for this command only, as in CI
  fixpoint trust --revoke    ask again from now on";

#[derive(Debug, Args)]
#[command(after_help = TRUST_HELP)]
pub(crate) struct TrustArguments {
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// List the repositories you trust
    #[arg(long, conflicts_with_all = ["yes", "revoke"])]
    pub(crate) list: bool,
    /// No longer trust a repository [default: this one]
    #[arg(long, value_name = "PATH", num_args = 0..=1, conflicts_with = "yes")]
    pub(crate) revoke: Option<Option<PathBuf>>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArguments {
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
