//! What can be typed for commands that work: `loop`, `check`, `resume`.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, value_parser};

use super::SetArguments;

const LOOP_HELP: &str = "\
The agent's prompt replaces {prompt} or {prompt_file} in its arguments; where neither is named it is on
its standard input. The agent works in a private copy of the repository, uncommitted work included. Your
working tree, index, branches and stash are not touched; the result is a branch `fixpoint/<run>`.

Whether it is done is decided by the checks, whatever the agent says:
  --until CMD   a goal: must pass, twice, and the tests that failed before must be seen passing
  --check CMD   a guard: must show nothing failing that did not fail before, and no test missing
Without either, the checks of the configuration are used, or those `fixpoint init` would find, and what
fails now is the goal.

Agents and checks see only a list of environment variables; name others with --env.

Examples:
  fixpoint loop --until 'cargo test parser' --check 'cargo test' --allow 'src/**' -- claude
  fixpoint loop --until 'pytest tests/test_api.py' --prompt-file task.md -- codex
  fixpoint loop --until ./check.sh -- sh -c './agent.sh \"$FIXPOINT_PROMPT_FILE\"'

Exit codes: 0 done, 3 not converging, 5 waits for a person, 6 budget, 7 something is unavailable, 130 stopped.";

/// Which checks, and what may change; shared by `loop` and `check`.
#[derive(Debug, Args)]
pub(crate) struct EvidenceArguments {
    /// A guard: a command that must show nothing new; may be repeated
    #[arg(long = "check", value_name = "CMD")]
    pub(crate) checks: Vec<String>,
    /// Paths that may change, as in .gitignore, from the root of the repository; may be repeated
    #[arg(long = "allow", value_name = "GLOB", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) allowed: Vec<String>,
    /// Paths that may not change, whatever is allowed; may be repeated
    #[arg(long = "deny", value_name = "GLOB", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) denied: Vec<String>,
    /// Files that may change, at most
    #[arg(long, value_name = "N")]
    pub(crate) max_changed_files: Option<u64>,
    /// Lines that may change, at most
    #[arg(long, value_name = "N")]
    pub(crate) max_changed_lines: Option<u64>,
    /// Seconds for each check named here
    #[arg(long, value_name = "S", value_parser = value_parser!(u32).range(1..=86_400))]
    pub(crate) check_timeout: Option<u32>,
    /// An environment variable that agents and checks may see; may be repeated
    #[arg(long = "env", value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) env: Vec<String>,
    /// Settings for this call
    #[command(flatten)]
    pub(crate) set: SetArguments,
}

/// `fixpoint loop`.
#[derive(Debug, Args)]
#[command(after_help = LOOP_HELP)]
pub(crate) struct LoopArguments {
    /// A goal: a command that must pass; may be repeated
    #[arg(long = "until", value_name = "CMD")]
    pub(crate) goals: Vec<String>,
    /// Guards, scope and settings
    #[command(flatten)]
    pub(crate) evidence: EvidenceArguments,
    /// Attempts, at most
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=1000))]
    pub(crate) max_iterations: Option<u32>,
    /// The task may change and remove tests
    #[arg(long)]
    pub(crate) allow_test_edits: bool,
    /// Begin with this commit instead of the working tree as it is
    #[arg(long, value_name = "COMMIT")]
    pub(crate) base: Option<String>,
    /// Seconds for one attempt of the agent
    #[arg(long, value_name = "S", value_parser = value_parser!(u32).range(1..=604_800))]
    pub(crate) attempt_timeout: Option<u32>,
    /// Seconds an agent may be silent
    #[arg(long, value_name = "S", value_parser = value_parser!(u32).range(1..=604_800))]
    pub(crate) silence_timeout: Option<u32>,
    /// What may be spent, such as `attempts=5,time=2h`
    #[arg(long, value_name = "LIMITS")]
    pub(crate) budget: Option<String>,
    /// What is to be done
    #[arg(long, value_name = "TEXT", conflicts_with = "prompt_file")]
    pub(crate) prompt: Option<String>,
    /// What is to be done, in a file; `-` for standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) prompt_file: Option<PathBuf>,
    /// The result as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// The agent and its arguments, after `--`
    #[arg(last = true, value_name = "AGENT")]
    pub(crate) agent: Vec<String>,
}

/// `fixpoint check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// Guards, scope and settings
    #[command(flatten)]
    pub(crate) evidence: EvidenceArguments,
    /// Compare with this commit
    #[arg(long, value_name = "COMMIT", default_value = "HEAD")]
    pub(crate) base: String,
    /// The task may change and remove tests
    #[arg(long)]
    pub(crate) allow_test_edits: bool,
    /// The result as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// `fixpoint resume`.
#[derive(Debug, Args)]
pub(crate) struct ResumeArguments {
    /// The run: the beginning of its name or its last letters, or `latest`
    #[arg(default_value = "latest")]
    pub(crate) run: String,
    /// A blocked task that may try again, with its counts at zero; may be repeated
    #[arg(long = "task", value_name = "TASK")]
    pub(crate) tasks: Vec<String>,
    /// Something the planner and the agents should know; may be repeated
    #[arg(long = "say", value_name = "TEXT")]
    pub(crate) said: Vec<String>,
    /// What may be spent beyond the limits, such as `attempts=+3`, `time=+30m` or `+2usd`
    #[arg(long, value_name = "MORE")]
    pub(crate) budget: Option<String>,
    /// Cut damaged records off the journal, keeping a copy of the bytes
    #[arg(long)]
    pub(crate) repair: bool,
    /// The result as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
