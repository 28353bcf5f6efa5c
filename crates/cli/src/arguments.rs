//! What can be typed. What it means is decided by the commands.

mod loop_arguments;
mod run_arguments;
mod runs;

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use fixpoint_decide::glob::PatternSet;

use crate::commands::decide::kinds::Kind;
use crate::commands::schema::SchemaName;
use crate::commands::simulate::SimulateArguments;
use crate::language::LangArgument;

pub(crate) use loop_arguments::{CheckArguments, EvidenceArguments, LoopArguments, ResumeArguments};
pub(crate) use run_arguments::{
    CacheArguments, CacheCommand, CalibrateArguments, GoalArguments, PlanArguments, RunGoalArguments,
};
pub(crate) use runs::{
    ApplyArguments, DiffArguments, DoctorArguments, GcArguments, HistoryArguments, InitArguments,
    ListArguments, LogsArguments, ReplayArguments, RmArguments, RunArguments, StopArguments, TrustArguments,
};

/// Accepts a number in a range; the error names the range.
pub(crate) fn number<T>(range: RangeInclusive<T>) -> impl Fn(&str) -> Result<T, String> + Clone
where
    T: FromStr + PartialOrd + Display + Clone,
{
    move |text| {
        let (least, most) = (range.start(), range.end());
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| format!("expected a number from {least} to {most}"))
    }
}

/// Accepts a glob of paths.
pub(crate) fn glob(text: &str) -> Result<String, String> {
    match PatternSet::new([text]).malformed().next() {
        Some(_) => Err(format!("`{text}` is not a glob: it has an unclosed bracket, or ends in a backslash")),
        None if text.is_empty() => Err("expected a glob, such as src/**".to_string()),
        None => Ok(text.to_string()),
    }
}

const AFTER_HELP: &str = "\
Getting started:
  fixpoint demo      watch a complete run: half a minute, no API key, no network
  fixpoint init      detect this project's checks, write .fixpoint/config.yaml
  fixpoint loop --until 'cargo test parser' --check 'cargo test' -- claude
  fixpoint explain   why the latest run ended, and what to do next

Exit codes:
  0  done                           5  needs a person
  1  internal error                 6  budget used up
  2  wrong usage or configuration   7  agent, model, git or disk unavailable
  3  not converging                 8  partly done
  4  plan rejected                130  stopped";

