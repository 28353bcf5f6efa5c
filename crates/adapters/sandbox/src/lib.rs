//! Confinement of programs: what they may read, write, see and connect to.
//!
//! Owns the policy (which paths are visible, by tables), the kernel's mechanisms (namespaces, landlock), and the launcher
//! that applies them. Refuses to know what is run. Invariant: what is not named is hidden; a program that cannot be
//! confined as asked is not started.

#[cfg(target_os = "linux")]
mod launcher;
#[cfg(not(target_os = "linux"))]
#[path = "other_systems.rs"]
mod launcher;
mod places;
mod policy;
mod private;
mod probe;
mod processes;
#[cfg(target_os = "linux")]
mod raw;
mod refusals;
mod returned;
mod spec;
mod tables;

pub use launcher::launcher_main;
pub use policy::SandboxPolicy;
pub use private::Layers;
pub use probe::{KernelSupport, probe};
pub use processes::{ConfinedProcesses, NetworkAccess};
pub use spec::Mechanism;
