//! Arguments of `loop`, `check` and `resume`.

use std::path::PathBuf;

use clap::Args;

use super::{RunArguments, SetArguments, glob, number};

const LOOP_HELP: &str = "\
The checks decide when it is done, whatever the agent says:
  --until CMD  a goal: must pass twice, and the tests that failed before must pass
  --check CMD  a guard: must show no new failures and no missing tests
Without --until and --check, the checks come from the configuration or are
detected as by `fixpoint init`, and the goal is to fix what fails now.

The agent works in a private copy of the repository that includes your
uncommitted changes. Your working tree, index, branches and stash stay as they
are. The result is a new branch, fixpoint/<run>.

The prompt replaces {prompt} or {prompt_file} in the agent's arguments. If there
is neither, the agent reads the prompt from stdin. Agents and checks see only a
few environment variables; --env passes others.

Examples:
  fixpoint loop --until 'cargo test parser' --check 'cargo test' -- claude
  fixpoint loop --until 'pytest tests/test_api.py' --prompt-file task.md -- codex
  fixpoint loop --until ./check.sh -- sh -c './agent.sh \"$FIXPOINT_PROMPT_FILE\"'

Exit codes: 0 done, 2 wrong usage or configuration, 3 not converging, 5 needs a
person, 6 budget used up, 7 agent, git or disk unavailable, 130 stopped";

const CHECK_HELP: &str = "\
Runs the checks on the working tree and on the base commit, and sorts the failures:
  new       fails now and did not fail before: the command exits with code 3
  known     failed before as well
  flaky     fails only sometimes
  vanished  passed before and is no longer run: exit code 3 as well

Examples:
  fixpoint check
  fixpoint check --base main --check 'cargo test'";

/// More than any attempt changes.
const MOST_CHANGES: u64 = 1_000_000_000;

/// Accepts the name of an environment variable.
fn variable_name(text: &str) -> Result<String, String> {
    if text.is_empty() || text.contains('=') {
        return Err("expected only the name of a variable; its value comes from the environment".to_string());
    }
    Ok(text.to_string())
}

/// Which checks, and what may change; shared by `loop` and `check`.
#[derive(Debug, Args)]
pub(crate) struct EvidenceArguments {
    /// Command that must show no new failures (a guard); repeatable
    #[arg(long = "check", value_name = "CMD")]
    pub(crate) checks: Vec<String>,
    /// Paths that may change, in .gitignore syntax from the repository root; repeatable
    #[arg(long = "allow", value_name = "GLOB", value_parser = glob)]
    pub(crate) allowed: Vec<String>,
    /// Paths that must not change, even if allowed; repeatable
    #[arg(long = "deny", value_name = "GLOB", value_parser = glob)]
    pub(crate) denied: Vec<String>,
    /// Maximum number of changed files
    #[arg(long, value_name = "N", value_parser = number(0..=MOST_CHANGES))]
    pub(crate) max_changed_files: Option<u64>,
    /// Maximum number of changed lines
    #[arg(long, value_name = "N", value_parser = number(0..=MOST_CHANGES))]
    pub(crate) max_changed_lines: Option<u64>,
    /// Time limit for each check given on the command line
    #[arg(long, value_name = "SECONDS", value_parser = number::<u32>(1..=86_400))]
    pub(crate) check_timeout: Option<u32>,
    /// Environment variable to pass to agents and checks; repeatable
    #[arg(long = "env", value_name = "NAME", value_parser = variable_name)]
    pub(crate) env: Vec<String>,
    /// Ignore cached baselines and replace them
    #[arg(long)]
    pub(crate) fresh: bool,
    #[command(flatten)]
    pub(crate) set: SetArguments,
}

#[derive(Debug, Args)]
#[command(after_help = LOOP_HELP)]
pub(crate) struct LoopArguments {
    /// Command that must pass (a goal); repeatable
    #[arg(long = "until", value_name = "CMD")]
    pub(crate) goals: Vec<String>,
    #[command(flatten)]
    pub(crate) evidence: EvidenceArguments,
    /// Maximum number of attempts
    #[arg(long, value_name = "N", value_parser = number::<u32>(1..=1000))]
    pub(crate) max_iterations: Option<u32>,
    /// Allow the agent to change and delete tests
    #[arg(long)]
    pub(crate) allow_test_edits: bool,
    /// Start from this commit instead of the working tree
    #[arg(long, value_name = "COMMIT")]
    pub(crate) base: Option<String>,
    /// Time limit for one attempt
    #[arg(long, value_name = "SECONDS", value_parser = number::<u32>(1..=604_800))]
    pub(crate) attempt_timeout: Option<u32>,
    /// End an attempt when the agent prints nothing for this long
    #[arg(long, value_name = "SECONDS", value_parser = number::<u32>(1..=604_800))]
    pub(crate) silence_timeout: Option<u32>,
    /// Limits, such as attempts=5,time=2h
    #[arg(long, value_name = "LIMITS")]
    pub(crate) budget: Option<String>,
    /// User whose settings apply, if user_config_api is enabled [default: local/$USER]
    #[arg(long = "for", value_name = "PLATFORM/NAME")]
    pub(crate) person: Option<String>,
    /// Prompt: what the agent should do
    #[arg(long, value_name = "TEXT", conflicts_with = "prompt_file")]
    pub(crate) prompt: Option<String>,
    /// Read the prompt from a file, or from stdin with `-`
    #[arg(long, value_name = "FILE")]
    pub(crate) prompt_file: Option<PathBuf>,
    /// Print the result as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Command line of the agent, after `--` [default: the first one installed]
    #[arg(last = true, value_name = "AGENT")]
    pub(crate) agent: Vec<String>,
}

#[derive(Debug, Args)]
#[command(after_help = CHECK_HELP)]
pub(crate) struct CheckArguments {
    #[command(flatten)]
    pub(crate) evidence: EvidenceArguments,
    /// Commit to compare with
    #[arg(long, value_name = "COMMIT", default_value = "HEAD")]
    pub(crate) base: String,
    /// Allow changed and deleted tests
    #[arg(long)]
    pub(crate) allow_test_edits: bool,
    /// Print the result as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ResumeArguments {
    /// Retry this blocked task, with its attempts counted from zero; repeatable
    #[arg(long = "task", value_name = "TASK")]
    pub(crate) tasks: Vec<String>,
    /// Tell the planner and the agents something; repeatable
    #[arg(long = "say", value_name = "TEXT")]
    pub(crate) said: Vec<String>,
    /// Raise the limits, such as attempts=+3, time=+30m or +2usd
    #[arg(long, value_name = "MORE")]
    pub(crate) budget: Option<String>,
    /// Cut damaged records off the journal; the cut bytes are saved to a file
    #[arg(long)]
    pub(crate) repair: bool,
    #[command(flatten)]
    pub(crate) target: RunArguments,
}
