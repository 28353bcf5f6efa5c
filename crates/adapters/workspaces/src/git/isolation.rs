//! What keeps a git process from starting programs that a repository names: every override is here.
//!
//! A repository may be a stranger's, and its configuration can name programs for almost everything: hooks, file-system
//! monitors, filters, diff and merge drivers, pagers, editors, signatures, credentials, proxies, and the other side of a
//! fetch. Filters and drivers need both a configuration and an attribute; commands that would use them run only with
//! [`ConfigFiles::Private`], which knows none. Settings on the command line win over every file.
//!
//! Invariant: only [`ConfigFiles::Fetching`] reaches another repository, and it never reads the user's repository's
//! configuration.

use std::process::Command;

/// Which configuration files a git process reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConfigFiles {
    /// The user's: system, global and repository. Only for commands that use no filter and no driver.
    Users,
    /// Only the one in our own git directory.
    Private,
    /// The user's system and global ones, for proxies and credentials, and the one in our own git directory.
    Fetching,
}

/// For every process.
const ALWAYS: [&str; 16] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.quotepath=off",
    "core.logAllRefUpdates=false",
    "core.splitIndex=false",
    "core.pager=cat",
    "core.editor=false",
    "core.alternateRefsCommand=",
    "commit.gpgSign=false",
    "log.showSignature=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "diff.external=",
    // A directory in a working tree that looks like a repository is not used as one.
    "safe.bareRepository=explicit",
    "uploadpack.packObjectsHook=",
];

/// For every process that does not fetch.
const OFFLINE: [&str; 8] = [
    "core.sshCommand=false",
    "core.gitProxy=false",
    "core.askPass=false",
    "credential.helper=",
    "gpg.program=false",
    "gpg.ssh.program=false",
    "gpg.x509.program=false",
    "protocol.allow=never",
];

/// Protocols by which missing objects are fetched. `ext` and other helpers would run any command.
const FETCHED_BY: &str = "file:git:http:https:ssh";

pub(super) fn apply(command: &mut Command, config: ConfigFiles) {
    command.env("GIT_TERMINAL_PROMPT", "0").env("GIT_NO_REPLACE_OBJECTS", "1");
    // A partial clone would fetch a missing object from wherever its configuration says.
    command.env("GIT_NO_LAZY_FETCH", "1");
    for setting in ALWAYS {
        command.arg("-c").arg(setting);
    }
    match config {
        ConfigFiles::Users => command.env("GIT_OPTIONAL_LOCKS", "0"),
        ConfigFiles::Private => command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null"),
        ConfigFiles::Fetching => command.env("GIT_ALLOW_PROTOCOL", FETCHED_BY),
    };
    match config {
        ConfigFiles::Users | ConfigFiles::Private => {
            for setting in OFFLINE {
                command.arg("-c").arg(setting);
            }
            // Older versions of git do not know `GIT_NO_LAZY_FETCH`. This wins over every setting of a protocol.
            command.env("GIT_ALLOW_PROTOCOL", "none");
        }
        ConfigFiles::Fetching => {}
    }
}
