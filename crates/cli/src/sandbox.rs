//! How programs are confined here: what the settings ask for, with what the kernel offers.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fixpoint_ports::Processes;
use fixpoint_processes::SupervisedProcesses;
use fixpoint_sandbox::{
    ConfinedProcesses, KernelSupport, Layers, Mechanism, NetworkAccess, SandboxPolicy, probe,
};
use fixpoint_vocabulary::settings::{SandboxMode, SandboxNetwork, SandboxSettings};

use crate::app_context::AppContext;
use crate::failure::Failure;
use crate::repository::Repository;

/// The argument by which this program is started again to supervise.
pub(crate) const SUPERVISE: &str = "__supervise";
/// The argument by which this program is started again to confine a program.
pub(crate) const LAUNCH: &str = "__launch";

/// Starts programs below a supervisor, which is this program.
pub(crate) fn supervised_processes() -> Result<SupervisedProcesses, Failure> {
    SupervisedProcesses::by_this_program([SUPERVISE.into()])
        .map_err(|error| Failure::Unavailable(format!("cannot start the supervisor process: {error}")))
}

/// What programs are started for.
pub(crate) struct SandboxRequest<'a> {
    pub(crate) app: &'a AppContext,
    pub(crate) settings: &'a SandboxSettings,
    /// `None` if no repository is involved, as for a model that is an installed agent.
    pub(crate) repository: Option<&'a Repository>,
    /// The agent, by its kind or the name of its program.
    pub(crate) agent: &'a str,
}

/// The launcher is this very version, even if the file of the program was replaced since.
fn launcher() -> Vec<OsString> {
    let program = if cfg!(target_os = "linux") {
        "/proc/self/exe".into()
    } else {
        std::env::current_exe().map(PathBuf::into_os_string).unwrap_or_default()
    };
    vec![program, LAUNCH.into()]
}

/// Tries what the kernel offers.
pub(crate) fn kernel_support(app: &AppContext) -> Result<KernelSupport, Failure> {
    Ok(probe(&launcher(), &scratch(app)?))
}

fn scratch(app: &AppContext) -> Result<PathBuf, Failure> {
    Ok(app.cache_dir()?.join("sandbox"))
}

impl SandboxRequest<'_> {
    /// Programs run confined, unless the settings or the kernel say otherwise.
    pub(crate) fn processes(&self) -> Result<Arc<dyn Processes>, Failure> {
        let supervised = Arc::new(supervised_processes()?);
        if self.settings.mode == SandboxMode::Off {
            return Ok(supervised);
        }
        let support = kernel_support(self.app)?;
        let Some(mechanism) = support.mechanism else {
            return self.without_support(supervised, &support);
        };
        self.refuse_network(mechanism)?;
        Ok(Arc::new(ConfinedProcesses {
            inner: supervised,
            launcher: launcher(),
            policy: self.policy()?,
            mechanism,
            layers: support.layers,
            network: match self.settings.network {
                SandboxNetwork::On => NetworkAccess::On,
                SandboxNetwork::Loopback => NetworkAccess::Loopback,
                SandboxNetwork::Off => NetworkAccess::Off,
            },
            scratch: scratch(self.app)?,
        }))
    }

    fn without_support(
        &self,
        supervised: Arc<SupervisedProcesses>,
        support: &KernelSupport,
    ) -> Result<Arc<dyn Processes>, Failure> {
        let problem = support.problem.as_deref().unwrap_or("unknown reason");
        if self.settings.mode == SandboxMode::Required {
            return Err(Failure::Unavailable(format!(
                "`sandbox: required` is set, and the kernel cannot confine programs here: {problem}"
            )));
        }
        self.app.notice(
            format!(
                "agents and checks run with your permissions: the kernel cannot confine them here ({problem}); \
                 `sandbox: off` silences this"
            ),
            format!(
                "エージェントとチェックはあなたの権限で動きます。このカーネルでは隔離できません ({problem})。\
                 `sandbox: off` でこの通知を消せます"
            ),
        );
        Ok(supervised)
    }

    fn refuse_network(&self, mechanism: Mechanism) -> Result<(), Failure> {
        match (mechanism, self.settings.network) {
            (Mechanism::Landlock, SandboxNetwork::Loopback) => Err(Failure::Unavailable(
                "`sandbox.network: loopback` needs user namespaces, which the kernel does not permit here; \
                 use `on` or `off`"
                    .to_string(),
            )),
            (Mechanism::Landlock | Mechanism::Namespaces, _) => Ok(()),
        }
    }

    fn policy(&self) -> Result<SandboxPolicy, Failure> {
        let home = self.app.home();
        let paths = |written: &[String]| -> Vec<PathBuf> {
            written.iter().filter_map(|path| absolute(path, home.as_deref())).collect()
        };
        let canonical = |path: PathBuf| path.canonicalize().unwrap_or(path);
        Ok(SandboxPolicy {
            working_tree: self.repository.map(|repository| repository.root().to_path_buf()),
            objects: self
                .repository
                .map(|repository| repository.workspaces.object_directories())
                .unwrap_or_default(),
            protected: vec![canonical(self.app.state_dir()?), canonical(self.app.cache_dir()?)],
            agent: self.agent.to_string(),
            read: paths(&self.settings.read),
            write: paths(&self.settings.write),
            hide: paths(&self.settings.hide),
            home,
        })
    }
}

/// A path of the settings, with the home directory for `~`.
fn absolute(path: &str, home: Option<&Path>) -> Option<PathBuf> {
    match path.strip_prefix('~') {
        Some("") => home.map(Path::to_path_buf),
        Some(rest) => home.map(|home| home.join(rest.trim_start_matches('/'))),
        None => Some(PathBuf::from(path)).filter(|path| path.is_absolute()),
    }
}

/// What programs are confined with, in words.
pub(crate) fn mechanism_words(support: &KernelSupport) -> Option<&'static str> {
    Some(match (support.mechanism?, support.layers) {
        (Mechanism::Namespaces, Layers::Available) => "namespaces with layers",
        (Mechanism::Namespaces, Layers::Missing) => "namespaces",
        (Mechanism::Landlock, _) => "landlock",
    })
}
