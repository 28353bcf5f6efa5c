//! All layers to one configuration.
//!
//! Owns the order of the steps: gather, take old names apart, check each layer, lay them over each other,
//! make the typed settings. Refuses to stop early: every layer is checked even if another is wrong.
//!
//! Invariant: what is loaded was accepted layer by layer, and every effective value has an origin.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use fixpoint_vocabulary::settings::Settings;

use super::error::{ConfigError, ConfigErrors};
use super::legacy::OldNames;
use super::merge::{Merged, Setting};
use super::origin::{Layer, Origin};
use super::warning::{self, Warning};
use super::{assign, files, variables};
use crate::shape::path::Path;
use crate::shape::{Completeness, Problem, ProblemKind, Reading, Shape};
use crate::tree::{Content, Node};
use fixpoint_vocabulary::secret;

/// Everything a configuration is made of, beside what is built in.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// The directory of the user's file; see [`user_directory`](super::user_directory).
    pub user_dir: Option<PathBuf>,
    /// The directory to look for the project from, absolute.
    pub working_dir: PathBuf,
    /// The environment.
    pub environment: Vec<(OsString, OsString)>,
    /// One person's settings, as a service answered.
    pub remote: Option<Node>,
    /// `KEY=VALUE` from the command line, in order; later ones win.
    pub sets: Vec<String>,
}

/// The effective configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// The settings.
    pub settings: Settings,
    /// Every effective value by its path, with its origin.
    pub origins: BTreeMap<String, Setting>,
    /// What is allowed and probably not meant.
    pub warnings: Vec<Warning>,
    /// The directory whose project files were looked for.
    pub project_root: Option<PathBuf>,
}

impl Loaded {
    /// Whether any layer said something about a key, or about any key of a section.
    pub fn is_explicit(&self, path: &str) -> bool {
        let below = format!("{path}.");
        self.origins
            .iter()
            .filter(|(key, _)| *key == path || key.starts_with(&below))
            .any(|(_, setting)| setting.origin.layer() != Layer::Default)
    }
}

/// One layer before it is checked.
struct Offered {
    origin: Origin,
    node: Node,
    reading: Reading,
}

/// Loads the configuration, or tells everything that is wrong with it.
pub fn load(sources: &Sources) -> Result<Loaded, ConfigErrors> {
    let shape = Shape::of::<Settings>();
    let old = OldNames::of(shape.rule());
    let project_root = files::project_root(&sources.working_dir);
    let mut errors = Vec::new();
    let mut layers = gather(sources, project_root.as_deref(), &shape, &old, &mut errors);
    let mut merged = Merged::new(&built_in()?, &Origin::Default);
    for layer in apart(&mut layers, &old).iter().chain(&layers) {
        let accepted = check(layer, &shape, &mut errors);
        merged.lay(&accepted, &layer.origin);
    }
    let settings: Result<Settings, _> = serde_json::from_value(merged.value());
    if let Ok(settings) = &settings {
        errors.retain(|error| !is_about_a_variable_in_use(error, settings));
    }
    // What was refused is missing from the whole, so only a whole without errors says anything by not fitting
    // together.
    if let Some(errors) = ConfigErrors::from_all(errors) {
        return Err(errors);
    }
    let settings = settings.map_err(together)?;
    let warnings = warning::all(&settings);
    Ok(Loaded { settings, origins: merged.settings(), warnings, project_root })
}

/// Settings of an earlier time with others on top, each `KEY=VALUE`; no other layer counts.
pub fn with_sets(settings: &Settings, sets: &[String]) -> Result<Settings, ConfigErrors> {
    let shape = Shape::of::<Settings>();
    let old = OldNames::of(shape.rule());
    let mut errors = Vec::new();
    let mut merged = Merged::new(&node_of(settings)?, &Origin::Default);
    for text in sets {
        match assign::set(text, shape.rule(), &old) {
            Ok((origin, node)) => {
                let layer = Offered { origin, node: map_of(node), reading: Reading::Loose };
                let accepted = check(&layer, &shape, &mut errors);
                merged.lay(&accepted, &layer.origin);
            }
            Err(error) => errors.push(error),
        }
    }
    match ConfigErrors::from_all(errors) {
        Some(errors) => Err(errors),
        None => serde_json::from_value(merged.value()).map_err(together),
    }
}

