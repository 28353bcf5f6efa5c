//! Which environment variables agents and checks see, and which of their values are secrets.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use fixpoint_agents::agent_for_program;
use fixpoint_processes::filtered_environment;
use fixpoint_vocabulary::Redactor;
use fixpoint_vocabulary::settings::ModelSettings;

/// Variables of toolchains. None of them contains a secret.
const TOOLCHAINS: &str = "
    CARGO_HOME RUSTUP_HOME RUSTUP_TOOLCHAIN CARGO_NET_OFFLINE
    GOPATH GOROOT GOCACHE GOMODCACHE GOFLAGS GOTOOLCHAIN
    JAVA_HOME M2_HOME MAVEN_HOME GRADLE_HOME GRADLE_USER_HOME ANDROID_HOME
    DOTNET_ROOT DOTNET_CLI_TELEMETRY_OPTOUT
    NVM_DIR NVM_BIN VOLTA_HOME FNM_DIR PNPM_HOME COREPACK_HOME BUN_INSTALL DENO_DIR NPM_CONFIG_CACHE npm_config_cache
    PYENV_ROOT VIRTUAL_ENV CONDA_PREFIX UV_CACHE_DIR UV_PYTHON POETRY_HOME PIP_CACHE_DIR PYTHONDONTWRITEBYTECODE
    PIP_CERT PIP_FIND_LINKS REQUESTS_CA_BUNDLE CURL_CA_BUNDLE NODE_EXTRA_CA_CERTS
    GEM_HOME RBENV_ROOT ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR COMPOSER_HOME MIX_HOME HEX_HOME
    PKG_CONFIG_PATH CC CXX";

/// Variables that name places of code and of build output. Only checks get them: where one names the user's working tree,
/// the executor makes it name the workspace.
const OF_CHECKS: [&str; 7] = [
    "PYTHONPATH",
    "NODE_PATH",
    "CARGO_TARGET_DIR",
    "CARGO_BUILD_TARGET_DIR",
    "CARGO_BUILD_BUILD_DIR",
    "MIX_BUILD_ROOT",
    "MIX_BUILD_PATH",
];

/// Variables that agents need to sign in, by the name of their program. The adapter of `claude` and `codex` names its
/// own.
const OWN_NAMES: [(&str, &[&str]); 7] = [
    ("gemini", &["GEMINI_*", "GOOGLE_*", "NODE_EXTRA_CA_CERTS"]),
    ("opencode", &["OPENCODE_*", "NODE_EXTRA_CA_CERTS"]),
    ("aider", &["AIDER_*", "OPENAI_API_BASE", "OPENAI_BASE_URL"]),
    ("goose", &["GOOSE_*"]),
    ("qwen", &["QWEN_*", "OPENAI_*", "DASHSCOPE_API_KEY"]),
    ("cursor-agent", &["CURSOR_*"]),
    ("copilot", &["COPILOT_*", "GH_TOKEN"]),
];

/// Agents that can use the API key of any vendor.
const OF_ANY_VENDOR: [&str; 3] = ["opencode", "aider", "goose"];
const VENDOR_KEYS: &str = "
    ANTHROPIC_API_KEY OPENAI_API_KEY GEMINI_API_KEY GOOGLE_API_KEY GOOGLE_GENERATIVE_AI_API_KEY OPENROUTER_API_KEY
    GROQ_API_KEY MISTRAL_API_KEY DEEPSEEK_API_KEY XAI_API_KEY TOGETHER_API_KEY FIREWORKS_API_KEY CEREBRAS_API_KEY
    COHERE_API_KEY PERPLEXITY_API_KEY DEEPINFRA_API_KEY MOONSHOT_API_KEY ZHIPU_API_KEY";

/// A larger file is not one of passwords.
const MAX_NETRC_BYTES: u64 = 1 << 20;

type Variables = Vec<(OsString, OsString)>;

/// For checks and setup commands.
pub(crate) fn of_checks(environment: &[(OsString, OsString)], named: &[String]) -> Variables {
    let of_checks = OF_CHECKS.iter().map(ToString::to_string);
    filtered_environment(environment, &with_toolchains(of_checks.chain(named.iter().cloned())))
}

fn with_toolchains(named: impl Iterator<Item = String>) -> Vec<String> {
    TOOLCHAINS.split_whitespace().map(ToString::to_string).chain(named).collect()
}

