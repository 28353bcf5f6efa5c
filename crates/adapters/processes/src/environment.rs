//! The environment an agent may see: what it needs to work and to sign in, and nothing else.
//!
//! Owns the list of what everybody may see. It names what is allowed, so a secret nobody thought of stays out: tokens of
//! forges, vendors' keys, and whatever changes how programs are loaded or built or where git looks. Refuses to know
//! what an agent signs in with: that is named by whoever knows the agent.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

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

/// The variables of `environment` that everybody may see or that are named, in their order. A name that ends in `*`
/// stands for every name that begins so.
pub fn scrubbed(environment: &[(OsString, OsString)], named: &[String]) -> Vec<(OsString, OsString)> {
    let allowed = || BASE.into_iter().chain(named.iter().map(String::as_str));
    let passes = |name: &OsStr| allowed().any(|pattern| matches(pattern, name));
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

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    /// The names that pass.
    fn passing(names: &[&str], named: &[&str]) -> Vec<String> {
        let environment: Vec<_> =
            names.iter().map(|name| (OsString::from(name), OsString::from("value"))).collect();
        let named: Vec<String> = named.iter().map(ToString::to_string).collect();
        let passed = scrubbed(&environment, &named).into_iter();
        passed.map(|(name, _)| name.into_string().unwrap()).collect()
    }

    #[test]
    fn the_base_passes_in_order_with_its_values() {
        let names =
            ["ZZ", "PATH", "LC_ALL", "XDG_RUNTIME_DIR", "https_proxy", "NO_PROXY", "SSL_CERT_DIR", "TZ"];
        assert_eq!(passing(&names, &[]), names[1..]);
        let path = (OsString::from("PATH"), OsString::from_vec(vec![b'/', 0xff]));
        assert_eq!(scrubbed(std::slice::from_ref(&path), &[]), [path]);
    }

    #[test]
    fn what_is_not_named_is_removed() {
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
        assert_eq!(passing(&names, &[]), Vec::<String>::new());
    }

    #[test]
    fn names_that_are_given_pass_and_a_lone_star_is_no_name() {
        let names = ["MY_KEY", "MY_KEYS", "CARGO_HOME", "GITHUB_TOKEN"];
        assert_eq!(passing(&names, &["MY_KEY", "CARGO_*", "*"]), ["MY_KEY", "CARGO_HOME"]);
    }
}
