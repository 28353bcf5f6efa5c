//! Loads all layers into one configuration: collect the layers, extract old names, check each layer, merge them, check what
//! only the whole can show.
//!
//! Every layer is checked even if another is invalid, so that all errors are reported at once.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use fixpoint_vocabulary::secret;
use fixpoint_vocabulary::settings::Settings;

use super::error::{ConfigError, ConfigErrors};
use super::merge::{Merged, Setting};
use super::old_names::OldNames;
use super::origin::{Layer, Origin};
use super::{consistency, files, set_argument, users_own, variables, warnings};
use crate::schema::path::Path;
use crate::schema::{Completeness, Problem, ProblemKind, Schema, Typing};
use crate::tree::{Content, Node};

/// Everything that settings are loaded from, besides the defaults.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// The directory of the user's file; see [`user_directory`](super::user_directory).
    pub user_dir: Option<PathBuf>,
    /// The directory from which the project is searched upwards; an absolute path.
    pub working_dir: PathBuf,
    pub project_files: ProjectFiles,
    pub environment: Vec<(OsString, OsString)>,
    /// The answer of the user config service.
    pub user_config_api: Option<Node>,
    /// `KEY=VALUE` from the command line, in order; later ones win.
    pub sets: Vec<String>,
}

/// Whether the files of the project are a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProjectFiles {
    #[default]
    Read,
    /// For a project that is not trusted.
    Ignored,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    pub settings: Settings,
    /// Every effective value by its path, with its origin.
    pub origins: BTreeMap<String, Setting>,
    /// Sentences about settings that are allowed and probably a mistake.
    pub warnings: Vec<String>,
    /// The directory whose project files were read, if there are any.
    pub project_root: Option<PathBuf>,
    /// What the files of the project set, by path: to be obeyed only if the project is trusted. Unlike in `origins`, also
    /// what a stronger layer overrides.
    pub of_project: BTreeMap<String, Setting>,
}

impl Loaded {
    /// Whether any layer sets this key, or any key of this section.
    pub fn is_explicit(&self, path: &str) -> bool {
        let below = format!("{path}.");
        self.origins
            .iter()
            .filter(|(key, _)| *key == path || key.starts_with(&below))
            .any(|(_, setting)| setting.origin.layer() != Layer::Default)
    }
}

struct RawLayer {
    origin: Origin,
    node: Node,
    typing: Typing,
}

/// Loads the configuration, or gives everything that is wrong with it.
pub fn load(sources: &Sources) -> Result<Loaded, ConfigErrors> {
    let schema = Schema::of::<Settings>();
    let old = OldNames::of(schema.rule());
    let project_root = files::project_root(&sources.working_dir);
    let mut errors = Vec::new();
    let mut layers = collect(sources, project_root.as_deref(), &schema, &old, &mut errors);
    let mut merged = Merged::new(&as_node(&Settings::default())?, &Origin::Default);
    let mut of_project = Merged::new(&Node::new(Content::Map(Vec::new())), &Origin::Default);
    for layer in extract_old_names(&mut layers, &old).iter().chain(&layers) {
        let valid = check(layer, &schema, &mut errors);
        errors.extend(users_own::errors(&layer.origin, &valid, sources.user_dir.as_deref()));
        merged.merge(&valid, &layer.origin);
        if matches!(layer.origin.layer(), Layer::ProjectFile | Layer::LocalFile) {
            of_project.merge(&valid, &layer.origin);
        }
    }
    let settings: Result<Settings, _> = serde_json::from_value(merged.value());
    let origins = merged.settings();
    if let Ok(settings) = &settings {
        errors.retain(|error| !is_about_a_named_variable(error, settings));
        errors.extend(consistency::errors(settings, &origins));
    }
    if let Some(errors) = ConfigErrors::from_all(errors) {
        return Err(errors);
    }
    let settings = settings.map_err(unfit)?;
    let warnings = warnings::warnings(&settings);
    let mut of_project = of_project.settings();
    // A section without keys sets nothing.
    of_project.retain(|_, setting| setting.value.as_object().is_none_or(|map| !map.is_empty()));
    Ok(Loaded { settings, origins, warnings, project_root, of_project })
}

/// Recorded settings with `KEY=VALUE` flags on top. No other layer is read.
pub fn with_sets(settings: &Settings, sets: &[String]) -> Result<Settings, ConfigErrors> {
    let schema = Schema::of::<Settings>();
    let old = OldNames::of(schema.rule());
    let mut errors = Vec::new();
    let mut merged = Merged::new(&as_node(settings)?, &Origin::Default);
    for text in sets {
        match set_argument::parse_set(text, schema.rule(), &old) {
            Ok((origin, node)) => {
                let layer = RawLayer { origin, node: with_whole_sections(node), typing: Typing::Lenient };
                let valid = check(&layer, &schema, &mut errors);
                merged.merge(&valid, &layer.origin);
            }
            Err(error) => errors.push(error),
        }
    }
    match ConfigErrors::from_all(errors) {
        Some(errors) => Err(errors),
        None => serde_json::from_value(merged.value()).map_err(unfit),
    }
}

fn as_node(settings: &Settings) -> Result<Node, ConfigErrors> {
    Ok(Node::from(serde_json::to_value(settings).map_err(unfit)?))
}

