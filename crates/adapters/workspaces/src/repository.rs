//! The user's repository: where its parts are, and which of its settings decide what a file's content means.
//!
//! Owns finding it from any directory in it, and saying why git does not use one. Refuses a bare repository, which has no
//! files to work on. Invariant: nothing here writes, and no program that the user's configuration names is started.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use fixpoint_ports::{CommitId, TreeId, WorkspaceError};

use crate::apply::TrustsFileModes;
use crate::files::io_error;
use crate::git::{ConfigFiles, GitCommand, parse};

/// Settings that decide how working files and contents correspond, and who commits. Nothing else is known to a slot: no
/// filter, no remote, no helper of the user's.
const CARRIED_SETTINGS: &str = r"^(core\.(autocrlf|eol|filemode|symlinks|ignorecase|precomposeunicode|excludesfile|attributesfile|bigfilethreshold|sharedrepository)|user\.(name|email)|extensions\.partialclone|remote\..*\.promisor)$";

/// Arguments of `rev-parse` for the paths in [`Repository`], in that order.
const PATHS: [&[&str]; 6] = [
    &["--show-toplevel"],
    &["--absolute-git-dir"],
    &["--git-common-dir"],
    &["--git-path", "objects"],
    &["--git-path", "index"],
    &["--git-path", "info/exclude"],
];

#[derive(Debug, Clone)]
pub(crate) struct Repository {
    /// The root of the working tree.
    pub(crate) tree: PathBuf,
    /// The git directory of this working tree.
    pub(crate) git_dir: PathBuf,
    /// What all working trees of the repository share.
    pub(crate) common_dir: PathBuf,
    pub(crate) objects: PathBuf,
    /// The index of this working tree, which need not exist.
    pub(crate) index: PathBuf,
    /// Ignore patterns that are in no commit.
    pub(crate) excludes: PathBuf,
    /// `sha1` or `sha256`.
    pub(crate) object_format: String,
    /// Keys and values; of two with one key the last is in force.
    settings: Vec<(String, Vec<u8>)>,
}

/// The commit that the user has checked out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HeadCommit {
    pub(crate) commit: CommitId,
    pub(crate) tree: TreeId,
}

impl Repository {
    /// Finds the repository that a directory is in.
    pub(crate) fn find(start: &Path) -> Result<Self, WorkspaceError> {
        let start = fs::canonicalize(start).map_err(io_error(start))?;
        // Three processes at the same time. The answers of two are not used if the first says that there is none.
        let (kind, paths, carried) = std::thread::scope(|scope| {
            let paths = scope.spawn(|| ask_paths(&start, PATHS));
            let carried = scope.spawn(|| ask_settings(&start, &["--get-regexp", CARRIED_SETTINGS]));
            let kind = GitCommand::new(ConfigFiles::Users, "rev-parse")
                .args(["--is-bare-repository", "--is-inside-work-tree", "--show-object-format"])
                .current_dir(&start)
                .output();
            (kind, paths.join(), carried.join())
        });
        let kind = kind?;
        if !kind.succeeded() {
            return Err(not_found(&start, &kind.message));
        }
        let kind = kind.line();
        let mut words = kind.split_ascii_whitespace();
        match (words.next(), words.next()) {
            (Some("false"), Some("true")) => {}
            (Some("true"), _) => return Err(bare(&start)),
            _ => return Err(inside_git_dir(&start)),
        }
        let object_format = words.next().unwrap_or("sha1").to_string();
        let [tree, git_dir, common_dir, objects, index, excludes] =
            paths.unwrap_or_else(|_| ask_paths(&start, PATHS))?;
        refuse_foreign_tree(&start, &tree, &git_dir)?;
        let carried =
            carried.unwrap_or_else(|_| ask_settings(&start, &["--get-regexp", CARRIED_SETTINGS]))?;
        let settings = with_absolute_paths(&tree, parse::config(&carried))?;
        Ok(Self { tree, git_dir, common_dir, objects, index, excludes, object_format, settings })
    }

    /// A git process over the user's own git directory and configuration.
    pub(crate) fn git(&self, subcommand: &'static str) -> GitCommand {
        GitCommand::new(ConfigFiles::Users, subcommand).env("GIT_DIR", &self.git_dir).current_dir(&self.tree)
    }

