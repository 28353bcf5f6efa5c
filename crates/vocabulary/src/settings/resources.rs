//! Settings of what a run uses: budget, models, agent, sandbox, user config service.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::prelude::*;
use crate::usage::{MicroUsd, Usage};

/// What one run may spend; null means no limit. Work that has begun is finished; then the run pauses, and
/// `fixpoint resume --budget` continues it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct BudgetSettings {
    /// Questions to models, at most. `fixpoint loop` asks none.
    #[schemars(range(min = 0, max = 10_000_000))]
    pub model_calls: Option<u64>,
    /// Tokens that models read and write, together. What agents use is not counted.
    #[schemars(range(min = 0, max = 1_000_000_000_000_u64))]
    pub tokens: Option<u64>,
    /// US dollars for models and agents together, as far as their prices are known or reported. The default applies
    /// to `fixpoint run` and `fixpoint plan`; `fixpoint loop` has a limit in money only if you set one. For example,
    /// `5`, or `null` for no limit.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub usd: Option<f64>,
    /// Seconds of work. The time in which a run is paused is not counted.
    #[schemars(range(min = 0, max = 31_536_000))]
    pub wall_time: Option<u64>,
    /// Attempts by agents, in all tasks together.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub attempts: Option<u64>,
}

impl Default for BudgetSettings {
    fn default() -> Self {
        Self { model_calls: None, tokens: None, usd: Some(20.0), wall_time: None, attempts: None }
    }
}

/// Which language models plan, judge and reflect, and how they are reached.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("x-unavailable-keys" = {
    "worker": "set the model of the coding agent with `agent.model` instead"
}))]
pub struct ModelSettings {
    /// The model that makes plans: `ENDPOINT/MODEL` such as `openai/gpt-5`, an installed agent such as
    /// `agent:claude`, or `auto` for the first one found.
    pub planner: String,
    /// The model that judges plans and results; values as for `models.planner`.
    pub judge: String,
    /// The model that reviews finished tasks; values as for `models.planner`.
    pub reflector: String,
    /// How many times a question is repeated if the answer is not valid.
    #[schemars(range(min = 0, max = 10))]
    pub max_format_retries: u32,
    /// Tokens that one answer may have, at most.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub max_output_tokens: u32,
    /// Tokens that one prompt may have, at most; longer texts in it are shortened.
    #[schemars(range(min = 1000, max = 10_000_000))]
    pub max_prompt_tokens: u32,
    /// Seconds for one answer, including retries.
    #[schemars(range(min = 1, max = 86_400))]
    pub timeout: u32,
    /// Requests for one answer, at most, if an endpoint fails or is busy.
    #[schemars(range(min = 1, max = 100))]
    pub max_requests: u32,
    /// Prices by model name, such as `openai/gpt-5`, where the built-in price list is wrong or has none.
    pub prices: BTreeMap<String, Price>,
    /// Endpoints of your own by name. The models of an endpoint `office` are called `office/MODEL`. Not in a
    /// file of the repository.
    pub endpoints: BTreeMap<String, Endpoint>,
}

impl Default for ModelSettings {
    fn default() -> Self {
        Self {
            planner: "auto".to_string(),
            judge: "auto".to_string(),
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

/// A server that offers models.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Endpoint {
    /// The address, without `/chat/completions` or `/messages` at its end. For example
    /// `http://localhost:8080/v1`. Required.
    pub url: String,
    /// The protocol it speaks.
    pub protocol: Protocol,
    /// The name of the environment variable that holds the API key. Without it and `api_key_command`, no key
    /// is sent.
    pub api_key_env: Option<String>,
    /// A command that prints the API key, used if that variable is not set. For example `pass show office`.
    pub api_key_command: Option<String>,
    /// Whether answers are streamed; null means yes.
    pub stream: Option<bool>,
}

/// The protocol an endpoint speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// OpenAI's chat completions, which most servers support.
    #[default]
    Openai,
    /// Anthropic's messages API.
    Anthropic,
}

/// What a model costs, in US dollars.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Price {
    /// US dollars for a million input tokens.
    #[schemars(range(min = 0, max = 100_000))]
    pub input_per_million: f64,
    /// US dollars for a million input tokens read from the prompt cache; null means the price of input
    /// tokens.
    #[schemars(range(min = 0, max = 100_000))]
    pub cache_read_per_million: Option<f64>,
    /// US dollars for a million input tokens written to the prompt cache; null means the price of input
    /// tokens.
    #[schemars(range(min = 0, max = 100_000))]
    pub cache_write_per_million: Option<f64>,
    /// US dollars for a million output tokens.
    #[schemars(range(min = 0, max = 100_000))]
    pub output_per_million: f64,
    /// US dollars for one attempt by an agent, for the model that `agent.model` names. Used for the budget,
    /// if the agent does not report its cost.
    #[schemars(range(min = 0, max = 100_000))]
    pub per_attempt: f64,
}

