//! What the schema cannot express: settings that contradict each other, and malformed globs.

use std::collections::BTreeMap;

use fixpoint_decide::glob::{NameGlob, NameGlobError, PatternSet};
use fixpoint_vocabulary::settings::Settings;

use super::error::ConfigError;
use super::merge::Setting;

/// Every error, at the place of the setting that must be corrected.
pub(super) fn errors(settings: &Settings, origins: &BTreeMap<String, Setting>) -> Vec<ConfigError> {
    let place =
        |key: &str| origins.get(key).map_or_else(|| key.to_owned(), |setting| setting.origin.to_string());
    let mut errors = Vec::new();
    let names: Vec<&String> = settings.checks.iter().map(|check| &check.name).collect();
    for (index, name) in names.iter().enumerate() {
        if names.iter().take(index).any(|earlier| earlier == name) {
            let message =
                format!("checks[{index}].name: another check is called `{name}`; rename one of them");
            errors.push(ConfigError::new(place("checks"), message));
        }
    }
    for name in settings.baseline.checks.iter().filter(|name| !names.is_empty() && !names.contains(name)) {
        let known = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let message = format!("baseline.checks: there is no check `{name}`; `checks` has {known}");
        errors.push(ConfigError::new(place("baseline.checks"), message));
    }
    for (name, endpoint) in &settings.models.endpoints {
        if endpoint.url.trim().is_empty() {
            let key = format!("models.endpoints.{name}.url");
            let message = format!("{key}: missing; write the address, such as `http://localhost:8080/v1`");
            errors.push(ConfigError::new(endpoint_place(name, origins), message));
        }
    }
    for (section, key, message) in malformed_globs(settings) {
        errors.push(ConfigError::new(place(section), format!("{key}: {message}")));
    }
    errors
}

/// The setting, the path of the value in it, and what is wrong with the glob.
fn malformed_globs(settings: &Settings) -> Vec<(&'static str, String, String)> {
    let message = |glob: &str, error: NameGlobError| format!("`{glob}`: {error}");
    let mut malformed = Vec::new();
    for (section, globs) in [
        ("scope.allowed_paths", &settings.scope.allowed_paths),
        ("scope.denied_paths", &settings.scope.denied_paths),
        ("workspace.copy", &settings.workspace.copy),
    ] {
        for (index, glob) in globs.iter().enumerate() {
            if PatternSet::new([glob]).malformed().next().is_some() {
                let key = format!("{section}[{index}]");
                malformed.push((section, key, message(glob, NameGlobError::Malformed)));
            }
        }
    }
    let section = "scope.companions";
    for (index, pair) in settings.scope.companions.iter().enumerate() {
        for (field, glob) in [("file", &pair.file), ("with", &pair.with)] {
            if let Err(error) = NameGlob::new(glob) {
                malformed.push((section, format!("{section}[{index}].{field}"), message(glob, error)));
            }
        }
    }
    malformed
}

/// The place of any key of an endpoint that a layer sets.
fn endpoint_place(name: &str, origins: &BTreeMap<String, Setting>) -> String {
    let section = format!("models.endpoints.{name}");
    let of_endpoint = origins.iter().find(|(key, _)| key.starts_with(&section));
    of_endpoint.map_or(section.clone(), |(_, setting)| setting.origin.to_string())
}
