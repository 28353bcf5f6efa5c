//! From a model's name in the configuration to a model that can be asked.
//!
//! Owns the address, the key and the price that belong to a name. Refuses to read the process's environment, which is
//! passed in, and to contact anything but local servers, for `auto`. The same name always gives the same model.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use fixpoint_ports::{Cancel, ExitCause, Model, Program, Stdin};
use fixpoint_vocabulary::settings::{Endpoint, ModelSettings, Protocol};
use reqwest::Url;

use crate::agent_model::AgentModel;
use crate::detect::{self, DetectMode};
use crate::endpoint::{EndpointConfig, EndpointModel};
use crate::environment::{ModelEnvironment, ProgramCall};
use crate::key::Key;
use crate::name::{ModelName, not_a_model};
use crate::options::{Delivery, RequestOptions};
use crate::prices::{self, Locality};
use crate::providers::{Access, PROVIDERS, Provider};
use crate::scripted::ScriptedModel;
use crate::setup_error::SetupError;

const KEY_COMMAND_TIMEOUT: Duration = Duration::from_secs(30);

/// Finds models by name. Each is built once, and `auto` is detected once.
#[derive(Debug)]
pub struct Resolver<'a> {
    settings: &'a ModelSettings,
    environment: &'a ModelEnvironment,
    resolved: BTreeMap<String, ResolvedModel>,
    auto_model: Option<String>,
}

#[derive(Clone)]
struct ResolvedModel(Arc<dyn Model>);

impl fmt::Debug for ResolvedModel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0.name())
    }
}

impl<'a> Resolver<'a> {
    pub fn new(settings: &'a ModelSettings, environment: &'a ModelEnvironment) -> Self {
        Self { settings, environment, resolved: BTreeMap::new(), auto_model: None }
    }

    pub fn model(&mut self, name: &str) -> Result<Arc<dyn Model>, SetupError> {
        let name = match ModelName::parse(name)? {
            ModelName::Auto => self.detect()?,
            ModelName::Endpoint { .. } | ModelName::Agent(_) | ModelName::Scripted(_) => {
                name.trim().to_string()
            }
        };
        if let Some(ResolvedModel(model)) = self.resolved.get(&name) {
            return Ok(Arc::clone(model));
        }
        let model = self.build(&name)?;
        self.resolved.insert(name, ResolvedModel(Arc::clone(&model)));
        Ok(model)
    }

    fn detect(&mut self) -> Result<String, SetupError> {
        let found = match self.auto_model.take() {
            Some(found) => found,
            None => {
                let detected = detect::detect(self.settings, self.environment, DetectMode::FirstFound);
                let advice = detected.advice;
                detected.auto_model.ok_or(SetupError::NothingFound { advice })?
            }
        };
        Ok(self.auto_model.insert(found).clone())
    }

    fn build(&self, name: &str) -> Result<Arc<dyn Model>, SetupError> {
        match ModelName::parse(name)? {
            ModelName::Endpoint { endpoint, model } => {
                let config = self.endpoint_config(&endpoint, &model)?;
                Ok(Arc::new(EndpointModel::new(config, Arc::clone(&self.environment.network))))
            }
            ModelName::Agent(agent) => {
                let missing = || {
                    let problem =
                        format!("`{}` is not on PATH; install it, or name another model", agent.program());
                    SetupError::Name { name: name.to_string(), problem }
                };
                let path = self.environment.program(agent.program()).ok_or_else(missing)?;
                let runner = self.environment.programs.clone().ok_or_else(missing)?;
                let price = prices::price(&self.settings.prices, name, name, Locality::Remote);
                Ok(Arc::new(AgentModel::new(agent, path, runner, price)))
            }
            ModelName::Scripted(path) => {
                let script = ScriptedModel::read(&path)?;
                Ok(Arc::new(match &self.environment.script_counts {
                    Some(directory) => {
                        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
                        script.with_counts_in(&directory.join(format!("{stem}.counts.json")))?
                    }
                    None => script,
                }))
            }
            // What was detected is never `auto` itself.
            ModelName::Auto => Err(not_a_model(name)),
        }
    }

    /// A configured endpoint takes precedence over a known provider of the same name.
    fn endpoint_config(&self, endpoint: &str, model: &str) -> Result<EndpointConfig, SetupError> {
        let resolved = match self.settings.endpoints.get(endpoint) {
            Some(settings) => self.configured(endpoint, settings)?,
            None => self.known(endpoint, model)?,
        };
        let name = format!("{endpoint}/{model}");
        Ok(EndpointConfig {
            price: prices::price(&self.settings.prices, &name, model, resolved.locality),
            name,
            endpoint: endpoint.to_string(),
            model: model.to_string(),
            protocol: resolved.protocol,
            url: resolved.url,
            key: resolved.key,
            initial_options: resolved.options,
            max_requests: self.settings.max_requests,
        })
    }

    fn configured(&self, name: &str, endpoint: &Endpoint) -> Result<ResolvedEndpoint, SetupError> {
        let url = request_url(name, &endpoint.url, endpoint.protocol)?;
        let delivery = match endpoint.stream {
            Some(false) => Delivery::Whole,
            Some(true) | None => Delivery::Stream,
        };
        let key = match (&endpoint.api_key_env, &endpoint.api_key_command) {
            (Some(variable), command) => match (self.environment.variable(variable), command) {
                (Some(text), _) => Some(key_from_variable(name, variable, text)?),
                (None, Some(command)) => Some(self.key_from_command(name, command)?),
                (None, None) => return Err(no_key(name, variable)),
            },
            (None, Some(command)) => Some(self.key_from_command(name, command)?),
            (None, None) => None,
        };
        let locality = if is_loopback(&url) { Locality::Loopback } else { Locality::Remote };
        let options = RequestOptions { delivery, ..RequestOptions::default() };
        Ok(ResolvedEndpoint { protocol: endpoint.protocol, url, key, locality, options })
    }

