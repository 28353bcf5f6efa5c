//! What agents and checks see of the environment, and which of its values are secrets.

use std::ffi::{OsStr, OsString};

use fixpoint_processes::{AllowList, scrubbed};
use fixpoint_vocabulary::Redactor;

/// What toolchains need to find themselves. None of these holds a secret.
const TOOLCHAINS: [&str; 47] = [
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "CARGO_NET_OFFLINE",
    "GOPATH",
    "GOROOT",
    "GOCACHE",
    "GOMODCACHE",
    "GOFLAGS",
    "GOTOOLCHAIN",
    "JAVA_HOME",
    "M2_HOME",
    "MAVEN_HOME",
    "GRADLE_HOME",
    "GRADLE_USER_HOME",
    "ANDROID_HOME",
    "DOTNET_ROOT",
    "DOTNET_CLI_TELEMETRY_OPTOUT",
    "NVM_DIR",
    "NVM_BIN",
    "VOLTA_HOME",
    "FNM_DIR",
    "PNPM_HOME",
    "COREPACK_HOME",
    "BUN_INSTALL",
    "DENO_DIR",
    "NPM_CONFIG_CACHE",
    "npm_config_cache",
    "PYENV_ROOT",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "UV_CACHE_DIR",
    "UV_PYTHON",
    "POETRY_HOME",
    "PIP_CACHE_DIR",
    "PYTHONDONTWRITEBYTECODE",
    "GEM_HOME",
    "RBENV_ROOT",
    "ASDF_DIR",
    "ASDF_DATA_DIR",
    "MISE_DATA_DIR",
    "COMPOSER_HOME",
    "MIX_HOME",
    "HEX_HOME",
    "PKG_CONFIG_PATH",
    "CC",
    "CXX",
];

/// What single agents read beside that, by the name of their program.
const OWN_NAMES: [(&str, &[&str]); 5] = [
    ("aider", &["AIDER_*", "OPENAI_API_BASE", "OPENAI_BASE_URL"]),
    ("goose", &["GOOSE_*"]),
    ("qwen", &["QWEN_*", "OPENAI_*", "DASHSCOPE_API_KEY"]),
    ("cursor-agent", &["CURSOR_*"]),
    ("copilot", &["COPILOT_*", "GH_TOKEN"]),
];

type Variables = Vec<(OsString, OsString)>;

/// What checks and set-up commands see.
pub(crate) fn of_checks(environment: &[(OsString, OsString)], named: &[String]) -> Variables {
    scrubbed(environment, &AllowList::Command(with_toolchains(named)))
}

/// What an agent sees: its own sign-in beside that.
pub(crate) fn of_agent(environment: &[(OsString, OsString)], named: &[String], agent: &str) -> Variables {
    let own = match agent {
        "claude" => AllowList::Claude,
        "codex" => AllowList::Codex,
        "gemini" => AllowList::Gemini,
        // These sign in with the keys of the vendor they are told to use.
        "opencode" | "aider" | "goose" => AllowList::Opencode,
        _ => AllowList::Command(Vec::new()),
    };
    let own_names = OWN_NAMES.iter().filter(|(name, _)| *name == agent).flat_map(|(_, names)| names.iter());
    let named: Vec<String> = own_names.map(ToString::to_string).chain(named.iter().cloned()).collect();
    let mut variables = scrubbed(environment, &own);
    for (name, value) in of_checks(environment, &named) {
        if !variables.iter().any(|(known, _)| *known == name) {
            variables.push((name, value));
        }
    }
    variables
}

fn with_toolchains(named: &[String]) -> Vec<String> {
    TOOLCHAINS.iter().map(ToString::to_string).chain(named.iter().cloned()).collect()
}

/// Knows the values of variables that are likely to be secrets.
pub(crate) fn redactor(environment: &[(OsString, OsString)]) -> Redactor {
    let is_secret = |name: &OsStr| name.to_str().is_some_and(Redactor::is_secret_name);
    let of_name = environment.iter().filter(|(name, _)| is_secret(name));
    let in_address = environment.iter().filter_map(|(_, value)| Redactor::password_in(value.to_str()?));
    let values = of_name.filter_map(|(_, value)| value.to_str());
    Redactor::knowing(values.chain(in_address).map(ToString::to_string))
}

#[cfg(test)]
mod tests {
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
        assert_eq!(names(&claude), ["PATH", "ANTHROPIC_API_KEY", "CARGO_HOME"]);
        assert_eq!(names(&of_agent(&environment(), &[], "agent.sh")), ["PATH", "CARGO_HOME"]);
        let aider = [(OsString::from("AIDER_MODEL"), OsString::from("m"))];
        assert_eq!(names(&of_agent(&aider, &[], "aider")), ["AIDER_MODEL"]);
        assert!(of_agent(&aider, &[], "agent.sh").is_empty());
    }

    #[test]
    fn secrets_are_known_by_value() {
        let mut environment = environment();
        environment.push(("DATABASE_URL".into(), "postgres://me:s3cret-word@db/x".into()));
        let redacted = redactor(&environment).redact("got secret-value-1, s3cret-word and m");
        assert_eq!(redacted.as_str(), "got [removed], [removed] and m");
    }
}
