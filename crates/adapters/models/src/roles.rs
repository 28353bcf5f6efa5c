//! Which model plays which role.
//!
//! Owns the way from a name in the configuration to a model that can be asked: the address, the key, the price. Refuses
//! to read the process's environment, which is handed in, and to ask anybody anything but local servers for `auto`.
//! Roles of the same name share one model.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use fixpoint_ports::{Cancel, ExitCause, Model, Program, Stdin};
use fixpoint_vocabulary::ask::Role;
use fixpoint_vocabulary::settings::{Endpoint, ModelSettings, Protocol};
use reqwest::Url;

use crate::agent_model::AgentModel;
use crate::detect::{self, Thoroughness};
use crate::endpoint::{EndpointModel, Terms};
use crate::error::SetupError;
use crate::key::Key;
use crate::name::ModelName;
use crate::prices::{self, Locality};
use crate::providers::{Kind, PROVIDERS, Provider};
use crate::scripted::Scripted;
use crate::shape::{Delivery, Shape};
use crate::surroundings::{Errand, Surroundings};

/// A command that prints a key has this long.
const KEY_COMMAND: Duration = Duration::from_secs(30);

/// The models of all roles.
#[derive(Clone)]
pub struct Roles {
    /// Makes plans.
    pub planner: Arc<dyn Model>,
    /// Judges plans and results.
    pub judge: Arc<dyn Model>,
    /// Works, with tools.
    pub worker: Arc<dyn Model>,
    /// Reflects on plans.
    pub reflector: Arc<dyn Model>,
}

impl fmt::Debug for Roles {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Roles")
            .field("planner", &self.planner.name())
            .field("judge", &self.judge.name())
            .field("worker", &self.worker.name())
            .field("reflector", &self.reflector.name())
            .finish()
    }
}

impl Roles {
    /// Finds the model of every role.
    pub fn resolve(settings: &ModelSettings, surroundings: &Surroundings) -> Result<Self, SetupError> {
        let mut resolver = Resolver::new(settings, surroundings);
        Ok(Self {
            planner: resolver.model(&settings.planner, Role::Planner)?,
            judge: resolver.model(&settings.judge, Role::Judge)?,
            worker: resolver.model(&settings.planner, Role::Worker)?,
            reflector: resolver.model(&settings.reflector, Role::Reflector)?,
        })
    }
}

/// Finds models by name. Each is made once, and what is there is looked for once.
#[derive(Debug)]
pub struct Resolver<'a> {
    settings: &'a ModelSettings,
    surroundings: &'a Surroundings,
    made: BTreeMap<String, Made>,
    found: Option<detect::Choice>,
}

#[derive(Clone)]
struct Made(Arc<dyn Model>);

impl fmt::Debug for Made {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0.name())
    }
}

impl<'a> Resolver<'a> {
    /// A resolver over these settings.
    pub fn new(settings: &'a ModelSettings, surroundings: &'a Surroundings) -> Self {
        Self { settings, surroundings, made: BTreeMap::new(), found: None }
    }

    /// The model of a name, for a role.
    pub fn model(&mut self, name: &str, role: Role) -> Result<Arc<dyn Model>, SetupError> {
        let name = match ModelName::parse(name)? {
            ModelName::Auto => self.found()?.for_role(role),
            ModelName::At { .. } | ModelName::Agent(_) | ModelName::Scripted(_) => name.trim().to_string(),
        };
        if let Some(Made(model)) = self.made.get(&name) {
            return Ok(Arc::clone(model));
        }
        let model = self.make(&name)?;
        self.made.insert(name, Made(Arc::clone(&model)));
        Ok(model)
    }

    /// What `auto` means here.
    fn found(&mut self) -> Result<&detect::Choice, SetupError> {
        let found = match self.found.take() {
            Some(found) => found,
            None => {
                let detected = detect::detect(self.settings, self.surroundings, Thoroughness::UntilFound);
                let advice = detected.advice;
                detected.choice.ok_or(SetupError::NothingFound { advice })?
            }
        };
        Ok(self.found.insert(found))
    }

