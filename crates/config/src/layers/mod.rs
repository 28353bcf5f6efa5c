//! Where settings come from, and how they are merged.
//!
//! The layers, weakest first: built-in defaults, the user's file, the project's file, the project's local file, the
//! environment, the user config service, the command line. Maps are merged by key; lists and single values replace those
//! of weaker layers.
//!
//! Invariant: every layer is checked by itself before it is merged, so that an error has the position where it was
//! written; and every value of the result knows its layer.

mod consistency;
mod error;
mod files;
mod load;
mod merge;
mod old_names;
mod origin;
mod set_argument;
#[cfg(test)]
mod tests;
mod users_own;
mod variables;
mod warnings;

pub use error::{ConfigError, ConfigErrors};
pub use files::{project_root, user_directory};
pub use load::{Loaded, ProjectFiles, Sources, load, with_sets};
pub use merge::Setting;
pub use origin::{Layer, Origin};
pub use variables::RESERVED_VARIABLES;