impl Price {
    /// What the tokens cost, without `per_attempt`.
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

/// The coding agent that edits the code, where none is named after `--`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AgentSettings {
    /// Which coding agent.
    pub kind: AgentKind,
    /// The program and its arguments, for example `["/opt/claude/bin/claude", "--verbose"]`. Required for the
    /// kind `command`. For the other kinds: where the program is, if not on the `PATH`, and arguments to add.
    pub command: Vec<String>,
    /// The model that Claude Code and Codex are told to use; null for their own default. Other agents take it
    /// as an argument in `agent.command`.
    pub model: Option<String>,
    /// Seconds after which an attempt is stopped; what it left is checked all the same.
    #[schemars(range(min = 1, max = 604_800))]
    pub timeout: u32,
    /// Seconds without any output after which an attempt is stopped.
    #[schemars(range(min = 1, max = 604_800))]
    pub silence_timeout: u32,
}

impl Default for AgentSettings {
    fn default() -> Self {
        Self { kind: AgentKind::Auto, command: Vec::new(), model: None, timeout: 3600, silence_timeout: 900 }
    }
}

/// Which coding agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(extend("x-unavailable-values" = {
    "acp": "use `command` with `agent.command` instead",
    "builtin": "install a coding agent such as Claude Code or Codex, or use `command` with `agent.command` instead"
}))]
pub enum AgentKind {
    /// The kind that `agent.command` shows, else the first supported agent on the `PATH`.
    #[default]
    Auto,
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// OpenCode.
    Opencode,
    /// Gemini CLI.
    Gemini,
    /// Any program, as `agent.command` says. It gets the prompt as `{prompt}` or `{prompt_file}` in its
    /// arguments, else on standard input.
    Command,
}

/// What agents, checks and set-up commands may reach beside their workspace.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SandboxSettings {
    /// Whether programs are confined by the operating system. `sandbox: MODE` is short for this key.
    pub mode: SandboxMode,
    /// Files and directories that can be read, beside the system and toolchains. `~` is the home directory.
    /// Example: `["~/.config/pip"]`.
    #[schemars(length(max = 200))]
    pub read: Vec<String>,
    /// Files and directories that can be written, such as a cache that all runs share.
    #[schemars(length(max = 200))]
    pub write: Vec<String>,
    /// Files and directories that are hidden although they lie in one that can be read.
    #[schemars(length(max = 200))]
    pub hide: Vec<String>,
    /// Which connections programs can make.
    pub network: SandboxNetwork,
}

/// Runs of older versions recorded the mode alone.
pub(super) fn sandbox_settings<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<SandboxSettings, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Recorded {
        Mode(SandboxMode),
        Whole(SandboxSettings),
    }
    Ok(match Recorded::deserialize(deserializer)? {
        Recorded::Mode(mode) => SandboxSettings { mode, ..SandboxSettings::default() },
        Recorded::Whole(settings) => settings,
    })
}

/// Whether programs are confined by the operating system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SandboxMode {
    /// Programs are confined where the kernel can; where it cannot, Fixpoint warns.
    #[default]
    Auto,
    /// Nothing runs where the kernel cannot confine programs.
    Required,
    /// Programs run with your permissions.
    Off,
}

/// Which connections confined programs can make.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SandboxNetwork {
    /// All.
    #[default]
    On,
    /// Only to what the program itself listens on: it has a loopback interface of its own.
    Loopback,
    /// None.
    Off,
}

/// A web service that supplies the settings of the person a `fixpoint run` or `fixpoint plan` is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct UserConfigApi {
    /// Whether the service is asked, with `GET URL/config/PLATFORM/NAME`. `--for PLATFORM/NAME` says for
    /// whom.
    pub enabled: bool,
    /// The address of the service. Required if `enabled` is true.
    pub url: Option<String>,
    /// The name of the environment variable that holds the API key; null for none.
    pub api_key_env: Option<String>,
    /// Seconds to wait for the answer.
    #[schemars(range(min = 1, max = 600))]
    pub timeout: u32,
    /// Whether a missing or invalid answer is an error. If false, it is a warning, and the other layers are
    /// used.
    pub required: bool,
}

impl Default for UserConfigApi {
    fn default() -> Self {
        Self { enabled: false, url: None, api_key_env: None, timeout: 10, required: false }
    }
}
