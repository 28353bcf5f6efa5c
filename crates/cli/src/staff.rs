//! Everybody who performs the errands of a run: agents and checks on the one hand, models and people on the other.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use fixpoint_consult::{Advisers, Consultant};
use fixpoint_execute::{Duty, Performs};
use fixpoint_models::{ModelEnvironment, Network, NetworkLimits, ProgramRunner, Resolver, SetupError};
use fixpoint_ports::{Cancel, Processes};
use fixpoint_vocabulary::ask::Role;
use fixpoint_vocabulary::prepared::PreparedCommand;
use fixpoint_vocabulary::settings::ModelSettings;
use fixpoint_vocabulary::work::{CommandEnd, CommandId};

use crate::app_context::AppContext;
use crate::environment;

/// Everybody who performs the errands of a run.
pub(crate) struct Staff {
    pub(crate) duty: Duty,
    pub(crate) consultant: Option<Consultant>,
}

impl Performs for Staff {
    fn perform(&self, id: CommandId, command: &PreparedCommand, cancel: &Cancel) -> CommandEnd {
        let consulted =
            self.consultant.as_ref().and_then(|consultant| consultant.perform(id, command, cancel));
        consulted.unwrap_or_else(|| self.duty.perform(id, command, cancel))
    }
}

/// What models are made from, as this process finds it.
pub(crate) fn model_surroundings(
    app: &AppContext,
    settings: &ModelSettings,
    processes: Arc<dyn Processes>,
    counts: Option<&Path>,
) -> ModelEnvironment {
    let environment: BTreeMap<String, String> = app
        .environment()
        .iter()
        .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()))
        .collect();
    let limits = NetworkLimits::for_deadline(Duration::from_secs(settings.timeout.into()));
    let network = Arc::new(Network::new(limits, &environment));
    let programs =
        ProgramRunner { processes, environment: environment::of_agent(app.environment(), &[], "claude") };
    ModelEnvironment {
        programs: Some(programs),
        script_counts: counts.map(Path::to_path_buf),
        ..ModelEnvironment::new(environment, network)
    }
}

/// The model of every role that asks questions, and the settings with the names that were found.
pub(crate) fn advisers(
    settings: &ModelSettings,
    around: &ModelEnvironment,
) -> Result<(Advisers, ModelSettings), SetupError> {
    let mut resolver = Resolver::new(settings, around);
    let mut named = settings.clone();
    let mut advisers = Advisers::new();
    for role in [Role::Planner, Role::Judge, Role::Reflector] {
        let name = match role {
            Role::Planner => &mut named.planner,
            Role::Judge => &mut named.judge,
            Role::Reflector => &mut named.reflector,
            Role::Worker => continue,
        };
        let model = resolver.model(name)?;
        if name == "auto" {
            model.name().clone_into(name);
        }
        advisers.insert(role, model);
    }
    Ok((advisers, named))
}