fn built_in() -> Result<Node, ConfigErrors> {
    node_of(&Settings::default())
}

fn node_of(settings: &Settings) -> Result<Node, ConfigErrors> {
    Ok(Node::from(serde_json::to_value(settings).map_err(together)?))
}

fn together(error: serde_json::Error) -> ConfigErrors {
    ConfigError::Together { message: error.to_string() }.into()
}

/// Every layer that is there, weakest first.
fn gather(
    sources: &Sources,
    project_root: Option<&std::path::Path>,
    shape: &Shape,
    old: &OldNames,
    errors: &mut Vec<ConfigError>,
) -> Vec<Offered> {
    let mut layers = Vec::new();
    let mut offer = |reading: Reading, offered: Result<(Origin, Node), ConfigError>| match offered {
        Ok((origin, node)) => layers.push(Offered { origin, node: map_of(node), reading }),
        Err(error) => errors.push(error),
    };
    let user = sources.user_dir.as_deref().map(files::user);
    let project = project_root.map(files::project);
    let local = project_root.map(files::local);
    for file in [user, project, local].into_iter().flatten().filter_map(Result::transpose) {
        offer(Reading::Exact, file);
    }
    for variable in variables::all(&sources.environment, shape.rule(), old) {
        offer(Reading::Loose, variable);
    }
    if let Some(node) = &sources.remote {
        offer(Reading::Exact, Ok((Origin::Remote, node.clone())));
    }
    for text in &sources.sets {
        offer(Reading::Loose, assign::set(text, shape.rule(), old));
    }
    layers
}

/// An empty file says nothing, which is a map without keys.
fn map_of(node: Node) -> Node {
    match node.content {
        Content::Null => Node { content: Content::Map(Vec::new()), ..node },
        Content::Bool(_) | Content::Number(_) | Content::Text(_) | Content::List(_) | Content::Map(_) => node,
    }
}

/// Takes what stands under old names out of the layers. It is laid below all of them, so that a new name wins
/// wherever it stands.
fn apart(layers: &mut [Offered], old: &OldNames) -> Vec<Offered> {
    let mut taken = Vec::new();
    for layer in layers {
        let (origin, reading) = (layer.origin.clone(), layer.reading);
        let nodes = old.take(&mut layer.node);
        taken.extend(nodes.into_iter().map(|node| Offered { origin: origin.clone(), node, reading }));
    }
    taken
}

/// What is right of a layer. What is wrong goes to the errors, each at its place.
fn check(layer: &Offered, shape: &Shape, errors: &mut Vec<ConfigError>) -> Node {
    let (accepted, mut problems) = shape.examine(&layer.node, Completeness::Partial, layer.reading);
    find_credentials(&layer.node, &Path::Root, &mut problems);
    let at_layer = |problem| ConfigError::Value { origin: layer.origin.clone(), problem: Box::new(problem) };
    errors.extend(problems.into_iter().map(at_layer));
    map_of(accepted)
}

/// Files are committed and settings are shown, so a credential must not even be accepted.
fn find_credentials(node: &Node, at: &Path<'_>, problems: &mut Vec<Problem>) {
    match &node.content {
        Content::Null | Content::Bool(_) | Content::Number(_) => {}
        Content::Text(text) if secret::is_in(text) => {
            problems.push(Problem { path: at.to_string(), mark: node.mark, kind: ProblemKind::Credential });
        }
        Content::Text(_) => {}
        Content::List(items) => {
            let each = items.iter().enumerate();
            each.for_each(|(index, item)| find_credentials(item, &at.index(index), problems));
        }
        Content::Map(entries) => {
            entries.iter().for_each(|entry| find_credentials(&entry.node, &at.key(&entry.key), problems));
        }
    }
}

/// Whether an error is only that a variable is no setting, and the settings name it as one that holds a
/// credential.
fn is_about_a_variable_in_use(error: &ConfigError, settings: &Settings) -> bool {
    let ConfigError::UnknownVariable { variable, .. } = error else { return false };
    let servers = settings.mcp_servers.values().flat_map(|server| server.env.values());
    servers.chain(&settings.user_config_api.api_key_env).any(|named| named == variable)
}