    fn known(&self, name: &str, model: &str) -> Result<ResolvedEndpoint, SetupError> {
        let Some(provider) = Provider::named(name) else {
            let known: Vec<&str> = PROVIDERS.iter().map(|provider| provider.name).collect();
            let own = self.settings.endpoints.keys().map(String::as_str);
            let known = known.into_iter().chain(own).collect::<Vec<_>>().join(", ");
            let problem = format!(
                "there is no endpoint `{name}`; known endpoints: {known}; configure others under `models.endpoints`"
            );
            return Err(SetupError::Name { name: format!("{name}/{model}"), problem });
        };
        let (address, key) = match provider.access {
            Access::ApiKey { variable, url_variable, .. } => {
                let text = self.environment.variable(variable).ok_or_else(|| no_key(name, variable))?;
                let other = url_variable.and_then(|variable| self.environment.variable(variable));
                let address =
                    other.map_or_else(|| provider.url.to_string(), |other| with_version(other, provider));
                (address, Some(key_from_variable(name, variable, text)?))
            }
            Access::LocalServer { port } => {
                (format!("http://127.0.0.1:{}/v1", self.environment.port(provider.name, port)), None)
            }
        };
        let url = request_url(name, &address, provider.protocol)?;
        let locality = match provider.locality() {
            Locality::Remote if is_loopback(&url) => Locality::Loopback,
            locality @ (Locality::Remote | Locality::Loopback | Locality::Own) => locality,
        };
        Ok(ResolvedEndpoint {
            protocol: provider.protocol,
            url,
            key,
            locality,
            options: RequestOptions::default(),
        })
    }

    /// The key that a command prints. The output is not stored anywhere.
    fn key_from_command(&self, endpoint: &str, command: &str) -> Result<Key, SetupError> {
        let unusable = |problem: String| SetupError::Endpoint {
            endpoint: endpoint.to_string(),
            problem: format!("`api_key_command` {problem}"),
        };
        let runner = self.environment.programs.as_ref();
        let runner = runner.ok_or_else(|| unusable("cannot be run here".to_string()))?;
        let call = ProgramCall {
            program: Program::Shell(command.to_string()),
            stdin: Stdin::Closed,
            timeout: KEY_COMMAND_TIMEOUT,
            max_output: 16 << 10,
        };
        let not_started = |reason: String| unusable(format!("could not be started: {reason}"));
        let ran = runner.run(&Cancel::default(), |_| Ok(call)).map_err(not_started)?;
        match ran.cause {
            ExitCause::Exited(0) => {}
            ExitCause::Exited(code) => return Err(unusable(format!("failed with exit code {code}"))),
            ExitCause::Signalled(_) | ExitCause::TimedOut | ExitCause::Silent | ExitCause::Cancelled => {
                return Err(unusable("was killed or took too long".to_string()));
            }
            ExitCause::NotStarted(reason) => return Err(not_started(reason)),
        }
        let text = String::from_utf8_lossy(&ran.output);
        let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        Key::new(line).ok_or_else(|| unusable("printed no key".to_string()))
    }
}

struct ResolvedEndpoint {
    protocol: Protocol,
    url: Url,
    key: Option<Key>,
    locality: Locality,
    options: RequestOptions,
}

fn no_key(endpoint: &str, variable: &str) -> SetupError {
    let problem = format!("it needs a key; set the environment variable {variable}");
    SetupError::Endpoint { endpoint: endpoint.to_string(), problem }
}

fn key_from_variable(endpoint: &str, variable: &str, text: &str) -> Result<Key, SetupError> {
    Key::new(text).ok_or_else(|| SetupError::Endpoint {
        endpoint: endpoint.to_string(),
        problem: format!("{variable} contains characters that no key has"),
    })
}

/// Anthropic's own tools expect an address without `/v1`, OpenAI's one with it.
fn with_version(address: &str, provider: &Provider) -> String {
    let address = address.trim_end_matches('/');
    match provider.protocol {
        Protocol::Openai => address.to_string(),
        Protocol::Anthropic if address.ends_with("/v1") => address.to_string(),
        Protocol::Anthropic => format!("{address}/v1"),
    }
}

/// The address with the path of the API.
fn request_url(endpoint: &str, address: &str, protocol: Protocol) -> Result<Url, SetupError> {
    let unusable = |problem: &str| SetupError::Endpoint {
        endpoint: endpoint.to_string(),
        problem: format!("its `url` is not valid: {problem}"),
    };
    let mut url = Url::parse(address.trim()).map_err(|error| unusable(&error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(unusable("it must start with http:// or https://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(unusable(
            "it contains a user name or a password; put the key into an environment variable",
        ));
    }
    let path = match protocol {
        Protocol::Openai => "/chat/completions",
        Protocol::Anthropic => "/messages",
    };
    let base = url.path().trim_end_matches('/').trim_end_matches(path).to_string();
    let base = if base.is_empty() { "/v1".to_string() } else { base };
    url.set_path(&format!("{base}{path}"));
    Ok(url)
}

fn is_loopback(url: &Url) -> bool {
    url.host_str().is_some_and(|host| {
        let host = host.trim_matches(['[', ']']);
        host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
    })
}
