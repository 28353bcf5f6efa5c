//! Reads settings from files, environment and command line, and merges them into one validated configuration that knows
//! where each value comes from.
//!
//! Text is parsed into a tree of [`Node`]s with line numbers; a [`Schema`], made from a type's own JSON Schema, checks the
//! tree and converts it to canonical form; [`load`] merges the layers. [`TypedReader`] reads any other JSON input by the
//! same rules.
//!
//! Nothing here reads process globals: environment, directories and flags are passed in as [`Sources`]. ParsedAnswer the
//! configuration files is the only effect.
//!
//! Invariant: what [`Schema::as_json`] publishes is exactly what is enforced.

mod json;
mod layers;
mod parse;
mod reference;
mod schema;
mod tree;
mod trust;
mod typed_reader;
mod yaml;
mod yaml_scalar;

pub use layers::{
    ConfigError, ConfigErrors, Layer, Loaded, Origin, ProjectFiles, RESERVED_VARIABLES, Setting, Sources,
    load, project_root, user_directory, with_sets,
};
pub use reference::{ReferenceKey, UnavailableKey, reference_keys, reference_markdown, unavailable_keys};
pub use schema::{Completeness, Problem, ProblemKind, Schema};
pub use tree::{Content, Entry, Node, Position};
pub use trust::{
    Detected, DetectedKind, RequestedItem, TrustChange, TrustDecision, TrustItem, TrustKind, TrustRecord,
    TrustRequest,
};
pub use typed_reader::TypedReader;
