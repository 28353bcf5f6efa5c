//! Asks the user configuration service for the settings of the person a run is for. They apply to that run only.

use std::time::Duration;

use fixpoint_config::Node;
use fixpoint_models::{Key, Network, NetworkLimits};
use fixpoint_vocabulary::settings::UserConfigApi;
use serde_json::{Map, Value, json};

use crate::app_context::AppContext;

/// The settings of `person` (PLATFORM/NAME) as a layer of the configuration, or why there are none.
pub(crate) fn fetch(person: &str, service: &UserConfigApi, app: &AppContext) -> Result<Node, String> {
    let Some(url) = &service.url else { return Err("user_config_api.url is not set".to_string()) };
    let Some((platform, name)) = person.split_once('/') else {
        return Err(format!("`{person}` is not PLATFORM/NAME, such as github/alice"));
    };
    let key = match &service.api_key_env {
        None => None,
        Some(variable) => {
            let value = app.variable(variable).map(|value| value.to_string_lossy().into_owned());
            let key = value.as_deref().and_then(Key::new);
            Some(key.ok_or_else(|| {
                format!("user_config_api.api_key_env: ${variable} is not set, or is not a key")
            })?)
        }
    };
    let address = format!(
        "{}/config/{}/{}",
        url.trim_end_matches('/'),
        percent_encoded(platform),
        percent_encoded(name)
    );
    let within = Duration::from_secs(u64::from(service.timeout));
    let network = Network::new(NetworkLimits::default(), &app.variables());
    let body =
        network.fetch(&address, key.as_ref(), within).map_err(|error| format!("{address}: {error}"))?;
    let answer: Value =
        serde_json::from_slice(&body).map_err(|error| format!("the answer is not valid JSON: {error}"))?;
    layer(&answer).map(Node::from)
}

/// The layer in an answer: its `data`, in which `llm` becomes `models`.
fn layer(answer: &Value) -> Result<Value, String> {
    if answer.get("status").and_then(Value::as_str) != Some("success") {
        return Err("the answer does not have `\"status\": \"success\"`".to_string());
    }
    let Some(Value::Object(data)) = answer.get("data") else {
        return Err("the answer has no object `data`".to_string());
    };
    let mut layer: Map<String, Value> = data.clone();
    if let Some(Value::Object(llm)) = layer.remove("llm") {
        let models = models(&llm);
        if !models.is_empty() {
            layer.insert("models".to_string(), Value::Object(models));
        }
    }
    Ok(Value::Object(layer))
}

/// `provider` and `model` name one model for all roles; a role may have its own. An API key in the answer is ignored.
fn models(llm: &Map<String, Value>) -> Map<String, Value> {
    let text = |name: &str| llm.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let for_all = match (text("provider"), text("model")) {
        (Some(provider), Some(model)) => Some(format!("{provider}/{model}")),
        (None, Some(model)) => Some(model.to_string()),
        (_, None) => None,
    };
    let roles = ["planner", "judge", "reflector"];
    let named = |role: &str| text(role).map(ToString::to_string).or_else(|| for_all.clone());
    let mut models: Map<String, Value> =
        roles.iter().filter_map(|role| Some(((*role).to_string(), json!(named(role)?)))).collect();
    for limit in ["max_output_tokens", "max_prompt_tokens", "timeout"] {
        if let Some(value) = llm.get(limit) {
            models.insert(limit.to_string(), value.clone());
        }
    }
    models
}

/// A name, percent-encoded for a URL.
fn percent_encoded(name: &str) -> String {
    let letter = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => (byte as char).to_string(),
        other => format!("%{other:02X}"),
    };
    name.bytes().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_becomes_a_layer() {
        let answer = json!({ "status": "success", "data": {
            "llm": { "provider": "openai", "model": "gpt-5", "judge": "anthropic/claude", "api_key": "never" },
            "planning": { "max_subtasks": 7 },
        }});
        let expected = json!({
            "models": { "planner": "openai/gpt-5", "judge": "anthropic/claude", "reflector": "openai/gpt-5" },
            "planning": { "max_subtasks": 7 },
        });
        assert_eq!(layer(&answer), Ok(expected));
        assert!(layer(&json!({ "status": "error" })).is_err());
        assert!(layer(&json!({ "status": "success" })).is_err());
    }

    #[test]
    fn names_cannot_change_the_path() {
        assert_eq!(percent_encoded("a/../b?c=ä"), "a%2F..%2Fb%3Fc%3D%C3%A4");
    }
}
