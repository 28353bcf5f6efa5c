//! Landlock: rules of the kernel that a process makes for itself and for all that it starts.

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, Scope,
};

use super::LaunchError;
use crate::spec::{LaunchSpec, Mount, Network};

/// The newest rules that are used; an older kernel has fewer.
const NEWEST: ABI = ABI::V6;

impl From<RulesetError> for LaunchError {
    fn from(error: RulesetError) -> Self {
        Self::Landlock(error.to_string())
    }
}

/// Keeps the process from abstract sockets and processes outside of its namespace, where the kernel can. File rules would
/// keep it from mounting, which sandboxes of agents need.
pub(super) fn confine_sockets() -> Result<(), LaunchError> {
    let rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .scope(Scope::AbstractUnixSocket)?
        .scope(Scope::Signal)?;
    rules.create()?.restrict_self()?;
    Ok(())
}

/// Confines files without namespaces: what is not named cannot be opened.
pub(super) fn confine_files(spec: &LaunchSpec) -> Result<(), LaunchError> {
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(ABI::V1))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))?
        .scope(Scope::AbstractUnixSocket)?
        .scope(Scope::Signal)?;
    match spec.network {
        Network::Shared => {}
        Network::None => {
            rules = rules
                .set_compatibility(CompatLevel::HardRequirement)
                .handle_access(AccessNet::from_all(NEWEST))?;
        }
        Network::Loopback | Network::Proxy { .. } => {
            return Err(LaunchError::Landlock("this choice of network needs namespaces".to_string()));
        }
    }
    let mut created = rules.create()?.set_compatibility(CompatLevel::BestEffort);
    for place in &spec.mounts {
        let (path, access) = match place {
            Mount::ReadOnly { from, .. } => (from, AccessFs::from_read(NEWEST)),
            Mount::ReadWrite { from, .. } => (from, AccessFs::from_all(NEWEST)),
            Mount::Layered { at, .. } => (at, AccessFs::from_read(NEWEST)),
            Mount::Hidden { .. } | Mount::Link { .. } => continue,
        };
        if let Ok(opened) = PathFd::new(path) {
            let access = if path.is_dir() { access } else { access & AccessFs::from_file(NEWEST) };
            created = created.add_rule(PathBeneath::new(opened, access))?;
        }
    }
    created.restrict_self()?;
    Ok(())
}
