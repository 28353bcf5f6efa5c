//! The environment an agent may see: what it needs to work and to sign in, and nothing else.
//!
//! Owns the lists. They name what is allowed, so a secret nobody thought of stays out: tokens of forges, other
//! vendors' keys, and whatever changes how programs are loaded or built or where git looks.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// Whose environment it is. A name that ends in `*` stands for every name that begins so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AllowList {
    /// Claude Code, with the cloud it is told to use.
    Claude,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// OpenCode, with the keys of the vendors it can use.
    Opencode,
    /// Any other command, with the names that were given for it.
    Command(Vec<String>),
}

/// What every program may see.
const BASE: [&str; 21] = [
    "PATH",
    "HOME",
    "LANG",
    "LC_*",
    "TERM",
    "TMPDIR",
    "USER",
    "LOGNAME",
    "SHELL",
    "TZ",
    "XDG_*",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    // Both describe the terminal and the language like the names above.
    "COLORTERM",
    "LANGUAGE",
];

// `IS_SANDBOX` lets Claude Code run unattended as root, in containers.
const CLAUDE: [&str; 4] = ["ANTHROPIC_*", "CLAUDE_*", "IS_SANDBOX", "NODE_EXTRA_CA_CERTS"];
const CODEX: [&str; 2] = ["OPENAI_*", "CODEX_*"];
const GEMINI: [&str; 3] = ["GEMINI_*", "GOOGLE_*", "NODE_EXTRA_CA_CERTS"];
const OPENCODE: [&str; 20] = [
    "OPENCODE_*",
    "NODE_EXTRA_CA_CERTS",
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GOOGLE_GENERATIVE_AI_API_KEY",
    "OPENROUTER_API_KEY",
    "GROQ_API_KEY",
    "MISTRAL_API_KEY",
    "DEEPSEEK_API_KEY",
    "XAI_API_KEY",
    "TOGETHER_API_KEY",
    "FIREWORKS_API_KEY",
    "CEREBRAS_API_KEY",
    "COHERE_API_KEY",
    "PERPLEXITY_API_KEY",
    "DEEPINFRA_API_KEY",
    "MOONSHOT_API_KEY",
    "ZHIPU_API_KEY",
];

/// Clouds that Claude Code signs in to instead, each with the variable that turns it on.
const CLAUDE_CLOUDS: [(&str, &[&str]); 2] = [
    ("CLAUDE_CODE_USE_BEDROCK", &["AWS_*"]),
    ("CLAUDE_CODE_USE_VERTEX", &["GOOGLE_*", "CLOUD_ML_REGION", "VERTEX_REGION_*"]),
];

/// The variables of `environment` that are allowed, in their order.
pub fn scrubbed(environment: &[(OsString, OsString)], kind: &AllowList) -> Vec<(OsString, OsString)> {
    let mut allowed: Vec<&str> = BASE.to_vec();
    match kind {
        AllowList::Claude => {
            allowed.extend(CLAUDE);
            let clouds = CLAUDE_CLOUDS.iter().filter(|(switch, _)| is_on(environment, switch));
            allowed.extend(clouds.flat_map(|(_, names)| names.iter()));
        }
        AllowList::Codex => allowed.extend(CODEX),
        AllowList::Gemini => allowed.extend(GEMINI),
        AllowList::Opencode => allowed.extend(OPENCODE),
        AllowList::Command(names) => allowed.extend(names.iter().map(String::as_str)),
    }
    let passes = |name: &OsStr| allowed.iter().any(|pattern| matches(pattern, name));
    environment.iter().filter(|(name, _)| passes(name)).cloned().collect()
}

fn matches(pattern: &str, name: &OsStr) -> bool {
    match pattern.strip_suffix('*') {
        // A lone star would be no list at all.
        Some("") => false,
        Some(beginning) => name.as_bytes().starts_with(beginning.as_bytes()),
        None => name == pattern,
    }
}

