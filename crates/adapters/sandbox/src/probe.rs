//! What the kernel offers, found out by trying it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::private::{Layers, PrivateDirectory};
use crate::spec::{LaunchSpec, Lower, Mechanism, Mount, Network};

/// What can be used here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelSupport {
    /// `None` if programs cannot be confined.
    pub mechanism: Option<Mechanism>,
    pub layers: Layers,
    /// Why the stronger mechanism does not work.
    pub problem: Option<String>,
}

/// Tries each mechanism with a program that does nothing.
pub fn probe(launcher: &[OsString], scratch: &Path) -> KernelSupport {
    let attempt = |mechanism, layers| try_launch(launcher, scratch, mechanism, layers);
    let namespaces = Some(Mechanism::Namespaces);
    let Err(problem) = attempt(Mechanism::Namespaces, Layers::Available) else {
        return KernelSupport { mechanism: namespaces, layers: Layers::Available, problem: None };
    };
    if attempt(Mechanism::Namespaces, Layers::Missing).is_ok() {
        return KernelSupport { mechanism: namespaces, layers: Layers::Missing, problem: Some(problem) };
    }
    let landlock = attempt(Mechanism::Landlock, Layers::Missing);
    let mechanism = landlock.is_ok().then_some(Mechanism::Landlock);
    let problem = landlock.err().map_or(problem.clone(), |second| format!("{problem}; {second}"));
    KernelSupport { mechanism, layers: Layers::Missing, problem: Some(problem) }
}

fn try_launch(
    launcher: &[OsString],
    scratch: &Path,
    mechanism: Mechanism,
    layers: Layers,
) -> Result<(), String> {
    let private = PrivateDirectory::new(scratch, None, layers).map_err(|error| error.to_string())?;
    let spec = LaunchSpec {
        mechanism,
        mounts: mounts(&private, mechanism).map_err(|error| error.to_string())?,
        network: Network::Shared,
        root: private.root(),
        report: private.report(),
        directory: "/".into(),
    };
    let text = serde_json::to_vec(&spec).map_err(|error| error.to_string())?;
    std::fs::write(private.spec(), text).map_err(|error| error.to_string())?;
    let Some((program, arguments)) = launcher.split_first() else { return Err("no launcher".to_string()) };
    let mut command = Command::new(program);
    command.args(arguments).arg(private.spec()).arg("/bin/true").env_clear();
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let status = command.status().map_err(|error| error.to_string())?;
    if status.success() {
        return Ok(());
    }
    let reason = std::fs::read_to_string(private.report()).unwrap_or_default();
    Err(if reason.is_empty() { format!("{mechanism:?}: {status}") } else { reason })
}

/// The system, and a directory with changes over it where that is tried.
fn mounts(private: &PrivateDirectory, mechanism: Mechanism) -> std::io::Result<Vec<Mount>> {
    let system = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/nix", "/gnu"];
    let mut mounts: Vec<Mount> = Vec::new();
    for at in system.iter().map(PathBuf::from).filter(|at| at.symlink_metadata().is_ok()) {
        mounts.push(match std::fs::read_link(&at) {
            Ok(to) if mechanism == Mechanism::Namespaces => Mount::Link { at, to },
            Ok(_) | Err(_) => Mount::ReadOnly { from: at.clone(), at },
        });
    }
    mounts.push(Mount::ReadWrite { at: "/tmp".into(), from: private.temporary() });
    if private.has_layers() {
        let (upper, work) = private.layer(Path::new("probe"))?;
        let lower = vec![Lower(private.home()?)];
        mounts.push(Mount::Layered { at: "/home".into(), lower, upper, work });
    }
    Ok(mounts)
}
