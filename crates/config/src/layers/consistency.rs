//! Settings that are valid one by one and contradict each other.

use std::collections::BTreeMap;

use fixpoint_vocabulary::settings::Settings;

use super::error::ConfigError;
use super::merge::Setting;

/// Every contradiction, with the place of the setting that is to be corrected.
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
    errors
}

/// The place of any key of an endpoint that a layer sets.
fn endpoint_place(name: &str, origins: &BTreeMap<String, Setting>) -> String {
    let section = format!("models.endpoints.{name}");
    let of_endpoint = origins.iter().find(|(key, _)| key.starts_with(&section));
    of_endpoint.map_or(section.clone(), |(_, setting)| setting.origin.to_string())
}