    /// The carried settings whose keys begin with `prefix`, without it; of two with one name the last is in force.
    pub(crate) fn settings_under<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a [u8])> {
        let named =
            move |(key, value): &'a (String, Vec<u8>)| Some((key.strip_prefix(prefix)?, value.as_slice()));
        self.settings.iter().filter_map(named)
    }

    fn setting(&self, key: &str) -> Option<&[u8]> {
        self.settings.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value.as_slice())
    }

    /// Whether the executable bits of files mean something here.
    pub(crate) fn trusts_file_modes(&self) -> TrustsFileModes {
        match self.setting("core.filemode") {
            Some(b"false" | b"no" | b"off" | b"0") => TrustsFileModes::No,
            Some(_) | None => TrustsFileModes::Yes,
        }
    }

    /// Whether files that are not wanted are missing from the working tree on purpose.
    pub(crate) fn has_sparse_checkout(&self) -> bool {
        let asked = self.git("config").args(["--type=bool", "--get", "core.sparseCheckout"]).output();
        asked.is_ok_and(|output| output.line() == "true")
    }

    /// The remote from which a partial clone fetches missing objects.
    pub(crate) fn promisor_remote(&self) -> Option<String> {
        let named = self.setting("extensions.partialclone").map(|name| String::from_utf8_lossy(name).into());
        named.or_else(|| {
            let mut remotes = self.settings.iter().filter(|(_, value)| value == b"true");
            let name = |key: &str| Some(key.strip_prefix("remote.")?.strip_suffix(".promisor")?.to_string());
            remotes.find_map(|(key, _)| name(key))
        })
    }

    /// What the user has checked out; `None` before the first commit.
    pub(crate) fn head(&self) -> Result<Option<HeadCommit>, WorkspaceError> {
        let output = self.git("rev-parse").args(["-q", "HEAD^{commit}", "HEAD^{tree}"]).output()?;
        if !output.succeeded() {
            return Ok(None);
        }
        let line = output.line();
        let mut words = line.split_ascii_whitespace().map(str::to_string);
        let ids = words.next().zip(words.next());
        Ok(ids.map(|(commit, tree)| HeadCommit { commit: CommitId(commit), tree: TreeId(tree) }))
    }
}

/// Asks for all paths at once. If one holds a newline, the answer is ambiguous, and each is asked for alone.
fn ask_paths<const N: usize>(start: &Path, asked: [&[&str]; N]) -> Result<[PathBuf; N], WorkspaceError> {
    let ask = |arguments: &[&str]| {
        let git = GitCommand::new(ConfigFiles::Users, "rev-parse").arg("--path-format=absolute");
        git.args(arguments).current_dir(start).run()
    };
    let together = ask(&asked.concat())?;
    let mut lines: Vec<Vec<u8>> = together.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    lines.pop();
    if lines.len() != N {
        lines.clear();
        for arguments in asked {
            let mut line = ask(arguments)?;
            line.pop();
            lines.push(line);
        }
    }
    let mut lines = lines.into_iter().map(|line| PathBuf::from(OsString::from_vec(line)));
    Ok(std::array::from_fn(|_| lines.next().unwrap_or_default()))
}

/// The configuration of a repository can name any directory as its working tree, such as the user's home. It is used only
/// if that directory belongs to the repository.
fn refuse_foreign_tree(start: &Path, tree: &Path, git_dir: &Path) -> Result<(), WorkspaceError> {
    let is_own = tree.join(".git").canonicalize().is_ok_and(|own| own == git_dir)
        || ask_paths(tree, [&["--absolute-git-dir"]]).is_ok_and(|[own]| own == git_dir);
    if is_own {
        return Ok(());
    }
    let (start, tree) = (start.display(), tree.display());
    Err(WorkspaceError::UnusableRepository {
        problem: format!("the repository around {start} names another working tree, {tree}"),
        remedy: "remove `core.worktree` from its configuration".to_string(),
    })
}

/// How a user tells git to trust a directory. Fixpoint never does.
const TRUST: &str = "git config --global --add safe.directory";

