//! The house rules as functions that list what breaks them; the tests of this crate hold the workspace to them.
//!
//! Owns rules that no lint can express. Refuses to mend anything: it names the place and what to do.

mod dependencies;
mod sources;
mod workspace;

pub use dependencies::{undocumented_dependencies, unnamed_edges};
pub use sources::{MAX_FILE_LINES, MAX_FUNCTION_LINES, impurities, source_violations};
pub use workspace::{Crate, Source, Workspace};
