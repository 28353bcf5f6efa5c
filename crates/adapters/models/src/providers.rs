//! The providers that are known by name.
//!
//! Owns one table: address, key, how each is spoken to, and the model that is taken where none is named. Refuses to look
//! whether anything of it is there.

use fixpoint_vocabulary::settings::Protocol;

use crate::prices::Locality;

/// A provider.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Provider {
    /// The part of a model's name before the slash.
    pub(crate) name: &'static str,
    pub(crate) protocol: Protocol,
    /// The address of the public service or of the default port.
    pub(crate) url: &'static str,
    pub(crate) kind: Kind,
}

/// How a provider is used.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// With a key.
    Keyed {
        key: &'static str,
        /// The variable that names another address.
        address: Option<&'static str>,
        /// The model that answers questions.
        model: &'static str,
        /// The model that calls tools, where that must be another: GPT-6 calls none by chat completions.
        working: &'static str,
    },
    /// A server of the user's own, on a port.
    Local { port: u16 },
}

const fn keyed(key: &'static str, model: &'static str) -> Kind {
    Kind::Keyed { key, address: None, model, working: model }
}

/// In the order in which they are looked for.
pub(crate) const PROVIDERS: [Provider; 10] = [
    Provider {
        name: "anthropic",
        protocol: Protocol::Anthropic,
        url: "https://api.anthropic.com/v1",
        kind: Kind::Keyed {
            key: "ANTHROPIC_API_KEY",
            address: Some("ANTHROPIC_BASE_URL"),
            model: "claude-sonnet-5",
            working: "claude-sonnet-5",
        },
    },
    Provider {
        name: "openai",
        protocol: Protocol::Openai,
        url: "https://api.openai.com/v1",
        kind: Kind::Keyed {
            key: "OPENAI_API_KEY",
            address: Some("OPENAI_BASE_URL"),
            model: "gpt-6.1-sol",
            working: "gpt-5.4",
        },
    },
    Provider {
        name: "openrouter",
        protocol: Protocol::Openai,
        url: "https://openrouter.ai/api/v1",
        kind: keyed("OPENROUTER_API_KEY", "anthropic/claude-sonnet-5"),
    },
    Provider {
        name: "gemini",
        protocol: Protocol::Openai,
        url: "https://generativelanguage.googleapis.com/v1beta/openai",
        kind: keyed("GEMINI_API_KEY", "gemini-3.6-flash"),
    },
    Provider {
        name: "deepseek",
        protocol: Protocol::Openai,
        url: "https://api.deepseek.com/v1",
        kind: keyed("DEEPSEEK_API_KEY", "deepseek-v4-pro"),
    },
    Provider {
        name: "mistral",
        protocol: Protocol::Openai,
        url: "https://api.mistral.ai/v1",
        kind: keyed("MISTRAL_API_KEY", "mistral-large-latest"),
    },
    Provider {
        name: "groq",
        protocol: Protocol::Openai,
        url: "https://api.groq.com/openai/v1",
        kind: keyed("GROQ_API_KEY", "openai/gpt-oss-120b"),
    },
    Provider {
        name: "ollama",
        protocol: Protocol::Openai,
        url: "http://127.0.0.1:11434/v1",
        kind: Kind::Local { port: 11434 },
    },
    Provider {
        name: "llamacpp",
        protocol: Protocol::Openai,
        url: "http://127.0.0.1:8080/v1",
        kind: Kind::Local { port: 8080 },
    },
    Provider {
        name: "lmstudio",
        protocol: Protocol::Openai,
        url: "http://127.0.0.1:1234/v1",
        kind: Kind::Local { port: 1234 },
    },
];

impl Provider {
    /// The provider of this name.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        PROVIDERS.iter().find(|provider| provider.name == name)
    }

    pub(crate) fn locality(&self) -> Locality {
        match self.kind {
            Kind::Keyed { .. } => Locality::Remote,
            Kind::Local { .. } => Locality::Own,
        }
    }
}