/// For an agent: toolchains, and what it needs to sign in. It is named by its kind or its program.
pub(crate) fn of_agent(environment: &[(OsString, OsString)], named: &[String], agent: &str) -> Variables {
    let known = agent_for_program(agent).environment();
    let clouds = known.when_enabled.iter().filter(|(switch, _)| is_on(environment, switch));
    let of_kind = known.always.iter().chain(clouds.flat_map(|(_, names)| names.iter()));
    let of_name = OWN_NAMES.iter().filter(|(name, _)| *name == agent).flat_map(|(_, names)| names.iter());
    let keys = VENDOR_KEYS.split_whitespace().filter(|_| OF_ANY_VENDOR.contains(&agent));
    let own = of_kind.chain(of_name).copied().chain(keys).map(ToString::to_string);
    filtered_environment(environment, &with_toolchains(own.chain(named.iter().cloned())))
}

fn is_on(environment: &[(OsString, OsString)], switch: &str) -> bool {
    let on = |value: &OsStr| !["", "0", "false"].iter().any(|off| value.eq_ignore_ascii_case(off));
    environment.iter().any(|(name, value)| name == switch && on(value))
}

/// Redacts the values of variables that look like secrets by their name, and of those that the configuration names as
/// API keys.
pub(crate) fn redactor(environment: &[(OsString, OsString)], models: &ModelSettings) -> Redactor {
    let keys: Vec<&str> =
        models.endpoints.values().filter_map(|endpoint| endpoint.api_key_env.as_deref()).collect();
    let is_secret = |name: &OsStr| {
        name.to_str().is_some_and(|name| Redactor::is_secret_name(name) || keys.contains(&name))
    };
    let of_name = environment.iter().filter(|(name, _)| is_secret(name));
    let in_address = environment.iter().filter_map(|(_, value)| Redactor::password_in(value.to_str()?));
    let values =
        of_name.filter(|(name, value)| !is_path(name, value)).filter_map(|(_, value)| value.to_str());
    let known = values.chain(in_address).map(ToString::to_string);
    Redactor::knowing(known.chain(netrc_passwords(environment)))
}

/// A variable may name the file with a credential instead of holding it.
fn is_path(name: &OsStr, value: &OsStr) -> bool {
    let names_file =
        |name: &str| ["_FILE", "_PATH", "_DIR", "CREDENTIALS"].iter().any(|end| name.ends_with(end));
    let is_absolute = value.as_encoded_bytes().starts_with(b"/");
    is_absolute && name.to_str().is_some_and(|name| names_file(&name.to_ascii_uppercase()))
}

/// The passwords that programs take from `.netrc`. One that cannot be read cannot be printed by them either.
fn netrc_passwords(environment: &[(OsString, OsString)]) -> Vec<String> {
    let variable = |wanted: &str| environment.iter().find(|(name, _)| name == wanted).map(|(_, value)| value);
    let path =
        variable("NETRC").map(PathBuf::from).or_else(|| Some(Path::new(variable("HOME")?).join(".netrc")));
    let is_file =
        |path: &PathBuf| path.metadata().is_ok_and(|found| found.is_file() && found.len() <= MAX_NETRC_BYTES);
    let text = path.filter(is_file).and_then(|path| std::fs::read(path).ok()).unwrap_or_default();
    Redactor::netrc_passwords(&String::from_utf8_lossy(&text))
}

#[cfg(test)]
mod tests {
    use fixpoint_vocabulary::settings::Endpoint;

    use super::*;

    fn environment() -> Variables {
        let variables = [
            ("PATH", "/bin"),
            ("CARGO_HOME", "/c"),
            ("GITHUB_TOKEN", "secret-value-1"),
            ("ANTHROPIC_API_KEY", "secret-value-2"),
            ("MINE", "m"),
        ];
        variables.map(|(name, value)| (OsString::from(name), OsString::from(value))).to_vec()
    }

    fn names(variables: &Variables) -> Vec<&str> {
        variables.iter().filter_map(|(name, _)| name.to_str()).collect()
    }

    #[test]
    fn each_sees_what_it_needs() {
        assert_eq!(names(&of_checks(&environment(), &[])), ["PATH", "CARGO_HOME"]);
        assert_eq!(names(&of_checks(&environment(), &["MINE".into()])), ["PATH", "CARGO_HOME", "MINE"]);
        let claude = of_agent(&environment(), &[], "claude");
        assert_eq!(names(&claude), ["PATH", "CARGO_HOME", "ANTHROPIC_API_KEY"]);
        assert_eq!(names(&of_agent(&environment(), &[], "agent.sh")), ["PATH", "CARGO_HOME"]);
        let aider = [(OsString::from("AIDER_MODEL"), OsString::from("m"))];
        assert_eq!(names(&of_agent(&aider, &[], "aider")), ["AIDER_MODEL"]);
        assert!(of_agent(&aider, &[], "agent.sh").is_empty());
    }

