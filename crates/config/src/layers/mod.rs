//! Where settings come from, and what they are all together.
//!
//! Owns the order of the layers, weakest first: built-in defaults, the user's file, the project's file, the
//! project's local file, the environment, one person's settings from a service, the command line. Maps merge
//! by key; lists and everything else replace what a weaker layer said.
//!
//! Refuses to look anything up by itself: what the environment and the flags are, the caller says.
//!
//! Invariant: every layer is checked by itself before it is merged, so that an error names the place it was
//! written at; and every value of the result knows its layer.

mod assign;
mod error;
mod files;
mod legacy;
mod load;
mod merge;
mod origin;
#[cfg(test)]
mod tests;
mod variables;
mod warning;

pub use error::{ConfigError, ConfigErrors};
pub use files::{project_root, user_directory};
pub use load::{Loaded, Sources, load, with_sets};
pub use merge::Setting;
pub use origin::{Layer, Origin};
pub use variables::RESERVED_VARIABLES;
pub use warning::Warning;
