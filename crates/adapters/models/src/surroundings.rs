//! What models are made from, handed in: nothing here reads the process.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fixpoint_ports::{Cancel, Invocation, ProcessLimits, Processes, Program, Stdin};

use crate::network::Network;

/// Where local servers listen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ports {
    /// Ollama.
    pub ollama: u16,
    /// llama.cpp.
    pub llamacpp: u16,
    /// LM Studio.
    pub lmstudio: u16,
}

impl Default for Ports {
    fn default() -> Self {
        Self { ollama: 11434, llamacpp: 8080, lmstudio: 1234 }
    }
}

/// What programs are run with.
#[derive(Clone)]
pub struct ProgramRunner {
    /// Who runs them.
    pub processes: Arc<dyn Processes>,
    /// Their environment, complete.
    pub environment: Vec<(OsString, OsString)>,
}

impl fmt::Debug for ProgramRunner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ProgramRunner({} variables)", self.environment.len())
    }
}

/// What a program wrote and how it ended.
pub(crate) struct Ran {
    pub(crate) cause: fixpoint_ports::ExitCause,
    pub(crate) output: Vec<u8>,
}

/// A program to run for its output.
pub(crate) struct Errand {
    pub(crate) program: Program,
    pub(crate) stdin: Stdin,
    pub(crate) wall: Duration,
    /// Bytes of output, at most.
    pub(crate) most: usize,
}

impl ProgramRunner {
    /// Runs a program in an empty directory, which is gone afterwards with everything the program wrote.
    /// `errand` may put files beside that directory.
    pub(crate) fn run(
        &self,
        cancel: &Cancel,
        errand: impl FnOnce(&Path) -> std::io::Result<Errand>,
    ) -> Result<Ran, String> {
        let place = tempfile::Builder::new()
            .prefix("fixpoint-model-")
            .tempdir()
            .map_err(|error| error.to_string())?;
        let directory = place.path().join("empty");
        std::fs::create_dir(&directory).map_err(|error| error.to_string())?;
        let errand = errand(place.path()).map_err(|error| error.to_string())?;
        let invocation = Invocation {
            program: errand.program,
            directory,
            environment: self.environment.clone(),
            stdin: errand.stdin,
            limits: ProcessLimits {
                wall: errand.wall,
                silence: None,
                grace: Duration::from_secs(2),
                kept_output: 1 << 20,
            },
            output: place.path().join("output"),
        };
        let mut output = Vec::new();
        let mut progress = |piece: &[u8]| {
            let room = errand.most.saturating_sub(output.len());
            output.extend(piece.iter().take(room));
        };
        let ended =
            self.processes.run(&invocation, cancel, &mut progress).map_err(|error| error.to_string())?;
        Ok(Ran { cause: ended.cause, output })
    }
}

/// What models are made from.
#[derive(Clone)]
pub struct Surroundings {
    /// The environment; keys are in it.
    pub environment: BTreeMap<String, String>,
    /// The network, the same for all models.
    pub network: Arc<Network>,
    /// Where local servers listen.
    pub ports: Ports,
    /// How programs are run: agents that serve as models, and commands that print keys.
    pub programs: Option<ProgramRunner>,
    /// The directory in which the counts of scripts are kept, so that a run that is taken up again goes on where it was.
    pub script_counts: Option<PathBuf>,
}

impl fmt::Debug for Surroundings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&String> = self.environment.keys().collect();
        formatter
            .debug_struct("Surroundings")
            .field("environment", &names)
            .field("ports", &self.ports)
            .field("programs", &self.programs)
            .finish_non_exhaustive()
    }
}

impl Surroundings {
    /// Surroundings with a network of their own, default ports and no programs.
    pub fn new(environment: BTreeMap<String, String>, network: Arc<Network>) -> Self {
        Self { environment, network, ports: Ports::default(), programs: None, script_counts: None }
    }

    /// A variable that is set to something.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        self.environment.get(name).map(|value| value.trim()).filter(|value| !value.is_empty())
    }

    /// The port of a local provider.
    pub(crate) fn port(&self, provider: &str, default: u16) -> u16 {
        match provider {
            "ollama" => self.ports.ollama,
            "llamacpp" => self.ports.llamacpp,
            "lmstudio" => self.ports.lmstudio,
            _ => default,
        }
    }

    /// Where a program is, by the `PATH` that it would be started with.
    pub(crate) fn program(&self, name: &str) -> Option<PathBuf> {
        let runner = self.programs.as_ref()?;
        let path =
            runner.environment.iter().find(|(variable, _)| variable == "PATH").map(|(_, value)| value)?;
        std::env::split_paths(path).map(|directory| directory.join(name)).find(|file| is_executable(file))
    }
}

#[cfg(unix)]
fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(file: &Path) -> bool {
    file.is_file()
}
