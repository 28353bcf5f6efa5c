//! What models are built from. It is passed in: nothing here reads the process's own environment.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fixpoint_ports::{
    Cancel, ExitCause, FileAccess, Invocation, ProcessLimits, Processes, Program, Purpose, Stdin,
};

use crate::network::Network;

/// The ports of local model servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalPorts {
    pub ollama: u16,
    pub llamacpp: u16,
    pub lmstudio: u16,
}

impl Default for LocalPorts {
    fn default() -> Self {
        Self { ollama: 11434, llamacpp: 8080, lmstudio: 1234 }
    }
}

/// How programs are run: agents used as models, and commands that print keys.
#[derive(Clone)]
pub struct ProgramRunner {
    pub processes: Arc<dyn Processes>,
    /// The complete environment of the programs.
    pub environment: Vec<(OsString, OsString)>,
}

impl fmt::Debug for ProgramRunner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ProgramRunner({} variables)", self.environment.len())
    }
}

pub(crate) struct ProgramOutput {
    pub(crate) cause: ExitCause,
    pub(crate) output: Vec<u8>,
}

/// A program that is run for its output.
pub(crate) struct ProgramCall {
    pub(crate) program: Program,
    pub(crate) stdin: Stdin,
    pub(crate) timeout: Duration,
    /// Bytes of output that are kept.
    pub(crate) max_output: usize,
}

impl ProgramRunner {
    /// Runs a program in an empty directory, which is removed afterwards with everything the program wrote.
    /// `call` may put files next to that directory.
    pub(crate) fn run(
        &self,
        cancel: &Cancel,
        call: impl FnOnce(&Path) -> std::io::Result<ProgramCall>,
    ) -> Result<ProgramOutput, String> {
        let scratch = tempfile::Builder::new()
            .prefix("fixpoint-model-")
            .tempdir()
            .map_err(|error| error.to_string())?;
        let directory = scratch.path().join("empty");
        std::fs::create_dir(&directory).map_err(|error| error.to_string())?;
        let call = call(scratch.path()).map_err(|error| error.to_string())?;
        let invocation = Invocation {
            program: call.program,
            access: FileAccess {
                purpose: Purpose::Agent,
                writable: vec![directory.clone()],
                readable: vec![scratch.path().to_path_buf()],
                ..FileAccess::default()
            },
            directory,
            environment: self.environment.clone(),
            stdin: call.stdin,
            limits: ProcessLimits {
                wall: call.timeout,
                silence: None,
                grace: Duration::from_secs(2),
                kept_output: 1 << 20,
            },
            output: scratch.path().join("output"),
        };
        let mut output = Vec::new();
        let mut progress = |piece: &[u8]| {
            let room = call.max_output.saturating_sub(output.len());
            output.extend(piece.iter().take(room));
        };
        let ended =
            self.processes.run(&invocation, cancel, &mut progress).map_err(|error| error.to_string())?;
        Ok(ProgramOutput { cause: ended.cause, output })
    }
}

/// What models are built from.
#[derive(Clone)]
pub struct ModelEnvironment {
    /// Environment variables; keys are among them.
    pub variables: BTreeMap<String, String>,
    pub network: Arc<Network>,
    pub ports: LocalPorts,
    /// Without it, agents cannot be used as models and commands cannot print keys.
    pub programs: Option<ProgramRunner>,
    /// Where scripted models store how far they got, so that a resumed run continues there.
    pub script_counts: Option<PathBuf>,
}

impl fmt::Debug for ModelEnvironment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&String> = self.variables.keys().collect();
        formatter
            .debug_struct("ModelEnvironment")
            .field("variables", &names)
            .field("ports", &self.ports)
            .field("programs", &self.programs)
            .finish_non_exhaustive()
    }
}

impl ModelEnvironment {
    /// With default ports and no programs.
    pub fn new(variables: BTreeMap<String, String>, network: Arc<Network>) -> Self {
        Self { variables, network, ports: LocalPorts::default(), programs: None, script_counts: None }
    }

    /// A variable that is set and not blank.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(|value| value.trim()).filter(|value| !value.is_empty())
    }

    pub(crate) fn port(&self, provider: &str, default: u16) -> u16 {
        match provider {
            "ollama" => self.ports.ollama,
            "llamacpp" => self.ports.llamacpp,
            "lmstudio" => self.ports.lmstudio,
            _ => default,
        }
    }

    /// The path of a program, looked up on the `PATH` it would be started with.
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