/// Why git finds no repository that it would use. Only its message tells the reasons apart; it is in English, because
/// git runs in the C locale.
fn not_found(start: &Path, message: &str) -> WorkspaceError {
    let first = message.lines().next().unwrap_or_default();
    let first = first.strip_prefix("fatal: ").unwrap_or(first);
    if let Some(directory) = first.strip_prefix("detected dubious ownership in repository at ") {
        // Git prints the whole command, with the directory quoted for a shell.
        let printed = message.lines().map(str::trim).find(|line| line.starts_with(TRUST));
        let command = printed.map_or_else(|| format!("{TRUST} {directory}"), str::to_string);
        return WorkspaceError::UnusableRepository {
            problem: format!("git refuses to use the repository at {directory}: another user owns it"),
            remedy: format!("if you trust its content, run `{command}`"),
        };
    }
    if first.starts_with("cannot use bare repository") {
        if start.ancestors().any(|directory| directory.ends_with(".git")) {
            return inside_git_dir(start);
        }
        return bare(start);
    }
    if start.ancestors().any(|directory| directory.join(".git").symlink_metadata().is_ok()) {
        return WorkspaceError::UnusableRepository {
            problem: format!("git cannot use the repository around {}: {first}", start.display()),
            remedy: "`git status` says more".to_string(),
        };
    }
    WorkspaceError::UnusableRepository {
        problem: format!("{} is not inside a git repository", start.display()),
        remedy: "change to one, or create one with `git init`".to_string(),
    }
}

fn bare(start: &Path) -> WorkspaceError {
    let remedy = "make a working tree with `git worktree add` or `git clone`, and change to it";
    no_working_tree(start, "is in a bare repository", remedy)
}

fn inside_git_dir(start: &Path) -> WorkspaceError {
    no_working_tree(start, "is inside a git directory", "change to the working tree")
}

fn no_working_tree(start: &Path, why: &str, remedy: &str) -> WorkspaceError {
    WorkspaceError::UnusableRepository {
        problem: format!("{} {why}, not in a working tree", start.display()),
        remedy: remedy.to_string(),
    }
}

/// A setting that does not exist prints nothing and is no error.
fn ask_settings(directory: &Path, arguments: &[&str]) -> Result<Vec<u8>, WorkspaceError> {
    let git = GitCommand::new(ConfigFiles::Users, "config").arg("-z").args(arguments);
    git.current_dir(directory).output().map(|output| output.stdout)
}

/// Paths in settings may begin with `~` and be relative to the user's tree; ours is another one.
fn with_absolute_paths(
    tree: &Path,
    mut settings: Vec<(String, Vec<u8>)>,
) -> Result<Vec<(String, Vec<u8>)>, WorkspaceError> {
    for (key, value) in &mut settings {
        if (key == "core.excludesfile" || key == "core.attributesfile") && !value.is_empty() {
            let expanded = ask_settings(tree, &["--type=path", "--get", key])?;
            let expanded = expanded.split(|byte| *byte == 0).next().unwrap_or_default();
            *value = tree.join(OsStr::from_bytes(expanded)).into_os_string().into_vec();
        }
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_repository_of_another_user_is_refused_with_the_command_that_trusts_it() {
        let root = tempfile::tempdir().unwrap();
        let rows = [("plain name", "own", ""), ("name with a space", "their own", "'")];
        for (row, name, quote) in rows {
            let directory = root.path().canonicalize().unwrap().join(name);
            let git = |arguments: &[&str]| {
                let mut git = Command::new("git");
                // A second user would need root; git's own tests pretend as well.
                git.args(arguments).env("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1").env("LC_ALL", "C");
                git.output().unwrap()
            };
            let path = directory.to_str().unwrap();
            assert!(git(&["init", "-q", path]).status.success(), "{row}");
            let printed = git(&["-C", path, "rev-parse", "--is-bare-repository"]).stderr;
            let error = not_found(&directory, &String::from_utf8_lossy(&printed)).to_string();
            let expected = format!(
                "git refuses to use the repository at '{path}': another user owns it; \
                 if you trust its content, run `{TRUST} {quote}{path}{quote}`"
            );
            assert_eq!(error, expected, "{row}");
        }
    }
}
