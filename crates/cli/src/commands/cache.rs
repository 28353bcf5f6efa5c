//! `fixpoint cache`: the plan cache.

use fixpoint_consult::PlanCache;
use fixpoint_vocabulary::counted;
use serde_json::json;

use crate::app_context::AppContext;
use crate::arguments::{CacheArguments, CacheCommand};
use crate::failure::Failure;
use crate::language::say;
use crate::output::{Form, Output};
use crate::repository::Repository;

pub(crate) fn run(arguments: &CacheArguments, app: &AppContext, output: &mut Output) -> Result<(), Failure> {
    let settings = app.configuration(&arguments.set)?.settings.planning.cache;
    let directory = Repository::look(app)?.state.memory().join("plans");
    let cache = PlanCache::new(&directory);
    match &arguments.command {
        CacheCommand::Stats { json } => {
            let stats = cache.stats(&settings);
            match Form::from(*json) {
                Form::Json => output.json(&json!({
                    "enabled": settings.enabled,
                    "plans": stats.plans,
                    "expired": stats.expired,
                    "bytes": stats.bytes,
                    "max_entries": settings.max_entries,
                    "ttl": settings.ttl,
                    "directory": directory.to_string_lossy(),
                })),
                Form::Text => {
                    let state = if settings.enabled { "on" } else { "off" };
                    output.line(&format!(
                        "plan cache {state}: {} ({} expired), {} bytes; limits: {}, {} s",
                        counted(stats.plans, "plan"),
                        stats.expired,
                        stats.bytes,
                        counted(settings.max_entries, "plan"),
                        settings.ttl
                    ))?;
                    output.line(&format!("directory: {}", directory.display()))
                }
            }
        }
        CacheCommand::Clear => {
            let removed = cache
                .clear()
                .map_err(|error| Failure::Unwritable { path: error.path, source: error.source })?;
            output.line(&say(
                app.lang,
                format!("{} removed", counted(removed, "plan")),
                format!("計画{removed}件を削除しました"),
            ))
        }
    }
}