fn is_on(environment: &[(OsString, OsString)], switch: &str) -> bool {
    let on = |value: &OsStr| !["", "0", "false"].iter().any(|off| value.eq_ignore_ascii_case(off));
    environment.iter().any(|(name, value)| name == switch && on(value))
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    /// The names that pass, of a list of names and of `NAME=value`.
    fn passing(names: &[&str], kind: &AllowList) -> Vec<String> {
        let variable = |text: &&str| {
            let (name, value) = text.split_once('=').unwrap_or((text, "value"));
            (OsString::from(name), OsString::from(value))
        };
        let environment: Vec<_> = names.iter().map(variable).collect();
        let passed = scrubbed(&environment, kind).into_iter();
        passed.map(|(name, _)| name.into_string().unwrap()).collect()
    }

    fn every_kind() -> [AllowList; 5] {
        [
            AllowList::Claude,
            AllowList::Codex,
            AllowList::Gemini,
            AllowList::Opencode,
            AllowList::Command(Vec::new()),
        ]
    }

    #[test]
    fn the_base_passes_for_everyone_in_order_with_its_values() {
        let names =
            ["ZZ", "PATH", "LC_ALL", "XDG_RUNTIME_DIR", "https_proxy", "NO_PROXY", "SSL_CERT_DIR", "TZ"];
        for kind in every_kind() {
            assert_eq!(passing(&names, &kind), names[1..], "{kind:?}");
        }
        let path = (OsString::from("PATH"), OsString::from_vec(vec![b'/', 0xff]));
        assert_eq!(scrubbed(std::slice::from_ref(&path), &AllowList::Codex), [path]);
    }

    #[test]
    fn what_is_not_on_a_list_is_removed_for_everyone() {
        let names = [
            "GITHUB_TOKEN",
            "GH_TOKEN",
            "GITLAB_TOKEN",
            "GIT_DIR",
            "GIT_INDEX_FILE",
            "GIT_SSH_COMMAND",
            "LD_PRELOAD",
            "LD_LIBRARY_PATH",
            "DYLD_INSERT_LIBRARIES",
            "CARGO_REGISTRY_TOKEN",
            "CARGO_TARGET_DIR",
            "RUSTFLAGS",
            "NPM_TOKEN",
            "NODE_OPTIONS",
            "PYTHONPATH",
            "BASH_ENV",
            "SSH_AUTH_SOCK",
            "DATABASE_URL",
            "AWS_SECRET_ACCESS_KEY",
            "FIXPOINT_TOKEN",
            "path",
            "PATHS",
            "LC",
            "",
        ];
        for kind in every_kind() {
            assert_eq!(passing(&names, &kind), Vec::<String>::new(), "{kind:?}");
        }
    }

    #[test]
    fn each_agent_signs_in_with_its_own_keys_only() {
        let names = [
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_BASE_URL",
            "CLAUDE_CONFIG_DIR",
            "OPENAI_API_KEY",
            "CODEX_HOME",
            "GEMINI_API_KEY",
            "GOOGLE_CLOUD_PROJECT",
            "OPENCODE_CONFIG",
            "GROQ_API_KEY",
        ];
        let cases: [(AllowList, &[&str]); 5] = [
            (AllowList::Claude, &["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "CLAUDE_CONFIG_DIR"]),
            (AllowList::Codex, &["OPENAI_API_KEY", "CODEX_HOME"]),
            (AllowList::Gemini, &["GEMINI_API_KEY", "GOOGLE_CLOUD_PROJECT"]),
            (
                AllowList::Opencode,
                &["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENCODE_CONFIG", "GROQ_API_KEY"],
            ),
            (AllowList::Command(Vec::new()), &[]),
        ];
        for (kind, expected) in cases {
            assert_eq!(passing(&names, &kind), expected, "{kind:?}");
        }
    }

    #[test]
    fn a_cloud_is_seen_by_claude_only_when_it_is_turned_on() {
        let with = |switch| passing(&[switch, "AWS_PROFILE", "GOOGLE_CLOUD_PROJECT"], &AllowList::Claude);
        assert_eq!(with("CLAUDE_CODE_USE_BEDROCK=1"), ["CLAUDE_CODE_USE_BEDROCK", "AWS_PROFILE"]);
        assert_eq!(with("CLAUDE_CODE_USE_VERTEX=true"), ["CLAUDE_CODE_USE_VERTEX", "GOOGLE_CLOUD_PROJECT"]);
        for off in ["CLAUDE_CODE_USE_BEDROCK=0", "CLAUDE_CODE_USE_BEDROCK=", "CLAUDE_CODE_USE_BEDROCK=False"]
        {
            assert_eq!(with(off), ["CLAUDE_CODE_USE_BEDROCK"], "{off}");
        }
    }

    #[test]
    fn a_command_sees_the_names_it_was_given() {
        let kind = AllowList::Command(vec!["MY_KEY".into(), "CARGO_*".into(), "*".into()]);
        let names = ["MY_KEY", "MY_KEYS", "CARGO_HOME", "GITHUB_TOKEN"];
        assert_eq!(passing(&names, &kind), ["MY_KEY", "CARGO_HOME"]);
    }
}