/// Cannot happen while the schema is as strict as the types.
fn unfit(error: serde_json::Error) -> ConfigErrors {
    ConfigError::new("settings", error.to_string()).into()
}

/// Every layer that exists, weakest first.
fn collect(
    sources: &Sources,
    project_root: Option<&std::path::Path>,
    schema: &Schema,
    old: &OldNames,
    errors: &mut Vec<ConfigError>,
) -> Vec<RawLayer> {
    let mut layers = Vec::new();
    let mut add = |typing: Typing, layer: Result<(Origin, Node), ConfigError>| match layer {
        Ok((origin, node)) => layers.push(RawLayer { origin, node: with_whole_sections(node), typing }),
        Err(error) => errors.push(error),
    };
    let user = sources.user_dir.as_deref().map(files::user);
    let files_root = project_root.filter(|_| sources.project_files == ProjectFiles::Read);
    let project = files_root.map(files::project);
    let local = files_root.map(files::local);
    for file in [user, project, local].into_iter().flatten().filter_map(Result::transpose) {
        add(Typing::Strict, file);
    }
    for variable in variables::all(&sources.environment, schema.rule(), old) {
        add(Typing::Lenient, variable);
    }
    if let Some(node) = &sources.user_config_api {
        add(Typing::Strict, Ok((Origin::UserConfigApi, node.clone())));
    }
    for text in &sources.sets {
        add(Typing::Lenient, set_argument::parse_set(text, schema.rule(), old));
    }
    layers
}

/// Sections that may be written as one value, and the key that value is for: `sandbox: off`.
const SHORT_SECTIONS: [(&str, &str); 1] = [("sandbox", "mode")];

/// The same with every section as a map.
fn with_whole_sections(node: Node) -> Node {
    let mut node = null_as_map(node);
    if let Content::Map(entries) = &mut node.content {
        for entry in entries {
            let short = SHORT_SECTIONS.iter().find(|(section, _)| *section == entry.key);
            if let Some((_, key)) =
                short.filter(|_| !matches!(entry.node.content, Content::Map(_) | Content::Null))
            {
                let value = std::mem::replace(&mut entry.node, Node::new(Content::Null));
                let position = value.position;
                entry.node = Node { position, ..Node::nested((*key).to_string(), value) };
            }
        }
    }
    node
}

/// An empty file sets nothing: it is a map without keys.
fn null_as_map(node: Node) -> Node {
    match node.content {
        Content::Null => Node { content: Content::Map(Vec::new()), ..node },
        Content::Bool(_) | Content::Number(_) | Content::Text(_) | Content::List(_) | Content::Map(_) => node,
    }
}

/// Takes old names out of the layers, as layers of their own that are weaker than all others: a new name wins in any
/// layer.
fn extract_old_names(layers: &mut [RawLayer], old: &OldNames) -> Vec<RawLayer> {
    let mut extracted = Vec::new();
    for layer in layers {
        let (origin, typing) = (layer.origin.clone(), layer.typing);
        let nodes = old.extract(&mut layer.node);
        extracted.extend(nodes.into_iter().map(|node| RawLayer { origin: origin.clone(), node, typing }));
    }
    extracted
}

/// The valid part of a layer. Its problems are added to the errors.
fn check(layer: &RawLayer, schema: &Schema, errors: &mut Vec<ConfigError>) -> Node {
    let (valid, mut problems) = schema.check(&layer.node, Completeness::Partial, layer.typing);
    find_credentials(&layer.node, &Path::Root, &mut problems);
    errors.extend(problems.iter().map(|problem| ConfigError::invalid_value(&layer.origin, problem)));
    null_as_map(valid)
}

/// Files are committed and settings are printed, so a credential in them is an error.
fn find_credentials(node: &Node, at: &Path<'_>, problems: &mut Vec<Problem>) {
    match &node.content {
        Content::Null | Content::Bool(_) | Content::Number(_) => {}
        Content::Text(text) if secret::is_in(text) => {
            let path = at.to_string();
            problems.push(Problem { path, position: node.position, kind: ProblemKind::Credential });
        }
        Content::Text(_) => {}
        Content::List(items) => {
            let items = items.iter().enumerate();
            items.for_each(|(index, item)| find_credentials(item, &at.index(index), problems));
        }
        Content::Map(entries) => {
            entries.iter().for_each(|entry| find_credentials(&entry.node, &at.key(&entry.key), problems));
        }
    }
}

/// Whether an unknown variable is one that the settings name: as the holder of an API key, or for agents and checks.
fn is_about_a_named_variable(error: &ConfigError, settings: &Settings) -> bool {
    let ConfigError::UnknownVariable { variable, .. } = error else { return false };
    let endpoints = settings.models.endpoints.values().filter_map(|endpoint| endpoint.api_key_env.as_ref());
    let mut keys = endpoints.chain(&settings.user_config_api.api_key_env);
    let is_shared = |name: &String| match name.strip_suffix('*') {
        Some(beginning) => variable.starts_with(beginning),
        None => name == variable,
    };
    keys.any(|name| name == variable) || settings.workspace.env.iter().any(is_shared)
}
