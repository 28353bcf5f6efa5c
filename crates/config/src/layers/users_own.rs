//! Settings that only the user may make: where code and keys are sent, and how agents are confined.
//!
//! Invariant: no file of a repository and no answer of a service decides any of them, whatever is trusted.

use std::path::Path;

use super::error::ConfigError;
use super::origin::{Layer, Origin};
use crate::tree::{Content, Node};

/// Sections and keys, as paths from the root.
const USERS_OWN: [&[&str]; 3] = [&["models", "endpoints"], &["sandbox"], &["user_config_api"]];

/// An error for each of these settings in a layer that is not the user's own. `layer` is in canonical spelling.
pub(super) fn errors(origin: &Origin, layer: &Node, user_dir: Option<&Path>) -> Vec<ConfigError> {
    let source = match origin.layer() {
        Layer::ProjectFile | Layer::LocalFile => "a file of the repository",
        Layer::UserConfigApi => "the user config service",
        Layer::Default | Layer::UserFile | Layer::Environment | Layer::CommandLine => return Vec::new(),
    };
    let own = user_dir.map_or_else(
        || "~/.config/fixpoint/config.yaml".to_owned(),
        |directory| directory.join("config.yaml").display().to_string(),
    );
    let refused = |path: &&[&str]| {
        let found = path.iter().try_fold(layer, |node, key| node.get(key))?;
        if matches!(&found.content, Content::Map(entries) if entries.is_empty()) {
            return None;
        }
        let key = path.join(".");
        let message = format!("{key}: {source} cannot set this; move it to your own file, {own}");
        Some(ConfigError::new(origin.place(found.position), message))
    };
    USERS_OWN.iter().filter_map(refused).collect()
}
