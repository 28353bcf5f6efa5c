//! What the process finds around it. The only place that reads process globals; everything else is handed this.

use std::path::PathBuf;

use fixpoint_config::{Loaded, Sources, load, user_directory};
use fixpoint_vocabulary::Lang;

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::language;

/// What the process finds around it.
#[derive(Debug)]
pub(crate) struct Surroundings {
    /// The environment, as far as it is text: a setting cannot be anything else.
    environment: Vec<(String, String)>,
    working_dir: Result<PathBuf, String>,
    sets: Vec<String>,
    /// In which language people are spoken to.
    pub(crate) lang: Lang,
}

impl Surroundings {
    pub(crate) fn of_this_process(arguments: &Arguments) -> Self {
        let text = |(key, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((key.into_string().ok()?, value.into_string().ok()?))
        };
        let environment: Vec<(String, String)> = std::env::vars_os().filter_map(text).collect();
        Self {
            working_dir: std::env::current_dir().map_err(|error| error.to_string()),
            sets: arguments.sets.clone(),
            lang: language::choose(arguments.lang, &environment),
            environment,
        }
    }

    /// The effective configuration, seen from the working directory.
    pub(crate) fn configuration(&self) -> Result<Loaded, Failure> {
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
            sets: self.sets.clone(),
        };
        Ok(load(&sources)?)
    }
}
