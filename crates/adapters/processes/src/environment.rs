//! The environment an agent may see: what it needs to work and to sign in, and nothing else.
//!
//! Owns the list of variables that every program gets. It names what is allowed, so an unknown secret is
//! not passed on, and neither is what changes how programs are loaded or built or where git looks. Refuses to know what
//! an agent signs in with: the caller names those variables.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// What every program gets.
const ALWAYS_ALLOWED: [&str; 21] = [
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
    "COLORTERM",
    "LANGUAGE",
];

/// The variables of `environment` that every program gets or that are named, in their order. A name that ends in `*`
/// stands for all names with that beginning.
pub fn filtered_environment(
    environment: &[(OsString, OsString)],
    named: &[String],
) -> Vec<(OsString, OsString)> {
    let patterns = || ALWAYS_ALLOWED.into_iter().chain(named.iter().map(String::as_str));
    let passes = |name: &OsStr| patterns().any(|pattern| matches(pattern, name));
    environment.iter().filter(|(name, _)| passes(name)).cloned().collect()
}

fn matches(pattern: &str, name: &OsStr) -> bool {
    match pattern.strip_suffix('*') {
        // A star alone would allow everything.
        Some("") => false,
        Some(beginning) => name.as_bytes().starts_with(beginning.as_bytes()),
        None => name == pattern,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    /// The names that are passed on.
    fn passed(names: &[&str], named: &[&str]) -> Vec<String> {
        let environment: Vec<_> =
            names.iter().map(|name| (OsString::from(name), OsString::from("value"))).collect();
        let named: Vec<String> = named.iter().map(ToString::to_string).collect();
        let filtered = filtered_environment(&environment, &named).into_iter();
        filtered.map(|(name, _)| name.into_string().unwrap()).collect()
    }

    #[test]
    fn allowed_variables_are_passed_on_in_order_with_their_values() {
        let names =
            ["ZZ", "PATH", "LC_ALL", "XDG_RUNTIME_DIR", "https_proxy", "NO_PROXY", "SSL_CERT_DIR", "TZ"];
        assert_eq!(passed(&names, &[]), names[1..]);
        let path = (OsString::from("PATH"), OsString::from_vec(vec![b'/', 0xff]));
        assert_eq!(filtered_environment(std::slice::from_ref(&path), &[]), [path]);
    }

    #[test]
    fn everything_else_is_removed() {
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
        assert_eq!(passed(&names, &[]), Vec::<String>::new());
    }

    #[test]
    fn named_variables_are_passed_on_but_a_star_alone_names_none() {
        let names = ["MY_KEY", "MY_KEYS", "CARGO_HOME", "GITHUB_TOKEN"];
        assert_eq!(passed(&names, &["MY_KEY", "CARGO_*", "*"]), ["MY_KEY", "CARGO_HOME"]);
    }
}
