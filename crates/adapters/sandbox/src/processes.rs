//! Programs that run confined: each is started by the launcher, with the places it may see.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fixpoint_ports::{Cancel, ExitCause, Invocation, ProcessError, ProcessExit, Processes, Program};

use crate::launcher::NOT_STARTED;
use crate::policy::SandboxPolicy;
use crate::private::{Layers, PrivateDirectory};
use crate::refusals::Refusals;
use crate::returned::ReturnedFiles;
use crate::spec::{LaunchSpec, Mechanism, Network};

/// Variables that lead to sockets of the user's session.
const SESSION_VARIABLES: [&str; 5] =
    ["XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "SSH_AUTH_SOCK", "WAYLAND_DISPLAY", "DISPLAY"];

/// The network that confined programs may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NetworkAccess {
    #[default]
    On,
    /// Only what the program itself listens on.
    Loopback,
    Off,
}

/// Runs programs with other [`Processes`], confined.
pub struct ConfinedProcesses {
    pub inner: Arc<dyn Processes>,
    /// The command that calls [`launcher_main`](crate::launcher_main) with the arguments that follow it.
    pub launcher: Vec<OsString>,
    pub policy: SandboxPolicy,
    pub mechanism: Mechanism,
    pub layers: Layers,
    pub network: NetworkAccess,
    /// Private directories are made here.
    pub scratch: PathBuf,
}

impl std::fmt::Debug for ConfinedProcesses {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ConfinedProcesses").field("policy", &self.policy).finish_non_exhaustive()
    }
}

impl Processes for ConfinedProcesses {
    fn run(
        &self,
        invocation: &Invocation,
        cancel: &Cancel,
        progress: &mut dyn FnMut(&[u8]),
    ) -> Result<ProcessExit, ProcessError> {
        let failed =
            |error: io::Error| ProcessError::Supervisor(format!("cannot prepare the sandbox: {error}"));
        let private = PrivateDirectory::new(&self.scratch, invocation.access.home.as_deref(), self.layers)
            .map_err(failed)?;
        let places = self.policy.places(invocation, self.mechanism, &private).map_err(failed)?;
        let returned = ReturnedFiles::before(&self.policy, &invocation.access, &private, self.mechanism);
        let mut refusals = Refusals::new(&places, self.policy.home.as_deref());
        let confined = self.confined(invocation, &private, &places).map_err(failed)?;
        let exit = self.inner.run(&confined, cancel, &mut |bytes| {
            refusals.push(bytes);
            progress(bytes);
        })?;
        let refused = refusals.finish();
        returned.take_over().map_err(failed)?;
        Ok(ProcessExit { cause: cause(exit.cause, &private.report()), refused, ..exit })
    }
}

impl ConfinedProcesses {
    /// The same program, started by the launcher.
    fn confined(
        &self,
        invocation: &Invocation,
        private: &PrivateDirectory,
        places: &crate::places::Places,
    ) -> io::Result<Invocation> {
        let spec = LaunchSpec {
            mechanism: self.mechanism,
            mounts: places.mounts(),
            network: match self.network {
                NetworkAccess::On => Network::Shared,
                NetworkAccess::Loopback => Network::Loopback,
                NetworkAccess::Off => Network::None,
            },
            root: private.root(),
            report: private.report(),
            directory: invocation.directory.clone(),
        };
        fs::write(private.spec(), serde_json::to_vec(&spec).map_err(io::Error::other)?)?;
        let mut arguments = self.launcher.iter().skip(1).cloned().collect::<Vec<OsString>>();
        arguments.push(private.spec().into_os_string());
        arguments.extend(words(&invocation.program));
        let program = self.launcher.first().cloned().unwrap_or_default();
        let mut environment = invocation.environment.clone();
        environment.retain(|(name, _)| !SESSION_VARIABLES.iter().any(|known| name == known));
        self.adapt_temporary(&mut environment, private, places);
        Ok(Invocation { program: Program::Direct { program, arguments }, environment, ..invocation.clone() })
    }

    /// A directory for temporary files that the program sees.
    fn adapt_temporary(
        &self,
        environment: &mut Vec<(OsString, OsString)>,
        private: &PrivateDirectory,
        places: &crate::places::Places,
    ) {
        let named =
            environment.iter().rev().find(|(name, _)| name == "TMPDIR").map(|(_, value)| value.clone());
        if named.is_some_and(|named| places.shows(Path::new(&named)) && places.is_writable(Path::new(&named)))
        {
            return;
        }
        environment.retain(|(name, _)| name != "TMPDIR");
        let directory = match self.mechanism {
            Mechanism::Namespaces => PathBuf::from("/tmp"),
            Mechanism::Landlock => private.temporary(),
        };
        environment.push(("TMPDIR".into(), directory.into_os_string()));
    }
}

fn words(program: &Program) -> Vec<OsString> {
    match program {
        Program::Direct { program, arguments } => {
            std::iter::once(program.clone()).chain(arguments.iter().cloned()).collect()
        }
        Program::Shell(line) => vec!["sh".into(), "-c".into(), line.into()],
    }
}

/// How the program ended; the launcher says if it was never started.
fn cause(cause: ExitCause, report: &Path) -> ExitCause {
    match cause {
        ExitCause::Exited(code) if code == i32::from(NOT_STARTED) => match fs::read_to_string(report) {
            Ok(reason) if !reason.is_empty() => ExitCause::NotStarted(reason),
            Ok(_) | Err(_) => ExitCause::Exited(code),
        },
        ExitCause::Exited(_)
        | ExitCause::Signalled(_)
        | ExitCause::TimedOut
        | ExitCause::Silent
        | ExitCause::Cancelled
        | ExitCause::NotStarted(_) => cause,
    }
}
