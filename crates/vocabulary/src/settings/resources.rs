//! Settings of what a run uses and spends: budget, models, agent, sandbox, outside services.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::usage::{MicroUsd, Usage};

/// What a run may spend. An absent limit is no limit.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct BudgetSettings {
    /// Calls of models.
    #[schemars(range(min = 0, max = 10_000_000))]
    pub model_calls: Option<u64>,
    /// Tokens of models, in and out together.
    #[schemars(range(min = 0, max = 1_000_000_000_000_u64))]
    pub tokens: Option<u64>,
    /// Money, in US dollars.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub usd: Option<f64>,
    /// Time, in seconds.
    #[schemars(range(min = 0, max = 31_536_000))]
    pub wall_time: Option<u64>,
    /// Attempts of agents.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub attempts: Option<u64>,
}

/// Which model plays which role.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ModelSettings {
    /// The model that plans, or `auto`.
    pub planner: String,
    /// The model that judges, or `auto`.
    pub judge: String,
    /// The model of the built-in agent, or `auto`.
    pub worker: String,
    /// The model that reflects, or `auto`.
    pub reflector: String,
    /// How often an answer that cannot be read is asked for again.
    #[schemars(range(min = 0, max = 10))]
    pub max_format_retries: u32,
    /// Tokens of one answer, at most.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub max_output_tokens: u32,
    /// Tokens of one prompt, at most.
    #[schemars(range(min = 1000, max = 10_000_000))]
    pub max_prompt_tokens: u32,
    /// Seconds for one answer, repetitions after failures included.
    #[schemars(range(min = 1, max = 86_400))]
    pub timeout: u32,
    /// Requests for one answer, at most, when an endpoint fails or is busy.
    #[schemars(range(min = 1, max = 100))]
    pub max_requests: u32,
    /// Prices by model name, where the built-in table is wrong or silent.
    pub prices: BTreeMap<String, Price>,
    /// Endpoints by name, beside those that are known; a model of one is named `endpoint/model`.
    pub endpoints: BTreeMap<String, Endpoint>,
}

impl Default for ModelSettings {
    fn default() -> Self {
        Self {
            planner: "auto".to_string(),
            judge: "auto".to_string(),
            worker: "auto".to_string(),
            reflector: "auto".to_string(),
            max_format_retries: 2,
            max_output_tokens: 8192,
            max_prompt_tokens: 64_000,
            timeout: 300,
            max_requests: 6,
            prices: BTreeMap::new(),
            endpoints: BTreeMap::new(),
        }
    }
}

/// An endpoint that serves models.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Endpoint {
    /// Its address up to and without the part that names the operation, such as `http://localhost:8080/v1`.
    pub url: String,
    /// How it is spoken to.
    pub protocol: Protocol,
    /// The name of the environment variable that holds the key; without one, none is sent.
    pub api_key_env: Option<String>,
    /// A command that prints the key, where no variable holds it.
    pub api_key_command: Option<String>,
    /// Whether answers are taken as they are written.
    pub stream: Option<bool>,
}

/// How an endpoint is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// OpenAI's chat completions, which most servers offer.
    #[default]
    Openai,
    /// Anthropic's messages.
    Anthropic,
}

/// What a model costs, in US dollars.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Price {
    /// Per million tokens read.
    #[schemars(range(min = 0, max = 100_000))]
    pub input_per_million: f64,
    /// Per million tokens read out of a cache; as other tokens read where absent.
    #[schemars(range(min = 0, max = 100_000))]
    pub cache_read_per_million: Option<f64>,
    /// Per million tokens read and written into a cache; likewise.
    #[schemars(range(min = 0, max = 100_000))]
    pub cache_write_per_million: Option<f64>,
    /// Per million tokens written.
    #[schemars(range(min = 0, max = 100_000))]
    pub output_per_million: f64,
    /// Per attempt of an external agent.
    #[schemars(range(min = 0, max = 100_000))]
    pub per_attempt: f64,
}

impl Price {
    /// What a usage costs; an attempt of an agent is not part of it.
    #[expect(clippy::cast_precision_loss, reason = "a sum of money needs no more than 53 bits")]
    pub fn of(&self, usage: &Usage) -> MicroUsd {
        let cost = |tokens: u64, per_million: f64| tokens as f64 * per_million / 1e6;
        let read = self.cache_read_per_million.unwrap_or(self.input_per_million);
        let write = self.cache_write_per_million.unwrap_or(self.input_per_million);
        MicroUsd::from_usd(
            cost(usage.input_tokens, self.input_per_million)
                + cost(usage.cache_read_tokens, read)
                + cost(usage.cache_write_tokens, write)
                + cost(usage.output_tokens, self.output_per_million),
        )
    }
}

/// The coding agent that does the work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AgentSettings {
    /// Which agent.
    pub kind: AgentKind,
    /// The command line of an agent of kind `command` or `acp`; of the other kinds, the program where it is not on
    /// the path, with arguments that are added to ours.
    pub command: Vec<String>,
    /// The model the agent is to use, where it can be told.
    pub model: Option<String>,
    /// Seconds for one attempt.
    #[schemars(range(min = 1, max = 604_800))]
    pub timeout: u32,
    /// Seconds without any output until the agent counts as hanging.
    #[schemars(range(min = 1, max = 604_800))]
    pub silence_timeout: u32,
}

impl Default for AgentSettings {
    fn default() -> Self {
        Self { kind: AgentKind::Auto, command: Vec::new(), model: None, timeout: 3600, silence_timeout: 900 }
    }
}

/// Which agent does the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AgentKind {
    /// The first that is installed.
    #[default]
    Auto,
    /// Any agent that speaks the Agent Client Protocol.
    Acp,
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// OpenCode.
    Opencode,
    /// Gemini CLI.
    Gemini,
    /// Fixpoint's own.
    Builtin,
    /// Any command line.
    Command,
}

/// Whether agents are confined by the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SandboxMode {
    /// Where the kernel offers it.
    #[default]
    Auto,
    /// Refuse to run without.
    Required,
    /// Never.
    Off,
}

/// An MCP server, started as a command or reached by address.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct McpServer {
    /// The program to start.
    pub command: Option<String>,
    /// Its arguments.
    pub args: Vec<String>,
    /// Names of environment variables it is given, each with the variable it is read from.
    pub env: BTreeMap<String, String>,
    /// The address of a server that is already running.
    pub url: Option<String>,
}

/// A service that answers with one person's settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct UserConfigApi {
    /// Off: nobody is asked.
    pub enabled: bool,
    /// The service's address.
    pub url: Option<String>,
    /// The name of the environment variable that holds its key.
    pub api_key_env: Option<String>,
    /// Seconds until it counts as unreachable.
    #[schemars(range(min = 1, max = 600))]
    pub timeout: u32,
    /// Whether a run without its answer is an error.
    pub required: bool,
}

impl Default for UserConfigApi {
    fn default() -> Self {
        Self { enabled: false, url: None, api_key_env: None, timeout: 10, required: false }
    }
}