    #[test]
    fn places_of_code_are_passed_to_checks_only() {
        let variables = ["PYTHONPATH", "NODE_PATH", "CARGO_TARGET_DIR", "LD_PRELOAD"];
        let environment: Variables = variables.map(|name| (name.into(), "/x".into())).to_vec();
        assert_eq!(names(&of_checks(&environment, &[])), ["PYTHONPATH", "NODE_PATH", "CARGO_TARGET_DIR"]);
        assert!(of_agent(&environment, &[], "claude").is_empty());
    }

    fn passing(variables: &[&str], agent: &str) -> Vec<String> {
        let variable = |text: &&str| {
            let (name, value) = text.split_once('=').unwrap_or((text, "value"));
            (OsString::from(name), OsString::from(value))
        };
        let environment: Variables = variables.iter().map(variable).collect();
        names(&of_agent(&environment, &[], agent)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn each_agent_signs_in_with_its_own_keys_only() {
        let all = [
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_BASE_URL",
            "CLAUDE_CONFIG_DIR",
            "OPENAI_API_KEY",
            "CODEX_HOME",
            "GEMINI_API_KEY",
            "GOOGLE_CLOUD_PROJECT",
            "OPENCODE_CONFIG",
            "GROQ_API_KEY",
            "AWS_PROFILE",
            "GH_TOKEN",
        ];
        let of_vendors: &[&str] =
            &["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENCODE_CONFIG", "GROQ_API_KEY"];
        let cases: [(&str, &[&str]); 6] = [
            ("claude", &["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "CLAUDE_CONFIG_DIR"]),
            ("codex", &["OPENAI_API_KEY", "CODEX_HOME"]),
            ("gemini", &["GEMINI_API_KEY", "GOOGLE_CLOUD_PROJECT"]),
            ("opencode", of_vendors),
            ("copilot", &["GH_TOKEN"]),
            ("agent.sh", &[]),
        ];
        for (agent, expected) in cases {
            assert_eq!(passing(&all, agent), expected, "{agent}");
        }
    }

    #[test]
    fn a_cloud_is_seen_by_claude_only_when_it_is_turned_on() {
        let with = |switch| passing(&[switch, "AWS_PROFILE", "GOOGLE_CLOUD_PROJECT"], "claude");
        assert_eq!(with("CLAUDE_CODE_USE_BEDROCK=1"), ["CLAUDE_CODE_USE_BEDROCK", "AWS_PROFILE"]);
        assert_eq!(with("CLAUDE_CODE_USE_VERTEX=true"), ["CLAUDE_CODE_USE_VERTEX", "GOOGLE_CLOUD_PROJECT"]);
        for off in ["CLAUDE_CODE_USE_BEDROCK=0", "CLAUDE_CODE_USE_BEDROCK=", "CLAUDE_CODE_USE_BEDROCK=False"]
        {
            assert_eq!(with(off), ["CLAUDE_CODE_USE_BEDROCK"], "{off}");
        }
    }

    #[test]
    fn passwords_of_netrc_are_known_and_paths_are_not() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join(".netrc"), "machine h login me password from-netrc-1\n").unwrap();
        let environment: Variables = vec![
            ("HOME".into(), home.path().into()),
            ("GOOGLE_APPLICATION_CREDENTIALS".into(), "/etc/keys.json".into()),
        ];
        let redacted =
            redactor(&environment, &ModelSettings::default()).redact("from-netrc-1 /etc/keys.json");
        assert_eq!(redacted.as_str(), "[removed] /etc/keys.json");
    }

    #[test]
    fn secrets_are_known_by_value() {
        let mut environment = environment();
        environment.push(("DATABASE_URL".into(), "postgres://me:s3cret-word@db/x".into()));
        environment.push(("PLAIN_NAME".into(), "plain-words".into()));
        let said = "got secret-value-1, s3cret-word, plain-words and m";
        let mut models = ModelSettings::default();
        let redacted = redactor(&environment, &models).redact(said);
        assert_eq!(redacted.as_str(), "got [removed], [removed], plain-words and m");
        let endpoint = Endpoint { api_key_env: Some("PLAIN_NAME".into()), ..Endpoint::default() };
        models.endpoints.insert("own".into(), endpoint);
        let redacted = redactor(&environment, &models).redact(said);
        assert_eq!(redacted.as_str(), "got [removed], [removed], [removed] and m");
    }
}
