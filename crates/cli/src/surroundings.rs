//! What the process finds around it. The only place that reads process globals; everything else is handed this.

use std::ffi::OsString;
use std::path::PathBuf;

use fixpoint_config::{Loaded, Sources, load, user_directory};
use fixpoint_vocabulary::Lang;

use crate::arguments::{Arguments, SetArguments};
use crate::failure::Failure;
use crate::language;

/// What the process finds around it.
#[derive(Debug)]
pub(crate) struct Surroundings {
    environment: Vec<(OsString, OsString)>,
    working_dir: Result<PathBuf, String>,
    /// In which language people are spoken to.
    pub(crate) lang: Lang,
}

impl Surroundings {
    pub(crate) fn of_this_process(arguments: &Arguments) -> Self {
        let environment: Vec<(OsString, OsString)> = std::env::vars_os().collect();
        Self {
            working_dir: std::env::current_dir().map_err(|error| error.to_string()),
            lang: language::choose(arguments.lang, &environment),
            environment,
        }
    }

    /// The effective configuration, seen from the working directory.
    pub(crate) fn configuration(&self, set: &SetArguments) -> Result<Loaded, Failure> {
        let working_dir = self.working_dir.clone().map_err(|error| {
            Failure::BadInput(format!(
                "the working directory cannot be used ({error}); change to another one"
            ))
        })?;
        let sources = Sources {
            user_dir: user_directory(&self.environment),
            working_dir,
            environment: self.environment.clone(),
            remote: None,
            sets: set.sets.clone(),
        };
        Ok(load(&sources)?)
    }
}
