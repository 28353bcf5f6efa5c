//! The providers that are known by name.
//!
//! Owns one table: address, key variable, protocol, and the model that is used where none is named. Refuses to check
//! whether any of them is available.

use fixpoint_vocabulary::settings::Protocol;

use crate::prices::Locality;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Provider {
    /// The part of a model's name before the slash.
    pub(crate) name: &'static str,
    pub(crate) protocol: Protocol,
    /// The address of the public service, or of the default local port.
    pub(crate) url: &'static str,
    pub(crate) access: Access,
}

/// How a provider is reached.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Access {
    ApiKey {
        variable: &'static str,
        /// The variable that overrides the address.
        url_variable: Option<&'static str>,
        /// The model that `auto` uses.
        model: &'static str,
    },
    LocalServer {
        port: u16,
    },
}

/// A public service that speaks OpenAI's protocol.
const fn service(
    name: &'static str,
    url: &'static str,
    variable: &'static str,
    model: &'static str,
) -> Provider {
    let access = Access::ApiKey { variable, url_variable: None, model };
    Provider { name, protocol: Protocol::Openai, url, access }
}

/// A server on this machine, which speaks OpenAI's protocol.
const fn local(name: &'static str, url: &'static str, port: u16) -> Provider {
    Provider { name, protocol: Protocol::Openai, url, access: Access::LocalServer { port } }
}

/// In the order in which `auto` looks for them.
pub(crate) const PROVIDERS: [Provider; 10] = [
    Provider {
        name: "anthropic",
        protocol: Protocol::Anthropic,
        url: "https://api.anthropic.com/v1",
        access: Access::ApiKey {
            variable: "ANTHROPIC_API_KEY",
            url_variable: Some("ANTHROPIC_BASE_URL"),
            model: "claude-sonnet-5",
        },
    },
    Provider {
        name: "openai",
        protocol: Protocol::Openai,
        url: "https://api.openai.com/v1",
        access: Access::ApiKey {
            variable: "OPENAI_API_KEY",
            url_variable: Some("OPENAI_BASE_URL"),
            model: "gpt-6.1-sol",
        },
    },
    service("openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", "anthropic/claude-sonnet-5"),
    service(
        "gemini",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "GEMINI_API_KEY",
        "gemini-3.6-flash",
    ),
    service("deepseek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", "deepseek-v4-pro"),
    service("mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY", "mistral-large-latest"),
    service("groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY", "openai/gpt-oss-120b"),
    local("ollama", "http://127.0.0.1:11434/v1", 11434),
    local("llamacpp", "http://127.0.0.1:8080/v1", 8080),
    local("lmstudio", "http://127.0.0.1:1234/v1", 1234),
];

impl Provider {
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        PROVIDERS.iter().find(|provider| provider.name == name)
    }

    pub(crate) fn locality(&self) -> Locality {
        match self.access {
            Access::ApiKey { .. } => Locality::Remote,
            Access::LocalServer { .. } => Locality::Own,
        }
    }
}
