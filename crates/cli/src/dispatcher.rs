//! Routes each command of a run: questions to models and people, everything else to the workspace executor.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use fixpoint_consult::{ModelsByRole, QuestionHandler};
use fixpoint_execute::{CommandRunner, ExecutionContext};
use fixpoint_models::{ModelEnvironment, Network, NetworkLimits, ProgramRunner, Resolver, SetupError};
use fixpoint_ports::{Cancel, Processes};
use fixpoint_vocabulary::ask::Role;
use fixpoint_vocabulary::prepared::PreparedCommand;
use fixpoint_vocabulary::settings::ModelSettings;
use fixpoint_vocabulary::work::{CommandEnd, CommandId};

use crate::app_context::AppContext;
use crate::environment;

pub(crate) struct Dispatcher {
    pub(crate) context: ExecutionContext,
    /// `None` for runs without questions.
    pub(crate) questions: Option<QuestionHandler>,
}

impl CommandRunner for Dispatcher {
    fn run(&self, id: CommandId, command: &PreparedCommand, cancel: &Cancel) -> CommandEnd {
        let answered = self.questions.as_ref().and_then(|questions| questions.perform(id, command, cancel));
        answered.unwrap_or_else(|| self.context.run(id, command, cancel))
    }
}

/// What models are built from. Scripted models store how far they got in the directory `counts`.
pub(crate) fn model_environment(
    app: &AppContext,
    settings: &ModelSettings,
    processes: Arc<dyn Processes>,
    counts: Option<&Path>,
) -> ModelEnvironment {
    let variables = app.variables();
    let limits = NetworkLimits::for_deadline(Duration::from_secs(settings.timeout.into()));
    let network = Arc::new(Network::new(limits, &variables));
    let programs =
        ProgramRunner { processes, environment: environment::of_agent(app.environment(), &[], "claude") };
    ModelEnvironment {
        programs: Some(programs),
        script_counts: counts.map(Path::to_path_buf),
        ..ModelEnvironment::new(variables, network)
    }
}

/// The model of every role that asks questions, and the settings with `auto` replaced by the model that was found.
pub(crate) fn models_by_role(
    settings: &ModelSettings,
    environment: &ModelEnvironment,
) -> Result<(ModelsByRole, ModelSettings), SetupError> {
    let mut resolver = Resolver::new(settings, environment);
    let mut resolved = settings.clone();
    let mut models = ModelsByRole::new();
    let names = [
        (Role::Planner, &mut resolved.planner),
        (Role::Judge, &mut resolved.judge),
        (Role::Reflector, &mut resolved.reflector),
    ];
    for (role, name) in names {
        let model = resolver.model(name)?;
        if name == "auto" {
            model.name().clone_into(name);
        }
        models.insert(role, model);
    }
    Ok((models, resolved))
}