    fn make(&self, name: &str) -> Result<Arc<dyn Model>, SetupError> {
        match ModelName::parse(name)? {
            ModelName::At { endpoint, model } => {
                let terms = self.terms(&endpoint, &model)?;
                Ok(Arc::new(EndpointModel::new(terms, Arc::clone(&self.surroundings.network))))
            }
            ModelName::Agent(agent) => {
                let missing = || SetupError::AgentMissing { program: agent.program().to_string() };
                let path = self.surroundings.program(agent.program()).ok_or_else(missing)?;
                let runner = self.surroundings.programs.clone().ok_or_else(missing)?;
                let price = prices::price(&self.settings.prices, name, name, Locality::Remote);
                Ok(Arc::new(AgentModel::new(agent, path, runner, price)))
            }
            ModelName::Scripted(path) => {
                let script = Scripted::read(&path)?;
                Ok(Arc::new(match &self.surroundings.script_counts {
                    Some(directory) => {
                        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
                        script.with_counts_in(&directory.join(format!("{stem}.counts.json")))?
                    }
                    None => script,
                }))
            }
            // What was found is never `auto` itself.
            ModelName::Auto => Err(SetupError::UnreadableName { name: name.to_string() }),
        }
    }

    /// The terms of a model behind an endpoint; an endpoint of the configuration comes before a known one.
    fn terms(&self, endpoint: &str, model: &str) -> Result<Terms, SetupError> {
        let place = match self.settings.endpoints.get(endpoint) {
            Some(settings) => self.configured(endpoint, settings)?,
            None => self.known(endpoint)?,
        };
        let full = format!("{endpoint}/{model}");
        Ok(Terms {
            price: prices::price(&self.settings.prices, &full, model, place.locality),
            name: full,
            endpoint: endpoint.to_string(),
            model: model.to_string(),
            protocol: place.protocol,
            url: place.url,
            key: place.key,
            first_shape: place.shape,
            max_requests: self.settings.max_requests,
        })
    }

    fn configured(&self, name: &str, endpoint: &Endpoint) -> Result<Place, SetupError> {
        let url = operation(name, &endpoint.url, endpoint.protocol)?;
        let delivery = match endpoint.stream {
            Some(false) => Delivery::Whole,
            Some(true) | None => Delivery::Stream,
        };
        let key = match (&endpoint.api_key_env, &endpoint.api_key_command) {
            (Some(variable), command) => match (self.surroundings.variable(variable), command) {
                (Some(text), _) => Some(usable(name, variable, text)?),
                (None, Some(command)) => Some(self.printed_key(name, command)?),
                (None, None) => {
                    return Err(SetupError::KeyMissing {
                        endpoint: name.to_string(),
                        variable: variable.clone(),
                    });
                }
            },
            (None, Some(command)) => Some(self.printed_key(name, command)?),
            (None, None) => None,
        };
        let locality = if is_loopback(&url) { Locality::Loopback } else { Locality::Remote };
        let shape = Shape { delivery, ..Shape::default() };
        Ok(Place { protocol: endpoint.protocol, url, key, locality, shape })
    }

    fn known(&self, name: &str) -> Result<Place, SetupError> {
        let Some(provider) = Provider::named(name) else {
            let known: Vec<&str> = PROVIDERS.iter().map(|provider| provider.name).collect();
            let own = self.settings.endpoints.keys().map(String::as_str);
            let known = known.into_iter().chain(own).collect::<Vec<_>>().join(", ");
            return Err(SetupError::UnknownEndpoint { name: name.to_string(), known });
        };
        let (address, key) = match provider.kind {
            Kind::Keyed { key, address, .. } => {
                let missing =
                    || SetupError::KeyMissing { endpoint: name.to_string(), variable: key.to_string() };
                let text = self.surroundings.variable(key).ok_or_else(missing)?;
                let other = address.and_then(|variable| self.surroundings.variable(variable));
                (
                    other.map_or_else(|| provider.url.to_string(), |other| with_version(other, provider)),
                    Some((key, text)),
                )
            }
            Kind::Local { port } => {
                (format!("http://127.0.0.1:{}/v1", self.surroundings.port(provider.name, port)), None)
            }
        };
        let url = operation(name, &address, provider.protocol)?;
        let key = key.map(|(variable, text)| usable(name, variable, text)).transpose()?;
        let locality = match provider.locality() {
            Locality::Remote if is_loopback(&url) => Locality::Loopback,
            locality @ (Locality::Remote | Locality::Loopback | Locality::Own) => locality,
        };
        Ok(Place { protocol: provider.protocol, url, key, locality, shape: Shape::default() })
    }

