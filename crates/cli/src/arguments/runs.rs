//! What can be typed for commands that look at runs, and that keep house.

use clap::Args;

use super::SetArguments;

/// A run to look at.
#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// The run: the beginning of its name or its last letters, or `latest`
    #[arg(default_value = "latest")]
    pub(crate) run: String,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `fixpoint history`.
#[derive(Debug, Args)]
pub(crate) struct HistoryArguments {
    /// The run: the beginning of its name or its last letters, or `latest`
    #[arg(default_value = "latest")]
    pub(crate) run: String,
    /// The planning history instead, as JSON lines, of this type: plan, judgement, refinement, replan, reflection,
    /// revision, action, task, completion, or all
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) kind: Option<String>,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `fixpoint list`.
#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    /// So many of the youngest
    #[arg(long, short = 'n', default_value_t = 20, value_name = "N")]
    pub(crate) number: usize,
    /// As JSON, one object a line
    #[arg(long)]
    pub(crate) json: bool,
}

/// `fixpoint diff`.
#[derive(Debug, Args)]
pub(crate) struct DiffArguments {
    /// The run: the beginning of its name or its last letters, or `latest`
    #[arg(default_value = "latest")]
    pub(crate) run: String,
    /// Of this attempt instead of the result
    #[arg(long, value_name = "N")]
    pub(crate) attempt: Option<u32>,
    /// Changed lines per file instead of the changes
    #[arg(long, conflicts_with = "json")]
    pub(crate) stat: bool,
    /// As one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// `fixpoint apply`.
#[derive(Debug, Args)]
pub(crate) struct ApplyArguments {
    /// The run: the beginning of its name or its last letters, or `latest`
    #[arg(default_value = "latest")]
    pub(crate) run: String,
    /// Of this attempt, even though it is not done
    #[arg(long, value_name = "N")]
    pub(crate) attempt: Option<u32>,
    /// As one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// `fixpoint logs`.
#[derive(Debug, Args)]
pub(crate) struct LogsArguments {
    /// The run: the beginning of its name or its last letters, or `latest`
    #[arg(default_value = "latest")]
    pub(crate) run: String,
    /// Only of this attempt; 0 for the checks at the base
    #[arg(long, value_name = "N")]
    pub(crate) attempt: Option<u32>,
    /// Only what the agent printed
    #[arg(long, conflicts_with = "checks")]
    pub(crate) agent: bool,
    /// Only what the checks printed
    #[arg(long)]
    pub(crate) checks: bool,
    /// Only the names of the files, as JSON lines
    #[arg(long)]
    pub(crate) json: bool,
}

/// `fixpoint stop`.
#[derive(Debug, Args)]
pub(crate) struct StopArguments {
    /// The run: the beginning of its name or its last letters, or `latest`
    #[arg(default_value = "latest")]
    pub(crate) run: String,
    /// At once, without waiting for the agent to end in good order
    #[arg(long)]
    pub(crate) now: bool,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `fixpoint replay`.
#[derive(Debug, Args)]
pub(crate) struct ReplayArguments {
    /// The run: the beginning of its name or its last letters, or `latest`
    #[arg(default_value = "latest")]
    pub(crate) run: String,
    /// Other settings to decide with
    #[command(flatten)]
    pub(crate) set: SetArguments,
    /// As one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// `fixpoint gc`.
#[derive(Debug, Args)]
pub(crate) struct GcArguments {
    /// Older than so many days
    #[arg(long, default_value_t = 30, value_name = "N")]
    pub(crate) days: u64,
    /// Also runs whose work was never delivered
    #[arg(long)]
    pub(crate) force: bool,
    /// Only say what would be removed
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// As one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// `fixpoint init`.
#[derive(Debug, Args)]
pub(crate) struct InitArguments {
    /// Overwrite a configuration that is there
    #[arg(long)]
    pub(crate) force: bool,
    /// Print the configuration instead of writing it
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// What was found, as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// `fixpoint doctor`.
#[derive(Debug, Args)]
pub(crate) struct DoctorArguments {
    /// As one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
