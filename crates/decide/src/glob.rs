//! Globs: which paths a list of patterns covers, and whether two lists can ever cover the same path.
//!
//! Owns the pattern language of `.gitignore` over arbitrary bytes, exactly as git reads it, and the simpler one
//! for the names of tools and files. Refuses to look at a file system: whether a path exists is not asked here.
//! A pattern is compiled once into one small program, and both matching and overlap run that same program, so
//! the two cannot disagree about what a pattern means. No pattern can make either take exponential time.

mod bytes;
mod class;
mod name;
mod overlap;
mod program;
mod set;
mod syntax;
mod tree_path;

pub use name::{NameGlob, NameGlobError};
pub use overlap::{OverlapMatcher, overlap};
pub use set::{Coverage, PatternSet};
pub use tree_path::is_tree_path;

#[cfg(test)]
mod tests;
