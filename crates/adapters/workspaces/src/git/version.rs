//! Which versions of git can be used.

use fixpoint_ports::WorkspaceError;

use super::{ConfigFiles, GitCommand};

/// The oldest git that the tests pass with. `merge-tree --write-tree` is missing before 2.38.
pub(super) const OLDEST: (u32, u32) = (2, 39);

/// The version of the git on `PATH`, unless it is too old.
pub fn git_version() -> Result<String, WorkspaceError> {
    let printed = GitCommand::new(ConfigFiles::Private, "version").run_for_line()?;
    supported_version(&printed)
}

fn supported_version(printed: &str) -> Result<String, WorkspaceError> {
    let version = printed.split_ascii_whitespace().nth(2).unwrap_or_default();
    let mut numbers = version.split('.').map_while(|part| part.parse::<u32>().ok());
    let needed = format!("Fixpoint needs git {}.{} or newer", OLDEST.0, OLDEST.1);
    let problem = match (numbers.next(), numbers.next()) {
        (Some(major), Some(minor)) if (major, minor) >= OLDEST => return Ok(version.to_string()),
        (Some(_), Some(_)) => format!("git {version} is too old: {needed}"),
        _ => format!("{needed}, and `git version` printed `{printed}`"),
    };
    let remedy = "upgrade git, or put a newer one first on PATH".to_string();
    Err(WorkspaceError::UnusableGit { problem, remedy })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_installed_git_can_be_used() {
        git_version().unwrap();
    }

    #[test]
    fn versions_are_compared_as_numbers() {
        let rows = [
            ("Debian 12", "git version 2.39.5", Some("2.39.5")),
            ("macOS", "git version 2.39.5 (Apple Git-154)", Some("2.39.5")),
            ("a release candidate", "git version 2.50.0.rc1", Some("2.50.0.rc1")),
            ("built from source", "git version 2.47.GIT", Some("2.47.GIT")),
            ("the next major version", "git version 3.0.0", Some("3.0.0")),
            ("two digits less", "git version 2.9.5", None),
            ("Ubuntu 22.04", "git version 2.34.1", None),
            ("the one before", "git version 2.38.5", None),
            ("no number", "git version unknown", None),
            ("another program", "hello", None),
        ];
        for (row, printed, version) in rows {
            assert_eq!(supported_version(printed).ok().as_deref(), version, "{row}");
        }
        let error = supported_version("git version 2.34.1").unwrap_err().to_string();
        let expected = "git 2.34.1 is too old: Fixpoint needs git 2.39 or newer; upgrade git, or put a newer one first on PATH";
        assert_eq!(error, expected);
    }
}
