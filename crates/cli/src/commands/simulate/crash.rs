//! `fixpoint simulate crash`: reproduces the power loss that a failed test names.

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use fixpoint_simulate::{Agent, Crash, Project, Residue, World, crash_and_compare};
use fixpoint_vocabulary::counted;
use serde_json::json;

use crate::failure::Failure;
use crate::output::Output;

#[derive(Debug, Args)]
pub(crate) struct CrashArguments {
    /// Seed of the task
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Behaviour of the agent
    #[arg(long, value_parser = PossibleValuesParser::new(Agent::ALL.map(Agent::name)))]
    agent: String,
    /// Behaviour of the tests and the machine
    #[arg(long, value_parser = PossibleValuesParser::new(World::ALL.map(World::name)))]
    world: String,
    /// Lose power after this many bytes were written
    #[arg(long, value_name = "BYTES")]
    after_bytes: usize,
    /// What the interrupted write leaves on the disk
    #[arg(long, value_enum, default_value_t = ResidueArgument::Short)]
    residue: ResidueArgument,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ResidueArgument {
    /// Only the bytes that were written
    Short,
    /// The bytes that were written, then zeros up to the full length
    Zeros,
}

impl CrashArguments {
    /// The task and the crash that are meant; `None` for a name that the parser should not have let through.
    pub(super) fn meant(&self) -> Option<(Project, Crash)> {
        let (agent, world) = (Agent::from_name(&self.agent)?, World::from_name(&self.world)?);
        let residue = match self.residue {
            ResidueArgument::Short => Residue::Short,
            ResidueArgument::Zeros => Residue::Zeros,
        };
        Some((Project::new(self.seed, agent, world), Crash { after_bytes: self.after_bytes, residue }))
    }
}

pub(super) fn run(arguments: &CrashArguments, output: &mut Output) -> Result<(), Failure> {
    let unknown = || Failure::BadInput("unknown agent or world".to_string());
    let (project, crash) = arguments.meant().ok_or_else(unknown)?;
    let compared = crash_and_compare(&project, crash);
    let (finished, disagreement) = compared.map_err(|error| Failure::Internal(error.to_string()))?;
    let (cause, attempts) = (finished.ending.cause(), finished.attempts);
    let words = disagreement.as_ref().map(ToString::to_string);
    if arguments.json {
        output.json(
            &json!({ "agrees": words.is_none(), "difference": words, "cause": cause, "attempts": attempts }),
        )?;
    } else if words.is_none() {
        let cause = serde_json::to_value(cause)?;
        let cause = cause.as_str().unwrap_or_default();
        let attempts = counted(attempts, "attempt");
        output.line(&format!("same result with and without the power loss: {cause} after {attempts}"))?;
    }
    match words {
        Some(words) => {
            Err(Failure::Internal(format!("the power loss changed the result of the task: {words}")))
        }
        None => Ok(()),
    }
}
