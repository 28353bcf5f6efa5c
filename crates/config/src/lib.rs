//! Layers of settings merged into one validated configuration that knows where each value came from.
//!
//! Text becomes a [`Node`] tree with line numbers ([`read_text`]), a [`Shape`] made from a type's own JSON
//! Schema checks that tree and brings it into its canonical form, and [`load`] merges the layers. The same
//! shapes read any other input ([`Section`]), so that one set of rules decides what an acceptable value is.
//!
//! Refuses process globals: environment, directories and flags are handed in as [`Sources`]. Reading the
//! named configuration files is the only effect.
//!
//! Invariant: what [`Shape::published`] shows is exactly what is enforced.

mod json;
mod layers;
mod reference;
mod scalar;
mod section;
mod shape;
mod text;
mod tree;
mod yaml;

pub use layers::{
    ConfigError, ConfigErrors, Layer, Loaded, Origin, RESERVED_VARIABLES, Setting, Sources, Warning, load,
    project_root, user_directory, with_sets,
};
pub use reference::reference_markdown;
pub use section::{Section, read_section};
pub use shape::{Completeness, Problem, ProblemKind, Shape};
pub use text::{Format, MAX_TEXT_BYTES, TextError, TextErrorKind, read_text};
pub use tree::{Content, Entry, Mark, Node};