/// Run coding agents until your checks pass, and stop them when they no longer make progress
#[derive(Debug, Parser)]
#[command(name = "fixpoint", version, after_help = AFTER_HELP, arg_required_else_help = true)]
#[command(infer_subcommands = true, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) global: GlobalArguments,

    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Under a heading of their own, so that `--help` shows the options of a command first.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct GlobalArguments {
    /// Language of messages and reports [default: from the locale]
    #[arg(long, global = true, value_enum, value_name = "LANG")]
    pub(crate) lang: Option<LangArgument>,

    /// Print results and errors only
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,

    /// Print more: commands, times, the reasons of decisions
    #[arg(long, short, global = true)]
    pub(crate) verbose: bool,

    /// Use colors; `auto` means in a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_enum, default_value_t = ColorArgument::Auto, value_name = "WHEN")]
    pub(crate) color: ColorArgument,

    /// Never ask questions; print plain lines instead of the live view
    #[arg(long, global = true)]
    pub(crate) non_interactive: bool,

    /// Trust this repository for this command, without asking (for CI; also FIXPOINT_TRUST=1)
    #[arg(long, global = true)]
    pub(crate) trust: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ColorArgument {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Plan a goal, let agents work on the tasks, verify and merge their results
    Run(Box<RunGoalArguments>),
    /// Make a plan and have it reviewed, without executing it
    Plan(Box<PlanArguments>),
    /// Run one agent in a loop until the checks pass or it makes no more progress
    Loop(Box<LoopArguments>),
    /// Run the checks and compare the working tree with a commit
    Check(Box<CheckArguments>),
    /// Show what a run changed
    Diff(DiffArguments),
    /// Apply a run's result to the working tree
    Apply(ApplyArguments),
    /// Detect this project's checks and setup, and write .fixpoint/config.yaml
    Init(InitArguments),
    /// Show what this repository's files would run or hand over, and trust it
    Trust(TrustArguments),
    /// Check your setup: git, agents, models, configuration
    Doctor(DoctorArguments),
    /// List the runs of this repository
    List(ListArguments),
    /// Show the state of a run in a few lines
    Status(RunArguments),
    /// Show a run in detail: result, checks, diagnosis
    Show(RunArguments),
    /// Print the output of agents and checks
    Logs(LogsArguments),
    /// List the events of a run in order
    History(HistoryArguments),
    /// Explain why a run ended, and what to do next
    Explain(RunArguments),
    /// Continue a run that was stopped, paused or interrupted
    Resume(ResumeArguments),
    /// Stop a running run; `fixpoint resume` continues it
    Stop(StopArguments),
    /// Recompute the decisions of a recorded run, with the same or other settings
    Replay(ReplayArguments),
    /// Delete a finished run: its records, output and commits
    Rm(RmArguments),
    /// Delete old runs, workspaces and cached baselines
    Gc(GcArguments),
    /// Watch a complete run on a bundled sample (no API key, no network)
    Demo(DemoArguments),
    /// Compute one decision: JSON question on stdin, JSON answer on stdout
    Decide(DecideArguments),
    /// Measure how much the judge's scores of the same plan vary
    Calibrate(CalibrateArguments),
    /// Show or delete cached plans
    Cache(CacheArguments),
    /// Show or validate the configuration
    Config(ConfigArguments),
    /// Print a JSON Schema
    Schema(SchemaArguments),
    /// Simulate many tasks or runs with the current configuration
    Simulate(SimulateArguments),
    /// Print a shell completion script
    Completions { shell: Shell },
}

#[derive(Debug, Args)]
pub(crate) struct DemoArguments {
    /// Which demo to show; see --list [default: a complete run]
    pub(crate) scene: Option<String>,
    /// List the demos
    #[arg(long)]
    pub(crate) list: bool,
    /// Keep the sample repository and its run, and print where they are
    #[arg(long, conflicts_with = "list")]
    pub(crate) keep: bool,
    /// Print the results as JSON, one object per line
    #[arg(long)]
    pub(crate) json: bool,
}

const DECIDE_HELP: &str = "\
An array of questions gives an array of answers. Field names are snake_case;
camelCase is accepted too. `config` is optional and may contain only some keys.
Invalid input ends with exit code 2 and one line that names the field.

`decide failures --log` reads the output of a command as it is, of any length,
instead of a question. `--command` tells which runner wrote it, and whether it
was a pipe, whose exit code 0 says nothing.

Examples:
  fixpoint decide convergence --example | fixpoint decide convergence
  fixpoint decide refinement --example | fixpoint decide refinement --lang ja
  fixpoint decide failures --log build.log --command 'make test' --exit-code 2
  fixpoint schema convergence";

#[derive(Debug, Args)]
#[command(after_help = DECIDE_HELP)]
pub(crate) struct DecideArguments {
    /// Decision to compute
    #[arg(value_enum)]
    pub(crate) kind: Kind,
    /// Read the question from a file instead of standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) input: Option<PathBuf>,
    /// Print an example question and exit
    #[arg(long, conflicts_with = "input")]
    pub(crate) example: bool,
    /// Read the output of a command from a file, or from stdin with `-`, instead of a question (only `failures`)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["input", "example"])]
    pub(crate) log: Option<PathBuf>,
    /// Command that wrote the log
    #[arg(long, value_name = "CMD", requires = "log")]
    pub(crate) command: Option<String>,
    /// Exit code of the command [default: unknown]
    #[arg(long, value_name = "N", requires = "log", allow_negative_numbers = true)]
    pub(crate) exit_code: Option<i32>,
    /// Directory in which the command ran; paths are made relative to it
    #[arg(long, value_name = "DIR", requires = "log")]
    pub(crate) workdir: Option<PathBuf>,
    /// Indent the answer
    #[arg(long)]
    pub(crate) pretty: bool,
}

/// Part of every command that reads the configuration.
#[derive(Debug, Args)]
pub(crate) struct SetArguments {
    /// Override a setting, such as convergence.max_iterations=5; repeatable
    #[arg(long = "set", global = true, value_name = "KEY=VALUE")]
    pub(crate) sets: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ConfigArguments {
    #[command(flatten)]
    pub(crate) set: SetArguments,
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print the effective values
    Show {
        /// Key or section to print [default: all]
        key: Option<String>,
        /// Also print where each value was set
        #[arg(long)]
        origin: bool,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Check all configuration files and list every problem
    Validate {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Print the JSON Schema of the configuration files (for editors)
    Schema,
    /// Print a reference of all keys in Markdown
    Reference,
}

#[derive(Debug, Args)]
pub(crate) struct SchemaArguments {
    /// `config`, a document, or a decision: prints the schemas of its question and its answer
    #[arg(value_enum)]
    pub(crate) name: SchemaName,
}
