//! What can be typed. What it means is decided by the commands.

mod loop_arguments;
mod run_arguments;
mod runs;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

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
    ListArguments, LogsArguments, ReplayArguments, RunArguments, StopArguments,
};

const AFTER_HELP: &str = "\
Begin with:
  fixpoint demo                    watch a whole run on a bundled sample: half a minute, no key, no network
  fixpoint init                    find this project's checks and write them down
  fixpoint loop --until 'cargo test new_feature' --check 'cargo test' --allow 'src/**' -- AGENT
  fixpoint explain                 why the latest run ended as it did, and what to do next

Exit codes: 0 done, 1 internal error, 2 usage or configuration, 3 not converging, 4 plan rejected,
5 needs a person, 6 budget, 7 something needed is unavailable, 8 partly done, 130 stopped.";

/// Coding agents that converge.
///
/// Fixpoint judges by evidence whether coding agents are getting anywhere, and always stops: done with proof, or
/// with a cause.
#[derive(Debug, Parser)]
#[command(name = "fixpoint", version, after_help = AFTER_HELP, arg_required_else_help = true)]
#[command(infer_subcommands = true, max_term_width = 100)]
pub(crate) struct Arguments {
    /// The language of reasons and reports [default: that of the locale]
    #[arg(long, global = true, value_enum, value_name = "LANG")]
    pub(crate) lang: Option<LangArgument>,

    /// Only results and errors
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,

    /// When to use colour; never where NO_COLOR is set
    #[arg(long, global = true, value_enum, default_value_t = ColorArgument::Auto, value_name = "WHEN")]
    pub(crate) color: ColorArgument,

    /// Never ask and never draw: lines only, also in a terminal
    #[arg(long, global = true)]
    pub(crate) non_interactive: bool,

    /// What to do
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ColorArgument {
    /// In a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Reach a goal: plan, judge, carry out with agents, check, bring together
    Run(Box<RunGoalArguments>),
    /// Make, judge and refine a plan; or compute the worst case of a run
    Plan(Box<PlanArguments>),
    /// Put an agent into a loop that ends: done with proof, or stopped with a cause
    Loop(Box<LoopArguments>),
    /// Compare the working tree with a commit: what is new, known, flaky, vanished
    Check(Box<CheckArguments>),
    /// Show what a run changed
    Diff(DiffArguments),
    /// Bring a run's result into the working tree
    Apply(ApplyArguments),
    /// Find this project's checks and set-up, and write `.fixpoint/config.yaml`
    Init(InitArguments),
    /// Look whether everything that is needed is here
    Doctor(DoctorArguments),
    /// List the runs of this repository
    List(ListArguments),
    /// Show how a run stands
    Status(RunArguments),
    /// Show everything about a run
    Show(RunArguments),
    /// Show what agents and checks printed
    Logs(LogsArguments),
    /// Show what happened in a run, in order
    History(HistoryArguments),
    /// Say why a run ended as it did, and what to do next
    Explain(RunArguments),
    /// Go on with a run that was stopped, paused or interrupted
    Resume(ResumeArguments),
    /// Stop a run that is under way; its state is kept
    Stop(StopArguments),
    /// Decide a recorded run again: identical, or where other settings would have decided otherwise
    Replay(ReplayArguments),
    /// Remove old runs and workspaces
    Gc(GcArguments),
    /// Watch a whole run on a bundled sample, live: no key, no network, nothing left behind
    Demo(DemoArguments),
    /// Ask one pure decision: a question in JSON on standard input, the answer in JSON on standard output
    Decide(DecideArguments),
    /// Measure how much the judge's scores of the same plan scatter
    Calibrate(CalibrateArguments),
    /// Show or clear the plans that are kept for goals to come
    Cache(CacheArguments),
    /// Show or check the configuration
    Config(ConfigArguments),
    /// Print a JSON Schema
    Schema(SchemaArguments),
    /// Simulate what a configuration would do
    Simulate(SimulateArguments),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
}

/// `fixpoint demo`.
#[derive(Debug, Args)]
pub(crate) struct DemoArguments {
    /// Another demo than the whole run; see `--list`
    pub(crate) scene: Option<String>,
    /// List the demos
    #[arg(long)]
    pub(crate) list: bool,
    /// Keep the sample repository and the run, and say where they are
    #[arg(long, conflicts_with = "list")]
    pub(crate) keep: bool,
    /// Results as JSON instead, one object a line
    #[arg(long)]
    pub(crate) json: bool,
}

const DECIDE_HELP: &str = "\
An array of questions gives an array of answers. Field names are snake_case; camelCase is
accepted. A `config` may be left out or hold only some keys. Bad input: exit code 2 and one line
that names the field.

Try:
  fixpoint decide convergence --example | fixpoint decide convergence
  fixpoint decide refinement --example | fixpoint decide refinement --lang ja
  fixpoint schema convergence";

/// `fixpoint decide`.
#[derive(Debug, Args)]
#[command(after_help = DECIDE_HELP)]
pub(crate) struct DecideArguments {
    /// Which decision
    #[arg(value_enum)]
    pub(crate) kind: Kind,
    /// Read the question from a file instead of standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) input: Option<PathBuf>,
    /// Print an example question instead
    #[arg(long, conflicts_with = "input")]
    pub(crate) example: bool,
    /// Print the answer over several lines
    #[arg(long)]
    pub(crate) pretty: bool,
}

/// Settings given for one call; part of every command that reads the configuration.
#[derive(Debug, Args)]
pub(crate) struct SetArguments {
    /// A setting for this call, such as `--set convergence.max_iterations=5`; may be repeated
    #[arg(long = "set", global = true, value_name = "KEY=VALUE")]
    pub(crate) sets: Vec<String>,
}

/// `fixpoint config`.
#[derive(Debug, Args)]
pub(crate) struct ConfigArguments {
    /// Settings for this call
    #[command(flatten)]
    pub(crate) set: SetArguments,
    /// What to do with it
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

/// The commands of `fixpoint config`.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print every effective value
    Show {
        /// Only this key, or the keys of this section
        key: Option<String>,
        /// Also where each value was set
        #[arg(long)]
        origin: bool,
        /// As one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Check every layer and list all that is wrong
    Validate {
        /// As one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Print the JSON Schema of the configuration files, for editors
    Schema,
    /// Print the reference of all keys as Markdown
    Reference,
}

/// `fixpoint schema`.
#[derive(Debug, Args)]
pub(crate) struct SchemaArguments {
    /// `config`, or a decision, whose schemas of question and answer are printed
    #[arg(value_enum)]
    pub(crate) name: SchemaName,
}
