//! Agents of a known kind in `fixpoint loop`: completed, read, continued, refused.

#[cfg(target_os = "linux")]
mod driven;
pub(crate) mod played;
#[cfg(target_os = "linux")]
pub(crate) mod studio;
