//! Privileges over the namespace are given up before the program starts: it could change its file system with them.

use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities,
};

use super::LaunchError;

/// Without it, root cannot make namespaces of its own, as sandboxes of agents do. Files are mounted so that capabilities set
/// on them have no effect.
const KEPT: CapabilitySet = CapabilitySet::SETFCAP;

fn get_kept() -> rustix::io::Result<CapabilitySet> {
    Ok(capabilities(None)?.permitted & KEPT)
}

pub(super) fn drop_all() -> Result<(), LaunchError> {
    let system = |error: rustix::io::Errno| LaunchError::System {
        doing: "give up capabilities".to_string(),
        source: error.into(),
    };
    if capabilities(None).map_err(system)?.permitted.is_empty() {
        // An ordinary user without a namespace of its own has none, and may not change the others.
        return Ok(());
    }
    for bit in 0..64 {
        let one = CapabilitySet::from_bits_retain(1 << bit);
        if one == KEPT {
            continue;
        }
        match remove_capability_from_bounding_set(one) {
            Ok(()) => {}
            // The kernel knows no capability of this number.
            Err(rustix::io::Errno::INVAL) => break,
            Err(error) => return Err(system(error)),
        }
    }
    // Kernels before 4.3 have no ambient set.
    let _ = clear_ambient_capability_set();
    let kept = get_kept().map_err(system)?;
    let sets = CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() };
    set_capabilities(None, sets).map_err(system)
}
