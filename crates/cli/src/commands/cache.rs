//! `fixpoint cache`: the plans that are kept for goals to come.

use fixpoint_consult::PlanMemory;
use serde_json::json;

use crate::app_context::AppContext;
use crate::arguments::{CacheArguments, CacheCommand};
use crate::failure::Failure;
use crate::output::{Form, Output};
use crate::repository::Repository;

pub(crate) fn run(arguments: &CacheArguments, app: &AppContext, output: &mut Output) -> Result<(), Failure> {
    let settings = app.configuration(&arguments.set)?.settings.planning.cache;
    let directory = Repository::look(app)?.state.memory().join("plans");
    let memory = PlanMemory::new(&directory);
    match &arguments.command {
        CacheCommand::Stats { json } => {
            let statistics = memory.statistics(&settings);
            match Form::from(*json) {
                Form::Json => output.json(&json!({
                    "enabled": settings.enabled,
                    "plans": statistics.plans,
                    "expired": statistics.expired,
                    "bytes": statistics.bytes,
                    "max_entries": settings.max_entries,
                    "ttl": settings.ttl,
                    "directory": directory.to_string_lossy(),
                })),
                Form::Text => {
                    let state = if settings.enabled { "on" } else { "off" };
                    output.line(&format!(
                        "plan cache {state}: {} plans ({} too old), {} bytes, at most {} for {} s",
                        statistics.plans,
                        statistics.expired,
                        statistics.bytes,
                        settings.max_entries,
                        settings.ttl
                    ))?;
                    output.line(&format!("in {}", directory.display()))
                }
            }
        }
        CacheCommand::Clear => {
            let cleared = memory
                .clear()
                .map_err(|error| Failure::Unwritable { path: error.path, source: error.source })?;
            output.line(&format!("{cleared} plans removed"))
        }
    }
}