    /// The key that a command prints. Its output is read by nobody else and is gone afterwards.
    fn printed_key(&self, endpoint: &str, command: &str) -> Result<Key, SetupError> {
        let unusable = |why: String| SetupError::KeyUnusable {
            endpoint: endpoint.to_string(),
            source_of_key: "`api_key_command`".to_string(),
            why,
        };
        let runner = self.surroundings.programs.as_ref();
        let runner = runner.ok_or_else(|| unusable("programs cannot be run here".to_string()))?;
        let errand = Errand {
            program: Program::Shell(command.to_string()),
            stdin: Stdin::Closed,
            wall: KEY_COMMAND,
            most: 16 << 10,
        };
        let ran = runner.run(&Cancel::default(), |_| Ok(errand)).map_err(unusable)?;
        match ran.cause {
            ExitCause::Exited(0) => {}
            ExitCause::Exited(code) => return Err(unusable(format!("it ended with code {code}"))),
            ExitCause::Signalled(_) | ExitCause::TimedOut | ExitCause::Silent | ExitCause::Cancelled => {
                return Err(unusable("it did not end by itself".to_string()));
            }
            ExitCause::NotStarted(_) => return Err(unusable("it could not be started".to_string())),
        }
        let text = String::from_utf8_lossy(&ran.output);
        let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        Key::new(line).ok_or_else(|| unusable("it printed none".to_string()))
    }
}

/// Where and how an endpoint is asked.
struct Place {
    protocol: Protocol,
    url: Url,
    key: Option<Key>,
    locality: Locality,
    shape: Shape,
}

fn usable(endpoint: &str, variable: &str, text: &str) -> Result<Key, SetupError> {
    Key::new(text).ok_or_else(|| SetupError::KeyUnusable {
        endpoint: endpoint.to_string(),
        source_of_key: variable.to_string(),
        why: "it holds characters that no key has".to_string(),
    })
}

/// Anthropic's own tools take an address without the version, OpenAI's one with it.
fn with_version(address: &str, provider: &Provider) -> String {
    let address = address.trim_end_matches('/');
    match provider.protocol {
        Protocol::Openai => address.to_string(),
        Protocol::Anthropic if address.ends_with("/v1") => address.to_string(),
        Protocol::Anthropic => format!("{address}/v1"),
    }
}

/// The address of the operation.
fn operation(endpoint: &str, address: &str, protocol: Protocol) -> Result<Url, SetupError> {
    let unusable = |why: &str| SetupError::Address { endpoint: endpoint.to_string(), why: why.to_string() };
    let mut url = Url::parse(address.trim()).map_err(|error| unusable(&error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(unusable("it must begin with http:// or https://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(unusable("it holds a name or a password; a key belongs into an environment variable"));
    }
    let operation = match protocol {
        Protocol::Openai => "/chat/completions",
        Protocol::Anthropic => "/messages",
    };
    let base = url.path().trim_end_matches('/').trim_end_matches(operation).to_string();
    let base = if base.is_empty() { "/v1".to_string() } else { base };
    url.set_path(&format!("{base}{operation}"));
    Ok(url)
}

fn is_loopback(url: &Url) -> bool {
    url.host_str().is_some_and(|host| {
        let host = host.trim_matches(['[', ']']);
        host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
    })
}
